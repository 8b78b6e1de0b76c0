/* SPDX-License-Identifier: MIT
 *
 * The order of operations: a vector clock for each stream, each event and the script.
 *
 * A lane is a stream's place in the clocks. Operations that access.c keeps are numbered in their stream's lane; an
 * operation is ordered after number n of lane s if its stream's clock, or the script's, holds n or more for s. (The
 * script's too: what it queues, it queues after what it knows.)
 *
 *     s:copy ... queued     its lane's number grows by one
 *     e = s:record()        e keeps a copy of s's clock
 *     t:wait(e)             t's clock joins e's: the greater number of each lane
 *     e:synchronize(), a query that says done, a callback that runs      the script's clock joins e's
 *     s:synchronize(), dev:synchronize(), a copy that the script waits for: the same with the clocks of these streams
 *
 * Launches have no number, as the bytes that they touch are not known; they matter by CUDA's rule of the legacy default
 * stream: each operation there comes after all earlier ones of blocking streams and before all their later ones. A
 * launch there only sets the stream's mark `acted`. No clock changes by launches, so joining the clocks at the next
 * operation that is no launch gives what joining at the launch would.
 *
 * A captured stream has a second clock: the order inside the graph. The launch of a graph is one operation of its
 * stream.
 *
 * Closing a stream orders nothing, its lane stays until the script knows that its work has ended. Where lanes run out,
 * streams share one, as if they were one stream: races are missed then, and none is invented. The same holds for a
 * device that is opened again. */
#include "core/bind/order/clock.h"

#include <stdio.h>
#include <string.h>

#include "core/base/memory.h"

typedef struct lane {
  struct lane *main; /* of its device's default stream */
  char device[32];   /* its id */
  bool blocking;     /* ordered with the default stream */
  int users;         /* open streams */
  int number;        /* of the streams made in this process; 0: a default stream */
  order_place made;
  order_clock clock, captured; /* the own number is that of the last operation */
} lane;

static lane lanes[ORDER_LANES];
static int used, streams_made;
static order_clock host; /* what the script knows */

static int index_of(const lane *l) {
  return (int)(l - lanes);
}

static void join(order_clock *to, const order_clock *from) {
  for (int i = 0; i < used; i++)
    if (to->of[i] < from->of[i]) to->of[i] = from->of[i];
}

bool order_host_knows(int index, uint64_t number) {
  return host.of[index] >= number;
}

/* ---- places ---------------------------------------------------------------------------------------------------- */

const char *order_name(const char *name) {
  enum { MOST = 256 };
  static char *names[MOST];
  static int count;
  for (int i = count - 1; i >= 0; i--)
    if (strcmp(names[i], name) == 0) return names[i];
  if (count == MOST) return NULL;
  names[count] = mw_strdup(name);
  return names[count++];
}

/* ---- lanes ----------------------------------------------------------------------------------------------------- */

static bool is_known(const lane *l) {
  return order_host_knows(index_of(l), l->clock.of[index_of(l)]);
}

/* A default stream's, where a device of that id was open before. */
static lane *find_default(const char *id, bool per_thread) {
  for (lane *l = lanes; l < lanes + used; l++)
    if (!l->number && (l->main != l) == per_thread && strcmp(l->device, id) == 0) return l;
  return NULL;
}

/* A closed stream's lane, best one whose work has ended; else one of the same streams' order. */
static lane *find_free(const lane *main, bool blocking, bool known) {
  for (lane *l = lanes; l < lanes + used; l++) {
    if (l->users || !l->number) continue;
    if (known ? is_known(l) : main && l->main == main && l->blocking == blocking) return l;
  }
  return NULL;
}

/* A lane for a stream whose device's default stream has the lane main; NULL: it is that itself. */
static lane *take(mw_stream *stream, lane *main, bool blocking) {
  lane *l = find_free(main, blocking, true);
  if (!l && used < ORDER_LANES) l = &lanes[used++];
  if (!l) l = find_free(main, blocking, false);
  if (!l) return main ? main : lanes;
  l->main = main ? main : l;
  l->blocking = blocking;
  l->number = 0;
  if (main && blocking) join(&l->clock, &main->clock);
  snprintf(l->device, sizeof l->device, "%s", stream->device->info.id);
  return l;
}

