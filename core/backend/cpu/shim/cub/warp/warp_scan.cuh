/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cub/warp/warp_scan.cuh> needs the CUDA device"
