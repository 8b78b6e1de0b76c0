/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cub/block/block_load.cuh> needs the CUDA device"
