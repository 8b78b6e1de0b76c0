/* SPDX-License-Identifier: MIT
 *
 * What the script and its operations access, for the search for races (order/access.c), and the races as findings. What
 * copies and the script touch is known exactly. What launches touch is known in check mode only, afterwards: there the
 * script waits for each launch, which orders nothing as far as races go. What graphs' launches touch is never known. */
#include "core/bind/bind.h"

#include <string.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/bind/order/access.h"

enum { MOST_RANGES = 16 };

struct bind_touch { /* of a graph */
  mw_buffer *buffer;
  access access;
};

/* ---- findings -------------------------------------------------------------------------------------------------- */

static void push_memory(lua_State *L, const race *r) {
  lua_createtable(L, 0, 3);
  set_string(L, "kind", "array");
  lua_pushinteger(L, r->index);
  lua_setfield(L, -2, "index");
  lua_pushinteger(L, r->elements);
  lua_setfield(L, -2, "elements");
}

static void push_race(lua_State *L, const race *r) {
  static const bind_field fields[] = {FIELD(race, object), FIELD(race, remedy),   FIELD(race, device),
                                      FIELD(race, count),  FIELD(race, intended), FIELD(race, warning),
                                      LAST_FIELD};
  static const bind_field party_fields[] = {FIELD(party, verb),
                                            FIELD_AS("file", party, access.at.file, 0),
                                            FIELD_AS("line", party, access.at.line, 1),
                                            FIELD(party, text),
                                            FIELD(party, stream),
                                            FIELD(party, bytes),
                                            LAST_FIELD};
  push_fields(L, fields, r);
  set_string(L, "kind", "race between operations");
  push_memory(L, r);
  lua_setfield(L, -2, "memory");
  lua_createtable(L, 2, 0);
  for (int k = 0; k < 2; k++) {
    push_fields(L, party_fields, &r->parties[k]);
    lua_rawseti(L, -2, k + 1);
  }
  lua_setfield(L, -2, "parties");
}

void race_add_findings(lua_State *L, const char *id) {
  const race *r;
  for (int i = 0; (r = access_races(i)); i++) {
    if (id && strcmp(r->device, id) != 0) continue;
    push_race(L, r);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  }
}

/* core.races(): the races between operations so far, in order: findings, of which each has two parties, the earlier one
 * first; the script itself has no stream. */
static int race_list(lua_State *L) {
  lua_newtable(L);
  race_add_findings(L, NULL);
  return 1;
}

/* ---- accesses -------------------------------------------------------------------------------------------------- */

/* Where it is in the script is filled in when it is needed. */
static access access_of(const bind_array *a, size_t first, size_t count, access_kind kind) {
  const size_t width = mw_dtype_size(a->dtype), from = a->offset + first * width;
  return (access){.from = from, .to = from + count * width, .kind = kind, .dtype = a->dtype, .lane = ACCESS_SCRIPT};
}

static order_place here(void *L) {
  return bind_here(L);
}

static void judge(lua_State *L, const mw_buffer *buffer, access *now, const order_clock *clock) {
  access_judge(buffer, now, clock, here, L);
}

/* ---- what the script does -------------------------------------------------------------------------------------- */

static access_kind host_kind(bool into) {
  return into ? HOST_WRITE : HOST_READ;
}

void race_host(lua_State *L, const bind_array *a, size_t first, size_t count, bool into) {
  if (!a->buffer->accesses) return;
  access now = access_of(a, first, count, host_kind(into));
  judge(L, a->buffer, &now, NULL);
}

void race_through(lua_State *L, mw_stream *stream, const bind_array *a, size_t first, size_t count, bool into) {
  if (a->buffer->accesses) {
    access now = access_of(a, first, count, host_kind(into));
    now.lane = order_lane(stream);
    judge(L, a->buffer, &now, order_next(stream, NULL));
  }
  order_reached_stream(stream);
}

/* ---- in a graph ------------------------------------------------------------------------------------------------ */

static void capture_access(bind_graph *graph, mw_buffer *buffer, const access *now, const order_clock *clock) {
  graph_keep(graph, buffer);
  for (int i = graph->ntouches > ACCESS_MOST ? graph->ntouches - ACCESS_MOST : 0; i < graph->ntouches; i++) {
    const bind_touch *t = &graph->touches[i];
    if (t->buffer == buffer && access_clash(&t->access, now) && clock->of[t->access.lane] < t->access.number)
      access_race(buffer, &t->access, now);
  }
  graph->touches = mw_grow(graph->touches, (size_t)graph->ntouches, sizeof *graph->touches);
  graph->touches[graph->ntouches++] = (bind_touch){buffer, *now};
}

static bool continues(const bind_touch *a, const bind_touch *b) {
  return a->buffer == b->buffer && a->access.kind == b->access.kind && a->access.to == b->access.from &&
         access_same_place(&a->access.at, &b->access.at);
}

/* Pieces side by side of one line become one. */
void race_captured(bind_graph *graph) {
  int count = 0;
  for (int i = 0; i < graph->ntouches; i++) {
    const bind_touch *t = &graph->touches[i];
    int k = count - 1, last = count > ACCESS_MOST ? count - ACCESS_MOST : 0;
    while (k >= last && !continues(&graph->touches[k], t)) k--;
    if (k >= last)
      graph->touches[k].access.to = t->access.to;
    else
      graph->touches[count++] = *t;
  }
  graph->ntouches = count;
}

/* ---- what is queued -------------------------------------------------------------------------------------------- */

typedef struct operation {
  mw_stream *stream;
  bind_graph *graph;        /* that the stream is captured into; NULL: none */
  const order_clock *clock; /* of what it comes after, with itself */
  uint64_t number;          /* 0: the script waits for it */
} operation;

