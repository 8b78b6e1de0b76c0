/* SPDX-License-Identifier: MIT
 *
 * abs and its kind are built in. */
#ifndef MW_STDLIB_H
#define MW_STDLIB_H

#include "stddef.h"

#endif
