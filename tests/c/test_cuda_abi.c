/* SPDX-License-Identifier: MIT
 *
 * The driver as core/backend/cuda/driver.h declares it, against NVIDIA's own headers: each prototype, constant and
 * struct, checked by the compiler, where those headers are installed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/backend/cuda/driver.h"
#include "core/base/nvtx.h"

#if defined(__has_include)
#if __has_include(<cuda.h>) && __has_include(<nvrtc.h>)
#define HAS_CUDA_HEADERS 1
#endif
#endif

#ifdef HAS_CUDA_HEADERS
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wundef"
#include <cuda.h>
#include <nvrtc.h>
#pragma GCC diagnostic pop
#undef cuEventElapsedTime

#define SAME(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #ours " is not " #theirs)

SAME(CUDA_OK, CUDA_SUCCESS);
SAME(CUDA_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
SAME(CUDA_DEINITIALIZED, CUDA_ERROR_DEINITIALIZED);
SAME(CUDA_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
SAME(CUDA_ECC_UNCORRECTABLE, CUDA_ERROR_ECC_UNCORRECTABLE);
SAME(CUDA_PEER_ALREADY_ENABLED, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
SAME(CUDA_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE);
SAME(CUDA_NO_BINARY_FOR_GPU, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME(CUDA_UNSUPPORTED_PTX_VERSION, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
SAME(CUDA_NVLINK_UNCORRECTABLE, CUDA_ERROR_NVLINK_UNCORRECTABLE);
SAME(CUDA_NOT_FOUND, CUDA_ERROR_NOT_FOUND);
SAME(CUDA_NOT_READY, CUDA_ERROR_NOT_READY);
SAME(CUDA_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME(CUDA_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
SAME(CUDA_LAUNCH_TIMEOUT, CUDA_ERROR_LAUNCH_TIMEOUT);
SAME(CUDA_CONTEXT_IS_DESTROYED, CUDA_ERROR_CONTEXT_IS_DESTROYED);
SAME(CUDA_ASSERT, CUDA_ERROR_ASSERT);
SAME(CUDA_HARDWARE_STACK_ERROR, CUDA_ERROR_HARDWARE_STACK_ERROR);
SAME(CUDA_ILLEGAL_INSTRUCTION, CUDA_ERROR_ILLEGAL_INSTRUCTION);
SAME(CUDA_MISALIGNED_ADDRESS, CUDA_ERROR_MISALIGNED_ADDRESS);
SAME(CUDA_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_ADDRESS_SPACE);
SAME(CUDA_INVALID_PC, CUDA_ERROR_INVALID_PC);
SAME(CUDA_LAUNCH_FAILED, CUDA_ERROR_LAUNCH_FAILED);
SAME(CUDA_COOPERATIVE_TOO_LARGE, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
#if CUDA_VERSION >= 12080
SAME(CUDA_TENSOR_MEMORY_LEAK, CUDA_ERROR_TENSOR_MEMORY_LEAK);
#endif

SAME(CUDA_ATTR_MAX_THREADS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(CUDA_ATTR_MAX_BLOCK_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
SAME(CUDA_ATTR_MAX_BLOCK_DIM_X + 2, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
SAME(CUDA_ATTR_MAX_GRID_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
SAME(CUDA_ATTR_MAX_GRID_DIM_X + 2, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
SAME(CUDA_ATTR_MAX_SHARED_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
SAME(CUDA_ATTR_TOTAL_CONSTANT_MEMORY, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
SAME(CUDA_ATTR_WARP_SIZE, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
SAME(CUDA_ATTR_MAX_REGISTERS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
SAME(CUDA_ATTR_CLOCK_RATE, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
SAME(CUDA_ATTR_MULTIPROCESSOR_COUNT, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(CUDA_ATTR_ECC_ENABLED, CU_DEVICE_ATTRIBUTE_ECC_ENABLED);
SAME(CUDA_ATTR_MEMORY_CLOCK_RATE, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
SAME(CUDA_ATTR_GLOBAL_MEMORY_BUS_WIDTH, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
SAME(CUDA_ATTR_L2_CACHE_SIZE, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME(CUDA_ATTR_MAX_THREADS_PER_MP, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
SAME(CUDA_ATTR_ASYNC_ENGINE_COUNT, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
SAME(CUDA_ATTR_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(CUDA_ATTR_CAPABILITY_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(CUDA_ATTR_MAX_SHARED_PER_MP, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
SAME(CUDA_ATTR_MAX_REGISTERS_PER_MP, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
SAME(CUDA_ATTR_MANAGED_MEMORY, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
SAME(CUDA_ATTR_COOPERATIVE_LAUNCH, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
SAME(CUDA_ATTR_MAX_SHARED_PER_BLOCK_OPTIN, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(CUDA_ATTR_MAX_BLOCKS_PER_MP, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
SAME(CUDA_ATTR_RESERVED_SHARED_PER_BLOCK, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
SAME(CUDA_ATTR_MEMORY_POOLS_SUPPORTED, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);

SAME(CUDA_FUNC_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(CUDA_FUNC_SHARED_SIZE, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME(CUDA_FUNC_CONST_SIZE, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
SAME(CUDA_FUNC_LOCAL_SIZE, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME(CUDA_FUNC_NUM_REGS, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME(CUDA_FUNC_MAX_DYNAMIC_SHARED, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);

SAME(CUDA_FUNC_CARVEOUT, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
SAME(MW_CARVEOUT_ANY, CU_SHAREDMEM_CARVEOUT_DEFAULT);
SAME(MW_PREFER_NONE, CU_FUNC_CACHE_PREFER_NONE);
SAME(MW_PREFER_SHARED, CU_FUNC_CACHE_PREFER_SHARED);
SAME(MW_PREFER_L1, CU_FUNC_CACHE_PREFER_L1);
SAME(MW_PREFER_EQUAL, CU_FUNC_CACHE_PREFER_EQUAL);
SAME(CUDA_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
SAME(CUDA_EVENT_DISABLE_TIMING, CU_EVENT_DISABLE_TIMING);
SAME(CUDA_HOST_PORTABLE, CU_MEMHOSTALLOC_PORTABLE);
SAME(CUDA_HOST_DEVICEMAP, CU_MEMHOSTALLOC_DEVICEMAP);
SAME(CUDA_MANAGED_GLOBAL, CU_MEM_ATTACH_GLOBAL);
SAME(CUDA_CAPTURE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME(CUDA_CAPTURE_ACTIVE, CU_STREAM_CAPTURE_STATUS_ACTIVE);
SAME(CUDA_ATTR_PAGEABLE_ACCESS, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
SAME(CUDA_ATTR_CONCURRENT_MANAGED_ACCESS, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
SAME(CUDA_ATTR_REGISTERED_AT_HOST_POINTER, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
SAME(CUDA_ATTR_HOST_REGISTER, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED);
SAME(CUDA_CPU, CU_DEVICE_CPU);
SAME(CUDA_HOST_PORTABLE, CU_MEMHOSTREGISTER_PORTABLE);
SAME(CUDA_HOST_DEVICEMAP, CU_MEMHOSTREGISTER_DEVICEMAP);
SAME(CUDA_ADVISE_SET_READ_MOSTLY, CU_MEM_ADVISE_SET_READ_MOSTLY);
SAME(CUDA_ADVISE_SET_READ_MOSTLY + 2 * MW_ADVICE_PREFERRED_LOCATION, CU_MEM_ADVISE_SET_PREFERRED_LOCATION);
SAME(CUDA_ADVISE_SET_READ_MOSTLY + 2 * MW_ADVICE_ACCESSED_BY + 1, CU_MEM_ADVISE_UNSET_ACCESSED_BY);
SAME(CUDA_LOCATION_DEVICE, CU_MEM_LOCATION_TYPE_DEVICE);
SAME(CUDA_ACCESS_READ_WRITE, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
SAME(CUDA_CAPTURE_UNJOINED, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
SAME(sizeof(cuda_access), sizeof(CUmemAccessDesc));
SAME(offsetof(cuda_access, location.id), offsetof(CUmemAccessDesc, location.id));
SAME(offsetof(cuda_access, flags), offsetof(CUmemAccessDesc, flags));
SAME(CUDA_POOL_RELEASE_THRESHOLD, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
SAME(CUDA_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BUFFER);
SAME(CUDA_JIT_ERROR_LOG_SIZE, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(CUDA_FORMAT_U8, CU_AD_FORMAT_UNSIGNED_INT8);
SAME(CUDA_FORMAT_U16, CU_AD_FORMAT_UNSIGNED_INT16);
SAME(CUDA_FORMAT_U32, CU_AD_FORMAT_UNSIGNED_INT32);
SAME(CUDA_FORMAT_I8, CU_AD_FORMAT_SIGNED_INT8);
SAME(CUDA_FORMAT_I16, CU_AD_FORMAT_SIGNED_INT16);
SAME(CUDA_FORMAT_I32, CU_AD_FORMAT_SIGNED_INT32);
SAME(CUDA_FORMAT_F16, CU_AD_FORMAT_HALF);
SAME(CUDA_FORMAT_F32, CU_AD_FORMAT_FLOAT);
SAME(CUDA_ARRAY_LAYERED, CUDA_ARRAY3D_LAYERED);
SAME(CUDA_ARRAY_WRITABLE, CUDA_ARRAY3D_SURFACE_LDST);
SAME(CUDA_ARRAY_CUBE, CUDA_ARRAY3D_CUBEMAP);
SAME(CUDA_ARRAY_GATHER, CUDA_ARRAY3D_TEXTURE_GATHER);
SAME(CUDA_MEMORY_ARRAY, CU_MEMORYTYPE_ARRAY);
SAME(CUDA_MEMORY_UNIFIED, CU_MEMORYTYPE_UNIFIED);
SAME(CUDA_RESOURCE_ARRAY, CU_RESOURCE_TYPE_ARRAY);
SAME(CUDA_RESOURCE_LINEAR, CU_RESOURCE_TYPE_LINEAR);
SAME(CUDA_RESOURCE_PITCHED, CU_RESOURCE_TYPE_PITCH2D);
SAME(CUDA_READ_AS_INTEGER, CU_TRSF_READ_AS_INTEGER);
SAME(CUDA_READ_NORMALISED, CU_TRSF_NORMALIZED_COORDINATES);
SAME(sizeof(cuda_array_shape), sizeof(CUDA_ARRAY3D_DESCRIPTOR));
SAME(offsetof(cuda_array_shape, flags), offsetof(CUDA_ARRAY3D_DESCRIPTOR, Flags));
SAME(sizeof(cuda_copy_3d), sizeof(CUDA_MEMCPY3D));
SAME(offsetof(cuda_copy_3d, from.array), offsetof(CUDA_MEMCPY3D, srcArray));
SAME(offsetof(cuda_copy_3d, from.height), offsetof(CUDA_MEMCPY3D, srcHeight));
SAME(offsetof(cuda_copy_3d, to.address), offsetof(CUDA_MEMCPY3D, dstDevice));
SAME(offsetof(cuda_copy_3d, to.pitch), offsetof(CUDA_MEMCPY3D, dstPitch));
SAME(offsetof(cuda_copy_3d, width), offsetof(CUDA_MEMCPY3D, WidthInBytes));
SAME(sizeof(cuda_resource), sizeof(CUDA_RESOURCE_DESC));
SAME(offsetof(cuda_resource, array), offsetof(CUDA_RESOURCE_DESC, res.array.hArray));
SAME(offsetof(cuda_resource, memory.width), offsetof(CUDA_RESOURCE_DESC, res.linear.sizeInBytes));
SAME(offsetof(cuda_resource, memory.channels), offsetof(CUDA_RESOURCE_DESC, res.pitch2D.numChannels));
SAME(offsetof(cuda_resource, memory.height), offsetof(CUDA_RESOURCE_DESC, res.pitch2D.height));
SAME(offsetof(cuda_resource, memory.pitch), offsetof(CUDA_RESOURCE_DESC, res.pitch2D.pitchInBytes));
SAME(offsetof(cuda_resource, flags), offsetof(CUDA_RESOURCE_DESC, flags));
SAME(sizeof(cuda_sampling), sizeof(CUDA_TEXTURE_DESC));
SAME(offsetof(cuda_sampling, filter), offsetof(CUDA_TEXTURE_DESC, filterMode));
SAME(offsetof(cuda_sampling, flags), offsetof(CUDA_TEXTURE_DESC, flags));
SAME(offsetof(cuda_sampling, border), offsetof(CUDA_TEXTURE_DESC, borderColor));
SAME(CU_TR_ADDRESS_MODE_WRAP, 0); /* mw_sampling numbers them so */
SAME(CU_TR_ADDRESS_MODE_BORDER, 3);
SAME(CU_TR_FILTER_MODE_LINEAR, 1);
SAME(CUDA_NODE_KERNEL, CU_GRAPH_NODE_TYPE_KERNEL);
SAME(CUDA_NODE_MEMCPY, CU_GRAPH_NODE_TYPE_MEMCPY);
SAME(CUDA_NODE_MEMSET, CU_GRAPH_NODE_TYPE_MEMSET);
SAME(CUDA_NODE_HOST, CU_GRAPH_NODE_TYPE_HOST);
SAME(CUDA_NODE_EMPTY, CU_GRAPH_NODE_TYPE_EMPTY);

