/* SPDX-License-Identifier: MIT
 *
 * The argument-check kit: counts, option tables, grid and block sizes. A key that no option has, a surplus argument
 * and a boolean that is not one are errors, with the nearest known name. */
#include "core/bind/bind.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

void check_count(lua_State *L, const char *name, int most, int got) {
  if (got <= most) return;
  if (most == 0) bind_fail(L, MW_INVALID, "'%s' takes no arguments, got %d", name, got);
  bind_fail(L, MW_INVALID, "'%s' takes %d argument%s at most, got %d", name, most, most == 1 ? "" : "s", got);
}

void check_type(lua_State *L, int index, int type) {
  if (lua_type(L, index) != type) bind_argument_type(L, index, lua_typename(L, type));
}

const char *check_string(lua_State *L, int index) {
  if (!lua_isstring(L, index)) bind_argument_type(L, index, "string");
  return lua_tostring(L, index);
}

lua_Integer check_integer(lua_State *L, int index) {
  int exact = 0;
  lua_Integer value = lua_type(L, index) == LUA_TNUMBER ? lua_tointegerx(L, index, &exact) : 0;
  if (!exact) bind_argument(L, index, "an integer expected, got %s", value_text(L, index));
  return value;
}

static int least_of(int a, int b, int c) {
  int least = a < b ? a : b;
  return least < c ? least : c;
}

static bool same_letter(char a, char b) {
  return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* How many insertions, deletions, changes and swaps of neighbours lie between two words (optimal string alignment;
 * Damerau 1964). A swap is the commonest mistake in typing. */
static int distance(const char *a, const char *b) {
  enum { MOST = 64 };
  int n = (int)strlen(a), m = (int)strlen(b), rows[3][MOST + 1];
  if (n > MOST || m > MOST) return MOST;
  for (int j = 0; j <= m; j++) rows[0][j] = j;
  for (int i = 1; i <= n; i++) {
    int *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
    row[0] = i;
    for (int j = 1; j <= m; j++) {
      row[j] = least_of(above[j] + 1, row[j - 1] + 1, above[j - 1] + !same_letter(a[i - 1], b[j - 1]));
      if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]) &&
          before[j - 2] + 1 < row[j])
        row[j] = before[j - 2] + 1;
    }
  }
  return rows[n % 3][m];
}

/* A beginning of three letters is near; of a name of one letter nothing else is. */
const char *nearest_name(const char *word, const char *const *names) {
  const char *best = NULL;
  int least = INT_MAX;
  for (; names && *names; names++) {
    int length = (int)strlen(*names), allowed = length < 6 ? 1 : length / 3;
    bool is_beginning = strlen(word) >= 3 && strncmp(*names, word, strlen(word)) == 0;
    bool begins = strncmp(word, *names, (size_t)length) == 0;
    int d = is_beginning ? 1 : distance(word, *names);
    if (d >= least || d > allowed || (d >= length && !begins)) continue;
    least = d;
    best = *names;
  }
  return best;
}

static int unknown_option(lua_State *L, int index, const char *key, const char *const names[]) {
  const char *near = nearest_name(key, names);
  if (near) return bind_argument(L, index, "unknown option '%s'; did you mean '%s'?", key, near);
  luaL_Buffer list;
  luaL_buffinit(L, &list);
  for (int i = 0; names[i]; i++) {
    if (i) luaL_addstring(&list, ", ");
    luaL_addstring(&list, names[i]);
  }
  luaL_pushresult(&list);
  return bind_argument(L, index, "unknown option '%s'; it takes %s", key, lua_tostring(L, -1));
}

bool bind_is_object(lua_State *L, int index) {
  const bind_object *object = lua_touserdata(L, index);
  if (!object || lua_type(L, index) != LUA_TUSERDATA || lua_rawlen(L, index) < sizeof *object) return false;
  lua_rawgetp(L, LUA_REGISTRYINDEX, object->class);
  bool known = lua_istable(L, -1);
  lua_pop(L, 1);
  return known;
}

