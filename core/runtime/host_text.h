/* SPDX-License-Identifier: MIT
 *
 * The host part of a preprocessed .cu text, for an ordinary C++ compiler. Code of the device is left out, kernels become
 * functions that hand their arguments to the runtime, launches become calls of them:
 *
 *   __device__ float half(float x) { ... }
 *   __global__ void scale(float *x) { ... }      void scale(float *x) { static moonwarp_site moonwarp_kernel; ... }
 *   scale<<<n, 256>>>(x);                        (moonwarp_push(n, 256), scale(x));
 *
 * Every token keeps its file and line. */
#ifndef MW_RUNTIME_HOST_TEXT_H
#define MW_RUNTIME_HOST_TEXT_H

#include "core/source/lexer.h"

typedef struct runtime_text {
  char *text;         /* freed by mw_free */
  bool has_kernels;   /* it defines some */
  bool has_templates; /* some of them are templates: which instances there are, the compiled text says */
} runtime_text;

/* source: its number, which the sites of its kernels are named by (symbols.h). */
runtime_text runtime_host_text(const char *preprocessed, int source);

#endif
