/* SPDX-License-Identifier: MIT
 *
 * Headers that ordinary .cu files include and NVRTC does not have: handed to it in memory. */
#ifndef MW_CUDA_HEADERS_H
#define MW_CUDA_HEADERS_H

#include <stdbool.h>

extern const char *const cuda_header_names[]; /* "stdint.h", ...: the same order as cuda_header_texts */
const char *const *cuda_header_texts(void);   /* live as long as the process */
extern const int cuda_header_count;

/* Has NVRTC a header of that name: one of these, or one of the toolkit's that are for kernels? */
bool cuda_has_header(const char *name);
/* Lines that include what NVRTC takes of a header that it does not take as a whole; NULL: of another header. */
const char *cuda_instead_of(const char *name);

#endif
