/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<thrust/scan.h> needs the CUDA device"
