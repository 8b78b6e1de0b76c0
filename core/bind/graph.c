/* SPDX-License-Identifier: MIT
 *
 * Graphs: a function's launches and copies captured once and replayed with one call. */
#include "core/bind/bind.h"

#include <string.h>

static void graph_release(lua_State *L, void *object) {
  (void)L;
  bind_graph *self = object;
  if (self->graph) self->device->backend->graph_destroy(self->graph);
  for (int i = 0; i < self->nbuffers; i++) mw_buffer_release(self->buffers[i]);
  for (int i = 0; i < self->nnodes; i++) {
    mw_module_release(self->nodes[i].launch.kernel->module);
    mw_free(self->nodes[i].launch.args);
    mw_free(self->nodes[i].launch.params);
  }
  mw_free(self->buffers);
  mw_free(self->nodes);
  mw_device_release(self->device);
}

static bind_graph *check_graph(lua_State *L, int index) {
  return bind_check(L, index, &graph_class);
}

/* ---- capturing ------------------------------------------------------------------------------------------------- */

static bind_graph *graph_push(lua_State *L, mw_device *device) {
  bind_graph *self = bind_new(L, &graph_class, sizeof *self, 0);
  self->device = device;
  mw_device_retain(device);
  bind_opened(self);
  return self;
}

/* The script's handle of it does not own it: closing that in the middle of the capture does no harm. */
static bind_stream *push_capture_stream(lua_State *L, mw_device *device) {
  bind_stream *self = bind_new(L, &stream_class, sizeof *self, 0);
  int least = 0, greatest = 0;
  device->backend->priorities(device, &least, &greatest);
  bind_try(L, device->backend->stream_create(device, false, least, &self->stream, &bind_error));
  mw_device_retain(device);
  bind_opened(self);
  return self;
}

static void drop_capture_stream(lua_State *L, bind_stream *handle, mw_stream *stream) {
  bind_release(L, handle);
  stream->device->backend->stream_destroy(stream);
}

/* f(stream) with host->capture set; the outcome of lua_pcall, the error on top. */
static int run_captured(lua_State *L, bind_host *host, bind_capture *capture) {
  host->capture = capture;
  lua_pushvalue(L, 2);
  lua_pushvalue(L, -2);
  int outcome = lua_pcall(L, 1, 0, 0);
  host->capture = NULL;
  return outcome;
}

/* dev:capture(f): runs f(stream) once and records what it launches and copies, instead of running it; launches
 * without a stream of their own go to that stream. Other streams join by waiting for an event recorded in it. */
static int device_capture(lua_State *L) {
  mw_device *device = check_device(L, 1)->device;
  check_type(L, 2, LUA_TFUNCTION);
  bind_host *host = bind_host_of(L);
  if (host->capture) return bind_fail(L, MW_INVALID, "capture: a capture is in progress; finish it first");
  check_runs(L, device, "graphs");
  bind_graph *graph = graph_push(L, device);
  bind_stream *handle = push_capture_stream(L, device);
  bind_capture capture = {++host->captures, handle->stream, graph};
  int outcome = LUA_OK;
  mw_status status = device->backend->capture_begin(capture.stream, &bind_error);
  if (status == MW_OK) {
    outcome = run_captured(L, host, &capture);
    status = device->backend->capture_end(capture.stream, outcome == LUA_OK ? &graph->graph : NULL, &bind_error);
  }
  drop_capture_stream(L, handle, capture.stream);
  if (outcome != LUA_OK) {
    mw_error_clear(&bind_error);
    return lua_error(L);
  }
  bind_try(L, status);
  lua_settop(L, 3);
  return 1;
}

const bind_method graph_makers[] = {{"capture", device_capture, 1}, {NULL, NULL, 0}};

/* ---- replaying ------------------------------------------------------------------------------------------------- */

/* g:launch([stream]): replays everything, in the order the capture gave. */
static int graph_launch(lua_State *L) {
  bind_graph *self = check_graph(L, 1);
  mw_stream *stream = lua_isnoneornil(L, 2) ? self->device->main : check_stream(L, 2, self->device)->stream;
  bind_try(L, self->device->backend->graph_launch(self->graph, stream, &bind_error));
  lua_settop(L, 1);
  return 1;
}

static bind_node *check_node(lua_State *L, bind_graph *self, int index) {
  lua_Integer node = check_integer(L, index);
  check_that(L, node >= 1 && node <= self->nnodes, index, "the graph has %d kernel nodes, got number %I", self->nnodes,
             (LUAI_UACINT)node);
  return &self->nodes[node - 1];
}

/* g:update(node, ...): new arguments for the node-th captured launch (from 1), checked like a launch's. */
static int graph_update(lua_State *L) {
  bind_graph *self = check_graph(L, 1);
  bind_node *node = check_node(L, self, 2);
  const mw_kernel *kernel = node->launch.kernel;
  bind_launch changed = {.host = bind_host_of(L), .launch = node->launch};
  changed.launch.args = lua_newuserdatauv(L, kernel->args_bytes, 0);
  changed.launch.params = lua_newuserdatauv(L, (size_t)kernel->nparams * sizeof(void *) + 1, 0);
  lua_rotate(L, 3, 2); /* below the arguments, which launch_pack counts to the top */
  for (int i = 0; i < kernel->nparams; i++)
    changed.launch.params[i] = (char *)changed.launch.args + kernel->params[i].offset;
  launch_pack(L, &changed, 5);
  bind_try(L,
           self->device->backend->graph_update(self->graph, (int)(node - self->nodes), &changed.launch, &bind_error));
  memcpy(node->launch.args, changed.launch.args, kernel->args_bytes);
  capture_arguments(L, self, kernel, 5);
  lua_settop(L, 1);
  return 1;
}

/* g:nodes(): the captured launches in order, { kernel =, grid =, block =, shared = } each. */
static int graph_nodes(lua_State *L) {
#define N(member) FIELD(mw_launch, member)
  static const bind_field fields[] = {N(grid), N(block), N(shared), LAST_FIELD};
  bind_graph *self = check_graph(L, 1);
  lua_createtable(L, self->nnodes, 0);
  for (int i = 0; i < self->nnodes; i++) {
    push_fields(L, fields, &self->nodes[i].launch);
    lua_pushstring(L, self->nodes[i].launch.kernel->name);
    lua_setfield(L, -2, "kernel");
    lua_rawseti(L, -2, i + 1);
  }
  bind_result(L);
  return 1;
}

/* g:dot(): the graph in the language of graphviz. */
static int graph_dot(lua_State *L) {
  bind_graph *self = check_graph(L, 1);
  char *text = NULL;
  bind_try(L, self->device->backend->graph_dot(self->graph, &text, &bind_error));
  lua_pushstring(L, text);
  mw_free(text);
  return 1;
}

static int graph_device(lua_State *L) {
  push_device(L, check_graph(L, 1)->device);
  return 1;
}

static void describe(lua_State *L, const void *object) {
  const bind_graph *self = object;
  lua_pushfstring(L, "graph of %d launches %s", self->nnodes, self->device->info.id);
}

static const bind_method methods[] = {
    {"device", graph_device, 0},         {"dot", graph_dot, 0}, {"launch", graph_launch, 1}, {"nodes", graph_nodes, 0},
    {"update", graph_update, ANY_COUNT}, {NULL, NULL, 0},
};

bind_class graph_class = {"graph", graph_release, methods, describe, NULL, 0};
