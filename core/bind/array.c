/* SPDX-License-Identifier: MIT
 *
 * Arrays: a counted buffer, an offset, an element type and a shape (x first, the fastest). Views share the buffer. */
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

bind_array *array_new(lua_State *L) {
  return bind_new(L, &array_class, sizeof(bind_array), 0);
}

void array_open(bind_array *a, mw_buffer *buffer, size_t offset, mw_dtype dtype, int dims, const lua_Integer *shape,
                bool readonly) {
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
  bind_opened(a, buffer->device);
}

static void array_release(void *object) {
  mw_buffer_release(((bind_array *)object)->buffer);
}

/* ---- shapes ---------------------------------------------------------------------------------------------------- */

/* Reads n1[, n2[, n3[, n4]]] from index to the top. */
int check_shape(lua_State *L, int index, mw_dtype dtype, lua_Integer shape[4]) {
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

lua_Integer shape_count(const lua_Integer *shape, int dims) {
  lua_Integer count = 1;
  for (int i = 0; i < dims; i++) count *= shape[i];
  return count;
}

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

static void describe(lua_State *L, const void *object) {
  const bind_array *self = object;
  char text[256];
  array_format(self, text, sizeof text);
  lua_pushstring(L, text);
}

/* a[1] = 2, or a.name = 2. */
static int array_newindex(lua_State *L) {
  if (!lua_isinteger(L, 2)) return bind_reject_field(L);
  return bind_fail(L, MW_INVALID, "an element is written with set: a:set(%I, value)", (LUAI_UACINT)lua_tointeger(L, 2));
}

/* ---- operators that arrays do not have ----------------------------------------------------------------------------- */

static int array_arithmetic(lua_State *L) {
  return bind_fail(L, MW_INVALID,
                   "an array has no arithmetic in Lua: a kernel computes on the device, a:totable() gives the elements "
                   "to the script");
}

static int array_compare(lua_State *L) {
  return bind_fail(L, MW_INVALID, "arrays have no order; mw.check(got, expected) compares their elements");
}

static int array_call(lua_State *L) {
  return bind_fail(L, MW_INVALID, "an array is not a function: a:get(i) reads an element, a:totable() all of them");
}

static int array_pairs(lua_State *L) {
  return bind_fail(L, MW_INVALID, "an array is not a table: a:totable() gives one to loop over");
}

/* ---- views ----------------------------------------------------------------------------------------------------- */

/* Of the method's array. */
static int push_view(lua_State *L, const bind_array *a, size_t first, int dims, const lua_Integer *shape) {
  bind_array *view = array_new(L);
  mw_buffer_retain(a->buffer);
  array_open(view, a->buffer, a->offset + first * mw_dtype_size(a->dtype), a->dtype, dims, shape, a->readonly);
  return 1;
}

/* a:view(first, n1[, ...]): elements from the first-th on, in a shape of their own; shares the memory. */
static int array_view(lua_State *L) {
  bind_array *a = check_array(L, 1);
  lua_Integer first = check_integer(L, 2), shape[4];
  int dims = check_shape(L, 3, a->dtype, shape);
  lua_Integer count = shape_count(shape, dims), all = (lua_Integer)a->count;
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
  lua_Integer count = shape_count(shape, dims);
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
    {"device", object_device, 0},
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

static const luaL_Reg metamethods[] = {
    {"__add", array_arithmetic}, {"__band", array_arithmetic},   {"__bnot", array_arithmetic},
    {"__bor", array_arithmetic}, {"__bxor", array_arithmetic},   {"__call", array_call},
    {"__div", array_arithmetic}, {"__idiv", array_arithmetic},   {"__le", array_compare},
    {"__len", array_count},      {"__lt", array_compare},        {"__mod", array_arithmetic},
    {"__mul", array_arithmetic}, {"__newindex", array_newindex}, {"__pairs", array_pairs},
    {"__pow", array_arithmetic}, {"__shl", array_arithmetic},    {"__shr", array_arithmetic},
    {"__sub", array_arithmetic}, {"__unm", array_arithmetic},    {NULL, NULL},
};

bind_class array_class = {"array", array_release, methods, describe, metamethods, 0};
