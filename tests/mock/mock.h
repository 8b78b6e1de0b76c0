/* SPDX-License-Identifier: MIT
 *
 * What the files of the fake driver share: its objects, and how a call begins. */
#ifndef MW_TESTS_MOCK_H
#define MW_TESTS_MOCK_H

#include "core/backend/cuda/driver.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define PROTOTYPE(name, arguments) cuda_result name arguments;
CUDA_DRIVER_CALLS(PROTOTYPE)

enum {
  INVALID_VALUE = 1,
  INVALID_HANDLE = 400,
  NOT_SUPPORTED = 801,
  STREAM_CAPTURE_UNSUPPORTED = 900,
  STREAM_CAPTURE_INVALIDATED = 901,
  STREAM_CAPTURE_MERGE = 902,
  STREAM_CAPTURE_UNMATCHED = 903,
  STREAM_CAPTURE_ISOLATION = 905,
  STREAM_CAPTURE_IMPLICIT = 906,
  CAPTURED_EVENT = 907
};
enum { MOST_NODES = 64, MOST_ARGUMENTS = 8, MOST_TAILS = 4 };

struct CUctx_st {
  int device;
};
struct tails { /* the nodes that the next one must follow */
  cuda_node node[MOST_TAILS];
  int count;
};
struct CUevent_st {
  double seconds;
  bool recorded, timing;
  unsigned capture; /* its number; 0: recorded in none */
  struct tails tails;
};
struct CUmod_st {
  char *image;
  size_t bytes;
  struct variable {
    char name[128];
    void *storage;
    size_t bytes;
  } variables[16];
};
struct CUfunc_st {
  struct CUmod_st *module;
  char name[256];
  int dynamic;
};
struct move { /* a copy, or where from is NULL a fill */
  char *to;
  const char *from;
  size_t bytes, pitch, count;
  uint32_t pattern;
};
struct CUgraphNode_st {
  unsigned type;
  struct move move;
  struct CUfunc_st *function;
  uint64_t values[MOST_ARGUMENTS];
  int after[MOST_TAILS], nafter;
};
struct CUgraph_st {
  struct CUgraphNode_st nodes[MOST_NODES];
  int count;
  unsigned capture;
  bool invalid;
};
struct CUgraphExec_st {
  struct CUgraph_st drawing;
  struct CUgraph_st *of;
};
struct CUstream_st {
  bool non_blocking, origin;
  struct CUgraph_st *graph; /* NULL: not captured */
  struct tails tails;
  cuda_queue next;
};

enum kind { MEMORY, PINNED, REGISTERED, STREAM, EVENT, MODULE, GRAPH, REPLAY, CONTEXT, TEXELS, IMAGE, KINDS };

int mock_cuda_live(const char *kind);    /* objects of that kind that were not destroyed */
int mock_cuda_calls(const char *name);   /* calls of that entry point */
const char *mock_cuda_last_kernel(void); /* mangled name of the last kernel carried out */

extern int mock_live[KINDS];
extern cuda_queue mock_streams;           /* all but the default one */
cuda_queue mock_queue(cuda_queue stream); /* that itself, or the per-thread default stream's */

void mock_ran(const char *kernel);
cuda_result __attribute__((format(printf, 1, 2))) mock_tell(const char *format, ...); /* a hint; CUDA_OK */
void *mock_new(size_t bytes); /* zeroed, 256-byte aligned; all are in one list, so none looks lost to a leak checker */
void mock_drop(void *);       /* NULL: nothing */
size_t mock_size(const void *);
cuda_result mock_enter(int index);
bool mock_noted(cuda_queue stream, unsigned type); /* work became a node of a capture: not to be done now */
void mock_move(const struct move *);
cuda_result mock_allowed(cuda_queue stream); /* work in it, as far as captures go */

enum {
#define INDEX(name, arguments) index_##name,
  CUDA_DRIVER_CALLS(INDEX)
};

#define ENTER(name)                                                                                                    \
  do {                                                                                                                 \
    cuda_result injected_code = mock_enter(index_##name);                                                              \
    if (injected_code) return injected_code;                                                                           \
  } while (0)

#endif
