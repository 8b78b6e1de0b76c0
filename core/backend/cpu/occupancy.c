/* SPDX-License-Identifier: MIT
 *
 * How many blocks fit: a core runs one at a time. */
#include "core/backend/cpu/objects.h"

mw_status cpu_occupancy(mw_kernel *kernel, int threads, size_t shared, mw_occupancy *out, mw_error *err) {
  (void)threads, (void)err;
  *out = (mw_occupancy){.blocks = 1, .limit = MW_LIMIT_BLOCKS, .shared_bytes = kernel->shared_bytes + shared};
  return MW_OK;
}
