/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cub/cub.cuh> needs the CUDA device"
