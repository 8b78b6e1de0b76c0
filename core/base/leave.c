/* SPDX-License-Identifier: MIT */
#include "core/base/leave.h"

#include <stddef.h>

int (*mw_leave)(int status) = NULL;
