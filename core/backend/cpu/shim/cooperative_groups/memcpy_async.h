/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cooperative_groups/memcpy_async.h> needs the CUDA device"
