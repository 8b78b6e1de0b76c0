/* SPDX-License-Identifier: MIT
 *
 * Events: marks in a stream that can be waited for and timed. */
#include "core/bind/bind.h"

static void event_release(void *object) {
  bind_event *self = object;
  self->event->device->backend->event_destroy(self->event);
  mw_free(self->clock);
}

static void event_push(lua_State *L, mw_device *device, bool timing) {
  check_runs(L, device, "events");
  bind_event *self = bind_new(L, &event_class, sizeof *self, 0);
  bind_try(L, device->backend->event_create(device, timing, &self->event, &bind_error));
  bind_opened(self, device);
}

/* dev:event{ timing = true }: without timing it is cheaper and cannot be measured with since(). */
static int device_event(lua_State *L) {
  static const char *const names[] = {"timing", NULL};
  check_options(L, 2, names);
  event_push(L, self_device(L), option_boolean(L, 2, "timing", true));
  return 1;
}

const bind_method event_makers[] = {{"event", device_event, 1}, {NULL, NULL, 0}};

static void record(lua_State *L, bind_event *self, mw_stream *stream) {
  const bind_capture *capture = bind_capture_of(L);
  bind_try(L, stream->device->backend->event_record(self->event, stream, &bind_error));
  self->recorded = true;
  order_record(stream, &self->clock);
  self->captured = stream->capturing && capture ? capture->number : 0;
}

/* e:record([stream]): marks the end of what the stream (default: the current one) holds now. */
static int event_record(lua_State *L) {
  record(L, lua_touserdata(L, 1), check_stream(L, 2, self_device(L)));
  lua_settop(L, 1);
  return 1;
}

/* s:record([event]): the same from the stream's side; makes the event where none is given. */
static int stream_record(lua_State *L) {
  mw_stream *stream = self_stream(L);
  if (lua_isnoneornil(L, 2)) {
    lua_settop(L, 1);
    event_push(L, stream->device, true);
  }
  record(L, bind_check_on(L, 2, &event_class, stream->device), stream);
  lua_settop(L, 2);
  return 1;
}

static bind_event *check_recorded(lua_State *L, int index) {
  bind_event *self = bind_check(L, index, &event_class);
  if (!self->recorded) bind_fail(L, MW_INVALID, "the event was never recorded; record it in a stream first");
  if (self->captured)
    bind_fail(L, MW_INVALID,
              "the event was recorded while a stream was captured: it marks a place in a graph, not a moment");
  return self;
}

/* A stream that waits for an event of the capture joins it. */
static void check_joins(lua_State *L, const mw_stream *stream, const bind_event *event) {
  const bind_capture *capture = bind_capture_of(L);
  const char *problem = NULL;
  if (!event->recorded)
    problem = "the event was never recorded; record it in a stream first";
  else if (event->event->device->backend != stream->device->backend)
    problem = "the event is of another kind of device; synchronize it instead";
  else if (!event->captured)
    problem = stream->capturing ? "a captured stream cannot wait for an event recorded outside the capture" : NULL;
  else if (!capture || event->captured != capture->number)
    problem = "the event was recorded in a capture that has ended: record it again";
  else if (stream == stream->device->main)
    problem = "the default stream cannot join a capture";
  if (problem) bind_fail(L, MW_INVALID, "wait: %s", problem);
}

/* s:wait(event): later work in s starts after what the event recorded; the script does not wait. */
static int stream_wait(lua_State *L) {
  mw_stream *stream = self_stream(L);
  bind_event *event = bind_check(L, 2, &event_class);
  check_joins(L, stream, event);
  bind_try(L, stream->device->backend->stream_wait(stream, event->event, &bind_error));
  order_wait(stream, event->clock);
  lua_settop(L, 1);
  return 1;
}

/* e:synchronize(): waits until the stream has reached the event, then runs the callbacks that are due. */
static int event_synchronize(lua_State *L) {
  const bind_event *self = check_recorded(L, 1);
  bind_try(L, self->event->device->backend->event_synchronize(self->event, &bind_error));
  order_reached(self->clock);
  bind_poll(L);
  return 0;
}

/* e:query(): true when the stream has reached the event. */
static int event_query(lua_State *L) {
  const bind_event *self = check_recorded(L, 1);
  mw_status status = self->event->device->backend->event_query(self->event, &bind_error);
  if (status == MW_OK) order_reached(self->clock);
  return push_reached(L, status);
}

/* e:since(earlier): seconds on the device between two events that have both been reached. */
static int event_since(lua_State *L) {
  const bind_event *self = check_recorded(L, 1), *before = check_recorded(L, 2);
  mw_event *event = self->event, *earlier = before->event;
  double seconds = 0;
  if (!event->timing || !earlier->timing)
    return bind_fail(L, MW_INVALID, "since: an event was made with timing = false");
  if (event->device != earlier->device) return bind_fail(L, MW_INVALID, "since: the events are of two devices");
  mw_status status = event->device->backend->event_elapsed(earlier, event, &seconds, &bind_error);
  if (status == MW_NOT_READY)
    return bind_fail(L, MW_INVALID, "since: an event is not reached yet; synchronize it first");
  bind_try(L, status);
  order_reached(self->clock);
  order_reached(before->clock);
  lua_pushnumber(L, seconds);
  return 1;
}

static void describe(lua_State *L, const void *object) {
  const bind_event *self = object;
  lua_pushfstring(L, "event %s", self->event->device->info.id);
}

static const bind_method methods[] = {
    {"device", object_device, 0},          {"query", event_query, 0},
    {"record", event_record, 1},           {"since", event_since, 1},
    {"synchronize", event_synchronize, 0}, {NULL, NULL, 0},
};

bind_class event_class = {"event", event_release, methods, describe, NULL, 0};

const bind_method event_stream_methods[] = {{"record", stream_record, 1}, {"wait", stream_wait, 1}, {NULL, NULL, 0}};
