/* SPDX-License-Identifier: MIT
 *
 * Races between operations: two accesses of the same bytes of an array, one of them a write, that nothing orders. What
 * copies and the script touch is known exactly. What launches touch is known in check mode only, afterwards: there the
 * script waits for each launch, which orders nothing as far as races go. What graphs' launches touch is never known.
 *
 * The script's own accesses, and copies that it waits for, come before all that follows, so only what is queued in a
 * stream can race with something later: queued copies, and graphs with copies. A buffer keeps these accesses until
 * nothing can race with them any more: the script knows that they have ended, or a later access comes after them,
 * touches all that they touched, and races with whatever they would race with. Where there would be more than MOST,
 * the oldest are forgotten. Memory is given back in the order of the streams: a free never races.
 *
 *     q:copy(a, { stream = s })     kept: q is written, a is read, both with s's number and clock
 *     q:get(1)                      the script does not know that number: a race
 *
 * A pair of lines of the script is one race, a finding with a count. On a device in check mode it is printed when the run
 * ends, as others are; else it is a warning, printed at once. One that a line says is intended is only counted:
 *
 *     q:get(1) -- moonwarp: race-ok the kernel waits for the script */
#include "core/bind/bind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/clock.h"

enum { MOST = 64, FORGOTTEN = 16, MOST_RANGES = 16, MOST_RACES = 256, SCRIPT = -1 };

typedef enum access_kind {
  LAUNCH_READ,
  LAUNCH_WRITE,
  LAUNCH_ATOMIC,
  COPY_FROM,
  COPY_TO,
  FILL,
  LIBRARY_READ,
  LIBRARY_WRITE,
  HOST_READ,
  HOST_WRITE
} access_kind;

static const char *const kind_names[] = {
    [LAUNCH_READ] = "read by kernel",        [LAUNCH_WRITE] = "written by kernel",
    [LAUNCH_ATOMIC] = "updated by kernel",   [COPY_FROM] = "read by a copy",
    [COPY_TO] = "written by a copy",         [FILL] = "filled",
    [LIBRARY_READ] = "read by library call", [LIBRARY_WRITE] = "written by library call",
    [HOST_READ] = "read by the script",      [HOST_WRITE] = "written by the script",
};

typedef struct access {
  size_t from, to; /* bytes of the buffer, to excluded */
  access_kind kind;
  mw_dtype dtype;
  const char *kernel; /* NULL: none */
  int lane;           /* SCRIPT: none */
  uint64_t number;
  order_place at, launched; /* launched: the graph that it is in */
} access;

typedef struct accesses { /* of a buffer */
  int count;
  access list[MOST];
} accesses;

struct bind_touch { /* of a graph */
  mw_buffer *buffer;
  access access;
};

static bool writes(const access *a) {
  return a->kind != LAUNCH_READ && a->kind != COPY_FROM && a->kind != LIBRARY_READ && a->kind != HOST_READ;
}

static bool clash(const access *a, const access *b) {
  if (a->kind == LAUNCH_ATOMIC && b->kind == LAUNCH_ATOMIC) return false;
  return a->from < b->to && b->from < a->to && (writes(a) || writes(b));
}

/* The clock is that of what comes later; NULL: the script's. */
static bool is_before(const access *earlier, const order_clock *clock) {
  return (clock && clock->of[earlier->lane] >= earlier->number) || order_host_knows(earlier->lane, earlier->number);
}

/* ---- races, as they were found --------------------------------------------------------------------------------- */

typedef struct party {
  access access;
  size_t bytes;
  char verb[288];              /* "written by kernel 'copy'" */
  char stream[320], text[256]; /* "": none; the line of the script, "": not known */
} party;

typedef struct race {
  const char *remedy;
  party parties[2]; /* the earlier one first */
  char object[128], device[sizeof((mw_device_info *)0)->id];
  lua_Integer index, elements; /* of the first element that both touch, from 0 */
  size_t count;
  bool intended, warning;
} race;

static race *races[MOST_RACES]; /* each stays where it is: pushing one may run a __gc of the script's, which adds one */
static int nraces;

static bool same_place(const order_place *a, const order_place *b) {
  return a->file == b->file && a->line == b->line;
}

static bool is_party(const party *p, const access *a) {
  return p->access.kind == a->kind && p->access.kernel == a->kernel && same_place(&p->access.at, &a->at);
}

