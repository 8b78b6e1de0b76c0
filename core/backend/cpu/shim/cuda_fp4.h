/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cuda_fp4.h> needs the CUDA device"
