/* SPDX-License-Identifier: MIT
 *
 * A script that leaves by os.exit ends its run all the same: the session hears of the exit while the state is still
 * open. os.exit(code, true) closes it first; its collector ends the run then, without knowing the code. */
#include <lauxlib.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/leave.h"
#include "core/host/host.h"

/* Of the state, and not its main one, which may be anywhere; NULL when the state is closed. */
static lua_State *thread;

static int forget(lua_State *L) {
  (void)L;
  thread = NULL;
  return 0;
}

/* (status): the session's function leave, if there is a session. */
static int tell_session(lua_State *L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, "moonwarp.session") != LUA_TTABLE) return 0;
  lua_getfield(L, -1, "leave");
  lua_pushvalue(L, 1);
  lua_call(L, 1, 0);
  return 0;
}

static void leave(int status) {
  if (!thread) return;
  lua_pushcfunction(thread, tell_session);
  lua_pushinteger(thread, status & 0xff); /* what a parent sees of it */
  lua_pcall(thread, 1, 0, 0);
}

/* process: ours; a child that was forked from it has no session to end. */
static void at_exit(int status, void *process) {
  if ((intptr_t)process == getpid()) leave(status);
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
