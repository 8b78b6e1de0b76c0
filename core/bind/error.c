/* SPDX-License-Identifier: MIT
 *
 * Error values: every error of the library is a table { status, text, where, log } with one metatable, made here and
 * nowhere else, for the C half and the Lua half alike.
 *
 *     status  "invalid", "no_device", "compile", ...: what a program looks at
 *     text    one message: who, what was wanted, what came, the way out
 *     where   "script.lua:12", the innermost line that is not the library's; nil if none
 *     log     the compiler's whole log, or nil
 *
 * tostring(e) is "script.lua:12: text", with the log below it. */
#include "core/base/home.h"
#include "core/bind/bind.h"

#include <string.h>

mw_error bind_error;

/* Its address is the registry's key of the metatable: no other library can take the name. */
static const char error_key = 'e';

static const char *status_name(mw_status status) {
  static const char *const names[] = {
      [MW_OK] = "ok",
      [MW_NOT_READY] = "not_ready",
      [MW_INVALID] = "invalid",
      [MW_NOT_FOUND] = "not_found",
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

/* ---- the script's line ----------------------------------------------------------------------------------------- */

/* The library's own Lua files are not where the user made the mistake. */
bool bind_is_own(const char *source) {
  const char *home = mw_home();
  size_t length = strlen(home);
  return source[0] == '@' && length && strncmp(source + 1, home, length) == 0 &&
         strncmp(source + 1 + length, "/lua/moonwarp/", 14) == 0;
}

order_place bind_here(lua_State *L) {
  lua_Debug frame;
  for (int level = 0; lua_getstack(L, level, &frame); level++) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline <= 0 || bind_is_own(frame.source)) continue;
    const char *name = order_name(*frame.source == '@' ? frame.source + 1 : frame.short_src);
    return (order_place){name, frame.currentline};
  }
  return (order_place){NULL, 0};
}

void bind_where(lua_State *L) {
  lua_Debug frame;
  for (int level = 0; lua_getstack(L, level, &frame); level++) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline <= 0 || bind_is_own(frame.source)) continue;
    lua_pushfstring(L, "%s:%d", frame.short_src, frame.currentline);
    return;
  }
  lua_pushnil(L);
}

/* ---- the value ------------------------------------------------------------------------------------------------- */

static int error_tostring(lua_State *L) {
  luaL_Buffer out;
  lua_settop(L, 1);
  bool placed = lua_getfield(L, 1, "where") != LUA_TNIL;
  lua_getfield(L, 1, "text");
  bool logged = lua_getfield(L, 1, "log") != LUA_TNIL;
  luaL_buffinit(L, &out);
  if (placed) {
    luaL_tolstring(L, 2, NULL);
    luaL_addvalue(&out);
    luaL_addstring(&out, ": ");
  }
  luaL_tolstring(L, 3, NULL);
  luaL_addvalue(&out);
  if (logged) {
    luaL_addchar(&out, '\n');
    luaL_tolstring(L, 4, NULL);
    luaL_addvalue(&out);
  }
  luaL_pushresult(&out);
  return 1;
}

/* "while measuring: " .. e, as of a message that is a string. */
static int error_concat(lua_State *L) {
  luaL_tolstring(L, 1, NULL);
  luaL_tolstring(L, 2, NULL);
  lua_concat(L, 2);
  return 1;
}

void set_string(lua_State *L, const char *field, const char *text) {
  lua_pushstring(L, text);
  lua_setfield(L, -2, field);
}

bool bind_kept_table(lua_State *L, const void *key) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, key) == LUA_TTABLE) return true;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, key);
  return false;
}

void bind_weak_table(lua_State *L, const void *key) {
  if (bind_kept_table(L, key)) return;
  lua_createtable(L, 0, 1);
  set_string(L, "__mode", "v");
  lua_setmetatable(L, -2);
}

static void push_metatable(lua_State *L) {
  static const luaL_Reg metamethods[] = {{"__concat", error_concat}, {"__tostring", error_tostring}, {NULL, NULL}};
  if (bind_kept_table(L, &error_key)) return;
  luaL_setfuncs(L, metamethods, 0);
  set_string(L, "__name", "moonwarp.error");
}

bool bind_is_error(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TTABLE || !lua_getmetatable(L, index)) return false;
  push_metatable(L);
  bool is_error = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return is_error;
}

/* ---- raising --------------------------------------------------------------------------------------------------- */

int bind_raise_text(lua_State *L, const char *status) {
  lua_createtable(L, 0, 4);
  lua_insert(L, -3);
  lua_setfield(L, -3, "log");
  lua_setfield(L, -2, "text");
  set_string(L, "status", status);
  bind_where(L);
  lua_setfield(L, -2, "where");
  push_metatable(L);
  lua_setmetatable(L, -2);
  return lua_error(L);
}

int bind_raise(lua_State *L) {
  mw_status status = bind_error.status;
  lua_pushstring(L, bind_error.text);
  lua_pushstring(L, bind_error.log && *bind_error.log ? bind_error.log : NULL);
  mw_error_clear(&bind_error);
  return bind_raise_text(L, status_name(status));
}

int bind_fail(lua_State *L, mw_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  lua_pushvfstring(L, format, args);
  va_end(args);
  lua_pushnil(L);
  return bind_raise_text(L, status_name(status));
}

void bind_try(lua_State *L, mw_status status) {
  if (status != MW_OK) bind_raise(L);
}

/* What the running C function is called; a method's closure holds its name (object.c). */
static const char *running_name(lua_State *L, lua_Debug *frame) {
  lua_getinfo(L, "nf", frame);
  int function = lua_gettop(L);
  if (lua_getupvalue(L, function, METHOD_NAME) && lua_type(L, -1) == LUA_TSTRING) return lua_tostring(L, -1);
  if (frame->name) return frame->name;
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE); /* called by pcall, say: it is one of core's functions */
  if (lua_getfield(L, -1, "moonwarp.core") != LUA_TTABLE) return "?";
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
    if (lua_rawequal(L, -1, function)) return lua_tostring(L, -2);
  return "?";
}

int bind_argument(lua_State *L, int index, const char *format, ...) {
  lua_Debug frame;
  va_list args;
  va_start(args, format);
  const char *text = lua_pushvfstring(L, format, args);
  va_end(args);
  lua_getstack(L, 0, &frame);
  const char *name = running_name(L, &frame);
  if (strcmp(frame.namewhat, "method") != 0)
    return bind_fail(L, MW_INVALID, "bad argument #%d to '%s' (%s)", index, name, text);
  if (index == 1) return bind_fail(L, MW_INVALID, "calling '%s' on bad self (%s)", name, text);
  return bind_fail(L, MW_INVALID, "bad argument #%d to '%s' (%s)", index - 1, name, text);
}

int bind_argument_type(lua_State *L, int index, const char *wanted) {
  const char *got = lua_islightuserdata(L, index) ? "light userdata" : luaL_typename(L, index);
  if (luaL_getmetafield(L, index, "__name") == LUA_TSTRING) got = lua_tostring(L, -1);
  return bind_argument(L, index, "%s expected, got %s", wanted, got);
}
