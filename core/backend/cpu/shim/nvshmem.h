/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<nvshmem.h> needs the CUDA device"
