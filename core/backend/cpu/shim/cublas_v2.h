/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cublas_v2.h> needs the CUDA device"