static operation begin(lua_State *L, mw_stream *stream, bool waited) {
  const bind_capture *capture = bind_capture_of(L);
  operation o = {stream, stream->capturing && capture ? capture->graph : NULL, NULL, 0};
  o.clock = order_next(stream, waited && !stream->capturing ? NULL : &o.number);
  return o;
}

static void perform(lua_State *L, const operation *o, mw_buffer *buffer, access *now) {
  now->lane = order_lane(o->stream);
  now->number = o->number;
  if (o->graph) {
    if (!now->at.line) now->at = bind_here(L);
    capture_access(o->graph, buffer, now, o->clock);
  } else if (!o->stream->capturing) {
    judge(L, buffer, now, o->clock);
    if (!o->number) return;
    if (!now->at.line) now->at = bind_here(L);
    access_keep(buffer, now, o->clock);
  }
}

void race_copy(lua_State *L, mw_stream *stream, const bind_array *to, size_t at, const bind_array *from, size_t first,
               size_t count, bool waited) {
  const operation o = begin(L, stream, waited);
  access read = access_of(from, first, count, COPY_FROM), written = access_of(to, at, count, COPY_TO);
  perform(L, &o, from->buffer, &read);
  written.at = read.at;
  perform(L, &o, to->buffer, &written);
  if (!o.number) order_reached_stream(stream);
}

/* ---- launches in check mode ------------------------------------------------------------------------------------ */

/* Whether what was queued there has ended. A kernel that waits for the script is not waited for long, and from then on
 * launches are left out: one at a time has to run, or it is not known what each touched. */
static bool has_ended(lua_State *L, mw_stream *stream) {
  static const struct timespec pause = {0, 20000};
  static bool given_up;
  const double limit = 2.0, start = mw_clock();
  mw_status status = MW_NOT_READY;
  while (!given_up && (status = stream->device->backend->stream_query(stream, &bind_error)) == MW_NOT_READY) {
    given_up = mw_clock() - start > limit || atomic_load(&mw_interrupted);
    nanosleep(&pause, NULL);
  }
  if (status != MW_NOT_READY) bind_try(L, status);
  return status == MW_OK;
}

void race_graph(lua_State *L, const bind_graph *graph, mw_stream *stream) {
  const operation o = begin(L, stream, false);
  const order_place launched = bind_here(L);
  if (stream->device->info.traces && !stream->capturing) has_ended(L, stream);
  for (int i = 0; i < graph->ntouches; i++) {
    access now = graph->touches[i].access;
    now.launched = launched;
    perform(L, &o, graph->touches[i].buffer, &now);
  }
}

static void perform_launch(lua_State *L, const operation *o, mw_buffer *buffer, mw_dtype dtype, const char *kernel) {
  mw_touch touches[3 * MOST_RANGES];
  const int count = buffer->device->backend->touched(buffer, MOST_RANGES, touches);
  for (int i = 0; i < count; i++) {
    const mw_touch *t = &touches[i];
    access now = {.from = t->from, .to = t->from + t->bytes, .dtype = dtype, .kernel = kernel};
    now.kind = t->kind == MW_TOUCH_READ ? LAUNCH_READ : t->kind == MW_TOUCH_WRITE ? LAUNCH_WRITE : LAUNCH_ATOMIC;
    perform(L, o, buffer, &now);
  }
}

/* The memory that an argument gives the kernel; NULL: none whose use is known. */
static mw_buffer *argument_memory(lua_State *L, int index) {
  mw_buffer *buffer = bind_buffer_of(L, index);
  if (buffer && buffer->texels) buffer = buffer->texels;
  return buffer && buffer->device->info.traces ? buffer : NULL;
}

/* Whether something may run at the same time as its default stream, there or on a device that reaches its memory. */
static bool has_others(mw_device *device) {
  mw_peer peer;
  return order_has_streams(device) || device->backend->peer(device, 0, &peer);
}

static mw_dtype argument_dtype(lua_State *L, int index) {
  const bind_array *a = bind_test(L, index, &array_class);
  return a ? a->dtype : ((const bind_image *)lua_touserdata(L, index))->shape.dtype;
}

void race_launch(lua_State *L, const mw_kernel *kernel, mw_stream *stream, int first) {
  if (stream->capturing || !has_ended(L, stream)) return;
  const operation o = begin(L, stream, false);
  const bool others = has_others(stream->device);
  for (int i = 0; i < kernel->nparams; i++) {
    mw_buffer *buffer = argument_memory(L, first + i);
    bool same = false;
    for (int k = 0; k < i && !same; k++) same = argument_memory(L, first + k) == buffer;
    if (!buffer || same || (!others && buffer->space == MW_SPACE_DEVICE)) continue;
    perform_launch(L, &o, buffer, argument_dtype(L, first + i), order_name(kernel->name));
  }
}

void race_library(lua_State *L, mw_stream *stream, const bind_array *a, const char *name, bool into) {
  if (!stream->capturing && !has_ended(L, stream)) return;
  const operation o = begin(L, stream, false);
  access now = access_of(a, 0, a->count, into ? LIBRARY_WRITE : LIBRARY_READ);
  now.kernel = order_name(name);
  perform(L, &o, a->buffer, &now);
}

/* core.filled(array): a kernel that writes all of it was launched in the current stream. */
static int race_filled(lua_State *L) {
  bind_array *a = check_array(L, 1);
  if (a->buffer->device->info.traces) return 0; /* it is known as a launch */
  const operation o = begin(L, current_stream(L, a->buffer->device), false);
  access now = access_of(a, 0, a->count, FILL);
  perform(L, &o, a->buffer, &now);
  return 0;
}

const luaL_Reg race_functions[] = {{"filled", race_filled}, {"races", race_list}, {NULL, NULL}};
