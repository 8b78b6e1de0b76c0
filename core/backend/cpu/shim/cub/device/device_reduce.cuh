/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cub/device/device_reduce.cuh> needs the CUDA device"
