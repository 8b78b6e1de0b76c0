// SPDX-License-Identifier: MIT
//
// sparse: products of a sparse matrix, a triangular solve, and the method of conjugate gradients.
//
// A matrix of m rows is three arrays (compressed sparse rows, CSR): offsets[r] is where row r begins in `columns` and
// `values`, offsets[m] how many elements there are.
// y = A x
//   spmv_thread      a thread per row: neighbouring threads read elements that lie a row apart
//   spmv_warp        a warp per row, which reads it in pieces of 32 elements and adds them by shuffles
//   spmv_ell         a thread per row of a copy of A in which all rows have the same length, by columns (ELLPACK)
//   spmv_staged      a block multiplies the elements of its 256 rows in order, through shared memory; a thread per row
//                    then adds them
//   spmv_merge       every thread gets the same number of items, an item being an element or the end of a row
// Y = A X of COLUMNS columns
//   spmm_thread      a thread per row, which reads the matrix once for all columns
// L y = x, of a lower triangle whose rows end with their diagonal; rows of one level need rows of earlier levels only
//   solve_level      a launch per level
//   solve_grid       all levels in one launch, with a barrier of the grid after each
// Conjugate gradients (M. Hestenes and E. Stiefel, 1952): an iteration is
//   spmv_staged, dot, add, add, dot, direction         six kernels and next
//   cg_product, cg_update, direction                   dot products where their factors are in registers anyway
//
// Bounds are of memory, for T of 8 bytes and 5 elements per row. Product: 60 bytes of elements, 4 of offsets, 8 of x if
// each element of it is read from memory once, 8 of y: 80 bytes per row. Iteration: 80 + 16 + 24 + 24 + 8 + 24 =
// 176, with cg_product 80 + 48 + 24 = 152. Levels: a launch, or a barrier, each.
//
// Warps: N. Bell and M. Garland, "Implementing sparse matrix-vector multiplication on throughput-oriented processors"
// (SC 2009); staged: J. Greathouse and M. Daga, "Efficient sparse matrix-vector multiplication on GPUs using the CSR
// storage format" (SC 2014); merge: D. Merrill and M. Garland, "Merge-based parallel sparse matrix-vector
// multiplication" (SC 2016); levels: M. Naumov, "Parallel solution of sparse triangular linear systems" (2011).

#include <cooperative_groups.h>
#include "block_sum.cuh"

#define STAGED 2048 // products that a block of spmv_staged holds at once
#define ITEMS  7    // of a thread in spmv_merge; odd, so that threads begin in different banks
#define TILE   (BLOCK * ITEMS)
#define PIECE  4    // elements of a thread in the vectors of conjugate gradients

// ---- device helpers -------------------------------------------------------------------------------------------------

// Products of up to EACH * BLOCK elements by a block. All loads of a thread begin before the first one is waited for.
template <int EACH, typename T>
__device__ void multiply(T *product, const int *columns, const T *values, const T *x, int count) {
  int column[EACH];
  T value[EACH];
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    int i = k * BLOCK + threadIdx.x;
    column[k] = i < count ? columns[i] : 0;
    value[k] = i < count ? values[i] : 0;
  }
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    int i = k * BLOCK + threadIdx.x;
    if (i < count) product[i] = value[k] * x[column[k]];
  }
}

// What a thread of a block of BLOCK threads has of A x: its row's sum, 0 beyond the last row.
template <typename T>
__device__ T staged_row(const int *offsets, const int *columns, const T *values, const T *x, int m) {
  __shared__ T product[STAGED];
  int first = blockIdx.x * BLOCK, row = min(first + (int)threadIdx.x, m);
  int begin = offsets[row], end = offsets[min(row + 1, m)];
  int stop = offsets[min(first + BLOCK, m)];
  T sum = 0;
  for (int start = offsets[first]; start < stop; start += STAGED) {
    int count = min(stop - start, STAGED);
    multiply<STAGED / BLOCK>(product, columns + start, values + start, x, count);
    __syncthreads();
    for (int i = max(begin - start, 0); i < min(end - start, count); i++) sum += product[i];
    __syncthreads();
  }
  return sum;
}

