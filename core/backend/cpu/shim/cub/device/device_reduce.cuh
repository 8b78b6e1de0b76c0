/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cub/device/device_reduce.cuh> needs the CUDA device"
