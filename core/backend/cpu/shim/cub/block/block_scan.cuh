/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cub/block/block_scan.cuh> needs the CUDA device"
