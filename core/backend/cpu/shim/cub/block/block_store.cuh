/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cub/block/block_store.cuh> needs the CUDA device"
