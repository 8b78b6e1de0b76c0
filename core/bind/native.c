/* SPDX-License-Identifier: MIT
 *
 * What a function of a library does when a script calls it: finds the variant for the device and the element types,
 * checks the arrays against each other, fills the frame, and queues it or makes an object of it. */
#include "core/bind/native.h"

#include <limits.h>
#include <string.h>

typedef struct routine { /* user value 1 of its function: what library.lua has given to core.routine */
  char name[32];
  int key;
  bool makes, takes; /* an object: it makes one; it takes one first */
} routine;

typedef struct request {
  const routine *self;
  mw_device *device;
  native_variant *variant;
  native_object *object; /* NULL: none */
  int first, given;      /* of the arrays: stack index, how many there are */
  int options;           /* stack index; 0: none */
  mw_stream *stream;
  bind_graph *graph; /* of the capture that the stream is in; NULL: none */
  bind_array *arrays[MOST_ARRAYS];
  native_frame frame;
} request;

enum { ROUTINE = 1, ROW = 2 }; /* upvalues */

/* ---- checking ---------------------------------------------------------------------------------------------------- */

static const char *shape_text(lua_State *L, const bind_array *a) {
  lua_pushfstring(L, "%I", (LUAI_UACINT)a->shape[0]);
  for (int i = 1; i < a->dims; i++) {
    lua_pushfstring(L, "%s x %I", lua_tostring(L, -1), (LUAI_UACINT)a->shape[i]);
    lua_remove(L, -2);
  }
  return lua_tostring(L, -1);
}

/* The first of the arrays, up to one of them, that has a side; else the object. */
static const char *first_with(const request *r, int last, int word) {
  const native_variant *v = r->variant;
  for (int i = 0; i <= last; i++)
    for (int k = 0; k < r->arrays[i]->dims; k++)
      if (v->arrays[i].sides[k].word == word) return v->arrays[i].name;
  return r->object ? "the object" : "it";
}

/* "gemm: A is 3 x 4: side 1 must be 5, as of C" */
static void reject_side(lua_State *L, const request *r, int which, int axis, int word, lua_Integer wanted) {
  const native_variant *v = r->variant;
  const char *of = v->known[word] && !r->object ? NULL : first_with(r, v->known[word] ? -1 : which, word);
  bind_fail(L, MW_INVALID, "%s: %s is %s: side %d must be %I%s%s", v->name, v->arrays[which].name,
            shape_text(L, r->arrays[which]), axis + 1, (LUAI_UACINT)wanted, of ? ", as of " : "", of ? of : "");
}

static void check_dims_of(lua_State *L, const native_variant *v, const native_array *spec, const bind_array *a) {
  if (a->dims <= spec->dims && a->dims >= spec->dims - spec->optional) return;
  const char *wanted = lua_pushfstring(L, spec->optional ? "%d to %d" : "%d", spec->dims - spec->optional, spec->dims);
  bind_fail(L, MW_INVALID, "%s: %s has %s dimension%s, got %s", v->name, spec->name, wanted, spec->dims == 1 ? "" : "s",
            shape_text(L, a));
}

/* Sides that are known are equal, others are noted. */
static void fill_array(lua_State *L, request *r, int which, bool known[MOST_WORDS]) {
  const native_variant *v = r->variant;
  const native_array *spec = &v->arrays[which];
  const bind_array *a = r->arrays[which];
  mw_word *words = r->frame.words;
  if (!a->object.open) bind_fail(L, MW_INVALID, "%s: attempt to use a closed array", v->name);
  if (a->buffer->device != r->device)
    bind_fail(L, MW_INVALID, "%s: %s is on %s, got an array of %s", v->name, spec->name, r->device->info.id,
              a->buffer->device->info.id);
  check_dims_of(L, v, spec, a);
  if (spec->writes && a->readonly) bind_fail(L, MW_INVALID, "%s: %s is a read-only view", v->name, spec->name);
  const bool swapped = spec->swap > 0 && words[spec->swap].i == spec->yes;
  int64_t items = 1;
  for (int i = 0; i < a->dims; i++) {
    const int k = swapped && i < 2 ? 1 - i : i, side = spec->sides[k].word;
    const lua_Integer length = a->shape[i] - spec->sides[k].plus;
    if (a->shape[i] > INT_MAX && !spec->wide)
      bind_fail(L, MW_INVALID, "%s: %s is %s: a side is 2147483647 at most", v->name, spec->name, shape_text(L, a));
    if (!known[side])
      words[side].i = length;
    else if (words[side].i != length)
      reject_side(L, r, which, i, side, words[side].i + spec->sides[k].plus);
    known[side] = true;
    if (i < spec->dims - 1) items *= a->shape[i];
  }
  words[spec->at + ADDRESS].p = (char *)a->buffer->address + a->offset;
  words[spec->at + ROWS].i = a->shape[0];
  words[spec->at + COLUMNS].i = a->dims > 1 ? a->shape[1] : 1;
  words[spec->at + ITEMS].i = a->dims < spec->dims ? 0 : items;
  words[spec->at + COUNT].i = (int64_t)a->count;
}

