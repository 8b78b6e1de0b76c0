/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cub/block/block_exchange.cuh> needs the CUDA device"