static lane *enter(mw_stream *stream, lane *l) {
  l->users++;
  stream->order = (unsigned char)(index_of(l) + 1);
  return l;
}

static lane *lane_of(mw_stream *stream) {
  if (stream->order) return &lanes[stream->order - 1];
  mw_stream *main = stream->device->main;
  lane *l = find_default(stream->device->info.id, stream != main);
  return enter(stream, l ? l : take(stream, stream == main ? NULL : lane_of(main), true));
}

void order_open(mw_stream *stream, bool blocking, order_place made) {
  lane *l = enter(stream, take(stream, lane_of(stream->device->main), blocking));
  if (l->main == l) return; /* shared */
  l->number = ++streams_made;
  l->made = made;
}

void order_close(mw_stream *stream) {
  lane_of(stream)->users--;
}

bool order_has_streams(mw_device *device) {
  const lane *main = lane_of(device->main);
  for (const lane *l = lanes; l < lanes + used; l++)
    if (l->main == main && l != main) return true;
  return false;
}

int order_lane(mw_stream *stream) {
  return index_of(lane_of(stream));
}

static bool is_only_default(const lane *l) {
  for (const lane *other = lanes; other < lanes + used; other++)
    if (other->main == other && other != l) return false;
  return true;
}

const char *order_stream_text(int index, char *out, size_t size) {
  const lane *l = &lanes[index];
  if (l->main == l)
    snprintf(out, size, is_only_default(l) ? "the default stream" : "the default stream of %s", l->device);
  else if (!l->number)
    snprintf(out, size, "the per-thread default stream");
  else if (!l->made.file)
    snprintf(out, size, "stream %d", l->number);
  else
    snprintf(out, size, "stream %d, made at %s:%d", l->number, l->made.file, l->made.line);
  return out;
}

/* ---- clocks of streams ----------------------------------------------------------------------------------------- */

/* An operation of the default stream: after what blocking streams hold, before what they get. */
static void act(lane *main) {
  for (const lane *l = lanes; l < lanes + used; l++)
    if (l->main == main && l->blocking) join(&main->clock, &l->clock);
  for (lane *l = lanes; l < lanes + used; l++)
    if (l->main == main && l->blocking) join(&l->clock, &main->clock);
}

/* The stream's clock, with the default stream's launches before; changes of the default stream's are made known by
 * act. */
static order_clock *clock_of(mw_stream *stream) {
  lane *l = lane_of(stream);
  mw_stream *main = stream->device->main;
  if (stream->capturing) return &l->captured;
  if (main->acted || l == l->main) act(l->main);
  main->acted = false;
  return &l->clock;
}

static void made_known(mw_stream *stream) {
  lane *l = lane_of(stream);
  if (l == l->main && !stream->capturing) act(l);
}

const order_clock *order_next(mw_stream *stream, uint64_t *number) {
  order_clock *clock = clock_of(stream);
  if (!number) return clock;
  *number = ++clock->of[order_lane(stream)];
  made_known(stream);
  return clock;
}

void order_record(mw_stream *stream, order_clock **clock) {
  if (!*clock) *clock = mw_malloc(sizeof **clock);
  **clock = *clock_of(stream);
}

void order_wait(mw_stream *stream, const order_clock *clock) {
  join(clock_of(stream), clock);
  made_known(stream);
}

/* ---- the script waits ------------------------------------------------------------------------------------------ */

void order_reached(const order_clock *clock) {
  join(&host, clock);
}

void order_reached_stream(mw_stream *stream) {
  join(&host, clock_of(stream));
}

void order_reached_device(mw_device *device) {
  const lane *main = lane_of(device->main);
  for (const lane *l = lanes; l < lanes + used; l++)
    if (l->main == main) join(&host, &l->clock);
}
