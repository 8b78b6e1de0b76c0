// SPDX-License-Identifier: MIT
//
// What moonwarp.sparse computes where there is no library: a row a thread, a system a thread (Thomas's algorithm).

template <typename T>
__global__ void spmv(T *y, const int *offsets, const int *columns, const T *values, const T *x, int m, T alpha,
                     T beta) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m) return;
  T sum = 0;
  for (int i = offsets[row]; i < offsets[row + 1]; i++) sum += values[i] * x[columns[i]];
  y[row] = alpha * sum + (beta != 0 ? beta * y[row] : (T)0);
}

// c: of the size of x, for the upper diagonal after elimination.
template <typename T>
__global__ void tridiagonal(T *x, const T *lower, const T *middle, const T *upper, T *c, int batch, int n) {
  int system = blockIdx.x * blockDim.x + threadIdx.x;
  if (system >= batch) return;
  size_t first = (size_t)system * n, last = first + n - 1;
  T factor = middle[first];
  x[first] /= factor;
  for (size_t i = first + 1; i <= last; i++) {
    c[i] = upper[i - 1] / factor;
    factor = middle[i] - lower[i] * c[i];
    x[i] = (x[i] - lower[i] * x[i - 1]) / factor;
  }
  for (size_t i = last; i > first; i--) x[i - 1] -= c[i] * x[i];
}
