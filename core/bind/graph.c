/* SPDX-License-Identifier: MIT
 *
 * Graphs: a function's launches and copies captured once and replayed with one call. */
#include "core/bind/bind.h"

#include <string.h>

static void graph_release(void *object) {
  bind_graph *self = object;
  self->object.device->backend->graph_destroy(self->graph);
  graph_drop(self);
}

/* ---- capturing ------------------------------------------------------------------------------------------------- */

/* Pushes the capture of the graph on top, and the script's handle of its stream, which does not own it: closing that in
 * the middle of the capture does no harm. */
static bind_capture *push_capture(lua_State *L, mw_device *device) {
  static unsigned captures;
  int least = 0, greatest = 0;
  device->backend->priorities(device, &least, &greatest);
  bind_register(L, &capture_class);
  bind_capture *self = bind_new(L, &capture_class, sizeof *self, 3);
  self->graph = lua_touserdata(L, -2);
  self->thread = L;
  self->depth = capture_depth(L);
  self->number = ++captures;
  self->handle = push_new_stream(L, device, false, least);
  self->stream = self->handle->stream;
  bind_opened(self, device);
  lua_pushvalue(L, -3);
  lua_setiuservalue(L, -3, 1);
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, -3, 2);
  lua_pushthread(L);
  lua_setiuservalue(L, -3, 3);
  capture_enter(L);
  return self;
}

/* Its function has returned. */
static void end_capture(lua_State *L, bind_capture *self) {
  bind_graph *graph = self->graph;
  if (!self->object.open) bind_fail(L, MW_INVALID, "capture: it was closed before its function had ended");
  bind_try(L, self->object.device->backend->capture_end(self->stream, &graph->graph, &bind_error));
  for (int i = 0; i < graph->nbuffers; i++)
    if (graph->buffers[i]->device != self->object.device) buffer_send_abroad(L, graph->buffers[i]);
  race_captured(graph);
  bind_opened(graph, self->object.device);
  bind_release(self);
}

/* dev:capture(f): runs f(stream) once and records what it launches and copies, instead of running it; launches
 * without a stream of their own go to that stream. Other streams join by waiting for an event recorded in it. */
static int device_capture(lua_State *L) {
  mw_device *device = self_device(L);
  check_type(L, 2, LUA_TFUNCTION);
  if (bind_capture_of(L)) return bind_fail(L, MW_INVALID, "capture: a capture is in progress; finish it first");
  check_runs(L, device, "graphs");
  lua_settop(L, 2);
  bind_new(L, &graph_class, sizeof(bind_graph), 0);
  bind_capture *capture = push_capture(L, device);
  lua_toclose(L, CAPTURE_PLACE);
  bind_try(L, device->backend->capture_begin(capture->stream, &bind_error));
  lua_pushvalue(L, 2);
  lua_pushvalue(L, CAPTURE_PLACE + 1);
  lua_call(L, 1, 0);
  end_capture(L, capture);
  lua_settop(L, 3);
  return 1;
}

const bind_method graph_makers[] = {{"capture", device_capture, 1}, {NULL, NULL, 0}};

/* ---- replaying ------------------------------------------------------------------------------------------------- */

/* g:launch([stream]): replays everything, in the order the capture gave. */
static int graph_launch(lua_State *L) {
  bind_graph *self = lua_touserdata(L, 1);
  mw_device *device = self_device(L);
  mw_stream *stream = lua_isnoneornil(L, 2) ? device->main : check_stream(L, 2, device);
  bind_try(L, device->backend->graph_launch(self->graph, stream, &bind_error));
  if (stream->capturing) capture_graph(L, self);
  race_graph(L, self, stream);
  if (bind_traces) trace_graph(L, self);
  lua_settop(L, 1);
  return 1;
}

static mw_launch *check_node(lua_State *L, bind_graph *self, int index) {
  lua_Integer node = check_integer(L, index);
  check_that(L, node >= 1 && node <= self->nnodes, index, "the graph has %d kernel nodes, got number %I", self->nnodes,
             (LUAI_UACINT)node);
  return &self->nodes[node - 1];
}

/* g:update(node, ...): new arguments for the node-th captured launch (from 1), checked like a launch's. */
static int graph_update(lua_State *L) {
  bind_graph *self = lua_touserdata(L, 1);
  mw_launch *node = check_node(L, self, 2);
  const mw_kernel *kernel = node->kernel;
  void *block = lua_newuserdatauv(L, argument_bytes(kernel), 0);
  check_still_open(L);
  bind_launch changed = {.launch = *node};
  argument_place(&changed.launch, block);
  lua_insert(L, 3); /* below the arguments, which launch_pack counts to the top */
  launch_pack(L, &changed, 4);
  bind_try(L, self->object.device->backend->graph_update(self->graph, (int)(node - self->nodes), &changed.launch,
                                                         &bind_error));
  memcpy(node->args, changed.launch.args, kernel->args_bytes);
  launch_keep_arguments(L, self, kernel, 4);
  lua_settop(L, 1);
  return 1;
}

/* g:nodes(): the captured launches in order, { kernel =, grid =, block =, shared = } each. */
static int graph_nodes(lua_State *L) {
#define N(member) FIELD(mw_launch, member)
  static const bind_field fields[] = {N(grid), N(block), N(shared), LAST_FIELD};
  bind_graph *self = lua_touserdata(L, 1);
  lua_createtable(L, self->nnodes, 0);
  for (int i = 0; i < self->nnodes; i++) {
    check_still_open(L);
    const mw_launch node = self->nodes[i];
    lua_pushstring(L, node.kernel->name);
    push_fields(L, fields, &node);
    lua_insert(L, -2);
    lua_setfield(L, -2, "kernel");
    lua_rawseti(L, -2, i + 1);
  }
  bind_result(L);
  return 1;
}

/* g:dot(): the graph in the language of graphviz. */
static int graph_dot(lua_State *L) {
  bind_graph *self = lua_touserdata(L, 1);
  char *text = NULL;
  bind_try(L, self->object.device->backend->graph_dot(self->graph, &text, &bind_error));
  lua_pushstring(L, text);
  mw_free(text);
  return 1;
}

static void describe(lua_State *L, const void *object) {
  const bind_graph *self = object;
  lua_pushfstring(L, "graph of %d launches %s", self->nnodes, self->object.device->info.id);
}

static const bind_method methods[] = {
    {"device", object_device, 0},        {"dot", graph_dot, 0}, {"launch", graph_launch, 1}, {"nodes", graph_nodes, 0},
    {"update", graph_update, ANY_COUNT}, {NULL, NULL, 0},
};

bind_class graph_class = {"graph", graph_release, methods, describe, NULL, 0};
