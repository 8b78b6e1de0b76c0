/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<thrust/reduce.h> needs the CUDA device"
