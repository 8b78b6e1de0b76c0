/* SPDX-License-Identifier: MIT
 *
 * A stand-in for libnccl.so.2 (tests/library/nccl_spec.lua) on the host's memory: what a group holds is carried out when it
 * ends, on floats; other types are copied. Communicators that are alive at exit are told, and with MOCK_CUDA_TELL=1 so
 * is each call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mock/mock.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

typedef struct world {
  int ranks;
} world;

typedef struct comm {
  world *world;
  int rank;
} comm;

enum { REDUCE, GATHER, SCATTER, BROADCAST, SEND, RECV };

typedef struct part { /* a call of a rank */
  int kind, type, op, root; /* root: -1: all get the result; of SEND and RECV the peer */
  const char *in;
  char *out;
  size_t count; /* of the input; of SCATTER of the output */
  comm *of;
  const void *stream;
} part;

enum { MOST = 64 };
static part parts[MOST];
static int nparts, depth, comms;

static void __attribute__((destructor)) tell_leaks(void) {
  if (comms) fprintf(stderr, "mock nccl: leak: %d communicators\n", comms);
}

const char *ncclGetErrorString(int status) {
  return status == 5 ? "invalid usage" : "unknown";
}

int ncclCommInitAll(comm **out, int count, const int *devices) {
  world *all = malloc(sizeof *all);
  all->ranks = count;
  for (int i = 0; i < count; i++) {
    out[i] = malloc(sizeof **out);
    *out[i] = (comm){all, i};
    mock_tell("rank %d on device %d\n", i, devices[i]);
    comms++;
  }
  return 0;
}

int ncclCommDestroy(comm *self) {
  free(self);
  comms--;
  return 0;
}

static size_t width(int type) {
  static const size_t widths[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return widths[type];
}

static float both(int op, float a, float b) {
  return op == 1 ? a * b : op == 2 ? (a > b ? a : b) : op == 3 ? (a < b ? a : b) : a + b;
}

/* of[rank]: the part of each rank. */
static void reduce(part *const of[], int ranks, size_t first, size_t count, float *out) {
  for (size_t i = 0; i < count; i++) {
    float sum = ((const float *)of[0]->in)[first + i];
    for (int r = 1; r < ranks; r++) sum = both(of[0]->op, sum, ((const float *)of[r]->in)[first + i]);
    out[i] = of[0]->op == 4 ? sum / (float)ranks : sum;
  }
}

static void collect(part *const of[], int ranks) {
  const part *p = of[0];
  const size_t bytes = p->count * width(p->type);
  float *sums = malloc((p->count + 1) * sizeof *sums * (size_t)ranks);
  if (p->kind == REDUCE) reduce(of, ranks, 0, p->count, sums);
  if (p->kind == SCATTER) reduce(of, ranks, 0, p->count * (size_t)ranks, sums);
  for (int r = 0; r < ranks; r++) {
    if (p->kind == REDUCE && (p->root < 0 || p->root == r)) memcpy(of[r]->out, sums, bytes);
    if (p->kind == SCATTER) memcpy(of[r]->out, sums + (size_t)r * p->count, bytes);
    if (p->kind == BROADCAST) memmove(of[r]->out, of[p->root]->in, bytes);
    for (int k = 0; p->kind == GATHER && k < ranks; k++) memmove(of[r]->out + (size_t)k * bytes, of[k]->in, bytes);
  }
  free(sums);
}

static void drop(part *p) {
  p->of = NULL;
}

/* The first call that is left of the rank; of a transfer the first to or from the peer. */
static part *next_of(const world *all, int rank, int kind, int peer) {
  for (part *p = parts; p < parts + nparts; p++)
    if (p->of && p->of->world == all && p->of->rank == rank && p->kind == kind && (peer < 0 || p->root == peer)) return p;
  return NULL;
}

static int run(part *first) {
  part *of[MOST];
  const world *all = first->of->world;
  if (first->kind == SEND || first->kind == RECV) {
    const int rank = first->of->rank;
    part *other = next_of(all, first->root, first->kind == SEND ? RECV : SEND, rank);
    if (!other || other->count != first->count) return 5;
    const part *from = first->kind == SEND ? first : other, *to = first->kind == SEND ? other : first;
    memcpy(to->out, from->in, from->count * width(from->type));
    drop(other);
    drop(first);
    return 0;
  }
  for (int r = 0; r < all->ranks; r++)
    if (!(of[r] = next_of(all, r, first->kind, -1))) return 5;
  const int ranks = all->ranks;
  collect(of, ranks);
  for (int r = 0; r < ranks; r++) drop(of[r]);
  return 0;
}

int ncclGroupStart(void) {
  depth++;
  return 0;
}

int ncclGroupEnd(void) {
  int status = 0;
  if (--depth) return 0;
  for (part *p = parts; p < parts + nparts; p++) {
    if (p->of && !status) status = run(p);
  }
  nparts = 0;
  return status;
}

static int add(part p) {
  mock_tell("call %d of type %d, %zu elements, op %d, %d, %s stream\n", p.kind, p.type, p.count, p.op, p.root,
            p.stream ? "a" : "the default");
  ncclGroupStart();
  parts[nparts++] = p;
  return ncclGroupEnd();
}

int ncclAllReduce(const void *in, void *out, size_t count, int type, int op, comm *self, const void *stream) {
  return add((part){REDUCE, type, op, -1, in, out, count, self, stream});
}

int ncclReduce(const void *in, void *out, size_t count, int type, int op, int root, comm *self, const void *stream) {
  return add((part){REDUCE, type, op, root, in, out, count, self, stream});
}

int ncclAllGather(const void *in, void *out, size_t count, int type, comm *self, const void *stream) {
  return add((part){GATHER, type, 0, 0, in, out, count, self, stream});
}

int ncclReduceScatter(const void *in, void *out, size_t count, int type, int op, comm *self, const void *stream) {
  return add((part){SCATTER, type, op, 0, in, out, count, self, stream});
}

int ncclBroadcast(const void *in, void *out, size_t count, int type, int root, comm *self, const void *stream) {
  return add((part){BROADCAST, type, 0, root, in, out, count, self, stream});
}

int ncclSend(const void *in, size_t count, int type, int peer, comm *self, const void *stream) {
  return add((part){SEND, type, 0, peer, in, NULL, count, self, stream});
}

int ncclRecv(void *out, size_t count, int type, int peer, comm *self, const void *stream) {
  return add((part){RECV, type, 0, peer, NULL, out, count, self, stream});
}
