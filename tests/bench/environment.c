/* SPDX-License-Identifier: MIT
 *
 * Sets environment variables of the running process, for libraries that read theirs when they are loaded
 * (OMP_WAIT_POLICY, MOONWARP_CXX). A Lua module of its own: scripts have no business changing the environment. */
#include <lauxlib.h>
#include <lua.h>
#include <stdlib.h>

static int environment_set(lua_State *L) {
  if (setenv(luaL_checkstring(L, 1), luaL_checkstring(L, 2), 1) != 0) return luaL_error(L, "setenv failed");
  return 0;
}

int luaopen_environment(lua_State *L);
int luaopen_environment(lua_State *L) {
  static const luaL_Reg functions[] = {{"set", environment_set}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
