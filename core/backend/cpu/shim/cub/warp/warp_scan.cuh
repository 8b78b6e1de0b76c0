/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cub/warp/warp_scan.cuh> needs the CUDA device"
