/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cub/device/device_radix_sort.cuh> needs the CUDA device"
