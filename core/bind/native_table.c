/* SPDX-License-Identifier: MIT
 *
 * Descriptions of library.lua, tables of names and words, become variants. They are our own: nothing is checked. */
#include <string.h>

#include "core/bind/native.h"

/* ---- fields of the table on top ---------------------------------------------------------------------------------- */

static int integer_of(lua_State *L, const char *name, int standard) {
  lua_getfield(L, -1, name);
  const int value = lua_isnil(L, -1) ? standard : (int)lua_tointeger(L, -1);
  lua_pop(L, 1);
  return value;
}

static bool truth_of(lua_State *L, const char *name) {
  lua_getfield(L, -1, name);
  const bool value = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return value;
}

static void text_of(lua_State *L, const char *name, char *out, size_t size) {
  lua_getfield(L, -1, name);
  const char *text = lua_tostring(L, -1);
  snprintf(out, size, "%s", text ? text : "");
  lua_pop(L, 1);
}

static void *pointer_of(lua_State *L, const char *name) {
  lua_getfield(L, -1, name);
  void *value = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return value;
}

static mw_dtype dtype_of(lua_State *L) {
  char name[8];
  mw_dtype dtype = MW_I32;
  text_of(L, "dtype", name, sizeof name);
  mw_dtype_parse(name, &dtype);
  return dtype;
}

