/* SPDX-License-Identifier: MIT
 *
 * Calls of functions of libraries: checks the arrays against each other, fills the frame, and lets the backend run the
 * calls in order with the stream. */
#include "core/bind/native.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>

static mw_status run_frame(const void *data, void *queue, mw_error *err) {
  const native_frame *frame = data;
  const native_variant *v = frame->variant;
  mw_word words[MOST_WORDS];
  mw_status status = frame->self ? native_follow(frame->self, queue, v->name, err) : MW_OK;
  memcpy(words, frame->words, (size_t)v->words * sizeof *words);
  words[QUEUE].p = queue;
  const int64_t many = v->many ? words[v->many].i : 1, items = v->plain ? 1 : many;
  const int first = many > 1 ? 0 : v->plain, last = many > 1 && v->plain ? v->plain : v->ncalls;
  for (int64_t item = 0; item < items && status == MW_OK; item++) {
    for (int i = first; i < last && status == MW_OK; i++)
      status = native_run(&v->calls[i], words, v->explain, v->name, err);
    for (int i = 0; items > 1 && i < v->narrays; i++) {
      const native_array *a = &v->arrays[i];
      words[a->at].i += words[a->at + ITEMS].i * (int64_t)mw_dtype_size(a->dtype);
    }
  }
  return status;
}

static mw_status run_sizes(const void *data, void *queue, mw_error *err) {
  native_frame *frame = *(native_frame *const *)data;
  const native_variant *v = frame->variant;
  mw_status status = frame->self ? native_follow(frame->self, queue, v->name, err) : MW_OK;
  for (int i = 0; i < v->nsizes && status == MW_OK; i++)
    status = native_run(&v->sizes[i], frame->words, v->explain, v->name, err);
  return status;
}

/* Memory that the calls work in, given back in order with them. */
static mw_buffer *push_work(lua_State *L, native_frame *frame, mw_stream *stream) {
  const native_variant *v = frame->variant;
  const mw_backend *backend = stream->device->backend;
  mw_buffer *work = NULL;
  const mw_call call = {.name = v->name, .run = run_sizes, .data = &frame, .bytes = sizeof frame};
  bind_try(L, backend->call(stream->device->main, &call, &bind_error));
  const size_t bytes = (size_t)frame->words[v->size].i * (size_t)v->unit;
  if (bytes) bind_try(L, backend->alloc(stream, bytes, MW_SPACE_DEVICE, MW_U8, &work, &bind_error));
  frame->words[WORK].p = work ? work->address : NULL;
  return work;
}

/* ---- checking -------------------------------------------------------------------------------------------------- */

static const char *shape_text(lua_State *L, const bind_array *a) {
  lua_pushfstring(L, "%I", (LUAI_UACINT)a->shape[0]);
  for (int i = 1; i < a->dims; i++) {
    lua_pushfstring(L, "%s x %I", lua_tostring(L, -1), (LUAI_UACINT)a->shape[i]);
    lua_remove(L, -2);
  }
  return lua_tostring(L, -1);
}

/* "gemm: B is 3 x 5; its 1st side must be 4, as of A" */
static int reject_side(lua_State *L, const native_variant *v, const native_array *spec, const bind_array *a, int axis,
                       lua_Integer wanted, const char *of) {
  return bind_fail(L, MW_INVALID, "%s: %s is %s: side %d must be %I, as of %s", v->name, spec->name, shape_text(L, a),
                   axis + 1, (LUAI_UACINT)wanted, of);
}

