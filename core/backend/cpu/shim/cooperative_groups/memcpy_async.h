/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cooperative_groups/memcpy_async.h> needs the CUDA device"
