/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<thrust/device_vector.h> needs the CUDA device"
