/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<thrust/functional.h> needs the CUDA device"