/* Sides that have been seen before are equal, others are noted: in words, of `of`. */
static void fill_array(lua_State *L, native_frame *frame, const native_array *spec, const bind_array *a,
                       const char *of[MOST_WORDS]) {
  const native_variant *v = frame->variant;
  mw_word *words = frame->words;
  if (a->dtype != spec->dtype)
    bind_fail(L, MW_INVALID, "%s: %s is an array of %s, got %s", v->name, spec->name, mw_dtype_name(spec->dtype),
              mw_dtype_name(a->dtype));
  if (a->dims > spec->dims || a->dims < spec->dims - spec->optional)
    bind_fail(L, MW_INVALID, "%s: %s has %d dimension%s, got %s", v->name, spec->name, spec->dims - spec->optional,
              spec->optional    ? " or one more"
              : spec->dims == 1 ? ""
                                : "s",
              shape_text(L, a));
  if (spec->writes && a->readonly) bind_fail(L, MW_INVALID, "%s: %s is a read-only view", v->name, spec->name);
  const bool swapped = spec->swap > 0 && words[spec->swap].i == spec->yes;
  int64_t items = 1;
  for (int i = 0; i < a->dims; i++) {
    const int k = swapped && i < 2 ? 1 - i : i, side = spec->dim[k];
    const lua_Integer length = a->shape[i] - spec->plus[k];
    if (a->shape[i] > INT_MAX)
      bind_fail(L, MW_INVALID, "%s: %s is %s: a side is 2147483647 at most", v->name, spec->name, shape_text(L, a));
    if (!of[side]) {
      of[side] = spec->name;
      words[side].i = length;
    } else if (words[side].i != length) {
      reject_side(L, v, spec, a, i, words[side].i + spec->plus[k], of[side]);
    }
    if (i < spec->dims - 1) items *= a->shape[i];
  }
  words[spec->at + ADDRESS].p = (char *)a->buffer->address + a->offset;
  words[spec->at + ROWS].i = a->shape[0];
  words[spec->at + COLUMNS].i = a->dims > 1 ? a->shape[1] : 1;
  words[spec->at + ITEMS].i = a->dims < spec->dims ? 0 : items;
  words[spec->at + COUNT].i = (int64_t)a->count;
}

static void fill_option(lua_State *L, mw_word *words, const native_option *o, const char *who, int index) {
  double value = o->standard;
  mw_word *word = &words[o->at];
  if (index && lua_getfield(L, index, o->name) != LUA_TNIL) {
    const bool fits = o->kind == BOOLEAN   ? lua_isboolean(L, -1)
                      : o->kind == INTEGER ? lua_isinteger(L, -1)
                                           : lua_type(L, -1) == LUA_TNUMBER;
    if (!fits)
      bind_fail(L, MW_INVALID, "%s: option '%s' is %s, got %s", who, o->name,
                o->kind == BOOLEAN   ? "true or false"
                : o->kind == INTEGER ? "an integer"
                                     : "a number",
                value_text(L, -1));
    value = o->kind == BOOLEAN ? lua_toboolean(L, -1) : lua_tonumber(L, -1);
  }
  if (index) lua_pop(L, 1);
  switch (o->kind) {
  case BOOLEAN:
    word->i = value != 0 ? o->yes : o->no;
    break;
  case INTEGER:
    word->i = (int64_t)value;
    break;
  case F32:
    word->i = 0;
    word->f = (float)value;
    break;
  case F64:
    word->d = value;
    break;
  }
}

static void check_names(lua_State *L, const native_variant *v, int index) {
  const char *names[MOST_OPTIONS + 2] = {"stream"};
  for (int i = 0; i < v->noptions; i++) names[i + 1] = v->options[i].name;
  need_options(L, index, names);
}

static bool reads(const native_array *spec, const mw_word *words) {
  return spec->reads == 0 || (spec->reads > 0 && words[spec->reads].i != 0);
}

static void check_aliases(lua_State *L, const native_variant *v, bind_array *const arrays[]) {
  for (int i = 0; i < v->narrays; i++)
    for (int k = 0; v->arrays[i].writes && k < v->narrays; k++) {
      const bind_array *a = arrays[i], *b = arrays[k];
      if (i == k || a->buffer != b->buffer || a->offset >= b->offset + array_bytes(b) ||
          b->offset >= a->offset + array_bytes(a))
        continue;
      if (a->offset == b->offset && v->arrays[i].reads < -1) continue; /* it may be in place */
      bind_fail(L, MW_INVALID, "%s: %s is written, and shares memory with %s", v->name, v->arrays[i].name,
                v->arrays[k].name);
    }
}

