/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<mma.h> needs the CUDA device"
