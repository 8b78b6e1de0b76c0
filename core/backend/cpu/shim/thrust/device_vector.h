/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<thrust/device_vector.h> needs the CUDA device"
