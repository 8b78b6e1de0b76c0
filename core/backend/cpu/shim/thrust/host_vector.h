/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<thrust/host_vector.h> needs the CUDA device"
