/* SPDX-License-Identifier: MIT
 *
 * The calls of CUDA's runtime that programs have on the CPU device; core/runtime implements them. Their symbols begin with
 * moonwarp_, so that they meet no other runtime in the process. docs/programs.md lists them from here: one declaration a
 * line or two, below the heading of its group. */
#ifndef __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_API_H__

#include "driver_types.h"

#define CUDART_VERSION 12040
#define CUDART_CB

#if defined(__cplusplus)
extern "C" {
#endif

#define MW_CALL(result, name, parameters)                                                                              \
  result name parameters __asm__("moonwarp_" #name) __attribute__((visibility("default")))
#define MW_API(name, parameters) MW_CALL(cudaError_t, name, parameters)

typedef void (*cudaStreamCallback_t)(cudaStream_t, cudaError_t, void *);
typedef void (*cudaHostFn_t)(void *);

/* ---- memory ---- */
MW_API(cudaMalloc, (void **, size_t));
MW_API(cudaMallocHost, (void **, size_t));
MW_API(cudaHostAlloc, (void **, size_t, unsigned));
MW_API(cudaMallocPitch, (void **, size_t *pitch, size_t width, size_t height));
MW_API(cudaMallocAsync, (void **, size_t, cudaStream_t));
MW_API(cudaFree, (void *));
MW_API(cudaFreeHost, (void *));
MW_API(cudaFreeAsync, (void *, cudaStream_t));
MW_API(cudaMemcpy, (void *, const void *, size_t, enum cudaMemcpyKind));
MW_API(cudaMemcpyPeer, (void *, int, const void *, int, size_t));
MW_API(cudaMemcpy2D, (void *, size_t, const void *, size_t, size_t, size_t, enum cudaMemcpyKind));
MW_API(cudaMemset, (void *, int, size_t));
MW_API(cudaMemset2D, (void *, size_t pitch, int, size_t width, size_t height));
MW_API(cudaMemGetInfo, (size_t *free, size_t *total));
MW_API(cudaHostGetDevicePointer, (void **, void *, unsigned));
MW_API(cudaHostGetFlags, (unsigned *, void *));
MW_API(cudaHostRegister, (void *, size_t, unsigned));
MW_API(cudaHostUnregister, (void *));
MW_API(cudaPointerGetAttributes, (struct cudaPointerAttributes *, const void *));

/* ---- device ---- */
MW_API(cudaGetDeviceCount, (int *));
MW_API(cudaGetDevice, (int *));
MW_API(cudaSetDevice, (int));
MW_API(cudaChooseDevice, (int *, const struct cudaDeviceProp *));
MW_API(cudaGetDeviceProperties, (struct cudaDeviceProp *, int));
MW_API(cudaDeviceGetAttribute, (int *, enum cudaDeviceAttr, int));
MW_API(cudaDeviceSynchronize, (void));
MW_API(cudaDeviceReset, (void));
MW_API(cudaThreadSynchronize, (void));
MW_API(cudaThreadExit, (void));
MW_API(cudaSetDeviceFlags, (unsigned));
MW_API(cudaGetDeviceFlags, (unsigned *));
MW_API(cudaDeviceSetLimit, (enum cudaLimit, size_t));
MW_API(cudaDeviceGetLimit, (size_t *, enum cudaLimit));
MW_API(cudaDeviceSetCacheConfig, (enum cudaFuncCache));
MW_API(cudaDeviceGetCacheConfig, (enum cudaFuncCache *));
MW_API(cudaDeviceSetSharedMemConfig, (enum cudaSharedMemConfig));
MW_API(cudaDeviceGetSharedMemConfig, (enum cudaSharedMemConfig *));
MW_API(cudaDeviceCanAccessPeer, (int *, int, int));
MW_API(cudaDeviceEnablePeerAccess, (int, unsigned));
MW_API(cudaDeviceDisablePeerAccess, (int));
MW_API(cudaDeviceGetStreamPriorityRange, (int *least, int *greatest));
MW_API(cudaDeviceGetPCIBusId, (char *, int, int));
MW_API(cudaRuntimeGetVersion, (int *));
MW_API(cudaDriverGetVersion, (int *));
MW_API(cudaProfilerStart, (void));
MW_API(cudaProfilerStop, (void));

/* ---- errors ---- */
MW_API(cudaGetLastError, (void));
MW_API(cudaPeekAtLastError, (void));
MW_CALL(const char *, cudaGetErrorString, (cudaError_t));
MW_CALL(const char *, cudaGetErrorName, (cudaError_t));

/* ---- streams ---- */
MW_API(cudaStreamCreate, (cudaStream_t *));
MW_API(cudaStreamCreateWithFlags, (cudaStream_t *, unsigned));
MW_API(cudaStreamCreateWithPriority, (cudaStream_t *, unsigned, int));
MW_API(cudaStreamDestroy, (cudaStream_t));
MW_API(cudaStreamSynchronize, (cudaStream_t));
MW_API(cudaStreamQuery, (cudaStream_t));
MW_API(cudaStreamGetPriority, (cudaStream_t, int *));
MW_API(cudaStreamGetFlags, (cudaStream_t, unsigned *));
MW_API(cudaStreamAddCallback, (cudaStream_t, cudaStreamCallback_t, void *, unsigned));
MW_API(cudaLaunchHostFunc, (cudaStream_t, cudaHostFn_t, void *));

/* ---- events ---- */
MW_API(cudaEventCreateWithFlags, (cudaEvent_t *, unsigned));
MW_API(cudaEventDestroy, (cudaEvent_t));
MW_API(cudaEventSynchronize, (cudaEvent_t));
MW_API(cudaEventQuery, (cudaEvent_t));
MW_API(cudaEventElapsedTime, (float *, cudaEvent_t, cudaEvent_t));

/* ---- graphs ---- */
MW_API(cudaStreamBeginCapture, (cudaStream_t, enum cudaStreamCaptureMode));
MW_API(cudaStreamEndCapture, (cudaStream_t, cudaGraph_t *));
MW_API(cudaGraphLaunch, (cudaGraphExec_t, cudaStream_t));
MW_API(cudaGraphDestroy, (cudaGraph_t));
MW_API(cudaGraphExecDestroy, (cudaGraphExec_t));

/* ---- kernels ---- */
MW_API(cudaFuncSetCacheConfig, (const void *, enum cudaFuncCache));
MW_API(cudaFuncSetSharedMemConfig, (const void *, enum cudaSharedMemConfig));
MW_API(cudaFuncSetAttribute, (const void *, enum cudaFuncAttribute, int));
MW_API(cudaFuncGetAttributes, (struct cudaFuncAttributes *, const void *));
MW_API(cudaOccupancyMaxActiveBlocksPerMultiprocessor, (int *, const void *, int threads, size_t shared));

/* Calls with arguments that may be left out in C++. */
#if defined(__cplusplus)
#define MW_OR(value) = value
#else
#define MW_OR(value)
#endif

/* ---- memory ---- */
MW_API(cudaMallocManaged, (void **, size_t, unsigned MW_OR(cudaMemAttachGlobal)));
MW_API(cudaMemcpyAsync, (void *, const void *, size_t, enum cudaMemcpyKind, cudaStream_t MW_OR(0)));
MW_API(cudaMemcpyPeerAsync, (void *, int, const void *, int, size_t, cudaStream_t MW_OR(0)));
MW_API(cudaMemcpy2DAsync,
       (void *, size_t, const void *, size_t, size_t, size_t, enum cudaMemcpyKind, cudaStream_t MW_OR(0)));
MW_API(cudaMemsetAsync, (void *, int, size_t, cudaStream_t MW_OR(0)));
MW_API(cudaMemset2DAsync, (void *, size_t, int, size_t, size_t, cudaStream_t MW_OR(0)));
MW_API(cudaMemcpyToSymbol, (const void *, const void *, size_t, size_t MW_OR(0),
                            enum cudaMemcpyKind MW_OR(cudaMemcpyHostToDevice)));
MW_API(cudaMemcpyFromSymbol, (void *, const void *, size_t, size_t MW_OR(0),
                              enum cudaMemcpyKind MW_OR(cudaMemcpyDeviceToHost)));
MW_API(cudaMemcpyToSymbolAsync,
       (const void *, const void *, size_t, size_t, enum cudaMemcpyKind, cudaStream_t MW_OR(0)));
MW_API(cudaMemcpyFromSymbolAsync, (void *, const void *, size_t, size_t, enum cudaMemcpyKind, cudaStream_t MW_OR(0)));
MW_API(cudaGetSymbolAddress, (void **, const void *));
MW_API(cudaGetSymbolSize, (size_t *, const void *));
MW_API(cudaMemAdvise, (const void *, size_t, enum cudaMemoryAdvise, int));
MW_API(cudaMemPrefetchAsync, (const void *, size_t, int, cudaStream_t MW_OR(0)));
MW_API(cudaStreamAttachMemAsync, (cudaStream_t, void *, size_t MW_OR(0), unsigned MW_OR(cudaMemAttachSingle)));

/* ---- events ---- */
MW_API(cudaEventCreate, (cudaEvent_t *));
MW_API(cudaEventRecord, (cudaEvent_t, cudaStream_t MW_OR(0)));
MW_API(cudaEventRecordWithFlags, (cudaEvent_t, cudaStream_t MW_OR(0), unsigned MW_OR(0)));
MW_API(cudaStreamWaitEvent, (cudaStream_t, cudaEvent_t, unsigned MW_OR(0)));

/* ---- kernels ---- */
#define MW_HERE const char *file MW_OR(__builtin_FILE()), int line MW_OR(__builtin_LINE())
MW_API(cudaLaunchKernel, (const void *, dim3 grid, dim3 block, void **, size_t MW_OR(0), cudaStream_t MW_OR(0), MW_HERE));
MW_API(cudaLaunchCooperativeKernel,
       (const void *, dim3 grid, dim3 block, void **, size_t MW_OR(0), cudaStream_t MW_OR(0), MW_HERE));
MW_API(cudaGraphInstantiate, (cudaGraphExec_t *, cudaGraph_t, unsigned long long MW_OR(0)));

#if defined(__cplusplus)
}
#endif
#endif
