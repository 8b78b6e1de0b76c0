/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cub/warp/warp_reduce.cuh> needs the CUDA device"
