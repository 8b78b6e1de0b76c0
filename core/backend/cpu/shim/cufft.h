/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cufft.h> needs the CUDA device"
