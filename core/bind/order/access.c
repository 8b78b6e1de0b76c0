/* SPDX-License-Identifier: MIT
 *
 * Races between operations: two accesses of the same bytes of an array, one of them a write, that nothing orders. What
 * is accessed is known by core/bind/race.c.
 *
 * The script's own accesses, and copies that it waits for, come before all that follows, so only queued work in a
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
#include "core/bind/order/access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dtype.h"
#include "core/base/memory.h"

enum { MOST = ACCESS_MOST, FORGOTTEN = 16, MOST_RACES = 256 };

static const char *const kind_names[] = {
    [LAUNCH_READ] = "read by kernel",        [LAUNCH_WRITE] = "written by kernel",
    [LAUNCH_ATOMIC] = "updated by kernel",   [COPY_FROM] = "read by a copy",
    [COPY_TO] = "written by a copy",         [FILL] = "filled",
    [LIBRARY_READ] = "read by library call", [LIBRARY_WRITE] = "written by library call",
    [HOST_READ] = "read by the script",      [HOST_WRITE] = "written by the script",
};

typedef struct accesses { /* of a buffer */
  int count;
  access list[MOST];
} accesses;

static bool writes(const access *a) {
  return a->kind != LAUNCH_READ && a->kind != COPY_FROM && a->kind != LIBRARY_READ && a->kind != HOST_READ;
}

bool access_clash(const access *a, const access *b) {
  if (a->kind == LAUNCH_ATOMIC && b->kind == LAUNCH_ATOMIC) return false;
  return a->from < b->to && b->from < a->to && (writes(a) || writes(b));
}

/* The clock is that of what comes later; NULL: the script's. */
static bool is_before(const access *earlier, const order_clock *clock) {
  return (clock && clock->of[earlier->lane] >= earlier->number) || order_host_knows(earlier->lane, earlier->number);
}

/* ---- races, as they were found --------------------------------------------------------------------------------- */

static race *races[MOST_RACES]; /* each stays where it is: pushing one may run a __gc of the script's, which adds one */
static int nraces;

bool access_same_place(const order_place *a, const order_place *b) {
  return a->file == b->file && a->line == b->line;
}

static bool is_party(const party *p, const access *a) {
  return p->access.kind == a->kind && p->access.kernel == a->kernel && access_same_place(&p->access.at, &a->at);
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
  r->index = (long long)first - 1;
  r->elements = (long long)(last - first) + 1;
}

/* Whether its line says that a race is intended. */
static bool fill_party(party *p, const access *a) {
  *p = (party){.access = *a, .bytes = a->to - a->from};
  snprintf(p->verb, sizeof p->verb, a->kernel ? "%s '%s'" : "%s", kind_names[a->kind], a->kernel);
  bool intended = read_line(&a->at, p->text, sizeof p->text);
  if (a->lane == ACCESS_SCRIPT) return intended;
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

void access_race(const mw_buffer *buffer, const access *earlier, const access *later) {
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

const race *access_races(int index) {
  return index < nraces ? races[index] : NULL;
}

/* ---- accesses of a buffer -------------------------------------------------------------------------------------- */

void access_judge(const mw_buffer *buffer, access *now, const order_clock *clock, access_here *here, void *owner) {
  accesses *kept = buffer->accesses;
  int count = 0;
  for (int i = 0; kept && i < kept->count; i++) {
    const access *a = &kept->list[i];
    if (order_host_knows(a->lane, a->number)) continue;
    if (access_clash(a, now) && !is_before(a, clock)) {
      if (!now->at.line) now->at = here(owner);
      access_race(buffer, a, now);
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

void access_keep(mw_buffer *buffer, const access *now, const order_clock *clock) {
  if (!buffer->accesses) buffer->accesses = mw_calloc(1, sizeof(accesses));
  accesses *kept = buffer->accesses;
  int count = 0;
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
