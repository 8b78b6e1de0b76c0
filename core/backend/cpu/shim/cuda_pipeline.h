/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cuda_pipeline.h> needs the CUDA device"