static void check_whole(lua_State *L, const request *r, int side) {
  const native_variant *v = r->variant;
  for (int i = 0; i < v->narrays; i++) {
    const native_array *spec = &v->arrays[i];
    for (int k = r->arrays[i]->dims; spec->writes && k < spec->dims; k++)
      if (spec->sides[k].word == side)
        bind_fail(L, MW_INVALID, "%s: %s is %s, and %s has %I items: it is written for each", v->name, spec->name,
                  shape_text(L, r->arrays[i]), first_with(r, v->narrays - 1, side),
                  (LUAI_UACINT)r->frame.words[side].i);
  }
}

/* Sides that no array has are 1. What is written has all of them. */
static void fill_absent(lua_State *L, request *r, const bool known[MOST_WORDS]) {
  for (int i = 0; i < r->variant->nabsent; i++) {
    const int side = r->variant->absent[i];
    if (!known[side]) r->frame.words[side].i = 1;
    if (r->frame.words[side].i > 1) check_whole(L, r, side);
  }
}

static void check_limits(lua_State *L, const native_variant *v, const mw_word *words) {
  for (int i = 0; i < v->nlimits; i++) {
    const native_limit *limit = &v->limits[i];
    const int64_t value = words[limit->at].i;
    const char *must = NULL;
    int at = 0;
    if (limit->least && value < words[limit->least].i) must = "at least", at = limit->least;
    if (limit->most && value > words[limit->most].i) must = "at most", at = limit->most;
    if (limit->multiple && value % words[limit->multiple].i) must = "a multiple of", at = limit->multiple;
    if (must)
      bind_fail(L, MW_INVALID, "%s: %s is %I, and must be %s %I", v->name, limit->name, (LUAI_UACINT)value, must,
                (LUAI_UACINT)words[at].i);
  }
}

static bool overlap(const bind_array *a, const bind_array *b) {
  return a->offset < b->offset + array_bytes(b) && b->offset < a->offset + array_bytes(a);
}

