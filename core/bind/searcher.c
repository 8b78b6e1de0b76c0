/* SPDX-License-Identifier: MIT
 *
 * Where moonwarp's own modules come from. package.path and package.cpath hold what the environment says, and the working
 * folder, into which somebody else may have put an lfs.lua. Ours are in our own folder; lfs and cjson are in its lib/,
 * as in a bundle, or where Lua looks for C libraries by itself, but for the working folder. Scripts search after that, as
 * Lua does. */
#include <lualib.h>
#include <string.h>

#include "core/base/home.h"
#include "core/bind/bind.h"

/* moonwarp.plot.chart: the chunk of HOME/lua/moonwarp/plot/chart.lua, and that path. Of a name near ours, a line of the
 * message of require, if no other searcher has it. */
static int find_own(lua_State *L) {
  static const char *const ours[] = {"moonwarp", NULL};
  const char *name = luaL_checkstring(L, 1);
  if (strncmp(name, "moonwarp.", strlen("moonwarp.")) != 0) {
    if (nearest_name(name, ours)) lua_pushstring(L, "did you mean 'moonwarp'?");
    return lua_gettop(L) - 1;
  }
  const char *path = lua_pushfstring(L, "%s/lua/%s.lua", mw_home(), luaL_gsub(L, name, ".", "/"));
  if (luaL_loadfile(L, path) != LUA_OK)
    return luaL_error(L, "moonwarp's own module '%s' cannot be loaded: %s", name, lua_tostring(L, -1));
  lua_pushstring(L, path);
  return 2;
}

void bind_searcher_install(lua_State *L) {
  lua_getglobal(L, LUA_LOADLIBNAME);
  lua_getfield(L, -1, "searchers");
  if (lua_rawgeti(L, -1, 2) && lua_tocfunction(L, -1) != find_own) {
    for (lua_Integer i = luaL_len(L, -2); i >= 2; i--) { /* the first is for package.preload */
      lua_rawgeti(L, -2, i);
      lua_rawseti(L, -3, i + 1);
    }
    lua_pushcfunction(L, find_own);
    lua_rawseti(L, -3, 2);
  }
  lua_pop(L, 3);
}

/* Into package.loaded, from HOME/lib/lfs.so; nothing where there is no such file. */
static bool open_library(lua_State *L, const char *name, const char *file) {
  const int top = lua_gettop(L);
  lua_getglobal(L, LUA_LOADLIBNAME);
  lua_getfield(L, -1, "loadlib");
  lua_pushstring(L, file);
  lua_pushfstring(L, "luaopen_%s", name);
  lua_call(L, 2, 1);
  const lua_CFunction opener = lua_tocfunction(L, -1);
  if (opener) luaL_requiref(L, name, opener, 0);
  lua_settop(L, top);
  return opener != NULL;
}

/* "/usr/local/lib/lua/5.4/?.so;./?.so": in the folders that do not depend on the working one. */
static bool search_library(lua_State *L, const char *name) {
  const int top = lua_gettop(L);
  bool found = open_library(L, name, lua_pushfstring(L, "%s/lib/%s.so", mw_home(), name));
  for (const char *at = LUA_CPATH_DEFAULT; !found && *at; at += *at == ';') {
    const size_t size = strcspn(at, ";");
    const char *one = lua_pushlstring(L, at, size);
    found = *one == '/' && open_library(L, name, luaL_gsub(L, one, "?", name));
    at += size;
  }
  lua_settop(L, top);
  return found;
}

void bind_libraries_open(lua_State *L) {
  static const char *const libraries[] = {"lfs", "cjson", NULL};
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  for (const char *const *name = libraries; *name; name++) {
    const bool is_open = lua_getfield(L, -1, *name) != LUA_TNIL;
    lua_pop(L, 1);
    if (is_open || search_library(L, *name)) continue;
    luaL_error(L,
               "the Lua module '%s' is neither in %s/lib nor in Lua's own folders, as /usr/local/lib/lua/5.4; install "
               "lua-filesystem and lua-cjson (LUA_CPATH is not searched)",
               *name, mw_home());
  }
  lua_pop(L, 1);
}
