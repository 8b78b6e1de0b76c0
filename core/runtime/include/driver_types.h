/* SPDX-License-Identifier: MIT
 *
 * The types of CUDA's runtime, for the host part of programs and for core/runtime, which implements the calls. Values of
 * enumerations are CUDA's. */
#ifndef __DRIVER_TYPES_H__
#define __DRIVER_TYPES_H__

#include <stddef.h>

#include "vector_types.h"

/* E(name, value, text) */
#define MW_ERRORS(E) \
  E(cudaSuccess, 0, "no error") \
  E(cudaErrorInvalidValue, 1, "invalid argument") \
  E(cudaErrorMemoryAllocation, 2, "out of memory") \
  E(cudaErrorInitializationError, 3, "initialization error") \
  E(cudaErrorCudartUnloading, 4, "driver shutting down") \
  E(cudaErrorProfilerDisabled, 5, "profiler disabled") \
  E(cudaErrorInvalidConfiguration, 9, "invalid configuration argument") \
  E(cudaErrorInvalidPitchValue, 12, "invalid pitch argument") \
  E(cudaErrorInvalidSymbol, 13, "invalid device symbol") \
  E(cudaErrorInvalidHostPointer, 16, "invalid host pointer") \
  E(cudaErrorInvalidDevicePointer, 17, "invalid device pointer") \
  E(cudaErrorInvalidTexture, 18, "invalid texture reference") \
  E(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy") \
  E(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version") \
  E(cudaErrorMissingConfiguration, 52, "__global__ function call is not configured") \
  E(cudaErrorInvalidDeviceFunction, 98, "invalid device function") \
  E(cudaErrorNoDevice, 100, "no CUDA-capable device is detected") \
  E(cudaErrorInvalidDevice, 101, "invalid device ordinal") \
  E(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device") \
  E(cudaErrorInvalidResourceHandle, 400, "invalid resource handle") \
  E(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state") \
  E(cudaErrorSymbolNotFound, 500, "named symbol not found") \
  E(cudaErrorNotReady, 600, "device not ready") \
  E(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered") \
  E(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch") \
  E(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated") \
  E(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled") \
  E(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled") \
  E(cudaErrorAssert, 710, "device-side assert triggered") \
  E(cudaErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped") \
  E(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region") \
  E(cudaErrorLaunchFailure, 719, "unspecified launch failure") \
  E(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch") \
  E(cudaErrorNotPermitted, 800, "operation not permitted") \
  E(cudaErrorNotSupported, 801, "operation not supported") \
  E(cudaErrorUnknown, 999, "unknown error")

#define MW_ERROR(name, value, text) name = value,
typedef enum cudaError { MW_ERRORS(MW_ERROR) } cudaError_t;
#undef MW_ERROR

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;

enum cudaMemcpyKind {
  cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault
};

enum cudaFuncCache {
  cudaFuncCachePreferNone,
  cudaFuncCachePreferShared,
  cudaFuncCachePreferL1,
  cudaFuncCachePreferEqual
};

enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault,
  cudaSharedMemBankSizeFourByte,
  cudaSharedMemBankSizeEightByte
};

enum cudaLimit {
  cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize, cudaLimitDevRuntimeSyncDepth,
  cudaLimitDevRuntimePendingLaunchCount, cudaLimitMaxL2FetchGranularity, cudaLimitPersistingL2CacheSize
};

enum cudaComputeMode {
  cudaComputeModeDefault,
  cudaComputeModeExclusive,
  cudaComputeModeProhibited,
  cudaComputeModeExclusiveProcess
};

enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1, cudaMemAdviseUnsetReadMostly, cudaMemAdviseSetPreferredLocation,
  cudaMemAdviseUnsetPreferredLocation, cudaMemAdviseSetAccessedBy, cudaMemAdviseUnsetAccessedBy
};

enum cudaMemLocationType { cudaMemLocationTypeInvalid, cudaMemLocationTypeDevice, cudaMemLocationTypeHost };
struct cudaMemLocation {
  enum cudaMemLocationType type;
  int id;
};

enum cudaMemoryType {
  cudaMemoryTypeUnregistered,
  cudaMemoryTypeHost,
  cudaMemoryTypeDevice,
  cudaMemoryTypeManaged
};
struct cudaPointerAttributes {
  enum cudaMemoryType type;
  int device;
  void *devicePointer, *hostPointer;
};

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum cudaSharedCarveout {
  cudaSharedmemCarveoutDefault = -1,
  cudaSharedmemCarveoutMaxL1 = 0,
  cudaSharedmemCarveoutMaxShared = 100
};
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes,
      preferredShmemCarveout;
};

enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxBlockDimX = 2, cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4, cudaDevAttrMaxGridDimX = 5, cudaDevAttrMaxGridDimY = 6, cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8, cudaDevAttrTotalConstantMemory = 9, cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxRegistersPerBlock = 12, cudaDevAttrClockRate = 13, cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrIntegrated = 18, cudaDevAttrCanMapHostMemory = 19, cudaDevAttrConcurrentKernels = 31,
  cudaDevAttrMemoryClockRate = 36, cudaDevAttrGlobalMemoryBusWidth = 37, cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39, cudaDevAttrAsyncEngineCount = 40, cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrComputeCapabilityMajor = 75, cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81, cudaDevAttrMaxRegistersPerMultiprocessor = 82,
  cudaDevAttrManagedMemory = 83, cudaDevAttrPageableMemoryAccess = 88, cudaDevAttrConcurrentManagedAccess = 89,
  cudaDevAttrCooperativeLaunch = 95, cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrMemoryPoolsSupported = 115
};

struct cudaDeviceProp {
  char name[256];
  unsigned char uuid[16];
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment, texturePitchAlignment;
  int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode;
  int maxTexture1D, maxTexture2D[2], maxTexture3D[3], maxTexture1DLayered[2], maxTexture2DLayered[3];
  size_t surfaceAlignment;
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount,
      unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize,
      maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported,
      singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported,
      canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor,
      accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  int memoryPoolsSupported;
};

enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed
};

#define cudaStreamDefault           0
#define cudaStreamNonBlocking       1
#define cudaStreamLegacy            ((cudaStream_t)1)
#define cudaStreamPerThread         ((cudaStream_t)2)
#define cudaEventDefault            0
#define cudaEventBlockingSync       1
#define cudaEventDisableTiming      2
#define cudaEventInterprocess       4
#define cudaEventRecordDefault      0
#define cudaHostAllocDefault        0
#define cudaHostAllocPortable       1
#define cudaHostAllocMapped         2
#define cudaHostAllocWriteCombined  4
#define cudaHostRegisterDefault     0
#define cudaHostRegisterPortable    1
#define cudaHostRegisterMapped      2
#define cudaMemAttachGlobal         1
#define cudaMemAttachHost           2
#define cudaMemAttachSingle         4
#define cudaDeviceScheduleAuto      0
#define cudaDeviceScheduleSpin      1
#define cudaDeviceScheduleYield     2
#define cudaDeviceScheduleBlockingSync 4
#define cudaDeviceBlockingSync      4
#define cudaDeviceMapHost           8
#define cudaDeviceLmemResizeToMax   16
#define cudaPeerAccessDefault       0
#define cudaOccupancyDefault        0
#define cudaCpuDeviceId             (-1)
#define cudaInvalidDeviceId         (-2)

#endif
