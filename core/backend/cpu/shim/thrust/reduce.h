/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<thrust/reduce.h> needs the CUDA device"
