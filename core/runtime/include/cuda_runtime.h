/* SPDX-License-Identifier: MIT
 *
 * What nvcc includes first in every .cu file, as the host part needs it: types, the runtime's calls, their templates, and
 * the functions that CUDA adds to the C library's. Words such as __global__ are no macros: core/runtime/host_text.c reads
 * them. */
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda_runtime_api.h"
#include "vector_functions.h"

#if defined(__cplusplus)

/* ---- templates of calls: the same with a pointer, a symbol or a kernel of its own type ---- */

#define MW_TYPED(name, parameters, ...) \
  template <class T> cudaError_t name parameters { return name(__VA_ARGS__); }
#define MW_KERNEL(name, parameters, ...) \
  template <class... P> cudaError_t name parameters { return name(__VA_ARGS__); }
#define MW_INLINE(name, parameters, ...) inline cudaError_t name parameters { return name(__VA_ARGS__); }

MW_TYPED(cudaMalloc, (T **p, size_t bytes), (void **)(void *)p, bytes)
MW_TYPED(cudaMallocHost, (T **p, size_t bytes, unsigned = 0), (void **)(void *)p, bytes)
MW_TYPED(cudaHostAlloc, (T **p, size_t bytes, unsigned flags), (void **)(void *)p, bytes, flags)
MW_TYPED(cudaMallocManaged, (T **p, size_t bytes, unsigned = cudaMemAttachGlobal), (void **)(void *)p, bytes)
MW_TYPED(cudaMallocPitch, (T **p, size_t *pitch, size_t width, size_t height), (void **)(void *)p, pitch, width, height)
MW_TYPED(cudaMallocAsync, (T **p, size_t bytes, cudaStream_t stream), (void **)(void *)p, bytes, stream)
MW_TYPED(cudaHostGetDevicePointer, (T **p, void *host, unsigned flags), (void **)(void *)p, host, flags)
MW_TYPED(cudaMemcpyToSymbol, (const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                              cudaMemcpyKind kind = cudaMemcpyHostToDevice),
         (const void *)&symbol, from, bytes, offset, kind)
MW_TYPED(cudaMemcpyFromSymbol, (void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                cudaMemcpyKind kind = cudaMemcpyDeviceToHost),
         to, (const void *)&symbol, bytes, offset, kind)
MW_TYPED(cudaMemcpyToSymbolAsync, (const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                                   cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0),
         (const void *)&symbol, from, bytes, offset, kind, stream)
MW_TYPED(cudaMemcpyFromSymbolAsync, (void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                     cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = 0),
         to, (const void *)&symbol, bytes, offset, kind, stream)
MW_TYPED(cudaGetSymbolAddress, (void **address, const T &symbol), address, (const void *)&symbol)
MW_TYPED(cudaGetSymbolSize, (size_t *bytes, const T &symbol), bytes, (const void *)&symbol)
MW_KERNEL(cudaLaunchKernel, (void (*kernel)(P...), dim3 grid, dim3 block, void **args, size_t shared = 0,
                             cudaStream_t stream = 0, MW_HERE),
          (const void *)kernel, grid, block, args, shared, stream, file, line)
MW_KERNEL(cudaLaunchCooperativeKernel, (void (*kernel)(P...), dim3 grid, dim3 block, void **args, size_t shared = 0,
                                        cudaStream_t stream = 0, MW_HERE),
          (const void *)kernel, grid, block, args, shared, stream, file, line)
MW_KERNEL(cudaFuncSetCacheConfig, (void (*kernel)(P...), cudaFuncCache config), (const void *)kernel, config)
MW_KERNEL(cudaFuncSetSharedMemConfig, (void (*kernel)(P...), cudaSharedMemConfig config), (const void *)kernel, config)
MW_KERNEL(cudaFuncSetAttribute, (void (*kernel)(P...), cudaFuncAttribute which, int value), (const void *)kernel, which,
          value)
