// SPDX-License-Identifier: MIT
//
// What moonwarp.sparse computes where there is no library: a row per thread, a column of the right side per thread, a
// system per thread (Thomas's algorithm).

namespace moonwarp {

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

template <typename T>
__global__ void spmv(T *y, const int *offsets, const int *columns, const T *values, const T *x, int m, T alpha, T beta) {
  int row = THREAD;
  if (row >= m) return;
  T sum = 0;
  for (int i = offsets[row]; i < offsets[row + 1]; i++) sum += values[i] * x[columns[i]];
  y[row] = alpha * sum + (beta != 0 ? beta * y[row] : (T)0);
}

template <typename T>
__global__ void spmm(T *C, const int *offsets, const int *columns, const T *values, const T *B, int m, int n, int k,
                     T alpha, T beta) {
  int i = THREAD, row = i % m;
  const T *b = B + (size_t)(i / m) * k;
  if (i >= m * n) return;
  T sum = 0;
  for (int e = offsets[row]; e < offsets[row + 1]; e++) sum += values[e] * b[columns[e]];
  C[i] = alpha * sum + (beta != 0 ? beta * C[i] : (T)0);
}

// Rows one after the other, by one thread; elements of the other triangle are left out.
template <typename T>
__global__ void spsv(T *x, const int *offsets, const int *columns, const T *values, const T *b, int n, T alpha,
                     bool is_upper, bool is_unit) {
  if (THREAD > 0) return;
  for (int k = 0; k < n; k++) {
    int row = is_upper ? n - 1 - k : k;
    T sum = alpha * b[row], diagonal = 1;
    for (int e = offsets[row]; e < offsets[row + 1]; e++) {
      int column = columns[e];
      if (column == row) diagonal = values[e];
      else if ((column > row) == is_upper) sum -= values[e] * x[column];
    }
    x[row] = is_unit ? sum : sum / diagonal;
  }
}

// Unknown i of a system is at first + i * step. c: of the size of x, for the upper diagonal after elimination.
template <typename T>
__device__ void thomas(T *x, const T *lower, const T *middle, const T *upper, T *c, size_t first, size_t step, int n) {
  T factor = middle[first];
  x[first] /= factor;
  for (size_t k = 1, i = first; k < n; k++) {
    T above = upper[i] / factor, before = x[i];
    i += step;
    factor = middle[i] - lower[i] * above;
    x[i] = (x[i] - lower[i] * before) / factor;
    c[i] = above;
  }
  for (size_t k = n - 1, i = first + k * step; k > 0; k--, i -= step) x[i - step] -= c[i] * x[i];
}

template <typename T>
__global__ void tridiagonal(T *x, const T *lower, const T *middle, const T *upper, T *c, int batch, int n,
                            bool is_interleaved) {
  size_t system = THREAD;
  if (system < batch)
    thomas(x, lower, middle, upper, c, is_interleaved ? system : system * n, is_interleaved ? batch : 1, n);
}

} // namespace moonwarp
