/* SPDX-License-Identifier: MIT
 *
 * Captures: a function's launches and copies note their nodes and buffers in the graph that is made. A graph may be
 * replayed after the script has forgotten what it uses, so it counts every buffer and every kernel's module.
 *
 * A capture is in progress while its function is on the stack of its thread. Its __close ends it earlier than that is
 * asked for, and cannot be relied on: a debug hook may raise as it is called, and a coroutine that an error has ended
 * calls none. */
#include "core/bind/bind.h"

static const char capture_key = 'c';

/* ---- in progress ----------------------------------------------------------------------------------------------- */

static void capture_release(void *object) {
  const bind_capture *self = object;
  const mw_backend *backend = self->stream->device->backend;
  if (self->stream->capturing) backend->capture_end(self->stream, NULL, NULL);
  if (!self->graph->object.open) graph_drop(self->graph);
  bind_release(self->handle);
  order_close(self->stream);
  backend->stream_destroy(self->stream);
}

int capture_depth(lua_State *L) {
  lua_Debug frame;
  int least = -1, most = 0;
  for (; lua_getstack(L, most, &frame); most = 2 * most + 1) least = most;
  while (most - least > 1) {
    const int middle = least + (most - least) / 2;
    if (lua_getstack(L, middle, &frame))
      least = middle;
    else
      most = middle;
  }
  return most;
}

/* What an error has ended keeps its stack, for a traceback. */
static bool is_running(const bind_capture *self) {
  lua_State *L = self->thread;
  lua_Debug frame;
  const bool ended = lua_status(L) != LUA_OK && lua_status(L) != LUA_YIELD;
  const int level = capture_depth(L) - self->depth;
  if (ended || level < 0 || !lua_getstack(L, level, &frame) || !lua_getlocal(L, &frame, CAPTURE_PLACE)) return false;
  const bool here = lua_touserdata(L, -1) == self;
  lua_pop(L, 1);
  return here;
}

void capture_enter(lua_State *L) {
  bind_weak_table(L, &capture_key);
  lua_pushvalue(L, CAPTURE_PLACE);
  lua_rawseti(L, -2, 1);
  lua_pop(L, 1);
}

bind_capture *capture_running(lua_State *L) {
  bind_weak_table(L, &capture_key);
  lua_rawgeti(L, -1, 1);
  bind_capture *self = bind_test(L, -1, &capture_class);
  lua_pop(L, 2);
  if (!self || !self->object.open) return NULL;
  if (is_running(self)) return self;
  bind_release(self);
  return NULL;
}

void check_uncaptured(lua_State *L, const mw_stream *stream, const char *what) {
  bind_capture_of(L);
  if (stream->capturing)
    bind_fail(L, MW_INVALID, "a stream is being captured: you can %s after the capture has ended", what);
}

/* ---- what its graph notes -------------------------------------------------------------------------------------- */

void graph_keep(bind_graph *graph, mw_buffer *buffer) {
  for (int i = 0; i < graph->nbuffers; i++)
    if (graph->buffers[i] == buffer) return;
  graph->buffers = mw_realloc(graph->buffers, (size_t)(graph->nbuffers + 1) * sizeof(mw_buffer *));
  graph->buffers[graph->nbuffers++] = buffer;
  buffer->multi_stream = true; /* a replay may be on any stream */
  if (buffer->texels) buffer->texels->multi_stream = true;
  mw_buffer_retain(buffer);
}

void capture_buffer(lua_State *L, mw_buffer *buffer) {
  const bind_capture *capture = bind_capture_of(L);
  if (capture) graph_keep(capture->graph, buffer);
}

void graph_count(bind_graph *graph, bind_counted *value) {
  for (int i = 0; i < graph->nvalues; i++)
    if (graph->values[i] == value) return;
  graph->values = mw_grow(graph->values, (size_t)graph->nvalues, sizeof *graph->values);
  graph->values[graph->nvalues++] = value;
  value->refs++;
}

void bind_uncount(bind_counted *value) {
  if (--value->refs == 0) value->release(value);
}

static void keep_module(bind_graph *graph, mw_module *module) {
  for (int i = 0; i < graph->nmodules; i++)
    if (graph->modules[i] == module) return;
  graph->modules = mw_grow(graph->modules, (size_t)graph->nmodules, sizeof *graph->modules);
  graph->modules[graph->nmodules++] = module;
  mw_module_retain(module);
}

void capture_graph(lua_State *L, const bind_graph *inner) {
  const bind_capture *capture = bind_capture_of(L);
  if (!capture) return;
  for (int i = 0; i < inner->nbuffers; i++) graph_keep(capture->graph, inner->buffers[i]);
  for (int i = 0; i < inner->nvalues; i++) graph_count(capture->graph, inner->values[i]);
  for (int i = 0; i < inner->nmodules; i++) keep_module(capture->graph, inner->modules[i]);
  for (int i = 0; i < inner->nnodes; i++) keep_module(capture->graph, inner->nodes[i].kernel->module);
}

void graph_drop(bind_graph *self) {
  for (int i = 0; i < self->nbuffers; i++) mw_buffer_release(self->buffers[i]);
  for (int i = 0; i < self->nmodules; i++) mw_module_release(self->modules[i]);
  for (int i = 0; i < self->nnodes; i++) {
    mw_module_release(self->nodes[i].kernel->module);
    mw_free(self->nodes[i].args); /* the pointers into them too */
  }
  for (int i = 0; i < self->nvalues; i++) bind_uncount(self->values[i]);
  mw_free(self->values);
  mw_free(self->touches);
  mw_free(self->buffers);
  mw_free(self->modules);
  mw_free(self->nodes);
}

/* ---- the class ------------------------------------------------------------------------------------------------- */

static void describe(lua_State *L, const void *object) {
  lua_pushfstring(L, "capture %s", ((const bind_object *)object)->device->info.id);
}

static const bind_method methods[] = {{NULL, NULL, 0}};

bind_class capture_class = {"capture", capture_release, methods, describe, NULL, 0};