MW_KERNEL(cudaFuncGetAttributes, (cudaFuncAttributes *out, void (*kernel)(P...)), out, (const void *)kernel)
MW_KERNEL(cudaOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, void (*kernel)(P...), int threads, size_t shared),
          blocks, (const void *)kernel, threads, shared)
MW_INLINE(cudaMemPrefetchAsync, (const void *p, size_t bytes, cudaMemLocation where, unsigned, cudaStream_t stream = 0),
          p, bytes, where.id, stream)
MW_INLINE(cudaMemAdvise, (const void *p, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation where), p, bytes,
          advice, where.id)
MW_INLINE(cudaGraphInstantiate, (cudaGraphExec_t *exec, cudaGraph_t graph, void *, char *, size_t), exec, graph, 0ull)
inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned flags) {
  return cudaEventCreateWithFlags(event, flags);
}
template <class F>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, F *kernel, int threads, size_t shared,
                                                                   unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, threads, shared);
}
/* The largest block that the kernel can run in; a grid that has each core busy. */
template <class F, class Shared>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, F *kernel, Shared shared,
                                                           int most = 0) {
  cudaFuncAttributes attributes;
  int device = 0, cores = 1, each = 1;
  cudaError_t error = cudaFuncGetAttributes(&attributes, (const void *)kernel);
  if (error) return error;
  *block = most && most < attributes.maxThreadsPerBlock ? most : attributes.maxThreadsPerBlock;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&cores, cudaDevAttrMultiProcessorCount, device);
  error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, (const void *)kernel, *block, (size_t)shared(*block));
  *grid = cores * each;
  return error;
}
template <class F>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, F *kernel, size_t shared = 0, int most = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, kernel, [shared](int) { return shared; }, most);
}

inline cudaMemLocation make_cudaMemLocation(cudaMemLocationType type, int id) { return cudaMemLocation{type, id}; }

/* ---- launches: core/runtime/host_text.c writes calls of these ---- */

struct moonwarp_site { /* of a kernel, or of an instance of one */
  void *kernel;
};
extern "C" {
void moonwarp_configure(dim3 grid, dim3 block, size_t shared, cudaStream_t, const char *file, int line);
void moonwarp_launch(moonwarp_site *, void **arguments);
}
static inline void moonwarp_push(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0, MW_HERE) {
  moonwarp_configure(grid, block, shared, stream, file, line);
}

/* ---- what CUDA adds to <math.h> ---- */

#define MW_LEAST_MOST(T)                                                                                               \
  static inline T min(T a, T b) { return b < a ? b : a; }                                                              \
  static inline T max(T a, T b) { return a < b ? b : a; }
MW_LEAST_MOST(int)
MW_LEAST_MOST(unsigned)
MW_LEAST_MOST(long)
MW_LEAST_MOST(unsigned long)
MW_LEAST_MOST(long long)
MW_LEAST_MOST(unsigned long long)
MW_LEAST_MOST(float)
MW_LEAST_MOST(double)
#undef MW_LEAST_MOST
#define MW_LEAST_MOST(R, A, B)                                                                                         \
  static inline R min(A a, B b) { return min((R)a, (R)b); }                                                            \
  static inline R min(B a, A b) { return min((R)a, (R)b); }                                                            \
  static inline R max(A a, B b) { return max((R)a, (R)b); }                                                            \
  static inline R max(B a, A b) { return max((R)a, (R)b); }
MW_LEAST_MOST(unsigned, int, unsigned)
MW_LEAST_MOST(unsigned long, long, unsigned long)
MW_LEAST_MOST(unsigned long long, long long, unsigned long long)
MW_LEAST_MOST(double, float, double)
#undef MW_LEAST_MOST
static inline float rsqrtf(float x) { return 1 / sqrtf(x); }
static inline double rsqrt(double x) { return 1 / sqrt(x); }
static inline float rsqrt(float x) { return rsqrtf(x); }
static inline float exp10f(float x, int = 0) { return powf(10, x); }

#endif
#endif
