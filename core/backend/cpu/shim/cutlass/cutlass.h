/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cutlass/cutlass.h> needs the CUDA device"
