/* SPDX-License-Identifier: MIT
 *
 * Graphs: making, replaying, changing and printing them. capture.c fills them. */
#include "core/backend/cpu/graph.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ------------------------------------------------------------------------------------------------------ */

void cpu_graph_retain(cpu_graph *graph) {
  atomic_fetch_add(&graph->refs, 1);
}

static void free_node(cpu_node *node) {
  if (node->op.kind == CPU_OP_GRAPH) cpu_graph_release(node->op.graph);
  mw_free(node->args);
  mw_free(node->needs);
}

void cpu_graph_release(cpu_graph *graph) {
  if (atomic_fetch_sub(&graph->refs, 1) != 1) return;
  for (int i = 0; i < graph->count; i++) free_node(&graph->nodes[i]);
  mw_free(graph->nodes);
  mw_free(graph);
}

void cpu_graph_destroy(mw_graph *graph) {
  cpu_graph_release((cpu_graph *)graph);
}

/* ---- replay ---------------------------------------------------------------------------------------------------- */

mw_status cpu_graph_run(cpu_graph *graph, cpu_device *device, cpu_worker *worker, int priority, mw_error *err) {
  for (int i = 0; i < graph->count; i++) {
    mw_status status = cpu_op_run(device, worker, priority, &graph->nodes[i].op, err);
    if (status != MW_OK) return status;
  }
  return MW_OK;
}

mw_status cpu_graph_launch(mw_graph *graph, mw_stream *base, mw_error *err) {
  cpu_stream *stream = (cpu_stream *)base;
  mw_status status = cpu_stream_take_error(stream, err);
  if (status != MW_OK) return status;
  const cpu_op op = {.kind = CPU_OP_GRAPH, .graph = (cpu_graph *)graph};
  return cpu_stream_submit(stream, &op, 0, err);
}

/* ---- changing -------------------------------------------------------------------------------------------------- */

static cpu_node *nth_launch(cpu_graph *graph, int index) {
  for (int i = 0; i < graph->count; i++)
    if (graph->nodes[i].op.kind == CPU_OP_LAUNCH && index-- == 0) return &graph->nodes[i];
  return NULL;
}

mw_status cpu_graph_update(mw_graph *base, int index, const mw_launch *launch, mw_error *err) {
  cpu_graph *graph = (cpu_graph *)base;
  cpu_node *node = nth_launch(graph, index);
  assert(node && node->op.launch.kernel == (cpu_kernel *)launch->kernel);
  mw_status status = MW_OK;
  if (atomic_load(&graph->refs) > 1) status = cpu_streams_drain((cpu_device *)base->device, false, err);
  if (status != MW_OK) return status;
  node->op.launch = cpu_launch_from(launch);
  if (node->args_bytes) memcpy(node->args, launch->args, node->args_bytes);
  node->op.launch.args = node->args;
  return MW_OK;
}

/* ---- printing -------------------------------------------------------------------------------------------------- */

static void print_label(FILE *out, const cpu_op *op) {
  const cpu_launch *launch = &op->launch;
  switch (op->kind) {
  case CPU_OP_LAUNCH:
    fprintf(out, "%s\\ngrid %u x %u x %u, block %u x %u x %u", launch->kernel->base.name, launch->grid.x,
            launch->grid.y, launch->grid.z, launch->block.x, launch->block.y, launch->block.z);
    break;
  case CPU_OP_COPY:
    fprintf(out, "copy\\n%zu bytes", op->copy.bytes);
    break;
  case CPU_OP_FILL:
    fprintf(out, "fill\\n%zu bytes", op->fill.width * op->fill.count);
    break;
  default:
    fprintf(out, "graph");
  }
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
    print_label(out, &graph->nodes[i].op);
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
