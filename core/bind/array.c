/* SPDX-License-Identifier: MIT
 *
 * Arrays: a counted buffer, an offset, an element type and a shape (x first, the fastest). Views share the buffer.
 * Making one checks every argument first, then allocates; when the device is out of memory the collector runs and it
 * is tried once more, since Lua cannot see the bytes that its garbage holds. */
#include "core/bind/bind.h"

#include <stdio.h>
#include <string.h>

bind_array *check_array(lua_State *L, int index) {
  return bind_check(L, index, &array_class);
}

size_t array_bytes(const bind_array *a) {
  return a->count * mw_dtype_size(a->dtype);
}

mw_place array_place(const bind_array *a) {
  return (mw_place){a->buffer, a->offset, NULL};
}

void array_push(lua_State *L, mw_buffer *buffer, size_t offset, mw_dtype dtype, int dims, const lua_Integer *shape,
                bool readonly) {
  bind_array *a = bind_new(L, &array_class, sizeof *a, 0);
  a->buffer = buffer;
  a->offset = offset;
  a->dtype = dtype;
  a->dims = dims;
  a->readonly = readonly;
  a->count = 1;
  for (int i = 0; i < dims; i++) {
    a->shape[i] = shape[i];
    a->count *= (size_t)shape[i];
  }
  bind_opened(a);
}

static void array_release(lua_State *L, void *object) {
  (void)L;
  mw_buffer_release(((bind_array *)object)->buffer);
}

/* ---- making ---------------------------------------------------------------------------------------------------- */

/* Every so many bytes a full collection, so that a loop which drops large arrays does not fill the device. */
static void account(lua_State *L, size_t bytes) {
  static const size_t limit = (size_t)1 << 30;
  bind_host *host = bind_host_of(L);
  host->unseen += bytes;
  if (host->unseen < limit) return;
  host->unseen = 0;
  lua_gc(L, LUA_GCCOLLECT);
}

static mw_buffer *allocate(lua_State *L, mw_device *device, size_t bytes, mw_space space) {
  mw_error err = {0};
  mw_buffer *buffer = NULL;
  check_runs(L, device, "memory");
  account(L, bytes);
  mw_status status = device->backend->alloc(device->main, bytes, space, &buffer, &err);
  if (status == MW_NO_MEMORY) {
    lua_gc(L, LUA_GCCOLLECT);
    mw_error_clear(&err);
    status = device->backend->alloc(device->main, bytes, space, &buffer, &err);
  }
  bind_try(L, status, &err);
  return buffer;
}

/* Reads n1[, n2[, n3[, n4]]] from index to the top. */
static int check_shape(lua_State *L, int index, mw_dtype dtype, lua_Integer shape[4]) {
  int dims = lua_gettop(L) - index + 1;
  if (dims < 1) bind_fail(L, MW_INVALID, "an array needs its size: one to four integers, x first");
  if (dims > 4) bind_fail(L, MW_INVALID, "an array has at most 4 dimensions, got %d", dims);
  lua_Integer most = PTRDIFF_MAX / (lua_Integer)mw_dtype_size(dtype), count = 1;
  for (int i = 0; i < dims; i++) {
    shape[i] = check_integer(L, index + i);
    check_that(L, shape[i] >= 1, index + i, "a size of at least 1 expected, got %I", (LUAI_UACINT)shape[i]);
    check_that(L, shape[i] <= most / count, index + i, "the array would have more bytes than an address can count");
    count *= shape[i];
  }
  return dims;
}

static lua_Integer product(const lua_Integer *shape, int dims) {
  lua_Integer count = 1;
  for (int i = 0; i < dims; i++) count *= shape[i];
  return count;
}

static void fill_bytes(lua_State *L, const bind_array *a, mw_stream *stream, unsigned char byte) {
  mw_error err = {0};
  mw_device *device = a->buffer->device;
  bind_try(L, device->backend->fill(stream, array_place(a), &byte, 1, array_bytes(a), &err), &err);
}

/* core.clear(array[, stream]): zeros by the device's own means, without a kernel; what mw.bench flushes caches with. */
int array_clear(lua_State *L) {
  bind_array *a = check_array(L, 1);
  mw_device *device = a->buffer->device;
  mw_stream *stream = lua_isnoneornil(L, 2) ? current_stream(L, device) : check_stream(L, 2, device)->stream;
  mw_buffer_use(a->buffer, stream);
  fill_bytes(L, a, stream, 0);
  return 0;
}

static void push_allocated(lua_State *L, mw_device *device, mw_space space, mw_dtype dtype, int dims,
                           const lua_Integer *shape) {
  mw_buffer *buffer = allocate(L, device, (size_t)product(shape, dims) * mw_dtype_size(dtype), space);
  array_push(L, buffer, 0, dtype, dims, shape, false);
}