void check_still_open(lua_State *L) {
  const bind_object *self = lua_touserdata(L, 1);
  const bool may_be = lua_type(L, 1) == LUA_TUSERDATA && lua_rawlen(L, 1) >= sizeof *self;
  if (may_be && !self->open && bind_is_object(L, 1))
    bind_argument(L, 1, "attempt to use a closed %s", self->class->name);
}

/* A table with a metatable is read once, into a plain one in its place. Its functions may close the method's
 * object. */
static void read_options(lua_State *L, int index, const char *const names[]) {
  if (!lua_getmetatable(L, index)) return;
  lua_newtable(L);
  for (int i = 0; names[i]; i++) {
    lua_getfield(L, index, names[i]);
    lua_setfield(L, -2, names[i]);
  }
  lua_replace(L, index);
  lua_pop(L, 1);
  check_still_open(L);
}

void need_options(lua_State *L, int index, const char *const names[]) {
  if (!lua_istable(L, index))
    bind_argument(L, index, "options expected, such as { %s = ... }, got %s", names[0],
                  lua_isnone(L, index) ? "no value" : value_text(L, index));
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) {
      bind_argument(L, index, "options have names, such as { %s = ... }, got the key %s", names[0],
                    luaL_tolstring(L, -2, NULL));
    }
    const char *key = lua_tostring(L, -2);
    int i = 0;
    while (names[i] && strcmp(names[i], key) != 0) i++;
    if (!names[i]) unknown_option(L, index, key, names);
  }
  read_options(L, index, names);
}

void check_options(lua_State *L, int index, const char *const names[]) {
  if (!lua_isnoneornil(L, index)) need_options(L, index, names);
}

bool option_push(lua_State *L, int index, const char *name) {
  if (!lua_istable(L, index)) return false;
  if (lua_getfield(L, index, name) != LUA_TNIL) return true;
  lua_pop(L, 1);
  return false;
}

static int wrong_option(lua_State *L, int index, const char *name, const char *wanted) {
  return bind_argument(L, index, "option '%s' is %s, got %s", name, wanted, value_text(L, -1));
}

bool option_boolean(lua_State *L, int index, const char *name, bool standard) {
  if (!option_push(L, index, name)) return standard;
  if (!lua_isboolean(L, -1)) wrong_option(L, index, name, "true or false");
  bool value = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return value;
}

lua_Integer option_integer(lua_State *L, int index, const char *name, lua_Integer standard, lua_Integer least,
                           lua_Integer greatest) {
  if (!option_push(L, index, name)) return standard;
  int exact = 0;
  lua_Integer value = lua_type(L, -1) == LUA_TNUMBER ? lua_tointegerx(L, -1, &exact) : 0;
  if (!exact || value < least || value > greatest) {
    const char *wanted = lua_pushfstring(L, "an integer from %I to %I", (LUAI_UACINT)least, (LUAI_UACINT)greatest);
    lua_insert(L, -2);
    wrong_option(L, index, name, wanted);
  }
  lua_pop(L, 1);
  return value;
}

const char *option_string(lua_State *L, int index, const char *name, const char *standard) {
  if (!option_push(L, index, name)) return standard;
  if (lua_type(L, -1) != LUA_TSTRING) wrong_option(L, index, name, "a string");
  const char *value = lua_tostring(L, -1); /* stays valid: the option table holds it */
  lua_pop(L, 1);
  return value;
}

/* Pushes "none, shared, l1 or equal". */
static const char *push_words(lua_State *L, const char *const words[]) {
  lua_pushstring(L, words[0]);
  for (int i = 1; words[i]; i++) {
    lua_pushfstring(L, words[i + 1] ? "%s, %s" : "%s or %s", lua_tostring(L, -1), words[i]);
    lua_remove(L, -2);
  }
  return lua_tostring(L, -1);
}

int option_word(lua_State *L, int index, const char *name, const char *const words[]) {
  const char *given = option_string(L, index, name, words[0]);
  for (int i = 0; words[i]; i++)
    if (strcmp(words[i], given) == 0) return i;
  return bind_argument(L, index, "option '%s' is %s, got '%s'", name, push_words(L, words), given);
}

static bool is_short_text(const char *text, size_t length) {
  if (length > 40) return false;
  for (size_t i = 0; i < length; i++)
    if ((unsigned char)text[i] < ' ') return false;
  return true;
}

