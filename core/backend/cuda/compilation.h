/* SPDX-License-Identifier: MIT
 *
 * One run of NVRTC that Ctrl-C and the limit on processor time can end. */
#ifndef MW_CUDA_COMPILATION_H
#define MW_CUDA_COMPILATION_H

#include "core/backend/cuda/driver.h"
#include "core/base/error.h"
#include "core/compile/process.h"

/* Takes the options. code: NVRTC's result. MW_INTERRUPTED: Ctrl-C; MW_IO: the limit. In both cases the program may be
 * gone, and NULL. */
mw_status cuda_program_compile(cuda_program *, mw_argv *options, const char *name, unsigned *code, mw_error *);

#endif
