/* SPDX-License-Identifier: MIT
 *
 * Textures and surfaces: texels in CUDA's own layout, copies between them and arrays, and the objects that kernels are
 * given. Neither has an order with streams, so both are destroyed when what may use them has ended (memory.c). */
#include "core/backend/cuda/objects.h"

static unsigned format_of(mw_dtype dtype) {
  static const unsigned formats[MW_ARRAY_DTYPES] = {
      [MW_U8] = CUDA_FORMAT_U8,   [MW_U16] = CUDA_FORMAT_U16, [MW_U32] = CUDA_FORMAT_U32, [MW_I8] = CUDA_FORMAT_I8,
      [MW_I16] = CUDA_FORMAT_I16, [MW_I32] = CUDA_FORMAT_I32, [MW_F16] = CUDA_FORMAT_F16, [MW_F32] = CUDA_FORMAT_F32};
  return formats[dtype];
}

/* Sides that an array has not are 0; layers and faces are its depth. */
static cuda_array_shape shape_of(const mw_image_shape *shape) {
  enum { MOST_GATHERED = 32768 };
  const mw_image_kind kind = shape->kind;
  const bool layered = kind == MW_IMAGE_1D_LAYERED || kind == MW_IMAGE_2D_LAYERED, cube = kind == MW_IMAGE_CUBE;
  const bool gathered = kind == MW_IMAGE_2D && shape->side[0] <= MOST_GATHERED && shape->side[1] <= MOST_GATHERED;
  cuda_array_shape out = {.width = shape->side[0], .format = format_of(shape->dtype)};
  out.height = kind == MW_IMAGE_1D || kind == MW_IMAGE_1D_LAYERED ? 0 : shape->side[1];
  out.depth = layered || cube || kind == MW_IMAGE_3D ? shape->side[2] : 0;
  out.channels = (unsigned)shape->components;
  out.flags = (layered ? CUDA_ARRAY_LAYERED : 0) | (cube ? CUDA_ARRAY_CUBE : 0) | (gathered ? CUDA_ARRAY_GATHER : 0) |
              (shape->writable ? CUDA_ARRAY_WRITABLE : 0);
  return out;
}

static size_t row_bytes(const mw_image_shape *shape) {
  return shape->side[0] * (size_t)shape->components * mw_dtype_size(shape->dtype);
}

mw_status cuda_texels(mw_stream *base, const mw_image_shape *shape, mw_buffer **out, mw_error *err) {
  cuda_device *device = cuda_device_of(base->device);
  const cuda_array_shape wanted = shape_of(shape);
  cuda_array array = NULL;
  mw_status status = cuda_enter(device, err);
  if (status == MW_OK) status = CUDA_TRY(device, err, cuArray3DCreate_v2, &array, &wanted);
  if (status != MW_OK) return status;
  *out = cuda_buffer_new(device, array, row_bytes(shape) * shape->side[1] * shape->side[2], MW_SPACE_TEXELS);
  return MW_OK;
}

mw_status cuda_texels_copy(mw_stream *base, const mw_image_shape *shape, mw_buffer *texels, mw_place array,
                           bool to_array, mw_error *err) {
  cuda_device *device = cuda_device_of(base->device);
  const cuda_copy_end own = {.type = CUDA_MEMORY_ARRAY, .array = texels->address};
  const cuda_copy_end plain = {.type = CUDA_MEMORY_UNIFIED,
                               .address = (cuda_address)(uintptr_t)array.buffer->address + array.offset,
                               .pitch = row_bytes(shape),
                               .height = shape->side[1]};
  const cuda_copy_3d copy = {.from = to_array ? own : plain,
                             .to = to_array ? plain : own,
                             .width = row_bytes(shape),
                             .height = shape->side[1],
                             .depth = shape->side[2]};
  return CUDA_CALL(device, err, cuMemcpy3DAsync_v2, &copy, ((cuda_stream *)base)->queue);
}

static cuda_resource resource_of(const mw_image_shape *shape, mw_place texels) {
  cuda_resource out = {.type = CUDA_RESOURCE_ARRAY};
  if (texels.buffer->space == MW_SPACE_TEXELS) {
    out.array = texels.buffer->address;
    return out;
  }
  const bool linear = shape->kind == MW_IMAGE_LINEAR;
  out.type = linear ? CUDA_RESOURCE_LINEAR : CUDA_RESOURCE_PITCHED;
  out.memory.address = (cuda_address)(uintptr_t)texels.buffer->address + texels.offset;
  out.memory.format = format_of(shape->dtype);
  out.memory.channels = (unsigned)shape->components;
  out.memory.width = linear ? row_bytes(shape) : shape->side[0];
  out.memory.height = linear ? 0 : shape->side[1];
  out.memory.pitch = linear ? 0 : row_bytes(shape);
  return out;
}

mw_status cuda_texture_make(mw_stream *base, const mw_image_shape *shape, const mw_sampling *sampling, mw_place texels,
                            mw_buffer **out, mw_error *err) {
  cuda_device *device = cuda_device_of(base->device);
  const cuda_resource resource = resource_of(shape, texels);
  cuda_sampling how = {.filter = sampling && sampling->linear};
  cuda_handle image = 0;
  mw_status status = cuda_enter(device, err);
  for (int i = 0; sampling && i < 3; i++) how.address[i] = (unsigned)sampling->address[i];
  if (sampling)
    how.flags = (sampling->as_float ? 0 : CUDA_READ_AS_INTEGER) | (sampling->normalised ? CUDA_READ_NORMALISED : 0);
  if (status == MW_OK && sampling)
    status = CUDA_TRY(device, err, cuTexObjectCreate, &image, &resource, &how, NULL);
  else if (status == MW_OK)
    status = CUDA_TRY(device, err, cuSurfObjectCreate, &image, &resource);
  if (status != MW_OK) return status;
  cuda_buffer *buffer = (cuda_buffer *)cuda_buffer_new(device, NULL, sizeof image, MW_SPACE_IMAGE);
  buffer->image = image;
  buffer->surface = !sampling;
  buffer->base.address = &buffer->image;
  buffer->base.texels = texels.buffer;
  *out = &buffer->base;
  return MW_OK;
}
