/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<thrust/functional.h> needs the CUDA device"
