/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cub/block/block_load.cuh> needs the CUDA device"