// How many of the first `items` items are ends of rows, if an end comes before the elements that follow it.
// ends[r] elements are in rows 0 to r.
__device__ int rows_within(int items, const int *ends, int rows, int elements) {
  int low = max(items - elements, 0), high = min(items, rows);
  while (low < high) {
    int middle = (low + high) / 2;
    if (ends[middle] <= items - middle - 1) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Inclusive sums over the block's threads, each over those before it with the same row; rows do not fall. The
// return value is that of the thread in front, 0 in the first one.
template <typename T> __device__ T sums_by_row(int row, T &sum) {
  __shared__ T last_sum[BLOCK / 32];
  __shared__ int last_row[BLOCK / 32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int s = 1; s < 32; s *= 2) {
    T other = __shfl_up_sync(ALL, sum, s);
    int other_row = __shfl_up_sync(ALL, row, s);
    if (lane >= s && other_row == row) sum += other;
  }
  if (lane == 31) {
    last_sum[warp] = sum;
    last_row[warp] = row;
  }
  __syncthreads();
  T in_front = 0;
  for (int w = 0, of = -1; w < warp; w++) { // what the warps in front have left of the row they end in
    in_front = last_sum[w] + (last_row[w] == of ? in_front : 0);
    of = last_row[w];
  }
  if (warp > 0 && row == last_row[warp - 1]) sum += in_front;
  T before = __shfl_up_sync(ALL, sum, 1);
  return lane > 0 ? before : in_front;
}

// ---- kernels: matrices ----------------------------------------------------------------------------------------------

// The matrix of -u'' on side * side points, zero outside: 4 on the diagonal, -1 for each neighbour; or its lower
// triangle. One thread per row, and one more.
template <typename T> __global__ void poisson(int *offsets, int *columns, T *values, int side, int lower) {
  int r = blockIdx.x * blockDim.x + threadIdx.x, m = side * side;
  if (r > m) return;
  // Of the rows in front, `side` have no neighbour above, one in `side` has none to its left, and so on.
  int missing = min(r, side) + (r + side - 1) / side;
  int at = lower ? 3 * r - missing : 5 * r - missing - r / side - max(r - (m - side), 0);
  offsets[r] = at;
  if (r == m) return;
  const int reach[5] = { -side, -1, 0, 1, side };
  bool has[5] = { r >= side, r % side > 0, true, !lower && r % side < side - 1, !lower && r < m - side };
  for (int k = 0; k < 5; k++) {
    if (!has[k]) continue;
    columns[at] = r + reach[k];
    values[at++] = reach[k] ? -1 : 4;
  }
}

// A copy with `width` elements per row, by columns; rows are filled up with zeros. One thread per row.
template <typename T>
__global__ void to_ell(int *ell_columns, T *ell_values, const int *offsets, const int *columns, const T *values, int m,
                       int width) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= m) return;
  int begin = offsets[r], length = offsets[r + 1] - begin;
  for (int k = 0; k < width; k++) {
    size_t at = (size_t)k * m + r;
    ell_columns[at] = k < length ? columns[begin + k] : 0;
    ell_values[at] = k < length ? values[begin + k] : 0;
  }
}

// ---- kernels: y = A x -----------------------------------------------------------------------------------------------

template <typename T>
__global__ void spmv_thread(T *y, const int *offsets, const int *columns, const T *values, const T *__restrict__ x,
                            int m) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= m) return;
  T sum = 0;
  for (int i = offsets[r]; i < offsets[r + 1]; i++) sum += values[i] * x[columns[i]];
  y[r] = sum;
}

template <typename T>
__global__ void spmv_warp(T *y, const int *offsets, const int *columns, const T *values, const T *__restrict__ x,
                          int m) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= m) return;
  T sum = 0;
  for (int i = offsets[r] + lane; i < offsets[r + 1]; i += 32) sum += values[i] * x[columns[i]];
  sum = warp_sum(sum);
  if (lane == 0) y[r] = sum;
}

template <typename T>
__global__ void spmv_ell(T *y, const int *ell_columns, const T *ell_values, const T *__restrict__ x, int m, int width) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= m) return;
  T sum = 0;
