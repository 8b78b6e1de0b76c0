// SPDX-License-Identifier: MIT
//
// The host's program: compiled by g++, it knows nothing of CUDA.

#include <cstdio>
#include <vector>

#include "saxpy.h"

int main() {
  const int n = 1000;
  std::vector<float> x(n), y(n, 1);
  for (int i = 0; i < n; i++) x[i] = i;
  if (const char *what = saxpy_on_gpu(n, 2, x.data(), y.data())) {
    std::printf("%s\n", what);
    return 1;
  }
  for (int i = 0; i < n; i++) {
    if (y[i] != 2 * i + 1) {
      std::printf("y[%d] is %g\n", i, y[i]);
      return 2;
    }
  }
  std::printf("right\n");
}
