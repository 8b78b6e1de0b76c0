/* SPDX-License-Identifier: MIT
 *
 * abs and its kind are built in. */
#include "stddef.h"

#if !defined(MW_PREPROCESS)
extern "C" __attribute__((noreturn)) void abort();
extern "C" __attribute__((noreturn)) void exit(int);
#endif
