/* SPDX-License-Identifier: MIT
 *
 * Headers that ordinary .cu files include and NVRTC does not have: handed to it in memory. */
#ifndef MW_CUDA_HEADERS_H
#define MW_CUDA_HEADERS_H

#include <stdbool.h>

typedef struct cuda_headers {
  const char *const *names; /* "stdint.h", ... */
  const char *const *texts; /* in the same order */
  int count;
} cuda_headers;

/* After cuda_nvrtc_load; they live as long as the process. */
cuda_headers cuda_headers_given(void);

/* Has NVRTC a header of that name: one of these, or one of the toolkit's that are for kernels? */
bool cuda_has_header(const char *name);
/* Lines that include what NVRTC takes of a header that it does not take as a whole; NULL: of another header. */
const char *cuda_instead_of(const char *name);

#endif
