/* SPDX-License-Identifier: MIT
 *
 * memcpy, memmove, memset and memcmp are built in. */
#ifndef MW_STRING_H
#define MW_STRING_H

#include "stddef.h"

#endif