static int from_table(lua_State *L, mw_device *device, mw_space space, mw_dtype dtype) {
  lua_Integer shape[4];
  check_that(L, lua_gettop(L) == 3, 4, "a table's nesting gives the shape, no sizes go with it");
  int dims = literal_shape(L, 3, shape);
  size_t count = (size_t)product(shape, dims);
  void *bytes = lua_newuserdatauv(L, count * mw_dtype_size(dtype), 0);
  literal_store(L, 3, dtype, dims, shape, bytes);
  push_allocated(L, device, space, dtype, dims, shape);
  array_write(L, lua_touserdata(L, -1), 0, count, bytes);
  return 1;
}

static int from_string(lua_State *L, mw_device *device, mw_space space, mw_dtype dtype) {
  size_t length, width = mw_dtype_size(dtype);
  const char *bytes = lua_tolstring(L, 3, &length);
  lua_Integer shape[4] = {(lua_Integer)(length / width)};
  int dims = lua_gettop(L) > 3 ? check_shape(L, 4, dtype, shape) : 1;
  size_t wanted = (size_t)product(shape, dims) * width;
  if (length == 0) bind_argument(L, 3, "the string is empty, an array has at least one element");
  if (length % width != 0)
    bind_argument(L, 3, "the string has %I bytes, which is no whole number of %s elements of %d bytes",
                  (LUAI_UACINT)length, mw_dtype_name(dtype), (int)width);
  if (wanted != length)
    bind_argument(L, 3, "the string has %I bytes, %I elements of %s need %I", (LUAI_UACINT)length,
                  (LUAI_UACINT)product(shape, dims), mw_dtype_name(dtype), (LUAI_UACINT)wanted);
  push_allocated(L, device, space, dtype, dims, shape);
  array_write(L, lua_touserdata(L, -1), 0, length / width, bytes);
  return 1;
}

/* The forms every maker takes: (dtype, n1, ...), (dtype, table), (dtype, string[, n1, ...]). byte: what a new array
 * holds, -1 for whatever was there. */
static int make(lua_State *L, mw_space space, int byte) {
  mw_device *device = check_device(L, 1)->device;
  mw_dtype dtype = check_dtype(L, 2);
  lua_Integer shape[4];
  if (lua_istable(L, 3)) return from_table(L, device, space, dtype);
  if (lua_type(L, 3) == LUA_TSTRING) return from_string(L, device, space, dtype);
  int dims = check_shape(L, 3, dtype, shape);
  push_allocated(L, device, space, dtype, dims, shape);
  bind_array *a = lua_touserdata(L, -1);
  if (byte >= 0 && a->buffer->host && space != MW_SPACE_DEVICE)
    memset(a->buffer->address, byte, array_bytes(a));
  else if (byte >= 0)
    fill_bytes(L, a, current_stream(L, device), (unsigned char)byte);
  return 1;
}

enum { POISON = 0xff }; /* NaN as a float, -1 as a signed integer: what was never written shows */

static int device_array(lua_State *L) {
  return make(L, MW_SPACE_DEVICE, POISON);
}
static int device_empty(lua_State *L) {
  return make(L, MW_SPACE_DEVICE, -1);
}
static int device_zeros(lua_State *L) {
  return make(L, MW_SPACE_DEVICE, 0);
}
static int device_pinned(lua_State *L) {
  return make(L, MW_SPACE_PINNED, POISON);
}
static int device_pageable(lua_State *L) {
  return make(L, MW_SPACE_PAGEABLE, POISON);
}
static int device_managed(lua_State *L) {
  return make(L, MW_SPACE_MANAGED, POISON);
}

const bind_method array_makers[] = {
    {"array", device_array, ANY_COUNT},
    {"empty", device_empty, ANY_COUNT},
    {"managed", device_managed, ANY_COUNT},
    {"pageable", device_pageable, ANY_COUNT},
    {"pinned", device_pinned, ANY_COUNT},
    {"zeros", device_zeros, ANY_COUNT},
    {NULL, NULL, 0},
};

/* ---- asking ---------------------------------------------------------------------------------------------------- */

static int array_dtype(lua_State *L) {
  lua_pushstring(L, mw_dtype_name(check_array(L, 1)->dtype));
  return 1;
}

static int array_shape(lua_State *L) {
  bind_array *a = check_array(L, 1);
  for (int i = 0; i < a->dims; i++) lua_pushinteger(L, a->shape[i]);
  return a->dims;
}

static int array_dims(lua_State *L) {
  lua_pushinteger(L, check_array(L, 1)->dims);
  return 1;
}

static int array_count(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)check_array(L, 1)->count);
  return 1;
}

static int array_nbytes(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)array_bytes(check_array(L, 1)));
  return 1;
}

static const char *space_name(const bind_array *a) {
  static const char *const names[] = {"device", "pinned", "pageable", "managed", "global"};
  return names[a->buffer->space];
}

static int array_space(lua_State *L) {
  lua_pushstring(L, space_name(check_array(L, 1)));
  return 1;
}

