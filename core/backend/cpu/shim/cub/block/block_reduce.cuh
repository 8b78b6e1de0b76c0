/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cub/block/block_reduce.cuh> needs the CUDA device"
