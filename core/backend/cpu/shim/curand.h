/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<curand.h> needs the CUDA device"
