/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<surface_functions.h> needs the CUDA device"
