/* SPDX-License-Identifier: MIT
 *
 * A status of the backend becomes a Lua error here and nowhere else. Messages are plain strings that begin with the
 * script's own file and line, whichever Lua or C functions of the library lie between; the status and the text of the
 * last one can be asked for (moonwarp.core.last_status): the command line turns them into its exit code. */
#include "core/bind/bind.h"
#include "core/base/home.h"

#include <string.h>

/* Its address is the registry's key of the text of the last error. */
static const char last_text;

const char *bind_status_name(mw_status status) {
  static const char *const names[] = {
      [MW_OK] = "ok",
      [MW_NOT_READY] = "not_ready",
      [MW_INVALID] = "invalid",
      [MW_NO_DEVICE] = "no_device",
      [MW_NO_MEMORY] = "no_memory",
      [MW_COMPILE] = "compile",
      [MW_UNSUPPORTED] = "unsupported",
      [MW_FAULT] = "fault",
      [MW_LOST] = "lost",
      [MW_INTERRUPTED] = "interrupted",
      [MW_IO] = "io",
      [MW_DRIVER] = "driver",
  };
  return names[status];
}

/* The library's own Lua files are not where the user made the mistake. */
static bool is_own(const char *source) {
  const char *home = mw_home();
  size_t length = strlen(home);
  return source[0] == '@' && length && strncmp(source + 1, home, length) == 0 &&
         strncmp(source + 1 + length, "/lua/moonwarp/", 14) == 0;
}

void bind_where(lua_State *L) {
  lua_Debug frame;
  for (int level = 0; lua_getstack(L, level, &frame); level++) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline <= 0 || is_own(frame.source)) continue;
    lua_pushfstring(L, "%s:%d: ", frame.short_src, frame.currentline);
    return;
  }
  lua_pushliteral(L, "");
}

/* Raises the two strings on top of the stack, joined, and remembers them. */
static int raise_joined(lua_State *L, mw_status status) {
  lua_concat(L, 2);
  bind_host_of(L)->last = status;
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &last_text);
  return lua_error(L);
}

void bind_push_last_text(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &last_text);
}

int bind_raise(lua_State *L, mw_error *err) {
  mw_status status = err->status;
  bind_where(L);
  if (err->log && *err->log)
    lua_pushfstring(L, "%s\n%s", err->text, err->log);
  else
    lua_pushstring(L, err->text);
  mw_error_clear(err);
  return raise_joined(L, status);
}

int bind_fail(lua_State *L, mw_status status, const char *format, ...) {
  bind_where(L);
  va_list args;
  va_start(args, format);
  lua_pushvfstring(L, format, args);
  va_end(args);
  return raise_joined(L, status);
}

void bind_try(lua_State *L, mw_status status, mw_error *err) {
  if (status != MW_OK) bind_raise(L, err);
}
