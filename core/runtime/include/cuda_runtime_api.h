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
MW_API(cudaMallocPitch, (void **, size_t *pitch, size_t width, size_t height));
MW_API(cudaFree, (void *));
MW_API(cudaMemcpy, (void *, const void *, size_t, enum cudaMemcpyKind));
MW_API(cudaMemGetInfo, (size_t *free, size_t *total));
MW_API(cudaPointerGetAttributes, (struct cudaPointerAttributes *, const void *));

/* ---- device ---- */
MW_API(cudaSetDevice, (int));
MW_API(cudaGetDeviceProperties, (struct cudaDeviceProp *, int));
MW_API(cudaDeviceGetAttribute, (int *, enum cudaDeviceAttr, int));
MW_API(cudaDeviceSynchronize, (void));
MW_API(cudaDeviceSetLimit, (enum cudaLimit, size_t));
MW_API(cudaDeviceGetLimit, (size_t *, enum cudaLimit));
MW_API(cudaDeviceEnablePeerAccess, (int, unsigned));
MW_API(cudaDeviceDisablePeerAccess, (int));
MW_API(cudaDeviceGetStreamPriorityRange, (int *least, int *greatest));
MW_API(cudaDeviceGetPCIBusId, (char *, int, int));

/* ---- errors ---- */
MW_API(cudaGetLastError, (void));
MW_API(cudaPeekAtLastError, (void));
MW_CALL(const char *, cudaGetErrorString, (cudaError_t));
MW_CALL(const char *, cudaGetErrorName, (cudaError_t));

/* ---- streams ---- */
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

/* ---- kernels ---- */
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
MW_API(cudaMemcpy2DAsync,
       (void *, size_t, const void *, size_t, size_t, size_t, enum cudaMemcpyKind, cudaStream_t MW_OR(0)));
MW_API(cudaMemsetAsync, (void *, int, size_t, cudaStream_t MW_OR(0)));
MW_API(cudaMemset2DAsync, (void *, size_t, int, size_t, size_t, cudaStream_t MW_OR(0)));
MW_API(cudaMemcpyToSymbolAsync,
       (const void *, const void *, size_t, size_t, enum cudaMemcpyKind, cudaStream_t MW_OR(0)));
MW_API(cudaMemcpyFromSymbolAsync, (void *, const void *, size_t, size_t, enum cudaMemcpyKind, cudaStream_t MW_OR(0)));
MW_API(cudaGetSymbolAddress, (void **, const void *));
MW_API(cudaGetSymbolSize, (size_t *, const void *));

/* ---- events ---- */
MW_API(cudaEventRecord, (cudaEvent_t, cudaStream_t MW_OR(0)));
MW_API(cudaStreamWaitEvent, (cudaStream_t, cudaEvent_t, unsigned MW_OR(0)));

/* ---- kernels ---- */
#define MW_HERE const char *file MW_OR(__builtin_FILE()), int line MW_OR(__builtin_LINE())
MW_API(cudaLaunchKernel, (const void *, dim3 grid, dim3 block, void **, size_t MW_OR(0), cudaStream_t MW_OR(0), MW_HERE));
MW_API(cudaLaunchCooperativeKernel,
       (const void *, dim3 grid, dim3 block, void **, size_t MW_OR(0), cudaStream_t MW_OR(0), MW_HERE));

/* ---- graphs ---- */
MW_API(cudaGraphInstantiate, (cudaGraphExec_t *, cudaGraph_t, unsigned long long MW_OR(0)));

/* What needs no code of core/runtime: other names of the same, and settings of a GPU that change nothing here. */
#define MW_SAME(name, parameters, result) static inline cudaError_t name parameters { return result; }
#define MW_NONE(name, parameters) MW_SAME(name, parameters, cudaSuccess)
#define MW_SET(name, parameters, to, value) static inline cudaError_t name parameters { *to = value; return cudaSuccess; }

/* ---- memory ---- */
MW_SAME(cudaHostAlloc, (void **p, size_t bytes, unsigned flags), ((void)flags, cudaMallocHost(p, bytes)))
MW_SAME(cudaMallocAsync, (void **p, size_t bytes, cudaStream_t stream), ((void)stream, cudaMalloc(p, bytes)))
MW_SAME(cudaFreeHost, (void *p), cudaFree(p))
MW_SAME(cudaFreeAsync, (void *p, cudaStream_t stream), ((void)stream, cudaFree(p)))
MW_SAME(cudaMemset, (void *to, int value, size_t bytes), cudaMemsetAsync(to, value, bytes, 0))
MW_SAME(cudaMemset2D, (void *to, size_t pitch, int value, size_t width, size_t height),
        cudaMemset2DAsync(to, pitch, value, width, height, 0))
