/* SPDX-License-Identifier: MIT
 *
 * What nvcc brings in with <cuda_runtime.h>, beyond what is built in. */
#include "float.h"
#include "limits.h"
#include "math.h"
#include "math_constants.h"
#include "stddef.h"
#include "stdint.h"
