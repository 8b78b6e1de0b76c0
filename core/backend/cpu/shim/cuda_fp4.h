/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cuda_fp4.h> needs the CUDA device"
