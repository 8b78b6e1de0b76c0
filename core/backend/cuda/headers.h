/* SPDX-License-Identifier: MIT
 *
 * Headers that ordinary .cu files include and NVRTC does not have: handed to it in memory. */
#ifndef MW_CUDA_HEADERS_H
#define MW_CUDA_HEADERS_H

extern const char *const cuda_header_names[]; /* "stdint.h", ...: the same order as cuda_header_texts */
extern const char *const cuda_header_texts[];
extern const int cuda_header_count;

#endif
