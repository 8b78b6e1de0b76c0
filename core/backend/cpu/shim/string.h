/* SPDX-License-Identifier: MIT
 *
 * memcpy, memmove, memset and memcmp are built in. */
#include "stddef.h"
