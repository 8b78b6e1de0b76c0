/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cub/device/device_scan.cuh> needs the CUDA device"
