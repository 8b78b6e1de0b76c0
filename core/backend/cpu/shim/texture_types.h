/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<texture_types.h> needs the CUDA device"
