/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cub/block/block_histogram.cuh> needs the CUDA device"
