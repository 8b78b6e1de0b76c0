/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cuda_fp8.h> needs the CUDA device"
