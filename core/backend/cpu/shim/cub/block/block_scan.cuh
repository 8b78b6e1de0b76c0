/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cub/block/block_scan.cuh> needs the CUDA device"
