/* SPDX-License-Identifier: MIT
 *
 * How many blocks of a kernel a multiprocessor holds, and what limits them. The number is the driver's; for an
 * architecture without a device it is that of the rules below, which are those of NVIDIA's cuda_occupancy.h for compute
 * capability 7.5 and newer (tests/c/test_cuda_module.c compares them). */
#include <limits.h>
#include <string.h>

#include "core/backend/cuda/objects.h"

enum { WARP = 32, PARTITIONS = 4, REGISTER_UNIT = 256, MOST_REGISTERS = 255 };

typedef struct bounds {
  int of[MW_LIMIT_BLOCKS + 1]; /* blocks that each resource allows */
  size_t shared_bytes;         /* per block, with what the hardware takes */
} bounds;

static int up(int value, int unit) {
  return (value + unit - 1) / unit * unit;
}

/* Registers are given to warps in units of 256, from one of four partitions each. */
static int by_registers(const mw_device_info *info, int registers, int warps) {
  int per_warp = up(registers * WARP, REGISTER_UNIT);
  if (per_warp == 0) return INT_MAX;
  if (registers > MOST_REGISTERS || info->registers_per_block < per_warp * up(warps, PARTITIONS)) return 0;
  return info->registers_per_multiprocessor / PARTITIONS / per_warp * PARTITIONS / warps;
}

static bounds bounds_of(const cuda_device *device, const mw_kernel *kernel, int threads, size_t dynamic) {
  const mw_device_info *info = &device->base.info;
  int warps = up(threads, WARP) / WARP;
  size_t unit = info->capability_major < 8 ? 256 : 128, own = kernel->shared_bytes + dynamic;
  bounds b;
  b.of[MW_LIMIT_BLOCKS] = info->max_blocks_per_multiprocessor;
  b.of[MW_LIMIT_THREADS] = threads > kernel->max_threads ? 0 : info->max_threads_per_multiprocessor / WARP / warps;
  b.of[MW_LIMIT_REGISTERS] = by_registers(info, kernel->registers, warps);
  b.shared_bytes = (own + device->reserved_shared + unit - 1) / unit * unit;
  b.of[MW_LIMIT_SHARED] = b.shared_bytes ? (int)(info->shared_per_multiprocessor / b.shared_bytes) : INT_MAX;
  if (own > info->shared_per_block_optin) b.of[MW_LIMIT_SHARED] = 0;
  return b;
}

/* The smallest bound; of equal ones the first. */
static mw_limit limit_of(const bounds *b) {
  mw_limit least = MW_LIMIT_THREADS;
  for (mw_limit i = least; i <= MW_LIMIT_BLOCKS; i++)
    if (b->of[i] < b->of[least]) least = i;
  return least;
}

mw_status cuda_occupancy(mw_kernel *base, int threads, size_t shared, mw_occupancy *out, mw_error *err) {
  cuda_device *device = cuda_device_of(base->module->device);
  cuda_kernel *kernel = (cuda_kernel *)base;
  bounds b = bounds_of(device, base, threads, shared);
  *out = (mw_occupancy){.limit = limit_of(&b), .shared_bytes = b.shared_bytes};
  if (b.of[MW_LIMIT_SHARED] == 0 || b.of[MW_LIMIT_THREADS] == 0) return MW_OK;
  if (device->base.info.offline) {
    out->blocks = b.of[out->limit];
    return MW_OK;
  }
  mw_status status = cuda_enter(device, err);
  if (status == MW_OK) status = cuda_allow_shared(kernel, shared, err);
  if (status == MW_OK) status = cuda_divide_cache(kernel, MW_CARVEOUT_ANY, MW_PREFER_NONE, err);
  if (status != MW_OK) return status;
  return CUDA_TRY(device, err, cuOccupancyMaxActiveBlocksPerMultiprocessor, &out->blocks, kernel->function, threads,
                  shared);
}