static void check_aliases(lua_State *L, const request *r) {
  const native_variant *v = r->variant;
  for (int i = 0; i < v->narrays; i++)
    for (int k = 0; v->arrays[i].writes && k < v->narrays; k++) {
      const bind_array *a = r->arrays[i], *b = r->arrays[k];
      if (a->buffer != b->buffer || i == k || !overlap(a, b)) continue;
      if (v->arrays[i].in_place && a->offset == b->offset) continue;
      bind_fail(L, MW_INVALID, "%s: %s is written, and shares memory with %s", v->name, v->arrays[i].name,
                v->arrays[k].name);
    }
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

static int choose(lua_State *L, const request *r, const native_option *o) {
  const native_choice *choices = &r->variant->choices[o->choice];
  const char *names[MOST_CHOICES + 1] = {NULL};
  for (int i = 0; i < o->choices; i++) names[i] = choices[i].name;
  return choices[option_word(L, r->options, o->name, names)].value;
}

/* Its value is on top. */
static void store_option(lua_State *L, request *r, const native_option *o) {
  mw_word *word = &r->frame.words[o->at];
  if (o->kind == BOOLEAN) {
    word->i = option_boolean(L, r->options, o->name, false) ? o->yes : o->no;
  } else if (o->kind == INTEGER) {
    word->i = option_integer(L, r->options, o->name, 0, LUA_MININTEGER, LUA_MAXINTEGER);
  } else if (o->kind == CHOICE) {
    word->i = choose(L, r, o);
  } else if (lua_type(L, -1) != LUA_TNUMBER) {
    bind_fail(L, MW_INVALID, "%s: option '%s' is a number, got %s", r->variant->name, o->name, value_text(L, -1));
  } else if (o->kind == SINGLE) {
    *word = (mw_word){.i = 0};
    word->f = (float)lua_tonumber(L, -1);
  } else {
    word->d = lua_tonumber(L, -1);
  }
}

static const native_option *option_named(const native_variant *v, const char *name) {
  for (int i = 0; i < v->noptions; i++)
    if (strcmp(v->options[i].name, name) == 0) return &v->options[i];
  return NULL;
}

/* One that is wrong raises. */
static void refuse_options(lua_State *L, const request *r) {
  const native_variant *v = r->variant;
  const char *names[MOST_OPTIONS + 2] = {NULL};
  for (int i = 0; i < v->noptions; i++) names[i] = v->options[i].name;
  if (!r->self->makes) names[v->noptions] = "stream";
  need_options(L, r->options, names);
}

/* The others have their standard values. */
static void read_options(lua_State *L, request *r) {
  const native_variant *v = r->variant;
  if (!lua_istable(L, r->options) || lua_getmetatable(L, r->options)) refuse_options(L, r);
  lua_settop(L, r->options);
  for (lua_pushnil(L); lua_next(L, r->options); lua_pop(L, 1)) {
    const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
    const native_option *o = option_named(v, name);
    if (o) {
      store_option(L, r, o);
    } else if (!r->self->makes && strcmp(name, "stream") == 0) {
      r->stream = option_stream(L, r->device)->stream;
    } else {
      refuse_options(L, r);
    }
  }
}

/* ---- variants ---------------------------------------------------------------------------------------------------- */

static void close_variant(mw_attached *attached, mw_device *device) {
  (void)device;
  mw_free((char *)attached - offsetof(native_variant, attached));
}

static bool fits(const native_variant *v, const request *r) {
  if (v->attached.key != r->self->key || v->narrays > r->given ||
      v->of != (r->object ? r->object->value->variant : NULL))
    return false;
  for (int i = 0; i < v->narrays; i++)
    if (v->arrays[i].dtype != (int)r->arrays[i]->dtype) return false;
  return true;
}

/* The one that was called last is found first. */
static native_variant *find_variant(const request *r) {
  for (mw_attached **at = &r->device->attached, *a; (a = *at); at = &a->next) {
    native_variant *v = (native_variant *)((char *)a - offsetof(native_variant, attached));
    if (a->key != r->self->key || !fits(v, r)) continue;
    *at = a->next;
    a->next = r->device->attached;
    r->device->attached = a;
    return v;
  }
  return NULL;
}

/* By describe of library.lua, which raises errors in the types. */
static native_variant *make_variant(lua_State *L, const request *r) {
  native_value *handle = NULL;
  lua_getfield(L, lua_upvalueindex(ROW), "describe");
  lua_pushstring(L, r->device->backend->name);
  lua_pushinteger(L, r->device->info.multiprocessors);
  if (r->object)
    lua_getiuservalue(L, 1, 1);
  else
    lua_pushnil(L);
  for (int i = 0; i < r->given; i++) lua_pushvalue(L, r->first + i);
  lua_call(L, r->given + 3, 1);
  lua_getfield(L, -1, "key");
  lua_getfield(L, -2, "open");
  if (lua_isfunction(L, -1)) handle = native_handle(L, r->device, (int)lua_tointeger(L, -2), lua_gettop(L));
  lua_pop(L, 2);
  native_variant *v = native_variant_read(L);
  v->handle = handle;
  v->of = r->object ? r->object->value->variant : NULL;
  v->attached = (mw_attached){r->device->attached, r->self->key, close_variant};
  r->device->attached = &v->attached;
  lua_getfield(L, lua_upvalueindex(ROW), "layouts");
  lua_getfield(L, -2, "layout");
  lua_rawsetp(L, -2, v);
  lua_pop(L, 2);
  return v;
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static void read_arguments(lua_State *L, request *r) {
  const int top = lua_gettop(L);
  r->first = r->object ? 2 : 1;
  if (r->self->makes && bind_test(L, 1, &device_class)) {
    r->device = ((bind_object *)bind_check(L, 1, &device_class))->device;
    r->first = 2;
  }
  for (int i = r->first; i <= top && r->given < MOST_ARRAYS; i++) {
    bind_array *a = bind_test(L, i, &array_class);
    if (!a) break;
    if (!a->object.open) bind_fail(L, MW_INVALID, "%s: attempt to use a closed array", r->self->name);
    r->arrays[r->given++] = a;
  }
  if (r->object) r->device = r->object->value->device;
  if (r->given == 0 && !r->device)
    bind_fail(L, MW_INVALID, "%s: an array expected, got %s", r->self->name, value_text(L, r->first));
  if (!r->device) r->device = r->arrays[0]->buffer->device;
  if (r->object && r->given && r->arrays[0]->buffer->device != r->device)
    bind_fail(L, MW_INVALID, "%s: the %s is of %s, got an array of %s", r->self->name, r->object->value->variant->name,
              r->device->info.id, r->arrays[0]->buffer->device->info.id);
}

/* Options come first: metamethods and finalizers run there, which may close arrays. From the arrays on no value of Lua is
 * made until the call is queued. */
static void fill_frame(lua_State *L, request *r) {
  const native_variant *v = r->variant;
  const int top = lua_gettop(L), next = r->first + v->narrays;
  const int wrong = r->given > v->narrays ? next : top;
  bool known[MOST_WORDS];
  mw_word *words = r->frame.words;
  if (wrong > next || r->given > v->narrays)
    bind_fail(L, MW_INVALID, "%s takes %d array%s and options, got %s as argument %d", v->name, v->narrays,
              v->narrays == 1 ? "" : "s", value_text(L, wrong), wrong);
  r->options = top == next && !lua_isnil(L, top) ? top : 0;
  r->frame.variant = v;
  r->frame.object = r->object ? r->object->value : NULL;
  memcpy(words, v->fixed, (size_t)v->words * sizeof *words);
  if (v->handle) words[SELF] = v->handle->words[SELF];
  if (r->object) memcpy(words, r->object->value->words, (size_t)v->of->words * sizeof *words);
  memcpy(known, v->known, (size_t)v->words * sizeof *known);
  r->stream = current_stream(L, r->device);
  if (r->options) read_options(L, r);
  r->graph = r->stream->capturing && bind_capture_of(L) ? bind_capture_of(L)->graph : NULL;
  if (r->object) bind_check(L, 1, &native_class);
  for (int i = 0; i < v->narrays; i++) fill_array(L, r, i, known);
  fill_absent(L, r, known);
  check_limits(L, v, words);
  check_aliases(L, r);
}

/* A function of the row, if it has it, called with the options or nil and the arrays; results are on the stack. */
static bool call_row(lua_State *L, const request *r, const char *name) {
  if (lua_getfield(L, lua_upvalueindex(ROW), name) == LUA_TNIL) return false;
  if (r->options)
    lua_pushvalue(L, r->options);
  else
    lua_pushnil(L);
  for (int i = 0; i < r->variant->narrays; i++) lua_pushvalue(L, r->first + i);
  lua_call(L, 1 + r->variant->narrays, LUA_MULTRET);
  return true;
}

/* ---- what follows a call ----------------------------------------------------------------------------------------- */

static bool reads(const native_array *spec, const mw_word *words) {
  return spec->reads == ALWAYS || (spec->reads > 0 && words[spec->reads].i != 0);
}

/* After the words. */
static void add_range(native_frame *frame, const bind_array *a, const char *name, bool reads, bool writes) {
  mw_range *range = (mw_range *)((char *)frame + frame->call.ranges) + frame->call.nranges++;
  *range =
      (mw_range){name, (char *)a->buffer->address + a->offset, array_bytes(a), mw_dtype_size(a->dtype), reads, writes};
  frame->call.bytes += sizeof *range;
}

static void add_ranges(lua_State *L, request *r) {
  const native_value *object = r->object ? r->object->value : NULL;
  const order_place place = bind_here(L);
  r->frame.call.file = place.file;
  r->frame.call.line = place.line;
  for (int i = 0; i < r->variant->narrays; i++) {
    const native_array *spec = &r->variant->arrays[i];
    add_range(&r->frame, r->arrays[i], spec->name, !spec->partly && reads(spec, r->frame.words),
              !spec->partly && spec->writes);
  }
  for (int i = 0; object && i < object->narrays; i++)
    add_range(&r->frame, &object->arrays[i], object->variant->name, true, false);
}

static void note_use(lua_State *L, const request *r, const bind_array *a, bool reads, bool writes) {
  if (!r->device->info.traces || !a->object.open) return;
  if (reads) race_library(L, r->stream, a, r->variant->name, false);
  if (writes) race_library(L, r->stream, a, r->variant->name, true);
}

static void keep(const request *r, mw_buffer *buffer) {
  mw_buffer_use(buffer, r->stream);
  if (r->graph) graph_keep(r->graph, buffer);
}

static void note_uses(lua_State *L, const request *r) {
  const native_variant *v = r->variant;
  native_value *object = r->frame.object;
  for (int i = 0; i < v->narrays; i++) keep(r, r->arrays[i]->buffer);
  for (int i = 0; object && i < object->narrays; i++) keep(r, object->arrays[i].buffer);
  if (object && r->stream != r->device->main) object->used_elsewhere = true;
  if (object && r->graph) graph_count(r->graph, &object->counted);
  r->stream->acted = true;
  for (int i = 0; i < v->narrays; i++)
    note_use(L, r, r->arrays[i], reads(&v->arrays[i], r->frame.words), v->arrays[i].writes);
  for (int i = 0; r->object && r->object->object.open && i < object->narrays; i++)
    note_use(L, r, &object->arrays[i], true, false);
}

/* ---- calling ----------------------------------------------------------------------------------------------------- */

/* How much memory the calls work in; what was found out with it stays in the words. Where calls are queued as they are,
 * also in graphs, they find it out once more each time. */
static size_t work_bytes(lua_State *L, request *r) {
  const native_variant *v = r->variant;
  native_frame trial, *frame = &r->frame;
  r->frame.prepares = r->device->backend->calls_later;
  if (r->frame.prepares) frame = memcpy(&trial, &r->frame, sizeof trial);
  const mw_status status = native_run_now(NATIVE_SIZES, frame, r->device, &bind_error);
  if (status != MW_OK || r->frame.prepares) native_run_now(NATIVE_FAILED, frame, r->device, NULL);
  bind_try(L, status);
  return (size_t)frame->words[SIZE].i * (size_t)v->unit;
}

/* Given back in order with the calls; a graph keeps that of its capture. */
static mw_buffer *push_work(lua_State *L, request *r) {
  mw_buffer *work = NULL;
  const size_t bytes = work_bytes(L, r);
  mw_status status = MW_OK;
  if (bytes) status = r->device->backend->alloc(r->stream, bytes, MW_SPACE_WORK, MW_U8, &work, &bind_error);
  if (status != MW_OK && !r->frame.prepares) native_run_now(NATIVE_FAILED, &r->frame, r->device, NULL);
  bind_try(L, status);
  r->frame.words[WORK].p = work ? work->address : NULL;
  if (work && r->graph) graph_keep(r->graph, work);
  return work;
}

static void queue_call(lua_State *L, request *r) {
  const native_variant *v = r->variant;
  const size_t bytes = offsetof(native_frame, words) + (size_t)v->words * sizeof *r->frame.words;
  r->frame.call = (mw_call){.name = v->name, .run = native_run, .bytes = bytes, .ranges = bytes};
  r->frame.stream = native_serial(r->stream);
  r->frame.prepares = false;
  mw_buffer *work = v->sizes.count ? push_work(L, r) : NULL;
  if (r->device->info.checks) add_ranges(L, r);
  const mw_status status = r->device->backend->call(r->stream, &r->frame.call, &bind_error);
  if (work) mw_buffer_release(work);
  if (status != MW_OK) bind_raise(L);
  note_uses(L, r);
}

static int make_object(lua_State *L, request *r) {
  const native_variant *v = r->variant;
  const int top = lua_gettop(L);
  check_uncaptured(L, r->stream, lua_pushfstring(L, "make a %s", v->name));
  if (call_row(L, r, "words"))
    for (int i = 0; i < v->nextra; i++) r->frame.words[v->extra + i].i = lua_tointeger(L, top + 2 + i);
  r->frame.stream = native_serial(r->device->main);
  native_make(L, &r->frame, r->device, r->arrays);
  lua_getfield(L, lua_upvalueindex(ROW), "layouts");
  lua_rawgetp(L, -1, v);
  lua_setiuservalue(L, -3, 1);
  lua_getfield(L, lua_upvalueindex(ROW), "call");
  lua_setiuservalue(L, -3, 2);
  lua_pop(L, 1);
  return 1;
}

/* Own kernels: a function of Lua, with what the script has given. Its launches are checked and noted as others are. */
static int call_kernels(lua_State *L, const request *r) {
  const int top = lua_gettop(L);
  lua_getfield(L, lua_upvalueindex(ROW), "by");
  lua_getfield(L, -1, r->device->backend->name);
  lua_remove(L, -2);
  lua_insert(L, 1);
  lua_call(L, top, 1);
  return 1;
}

/* What takes an object, given one of our own: a table, whose method of the same name does it. */
static int call_own(lua_State *L, const routine *self) {
  if (!lua_istable(L, 1) || lua_getfield(L, 1, self->name) != LUA_TFUNCTION)
    return bind_argument_type(L, 1, "library object");
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

static int routine_call(lua_State *L) {
  request r;
  r.self = lua_touserdata(L, lua_upvalueindex(ROUTINE));
  r.device = NULL;
  r.object = NULL;
  r.given = 0;
  if (r.self->takes && !bind_test(L, 1, &native_class)) return call_own(L, r.self);
  if (r.self->takes) r.object = bind_check(L, 1, &native_class);
  read_arguments(L, &r);
  r.variant = find_variant(&r);
  if (!r.variant) {
    check_runs(L, r.device, r.self->name);
    r.variant = make_variant(L, &r);
  }
  fill_frame(L, &r);
  if (r.variant->by_kernels) return call_kernels(L, &r);
  if (r.self->makes) return make_object(L, &r);
  queue_call(L, &r);
  lua_settop(L, r.first);
  return 1;
}

/* ---- functions of the core --------------------------------------------------------------------------------------- */

/* core.shared(names): the library and its path, or nil and why not. */
static int core_shared(lua_State *L) {
  char text[1024];
  void *library = mw_shared_open(check_string(L, 1), text, sizeof text);
  if (library)
    lua_pushlightuserdata(L, library);
  else
    luaL_pushfail(L);
  lua_pushstring(L, text);
  return 2;
}

/* core.routine(row): a function. row: name, makes, takes, describe(backend, workers, layout, arrays...), by (functions by
 * backend), words(options, arrays...), call. */
static int core_routine(lua_State *L) {
  static int keys;
  check_type(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  lua_newtable(L);
  lua_setfield(L, 1, "layouts");
  routine *self = lua_newuserdatauv(L, sizeof *self, 0);
  memset(self, 0, sizeof *self);
  self->key = ++keys;
  lua_getfield(L, 1, "name");
  snprintf(self->name, sizeof self->name, "%s", lua_tostring(L, -1));
  lua_getfield(L, 1, "makes");
  lua_getfield(L, 1, "takes");
  self->makes = lua_toboolean(L, -2);
  self->takes = lua_toboolean(L, -1);
  lua_settop(L, 2);
  lua_pushvalue(L, 1);
  lua_pushcclosure(L, routine_call, 2);
  return 1;
}

const luaL_Reg native_functions[] = {{"shared", core_shared}, {"routine", core_routine}, {NULL, NULL}};
