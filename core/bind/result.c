/* SPDX-License-Identifier: MIT
 *
 * Tables of answers (occupancy, attributes, properties, nodes): plain tables, with one metatable for all by which print
 * shows their fields and not their address. */
#include "core/bind/bind.h"

static const char result_key = 'r';

void bind_result_methods(lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &result_key) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &result_key);
}

void bind_result(lua_State *L) {
  bind_result_methods(L);
  lua_setmetatable(L, -2);
}
