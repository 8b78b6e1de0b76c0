/* SPDX-License-Identifier: MIT
 *
 * What the files of the fake driver share: its objects, and how a call begins. */
#ifndef MW_TESTS_MOCK_H
#define MW_TESTS_MOCK_H

#include "core/backend/cuda/driver.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define PROTOTYPE(name, arguments) cuda_result name arguments;
CUDA_DRIVER_CALLS(PROTOTYPE)

enum { INVALID_VALUE = 1, NOT_SUPPORTED = 801, STREAM_CAPTURE_UNSUPPORTED = 900, STREAM_CAPTURE_IMPLICIT = 906 };
enum { MOST_NODES = 64, MOST_ARGUMENTS = 8 };

struct CUctx_st {
  int device;
};
struct CUevent_st {
  double seconds;
  bool recorded, timing;
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
struct CUgraphNode_st {
  unsigned type;
  struct CUfunc_st *function;
  uint64_t values[MOST_ARGUMENTS];
  int after;
};
struct CUgraph_st {
  struct CUgraphNode_st nodes[MOST_NODES];
  int count;
};
struct CUgraphExec_st {
  struct CUgraph_st drawing;
  struct CUgraph_st *of;
};
struct CUstream_st {
  bool capturing, non_blocking;
  struct CUgraph_st *graph;
  cuda_node last;
};

enum kind { MEMORY, PINNED, STREAM, EVENT, MODULE, GRAPH, REPLAY, CONTEXT, KINDS };

int mock_cuda_live(const char *kind);    /* objects of that kind that were not destroyed */
int mock_cuda_calls(const char *name);   /* calls of that entry point */
const char *mock_cuda_last_kernel(void); /* mangled name of the last kernel carried out */

extern int mock_live[KINDS];
extern int mock_capturing; /* streams */

void mock_ran(const char *kernel);
void *mock_new(size_t bytes); /* zeroed, 256-byte aligned; all are in one list, so none looks lost to a leak checker */
void mock_drop(void *);       /* NULL: nothing */
size_t mock_size(const void *);
cuda_result mock_enter(int index);
bool mock_noted(cuda_queue stream, unsigned type); /* work became a node of a capture: not to be done now */

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
