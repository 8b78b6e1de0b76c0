/* SPDX-License-Identifier: MIT
 *
 * CUDA's runtime for the host part of a program, over the interface to devices: what the files of this folder share. A
 * process runs one program. Any of its threads may call; one lock keeps them apart. */
#ifndef MW_RUNTIME_H
#define MW_RUNTIME_H

#include <pthread.h>

#include "core/backend/refs.h"
#include "core/runtime/host_object.h"
#include "core/runtime/include/cuda_runtime_api.h"
#include "core/runtime/symbols.h"

typedef struct runtime_place { /* of a launch, in the host part */
  const char *file;
  int line; /* 0: none yet */
} runtime_place;

typedef struct runtime_kernel {
  const runtime_symbol *symbol;
  mw_launch launch;   /* its kernel is NULL before the first use */
  int shared_allowed; /* bytes of dynamic shared memory that the program has asked for; 0: it has not */
} runtime_kernel;

typedef struct runtime_state {
  mw_device *device;
  mw_module **modules; /* of each source; NULL: it has no kernels */
  int nmodules;
  char *base;          /* where the host part is loaded */
  runtime_symbols symbols;
  runtime_kernel *kernels; /* one for each symbol that is a kernel's */
  int nkernels;
  pthread_mutex_t lock;
  cudaError_t lost; /* what a kernel's fault has made of every later call; cudaSuccess: there was none */
  runtime_place latest; /* launch in any stream */
  bool failed;      /* something was told that makes the exit status bad */
} runtime_state;

extern runtime_state runtime;


/* ---- errors.c --------------------------------------------------------------------------------------------------- */

/* Every call of the interface is between these: false, and the refusal is the result. */
bool runtime_enter(void);
cudaError_t runtime_refused(void); /* of every call: the lost device's error; not permitted; cudaSuccess: it is not */
extern _Thread_local bool runtime_called_back; /* by a stream: a function of the host may make no calls there */
cudaError_t runtime_leave(cudaError_t); /* notes it as the last error */
void runtime_left(const cudaError_t *);
#define RUNTIME_CALL(expression) (runtime_enter() ? runtime_leave(expression) : runtime_refused())
/* The same for a function whose returns are `return result = ...`. */
#define RUNTIME_ENTER(result)                                                                                          \
  if (!runtime_enter()) return runtime_refused();                                                                      \
  __attribute__((cleanup(runtime_left))) cudaError_t result = cudaSuccess

/* The runtime's error for a backend's. A fault of a kernel, and what is wrong with moonwarp's side, is told on stderr with
 * the launch that it came from, of a queued one the latest. Clears the error. */
cudaError_t runtime_error(mw_error *, const runtime_place *);
/* "moonwarp: x.cu:12: text" */
void runtime_tell(const runtime_place *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- memory.c --------------------------------------------------------------------------------------------------- */

mw_place runtime_locate(const void *); /* in an array, or plain host memory */

/* ---- streams.c -------------------------------------------------------------------------------------------------- */

mw_stream *runtime_stream(cudaStream_t); /* NULL: there is none */
runtime_place *runtime_last_launch(cudaStream_t);
cudaError_t runtime_synchronize(void);

#endif
