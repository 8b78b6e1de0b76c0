/* SPDX-License-Identifier: MIT
 *
 * What a kernel finds in namespace std without including it: nvcc brings some of it in by itself, and host headers,
 * which are left out, the rest. */
#include "../cmath"
#include "../cstddef"
#include "../cstdint"
#include "../cstdio"
#include "../cstdlib"
