/* SPDX-License-Identifier: MIT
 *
 * Textures and surfaces: what kernels take as cudaTextureObject_t and cudaSurfaceObject_t. A texture of linear or pitched
 * memory reads an array's own, which it counts; every other, and every surface, has texels of its own, in the device's
 * layout, with the array's values of when it was made. */
#include "core/bind/bind.h"

#include <stdio.h>
#include <string.h>

enum { BEGINS_AT = 512, ROWS_OF = 32 }; /* bytes: what GPUs ask of textures in an array's memory */

/* Sides: in an array, but for the components. Limits: CUDA C++ Programming Guide, "Technical Specifications per Compute
 * Capability", of all since 8.0; a surface of one side has fewer texels. */
static const struct {
  int sides;
  bool layered;
  uint32_t most[3], most_of_surface;
} kinds[] = {
    [MW_IMAGE_LINEAR] = {1, false, {1u << 28, 1, 1}, 0},
    [MW_IMAGE_PITCHED] = {2, false, {131072, 65000, 1}, 0},
    [MW_IMAGE_1D] = {1, false, {131072, 1, 1}, 32768},
    [MW_IMAGE_2D] = {2, false, {131072, 65536, 1}, 131072},
    [MW_IMAGE_3D] = {3, false, {16384, 16384, 16384}, 16384},
    [MW_IMAGE_1D_LAYERED] = {2, true, {32768, 2048, 1}, 32768},
    [MW_IMAGE_2D_LAYERED] = {3, true, {32768, 32768, 2048}, 32768},
    [MW_IMAGE_CUBE] = {3, true, {32768, 32768, 6}, 32768},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bool in_array(mw_image_kind kind) {
  return kind <= MW_IMAGE_PITCHED;
}

static bool is_texture(const bind_image *self) {
  return self->object.class == &texture_class;
}

/* ---- what is asked for ----------------------------------------------------------------------------------------- */

/* The standard one: by the array's sides. */
static mw_image_kind check_kind(lua_State *L, const bind_image *self, int sides) {
  static const mw_image_kind standard[] = {MW_IMAGE_LINEAR, MW_IMAGE_2D, MW_IMAGE_3D};
  const char *words[KINDS + 1] = {NULL};
  const bool texture = is_texture(self);
  int first = texture ? 0 : MW_IMAGE_1D;
  for (int i = first; i < KINDS; i++) words[i - first] = image_kind_names[i];
  if (option_push(L, 3, "kind")) {
    lua_pop(L, 1);
    return (mw_image_kind)(first + option_word(L, 3, "kind", words));
  }
  if (sides < 1 || sides > 3)
    bind_argument(L, 2, "an array of one to three sides expected, the components not counted, got %d", sides);
  return texture || sides > 1 ? standard[sides - 1] : MW_IMAGE_1D;
}

static void check_elements(lua_State *L, const bind_array *a) {
  const bool fits = a->dtype != MW_BF16 && mw_dtype_size(a->dtype) <= 4;
  check_that(L, fits, 2, "an array of f16, f32, or integers of up to 32 bits expected, got one of %s",
             mw_dtype_name(a->dtype));
}

static void check_sides(lua_State *L, const bind_array *a, const bind_image *self) {
  const mw_image_shape *shape = &self->shape;
  const char *kind = image_kind_names[shape->kind];
  for (int i = 0; i < kinds[shape->kind].sides; i++) {
    uint32_t most = kinds[shape->kind].most[i];
    if (i == 0 && !is_texture(self)) most = kinds[shape->kind].most_of_surface;
    check_that(L, shape->side[i] <= most, 2, "kind '%s': side %d has %I texels, GPUs allow %I", kind, i + 1,
               (LUAI_UACINT)shape->side[i], (LUAI_UACINT)most);
  }
  if (shape->kind == MW_IMAGE_CUBE && (shape->side[0] != shape->side[1] || shape->side[2] != 6))
    bind_argument(L, 2, "kind 'cube' takes six square faces, n x n x 6, got %d x %d x %d", (int)shape->side[0],
                  (int)shape->side[1], (int)shape->side[2]);
  const size_t row = shape->side[0] * (size_t)shape->components * mw_dtype_size(shape->dtype);
  if (shape->kind == MW_IMAGE_PITCHED && row % ROWS_OF)
    bind_argument(L, 2, "kind 'pitched' takes rows of a multiple of %d bytes, got %I; kind '2d' takes any", ROWS_OF,
                  (LUAI_UACINT)row);
  if (in_array(shape->kind) && a->offset % BEGINS_AT)
    bind_argument(L, 2, "kind '%s' takes a view that begins at a multiple of %d bytes of its array, got %I", kind,
                  BEGINS_AT, (LUAI_UACINT)a->offset);
}

static void check_image_shape(lua_State *L, const bind_array *a, bind_image *self) {
  mw_image_shape *shape = &self->shape;
  check_elements(L, a);
  shape->components = (int)option_integer(L, 3, "components", 1, 1, 4);
  check_that(L, shape->components != 3, 3, "option 'components' is 1, 2 or 4, got 3");
  const int skipped = shape->components > 1, sides = a->dims - skipped;
  if (skipped && a->shape[0] != shape->components)
    bind_argument(L, 2, "components = %d: a first side of %d expected, got %I", shape->components, shape->components,
                  (LUAI_UACINT)a->shape[0]);
  shape->kind = check_kind(L, self, sides);
  shape->dtype = a->dtype;
  shape->writable = !is_texture(self);
  if (sides != kinds[shape->kind].sides)
    bind_argument(L, 2, "kind '%s' takes an array of %d side%s, the components not counted, got %d",
                  image_kind_names[shape->kind], kinds[shape->kind].sides, kinds[shape->kind].sides > 1 ? "s" : "",
                  sides);
  for (int i = 0; i < 3; i++) {
    const lua_Integer side = i < sides ? a->shape[skipped + i] : 1;
    shape->side[i] = side < UINT32_MAX ? (uint32_t)side : UINT32_MAX;
  }
  check_sides(L, a, self);
  if (shape->kind != MW_IMAGE_1D_LAYERED) return;
  shape->side[2] = shape->side[1];
  shape->side[1] = 1;
}

/* ---- how it reads ---------------------------------------------------------------------------------------------- */

static const char *const addresses[] = {"wrap", "clamp", "mirror", "border", NULL}; /* as CUDA numbers them */

static int check_address(lua_State *L, int index) {
  const char *given = lua_type(L, index) == LUA_TSTRING ? lua_tostring(L, index) : "";
  int i = 0;
  while (addresses[i] && strcmp(addresses[i], given) != 0) i++;
  if (!addresses[i])
    bind_argument(L, 3, "option 'address' is wrap, clamp, mirror, border or a list of them, got %s",
                  value_text(L, index));
  return i;
}

static void check_addresses(lua_State *L, const bind_image *self, mw_sampling *out) {
  const int sides = kinds[self->shape.kind].sides - kinds[self->shape.kind].layered;
  for (int i = 0; i < 3; i++) out->address[i] = 1;
  if (!option_push(L, 3, "address")) return;
  check_that(L, self->shape.kind != MW_IMAGE_LINEAR, 3, "option 'address' is not of linear memory: outside of it is 0");
  const bool list = lua_istable(L, -1);
  check_that(L, !list || (int)lua_rawlen(L, -1) == sides, 3, "option 'address': a list of %d expected, got %s", sides,
             value_text(L, -1));
  for (int i = 0; i < sides; i++) {
    if (list)
      lua_rawgeti(L, -1, i + 1);
    else
      lua_pushvalue(L, -1);
    out->address[i] = check_address(L, lua_gettop(L));
    const bool repeats = out->address[i] == 0 || out->address[i] == 2;
    check_that(L, !repeats || out->normalised, 3, "option 'address': %s needs normalised = true",
               addresses[out->address[i]]);
    check_that(L, self->shape.kind != MW_IMAGE_CUBE || out->address[i] == 1, 3,
               "option 'address': a cube map's faces are clamped");
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

static void check_sampling(lua_State *L, bind_image *self) {
  static const char *const filters[] = {"point", "linear", NULL}, *const reads[] = {"element", "normalised float",
                                                                                    NULL};
  const mw_image_kind kind = self->shape.kind;
  mw_sampling *out = &self->sampling;
  const bool integer = !mw_dtype_is_float(self->shape.dtype), small = mw_dtype_size(self->shape.dtype) < 4;
  out->linear = option_word(L, 3, "filter", filters) == 1;
  out->as_float = option_word(L, 3, "read", reads) == 1;
  out->normalised = option_boolean(L, 3, "normalised", kind == MW_IMAGE_CUBE);
  check_that(L, kind != MW_IMAGE_CUBE || out->normalised, 3, "a cube map has normalised coordinates");
  check_that(L, kind != MW_IMAGE_LINEAR || (!out->linear && !out->normalised), 3,
             "linear memory is read by the number of a texel: no filter and no normalised coordinates");
  check_that(L, !out->as_float || (integer && small), 3,
             "option 'read': integers of 8 or 16 bits are read as normalised floats, not %s",
             mw_dtype_name(self->shape.dtype));
  check_that(L, !out->linear || !integer || out->as_float, 3,
             "filter = \"linear\" mixes numbers: %s elements need read = \"normalised float\"%s",
             mw_dtype_name(self->shape.dtype), small ? "" : ", which 32 bits do not have");
  check_addresses(L, self, out);
}

/* ---- making ---------------------------------------------------------------------------------------------------- */

static mw_buffer *new_texels(lua_State *L, const bind_image *self, size_t bytes) {
  mw_buffer *texels = NULL;
  allocation_note(L, bytes);
  for (int attempt = 0;; attempt++) {
    mw_device *device = self_device(L);
    mw_status status = device->backend->texels(device->main, &self->shape, &texels, &bind_error);
    if (status != MW_NO_MEMORY || attempt) bind_try(L, status);
    if (status == MW_OK) return texels;
    mw_error_clear(&bind_error);
    lua_gc(L, LUA_GCCOLLECT);
  }
}

/* Of texels that the caller has counted for it. */
static void open_image(lua_State *L, bind_image *self, mw_buffer *texels, size_t offset) {
  mw_device *device = texels->device;
  const mw_sampling *sampling = is_texture(self) ? &self->sampling : NULL;
  const mw_place place = {texels, offset, NULL};
  mw_status status = device->backend->image(device->main, &self->shape, sampling, place, &self->buffer, &bind_error);
  if (status != MW_OK) mw_buffer_release(texels);
  bind_try(L, status);
  bind_opened(self, device);
}

/* ---- copies ---------------------------------------------------------------------------------------------------- */

static bind_array texels_array(const bind_image *self) {
  const uint32_t *side = self->shape.side;
  const size_t count = (size_t)side[0] * side[1] * side[2] * (size_t)self->shape.components;
  return (bind_array){.buffer = self->buffer->texels, .count = count, .dtype = self->shape.dtype};
}

static void copy_texels(lua_State *L, const bind_image *self, const bind_array *a, mw_stream *stream, bool to_array) {
  const mw_backend *backend = stream->device->backend;
  const bool wait = stream == stream->device->main;
  const bind_array texels = texels_array(self);
  bind_try(L, backend->texels_copy(stream, &self->shape, texels.buffer, array_place(a), to_array, &bind_error));
  mw_buffer_use(a->buffer, stream);
  mw_buffer_use(self->buffer, stream);
  capture_buffer(L, a->buffer);
  capture_buffer(L, self->buffer);
  race_copy(L, stream, to_array ? a : &texels, 0, to_array ? &texels : a, 0, a->count, wait);
  if (wait) bind_try(L, backend->stream_synchronize(stream, &bind_error));
}

static void check_array_reached(lua_State *L, const bind_array *a, const mw_device *device) {
  if (a->buffer->device != device || a->buffer->space == MW_SPACE_PAGEABLE)
    bind_argument(L, 2, "an array in device, managed or pinned memory of %s expected, got %s", device->info.id,
                  (lua_pushvalue(L, 2), luaL_tolstring(L, -1, NULL)));
}

/* Of the object at 1, with the array at 2 and the options at 3. */
static int copy(lua_State *L, bool to_array) {
  static const char *const names[] = {"stream", NULL};
  check_options(L, 3, names);
  const bind_image *self = lua_touserdata(L, 1);
  const bind_array *a = check_array(L, 2);
  mw_device *device = self->object.device;
  if (in_array(self->shape.kind))
    return bind_fail(L, MW_INVALID, "a texture of kind '%s' reads its array itself: write to that",
                     image_kind_names[self->shape.kind]);
  check_array_reached(L, a, device);
  check_that(L, !to_array || !a->readonly, 2, "the array is read-only");
  const size_t count = texels_array(self).count;
  if (a->dtype != self->shape.dtype || a->count != count)
    bind_argument(L, 2, "%I elements of %s expected, got %I of %s", (LUAI_UACINT)count,
                  mw_dtype_name(self->shape.dtype), (LUAI_UACINT)a->count, mw_dtype_name(a->dtype));
  mw_stream *stream = current_stream(L, device);
  if (option_push(L, 3, "stream")) stream = option_stream(L, device)->stream;
  copy_texels(L, self, a, stream, to_array);
  lua_settop(L, 1);
  return 1;
}

/* t:copy_from(array[, { stream = }]): the array's values from now on. */
static int image_copy_from(lua_State *L) {
  return copy(L, false);
}

/* s:copy_to(array[, { stream = }]): what kernels have written. */
static int surface_copy_to(lua_State *L) {
  return copy(L, true);
}

/* ---- the methods of a device ----------------------------------------------------------------------------------- */

/* The object at the top, of the array at 2. */
static int make(lua_State *L, bind_image *self) {
  mw_device *device = check_runs(L, self_device(L), "textures");
  const bind_array *a = check_array(L, 2);
  check_uncaptured(L, current_stream(L, device), "make a texture or a surface");
  check_array_reached(L, a, device);
  check_image_shape(L, a, self);
  if (is_texture(self)) check_sampling(L, self);
  if (in_array(self->shape.kind)) {
    mw_buffer_retain(a->buffer);
    open_image(L, self, a->buffer, a->offset);
    return 1;
  }
  mw_buffer *texels = new_texels(L, self, array_bytes(a));
  open_image(L, self, texels, 0);
  copy_texels(L, self, check_array(L, 2), device->main, false);
  return 1;
}

/* dev:texture(array | surface[, { filter =, address =, normalised =, read =, kind =, components = }]) */
static int device_texture(lua_State *L) {
  static const char *const names[] = {"filter", "address", "normalised", "read", "kind", "components", NULL};
  check_options(L, 3, names);
  lua_settop(L, 3);
  bind_image *self = bind_new(L, &texture_class, sizeof *self, 0);
  const bind_image *surface = bind_test(L, 2, &surface_class);
  if (!surface) return make(L, self);
  bind_check_on(L, 2, &surface_class, check_runs(L, self_device(L), "textures"));
  check_that(L, !option_push(L, 3, "kind") && !option_push(L, 3, "components"), 3,
             "a texture of a surface has its kind and components");
  self->shape = surface->shape;
  check_sampling(L, self);
  mw_buffer_retain(surface->buffer->texels);
  open_image(L, self, surface->buffer->texels, 0);
  return 1;
}

/* dev:surface(array[, { kind =, components = }]) */
static int device_surface(lua_State *L) {
  static const char *const names[] = {"kind", "components", NULL};
  check_options(L, 3, names);
  lua_settop(L, 3);
  return make(L, bind_new(L, &surface_class, sizeof(bind_image), 0));
}

const bind_method image_copies[] = {{"copy_from", image_copy_from, 2}, {NULL, NULL, 0}};
const bind_method surface_copies[] = {{"copy_to", surface_copy_to, 2}, {NULL, NULL, 0}};
const bind_method image_makers[] = {{"surface", device_surface, 2}, {"texture", device_texture, 2}, {NULL, NULL, 0}};
