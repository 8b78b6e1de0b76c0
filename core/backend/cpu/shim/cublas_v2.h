/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cublas_v2.h> needs the CUDA device"
