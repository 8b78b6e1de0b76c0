/* SPDX-License-Identifier: MIT
 *
 * The registry of the null module: in place of core/backend/registry.c. */
#include "core/backend/backend.h"

extern const mw_backend mw_null_backend;

const mw_backend *const mw_backends[] = {&mw_null_backend, NULL};
