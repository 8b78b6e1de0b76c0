/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cutlass/cutlass.h> needs the CUDA device"
