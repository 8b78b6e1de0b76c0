/* SPDX-License-Identifier: MIT
 *
 * The program: a Lua state, the command line in a protected call, an exit status. Whatever happens the state is
 * closed, and with it every device. */
#include "core/base/home.h"
#include "core/bind/bind.h"
#include "core/host/host.h"

#include <stdio.h>
#include <stdlib.h>

enum { INTERRUPTED = 130 }; /* also before the command line is there to say so (lua/moonwarp/base/exit.lua) */

static int run(lua_State *L) {
  if (!*mw_home())
    return luaL_error(L, "its own files (lua/moonwarp) are not beside it; MOONWARP_HOME names the folder with lua/");
  bind_libraries_open(L);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "moonwarp.cli");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "main");
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  return 1;
}

/* { [0] = "moonwarp", "run", ... } */
static void push_words(lua_State *L, int argc, char **argv) {
  lua_createtable(L, argc, 1);
  for (int i = 0; i < argc; i++) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i);
  }
}

int main(int argc, char **argv) {
  host_output_open();
  host_variables_settle();
  lua_State *L = host_state_new();
  if (!L) {
    fputs("moonwarp: the system has no memory left\n", stderr);
    return EXIT_FAILURE;
  }
  host_interrupt_watch(L);
  host_leave_watch(L);
  lua_pushcfunction(L, host_traceback);
  lua_pushcfunction(L, run);
  push_words(L, argc, argv);
  int status = EXIT_FAILURE;
  if (lua_pcall(L, 1, 1, 1) == LUA_OK)
    status = (int)lua_tointeger(L, -1);
  else {
    fprintf(stderr, "moonwarp: %s\n", lua_tostring(L, -1));
    if (host_interrupt_clear()) status = INTERRUPTED;
  }
  host_editor_close();
  lua_close(L);
  return host_output_close() || status != EXIT_SUCCESS ? status : EXIT_FAILURE;
}
