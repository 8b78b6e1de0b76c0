/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cuda_fp6.h> needs the CUDA device"
