/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cuda_awbarrier.h> needs the CUDA device"
