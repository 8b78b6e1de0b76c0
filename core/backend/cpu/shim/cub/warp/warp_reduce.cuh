/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cub/warp/warp_reduce.cuh> needs the CUDA device"