MW_SAME(cudaMemcpy2D, (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                       enum cudaMemcpyKind kind),
        cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, 0))
MW_SAME(cudaMemcpyPeer, (void *to, int to_device, const void *from, int from_device, size_t bytes),
        ((void)to_device, (void)from_device, cudaMemcpy(to, from, bytes, cudaMemcpyDefault)))
MW_SAME(cudaMemcpyPeerAsync, (void *to, int to_device, const void *from, int from_device, size_t bytes,
                              cudaStream_t stream MW_OR(0)),
        ((void)to_device, (void)from_device, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream)))
MW_SAME(cudaMemcpyToSymbol, (const void *symbol, const void *from, size_t bytes, size_t offset MW_OR(0),
                             enum cudaMemcpyKind kind MW_OR(cudaMemcpyHostToDevice)),
        cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, 0))
MW_SAME(cudaMemcpyFromSymbol, (void *to, const void *symbol, size_t bytes, size_t offset MW_OR(0),
                               enum cudaMemcpyKind kind MW_OR(cudaMemcpyDeviceToHost)),
        cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, 0))
MW_SET(cudaHostGetDevicePointer, (void **p, void *host, unsigned flags MW_OR(0)), p, ((void)flags, host))
MW_SET(cudaHostGetFlags, (unsigned *flags, void *host), flags, ((void)host, cudaHostAllocMapped))
MW_NONE(cudaHostRegister, (void *, size_t, unsigned))
MW_NONE(cudaHostUnregister, (void *))
MW_NONE(cudaMemAdvise, (const void *, size_t, enum cudaMemoryAdvise, int))
MW_NONE(cudaMemPrefetchAsync, (const void *, size_t, int, cudaStream_t MW_OR(0)))
MW_NONE(cudaStreamAttachMemAsync, (cudaStream_t, void *, size_t MW_OR(0), unsigned MW_OR(cudaMemAttachSingle)))

/* ---- device ---- */
MW_SET(cudaGetDeviceCount, (int *count), count, 1)
MW_SET(cudaGetDevice, (int *device), device, 0)
MW_SET(cudaChooseDevice, (int *device, const struct cudaDeviceProp *wanted), device, ((void)wanted, 0))
MW_SET(cudaDeviceCanAccessPeer, (int *can, int device, int peer), can, ((void)device, (void)peer, 0))
MW_SET(cudaRuntimeGetVersion, (int *version), version, CUDART_VERSION)
MW_SET(cudaDriverGetVersion, (int *version), version, CUDART_VERSION)
MW_SAME(cudaDeviceReset, (void), cudaDeviceSynchronize())
MW_SAME(cudaThreadSynchronize, (void), cudaDeviceSynchronize())
MW_SAME(cudaThreadExit, (void), cudaDeviceSynchronize())
MW_NONE(cudaSetDeviceFlags, (unsigned))
MW_SET(cudaGetDeviceFlags, (unsigned *flags), flags, cudaDeviceScheduleAuto)
MW_NONE(cudaDeviceSetCacheConfig, (enum cudaFuncCache))
MW_SET(cudaDeviceGetCacheConfig, (enum cudaFuncCache *config), config, cudaFuncCachePreferNone)
MW_NONE(cudaDeviceSetSharedMemConfig, (enum cudaSharedMemConfig))
MW_SET(cudaDeviceGetSharedMemConfig, (enum cudaSharedMemConfig *config), config, cudaSharedMemBankSizeFourByte)
MW_NONE(cudaProfilerStart, (void))
MW_NONE(cudaProfilerStop, (void))

/* ---- streams ---- */
MW_SAME(cudaStreamCreateWithFlags, (cudaStream_t *stream, unsigned flags),
        cudaStreamCreateWithPriority(stream, flags, 0))
MW_SAME(cudaStreamCreate, (cudaStream_t *stream), cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0))

/* ---- events ---- */
MW_SAME(cudaEventCreate, (cudaEvent_t *event), cudaEventCreateWithFlags(event, cudaEventDefault))
MW_SAME(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream MW_OR(0), unsigned flags MW_OR(0)),
        ((void)flags, cudaEventRecord(event, stream)))

/* ---- graphs: they live as long as the program ---- */
MW_NONE(cudaGraphDestroy, (cudaGraph_t))
MW_NONE(cudaGraphExecDestroy, (cudaGraphExec_t))

/* ---- kernels ---- */
MW_NONE(cudaFuncSetCacheConfig, (const void *, enum cudaFuncCache))
MW_NONE(cudaFuncSetSharedMemConfig, (const void *, enum cudaSharedMemConfig))

#if defined(__cplusplus)
}
#endif
#endif
