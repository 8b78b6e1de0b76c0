/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<curand.h> needs the CUDA device"
