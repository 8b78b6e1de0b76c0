/* SPDX-License-Identifier: MIT
 *
 * Capture: a stream that is captured records what it is given. Its tails are the nodes the next one must follow; an
 * event recorded in it remembers the tails; a stream that waits for such an event joins the capture, as in CUDA. */
#include "core/backend/cpu/graph.h"

#include <assert.h>
#include <string.h>

/* ---- tails ----------------------------------------------------------------------------------------------------- */

static void set_tails(cpu_stream *stream, const int *nodes, int count) {
  if (count > stream->tails_room) {
    stream->tails = mw_realloc(stream->tails, (size_t)count * sizeof *nodes);
    stream->tails_room = count;
  }
  if (count) memcpy(stream->tails, nodes, (size_t)count * sizeof *nodes);
  stream->ntails = count;
}

static void add_tail(cpu_stream *stream, int node) {
  for (int i = 0; i < stream->ntails; i++)
    if (stream->tails[i] == node) return;
  if (stream->ntails == stream->tails_room) {
    stream->tails_room = stream->tails_room ? 2 * stream->tails_room : 8;
    stream->tails = mw_realloc(stream->tails, (size_t)stream->tails_room * sizeof *stream->tails);
  }
  stream->tails[stream->ntails++] = node;
}

/* ---- entering and leaving -------------------------------------------------------------------------------------- */

static void enter(cpu_stream *stream, cpu_graph *graph, bool origin) {
  stream->capture = graph;
  stream->capture_origin = origin;
  stream->ntails = 0;
  stream->base.capturing = true;
}

static void leave(cpu_stream *stream) {
  stream->capture = NULL;
  stream->base.capturing = false;
}

static void leave_all(cpu_device *device, cpu_graph *graph) {
  graph->open = false;
  for (cpu_stream *stream = device->streams; stream; stream = stream->next)
    if (stream->capture == graph) leave(stream);
}

void cpu_capture_break(cpu_stream *stream) {
  cpu_graph *graph = stream->capture;
  if (!stream->capture_origin) {
    leave(stream);
    return;
  }
  leave_all((cpu_device *)stream->base.device, graph);
  cpu_graph_release(graph);
}

mw_status cpu_graph_begin(mw_stream *base, mw_error *err) {
  cpu_stream *stream = (cpu_stream *)base;
  (void)err;
  assert(stream->worker && !base->capturing);
  cpu_graph *graph = mw_calloc(1, sizeof *graph);
  graph->base.device = base->device;
  graph->open = true;
  atomic_init(&graph->refs, 1);
  enter(stream, graph, true);
  return MW_OK;
}

/* ---- ending ---------------------------------------------------------------------------------------------------- */

/* Nodes come after all they depend on, so one pass from the last to the first marks all that leads to `tails`. */
static void mark(const cpu_graph *graph, bool *reached, const int *tails, int ntails) {
  for (int i = 0; i < ntails; i++) reached[tails[i]] = true;
  for (int node = graph->count - 1; node >= 0; node--)
    for (int i = 0; reached[node] && i < graph->nodes[node].nneeds; i++) reached[graph->nodes[node].needs[i]] = true;
}

/* Everything other streams were given must lead to the origin's end, as CUDA demands. */
static bool all_joined(cpu_stream *origin, const cpu_graph *graph) {
  bool joined = true, *reached = mw_calloc((size_t)graph->count + 1, sizeof *reached);
  mark(graph, reached, origin->tails, origin->ntails);
  for (cpu_stream *other = ((cpu_device *)origin->base.device)->streams; other; other = other->next) {
    if (other->capture != graph || other == origin) continue;
    for (int i = 0; i < other->ntails; i++) joined = joined && reached[other->tails[i]];
  }
  mw_free(reached);
  return joined;
}

mw_status cpu_graph_end(mw_stream *base, mw_graph **out, mw_error *err) {
  cpu_stream *stream = (cpu_stream *)base;
  cpu_graph *graph = stream->capture;
  assert(graph && stream->capture_origin);
  const bool joined = all_joined(stream, graph);
  leave_all((cpu_device *)base->device, graph);
  if (joined && out) {
    *out = &graph->base;
    return MW_OK;
  }
  cpu_graph_release(graph);
  if (joined || !out) return MW_OK;
  return mw_fail(err, MW_INVALID,
                 "a stream that joined the capture was not joined back: record an event on it and let the captured "
                 "stream wait for that");
}

/* ---- operations ------------------------------------------------------------------------------------------------ */

static int add_node(cpu_graph *graph, const cpu_op *op, size_t args_bytes, const int *needs, int nneeds) {
  if (graph->count == graph->room) {
    graph->room = graph->room ? 2 * graph->room : 16;
    graph->nodes = mw_realloc(graph->nodes, (size_t)graph->room * sizeof *graph->nodes);
  }
  cpu_node *node = &graph->nodes[graph->count];
  *node = (cpu_node){.op = *op, .args_bytes = args_bytes, .nneeds = nneeds};
  node->needs = mw_malloc((size_t)nneeds * sizeof *needs);
  if (nneeds) memcpy(node->needs, needs, (size_t)nneeds * sizeof *needs);
  if (op->kind == CPU_OP_LAUNCH) {
    node->args = mw_malloc(args_bytes);
    if (args_bytes) memcpy(node->args, op->launch.args, args_bytes);
    node->op.launch.args = node->args;
    graph->base.nodes++;
  }
  if (op->kind == CPU_OP_GRAPH) cpu_graph_retain(op->graph);
  return graph->count++;
}

mw_status cpu_capture_op(cpu_stream *stream, const cpu_op *op, size_t args_bytes) {
  assert(op->kind != CPU_OP_CALL);
  int node = add_node(stream->capture, op, args_bytes, stream->tails, stream->ntails);
  set_tails(stream, &node, 1);
  return MW_OK;
}

void cpu_capture_forget(cpu_event *event) {
  if (!event->capture) return;
  cpu_graph_release(event->capture);
  mw_free(event->nodes);
  event->capture = NULL;
  event->nodes = NULL;
}

mw_status cpu_capture_record(cpu_stream *stream, cpu_event *event) {
  cpu_capture_forget(event);
  cpu_graph_retain(stream->capture);
  event->capture = stream->capture;
  event->nnodes = stream->ntails;
  event->nodes = mw_malloc((size_t)stream->ntails * sizeof *event->nodes);
  if (stream->ntails) memcpy(event->nodes, stream->tails, (size_t)stream->ntails * sizeof *event->nodes);
  return MW_OK;
}

mw_status cpu_capture_wait(cpu_stream *stream, cpu_event *event) {
  assert(event->capture && event->capture->open && stream->worker);
  if (!stream->base.capturing) enter(stream, event->capture, false);
  assert(stream->capture == event->capture);
  for (int i = 0; i < event->nnodes; i++) add_tail(stream, event->nodes[i]);
  return MW_OK;
}
