/* SPDX-License-Identifier: MIT
 *
 * Graphs: launches captured from a stream, replayed as one. The capture is a relaxed one, because the collector may
 * release things in the middle of it; what a release would do to the device waits until the capture ends. A graph
 * holds the modules of its kernels. */
#include <assert.h>
#include <stdio.h>

#include "core/backend/cuda/objects.h"
#include "core/backend/reject.h"

static cuda_graph *graph_of(mw_graph *graph) {
  return (cuda_graph *)graph;
}

static cuda_stream *capturer; /* in which the capture began */

/* ---- capture --------------------------------------------------------------------------------------------------- */

mw_status cuda_capture_begin(mw_stream *base, mw_error *err) {
  cuda_device *device = cuda_device_of(base->device);
  cuda_stream *stream = (cuda_stream *)base;
  assert(!cuda_capture && stream->queue);
  mw_status status = CUDA_CALL(device, err, cuStreamBeginCapture_v2, stream->queue, CUDA_CAPTURE_RELAXED);
  if (status != MW_OK) return status;
  cuda_capture = mw_calloc(1, sizeof *cuda_capture);
  cuda_capture->base.device = base->device;
  capturer = stream;
  base->capturing = true;
  return MW_OK;
}

/* After a launch the stream's last node is the launch's, and the only one that later work there depends on. */
mw_status cuda_capture_note(cuda_stream *stream, const mw_launch *l, mw_error *err) {
  cuda_device *device = cuda_device_of(stream->base.device);
  cuda_graph *graph = cuda_capture;
  const cuda_node *nodes = NULL;
  size_t count = 0;
  unsigned state = 0;
  mw_status status =
      CUDA_TRY(device, err, cuStreamGetCaptureInfo_v2, stream->queue, &state, NULL, NULL, &nodes, &count);
  if (status != MW_OK || state != CUDA_CAPTURE_ACTIVE || count != 1) return status;
  graph->launched = mw_grow(graph->launched, (size_t)graph->base.nodes, sizeof *graph->launched);
  cuda_launched *noted = &graph->launched[graph->base.nodes++];
  *noted = (cuda_launched){nodes[0], *l};
  ((cuda_module *)l->kernel->module)->graphs++;
  return MW_OK;
}

/* The last array may take its device along. */
static void close_capture(void) {
  cuda_capture = NULL;
  capturer = NULL;
  for (cuda_device *d = cuda_open_devices, *next; d; d = next) {
    next = d->next;
    for (cuda_stream *s = d->streams; s; s = s->next) s->base.capturing = false;
    cuda_reap_streams(d);
    cuda_unload_retired(d);
    cuda_free_deferred(d);
  }
}

/* By the driver; the graph is instantiated when it is needed. */
static mw_status finish(cuda_device *device, cuda_graph *graph, bool wanted, mw_error *err) {
  mw_status status = cuda_enter(device, err);
  if (status != MW_OK) return status;
  cuda_result code = cuda_driver.cuStreamEndCapture(capturer->queue, &graph->drawing);
  if (code == CUDA_CAPTURE_UNJOINED) return wanted ? mw_reject_capture(err) : MW_OK;
  status = cuda_check(device, code, "cuStreamEndCapture", err);
  if (status != MW_OK || !wanted) return status;
  return CUDA_TRY(device, err, cuGraphInstantiateWithFlags, &graph->replay, graph->drawing, 0);
}

mw_status cuda_capture_end(mw_stream *base, mw_graph **out, mw_error *err) {
  cuda_device *device = cuda_device_of(base->device);
  cuda_graph *graph = cuda_capture;
  assert(capturer == (cuda_stream *)base);
  mw_status status = finish(device, graph, out != NULL, err);
  if (status == MW_OK && out) *out = &graph->base;
  close_capture();
  if (status != MW_OK || !out) cuda_graph_destroy(&graph->base);
  return status;
}

/* ---- replay ---------------------------------------------------------------------------------------------------- */

mw_status cuda_graph_launch(mw_graph *graph, mw_stream *stream, mw_error *err) {
  cuda_device *device = cuda_device_of(graph->device);
  if (stream->capturing)
    return mw_fail(err, MW_UNSUPPORTED, "a graph cannot be captured into another on a CUDA device");
  mw_status status = CUDA_CALL(device, err, cuGraphLaunch, graph_of(graph)->replay, ((cuda_stream *)stream)->queue);
  return status == MW_OK && device->sync_each ? cuda_wait((cuda_stream *)stream, err) : status;
}