SAME(sizeof(cuda_uuid), sizeof(CUuuid));
SAME(sizeof(cuda_address), sizeof(CUdeviceptr));
SAME(sizeof(cuda_node_params), sizeof(CUDA_KERNEL_NODE_PARAMS));
SAME(offsetof(cuda_node_params, grid_x), offsetof(CUDA_KERNEL_NODE_PARAMS, gridDimX));
SAME(offsetof(cuda_node_params, block_z), offsetof(CUDA_KERNEL_NODE_PARAMS, blockDimZ));
SAME(offsetof(cuda_node_params, shared), offsetof(CUDA_KERNEL_NODE_PARAMS, sharedMemBytes));
SAME(offsetof(cuda_node_params, params), offsetof(CUDA_KERNEL_NODE_PARAMS, kernelParams));
SAME(offsetof(cuda_node_params, kernel), offsetof(CUDA_KERNEL_NODE_PARAMS, kern));
SAME(offsetof(cuda_node_params, context), offsetof(CUDA_KERNEL_NODE_PARAMS, ctx));

/* GCC and clang hold an enum compatible with unsigned, so whole prototypes can be compared. */
#define IDENTICAL(ours, theirs)                                                                                        \
  _Static_assert(__builtin_types_compatible_p(__typeof__(ours), __typeof__(&theirs)), #theirs " differs")

/* Only their types are used. */
extern cuda_driver_table d;
IDENTICAL(d.cuInit, cuInit);
IDENTICAL(d.cuDriverGetVersion, cuDriverGetVersion);
IDENTICAL(d.cuDeviceGetCount, cuDeviceGetCount);
IDENTICAL(d.cuDeviceGet, cuDeviceGet);
IDENTICAL(d.cuDeviceGetName, cuDeviceGetName);
IDENTICAL(d.cuDeviceGetPCIBusId, cuDeviceGetPCIBusId);
IDENTICAL(d.cuDeviceTotalMem_v2, cuDeviceTotalMem);
IDENTICAL(d.cuDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool);
IDENTICAL(d.cuDeviceCanAccessPeer, cuDeviceCanAccessPeer);
IDENTICAL(d.cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain);
IDENTICAL(d.cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease);
IDENTICAL(d.cuCtxSetCurrent, cuCtxSetCurrent);
IDENTICAL(d.cuCtxGetStreamPriorityRange, cuCtxGetStreamPriorityRange);
IDENTICAL(d.cuCtxEnablePeerAccess, cuCtxEnablePeerAccess);
IDENTICAL(d.cuMemGetInfo_v2, cuMemGetInfo);
IDENTICAL(d.cuMemAlloc_v2, cuMemAlloc);
IDENTICAL(d.cuMemFree_v2, cuMemFree);
IDENTICAL(d.cuMemAllocAsync, cuMemAllocAsync);
IDENTICAL(d.cuMemFreeAsync, cuMemFreeAsync);
IDENTICAL(d.cuMemHostAlloc, cuMemHostAlloc);
IDENTICAL(d.cuMemFreeHost, cuMemFreeHost);
IDENTICAL(d.cuMemAllocManaged, cuMemAllocManaged);
IDENTICAL(d.cuMemPoolTrimTo, cuMemPoolTrimTo);
IDENTICAL(d.cuMemHostRegister_v2, cuMemHostRegister);
IDENTICAL(d.cuMemHostUnregister, cuMemHostUnregister);
#if CUDA_VERSION < 13000 /* which has others by these names; the old ones are in every driver */
IDENTICAL(d.cuMemPrefetchAsync, cuMemPrefetchAsync);
IDENTICAL(d.cuMemAdvise, cuMemAdvise);
#endif
IDENTICAL(d.cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync);
IDENTICAL(d.cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync);
IDENTICAL(d.cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync);
IDENTICAL(d.cuMemcpyAsync, cuMemcpyAsync);
IDENTICAL(d.cuMemcpyPeerAsync, cuMemcpyPeerAsync);
IDENTICAL(d.cuMemsetD8Async, cuMemsetD8Async);
IDENTICAL(d.cuMemsetD16Async, cuMemsetD16Async);
IDENTICAL(d.cuMemsetD32Async, cuMemsetD32Async);
IDENTICAL(d.cuMemsetD2D32Async, cuMemsetD2D32Async);
IDENTICAL(d.cuArrayDestroy, cuArrayDestroy);
IDENTICAL(d.cuTexObjectDestroy, cuTexObjectDestroy);
IDENTICAL(d.cuSurfObjectDestroy, cuSurfObjectDestroy);
IDENTICAL(d.cuModuleUnload, cuModuleUnload);
IDENTICAL(d.cuModuleGetFunction, cuModuleGetFunction);
IDENTICAL(d.cuModuleGetGlobal_v2, cuModuleGetGlobal);
IDENTICAL(d.cuOccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyMaxActiveBlocksPerMultiprocessor);
IDENTICAL(d.cuLaunchKernel, cuLaunchKernel);
IDENTICAL(d.cuLaunchCooperativeKernel, cuLaunchCooperativeKernel);
IDENTICAL(d.cuLaunchHostFunc, cuLaunchHostFunc);
IDENTICAL(d.cuStreamCreateWithPriority, cuStreamCreateWithPriority);
IDENTICAL(d.cuStreamDestroy_v2, cuStreamDestroy);
IDENTICAL(d.cuStreamWaitEvent, cuStreamWaitEvent);
IDENTICAL(d.cuStreamQuery, cuStreamQuery);
IDENTICAL(d.cuStreamEndCapture, cuStreamEndCapture);
IDENTICAL(d.cuEventCreate, cuEventCreate);
IDENTICAL(d.cuEventDestroy_v2, cuEventDestroy);
IDENTICAL(d.cuEventRecord, cuEventRecord);
IDENTICAL(d.cuEventQuery, cuEventQuery);
IDENTICAL(d.cuEventElapsedTime, cuEventElapsedTime_v2); /* same prototype, and the old one is in every driver */
IDENTICAL(d.cuGraphInstantiateWithFlags, cuGraphInstantiate);
IDENTICAL(d.cuGraphLaunch, cuGraphLaunch);
IDENTICAL(d.cuGraphGetNodes, cuGraphGetNodes);
IDENTICAL(d.cuGraphExecDestroy, cuGraphExecDestroy);
IDENTICAL(d.cuGraphDestroy, cuGraphDestroy);
IDENTICAL(d.cuGetErrorName, cuGetErrorName);
IDENTICAL(d.cuGetErrorString, cuGetErrorString);
IDENTICAL(d.cuDeviceGetAttribute, cuDeviceGetAttribute);
IDENTICAL(d.cuMemPoolSetAttribute, cuMemPoolSetAttribute);
IDENTICAL(d.cuModuleLoadDataEx, cuModuleLoadDataEx);
IDENTICAL(d.cuFuncGetAttribute, cuFuncGetAttribute);
IDENTICAL(d.cuFuncSetAttribute, cuFuncSetAttribute);
IDENTICAL(d.cuFuncSetCacheConfig, cuFuncSetCacheConfig);
IDENTICAL(d.cuGraphNodeGetType, cuGraphNodeGetType);
IDENTICAL(d.cuStreamBeginCapture_v2, cuStreamBeginCapture);

#if __has_include(<nvtx3/nvToolsExt.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include <nvtx3/nvToolsExt.h>
#pragma GCC diagnostic pop
SAME(NVTX_TABLE_CALLBACKS, NVTX_ETID_CALLBACKS);
SAME(NVTX_TABLE_VERSION, NVTX_ETID_VERSIONINFO);
SAME(NVTX_MODULES, NVTX_CB_MODULE_SIZE);
SAME(NVTX_CORE, NVTX_CB_MODULE_CORE);
SAME(NVTX_CORE_PUSH, NVTX_CBID_CORE_RangePushA);
SAME(NVTX_CORE_POP, NVTX_CBID_CORE_RangePop);
#endif

extern cuda_nvrtc_table n;
IDENTICAL(n.nvrtcGetErrorString, nvrtcGetErrorString);
IDENTICAL(n.nvrtcVersion, nvrtcVersion);
IDENTICAL(n.nvrtcGetNumSupportedArchs, nvrtcGetNumSupportedArchs);
IDENTICAL(n.nvrtcGetSupportedArchs, nvrtcGetSupportedArchs);
IDENTICAL(n.nvrtcGetPTX, nvrtcGetPTX);
IDENTICAL(n.nvrtcGetPTXSize, nvrtcGetPTXSize);
IDENTICAL(n.nvrtcGetCUBIN, nvrtcGetCUBIN);
IDENTICAL(n.nvrtcGetCUBINSize, nvrtcGetCUBINSize);
IDENTICAL(n.nvrtcGetProgramLog, nvrtcGetProgramLog);
IDENTICAL(n.nvrtcGetProgramLogSize, nvrtcGetProgramLogSize);
IDENTICAL(n.nvrtcGetLoweredName, nvrtcGetLoweredName);
IDENTICAL(n.nvrtcAddNameExpression, nvrtcAddNameExpression);
IDENTICAL(n.nvrtcCompileProgram, nvrtcCompileProgram);
IDENTICAL(n.nvrtcDestroyProgram, nvrtcDestroyProgram);
IDENTICAL(n.nvrtcCreateProgram, nvrtcCreateProgram);
#endif

static void headers_agree(void **state) {
  (void)state;
#ifndef HAS_CUDA_HEADERS
  skip();
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(headers_agree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
