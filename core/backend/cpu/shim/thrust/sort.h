/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<thrust/sort.h> needs the CUDA device"
