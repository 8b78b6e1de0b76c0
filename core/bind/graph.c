/* SPDX-License-Identifier: MIT
 *
 * Graphs: a function's launches and copies captured once and replayed with one call. */
#include "core/bind/bind.h"

#include <string.h>

static void graph_release(void *object) {
  bind_graph *self = object;
  if (self->graph) self->object.device->backend->graph_destroy(self->graph);
  for (int i = 0; i < self->nbuffers; i++) mw_buffer_release(self->buffers[i]);
  for (int i = 0; i < self->nmodules; i++) mw_module_release(self->modules[i]);
  for (int i = 0; i < self->nnodes; i++) {
    mw_module_release(self->nodes[i].kernel->module);
    mw_free(self->nodes[i].args); /* the pointers into them too */
  }
  mw_free(self->touches);
  mw_free(self->buffers);
  mw_free(self->modules);
  mw_free(self->nodes);
}

/* ---- capturing ------------------------------------------------------------------------------------------------- */

static const char capture_name[] = "moonwarp.capture";

/* The graph is closed until here, so that nothing else can release it while it grows. */
static mw_status end_capture(bind_graph *graph, mw_stream *stream, bool good) {
  mw_status status = MW_OK;
  if (stream->capturing)
    status = stream->device->backend->capture_end(stream, good ? &graph->graph : NULL, &bind_error);
  race_captured(graph);
  if (graph->graph)
    bind_opened(graph, stream->device);
  else
    graph_release(graph);
  return status;
}

/* The __close of a capture, also where its function has failed: error is nil, or what it raised. The debug library lets
 * a script call it too: the first call ends the capture. */
static int capture_close(lua_State *L) {
  bind_capture *capture = luaL_checkudata(L, 1, capture_name);
  mw_stream *stream = capture->stream;
  bool good = lua_isnoneornil(L, 2);
  if (!stream) return 0;
  capture->stream = NULL;
  bind_host_of(L)->capture = NULL;
  mw_device *device = stream->device;
  mw_status status = end_capture(capture->graph, stream, good);
  bind_release(capture->handle);
  order_close(stream);
  device->backend->stream_destroy(stream);
  mw_device_release(device);
  if (good) bind_try(L, status);
  mw_error_clear(&bind_error);
  return 0;
}

/* Pushes the capture and the script's handle of its stream, which does not own it: closing that in the middle of the
 * capture does no harm. */
static bind_capture *push_capture(lua_State *L, mw_device *device, bind_graph *graph) {
  static const luaL_Reg metamethods[] = {{"__close", capture_close}, {NULL, NULL}};
  int least = 0, greatest = 0;
  device->backend->priorities(device, &least, &greatest);
  bind_capture *capture = lua_newuserdatauv(L, sizeof *capture, 0);
  *capture = (bind_capture){0};
  if (luaL_newmetatable(L, capture_name)) luaL_setfuncs(L, metamethods, 0);
  lua_setmetatable(L, -2);
  bind_stream *handle = push_new_stream(L, device, false, least);
  *capture = (bind_capture){++bind_host_of(L)->captures, handle->stream, handle, graph};
  mw_device_retain(device);
  return capture;
}

/* dev:capture(f): runs f(stream) once and records what it launches and copies, instead of running it; launches
 * without a stream of their own go to that stream. Other streams join by waiting for an event recorded in it. */
static int device_capture(lua_State *L) {
  mw_device *device = self_device(L);
  check_type(L, 2, LUA_TFUNCTION);
  bind_host *host = bind_host_of(L);
  if (host->capture) return bind_fail(L, MW_INVALID, "capture: a capture is in progress; finish it first");
  check_runs(L, device, "graphs");
  lua_settop(L, 2);
  bind_graph *graph = bind_new(L, &graph_class, sizeof *graph, 0);
  bind_capture *capture = push_capture(L, device, graph);
  lua_toclose(L, 4);
  bind_try(L, device->backend->capture_begin(capture->stream, &bind_error));
  host->capture = capture;
  lua_pushvalue(L, 2);
  lua_pushvalue(L, 5);
  lua_call(L, 1, 0);
  lua_settop(L, 3); /* ends the capture */
  return 1;
}

const bind_method graph_makers[] = {{"capture", device_capture, 1}, {NULL, NULL, 0}};

/* ---- replaying ------------------------------------------------------------------------------------------------- */

/* g:launch([stream]): replays everything, in the order the capture gave. */
static int graph_launch(lua_State *L) {
  bind_graph *self = lua_touserdata(L, 1);
  mw_device *device = self->object.device;
  mw_stream *stream = lua_isnoneornil(L, 2) ? device->main : check_stream(L, 2, device);
  bind_try(L, device->backend->graph_launch(self->graph, stream, &bind_error));
  if (stream->capturing) capture_graph(L, self);
  race_graph(L, self, stream);
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
  bind_launch changed = {.launch = *node};
  argument_place(&changed.launch, lua_newuserdatauv(L, argument_bytes(kernel), 0));
  lua_insert(L, 3); /* below the arguments, which launch_pack counts to the top */
  launch_pack(L, &changed, 4);
  bind_try(L, self->object.device->backend->graph_update(self->graph, (int)(node - self->nodes), &changed.launch,
                                                         &bind_error));
  memcpy(node->args, changed.launch.args, kernel->args_bytes);
  capture_arguments(L, self, kernel, 4);
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
    push_fields(L, fields, &self->nodes[i]);
    set_string(L, "kernel", self->nodes[i].kernel->name);
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