#pragma unroll 4
  for (int k = 0; k < width; k++) sum += ell_values[(size_t)k * m + r] * x[ell_columns[(size_t)k * m + r]];
  y[r] = sum;
}

template <typename T>
__global__ void __launch_bounds__(BLOCK) spmv_staged(T *y, const int *offsets, const int *columns, const T *values,
                                                     const T *__restrict__ x, int m) {
  T sum = staged_row(offsets, columns, values, x, m);
  int r = blockIdx.x * BLOCK + threadIdx.x;
  if (r < m) y[r] = sum;
}

// The rows that tiles of spmv_merge begin with: known as long as the structure stays. One thread per tile, and one more.
__global__ void merge_starts(int *starts, const int *offsets, int m, int tiles) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t <= tiles) starts[t] = rows_within(min(t * TILE, m + offsets[m]), offsets + 1, m, offsets[m]);
}

// A tile per block. What it leaves of its last row, which others complete, goes to `left`.
template <typename T>
__global__ void __launch_bounds__(BLOCK) spmv_merge(T *y, T *left, const int *starts, const int *offsets,
                                                    const int *columns, const T *values, const T *__restrict__ x,
                                                    int m) {
  __shared__ T product[TILE];
  __shared__ int ends[TILE];
  int tile = blockIdx.x, t = threadIdx.x, first_row = starts[tile], rows = starts[tile + 1] - first_row;
  int items = min(TILE, m + offsets[m] - tile * TILE), elements = items - rows, first = tile * TILE - first_row;
  for (int i = t; i < rows; i += BLOCK) ends[i] = offsets[first_row + i + 1] - first;
  multiply<ITEMS>(product, columns + first, values + first, x, elements);
  __syncthreads();
  int item = min(t * ITEMS, items), row = rows_within(item, ends, rows, elements), element = item - row, head_row = -1;
  T sum = 0, head = 0;
  for (int k = 0; k < ITEMS && item < items; k++, item++) {
    if (row < rows && ends[row] <= element) { // the row's end
      if (head_row < 0) { // threads in front may have some of it
        head_row = row;
        head = sum;
      } else {
        y[first_row + row] = sum;
      }
      sum = 0;
      row++;
    } else {
      sum += product[element++];
    }
  }
  T in_front = sums_by_row(row, sum);
  if (head_row >= 0) y[first_row + head_row] = head + in_front;
  if (t == BLOCK - 1) left[tile] = sum;
}

// Adds what tiles have left. One thread per tile.
template <typename T> __global__ void merge_left(T *y, const T *left, const int *starts, int m, int tiles) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < tiles && starts[t + 1] < m) atomicAdd(&y[starts[t + 1]], left[t]);
}

// ---- kernels: Y = A X, L y = x --------------------------------------------------------------------------------------

// X and Y have COLUMNS columns of m elements, one after the other.
template <typename T, int COLUMNS>
__global__ void spmm_thread(T *Y, const int *offsets, const int *columns, const T *values, const T *__restrict__ X,
                            int m) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= m) return;
  T sum[COLUMNS] = {};
  for (int i = offsets[r]; i < offsets[r + 1]; i++) {
    T value = values[i];
    size_t column = columns[i];
#pragma unroll
    for (int k = 0; k < COLUMNS; k++) sum[k] += value * X[(size_t)k * m + column];
  }
#pragma unroll
  for (int k = 0; k < COLUMNS; k++) Y[(size_t)k * m + r] = sum[k];
}

// Row r of L y = x, if the rows it needs are known: y by volatile loads, for other threads of the launch write it.
template <typename T>
__device__ void solve_row(volatile T *y, const int *offsets, const int *columns, const T *values, const T *x, int r) {
  int last = offsets[r + 1] - 1;
  T sum = x[r];
  for (int i = offsets[r]; i < last; i++) sum -= values[i] * y[columns[i]];
  y[r] = sum / values[last];
}

// `rows`: those of level 0, of level 1, ...; a level's are from begin to end.
template <typename T>
__global__ void solve_level(T *y, const int *rows, const int *offsets, const int *columns, const T *values, const T *x,
                            int begin, int end) {
  int i = begin + blockIdx.x * blockDim.x + threadIdx.x;
  if (i < end) solve_row(y, offsets, columns, values, x, rows[i]);
}

