/* SPDX-License-Identifier: MIT
 *
 * printf is built in; there are no files in a kernel. */
#ifndef MW_STDIO_H
#define MW_STDIO_H

#include "stddef.h"

#endif
