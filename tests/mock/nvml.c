/* SPDX-License-Identifier: MIT
 *
 * A stand-in for libnvidia-ml.so.1: MOONWARP_LIBNVML names the fake driver's file, which holds both. It reports the
 * fake driver's devices, steered by environment variables that are read at each call:
 *   MOCK_NVML_REASONS=0x44   bits of the throttle reasons     MOCK_NVML_CLOCK=1980   MHz of the multiprocessors
 *   MOCK_NVML_FALL=200       MHz that the clock loses with each reading
 *   MOCK_NVML_FAIL=name,...  these calls fail                  MOCK_NVML_UUID=0       no device is known by its UUID */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend/cuda/nvml.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define PROTOTYPE(name, arguments) cuda_nvml_result name arguments;
CUDA_NVML_CALLS(PROTOTYPE)

enum { UNINITIALIZED = 1, NOT_FOUND = 6, UNKNOWN = 999 };

struct nvmlDevice_st {
  int index;
};
static struct nvmlDevice_st devices[2] = {{0}, {1}};
static int started;

static long setting(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text && *text ? strtol(text, NULL, 0) : otherwise;
}

static cuda_nvml_result enter(const char *call) {
  const char *failing = getenv("MOCK_NVML_FAIL");
  if (failing && strstr(failing, call)) return UNKNOWN;
  return started ? 0 : UNINITIALIZED;
}

#define ENTER()                                                                                                        \
  do {                                                                                                                 \
    cuda_nvml_result code = enter(__func__);                                                                           \
    if (code) return code;                                                                                             \
  } while (0)

cuda_nvml_result nvmlInit_v2(void) {
  started = 1;
  return enter(__func__);
}

cuda_nvml_result nvmlSystemGetDriverVersion(char *text, unsigned size) {
  ENTER();
  snprintf(text, size, "580.65.06");
  return 0;
}

cuda_nvml_result nvmlDeviceGetHandleByUUID(const char *uuid, cuda_nvml_device *out) {
  ENTER();
  if (!setting("MOCK_NVML_UUID", 1) || strncmp(uuid, "GPU-abababab-", 13) != 0) return NOT_FOUND;
  *out = &devices[0];
  return 0;
}

cuda_nvml_result nvmlDeviceGetHandleByPciBusId_v2(const char *bus, cuda_nvml_device *out) {
  int index = 0;
  ENTER();
  if (sscanf(bus, "0000:%d:00.0", &index) != 1 || index < 0 || index > 1) return NOT_FOUND;
  *out = &devices[index];
  return 0;
}

cuda_nvml_result nvmlDeviceGetClockInfo(cuda_nvml_device device, unsigned which, unsigned *mhz) {
  static long readings;
  ENTER();
  *mhz = 3201;
  if (which == CUDA_NVML_CLOCK_SM)
    *mhz = (unsigned)(setting("MOCK_NVML_CLOCK", 1980) - device->index - setting("MOCK_NVML_FALL", 0) * readings++);
  return 0;
}

cuda_nvml_result nvmlDeviceGetMaxClockInfo(cuda_nvml_device device, unsigned which, unsigned *mhz) {
  ENTER();
  *mhz = which == CUDA_NVML_CLOCK_SM ? 1980 : 3201;
  return 0;
}

cuda_nvml_result nvmlDeviceGetCurrentClocksThrottleReasons(cuda_nvml_device device, unsigned long long *bits) {
  ENTER();
  *bits = (unsigned long long)setting("MOCK_NVML_REASONS", 0);
  return 0;
}

cuda_nvml_result nvmlDeviceGetTemperature(cuda_nvml_device device, unsigned sensor, unsigned *celsius) {
  ENTER();
  *celsius = 41;
  return 0;
}

cuda_nvml_result nvmlDeviceGetPowerUsage(cuda_nvml_device device, unsigned *milliwatts) {
  ENTER();
  *milliwatts = 123456;
  return 0;
}

cuda_nvml_result nvmlDeviceGetEnforcedPowerLimit(cuda_nvml_device device, unsigned *milliwatts) {
  ENTER();
  *milliwatts = 700000;
  return 0;
}

/* 250 W since the machine began. */
cuda_nvml_result nvmlDeviceGetTotalEnergyConsumption(cuda_nvml_device device, unsigned long long *millijoules) {
  static unsigned long long count; /* 1000 J with each reading, so that no test depends on time */
  ENTER();
  *millijoules = count += 1000000;
  return 0;
}

cuda_nvml_result nvmlDeviceGetUtilizationRates(cuda_nvml_device device, cuda_nvml_share *share) {
  ENTER();
  *share = (cuda_nvml_share){.gpu = 75, .memory = 50};
  return 0;
}
