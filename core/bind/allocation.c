/* SPDX-License-Identifier: MIT
 *
 * Making arrays. Every argument is checked first, then memory allocated; when the device is out of memory the collector
 * runs and it is tried once more, since Lua cannot see the bytes that its garbage holds. */
#include "core/bind/bind.h"

#include <string.h>

/* A full collection after every `limit` bytes, so that a loop which drops large arrays does not fill the device. */
void allocation_note(lua_State *L, size_t bytes) {
  static const size_t limit = (size_t)1 << 30;
  bind_host *host = bind_host_of(L);
  host->untracked_bytes += bytes;
  if (host->untracked_bytes < limit) return;
  host->untracked_bytes = 0;
  lua_gc(L, LUA_GCCOLLECT);
}

static mw_buffer *allocate(lua_State *L, size_t bytes, mw_space space, mw_dtype dtype) {
  mw_buffer *buffer = NULL;
  check_runs(L, self_device(L), "memory");
  allocation_note(L, bytes);
  mw_device *device = self_device(L);
  mw_status status = device->backend->alloc(device->main, bytes, space, dtype, &buffer, &bind_error);
  if (status == MW_NO_MEMORY) {
    mw_error_clear(&bind_error);
    lua_gc(L, LUA_GCCOLLECT);
    device = self_device(L);
    status = device->backend->alloc(device->main, bytes, space, dtype, &buffer, &bind_error);
  }
  bind_try(L, status);
  return buffer;
}

static void fill_bytes(lua_State *L, const bind_array *a, mw_stream *stream, unsigned char byte) {
  mw_device *device = a->buffer->device;
  stream->acted = true;
  capture_buffer(L, a->buffer);
  bind_try(L, device->backend->fill(stream, array_place(a), &byte, 1, array_bytes(a), &bind_error));
}

/* core.clear(array[, stream]): zeros by the device's own means, without a kernel; what mw.bench flushes caches with. */
int array_clear(lua_State *L) {
  bind_array *a = check_array(L, 1);
  mw_stream *stream = check_stream(L, 2, a->buffer->device);
  mw_buffer_use(a->buffer, stream);
  fill_bytes(L, a, stream, 0);
  return 0;
}

static bind_array *push_allocated(lua_State *L, mw_space space, mw_dtype dtype, int dims, const lua_Integer *shape) {
  bind_array *a = array_new(L);
  array_open(a, allocate(L, (size_t)shape_count(shape, dims) * mw_dtype_size(dtype), space, dtype), 0, dtype, dims,
             shape, false);
  return a;
}

static int from_table(lua_State *L, mw_space space, mw_dtype dtype) {
  lua_Integer shape[4];
  check_that(L, lua_gettop(L) == 3, 4, "a table's nesting gives the shape, no sizes go with it");
  int dims = literal_shape(L, 3, shape);
  const void *bytes = literal_bytes(L, 3, dtype, dims, shape);
  array_write(L, push_allocated(L, space, dtype, dims, shape), 0, (size_t)shape_count(shape, dims), bytes);
  return 1;
}

static int from_string(lua_State *L, mw_space space, mw_dtype dtype) {
  size_t length, width = mw_dtype_size(dtype);
  const char *bytes = lua_tolstring(L, 3, &length);
  lua_Integer shape[4] = {(lua_Integer)(length / width)};
  int dims = lua_gettop(L) > 3 ? check_shape(L, 4, dtype, shape) : 1;
  size_t wanted = (size_t)shape_count(shape, dims) * width;
  if (length == 0) bind_argument(L, 3, "the string is empty, an array has at least one element");
  if (length % width != 0)
    bind_argument(L, 3, "the string has %I bytes, which is not a whole number of %s elements of %d bytes",
                  (LUAI_UACINT)length, mw_dtype_name(dtype), (int)width);
  if (wanted != length)
    bind_argument(L, 3, "the string has %I bytes, %I elements of %s need %I", (LUAI_UACINT)length,
                  (LUAI_UACINT)shape_count(shape, dims), mw_dtype_name(dtype), (LUAI_UACINT)wanted);
  array_write(L, push_allocated(L, space, dtype, dims, shape), 0, length / width, bytes);
  return 1;
}

enum { POISON = 0xff, AS_IT_IS = -1 }; /* NaN as a float, -1 as a signed integer: what was never written shows */

static const struct maker {
  const char *name;
  mw_space space;
  int byte; /* what a new array holds */
} makers[] = {
    {"array", MW_SPACE_DEVICE, POISON},    {"empty", MW_SPACE_DEVICE, AS_IT_IS},
    {"managed", MW_SPACE_MANAGED, POISON}, {"pageable", MW_SPACE_PAGEABLE, POISON},
    {"pinned", MW_SPACE_PINNED, POISON},   {"zeros", MW_SPACE_DEVICE, 0},
};

/* The forms every maker takes: (dtype, n1, ...), (dtype, table), (dtype, string[, n1, ...]). */
static int make(lua_State *L) {
  const struct maker *maker = makers;
  const char *name = bind_method_name(L);
  while (strcmp(maker->name, name) != 0) maker++;
  mw_dtype dtype = check_dtype(L, 2);
  lua_Integer shape[4];
  if (lua_istable(L, 3)) return from_table(L, maker->space, dtype);
  if (lua_type(L, 3) == LUA_TSTRING) return from_string(L, maker->space, dtype);
  int dims = check_shape(L, 3, dtype, shape);
  bind_array *a = push_allocated(L, maker->space, dtype, dims, shape);
  mw_device *device = a->buffer->device;
  if (maker->byte == AS_IT_IS || (maker->byte == POISON && device->info.checks)) return 1;
  if (a->buffer->host && maker->space != MW_SPACE_DEVICE)
    memset(a->buffer->address, maker->byte, array_bytes(a));
  else
    fill_bytes(L, a, current_stream(L, device), (unsigned char)maker->byte);
  return 1;
}

const bind_method array_makers[] = {
    {"array", make, ANY_COUNT},
    {"empty", make, ANY_COUNT},
    {"managed", make, ANY_COUNT},
    {"pageable", make, ANY_COUNT},
    {"pinned", make, ANY_COUNT},
    {"zeros", make, ANY_COUNT},
    {NULL, NULL, 0},
};
