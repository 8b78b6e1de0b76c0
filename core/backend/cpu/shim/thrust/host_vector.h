/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<thrust/host_vector.h> needs the CUDA device"
