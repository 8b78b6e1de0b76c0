/* SPDX-License-Identifier: MIT
 *
 * A program's main and its kernels are often two files. */
#ifndef MW_COMPILE_BESIDE_H
#define MW_COMPILE_BESIDE_H

#include "core/base/error.h"

/* Adds to an error about a file without kernels which files of its folder have some. */
void mw_beside_tell(const char *folder, mw_error *);

#endif
