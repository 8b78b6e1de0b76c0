/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cub/device/device_scan.cuh> needs the CUDA device"