const char *value_text(lua_State *L, int index) {
  int type = lua_type(L, index);
  if (type == LUA_TNONE) return "no value";
  if (type == LUA_TNUMBER && lua_tonumber(L, index) != lua_tonumber(L, index)) return "nan"; /* and not "-nan" */
  if (type == LUA_TTABLE && !luaL_getmetafield(L, index, "__tostring"))
    return lua_pushfstring(L, "table of %I", (LUAI_UACINT)lua_rawlen(L, index));
  if (type != LUA_TSTRING) return luaL_tolstring(L, index, NULL);
  size_t length = 0;
  const char *text = lua_tolstring(L, index, &length);
  return is_short_text(text, length) ? lua_pushfstring(L, "string '%s'", text)
                                     : lua_pushfstring(L, "string of %I bytes", (LUAI_UACINT)length);
}

/* The value on top; the kernel's name is copied, because a value's __tostring may close the kernel. */
static uint32_t check_dim(lua_State *L, int index, const char *kernel, const char *what, int axis) {
  int exact = 0, top = lua_gettop(L);
  lua_Number number = lua_tonumber(L, top);
  lua_Integer value = lua_type(L, top) == LUA_TNUMBER ? lua_tointegerx(L, top, &exact) : 0;
  if (exact && value >= 1 && value <= UINT32_MAX) return (uint32_t)value;
  bool fraction = lua_type(L, top) == LUA_TNUMBER && !exact && number > 1 && number < UINT32_MAX;
  const char *limit = number > UINT32_MAX ? "at most 4294967295" : "at least 1";
  const char *name = lua_pushstring(L, kernel), *got = value_text(L, top);
  bind_argument(L, index, "kernel '%s': %s.%c is an integer of %s, got %s%s", name, what, "xyz"[axis], limit, got,
                fraction ? " (use // for whole blocks)" : "");
  return 0;
}

/* The axis that a key of a table stands for, -1 if none: of a list 1 to 3, else "x", "y" or "z". */
static int axis_of(lua_State *L, int key, bool list) {
  lua_Integer at = list && lua_isinteger(L, key) ? lua_tointeger(L, key) : 0;
  if (at >= 1 && at <= 3) return (int)at - 1;
  const char *name = !list && lua_type(L, key) == LUA_TSTRING ? lua_tostring(L, key) : "";
  return *name >= 'x' && *name <= 'z' && !name[1] ? *name - 'x' : -1;
}

void check_dims(lua_State *L, int index, int argument, const char *kernel, const char *what, uint32_t out[3]) {
  out[0] = out[1] = out[2] = 1;
  if (!lua_istable(L, index)) {
    lua_pushvalue(L, index);
    out[0] = check_dim(L, argument, kernel, what, 0);
    lua_pop(L, 1);
    return;
  }
  lua_Unsigned length = lua_rawlen(L, index), count = 0;
  for (lua_pushnil(L); length <= 3 && lua_next(L, index); lua_pop(L, 1), count++) {
    int axis = axis_of(L, -2, length > 0);
    check_that(L, axis >= 0, argument, "kernel '%s': %s is " DIMS ", got a table with the key %s", kernel, what,
               lua_isstring(L, -2) ? luaL_tolstring(L, -2, NULL) : luaL_typename(L, -2));
    out[axis] = check_dim(L, argument, kernel, what, axis);
  }
  if (count < 1 || count < length)
    bind_argument(L, argument, "kernel '%s': %s is " DIMS ", got a table of %I", kernel, what, (LUAI_UACINT)length);
}

const char *const *bind_string_list(lua_State *L, const char *field) {
  lua_getfield(L, 1, field);
  const int length = lua_istable(L, -1) ? (int)lua_rawlen(L, -1) : 0;
  const char **list = lua_newuserdatauv(L, (size_t)(length + 1) * sizeof *list, 0);
  for (int i = 0; i < length; i++) {
    lua_rawgeti(L, -2, i + 1);
    list[i] = lua_tostring(L, -1);
    lua_pop(L, 1); /* the table keeps it */
  }
  list[length] = NULL;
  return list;
}
