/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cub/device/device_select.cuh> needs the CUDA device"
