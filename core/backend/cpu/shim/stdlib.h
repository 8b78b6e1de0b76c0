/* SPDX-License-Identifier: MIT
 *
 * abs and its kind are built in. */
#include "stddef.h"
