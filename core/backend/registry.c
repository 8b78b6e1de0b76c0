/* SPDX-License-Identifier: MIT
 *
 * The backends, best first, and how their devices are named. A new one is a line in each and a folder beside cpu/ and
 * cuda/. */
#include "core/backend/backend.h"

const mw_backend *const mw_backends[] = {&mw_cuda_backend, &mw_cpu_backend, NULL};

bool mw_backend_is_numbered(const mw_backend *backend) {
  return backend == &mw_cuda_backend;
}

const char *mw_device_forms(void) {
  return "cpu, cuda, cuda:N or cuda:sm_NN (offline)";
}
