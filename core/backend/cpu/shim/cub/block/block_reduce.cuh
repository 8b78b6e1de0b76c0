/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cub/block/block_reduce.cuh> needs the CUDA device"