/* Calls read with each table of a list, on top, and where its entry goes: how many. */
static int each_of(lua_State *L, const char *name, void (*read)(lua_State *, void *), void *first, size_t size,
                   int most) {
  lua_getfield(L, -1, name);
  const int count = lua_istable(L, -1) ? (int)lua_rawlen(L, -1) : 0;
  if (count > most) luaL_error(L, "%s: %d at most", name, most);
  for (int i = 0; i < count; i++) {
    lua_rawgeti(L, -1, i + 1);
    read(L, (char *)first + (size_t)i * size);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return count;
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static void read_call(lua_State *L, void *to) {
  native_call *call = to;
  text_of(L, "name", call->name, sizeof call->name);
  call->function = pointer_of(L, "call");
  call->result = (result_kind)integer_of(L, "result", STATUS);
  call->to = integer_of(L, "to", 0);
  call->dtype = dtype_of(L);
  call->count = (int)lua_rawlen(L, -1) / 2; /* kind, word, ... */
  if (call->count > MW_CALL_WORDS) luaL_error(L, "%s has too many operands", call->name);
  for (int i = 0; i < call->count; i++) {
    lua_rawgeti(L, -1, 2 * i + 1);
    lua_rawgeti(L, -2, 2 * i + 2);
    call->operands[i].kind = (unsigned char)lua_tointeger(L, -2);
    call->operands[i].at = (unsigned char)lua_tointeger(L, -1);
    lua_pop(L, 2);
  }
}

static void read_calls(lua_State *L, const char *name, native_calls *calls) {
  calls->count = each_of(L, name, read_call, calls->list, sizeof *calls->list, MOST_CALLS);
}

static void read_array(lua_State *L, void *to) {
  native_array *a = to;
  text_of(L, "name", a->name, sizeof a->name);
  a->dtype = dtype_of(L);
  a->at = integer_of(L, "at", 0);
  a->swap = integer_of(L, "swap", NEVER);
  a->yes = integer_of(L, "yes", 0);
  a->reads = integer_of(L, "reads", NEVER);
  a->optional = integer_of(L, "optional", 0);
  a->writes = truth_of(L, "writes");
  a->in_place = truth_of(L, "in_place");
  a->partly = truth_of(L, "partly");
  a->wide = truth_of(L, "wide");
  a->keeps = truth_of(L, "keeps");
  a->dims = (int)lua_rawlen(L, -1);
  for (int i = 0; i < a->dims; i++) { /* { word, plus } */
    lua_rawgeti(L, -1, i + 1);
    lua_rawgeti(L, -1, 1);
    lua_rawgeti(L, -2, 2);
    a->dim[i] = (int)lua_tointeger(L, -2);
    a->plus[i] = (int)lua_tointeger(L, -1);
    lua_pop(L, 3);
  }
}

static void read_choice(lua_State *L, void *to) {
  struct native_choice *choice = to;
  text_of(L, "name", choice->name, sizeof choice->name);
  choice->value = integer_of(L, "value", 0);
}

static void read_option(lua_State *L, void *to) {
  static const char *const kinds[] = {"boolean", "integer", "f32", "f64", "choice"};
  native_option *o = to;
  char kind[8];
  text_of(L, "name", o->name, sizeof o->name);
  text_of(L, "kind", kind, sizeof kind);
  for (int i = 0; i < 5; i++)
    if (strcmp(kind, kinds[i]) == 0) o->kind = i;
  o->at = integer_of(L, "at", 0);
  o->yes = integer_of(L, "yes", 1);
  o->no = integer_of(L, "no", 0);
  lua_getfield(L, -1, "choices");
  const size_t count = lua_istable(L, -1) ? lua_rawlen(L, -1) : 0;
  lua_pop(L, 1);
  if (count) o->choices = mw_calloc(count, sizeof *o->choices);
  o->nchoices = each_of(L, "choices", read_choice, o->choices, sizeof *o->choices, (int)count);
}

static void read_standard(lua_State *L, native_variant *v) {
  lua_getfield(L, -1, "options");
  for (int i = 0; i < v->noptions; i++) {
    const native_option *o = &v->options[i];
    mw_word *word = &v->fixed[o->at];
    lua_rawgeti(L, -1, i + 1);
    lua_getfield(L, -1, "default");
    if (o->kind == F32)
      word->f = (float)lua_tonumber(L, -1);
    else if (o->kind == F64)
      word->d = lua_tonumber(L, -1);
    else
      word->i = o->kind != BOOLEAN ? lua_tointeger(L, -1) : lua_toboolean(L, -1) ? o->yes : o->no;
    lua_pop(L, 2);
  }
  lua_pop(L, 1);
}

/* Of all arrays, each once. */
static void list_absent(native_variant *v) {
  for (int i = 0; i < v->narrays; i++)
    for (int k = v->arrays[i].dims - v->arrays[i].optional; k < v->arrays[i].dims; k++) {
      const int side = v->arrays[i].dim[k];
      bool listed = v->nabsent == 4;
      for (int n = 0; n < v->nabsent; n++) listed |= v->absent[n] == side;
      if (!listed) v->absent[v->nabsent++] = side;
    }
}

static void read_limit(lua_State *L, void *to) {
  native_limit *limit = to;
  text_of(L, "name", limit->name, sizeof limit->name);
  limit->at = integer_of(L, "at", 0);
  limit->least = integer_of(L, "least", -1);
  limit->most = integer_of(L, "most", -1);
  limit->multiple = integer_of(L, "multiple", -1);
}

static void read_words(lua_State *L, native_variant *v) {
  lua_getfield(L, -1, "fixed"); /* word, value, ... */
  for (lua_Integer i = 1, n = (lua_Integer)lua_rawlen(L, -1); i < n; i += 2) {
    lua_rawgeti(L, -1, i);
    lua_rawgeti(L, -2, i + 1);
    v->fixed[lua_tointeger(L, -2)].i = lua_tointeger(L, -1);
    lua_pop(L, 2);
  }
  lua_getfield(L, -2, "known"); /* word, ... */
  for (lua_Integer i = 1, n = (lua_Integer)lua_rawlen(L, -1); i <= n; i++) {
    lua_rawgeti(L, -1, i);
    v->known[lua_tointeger(L, -1)] = true;
    lua_pop(L, 1);
  }
  lua_pop(L, 2);
}

/* ---- all of one -------------------------------------------------------------------------------------------------- */

static void read_all(lua_State *L, native_variant *v) {
  v->words = integer_of(L, "words", 0);
  if (v->words > MOST_WORDS) luaL_error(L, "%s: %d words at most", v->name, MOST_WORDS);
  v->many = integer_of(L, "many", 0);
  v->plain = integer_of(L, "plain", 0);
  v->unit = integer_of(L, "unit", 1);
  v->extra = integer_of(L, "extra", 0);
  v->nextra = integer_of(L, "nextra", 0);
  v->by_kernels = truth_of(L, "by_kernels");
  void *explain = pointer_of(L, "explain");
  memcpy(&v->explain, &explain, sizeof explain);
  read_words(L, v);
  read_calls(L, "sizes", &v->sizes);
  read_calls(L, "calls", &v->calls);
  read_calls(L, "closing", &v->closing);
  lua_getfield(L, -1, "follow");
  if (lua_istable(L, -1)) read_call(L, &v->follow);
  lua_pop(L, 1);
  v->narrays = each_of(L, "arrays", read_array, v->arrays, sizeof *v->arrays, MOST_ARRAYS);
  v->noptions = each_of(L, "options", read_option, v->options, sizeof *v->options, MOST_OPTIONS);
  read_standard(L, v);
  list_absent(v);
  v->nlimits = each_of(L, "limits", read_limit, v->limits, sizeof *v->limits, MOST_LIMITS);
}

native_variant *native_variant_read(lua_State *L) {
  native_variant *v = lua_newuserdatauv(L, sizeof *v, 0); /* Lua's, until it is whole */
  memset(v, 0, sizeof *v);
  lua_insert(L, -2);
  text_of(L, "name", v->name, sizeof v->name);
  text_of(L, "library", v->library, sizeof v->library);
  read_all(L, v);
  v = memcpy(mw_malloc(sizeof *v), v, sizeof *v);
  lua_remove(L, -2);
  return v;
}

void native_variant_free(native_variant *v) {
  for (int i = 0; i < v->noptions; i++) mw_free(v->options[i].choices);
  mw_free(v);
}
