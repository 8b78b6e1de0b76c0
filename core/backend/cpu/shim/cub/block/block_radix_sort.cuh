/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cub/block/block_radix_sort.cuh> needs the CUDA device"
