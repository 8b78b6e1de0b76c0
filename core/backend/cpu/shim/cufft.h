/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cufft.h> needs the CUDA device"