static race *find_race(const access *a, const access *b) {
  for (int i = 0; i < nraces; i++)
    if (is_party(&races[i]->parties[0], a) && is_party(&races[i]->parties[1], b)) return races[i];
  return NULL;
}

/* "q:copy(a, { stream = s })"; "": it cannot be read. Whether it says that a race is intended. */
static bool read_line(const order_place *at, char *out, size_t size) {
  FILE *file = at->file ? fopen(at->file, "r") : NULL;
  char *line = NULL;
  size_t room = 0;
  ssize_t length = 0;
  *out = 0;
  if (!file) return false;
  for (int i = 0; i < at->line && length >= 0; i++) length = getline(&line, &room, file);
  if (length > 0) {
    line[strcspn(line, "\r\n")] = 0;
    snprintf(out, size, "%s", line + strspn(line, " \t"));
  }
  bool intended = length > 0 && strstr(line, "moonwarp: race-ok");
  free(line); /* getline's */
  fclose(file);
  return intended;
}

/* "elements 5 to 8 of a pinned array<f32> of cpu" */
static void name_object(race *r, const mw_buffer *buffer, const access *a, const access *b) {
  static const char *const spaces[] = {"an ",       "a pinned ", "a pageable ", "a managed ",
                                       "a global ", "",          "the texels' "};
  const size_t width = mw_dtype_size(b->dtype);
  const size_t from = a->from > b->from ? a->from : b->from, to = a->to < b->to ? a->to : b->to;
  const size_t first = from / width + 1, last = (to - 1) / width + 1, size = sizeof r->object;
  int n = first == last ? snprintf(r->object, size, "element %zu", first)
                        : snprintf(r->object, size, "elements %zu to %zu", first, last);
  snprintf(r->object + n, size - (size_t)n, " of %sarray<%s> of %s", spaces[buffer->space], mw_dtype_name(b->dtype),
           buffer->device->info.id);
  snprintf(r->device, sizeof r->device, "%s", buffer->device->info.id);
  r->index = (lua_Integer)first - 1;
  r->elements = (lua_Integer)(last - first) + 1;
}

/* Whether its line says that a race is intended. */
static bool fill_party(party *p, const access *a) {
  *p = (party){.access = *a, .bytes = a->to - a->from};
  snprintf(p->verb, sizeof p->verb, a->kernel ? "%s '%s'" : "%s", kind_names[a->kind], a->kernel);
  bool intended = read_line(&a->at, p->text, sizeof p->text);
  if (a->lane == SCRIPT) return intended;
  size_t n = strlen(order_stream_text(a->lane, p->stream, sizeof p->stream));
  if (a->launched.file)
    snprintf(p->stream + n, sizeof p->stream - n, ", by the graph launched at %s:%d", a->launched.file,
             a->launched.line);
  return intended;
}

static void print_party(const party *p) {
  fprintf(stderr, "  %s", p->verb);
  if (p->access.at.file) fprintf(stderr, " at %s:%d", p->access.at.file, p->access.at.line);
  if (*p->stream) fprintf(stderr, ", in %s", p->stream);
  fprintf(stderr, *p->text ? "\n    %s\n" : "\n", p->text);
}

static void print_race(const race *r) {
  fprintf(stderr, "moonwarp: warning: race between operations: nothing orders two accesses of %s\n", r->object);
  print_party(&r->parties[0]);
  print_party(&r->parties[1]);
  fprintf(stderr, "  %s\n", r->remedy);
}

