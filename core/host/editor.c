/* SPDX-License-Identifier: MIT
 *
 * Reads lines from standard input: with editing, history and completion (libedit) at a terminal, else plainly. The
 * prompt itself is lua/moonwarp/prompt/repl.lua. */
#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/folder.h"
#include "core/host/host.h"

enum { KEPT_LINES = 1000 };

static struct {
  EditLine *line; /* NULL: plain reading */
  History *history;
  lua_State *L;
  int completer; /* registry reference */
  const char *prompt;
  char *file; /* of the history; NULL: it is not kept */
} editor = {.completer = LUA_NOREF};

static const char *give_prompt(EditLine *line) {
  (void)line;
  return editor.prompt;
}

/* The completer gets the text before the cursor and returns what to insert, and what to list (or nil). */
static unsigned char complete(EditLine *line, int key) {
  (void)key;
  lua_State *L = editor.L;
  const LineInfo *info = el_line(line);
  lua_rawgeti(L, LUA_REGISTRYINDEX, editor.completer);
  lua_pushlstring(L, info->buffer, (size_t)(info->cursor - info->buffer));
  unsigned char result = CC_ERROR;
  if (lua_pcall(L, 1, 2, 0) == LUA_OK) {
    const char *insert = lua_tostring(L, -2), *list = lua_tostring(L, -1);
    if (insert && *insert && el_insertstr(line, insert) == 0) result = CC_REFRESH;
    if (list) {
      printf("\n%s\n", list);
      result = CC_REDISPLAY;
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return result;
}

static void load_history(const char *file) {
  HistEvent event;
  char *slash = strrchr(file, '/');
  char *folder = strndup(file, slash ? (size_t)(slash - file) : 0);
  if (folder && (!*folder || mw_make_folders(folder, MW_PRIVATE))) {
    editor.file = strdup(file);
    history(editor.history, &event, H_LOAD, file);
  }
  free(folder);
}

int host_editor_open(lua_State *L) {
  HistEvent event;
  const char *file = luaL_checkstring(L, 1);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  const char *terminal = getenv("TERM");
  bool able = isatty(0) && isatty(1) && terminal && strcmp(terminal, "dumb") != 0;
  if (editor.line || !able) return 0;
  setlocale(LC_CTYPE, "");
  editor.L = L;
  editor.line = el_init("moonwarp", stdin, stdout, stderr);
  editor.history = history_init();
  lua_pushvalue(L, 2);
  editor.completer = luaL_ref(L, LUA_REGISTRYINDEX);
  history(editor.history, &event, H_SETSIZE, KEPT_LINES);
  history(editor.history, &event, H_SETUNIQUE, 1);
  load_history(file);
  el_set(editor.line, EL_PROMPT, give_prompt);
  el_set(editor.line, EL_EDITOR, "emacs");
  el_set(editor.line, EL_HIST, history, editor.history);
  el_set(editor.line, EL_ADDFN, "moonwarp-complete", "complete a name", complete);
  el_set(editor.line, EL_BIND, "^I", "moonwarp-complete", NULL);
  el_set(editor.line, EL_BIND, "^R", "em-inc-search-prev", NULL);
  el_source(editor.line, NULL); /* /.editrc */
  return 0;
}

static int push_line(lua_State *L, const char *text, ssize_t length) {
  if (length > 0 && text[length - 1] == '\n') length--;
  lua_pushlstring(L, text, (size_t)length);
  return 1;
}

/* Nothing read: the end (nil), or Ctrl-C (false), which is done with when the line is given up. */
static int push_end(lua_State *L, bool interrupted) {
  if (interrupted) {
    host_interrupt_clear();
    lua_pushboolean(L, false);
  } else
    lua_pushnil(L);
  return 1;
}

static int read_plain(lua_State *L) {
  char *text = NULL;
  size_t room = 0;
  errno = 0;
  ssize_t length = getline(&text, &room, stdin);
  bool interrupted = length < 0 && errno == EINTR;
  if (interrupted) clearerr(stdin);
  int results = length < 0 ? push_end(L, interrupted) : push_line(L, text, length);
  free(text);
  return results;
}

int host_editor_read(lua_State *L) {
  if (!editor.line) return read_plain(L);
  int length = 0;
  editor.prompt = luaL_checkstring(L, 1);
  errno = 0;
  const char *text = el_gets(editor.line, &length);
  if (text && length > 0) return push_line(L, text, length);
  bool interrupted = length < 0 && errno == EINTR;
  fputs(interrupted ? "^C\n" : "\n", stdout);
  return push_end(L, interrupted);
}

int host_editor_remember(lua_State *L) {
  HistEvent event;
  const char *text = luaL_checkstring(L, 1);
  if (!editor.history) return 0;
  history(editor.history, &event, H_ENTER, text);
  if (editor.file) history(editor.history, &event, H_SAVE, editor.file);
  return 0;
}

void host_editor_close(void) {
  if (editor.line) el_end(editor.line);
  if (editor.history) history_end(editor.history);
  free(editor.file);
  editor.line = NULL;
  editor.history = NULL;
  editor.file = NULL;
}
