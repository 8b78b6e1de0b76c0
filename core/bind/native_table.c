/* SPDX-License-Identifier: MIT
 *
 * Descriptions of functions, from tables of Lua. */
#include <string.h>

#include "core/bind/native.h"

/* ---- running --------------------------------------------------------------------------------------------------- */

mw_status native_run(const native_call *call, mw_word *words, const char *(*explain)(int), const char *who,
                     mw_error *err) {
  int64_t w[MW_CALL_WORDS];
  double r[MW_CALL_REALS];
  int nw = 0, nr = 0;
  for (int i = 0; i < call->count; i++) {
    mw_word *word = &words[call->operands[i].at];
    switch (call->operands[i].kind) {
    case WORD:
      w[nw++] = word->i;
      break;
    case REAL:
      r[nr++] = word->d;
      break;
    case POINTER:
      w[nw++] = (intptr_t)word;
      break;
    }
  }
  int64_t result = mw_shared_call(call->function, w, nw, r, nr);
  if (call->result == VALUE) words[call->to].i = result;
  if (call->result == STORED) *(int32_t *)words[call->to].p = (int32_t)result;
  if (call->result != STATUS || (int)result == 0) return MW_OK;
  return mw_fail(err, MW_DRIVER, "%s: %s failed: %s (%d)", who, call->name, explain ? explain((int)result) : "status",
                 (int)result);
}

mw_status native_follow(native_value *self, void *queue, const char *who, mw_error *err) {
  mw_word words[2] = {[SELF] = self->word, [QUEUE] = {.p = queue}};
  if (!self->follow.function || self->queue == queue) return MW_OK;
  mw_status status = native_run(&self->follow, words, self->explain, who, err);
  if (status == MW_OK) self->queue = queue;
  return status;
}

/* ---- reading descriptions ---------------------------------------------------------------------------------------- */

static lua_Integer field_integer(lua_State *L, const char *name, lua_Integer standard) { /* of the table on top */
  lua_getfield(L, -1, name);
  lua_Integer value = lua_isnil(L, -1) ? standard : lua_tointeger(L, -1);
  lua_pop(L, 1);
  return value;
}

static double field_number(lua_State *L, const char *name) {
  lua_getfield(L, -1, name);
  double value = lua_isboolean(L, -1) ? lua_toboolean(L, -1) : lua_tonumber(L, -1);
  lua_pop(L, 1);
  return value;
}

static void field_text(lua_State *L, const char *name, char *out, size_t size) {
  lua_getfield(L, -1, name);
  const char *text = lua_tostring(L, -1);
  strncpy(out, text ? text : "", size - 1);
  lua_pop(L, 1);
}

static void *field_pointer(lua_State *L, const char *name) {
  lua_getfield(L, -1, name);
  void *value = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return value;
}

void native_read_call(lua_State *L, native_call *call) { /* the table on top */
  field_text(L, "name", call->name, sizeof call->name);
  call->function = field_pointer(L, "function");
  call->result = (result_kind)field_integer(L, "result", STATUS);
  call->to = (int)field_integer(L, "to", 0);
  call->count = (int)lua_rawlen(L, -1) / 2;
  for (int i = 0; i < call->count; i++) {
    lua_rawgeti(L, -1, 2 * i + 1);
    lua_rawgeti(L, -2, 2 * i + 2);
    call->operands[i].kind = (operand_kind)lua_tointeger(L, -2);
    call->operands[i].at = (int)lua_tointeger(L, -1);
    lua_pop(L, 2);
  }
}

static int read_calls(lua_State *L, const char *name, native_call *calls) {
  lua_getfield(L, -1, name);
  int count = lua_istable(L, -1) ? (int)lua_rawlen(L, -1) : 0;
  for (int i = 0; i < count; i++) {
    lua_rawgeti(L, -1, i + 1);
    native_read_call(L, &calls[i]);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return count;
}

static void read_fixed(lua_State *L, mw_word *words) {
  lua_getfield(L, -1, "fixed"); /* word, value, ... */
  for (lua_Integer i = 1, n = (lua_Integer)lua_rawlen(L, -1); i < n; i += 2) {
    lua_rawgeti(L, -1, i);
    lua_rawgeti(L, -2, i + 1);
    if (lua_isinteger(L, -1))
      words[lua_tointeger(L, -2)].i = lua_tointeger(L, -1);
    else
      words[lua_tointeger(L, -2)].d = lua_tonumber(L, -1);
    lua_pop(L, 2);
  }
  lua_pop(L, 1);
}

static void read_explain(lua_State *L, const char *(**out)(int)) {
  void *function = field_pointer(L, "explain");
  memcpy(out, &function, sizeof function);
}

static void read_array(lua_State *L, native_array *a) {
  char type[8] = "";
  field_text(L, "name", a->name, sizeof a->name);
  field_text(L, "dtype", type, sizeof type);
  mw_dtype_parse(type, &a->dtype);
  a->at = (int)field_integer(L, "at", 0);
  a->swap = (int)field_integer(L, "swap", -1);
  a->yes = (int)field_integer(L, "yes", 0);
  a->reads = (int)field_integer(L, "reads", -1);
  a->optional = (int)field_integer(L, "optional", 0);
  a->writes = field_integer(L, "writes", 0) != 0;
  a->dims = (int)lua_rawlen(L, -1);
  for (int i = 0; i < a->dims; i++) {
    lua_rawgeti(L, -1, i + 1);
    a->dim[i] = (int)lua_tointeger(L, -1) & 255;
    a->plus[i] = (int)lua_tointeger(L, -1) >> 8;
    lua_pop(L, 1);
  }
}

static void read_option(lua_State *L, native_option *o) {
  static const char *const kinds[] = {"boolean", "integer", "f32", "f64"};
  char kind[8] = "";
  field_text(L, "name", o->name, sizeof o->name);
  field_text(L, "kind", kind, sizeof kind);
  for (int i = 0; i < 4; i++)
    if (strcmp(kind, kinds[i]) == 0) o->kind = i;
  o->at = (int)field_integer(L, "at", 0);
  o->yes = (int)field_integer(L, "yes", 1);
  o->no = (int)field_integer(L, "no", 0);
  o->standard = field_number(L, "default");
}

/* The table on top. */
native_variant *native_read_variant(lua_State *L) {
  native_variant *v = mw_calloc(1, sizeof *v);
  field_text(L, "name", v->name, sizeof v->name);
  v->words = (int)field_integer(L, "words", 2);
  v->key = (int)field_integer(L, "key", 0);
  v->many = (int)field_integer(L, "many", 0);
  v->plain = (int)field_integer(L, "plain", 0);
  read_explain(L, &v->explain);
  read_fixed(L, v->fixed);
  v->ncalls = read_calls(L, "calls", v->calls);
  v->nsizes = read_calls(L, "sizes", v->sizes);
  v->size = (int)field_integer(L, "size", 0);
  v->unit = (int)field_integer(L, "unit", 1);
  lua_getfield(L, -1, "arrays");
  v->narrays = (int)lua_rawlen(L, -1);
  for (int i = 0; i < v->narrays; i++) {
    lua_rawgeti(L, -1, i + 1);
    read_array(L, &v->arrays[i]);
    lua_pop(L, 1);
  }
  lua_getfield(L, -2, "options");
  v->noptions = (int)lua_rawlen(L, -1);
  for (int i = 0; i < v->noptions; i++) {
    lua_rawgeti(L, -1, i + 1);
    read_option(L, &v->options[i]);
    lua_pop(L, 1);
  }
  lua_pop(L, 2);
  return v;
}
