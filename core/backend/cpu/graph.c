/* SPDX-License-Identifier: MIT
 *
 * Graphs. A stream that is captured records the operations it is given as nodes. Its tails are the nodes the next one
 * must follow; an event recorded in it remembers the tails; a stream that waits for such an event joins the capture, as
 * in CUDA. launch.c replays and changes a graph. */
#include "core/backend/cpu/objects.h"

#include "core/backend/reject.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ------------------------------------------------------------------------------------------------------ */

void cpu_graph_hold(cpu_graph *graph) {
  atomic_fetch_add(&graph->refs, 1);
}

void cpu_graph_release(mw_graph *base) {
  cpu_graph *graph = (cpu_graph *)base;
  if (atomic_fetch_sub(&graph->refs, 1) != 1) return;
  for (int i = 0; i < graph->count; i++) {
    cpu_node *node = &graph->nodes[i];
    if (node->op.type->release) node->op.type->release(&node->op);
    mw_free((void *)node->op.args);
    mw_free(node->needs);
  }
  mw_free(graph->nodes);
  mw_free(graph);
}

/* ---- tails ----------------------------------------------------------------------------------------------------- */

static void add_tail(cpu_stream *stream, int node) {
  for (int i = 0; i < stream->ntails; i++)
    if (stream->tails[i] == node) return;
  stream->tails = mw_realloc(stream->tails, ((size_t)stream->ntails + 1) * sizeof *stream->tails);
  stream->tails[stream->ntails++] = node;
}

/* ---- entering and leaving -------------------------------------------------------------------------------------- */

static void enter(cpu_stream *stream, cpu_graph *graph) {
  stream->capture = graph;
  stream->ntails = 0;
  stream->base.capturing = true;
}

void cpu_capture_leave(cpu_stream *stream) {
  stream->capture = NULL;
  stream->base.capturing = false;
}

/* Streams of any device may have joined. */
static void leave_all(cpu_graph *graph) {
  graph->open = false;
  for (cpu_device *device = cpu_open_devices; device; device = device->next)
    for (cpu_stream *stream = device->streams; stream; stream = stream->next)
      if (stream->capture == graph) cpu_capture_leave(stream);
}

mw_status cpu_capture_begin(mw_stream *base, mw_error *err) {
  cpu_stream *stream = (cpu_stream *)base;
  (void)err;
  assert(stream->worker && !base->capturing);
  cpu_graph *graph = mw_calloc(1, sizeof *graph);
  graph->base.device = base->device;
  graph->open = true;
  atomic_init(&graph->refs, 1);
  enter(stream, graph);
  return MW_OK;
}

/* ---- ending ---------------------------------------------------------------------------------------------------- */

/* Everything other streams were given must lead to the origin's end, as CUDA demands. Nodes come after all they depend
 * on, so one pass from the last to the first marks all that leads there. */
static bool all_joined(const cpu_stream *origin, const cpu_graph *graph) {
  bool joined = true, *reached = mw_calloc((size_t)graph->count + 1, sizeof *reached);
  for (int i = 0; i < origin->ntails; i++) reached[origin->tails[i]] = true;
  for (int node = graph->count - 1; node >= 0; node--)
    for (int i = 0; reached[node] && i < graph->nodes[node].nneeds; i++) reached[graph->nodes[node].needs[i]] = true;
  for (const cpu_device *device = cpu_open_devices; device; device = device->next)
    for (const cpu_stream *other = device->streams; other; other = other->next)
      for (int i = 0; other->capture == graph && i < other->ntails; i++) joined = joined && reached[other->tails[i]];
  mw_free(reached);
  return joined;
}

mw_status cpu_capture_end(mw_stream *base, mw_graph **out, mw_error *err) {
  cpu_stream *stream = (cpu_stream *)base;
  cpu_graph *graph = stream->capture;
  assert(graph);
  const bool joined = all_joined(stream, graph);
  leave_all(graph);
  if (joined && out) {
    *out = &graph->base;
    return MW_OK;
  }
  cpu_graph_release(&graph->base);
  if (joined || !out) return MW_OK;
  return mw_reject_capture(err);
}

/* ---- operations ------------------------------------------------------------------------------------------------ */

static void *copied(const void *bytes, size_t size) {
  return size ? memcpy(mw_malloc(size), bytes, size) : NULL;
}

static int add_node(cpu_graph *graph, const cpu_op *op, mw_device *device, const int *needs, int nneeds) {
  graph->nodes = mw_grow(graph->nodes, (size_t)graph->count, sizeof *graph->nodes);
  cpu_node *node = &graph->nodes[graph->count];
  *node =
      (cpu_node){.op = *op, .device = device, .needs = copied(needs, (size_t)nneeds * sizeof *needs), .nneeds = nneeds};
  node->op.args = copied(op->args, op->args_bytes);
  if (op->type->hold) op->type->hold(op);
  graph->base.nodes += op->type->launch;
  return graph->count++;
}

mw_status cpu_capture_op(cpu_stream *stream, const cpu_op *op) {
  assert(op->type->label);
  int node = add_node(stream->capture, op, stream->base.device, stream->tails, stream->ntails);
  stream->ntails = 0;
  add_tail(stream, node);
  return MW_OK;
}

void cpu_capture_forget(cpu_event *event) {
  if (!event->capture) return;
  cpu_graph_release(&event->capture->base);
  mw_free(event->nodes);
  event->capture = NULL;
  event->nodes = NULL;
}

mw_status cpu_capture_record(cpu_stream *stream, cpu_event *event) {
  cpu_capture_forget(event);
  cpu_graph_hold(stream->capture);
  event->capture = stream->capture;
  event->nnodes = stream->ntails;
  event->nodes = copied(stream->tails, (size_t)stream->ntails * sizeof *stream->tails);
  return MW_OK;
}

mw_status cpu_capture_wait(cpu_stream *stream, cpu_event *event) {
  assert(event->capture->open && stream->worker);
  if (!stream->base.capturing) enter(stream, event->capture);
  assert(stream->capture == event->capture);
  for (int i = 0; i < event->nnodes; i++) add_tail(stream, event->nodes[i]);
  return MW_OK;
}

/* ---- looking inside -------------------------------------------------------------------------------------------- */

cpu_node *cpu_graph_nth_launch(cpu_graph *graph, int index) {
  for (int i = 0; i < graph->count && index >= 0; i++)
    if (graph->nodes[i].op.type->launch && index-- == 0) return &graph->nodes[i];
  return NULL;
}

mw_status cpu_graph_dot(mw_graph *base, char **text, mw_error *err) {
  const cpu_graph *graph = (const cpu_graph *)base;
  char *written = NULL;
  size_t bytes;
  FILE *out = open_memstream(&written, &bytes);
  if (!out) return mw_fail(err, MW_IO, "no memory for the text of the graph");
  fprintf(out, "digraph moonwarp {\n  node [shape = box];\n");
  for (int i = 0; i < graph->count; i++) {
    fprintf(out, "  n%d [label = \"", i + 1);
    graph->nodes[i].op.type->label(&graph->nodes[i].op, out);
    fprintf(out, "\"];\n");
    for (int k = 0; k < graph->nodes[i].nneeds; k++)
      fprintf(out, "  n%d -> n%d;\n", graph->nodes[i].needs[k] + 1, i + 1);
  }
  fprintf(out, "}\n");
  fclose(out);
  *text = mw_strdup(written);
  free(written);
  return MW_OK;
}
