/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cuda_pipeline_primitives.h> needs the CUDA device"
