/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cub/device/device_radix_sort.cuh> needs the CUDA device"
