/* SPDX-License-Identifier: MIT
 *
 * Opening a GPU: its primary context, its properties, its memory pool, its default stream. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend/cuda/nvml.h"
#include "core/backend/cuda/objects.h"

static int attribute(const cuda_device *device, unsigned which) {
  int value = 0;
  return cuda_driver.cuDeviceGetAttribute(&value, which, device->ordinal) == CUDA_OK ? value : 0;
}

static size_t size_attribute(const cuda_device *device, unsigned which) {
  int value = attribute(device, which);
  return value > 0 ? (size_t)value : 0;
}

/* ---- properties ------------------------------------------------------------------------------------------------ */

static void read_names(cuda_device *device, mw_device_info *info) {
  cuda_uuid id;
  snprintf(info->id, sizeof info->id, "cuda:%d", device->ordinal);
  cuda_driver.cuDeviceGetName(info->name, sizeof info->name, device->ordinal);
  cuda_driver.cuDeviceGetPCIBusId(info->pci, sizeof info->pci, device->ordinal);
  info->capability_major = attribute(device, CUDA_ATTR_CAPABILITY_MAJOR);
  info->capability_minor = attribute(device, CUDA_ATTR_CAPABILITY_MINOR);
  snprintf(info->arch, sizeof info->arch, "sm_%d%d", info->capability_major, info->capability_minor);
  cuda_describe_driver(info->driver, sizeof info->driver);
  if (cuda_driver.cuDeviceGetUuid_v2(&id, device->ordinal) != CUDA_OK) return;
  size_t length = (size_t)snprintf(info->uuid, sizeof info->uuid, "GPU-");
  for (int i = 0; i < 16; i++)
    length += (size_t)snprintf(info->uuid + length, sizeof info->uuid - length, "%s%02x",
                               i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", (unsigned char)id.bytes[i]);
}

static void read_limits(const cuda_device *device, mw_device_info *info) {
  info->multiprocessors = attribute(device, CUDA_ATTR_MULTIPROCESSOR_COUNT);
  info->warp_size = attribute(device, CUDA_ATTR_WARP_SIZE);
  info->max_threads_per_block = attribute(device, CUDA_ATTR_MAX_THREADS_PER_BLOCK);
  info->max_threads_per_multiprocessor = attribute(device, CUDA_ATTR_MAX_THREADS_PER_MP);
  info->max_blocks_per_multiprocessor = attribute(device, CUDA_ATTR_MAX_BLOCKS_PER_MP);
  for (unsigned i = 0; i < 3; i++) {
    info->max_block[i] = attribute(device, CUDA_ATTR_MAX_BLOCK_DIM_X + i);
    info->max_grid[i] = attribute(device, CUDA_ATTR_MAX_GRID_DIM_X + i);
  }
  info->shared_per_block = size_attribute(device, CUDA_ATTR_MAX_SHARED_PER_BLOCK);
  info->shared_per_block_optin = size_attribute(device, CUDA_ATTR_MAX_SHARED_PER_BLOCK_OPTIN);
  info->shared_per_multiprocessor = size_attribute(device, CUDA_ATTR_MAX_SHARED_PER_MP);
  info->registers_per_block = attribute(device, CUDA_ATTR_MAX_REGISTERS_PER_BLOCK);
  info->registers_per_multiprocessor = attribute(device, CUDA_ATTR_MAX_REGISTERS_PER_MP);
  info->constant_bytes = size_attribute(device, CUDA_ATTR_TOTAL_CONSTANT_MEMORY);
  info->async_engines = attribute(device, CUDA_ATTR_ASYNC_ENGINE_COUNT);
  info->cooperative = attribute(device, CUDA_ATTR_COOPERATIVE_LAUNCH) != 0;
  info->managed = attribute(device, CUDA_ATTR_MANAGED_MEMORY) != 0;
  info->pageable_access = attribute(device, CUDA_ATTR_PAGEABLE_ACCESS) != 0;
  info->concurrent_managed_access = attribute(device, CUDA_ATTR_CONCURRENT_MANAGED_ACCESS) != 0;
  info->host_register =
      attribute(device, CUDA_ATTR_HOST_REGISTER) && attribute(device, CUDA_ATTR_REGISTERED_AT_HOST_POINTER);
  info->queue_gate = true;
}

/* Peak bandwidth: memory clock x 2 (double data rate) x bus width, as NVIDIA's deviceQuery computes it. */
static void read_memory(const cuda_device *device, mw_device_info *info) {
  cuda_driver.cuDeviceTotalMem_v2(&info->memory_total, device->ordinal);
  info->l2_bytes = info->cache_bytes = size_attribute(device, CUDA_ATTR_L2_CACHE_SIZE);
  info->clock_hz = 1e3 * attribute(device, CUDA_ATTR_CLOCK_RATE);
  info->memory_clock_hz = 1e3 * attribute(device, CUDA_ATTR_MEMORY_CLOCK_RATE);
  info->bus_bits = attribute(device, CUDA_ATTR_GLOBAL_MEMORY_BUS_WIDTH);
  info->peak_bandwidth = 2 * info->memory_clock_hz * info->bus_bits / 8;
  info->ecc = attribute(device, CUDA_ATTR_ECC_ENABLED) != 0;
}

/* ---- open and close -------------------------------------------------------------------------------------------- */

/* compute-sanitizer and ncu set these variables for the process that they run. */
static bool has_tool(void) {
  return getenv("NV_SANITIZER_INJECTION_PORT_BASE") || getenv("NV_COMPUTE_PROFILER_PERFWORKS_DIR");
}

/* Freed memory stays in the pool, so that a script that allocates in a loop pays once. */
static void keep_pool(cuda_device *device) {
  uint64_t keep = UINT64_MAX;
  if (!attribute(device, CUDA_ATTR_MEMORY_POOLS_SUPPORTED)) return;
  if (cuda_driver.cuDeviceGetDefaultMemPool(&device->pool, device->ordinal) != CUDA_OK)
    device->pool = NULL;
  else
    cuda_driver.cuMemPoolSetAttribute(device->pool, CUDA_POOL_RELEASE_THRESHOLD, &keep);
}

static mw_status start(cuda_device *device, mw_error *err) {
  const char *sync = getenv("MOONWARP_SYNC");
  read_names(device, &device->base.info);
  sigset_t before;
  cuda_signals_block(&before);
  mw_status status = CUDA_TRY(device, err, cuDevicePrimaryCtxRetain, &device->context, device->ordinal);
  cuda_signals_restore(&before);
  if (status != MW_OK) return status;
  status = cuda_make_current(device, err);
  if (status == MW_OK) status = CUDA_TRY(device, err, cuEventCreate, &device->join, CUDA_EVENT_DISABLE_TIMING);
  if (status != MW_OK) {
    cuda_driver.cuDevicePrimaryCtxRelease_v2(device->ordinal);
    return status;
  }
  read_limits(device, &device->base.info);
  read_memory(device, &device->base.info);
  device->reserved_shared = size_attribute(device, CUDA_ATTR_RESERVED_SHARED_PER_BLOCK);
  device->sync_each = sync && *sync && strcmp(sync, "0") != 0;
  keep_pool(device);
  return MW_OK;
}

static mw_status open_ordinal(int ordinal, bool check, mw_device **out, mw_error *err) {
  cuda_device *device = mw_calloc(1, sizeof *device);
  device->main = (cuda_stream){.base.device = &device->base, .blocking = true};
  device->base.main = &device->main.base;
  mw_status status = CUDA_TRY(device, err, cuDeviceGet, &device->ordinal, ordinal);
  if (status == MW_OK) status = start(device, err);
  if (status != MW_OK) {
    mw_free(device);
    return status;
  }
  device->base.info.checks = check || has_tool();
  if (check) strcpy(device->base.info.id, "cuda:check");
  device->next = cuda_open_devices;
  cuda_open_devices = device;
  *out = &device->base;
  return MW_OK;
}

mw_status cuda_open(const char *which, mw_device **out, mw_error *err) {
  char why[512], *end;
  const bool check = !strcmp(which, "check"); /* of the first device */
  if (strncmp(which, "sm_", 3) == 0) return cuda_offline_open(which, out, err);
  long ordinal = strtol(check ? "0" : which, &end, 10);
  if (end == which || *end || ordinal < 0)
    return mw_fail(err, MW_NO_DEVICE, "no such device: cuda:%s; a number or an architecture such as sm_90 is wanted",
                   which);
  if (!cuda_driver_load(why, sizeof why)) return mw_fail(err, MW_NO_DEVICE, "cuda:%ld is not usable: %s", ordinal, why);
  if (ordinal >= cuda_driver.devices)
    return mw_fail(err, MW_NO_DEVICE, "no such device: cuda:%ld; the driver counts %d, from cuda:0", ordinal,
                   cuda_driver.devices);
  return open_ordinal((int)ordinal, check, out, err);
}

static void unlink_device(cuda_device *device) {
  cuda_device **at = &cuda_open_devices;
  while (*at != device) at = &(*at)->next;
  *at = device->next;
  cuda_forget_peer(device);
}

/* Releasing the context waits for its work. After an interrupted wait a kernel may never end, and a lost device may
 * never answer: then the process's end does it. */
static void release_context(cuda_device *device) {
  if (!cuda_stuck(device) && cuda_enter(device, NULL) == MW_OK) {
    cuda_driver.cuEventDestroy_v2(device->join);
    cuda_driver.cuCtxSetCurrent(NULL);
    cuda_driver.cuDevicePrimaryCtxRelease_v2(device->ordinal);
  }
  cuda_current = NULL; /* the next device makes its own current, whatever is now */
}

void cuda_close(mw_device *base) {
  cuda_device *device = cuda_device_of(base);
  if (!base->info.offline) {
    unlink_device(device);
    release_context(device);
  }
  mw_free(device);
}

mw_status cuda_synchronize(mw_device *base, mw_error *err) {
  return cuda_wait_all(cuda_device_of(base), err);
}

mw_status cuda_memory(mw_device *base, size_t *free_bytes, size_t *total, mw_error *err) {
  cuda_device *device = cuda_device_of(base);
  return CUDA_CALL(device, err, cuMemGetInfo_v2, free_bytes, total);
}

void cuda_state(mw_device *base, mw_device_state *out) {
  cuda_nvml_read(&base->info, out);
}

/* The tools of compute-sanitizer judge, and write what they find (lua/moonwarp/tools/sanitizer.lua). */
void cuda_check_mode(mw_device *device, const mw_check_mode *mode) {
  (void)device, (void)mode;
}

const mw_finding *cuda_findings(mw_device *device) {
  (void)device;
  return NULL;
}

const mw_counter_launch *cuda_counters(mw_device *device, bool newest) {
  (void)device, (void)newest;
  return NULL;
}

int cuda_touched(const mw_buffer *buffer, int most, mw_touch *out) {
  (void)buffer, (void)most, (void)out;
  return 0;
}
