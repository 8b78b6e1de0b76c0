/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cuda_pipeline_primitives.h> needs the CUDA device"
