/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<curand_kernel.h> needs the CUDA device"
