/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<texture_fetch_functions.h> needs the CUDA device"
