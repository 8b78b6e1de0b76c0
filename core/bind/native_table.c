/* SPDX-License-Identifier: MIT
 *
 * Descriptions of library.lua become variants. They are our own: only what a library lacks is looked for. */
#include <dlfcn.h>
#include <string.h>

#include "core/bind/native.h"

enum { CALL_INTS = 3 + 2 * MW_CALL_WORDS, ARRAY_INTS = 11 + 8, OPTION_INTS = 6, LIMIT_INTS = 4 };
enum { VARIANT_INTS = 8 + MOST_ABSENT };

/* The list on top: a name and integers. */
static void read_entry(lua_State *L, void *to, int ints) {
  char *name = to;
  int *out = (int *)(void *)(name + NATIVE_NAME);
  lua_rawgeti(L, -1, 1);
  snprintf(name, NATIVE_NAME, "%s", lua_tostring(L, -1));
  lua_pop(L, 1);
  for (int i = 0; i < ints; i++) {
    lua_rawgeti(L, -1, i + 2);
    out[i] = (int)lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
}

/* Entries of a field of the table on top, one of `size` bytes each: how many. */
static int read_list(lua_State *L, const char *field, void *first, size_t size, int ints, int most) {
  lua_getfield(L, -1, field);
  const int count = lua_istable(L, -1) ? (int)lua_rawlen(L, -1) : 0;
  if (count > most) luaL_error(L, "%s: %d at most, got %d", field, most, count);
  for (int i = 0; i < count; i++) {
    lua_rawgeti(L, -1, i + 1);
    read_entry(L, (char *)first + (size_t)i * size, ints);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return count;
}

static void *symbol(lua_State *L, const native_variant *v, const char *name) {
  lua_getfield(L, -1, "handle");
  void *function = dlsym(lua_touserdata(L, -1), name);
  lua_pop(L, 1);
  if (!function) bind_fail(L, MW_UNSUPPORTED, "%s: the library here has no function %s", v->library, name);
  return function;
}

static void read_calls(lua_State *L, const native_variant *v, const char *field, native_calls *calls) {
  calls->count = read_list(L, field, calls->list, sizeof *calls->list, CALL_INTS, MOST_CALLS);
  for (int i = 0; i < calls->count; i++) {
    native_call *call = &calls->list[i];
    call->function = symbol(L, v, call->name);
    call->dtype = MW_I32;
    for (int k = 0; k < v->narrays; k++)
      if (v->arrays[k].at == call->to) call->dtype = v->arrays[k].dtype;
  }
}

static void read_words(lua_State *L, native_variant *v) {
  lua_getfield(L, -1, "fixed"); /* word, value, ... */
  lua_getfield(L, -2, "known"); /* word, ... */
  for (lua_Integer i = 1; lua_rawgeti(L, -2, i) != LUA_TNIL; i += 2) {
    lua_rawgeti(L, -3, i + 1);
    v->fixed[lua_tointeger(L, -2)].i = lua_tointeger(L, -1);
    lua_pop(L, 2);
  }
  lua_pop(L, 1);
  for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
    v->known[lua_tointeger(L, -1)] = true;
    lua_pop(L, 1);
  }
  lua_pop(L, 3);
}

static void read_all(lua_State *L, native_variant *v) {
  lua_getfield(L, -1, "variant");
  read_entry(L, v, VARIANT_INTS);
  lua_getfield(L, -2, "library");
  snprintf(v->library, sizeof v->library, "%s", lua_tostring(L, -1));
  lua_pop(L, 2);
  if (v->nabsent > MOST_ABSENT)
    luaL_error(L, "%s: %d optional sides at most, got %d", v->name, MOST_ABSENT, v->nabsent);
  if (v->words > MOST_WORDS) luaL_error(L, "%s: %d words at most, got %d", v->name, MOST_WORDS, v->words);
  v->narrays = read_list(L, "arrays", v->arrays, sizeof *v->arrays, ARRAY_INTS, MOST_ARRAYS);
  v->noptions = read_list(L, "options", v->options, sizeof *v->options, OPTION_INTS, MOST_OPTIONS);
  v->nlimits = read_list(L, "limits", v->limits, sizeof *v->limits, LIMIT_INTS, MOST_LIMITS);
  read_list(L, "choices", v->choices, sizeof *v->choices, 1, MOST_CHOICES);
  read_words(L, v);
  lua_getfield(L, -1, "dtypes");
  for (int i = 0; i < v->narrays; i++) {
    mw_dtype dtype = MW_I32;
    lua_rawgeti(L, -1, i + 1);
    mw_dtype_parse(lua_tostring(L, -1), &dtype);
    v->arrays[i].dtype = dtype;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  read_calls(L, v, "sizes", &v->sizes);
  read_calls(L, v, "calls", &v->calls);
  read_calls(L, v, "closing", &v->closing);
  read_calls(L, v, "follow", &v->follow);
  if (lua_getfield(L, -1, "explain") == LUA_TSTRING) {
    lua_insert(L, -2);
    void *function = symbol(L, v, lua_tostring(L, -2));
    memcpy(&v->explain, &function, sizeof function);
    lua_insert(L, -2);
  }
  lua_pop(L, 1);
}

native_variant *native_variant_read(lua_State *L) {
  native_variant *v = lua_newuserdatauv(L, sizeof *v, 0); /* Lua's, until it is whole */
  memset(v, 0, sizeof *v);
  lua_insert(L, -2);
  read_all(L, v);
  v = memcpy(mw_malloc(sizeof *v), v, sizeof *v);
  lua_remove(L, -2);
  return v;
}
