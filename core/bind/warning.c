/* SPDX-License-Identifier: MIT
 *
 * The compiler's warnings on their way to the Lua half, session.warn of lua/moonwarp/session.lua. */
#include "core/bind/bind.h"

void warnings_tell(lua_State *L, bind_module *self) {
  const char *log = self->module->log;
  if (!self->warns || log == self->told || !*log) return;
  self->told = log;
  const int top = lua_gettop(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, "moonwarp.session") == LUA_TTABLE && lua_getfield(L, -1, "warn") == LUA_TFUNCTION) {
    lua_pushstring(L, log);
    lua_call(L, 1, 0);
  }
  lua_settop(L, top);
}
