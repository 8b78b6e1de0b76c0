/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cub/device/device_histogram.cuh> needs the CUDA device"
