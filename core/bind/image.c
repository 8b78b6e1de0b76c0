/* SPDX-License-Identifier: MIT
 *
 * The classes of textures and surfaces; texture.c makes them and copies. */
#include "core/bind/bind.h"

#include <stdio.h>

const char *const image_kind_names[] = {
    [MW_IMAGE_LINEAR] = "linear",
    [MW_IMAGE_PITCHED] = "pitched",
    [MW_IMAGE_1D] = "1d",
    [MW_IMAGE_2D] = "2d",
    [MW_IMAGE_3D] = "3d",
    [MW_IMAGE_1D_LAYERED] = "1d layered",
    [MW_IMAGE_2D_LAYERED] = "2d layered",
    [MW_IMAGE_CUBE] = "cube",
};

mw_buffer *bind_buffer_of(lua_State *L, int index) {
  const bind_array *a = bind_test(L, index, &array_class);
  if (a) return a->buffer;
  const bind_image *image = bind_test(L, index, &texture_class);
  if (!image) image = bind_test(L, index, &surface_class);
  return image ? image->buffer : NULL;
}

static void image_release(void *object) {
  mw_buffer_release(((bind_image *)object)->buffer);
}

/* "texture<f32 x 4>[64 x 32 x 1] 2d cuda:0" */
static void describe(lua_State *L, const void *object) {
  const bind_image *self = object;
  const mw_image_shape *shape = &self->shape;
  char text[160];
  snprintf(text, sizeof text, "%s<%s x %d>[%u x %u x %u] %s %s", self->object.class->name, mw_dtype_name(shape->dtype),
           shape->components, shape->side[0], shape->side[1], shape->side[2], image_kind_names[shape->kind],
           self->object.device->info.id);
  lua_pushstring(L, text);
}

static const bind_method methods[] = {{"device", object_device, 0}, {NULL, NULL, 0}};

bind_class texture_class = {"texture", image_release, methods, describe, NULL, 0};
bind_class surface_class = {"surface", image_release, methods, describe, NULL, 0};
