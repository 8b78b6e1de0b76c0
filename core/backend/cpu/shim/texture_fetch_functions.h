/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<texture_fetch_functions.h> needs the CUDA device"
