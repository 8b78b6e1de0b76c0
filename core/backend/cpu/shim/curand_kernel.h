/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<curand_kernel.h> needs the CUDA device"
