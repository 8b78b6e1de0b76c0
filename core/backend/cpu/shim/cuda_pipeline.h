/* SPDX-License-Identifier: MIT
 *
 * CUDA's <cuda_pipeline.h>. */
#include "cuda_pipeline_primitives.h"
