/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<thrust/sort.h> needs the CUDA device"
