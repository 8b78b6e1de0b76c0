/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<surface_types.h> needs the CUDA device"
