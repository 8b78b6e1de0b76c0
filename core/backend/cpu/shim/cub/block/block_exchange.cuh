/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cub/block/block_exchange.cuh> needs the CUDA device"
