/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<texture_types.h> needs the CUDA device"
