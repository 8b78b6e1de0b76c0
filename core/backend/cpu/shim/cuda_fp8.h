/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cuda_fp8.h> needs the CUDA device"
