/* SPDX-License-Identifier: MIT
 *
 * CUDA's <cuda_pipeline_primitives.h>: copies are made at once. */
#ifndef MW_CUDA_PIPELINE_PRIMITIVES_H
#define MW_CUDA_PIPELINE_PRIMITIVES_H
#if !defined(MW_PREPROCESS)

#include "moonwarp/copy.h"

/* The last `zeros` bytes of the copy are set to 0 and not read. */
MW_FN void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zeros = 0) {
  mw_copy_later(to, from, bytes - zeros);
  for (size_t i = bytes - zeros; i < bytes; i++) ((mw_unit1 *)to)[i] = 0;
  MW_COPY(0, (char *)to + bytes - zeros, nullptr, zeros, nullptr)
}
MW_FN void __pipeline_commit() { mw_copies_commit(); }
MW_FN void __pipeline_wait_prior(size_t prior) { mw_copies_wait(prior); }

#endif
#endif
