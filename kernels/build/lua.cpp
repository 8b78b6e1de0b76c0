// SPDX-License-Identifier: MIT
//
// A C module for Lua: saxpy(a, x, y) of two lists returns y, or nil and what failed.

#include <lua.hpp>
#include <vector>

#include "saxpy.h"

static std::vector<float> list(lua_State *L, int at, size_t n) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; i++) {
    lua_rawgeti(L, at, i + 1);
    values[i] = (float)lua_tonumber(L, -1);
    lua_pop(L, 1);
  }
  return values;
}

static int call(lua_State *L) {
  float a = (float)luaL_checknumber(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  luaL_checktype(L, 3, LUA_TTABLE);
  size_t n = lua_rawlen(L, 2);
  std::vector<float> x = list(L, 2, n), y = list(L, 3, n);
  if (const char *what = saxpy_on_gpu((int)n, a, x.data(), y.data())) {
    lua_pushnil(L);
    lua_pushstring(L, what);
    return 2;
  }
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    lua_pushnumber(L, y[i]);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

extern "C" int luaopen_saxpy(lua_State *L) {
  lua_pushcfunction(L, call);
  return 1;
}
