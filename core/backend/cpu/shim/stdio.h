/* SPDX-License-Identifier: MIT
 *
 * printf is built in; there are no files in a kernel. */
#include "stddef.h"
