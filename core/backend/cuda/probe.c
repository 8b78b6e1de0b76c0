/* SPDX-License-Identifier: MIT
 *
 * Whether CUDA is usable here, and why or why not. */
#include "core/backend/cuda/objects.h"

#include <stdio.h>
#include <string.h>

void cuda_describe_driver(char *text, size_t size) {
  char driver[32] = "no CUDA driver", why[8];
  bool has_driver = cuda_driver_load(why, sizeof why);
  if (has_driver)
    snprintf(driver, sizeof driver, "CUDA driver %d.%d", cuda_driver.version / 1000, cuda_driver.version % 1000 / 10);
  if (!cuda_nvrtc_load(NULL, 0)) {
    snprintf(text, size, "%s, NVRTC not found", driver);
    return;
  }
  bool newer = has_driver && cuda_nvrtc.major > cuda_driver.version / 1000;
  snprintf(text, size, "%s, NVRTC %d.%d%s", driver, cuda_nvrtc.major, cuda_nvrtc.minor,
           newer ? " (newer than the driver)" : "");
}

void cuda_probe(mw_probe *out) {
  char nvrtc[400];
  *out = (mw_probe){.devices = 0};
  if (!cuda_driver_load(out->reason, sizeof out->reason)) return;
  out->devices = cuda_driver.devices;
  if (cuda_nvrtc_load(nvrtc, sizeof nvrtc))
    cuda_describe_driver(out->reason, sizeof out->reason);
  else
    snprintf(out->reason, sizeof out->reason, "driver %d.%d found, but kernels cannot be compiled: %s",
             cuda_driver.version / 1000, cuda_driver.version % 1000 / 10, nvrtc);
}
