/* SPDX-License-Identifier: MIT
 *
 * The device as CUDA's runtime tells of it: there is one. What the CPU device does not have, such as a compute capability,
 * is that of a GPU whose features it offers. */
#include <stdio.h>
#include <string.h>

#include "core/runtime/runtime.h"

enum { MAJOR = 8, MINOR = 0, CLOCK_KHZ = 1000000 };

static int khz(double hz) {
  return hz > 0 ? (int)(hz / 1000) : CLOCK_KHZ;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device) {
  if (device) return RUNTIME_CALL(cudaErrorInvalidDevice);
  const mw_device_info *info = &runtime.device->info;
  memset(out, 0, sizeof *out);
  snprintf(out->name, sizeof out->name, "%s", info->name);
  out->totalGlobalMem = info->memory_total;
  out->sharedMemPerBlock = info->shared_per_block;
  out->sharedMemPerBlockOptin = info->shared_per_block_optin;
  out->sharedMemPerMultiprocessor = info->shared_per_multiprocessor;
  out->regsPerBlock = info->registers_per_block;
  out->regsPerMultiprocessor = info->registers_per_multiprocessor;
  out->warpSize = info->warp_size;
  out->memPitch = 0x7fffffff;
  out->maxThreadsPerBlock = info->max_threads_per_block;
  out->maxThreadsPerMultiProcessor = info->max_threads_per_multiprocessor;
  out->maxBlocksPerMultiProcessor = info->max_blocks_per_multiprocessor;
  memcpy(out->maxThreadsDim, info->max_block, sizeof out->maxThreadsDim);
  memcpy(out->maxGridSize, info->max_grid, sizeof out->maxGridSize);
  out->clockRate = khz(info->clock_hz);
  out->memoryClockRate = khz(info->memory_clock_hz);
  out->memoryBusWidth = info->bus_bits ? info->bus_bits : 64;
  out->totalConstMem = info->constant_bytes;
  out->l2CacheSize = (int)info->l2_bytes;
  out->major = MAJOR;
  out->minor = MINOR;
  out->textureAlignment = out->texturePitchAlignment = out->surfaceAlignment = 512;
  out->multiProcessorCount = info->multiprocessors;
  out->asyncEngineCount = info->async_engines;
  out->ECCEnabled = info->ecc;
  out->cooperativeLaunch = info->cooperative;
  out->managedMemory = info->managed;
  out->concurrentManagedAccess = info->concurrent_managed_access;
  out->pageableMemoryAccess = out->deviceOverlap = out->canMapHostMemory = out->concurrentKernels =
      out->unifiedAddressing = out->streamPrioritiesSupported = out->integrated = 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
  struct cudaDeviceProp p;
  const cudaError_t status = cudaGetDeviceProperties(&p, device);
  if (status) return status;
  const struct {
    enum cudaDeviceAttr attribute;
    size_t value;
  } all[] = {{cudaDevAttrMaxThreadsPerBlock, (size_t)p.maxThreadsPerBlock},
             {cudaDevAttrMaxBlockDimX, (size_t)p.maxThreadsDim[0]},
             {cudaDevAttrMaxBlockDimY, (size_t)p.maxThreadsDim[1]},
             {cudaDevAttrMaxBlockDimZ, (size_t)p.maxThreadsDim[2]},
             {cudaDevAttrMaxGridDimX, (size_t)p.maxGridSize[0]},
             {cudaDevAttrMaxGridDimY, (size_t)p.maxGridSize[1]},
             {cudaDevAttrMaxGridDimZ, (size_t)p.maxGridSize[2]},
             {cudaDevAttrMaxSharedMemoryPerBlock, p.sharedMemPerBlock},
             {cudaDevAttrTotalConstantMemory, p.totalConstMem},
             {cudaDevAttrWarpSize, (size_t)p.warpSize},
             {cudaDevAttrMaxRegistersPerBlock, (size_t)p.regsPerBlock},
             {cudaDevAttrClockRate, (size_t)p.clockRate},
             {cudaDevAttrMultiProcessorCount, (size_t)p.multiProcessorCount},
             {cudaDevAttrIntegrated, 1},
             {cudaDevAttrCanMapHostMemory, 1},
             {cudaDevAttrConcurrentKernels, 1},
             {cudaDevAttrMemoryClockRate, (size_t)p.memoryClockRate},
             {cudaDevAttrGlobalMemoryBusWidth, (size_t)p.memoryBusWidth},
             {cudaDevAttrL2CacheSize, (size_t)p.l2CacheSize},
             {cudaDevAttrMaxThreadsPerMultiProcessor, (size_t)p.maxThreadsPerMultiProcessor},
             {cudaDevAttrAsyncEngineCount, (size_t)p.asyncEngineCount},
             {cudaDevAttrUnifiedAddressing, 1},
             {cudaDevAttrComputeCapabilityMajor, MAJOR},
             {cudaDevAttrComputeCapabilityMinor, MINOR},
             {cudaDevAttrMaxSharedMemoryPerMultiprocessor, p.sharedMemPerMultiprocessor},
             {cudaDevAttrMaxRegistersPerMultiprocessor, (size_t)p.regsPerMultiprocessor},
             {cudaDevAttrManagedMemory, (size_t)p.managedMemory},
             {cudaDevAttrPageableMemoryAccess, 1},
             {cudaDevAttrConcurrentManagedAccess, (size_t)p.concurrentManagedAccess},
             {cudaDevAttrCooperativeLaunch, (size_t)p.cooperativeLaunch},
             {cudaDevAttrMaxSharedMemoryPerBlockOptin, p.sharedMemPerBlockOptin}};
  *value = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].attribute == attribute) *value = (int)all[i].value;
  return cudaSuccess;
}

/* ---- which device ----------------------------------------------------------------------------------------------- */

cudaError_t cudaSetDevice(int device) {
  return RUNTIME_CALL(device ? cudaErrorInvalidDevice : cudaSuccess);
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int size, int device) {
  if (device) return cudaErrorInvalidDevice;
  snprintf(id, (size_t)size, "0000:00:00.0");
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  (void)peer, (void)flags;
  return RUNTIME_CALL(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  (void)peer;
  return RUNTIME_CALL(cudaErrorPeerAccessNotEnabled);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  runtime.device->backend->priorities(runtime.device, least, greatest);
  return cudaSuccess;
}

/* ---- waiting ---------------------------------------------------------------------------------------------------- */

cudaError_t cudaDeviceSynchronize(void) {
  return RUNTIME_CALL(runtime_synchronize());
}

/* ---- limits: they are remembered, and change nothing here ------------------------------------------------------------------ */

static size_t limits[cudaLimitPersistingL2CacheSize + 1]; /* 0: not set */

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value) {
  if ((size_t)limit >= sizeof limits / sizeof *limits) return cudaErrorInvalidValue;
  limits[limit] = value;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit) {
  if ((size_t)limit >= sizeof limits / sizeof *limits) return cudaErrorInvalidValue;
  *value = limits[limit];
  return cudaSuccess;
}
