/* SPDX-License-Identifier: MIT
 *
 * What a capture sees: launches and copies note their nodes and buffers in the graph that is made. A graph may be
 * replayed after the script has forgotten what it uses, so it counts every buffer and every kernel's module. */
#include "core/bind/bind.h"

#include <string.h>

static void keep_buffer(bind_graph *graph, mw_buffer *buffer) {
  for (int i = 0; i < graph->nbuffers; i++)
    if (graph->buffers[i] == buffer) return;
  graph->buffers = mw_realloc(graph->buffers, (size_t)(graph->nbuffers + 1) * sizeof(mw_buffer *));
  graph->buffers[graph->nbuffers++] = buffer;
  buffer->multi_stream = true; /* a replay may be on any stream */
  mw_buffer_retain(buffer);
}

void capture_buffer(lua_State *L, mw_buffer *buffer) {
  bind_capture *capture = bind_host_of(L)->capture;
  if (capture) keep_buffer(capture->graph, buffer);
}

static void keep_module(bind_graph *graph, mw_module *module) {
  for (int i = 0; i < graph->nmodules; i++)
    if (graph->modules[i] == module) return;
  graph->modules = mw_grow(graph->modules, (size_t)graph->nmodules, sizeof *graph->modules);
  graph->modules[graph->nmodules++] = module;
  mw_module_retain(module);
}

void capture_graph(lua_State *L, const bind_graph *inner) {
  bind_capture *capture = bind_host_of(L)->capture;
  if (!capture) return;
  for (int i = 0; i < inner->nbuffers; i++) keep_buffer(capture->graph, inner->buffers[i]);
  for (int i = 0; i < inner->nmodules; i++) keep_module(capture->graph, inner->modules[i]);
  for (int i = 0; i < inner->nnodes; i++) keep_module(capture->graph, inner->nodes[i].kernel->module);
}

void capture_arguments(lua_State *L, bind_graph *graph, const mw_kernel *kernel, int first) {
  for (int i = 0; i < kernel->nparams; i++) {
    bind_array *a = bind_test(L, first + i, &array_class);
    if (a) keep_buffer(graph, a->buffer);
  }
}

void capture_launch(lua_State *L, const bind_launch *self, int first) {
  bind_graph *graph = self->host->capture->graph;
  const mw_kernel *kernel = self->launch.kernel;
  graph->nodes = mw_realloc(graph->nodes, (size_t)(graph->nnodes + 1) * sizeof *graph->nodes);
  mw_launch *node = &graph->nodes[graph->nnodes++];
  *node = self->launch;
  argument_place(node, mw_malloc(argument_bytes(kernel)));
  memcpy(node->args, self->launch.args, kernel->args_bytes);
  mw_module_retain(kernel->module);
  capture_arguments(L, graph, kernel, first);
}