mw_status cuda_graph_update(mw_graph *graph, int node, const mw_launch *l, mw_error *err) {
  cuda_device *device = cuda_device_of(l->kernel->module->device); /* any, whose streams were in the capture */
  cuda_launched *noted = &graph_of(graph)->launched[node];
  cuda_kernel *kernel = (cuda_kernel *)l->kernel;
  assert(node < graph->nodes && noted->launch.kernel == l->kernel);
  mw_status status = cuda_enter(device, err);
  if (status == MW_OK) status = cuda_allow_shared(kernel, l->shared, err);
  cuda_node_params params = {.func = kernel->function, .shared = (unsigned)l->shared, .params = l->params};
  params.grid_x = l->grid[0], params.grid_y = l->grid[1], params.grid_z = l->grid[2];
  params.block_x = l->block[0], params.block_y = l->block[1], params.block_z = l->block[2];
  if (status == MW_OK)
    status = CUDA_TRY(device, err, cuGraphExecKernelNodeSetParams_v2, graph_of(graph)->replay, noted->node, &params);
  if (status == MW_OK) noted->launch = *l;
  return status;
}

void cuda_graph_destroy(mw_graph *base) {
  cuda_graph *graph = graph_of(base);
  cuda_device *device = cuda_device_of(base->device);
  if (!device->lost && cuda_enter(device, NULL) == MW_OK) {
    if (graph->replay) cuda_driver.cuGraphExecDestroy(graph->replay);
    if (graph->drawing) cuda_driver.cuGraphDestroy(graph->drawing);
  }
  for (int i = 0; i < base->nodes; i++) cuda_module_release((cuda_module *)graph->launched[i].launch.kernel->module);
  mw_free(graph->launched);
  mw_free(graph);
}

/* ---- dot ------------------------------------------------------------------------------------------------------- */

typedef struct drawing { /* what the driver says of the graph */
  cuda_node *nodes, *from, *to;
  size_t nnodes, nedges;
} drawing;

static mw_status read_drawing(cuda_device *device, cuda_drawing graph, drawing *d, mw_error *err) {
  mw_status status = CUDA_TRY(device, err, cuGraphGetNodes, graph, NULL, &d->nnodes);
  if (status == MW_OK) status = CUDA_TRY(device, err, cuGraphGetEdges, graph, NULL, NULL, &d->nedges);
  if (status != MW_OK) return status;
  d->nodes = mw_calloc(d->nnodes, sizeof *d->nodes);
  d->from = mw_calloc(d->nedges, sizeof *d->from);
  d->to = mw_calloc(d->nedges, sizeof *d->to);
  if (d->nnodes) status = CUDA_TRY(device, err, cuGraphGetNodes, graph, d->nodes, &d->nnodes);
  if (d->nedges && status == MW_OK) status = CUDA_TRY(device, err, cuGraphGetEdges, graph, d->from, d->to, &d->nedges);
  return status;
}

static const char *node_kind(cuda_node node) {
  static const char *const kinds[] = {[CUDA_NODE_KERNEL] = "kernel",
                                      [CUDA_NODE_MEMCPY] = "copy",
                                      [CUDA_NODE_MEMSET] = "fill",
                                      [CUDA_NODE_HOST] = "host"};
  unsigned type = CUDA_NODE_EMPTY;
  cuda_driver.cuGraphNodeGetType(node, &type);
  return type < sizeof kinds / sizeof *kinds ? kinds[type] : "node";
}

static void write_node(FILE *out, const cuda_graph *graph, cuda_node node, size_t index) {
  for (int i = 0; i < graph->base.nodes; i++) {
    const mw_launch *l = &graph->launched[i].launch;
    if (graph->launched[i].node != node) continue;
    fprintf(out, "  n%zu [shape=box, label=\"%d: %s\\ngrid %u %u %u, block %u %u %u\"];\n", index, i + 1,
            l->kernel->name, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2]);
    return;
  }
  fprintf(out, "  n%zu [label=\"%s\"];\n", index, node_kind(node));
}

static size_t index_of(const drawing *d, cuda_node node) {
  size_t i = 0;
  while (i < d->nnodes && d->nodes[i] != node) i++;
  return i;
}

static char *write_dot(const cuda_graph *graph, const drawing *d) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return mw_strdup("digraph graph_ {\n}\n");
  fprintf(out, "digraph moonwarp {\n");
  for (size_t i = 0; i < d->nnodes; i++) write_node(out, graph, d->nodes[i], i);
  for (size_t i = 0; i < d->nedges; i++)
    fprintf(out, "  n%zu -> n%zu;\n", index_of(d, d->from[i]), index_of(d, d->to[i]));
  fprintf(out, "}\n");
  fclose(out);
  return text;
}

mw_status cuda_graph_dot(mw_graph *base, char **out, mw_error *err) {
  cuda_device *device = cuda_device_of(base->device);
  drawing d = {.nodes = NULL};
  mw_status status = cuda_enter(device, err);
  if (status == MW_OK) status = read_drawing(device, graph_of(base)->drawing, &d, err);
  if (status == MW_OK) *out = write_dot(graph_of(base), &d);
  mw_free(d.nodes);
  mw_free(d.from);
  mw_free(d.to);
  return status;
}
