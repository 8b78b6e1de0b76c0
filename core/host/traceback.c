/* SPDX-License-Identifier: MIT
 *
 * The message handler: what tostring makes of the error, then the user's own lines from the innermost outwards, each
 * with its source. Frames of C functions and of moonwarp's own Lua files are left out. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bind/bind.h"
#include "core/host/host.h"

enum { MOST_FRAMES = 20 };

static bool is_users(const lua_Debug *frame) {
  return frame->currentline > 0 && !bind_is_own(frame->source);
}

/* Leaves the line in `text`, NULL where the source cannot be read. Code from -e or the prompt is its own source. */
static char *read_line(const char *source, int wanted, size_t *room, char **text) {
  FILE *file = source[0] == '@'   ? fopen(source + 1, "r")
               : source[0] != '=' ? fmemopen((void *)source, strlen(source), "r")
                                  : NULL;
  if (!file) return NULL;
  ssize_t length = -1;
  for (int line = 1; line <= wanted && (length = getline(text, room, file)) >= 0; line++) {
  }
  fclose(file);
  if (length < 0) return NULL;
  char *start = *text + strspn(*text, " \t");
  start[strcspn(start, "\r\n")] = '\0';
  return start;
}

static void add_source(luaL_Buffer *out, const lua_Debug *frame) {
  char *text = NULL;
  size_t room = 0;
  const char *line = read_line(frame->source, frame->currentline, &room, &text);
  if (line && *line) {
    luaL_addstring(out, "\n      ");
    luaL_addstring(out, line);
  }
  free(text);
}

static void add_frame(lua_State *L, luaL_Buffer *out, const lua_Debug *frame) {
  const char *what = strcmp(frame->what, "main") == 0 ? "main chunk" : frame->name ? frame->name : "a function";
  lua_pushfstring(L, "\n  %s:%d: in %s", frame->short_src, frame->currentline, what);
  luaL_addvalue(out);
  add_source(out, frame);
}

static const char *message_of(lua_State *L) {
  if (lua_type(L, 1) == LUA_TSTRING || luaL_getmetafield(L, 1, "__tostring") != LUA_TNIL)
    return luaL_tolstring(L, 1, NULL);
  return lua_pushfstring(L, "the script raised a %s value, not a message", luaL_typename(L, 1));
}

/* Pushes the user's own lines, from the function at a level outwards. */
static void push_frames(lua_State *L, int level) {
  luaL_Buffer out;
  lua_Debug frame;
  luaL_buffinit(L, &out);
  for (int shown = 0; shown < MOST_FRAMES && lua_getstack(L, level, &frame); level++) {
    lua_getinfo(L, "Sln", &frame);
    if (!is_users(&frame)) continue;
    add_frame(L, &out, &frame);
    shown++;
  }
  luaL_pushresult(&out);
}

/* host.traceback(): the user's own lines as they are now; for an error that is looked at and raised again, whose field
 * traceback it becomes (lua/moonwarp/base/failure.lua). */
int host_frames(lua_State *L) {
  push_frames(L, 1);
  return 1;
}

/* Upvalue 1, if any: a table that gets the error itself, for a caller that asks for its status. */
int host_traceback(lua_State *L) {
  if (lua_istable(L, lua_upvalueindex(1))) {
    lua_pushvalue(L, 1);
    lua_rawseti(L, lua_upvalueindex(1), 1);
  }
  message_of(L);
  const int message = lua_gettop(L);
  if (!bind_is_error(L, 1) || lua_getfield(L, 1, "traceback") != LUA_TSTRING) push_frames(L, 1);
  lua_pushvalue(L, message);
  lua_insert(L, -2);
  lua_concat(L, 2);
  return 1;
}
