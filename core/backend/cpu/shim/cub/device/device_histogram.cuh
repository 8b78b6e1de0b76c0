/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cub/device/device_histogram.cuh> needs the CUDA device"
