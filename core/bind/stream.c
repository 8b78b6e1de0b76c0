/* SPDX-License-Identifier: MIT
 *
 * Streams: queues of work of one device. The default streams are the device's own and cannot be closed. */
#include "core/bind/bind.h"

#include <string.h>

static void stream_release(void *object) {
  bind_stream *self = object;
  if (!self->owned) return;
  order_close(self->stream);
  self->stream->device->backend->stream_destroy(self->stream);
}

mw_stream *self_stream(lua_State *L) {
  check_still_open(L);
  bind_capture_of(L);
  return ((bind_stream *)lua_touserdata(L, 1))->stream;
}

mw_stream *current_stream(lua_State *L, mw_device *device) {
  const bind_capture *capture = bind_capture_of(L);
  return capture && capture->stream->device == device ? capture->stream : device->main;
}

mw_stream *check_stream(lua_State *L, int index, mw_device *device) {
  if (lua_isnoneornil(L, index)) return current_stream(L, device);
  bind_capture_of(L);
  return ((bind_stream *)bind_check_on(L, index, &stream_class, device))->stream;
}

void buffer_use(lua_State *L, mw_buffer *buffer, mw_stream *stream) {
  if (buffer->device != stream->device && !stream->capturing) buffer_send_abroad(L, buffer);
  mw_buffer_use(buffer, stream);
}

void buffer_send_abroad(lua_State *L, mw_buffer *buffer) {
  mw_device *home = buffer->device;
  if (!buffer->abroad && !buffer->host) bind_try(L, home->backend->stream_synchronize(home->main, &bind_error));
  buffer->abroad = true;
}

bind_stream *option_stream(lua_State *L, const mw_device *device) {
  bind_capture_of(L);
  bind_stream *self = bind_test(L, -1, &stream_class);
  if (!self) bind_fail(L, MW_INVALID, "option 'stream' is a stream, got %s", luaL_tolstring(L, -1, NULL));
  if (!self->object.open) bind_fail(L, MW_INVALID, "option 'stream': attempt to use a closed stream");
  if (device && self->stream->device != device)
    bind_fail(L, MW_INVALID, "option 'stream' is a stream of %s, got one of %s", device->info.id,
              self->stream->device->info.id);
  return self;
}

bind_stream *push_new_stream(lua_State *L, mw_device *device, bool blocking, int priority) {
  bind_stream *self = bind_new(L, &stream_class, sizeof *self, 0);
  bind_try(L, device->backend->stream_create(device, blocking, priority, &self->stream, &bind_error));
  bind_opened(self, device);
  order_open(self->stream, blocking, bind_here(L));
  return self;
}

/* dev:stream{ blocking = true, priority = 0 }: a new queue. blocking: the default stream's work and its own wait for
 * one another (CUDA's legacy default stream). Priorities: dev:priorities(). */
static int device_stream(lua_State *L) {
  static const char *const names[] = {"blocking", "priority", NULL};
  mw_device *device = check_runs(L, self_device(L), "streams");
  check_options(L, 2, names);
  int least = 0, greatest = 0;
  device->backend->priorities(device, &least, &greatest);
  bool blocking = option_boolean(L, 2, "blocking", true);
  int priority = (int)option_integer(L, 2, "priority", least, greatest < least ? greatest : least,
                                     greatest < least ? least : greatest);
  push_new_stream(L, device, blocking, priority)->owned = true;
  return 1;
}

/* dev:default_stream([kind]): "legacy", the stream that launches without one go to, or "per-thread", where those of
 * a program compiled with nvcc --default-stream per-thread go. */
static int device_default_stream(lua_State *L) {
  mw_device *device = check_runs(L, self_device(L), "streams");
  const char *kind = lua_isnoneornil(L, 2) ? "legacy" : check_string(L, 2);
  bool per_thread = strcmp(kind, "per-thread") == 0;
  if (!per_thread && strcmp(kind, "legacy") != 0)
    bind_argument(L, 2, "\"legacy\" or \"per-thread\" expected, got \"%s\"", kind);
  bind_stream *self = bind_new(L, &stream_class, sizeof *self, 0);
  self->stream = device->main;
  if (per_thread) bind_try(L, device->backend->stream_per_thread(device, &self->stream, &bind_error));
  bind_opened(self, device);
  return 1;
}

const bind_method stream_makers[] = {
    {"default_stream", device_default_stream, 1}, {"stream", device_stream, 1}, {NULL, NULL, 0}};

/* s:synchronize(): waits for all work queued so far, then runs the callbacks that are due. */
static int stream_synchronize(lua_State *L) {
  mw_stream *stream = self_stream(L);
  check_uncaptured(L, stream, "synchronize it");
  bind_try(L, stream->device->backend->stream_synchronize(stream, &bind_error));
  order_reached_stream(stream);
  bind_poll(L);
  return 0;
}

int push_reached(lua_State *L, mw_status status) {
  if (status != MW_NOT_READY) bind_try(L, status);
  bind_poll(L);
  lua_pushboolean(L, status == MW_OK);
  return 1;
}

/* s:query(): true when all work queued so far is done. */
static int stream_query(lua_State *L) {
  mw_stream *stream = self_stream(L);
  check_uncaptured(L, stream, "query it");
  mw_status status = stream->device->backend->stream_query(stream, &bind_error);
  if (status == MW_OK) order_reached_stream(stream);
  return push_reached(L, status);
}

/* s:callback(f): f runs on the script's own thread, in the first synchronize, query or mw.poll after the stream has
 * got there. Later work in the stream does not wait for it. */
static int stream_callback(lua_State *L) {
  mw_stream *stream = self_stream(L);
  check_type(L, 2, LUA_TFUNCTION);
  if (stream->capturing) bind_fail(L, MW_INVALID, "a callback cannot be part of a graph");
  bind_try(L, bind_callback(L, stream, 2));
  lua_settop(L, 1);
  return 1;
}

static int stream_priority(lua_State *L) {
  lua_pushinteger(L, self_stream(L)->priority);
  return 1;
}

static const char *name_of(const bind_stream *self) {
  if (self->owned) return "stream";
  return self->stream == self->stream->device->main ? "default stream" : "per-thread default stream";
}

static void describe(lua_State *L, const void *object) {
  const bind_stream *self = object;
  lua_pushfstring(L, "%s %s", name_of(self), self->stream->device->info.id);
}

static const bind_method methods[] = {
    {"callback", stream_callback, 1}, {"device", object_device, 0},           {"priority", stream_priority, 0},
    {"query", stream_query, 0},       {"synchronize", stream_synchronize, 0}, {NULL, NULL, 0},
};

bind_class stream_class = {"stream", stream_release, methods, describe, NULL, 0};
