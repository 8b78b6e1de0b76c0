/* SPDX-License-Identifier: MIT
 *
 * NVML, NVIDIA's library of readings: clocks, temperature, power. Loaded at run time like the driver; only calls that
 * read are declared here, so that nothing can change a setting of the card. Every entry may be missing: what it would
 * report is unknown then. */
#ifndef MW_CUDA_NVML_H
#define MW_CUDA_NVML_H

#include "core/backend/backend.h"

typedef unsigned cuda_nvml_result; /* nvmlReturn_t; 0: success */
typedef struct nvmlDevice_st *cuda_nvml_device;

typedef struct cuda_nvml_share { /* nvmlUtilization_t, per cent */
  unsigned gpu, memory;
} cuda_nvml_share;

enum { CUDA_NVML_CLOCK_SM = 1, CUDA_NVML_CLOCK_MEMORY = 2, CUDA_NVML_SENSOR_GPU = 0 };

/* clang-format off */
#define CUDA_NVML_CALLS(X) \
  X(nvmlInit_v2,                               (void)) \
  X(nvmlSystemGetDriverVersion,                (char *, unsigned size)) \
  X(nvmlDeviceGetHandleByUUID,                 (const char *, cuda_nvml_device *)) \
  X(nvmlDeviceGetHandleByPciBusId_v2,          (const char *, cuda_nvml_device *)) \
  X(nvmlDeviceGetClockInfo,                    (cuda_nvml_device, unsigned which, unsigned *mhz)) \
  X(nvmlDeviceGetMaxClockInfo,                 (cuda_nvml_device, unsigned which, unsigned *mhz)) \
  X(nvmlDeviceGetCurrentClocksThrottleReasons, (cuda_nvml_device, unsigned long long *)) \
  X(nvmlDeviceGetTemperature,                  (cuda_nvml_device, unsigned sensor, unsigned *celsius)) \
  X(nvmlDeviceGetPowerUsage,                   (cuda_nvml_device, unsigned *milliwatts)) \
  X(nvmlDeviceGetEnforcedPowerLimit,           (cuda_nvml_device, unsigned *milliwatts)) \
  X(nvmlDeviceGetTotalEnergyConsumption,       (cuda_nvml_device, unsigned long long *millijoules)) \
  X(nvmlDeviceGetUtilizationRates,             (cuda_nvml_device, cuda_nvml_share *))
/* clang-format on */

/* Fills what is known of that device; without NVML nothing. Never fails. */
void cuda_nvml_read(const mw_device_info *, mw_device_state *);

#endif
