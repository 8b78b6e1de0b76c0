/* SPDX-License-Identifier: MIT
 *
 * The program's Lua state: the standard libraries, moonwarp itself without a file to load, and the searcher of its Lua
 * files. Opens no device and reads no file. */
#include <lualib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/bind/bind.h"
#include "core/host/child.h"
#include "core/host/filter.h"
#include "core/host/host.h"
#include "core/host/memory_group.h"

/* host.terminal(stream): 0 input, 1 output, 2 errors. */
static int host_terminal(lua_State *L) {
  lua_pushboolean(L, isatty((int)luaL_checkinteger(L, 1)));
  return 1;
}

/* host.columns(): how wide the terminal of our output is, and how high; nil if it is not one or does not say. */
static int host_columns(lua_State *L) {
  struct winsize size;
  if (!isatty(1) || ioctl(1, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 0;
  lua_pushinteger(L, size.ws_col);
  lua_pushinteger(L, size.ws_row);
  return 2;
}

/* host.call(f, ...): "done" and the results; "failed" or "interrupted", the message with its traceback, and the error
 * itself. An interruption ends here, before the caller's next instruction. */
static int host_call(lua_State *L) {
  lua_createtable(L, 1, 0);
  lua_insert(L, 1);
  lua_pushvalue(L, 1);
  lua_pushcclosure(L, host_traceback, 1);
  lua_insert(L, 2);
  bool failed = lua_pcall(L, lua_gettop(L) - 3, LUA_MULTRET, 2) != LUA_OK;
  bool interrupted = host_interrupt_clear();
  if (failed) lua_rawgeti(L, 1, 1);
  if (interrupted && !failed) { /* somebody caught it, and the function ended in time */
    lua_settop(L, 2);
    lua_pushliteral(L, "interrupted");
  }
  lua_pushstring(L, interrupted ? "interrupted" : failed ? "failed" : "done");
  lua_replace(L, 2);
  return lua_gettop(L) - 1;
}

static int host_open(lua_State *L) {
  static const luaL_Reg functions[] = {{"arrived", host_arrived},
                                       {"call", host_call},
                                       {"catch_term", host_catch_term},
                                       {"caught", host_caught},
                                       {"columns", host_columns},
                                       {"counts_memory", host_counts_memory},
                                       {"has_filter", host_has_filter},
                                       {"lock", host_lock},
                                       {"open_editor", host_editor_open},
                                       {"prefix", host_prefix},
                                       {"program", host_program},
                                       {"read_line", host_editor_read},
                                       {"remember", host_editor_remember},
                                       {"reserve", host_reserve},
                                       {"spawn", host_spawn},
                                       {"sync", host_sync},
                                       {"terminal", host_terminal},
                                       {"traceback", host_frames},
                                       {"wait", host_wait},
                                       {NULL, NULL}};
  host_child_class(L);
  host_lock_class(L);
  luaL_newlib(L, functions);
  return 1;
}

static void replace_in_os(lua_State *L) {
  static const luaL_Reg functions[] = {{"execute", host_execute}, {"exit", host_exit}, {NULL, NULL}};
  lua_getglobal(L, LUA_OSLIBNAME);
  luaL_setfuncs(L, functions, 0);
  lua_pop(L, 1);
}

static void preload(lua_State *L) {
  static const luaL_Reg modules[] = {{"moonwarp", luaopen_moonwarp},
                                     {"moonwarp.core", luaopen_moonwarp_core},
                                     {"moonwarp.host", host_open},
                                     {NULL, NULL}};
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  luaL_setfuncs(L, modules, 0);
  lua_pop(L, 1);
}

lua_State *host_state_new(void) {
  lua_State *L = luaL_newstate();
  if (!L) return NULL;
  host_coroutines_follow(L);
  luaL_openlibs(L);
  replace_in_os(L);
  preload(L);
  bind_searcher_install(L);
  return L;
}