// Level l's rows are from level_starts[l] to level_starts[l + 1].
template <typename T>
__global__ void solve_grid(T *y, const int *rows, const int *level_starts, const int *offsets, const int *columns,
                           const T *values, const T *x, int levels) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int l = 0; l < levels; l++) {
    for (int i = level_starts[l] + thread; i < level_starts[l + 1]; i += threads)
      solve_row(y, offsets, columns, values, x, rows[i]);
    grid.sync();
  }
}

// ---- kernels: conjugate gradients -----------------------------------------------------------------------------------

// The scalars of an iteration stay on the device: r * r, d * A d, and r * r after the step.
enum { RR, DQ, AFTER };

// Between two iterations. One thread.
__global__ void next(double *sums) {
  sums[RR] = sums[AFTER];
  sums[DQ] = sums[AFTER] = 0;
}

// sums[to] += a * b. Block BLOCK, PIECE elements per thread.
template <typename T> __global__ void dot(double *sums, const T *a, const T *b, int m, int to) {
  double sum = 0;
#pragma unroll
  for (int k = 0; k < PIECE; k++) {
    size_t i = ((size_t)blockIdx.x * PIECE + k) * BLOCK + threadIdx.x;
    if (i < m) sum += (double)a[i] * b[i];
  }
  add_block(sums + to, sum);
}

// y += sign * alpha * x
template <typename T>
__global__ void add(T *__restrict__ y, const T *__restrict__ x, const double *sums, int m, T sign) {
  T alpha = sign * (T)(sums[RR] / sums[DQ]);
#pragma unroll
  for (int k = 0; k < PIECE; k++) {
    size_t i = ((size_t)blockIdx.x * PIECE + k) * BLOCK + threadIdx.x;
    if (i < m) y[i] += alpha * x[i];
  }
}

// d = r + beta d
template <typename T> __global__ void direction(T *__restrict__ d, const T *__restrict__ r, const double *sums, int m) {
  T beta = sums[AFTER] / sums[RR];
#pragma unroll
  for (int k = 0; k < PIECE; k++) {
    size_t i = ((size_t)blockIdx.x * PIECE + k) * BLOCK + threadIdx.x;
    if (i < m) d[i] = r[i] + beta * d[i];
  }
}

// q = A d, and d * q
template <typename T>
__global__ void __launch_bounds__(BLOCK) cg_product(T *q, double *sums, const int *offsets, const int *columns,
                                                    const T *values, const T *__restrict__ d, int m) {
  T sum = staged_row(offsets, columns, values, d, m);
  int r = blockIdx.x * BLOCK + threadIdx.x;
  if (r < m) q[r] = sum;
  add_block(sums + DQ, r < m ? (double)sum * d[r] : 0.0);
}

// x += alpha d, r -= alpha q, and r * r
template <typename T>
__global__ void cg_update(T *__restrict__ x, T *__restrict__ r, double *sums, const T *__restrict__ d,
                          const T *__restrict__ q, int m) {
  T alpha = sums[RR] / sums[DQ];
  double sum = 0;
#pragma unroll
  for (int k = 0; k < PIECE; k++) {
    size_t i = ((size_t)blockIdx.x * PIECE + k) * BLOCK + threadIdx.x;
    if (i >= m) continue;
    x[i] += alpha * d[i];
    T after = r[i] - alpha * q[i];
    r[i] = after;
    sum += (double)after * after;
  }
  add_block(sums + AFTER, sum);
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// spmv_thread, spmv_ell, spmm_thread, to_ell, poisson, merge_starts, merge_left, solve_level   any block
// spmv_warp             any block of whole warps, 32 threads per row
// spmv_staged, cg_product   block BLOCK, a thread per row
// spmv_merge            block BLOCK, grid (m + elements) / TILE rounded up = tiles; then merge_left
// solve_grid            cooperative; any grid that the device holds at once
// dot, add, direction, cg_update   block BLOCK, grid m / (BLOCK * PIECE) rounded up; next: one thread
// There are fewer than 2^31 elements and rows together.
