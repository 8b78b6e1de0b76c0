/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<surface_types.h> needs the CUDA device"
