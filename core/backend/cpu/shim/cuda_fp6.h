/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cuda_fp6.h> needs the CUDA device"
