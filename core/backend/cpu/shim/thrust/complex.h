/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<thrust/complex.h> needs the CUDA device"
