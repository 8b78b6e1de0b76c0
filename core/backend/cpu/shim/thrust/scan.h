/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<thrust/scan.h> needs the CUDA device"
