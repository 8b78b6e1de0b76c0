/* SPDX-License-Identifier: MIT
 *
 * Textures and surfaces: texels are an array in rows, and an object is the mw_image that the shim reads (abi.h). */
#include "core/backend/cpu/objects.h"

#include "core/backend/refs.h"

typedef struct cpu_image {
  cpu_buffer buffer;
  mw_image image;
} cpu_image;

static size_t texel_bytes(const mw_image_shape *shape) {
  return mw_dtype_size(shape->dtype) * (size_t)shape->components;
}

static size_t all_bytes(const mw_image_shape *shape) {
  return texel_bytes(shape) * shape->side[0] * shape->side[1] * shape->side[2];
}

mw_status cpu_texels(mw_stream *stream, const mw_image_shape *shape, mw_buffer **out, mw_error *err) {
  return cpu_memory_alloc(stream, all_bytes(shape), MW_SPACE_DEVICE, shape->dtype, out, err);
}

mw_status cpu_texels_copy(mw_stream *stream, const mw_image_shape *shape, mw_buffer *texels, mw_place array,
                          bool to_array, mw_error *err) {
  const mw_place own = {texels, 0, NULL};
  return cpu_copy(stream, to_array ? array : own, to_array ? own : array, all_bytes(shape), err);
}

static unsigned char usual_of(const mw_image_shape *shape, const mw_sampling *how) {
  if ((size_t)shape->side[0] * shape->side[1] > INT32_MAX) return MW_USUAL_NOT;
  bool has_border = false;
  for (int i = 0; i < 3; i++) {
    if (how->address[i] != MW_ADDRESS_CLAMP && how->address[i] != MW_ADDRESS_BORDER) return MW_USUAL_NOT;
    has_border |= how->address[i] == MW_ADDRESS_BORDER;
  }
  return has_border ? MW_USUAL_BORDER : MW_USUAL_CLAMPED;
}

/* What the shim asks of each read, found out once. */
static mw_image describe(const mw_image_shape *shape, const mw_sampling *sampling, char *at) {
  static const mw_sampling none = {.address = {MW_ADDRESS_CLAMP, MW_ADDRESS_CLAMP, MW_ADDRESS_CLAMP}};
  const size_t texel = texel_bytes(shape);
  const mw_sampling *how = sampling ? sampling : &none;
  mw_image out = {.at = at,
                  .row = texel * shape->side[0],
                  .slice = texel * shape->side[0] * shape->side[1],
                  .dtype = (unsigned char)shape->dtype,
                  .components = (unsigned char)shape->components,
                  .texel = (unsigned char)texel,
                  .linear = how->linear,
                  .normalised = how->normalised,
                  .as_float = how->as_float,
                  .raw = how->as_float || shape->dtype == MW_F16 ? 0 : (unsigned char)texel,
                  .usual = usual_of(shape, how)};
  for (int i = 0; i < 3; i++) {
    out.side[i] = shape->side[i];
    out.scale[i] = how->normalised ? (float)shape->side[i] : 1;
    out.address[i] = (unsigned char)how->address[i];
  }
  return out;
}

mw_status cpu_texture_make(mw_stream *stream, const mw_image_shape *shape, const mw_sampling *sampling, mw_place texels,
                           mw_buffer **out, mw_error *err) {
  (void)err;
  cpu_image *self = mw_calloc(1, sizeof *self);
  self->image = describe(shape, sampling, (char *)texels.buffer->address + texels.offset);
  self->image.self = &self->image;
  self->buffer.base = (mw_buffer){.device = stream->device,
                                  .address = &self->image,
                                  .bytes = sizeof self->image,
                                  .space = MW_SPACE_IMAGE,
                                  .stream = stream,
                                  .texels = texels.buffer};
  atomic_init(&self->buffer.base.refs, 1);
  mw_device_retain(stream->device);
  *out = &self->buffer.base;
  return MW_OK;
}