/* ---- calling --------------------------------------------------------------------------------------------------- */

static native_variant *find_variant(const native_routine *self, const mw_backend *backend, int narrays,
                                    bind_array *const arrays[]) {
  for (int i = 0; i < self->nvariants; i++) {
    native_variant *v = self->variants[i];
    bool same = v->backend == backend && v->narrays <= narrays;
    for (int k = 0; same && k < v->narrays; k++) same = v->arrays[k].dtype == arrays[k]->dtype;
    if (same) return v;
  }
  return NULL;
}

/* By the function of Lua that describes it: it is given the device and the arrays, and raises what is wrong. */
static native_variant *make_variant(lua_State *L, native_routine *self, mw_device *device, int first, int narrays) {
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_pushstring(L, device->backend->name);
  for (int i = 0; i < narrays; i++) lua_pushvalue(L, first + i);
  lua_call(L, narrays + 1, 1);
  native_variant *v = native_read_variant(L);
  lua_getfield(L, -1, "by");
  if (lua_isfunction(L, -1))
    v->ncalls = BY_LUA, v->many = luaL_ref(L, LUA_REGISTRYINDEX);
  else
    lua_pop(L, 1);
  v->backend = device->backend;
  if (self->nvariants == MOST_VARIANTS) bind_fail(L, MW_UNSUPPORTED, "%s: too many types", self->name);
  self->variants[self->nvariants++] = v;
  lua_pop(L, 1);
  return v;
}

/* The library's handle for the device: the function of Lua makes it at first use. */
static native_value *handle_of(lua_State *L, const native_variant *v, mw_device *device) {
  native_value *self = native_attached(device, v->key);
  if (self) return self;
  lua_pushvalue(L, lua_upvalueindex(3));
  lua_pushlightuserdata(L, device);
  lua_pushstring(L, device->backend->name);
  lua_call(L, 2, 0);
  return native_attached(device, v->key);
}

