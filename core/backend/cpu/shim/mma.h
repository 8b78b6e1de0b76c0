/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<mma.h> needs the CUDA device"
