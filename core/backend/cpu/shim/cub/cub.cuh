/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cub/cub.cuh> needs the CUDA device"
