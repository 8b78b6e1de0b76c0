/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<thrust/complex.h> needs the CUDA device"
