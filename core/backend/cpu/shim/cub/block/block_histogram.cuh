/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cub/block/block_histogram.cuh> needs the CUDA device"