static int routine_call(lua_State *L) {
  native_routine *self = lua_touserdata(L, lua_upvalueindex(1));
  int top = lua_gettop(L), first = self->owned ? 2 : 1, n = 0;
  native_value *owner = self->owned ? ((native_object *)bind_check(L, 1, &native_class))->value : NULL;
  bind_array *arrays[MOST_ARRAYS];
  native_frame frame;
  const char *of[MOST_WORDS] = {NULL};
  while (n < MOST_ARRAYS && first + n <= top && (arrays[n] = bind_test(L, first + n, &array_class))) {
    if (!arrays[n]->object.open) bind_fail(L, MW_INVALID, "%s: attempt to use a closed array", self->name);
    n++;
  }
  if (n == 0) return bind_fail(L, MW_INVALID, "%s: an array expected, got %s", self->name, value_text(L, first));
  mw_device *device = arrays[0]->buffer->device;
  native_variant *v = find_variant(self, device->backend, n, arrays);
  if (!v) v = make_variant(L, self, device, first, n);
  if (n < v->narrays || top > first + v->narrays)
    return bind_fail(L, MW_INVALID, "%s takes %d arrays and options, got %s as argument %d", v->name, v->narrays,
                     value_text(L, first + n), first + n);
  const int index = top == first + v->narrays && !lua_isnil(L, top) ? top : 0;
  if (index) check_names(L, v, index);
  frame.variant = v;
  frame.self = owner ? owner : v->key ? handle_of(L, v, device) : NULL;
  memcpy(frame.words, v->fixed, (size_t)v->words * sizeof *frame.words);
  for (int i = 0; i < v->noptions; i++) fill_option(L, frame.words, &v->options[i], v->name, index);
  for (int i = 0; i < v->narrays; i++) {
    if (arrays[i]->buffer->device != device)
      return bind_fail(L, MW_INVALID, "%s: %s is on %s, got an array of %s", v->name, v->arrays[i].name,
                       device->info.id, arrays[i]->buffer->device->info.id);
    fill_array(L, &frame, &v->arrays[i], arrays[i], of);
  }
  for (int i = 0; i < v->narrays; i++) { /* an array without items belongs to all of them */
    const native_array *a = &v->arrays[i];
    const int items = a->dim[a->dims - 1];
    if (a->optional && !of[items]) frame.words[items].i = 1;
    if (a->optional && a->writes && of[items] && arrays[i]->dims < a->dims)
      return bind_fail(L, MW_INVALID, "%s: %s is %s, and %s has %I items: it is written for each", v->name, a->name,
                       shape_text(L, arrays[i]), of[items], (LUAI_UACINT)frame.words[items].i);
  }
  check_aliases(L, v, arrays);
  if (frame.self) frame.words[SELF] = frame.self->word;
  mw_stream *stream = current_stream(L, device);
  if (index && option_push(L, index, "stream")) stream = option_stream(L, device)->stream;
  mw_call call = {.name = v->name,
                  .run = run_frame,
                  .data = &frame,
                  .bytes = offsetof(native_frame, words) + (size_t)v->words * sizeof *frame.words};
  for (int i = 0; i < v->narrays && call.nwrites < MW_CALL_WRITES; i++) {
    if (!v->arrays[i].writes) continue;
    call.writes[call.nwrites].at = frame.words[v->arrays[i].at].p;
    call.writes[call.nwrites++].bytes = array_bytes(arrays[i]);
  }
  if (v->ncalls == BY_LUA) { /* its launches are checked and noted as others are */
    lua_rawgeti(L, LUA_REGISTRYINDEX, v->many);
    lua_insert(L, 1);
    lua_settop(L, top + 1);
    lua_call(L, top, 1);
    return 1;
  }
  mw_buffer *work = v->nsizes ? push_work(L, &frame, stream) : NULL;
  mw_status status = device->backend->call(stream, &call, &bind_error);
  if (work) mw_buffer_release(work);
  if (status != MW_OK) return bind_raise(L);
  if (owner && stream != device->main) owner->used_elsewhere = true;
  if (owner && stream->capturing) capture_value(L, &owner->counted);
  for (int i = 0; i < v->narrays; i++) {
    mw_buffer_use(arrays[i]->buffer, stream);
    if (stream->capturing) capture_buffer(L, arrays[i]->buffer);
    if (!device->info.traces) continue;
    if (reads(&v->arrays[i], frame.words)) race_library(L, stream, arrays[i], v->name, false);
    if (v->arrays[i].writes) race_library(L, stream, arrays[i], v->name, true);
  }
  stream->acted = true;
  lua_settop(L, first);
  return 1;
}

/* ---- functions of the core --------------------------------------------------------------------------------------- */

/* core.shared(names): the library, or nil and why not. */
static int native_shared(lua_State *L) {
  char reason[600];
  void *library = mw_shared_open(check_string(L, 1), reason, sizeof reason);
  if (library) {
    lua_pushlightuserdata(L, library);
    return 1;
  }
  luaL_pushfail(L);
  lua_pushstring(L, reason);
  return 2;
}

/* core.symbol(library, name) */
static int native_symbol(lua_State *L) {
  void *function = dlsym(lua_touserdata(L, 1), check_string(L, 2));
  if (function)
    lua_pushlightuserdata(L, function);
  else
    luaL_pushfail(L);
  return 1;
}

/* core.routine(name, owned, describe, open): a function. describe(backend, arrays...) gives its description, open(device,
 * backend) makes the library's handle for a device by core.library_handle. */
static int native_routine_new(lua_State *L) {
  native_routine *self = lua_newuserdatauv(L, sizeof *self, 0);
  memset(self, 0, sizeof *self);
  strncpy(self->name, check_string(L, 1), sizeof self->name - 1);
  self->owned = lua_toboolean(L, 2);
  lua_pushvalue(L, 3);
  lua_pushvalue(L, 4);
  lua_pushcclosure(L, routine_call, 3);
  return 1;
}

const luaL_Reg native_functions[] = {{"shared", native_shared},
                                     {"symbol", native_symbol},
                                     {"routine", native_routine_new},
                                     {"library_handle", native_handle_new},
                                     {"library_object", native_object_new},
                                     {NULL, NULL}};
