/* SPDX-License-Identifier: MIT
 *
 * Nested Lua tables as array contents: { {1, 2, 3}, {4, 5, 6} } is 3 x 2 (x first): the outermost table is the
 * slowest dimension. */
#include "core/bind/bind.h"

static int depth(lua_State *L, int index) {
  int dims = 1;
  lua_pushvalue(L, index);
  while (lua_rawgeti(L, -1, 1) == LUA_TTABLE) {
    lua_remove(L, -2);
    if (++dims > 4) bind_fail(L, MW_INVALID, "an array has at most 4 dimensions, the table is nested deeper");
  }
  lua_pop(L, 2);
  return dims;
}

/* A row may be used many times, so a small table can stand for more elements than there is memory. */
int literal_shape(lua_State *L, int index, lua_Integer shape[4]) {
  int dims = depth(L, index);
  lua_Integer left = PTRDIFF_MAX / (lua_Integer)sizeof(double);
  lua_pushvalue(L, index);
  for (int d = dims - 1; d >= 0; d--) {
    shape[d] = (lua_Integer)lua_rawlen(L, -1);
    if (shape[d] < 1) bind_fail(L, MW_INVALID, "an array from a table needs at least one element in every dimension");
    if (shape[d] > left) bind_fail(L, MW_INVALID, "the array would have more bytes than an address can count");
    left /= shape[d];
    lua_rawgeti(L, -1, 1);
    lua_remove(L, -2);
  }
  lua_pop(L, 1);
  return dims;
}

typedef struct filling {
  mw_dtype dtype;
  size_t width;
  char *at;
  lua_Integer path[4]; /* indices on the way down, outermost first */
  int level;
} filling;

static int wrong(lua_State *L, const filling *f, const char *what) {
  luaL_Buffer path;
  luaL_buffinit(L, &path);
  for (int i = 0; i <= f->level; i++) {
    lua_pushfstring(L, "[%I]", (LUAI_UACINT)f->path[i]);
    luaL_addvalue(&path);
  }
  luaL_pushresult(&path);
  return bind_fail(L, MW_INVALID, "element %s of the table: %s", lua_tostring(L, -1), what);
}

static void store_rows(lua_State *L, filling *f, int dims, const lua_Integer *shape) {
  lua_Integer length = lua_istable(L, -1) ? (lua_Integer)lua_rawlen(L, -1) : -1;
  if (length != shape[dims - 1]) {
    f->level--;
    const char *got = length < 0 ? luaL_typename(L, -1) : lua_pushfstring(L, "%I", (LUAI_UACINT)length);
    wrong(L, f,
          lua_pushfstring(L, "%I values expected as in the first one, got %s", (LUAI_UACINT)shape[dims - 1], got));
  }
  for (lua_Integer i = 1; i <= length; i++) {
    f->path[f->level] = i;
    lua_rawgeti(L, -1, i);
    if (dims > 1) {
      f->level++;
      store_rows(L, f, dims - 1, shape);
      f->level--;
    } else {
      const char *problem = store_element(L, lua_gettop(L), f->dtype, f->at);
      if (problem) wrong(L, f, lua_pushfstring(L, "%s holds %s", mw_dtype_name(f->dtype), problem));
      f->at += f->width;
    }
    lua_pop(L, 1);
  }
}

const void *literal_bytes(lua_State *L, int index, mw_dtype dtype, int dims, const lua_Integer *shape) {
  size_t width = mw_dtype_size(dtype);
  void *bytes = lua_newuserdatauv(L, (size_t)shape_count(shape, dims) * width, 0);
  filling f = {dtype, width, bytes, {0}, 0};
  lua_pushvalue(L, index);
  store_rows(L, &f, dims, shape);
  lua_pop(L, 1);
  return bytes;
}
