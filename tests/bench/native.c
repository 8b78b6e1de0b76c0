/* SPDX-License-Identifier: MIT
 *
 * A Lua module that calls native functions (native.h), the only one of the benchmarks' libraries that knows Lua; a
 * bundle holds it built. */
#include "native.h"

#include <dlfcn.h>
#include <lauxlib.h>
#include <lua.h>
#include <stdlib.h>

/* Numbers and strings in, a number out. */
static int call(lua_State *L) {
  native_function *function = (native_function *)lua_touserdata(L, lua_upvalueindex(1));
  native_value arguments[NATIVE_ARGUMENTS] = {0};
  double result = 0;
  int count = lua_gettop(L);
  luaL_argcheck(L, count <= NATIVE_ARGUMENTS, count, "too many arguments");
  for (int i = 1; i <= count; i++) {
    native_value *value = &arguments[i - 1];
    if (lua_type(L, i) == LUA_TNUMBER) {
      value->integer = lua_tointeger(L, i);
      value->number = lua_tonumber(L, i);
    } else
      value->text = luaL_checkstring(L, i);
  }
  const char *error = function(arguments, &result);
  if (error) return luaL_error(L, "%s", error);
  lua_pushnumber(L, result);
  return 1;
}

/* find(library, name) -> the native function, for Lua to call; libraries stay loaded */
static int find(lua_State *L) {
  void *library = dlopen(luaL_checkstring(L, 1), RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, luaL_checkstring(L, 2)) : NULL;
  if (!symbol) return luaL_error(L, "%s", dlerror());
  lua_pushlightuserdata(L, symbol);
  lua_pushcclosure(L, call, 1);
  return 1;
}

/* setenv(name, value): for libraries that read the environment when they are loaded (OMP_WAIT_POLICY, MOONWARP_CXX) */
static int set_environment(lua_State *L) {
  if (setenv(luaL_checkstring(L, 1), luaL_checkstring(L, 2), 1) != 0) return luaL_error(L, "setenv failed");
  return 0;
}

int luaopen_native(lua_State *L);
int luaopen_native(lua_State *L) {
  static const luaL_Reg functions[] = {{"find", find}, {"setenv", set_environment}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
