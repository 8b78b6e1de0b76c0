/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cub/block/block_store.cuh> needs the CUDA device"
