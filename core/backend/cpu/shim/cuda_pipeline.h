/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cuda_pipeline.h> needs the CUDA device"
