/* SPDX-License-Identifier: MIT
 *
 * Reading a GPU's clocks, temperature, power and energy. NVML counts devices by itself, without regard to
 * CUDA_VISIBLE_DEVICES, so a device is found by its UUID, or, if that is another's (a part of a GPU has its own), by
 * its place on the PCI bus. */
#include "core/backend/cuda/nvml.h"
#include "core/backend/cuda/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct nvml_table {
#define NVML_FIELD(name, arguments) cuda_nvml_result(*name) arguments;
  CUDA_NVML_CALLS(NVML_FIELD)
#undef NVML_FIELD
} nvml;

/* An entry that is there and succeeds. */
#define NVML_OK(call, ...) (nvml.call && nvml.call(__VA_ARGS__) == 0)

static const cuda_symbol entries[] = {
#define NVML_ENTRY(name, arguments) {#name, offsetof(struct nvml_table, name)},
    CUDA_NVML_CALLS(NVML_ENTRY)
#undef NVML_ENTRY
        {NULL, 0}};

/* ---- loading --------------------------------------------------------------------------------------------------- */

static bool load(void) {
  const char *forced = getenv("MOONWARP_LIBNVML");
  void *library = dlopen(forced && *forced ? forced : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
  cuda_resolve(library, entries, &nvml);
  return NVML_OK(nvmlInit_v2);
}

static bool is_loaded(void) {
  static enum { UNTRIED, USABLE, ABSENT } state;
  if (state == UNTRIED) state = load() ? USABLE : ABSENT;
  return state == USABLE;
}

static cuda_nvml_device find(const mw_device_info *info) {
  cuda_nvml_device device = NULL;
  if (*info->uuid && NVML_OK(nvmlDeviceGetHandleByUUID, info->uuid, &device)) return device;
  if (*info->pci && NVML_OK(nvmlDeviceGetHandleByPciBusId_v2, info->pci, &device)) return device;
  return NULL;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static void read_clocks(cuda_nvml_device device, mw_device_state *out) {
  unsigned mhz;
  if (NVML_OK(nvmlDeviceGetClockInfo, device, CUDA_NVML_CLOCK_SM, &mhz)) out->clock_hz = 1e6 * mhz;
  if (NVML_OK(nvmlDeviceGetClockInfo, device, CUDA_NVML_CLOCK_MEMORY, &mhz)) out->memory_clock_hz = 1e6 * mhz;
  if (NVML_OK(nvmlDeviceGetMaxClockInfo, device, CUDA_NVML_CLOCK_SM, &mhz)) out->clock_max_hz = 1e6 * mhz;
  if (NVML_OK(nvmlDeviceGetMaxClockInfo, device, CUDA_NVML_CLOCK_MEMORY, &mhz)) out->memory_clock_max_hz = 1e6 * mhz;
}

/* nvml.h, nvmlClocksThrottleReasons (later nvmlClocksEventReasons): bits 0 to 4 are ours, 5 and 6 are both heat. */
static void read_reasons(cuda_nvml_device device, mw_device_state *out) {
  unsigned long long bits;
  if (!NVML_OK(nvmlDeviceGetCurrentClocksThrottleReasons, device, &bits)) return;
  out->throttle = (int)(bits & 0x1f) | (bits & 0x60 ? MW_THROTTLE_HEAT : 0) | (bits & 0x80 ? MW_THROTTLE_BRAKE : 0) |
                  (bits & 0x100 ? MW_THROTTLE_DISPLAY : 0);
}

static void read_power(cuda_nvml_device device, mw_device_state *out) {
  unsigned value;
  unsigned long long millijoules;
  cuda_nvml_share share;
  if (NVML_OK(nvmlDeviceGetTemperature, device, CUDA_NVML_SENSOR_GPU, &value)) out->temperature = value;
  if (NVML_OK(nvmlDeviceGetPowerUsage, device, &value)) out->power = 1e-3 * value;
  if (NVML_OK(nvmlDeviceGetEnforcedPowerLimit, device, &value)) out->power_limit = 1e-3 * value;
  if (NVML_OK(nvmlDeviceGetTotalEnergyConsumption, device, &millijoules)) out->energy = 1e-3 * (double)millijoules;
  if (NVML_OK(nvmlDeviceGetUtilizationRates, device, &share)) out->utilisation = share.gpu / 100.0;
}

void cuda_nvml_read(const mw_device_info *info, mw_device_state *out) {
  cuda_nvml_device device = !info->offline && is_loaded() ? find(info) : NULL;
  if (!device) return;
  if (!NVML_OK(nvmlSystemGetDriverVersion, out->driver, sizeof out->driver)) out->driver[0] = '\0';
  read_clocks(device, out);
  read_reasons(device, out);
  read_power(device, out);
}
