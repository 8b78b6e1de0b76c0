/* SPDX-License-Identifier: MIT
 *
 * The backends, best first. A new one is one line here and a folder next to cpu/ and cuda/; tests/backend_null has
 * another registry. */
#include "core/backend/backend.h"

extern const mw_backend mw_cuda_backend, mw_cpu_backend;

const mw_backend *const mw_backends[] = {&mw_cuda_backend, &mw_cpu_backend, NULL};
