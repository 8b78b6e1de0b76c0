// SPDX-License-Identifier: MIT
#pragma once

// y = a x + y for n elements of the host, on the first GPU. Returns what failed, or a null pointer.
extern "C" const char *saxpy_on_gpu(int n, float a, const float *x, float *y);
