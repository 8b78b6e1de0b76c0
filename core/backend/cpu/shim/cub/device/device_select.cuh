/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cub/device/device_select.cuh> needs the CUDA device"