static void report(const mw_buffer *buffer, const access *earlier, const access *later) {
  race *r = find_race(earlier, later);
  if (r) r->count++;
  if (r || nraces == MOST_RACES) return;
  r = races[nraces++] = mw_calloc(1, sizeof *r);
  r->count = 1;
  r->warning = !buffer->device->info.checks;
  r->remedy = later->kind >= HOST_READ
                  ? "synchronize the stream, or an event recorded in it, before the script touches the array"
                  : "let the second stream wait for the first, second:wait(first:record()), or synchronize the first";
  name_object(r, buffer, earlier, later);
  r->intended = fill_party(&r->parties[0], earlier);
  r->intended |= fill_party(&r->parties[1], later);
  if (r->warning && !r->intended) print_race(r);
}

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
  for (int i = 0; i < nraces; i++) {
    if (id && strcmp(races[i]->device, id) != 0) continue;
    push_race(L, races[i]);
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

/* ---- accesses of a buffer -------------------------------------------------------------------------------------- */

/* Where it is in the script is filled in when it is needed. */
static access access_of(const bind_array *a, size_t first, size_t count, access_kind kind) {
  const size_t width = mw_dtype_size(a->dtype), from = a->offset + first * width;
  return (access){.from = from, .to = from + count * width, .kind = kind, .dtype = a->dtype, .lane = SCRIPT};
}

static void find_place(lua_State *L, access *a) {
  if (!a->at.line) a->at = order_here(L);
}

/* Reports what it races with, and forgets what the script knows to have ended. */
static void judge(lua_State *L, const mw_buffer *buffer, access *now, const order_clock *clock) {
  accesses *kept = buffer->accesses;
  int count = 0;
  for (int i = 0; kept && i < kept->count; i++) {
    const access *a = &kept->list[i];
    if (order_host_knows(a->lane, a->number)) continue;
    if (clash(a, now) && !is_before(a, clock)) {
      find_place(L, now);
      report(buffer, a, now);
    }
    if (count < i) kept->list[count] = *a;
    count++;
  }
  if (kept) kept->count = count;
}

/* What would race with it would race with `now`. */
static bool is_covered(const access *a, const access *now, const order_clock *clock) {
  return now->from <= a->from && a->to <= now->to && (writes(now) || !writes(a)) && is_before(a, clock);
}

static void keep(lua_State *L, mw_buffer *buffer, access *now, const order_clock *clock) {
  if (!buffer->accesses) buffer->accesses = mw_calloc(1, sizeof(accesses));
  accesses *kept = buffer->accesses;
  int count = 0;
  find_place(L, now);
  for (int i = 0; i < kept->count; i++) {
    if (is_covered(&kept->list[i], now, clock)) continue;
    if (count < i) kept->list[count] = kept->list[i];
    count++;
  }
  if (count == MOST) {
    count -= FORGOTTEN;
    memmove(kept->list, kept->list + FORGOTTEN, (size_t)count * sizeof *kept->list);
  }
  kept->list[count++] = *now;
  kept->count = count;
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
  for (int i = graph->ntouches > MOST ? graph->ntouches - MOST : 0; i < graph->ntouches; i++) {
    const bind_touch *t = &graph->touches[i];
    if (t->buffer == buffer && clash(&t->access, now) && clock->of[t->access.lane] < t->access.number)
      report(buffer, &t->access, now);
  }
  graph->touches = mw_grow(graph->touches, (size_t)graph->ntouches, sizeof *graph->touches);
  graph->touches[graph->ntouches++] = (bind_touch){buffer, *now};
}

static bool continues(const bind_touch *a, const bind_touch *b) {
  return a->buffer == b->buffer && a->access.kind == b->access.kind && a->access.to == b->access.from &&
         same_place(&a->access.at, &b->access.at);
}

/* Pieces side by side of one line become one. */
void race_captured(bind_graph *graph) {
  int count = 0;
  for (int i = 0; i < graph->ntouches; i++) {
    const bind_touch *t = &graph->touches[i];
    int k = count - 1, last = count > MOST ? count - MOST : 0;
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
    find_place(L, now);
    capture_access(o->graph, buffer, now, o->clock);
  } else if (!o->stream->capturing) {
    judge(L, buffer, now, o->clock);
    if (o->number) keep(L, buffer, now, o->clock);
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
  const order_place launched = order_here(L);
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

/* The memory that an argument gives the kernel; NULL: none of the device. */
static mw_buffer *argument_memory(lua_State *L, int index, const mw_device *device) {
  mw_buffer *buffer = bind_buffer_of(L, index);
  if (buffer && buffer->texels) buffer = buffer->texels;
  return buffer && buffer->device == device ? buffer : NULL;
}

static mw_dtype argument_dtype(lua_State *L, int index) {
  const bind_array *a = bind_test(L, index, &array_class);
  return a ? a->dtype : ((const bind_image *)lua_touserdata(L, index))->shape.dtype;
}

void race_launch(lua_State *L, const mw_kernel *kernel, mw_stream *stream, int first) {
  mw_device *device = stream->device;
  if (stream->capturing || !has_ended(L, stream)) return;
  const operation o = begin(L, stream, false);
  const bool streams = order_has_streams(device);
  for (int i = 0; i < kernel->nparams; i++) {
    mw_buffer *buffer = argument_memory(L, first + i, device);
    bool same = false;
    for (int k = 0; k < i && !same; k++) same = argument_memory(L, first + k, device) == buffer;
    if (!buffer || same || (!streams && buffer->space == MW_SPACE_DEVICE)) continue;
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
