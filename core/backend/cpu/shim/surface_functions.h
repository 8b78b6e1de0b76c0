/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<surface_functions.h> needs the CUDA device"
