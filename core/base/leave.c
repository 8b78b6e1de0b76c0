/* SPDX-License-Identifier: MIT */
#include "core/base/leave.h"

#include <stddef.h>

void (*mw_leave)(int status) = NULL;
