/* SPDX-License-Identifier: MIT
 *
 * A script that leaves by os.exit ends its run all the same, and with no better status: the session hears of the exit
 * while the state is open. It is asked once more as the state closes, after the script's finalizers, which may check
 * something or call os.exit themselves. */
#include <lauxlib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/leave.h"
#include "core/host/host.h"

/* Of the state, and not its main one, which may be anywhere; NULL when the state is closed. */
static lua_State *thread;

static int failed; /* the first status but 0 that the session has said */

/* (status): what the session's function leave makes of it, if there is a session. */
static int ask_session(lua_State *L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, "moonwarp.session") != LUA_TTABLE) return 0;
  lua_getfield(L, -1, "leave");
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  return 1;
}

static int leave(int status) {
  status &= 0xff; /* what a parent sees of it */
  if (thread) {
    lua_pushcfunction(thread, host_traceback);
    lua_pushcfunction(thread, ask_session);
    lua_pushinteger(thread, status);
    bool ended = lua_pcall(thread, 1, 1, -3) == LUA_OK;
    if (!ended) fprintf(stderr, "moonwarp: %s\n", lua_tostring(thread, -1));
    if (!failed) failed = ended ? (int)lua_tointeger(thread, -1) : EXIT_FAILURE;
    lua_pop(thread, 2);
  }
  return status ? status : failed;
}

int host_exit(lua_State *L) {
  int status = lua_isboolean(L, 1) ? !lua_toboolean(L, 1) : (int)luaL_optinteger(L, 1, EXIT_SUCCESS);
  status = leave(status);
  if (lua_toboolean(L, 2)) lua_close(L);
  exit(status);
}

/* process: ours; a child that was forked from it has no session to end. */
static void at_exit(int status, void *process) {
  if ((intptr_t)process != getpid() || leave(status) == (status & 0xff)) return;
  fflush(NULL);
  _exit(failed);
}

static int forget(lua_State *L) {
  (void)L;
  leave(failed);
  thread = NULL;
  return 0;
}

void host_leave_watch(lua_State *L) {
  thread = lua_newthread(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &thread);
  lua_newuserdatauv(L, 0, 0);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, forget);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, thread);
  mw_leave = leave;
  on_exit(at_exit, (void *)(intptr_t)getpid());
}
