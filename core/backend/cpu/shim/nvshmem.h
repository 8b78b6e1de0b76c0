/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<nvshmem.h> needs the CUDA device"
