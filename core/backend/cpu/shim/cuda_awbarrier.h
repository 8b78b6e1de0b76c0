/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cuda_awbarrier.h> needs the CUDA device"