static int array_device(lua_State *L) {
  push_device(L, check_array(L, 1)->buffer->device);
  return 1;
}

static int array_address(lua_State *L) {
  bind_array *a = check_array(L, 1);
  lua_pushinteger(L, (lua_Integer)(uintptr_t)a->buffer->address + (lua_Integer)a->offset);
  return 1;
}

static int array_is_readonly(lua_State *L) {
  lua_pushboolean(L, check_array(L, 1)->readonly);
  return 1;
}

void array_format(const bind_array *a, char *out, size_t size) {
  size_t at = (size_t)snprintf(out, size, "array<%s>[", mw_dtype_name(a->dtype));
  for (int i = 0; i < a->dims && at < size; i++)
    at += (size_t)snprintf(out + at, size - at, i ? " x %lld" : "%lld", (long long)a->shape[i]);
  if (at < size)
    snprintf(out + at, size - at, a->buffer->space == MW_SPACE_DEVICE ? "] %s" : "] %s, %s", a->buffer->device->info.id,
             space_name(a));
}

static int array_tostring(lua_State *L) {
  bind_array *a = bind_self(L, 1, &array_class);
  char text[256] = "array (closed)";
  if (a->object.open) array_format(a, text, sizeof text);
  lua_pushstring(L, text);
  return 1;
}

/* ---- views ----------------------------------------------------------------------------------------------------- */

static int push_view(lua_State *L, const bind_array *a, size_t first, int dims, const lua_Integer *shape) {
  mw_buffer_retain(a->buffer);
  array_push(L, a->buffer, a->offset + first * mw_dtype_size(a->dtype), a->dtype, dims, shape, a->readonly);
  return 1;
}

/* a:view(first, n1[, ...]): elements from the first-th on, in a shape of their own; shares the memory. */
static int array_view(lua_State *L) {
  bind_array *a = check_array(L, 1);
  lua_Integer first = check_integer(L, 2), shape[4];
  int dims = check_shape(L, 3, a->dtype, shape);
  lua_Integer count = product(shape, dims), all = (lua_Integer)a->count;
  check_that(L, first >= 1 && first <= all, 2, "first element from 1 to %I expected, got %I", (LUAI_UACINT)all,
             (LUAI_UACINT)first);
  check_that(L, count <= all - first + 1, 3,
             "a view of %I elements from element %I on does not fit into the array's %I", (LUAI_UACINT)count,
             (LUAI_UACINT)first, (LUAI_UACINT)all);
  return push_view(L, a, (size_t)first - 1, dims, shape);
}

/* a:reshape(n1[, ...]): the same elements in another shape; shares the memory. */
static int array_reshape(lua_State *L) {
  bind_array *a = check_array(L, 1);
  lua_Integer shape[4];
  int dims = check_shape(L, 2, a->dtype, shape);
  lua_Integer count = product(shape, dims);
  check_that(L, count == (lua_Integer)a->count, 2, "the new shape has %I elements, the array has %I",
             (LUAI_UACINT)count, (LUAI_UACINT)a->count);
  return push_view(L, a, 0, dims, shape);
}

/* a:slice(k): the k-th part along the slowest dimension, one dimension less; shares the memory. */
static int array_slice(lua_State *L) {
  bind_array *a = check_array(L, 1);
  lua_Integer k = check_integer(L, 2), most = a->shape[a->dims - 1];
  check_that(L, k >= 1 && k <= most, 2, "a slice from 1 to %I expected, got %I", (LUAI_UACINT)most, (LUAI_UACINT)k);
  static const lua_Integer one[1] = {1};
  size_t count = a->count / (size_t)most;
  return push_view(L, a, (size_t)(k - 1) * count, a->dims > 1 ? a->dims - 1 : 1, a->dims > 1 ? a->shape : one);
}

/* a:readonly(): a view that a launch gives to const parameters only and that cannot be written from the script. */
static int array_readonly(lua_State *L) {
  bind_array *a = check_array(L, 1);
  push_view(L, a, 0, a->dims, a->shape);
  ((bind_array *)lua_touserdata(L, -1))->readonly = true;
  return 1;
}

static const bind_method methods[] = {
    {"address", array_address, 0},
    {"device", array_device, 0},
    {"dims", array_dims, 0},
    {"dtype", array_dtype, 0},
    {"is_readonly", array_is_readonly, 0},
    {"nbytes", array_nbytes, 0},
    {"readonly", array_readonly, 0},
    {"reshape", array_reshape, ANY_COUNT},
    {"shape", array_shape, 0},
    {"slice", array_slice, 1},
    {"space", array_space, 0},
    {"view", array_view, ANY_COUNT},
    {NULL, NULL, 0},
};

static const luaL_Reg metamethods[] = {{"__len", array_count}, {"__tostring", array_tostring}, {NULL, NULL}};

bind_class array_class = {"array", array_release, methods, metamethods, 0};
