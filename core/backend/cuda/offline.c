/* SPDX-License-Identifier: MIT
 *
 * Architectures without a device: "cuda:sm_90" compiles, reports a kernel's attributes and its occupancy, and rejects
 * everything else. The numbers are those of the CUDA C++ Programming Guide, "Technical Specifications per Compute
 * Capability"; 8.8 and 12.1, which it leaves out, are those of cuda/__device/arch_traits.h in NVIDIA's CCCL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend/cuda/objects.h"

typedef struct architecture {
  int arch, threads, blocks, shared_kib, optin_kib; /* a multiprocessor; the last a block */
} architecture;

static const architecture table[] = {
    {75, 1024, 16, 64, 64},    {80, 2048, 32, 164, 163},  {86, 1536, 16, 100, 99},  {87, 1536, 16, 164, 163},
    {88, 1536, 16, 100, 99},   {89, 1536, 24, 100, 99},   {90, 2048, 32, 228, 227}, {100, 2048, 32, 228, 227},
    {103, 2048, 32, 228, 227}, {110, 1536, 24, 228, 227}, {120, 1536, 24, 100, 99}, {121, 1536, 24, 100, 99},
};

static const architecture *find(int arch) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].arch == arch) return &table[i];
  return NULL;
}

static mw_status reject_architecture(const char *which, mw_error *err) {
  char known[128] = "";
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    mw_list_add(known, sizeof known, " ", "sm_%d", table[i].arch);
  return mw_fail(err, MW_NO_DEVICE, "cuda:%s: no such architecture is known; there are %s", which, known);
}

static void describe(const architecture *a, mw_device_info *info) {
  snprintf(info->id, sizeof info->id, "cuda:sm_%d", a->arch);
  snprintf(info->name, sizeof info->name, "sm_%d (no device: compiles only)", a->arch);
  snprintf(info->arch, sizeof info->arch, "sm_%d", a->arch);
  cuda_describe_driver(info->driver, sizeof info->driver);
  info->capability_major = a->arch / 10;
  info->capability_minor = a->arch % 10;
  info->warp_size = 32;
  info->max_threads_per_block = 1024;
  info->max_threads_per_multiprocessor = a->threads;
  info->max_blocks_per_multiprocessor = a->blocks;
  memcpy(info->max_block, (int[]){1024, 1024, 64}, sizeof info->max_block);
  memcpy(info->max_grid, (int[]){INT32_MAX, 65535, 65535}, sizeof info->max_grid);
  info->shared_per_block = 48 << 10;
  info->shared_per_block_optin = (size_t)a->optin_kib << 10;
  info->shared_per_multiprocessor = (size_t)a->shared_kib << 10;
  info->registers_per_block = info->registers_per_multiprocessor = 65536;
  info->constant_bytes = 64 << 10;
  info->cooperative = info->managed = info->offline = true;
}

mw_status cuda_offline_open(const char *which, mw_device **out, mw_error *err) {
  char why[1024], *end;
  const architecture *a = find((int)strtol(which + 3, &end, 10));
  if (!a || *end) return reject_architecture(which, err);
  if (!cuda_nvrtc_load(why, sizeof why)) return mw_fail(err, MW_NO_DEVICE, "cuda:%s is not usable: %.900s", which, why);
  cuda_device *device = mw_calloc(1, sizeof *device);
  describe(a, &device->base.info);
  device->reserved_shared = a->arch >= 80 ? 1024 : 0; /* from compute capability 8.0 on */
  *out = &device->base;
  return MW_OK;
}
