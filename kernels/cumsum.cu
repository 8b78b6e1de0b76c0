// SPDX-License-Identifier: MIT
//
// cumsum: the running sum of a 3-D array along one of its dimensions, reached from a copy in small steps.
//
// The ladder (S. Omlin and L. Raess, notebook 4 of github.com/omlins/julia-gpu-course-2023: copy_3d to cumsum_chunks
// are its copy and its tasks 1 to 9; T is float or double)
//   copy_3d               one element per thread, block 32 x 8
//   copy_z                a thread copies along z: neighbours still read neighbours
//   cumsum_z              the same with the sum in a register, which costs nothing
//   copy_y                a thread copies along y
//   cumsum_y              the same with the sum in a register
//   copy_x                a thread copies along x: neighbours read a row apart, each its own line
//   copy_x32              a warp copies a row, 32 elements at a time
//   cumsum_shared         these 32 (or fewer: L) through shared memory, where the first thread adds them up
//   cumsum_broadcast      every lane hears of every other by 32 shuffles and adds up for itself
//   cumsum_chunks         five steps instead of 32: in sub-chunks of 2, 4, ... 32 lanes the upper half adds the last
//                         sum of the lower half, by __shfl_sync with a width
// and beyond the source
//   copy_wide             16 bytes per thread: the bound to reach
//   cumsum_shuffle        five doubling steps: each lane adds the sum 1, 2, 4, ... 16 lanes to the left
//   cumsum_rows           one warp per row, V loads of 16 bytes in flight per lane, to keep a large GPU's memory busy
//   cumsum_tile           y or z: W warps take U rows each of the same columns, all loads in flight at once, and tell
//                         each other their sums; two buffers in turn, so that one barrier per pass is enough
//   cumsum_paced          z: 16 bytes per thread, U planes in flight; no block runs ahead of the others by more than a
//                         few planes, since planes a power of two apart lie in the same banks of memory
//
// Bound of all: main memory, each element read once and written once. T_eff_cs = 2 * bytes(A) / t, at most what the
// fastest copy reaches. copy_x moves a whole sector of 32 bytes for each element, cumsum_shared and cumsum_broadcast
// are bound by their chain of 32 additions. The doubling scan is that of W. D. Hillis and G. L. Steele, "Data parallel
// algorithms" (1986). Rounding: cumsum_z, cumsum_y, cumsum_shared and cumsum_broadcast add in order, 1 rounding a term;
// the others add parts, about 10 + n / 32 in a chain. Terms of one sign stay within { sum = terms }.

#include "vector16.cuh"

// ---- device helpers -------------------------------------------------------------------------------------------------

// The vector at ix of a row that ends at `end`, zero after it. wide: rows are whole vectors, so that it is one load.
template <typename T> __device__ void load16(T *x, const T *row, int ix, int end, bool wide) {
  const int P = 16 / sizeof(T);
  typedef typename vector16<T>::type vector;
  if (wide) {
    unpack(ix < end ? *(const vector *)(row + ix) : vector(), x);
  } else {
#pragma unroll
    for (int p = 0; p < P; p++) x[p] = ix + p < end ? row[ix + p] : (T)0;
  }
}

template <typename T> __device__ void store16(T *row, const T *x, int ix, int end, bool wide) {
  const int P = 16 / sizeof(T);
  if (wide) {
    if (ix < end) *(typename vector16<T>::type *)(row + ix) = pack(x);
  } else {
    for (int p = 0; p < P; p++)
      if (ix + p < end) row[ix + p] = x[p];
  }
}

// The mask of the threads that this one's warp has, in blocks of L x by: of fewer than 32 per row the last warp of a
// block may be smaller. A constant mask costs no registers and no instructions.
template <int L> __device__ unsigned threads_of_warp() {
  int thread = threadIdx.y * L + threadIdx.x;
  int count = L * blockDim.y - thread / 32 * 32;
  return L < 32 && count < 32 ? (1u << count) - 1 : 0xffffffff;
}

// ---- kernels: copies ------------------------------------------------------------------------------------------------

template <typename T> __global__ void copy_wide(T *__restrict__ B, const T *__restrict__ A, size_t n) {
  const int P = 16 / sizeof(T);
  typedef typename vector16<T>::type V;
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if ((i + 1) * P <= n)
    ((V *)B)[i] = ((const V *)A)[i];
  else
    for (i *= P; i < n; i++) B[i] = A[i];
}

template <typename T> __global__ void copy_3d(T *B, const T *A, int nx, int ny, int nz) {
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  int iz = blockIdx.z * blockDim.z + threadIdx.z;
  size_t i = ((size_t)iz * ny + iy) * nx + ix;
  if (ix < nx && iy < ny && iz < nz) B[i] = A[i];
}

template <typename T> __global__ void copy_z(T *B, const T *A, int nx, int ny, int nz) {
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ix >= nx || iy >= ny) return;
  for (int iz = 0; iz < nz; iz++) {
    size_t i = ((size_t)iz * ny + iy) * nx + ix;
    B[i] = A[i];
  }
}

template <typename T> __global__ void copy_y(T *B, const T *A, int nx, int ny, int nz) {
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iz = blockIdx.z * blockDim.z + threadIdx.z;
  if (ix >= nx || iz >= nz) return;
  for (int iy = 0; iy < ny; iy++) {
    size_t i = ((size_t)iz * ny + iy) * nx + ix;
    B[i] = A[i];
  }
}

template <typename T> __global__ void copy_x(T *B, const T *A, int nx, int ny, int nz) {
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  int iz = blockIdx.z * blockDim.z + threadIdx.z;
  if (iy >= ny || iz >= nz) return;
  for (int ix = 0; ix < nx; ix++) {
    size_t i = ((size_t)iz * ny + iy) * nx + ix;
    B[i] = A[i];
  }
}

// rows = ny * nz: from here on it does not matter which of them a row is.
template <typename T> __global__ void copy_x32(T *B, const T *A, int nx, int rows) {
  int iy = blockIdx.x * blockDim.y + threadIdx.y;
  if (iy >= rows) return;
  size_t row = (size_t)iy * nx;
  for (int ix = threadIdx.x; ix < nx; ix += 32) B[row + ix] = A[row + ix];
}

// ---- kernels: sums along z and y ------------------------------------------------------------------------------------

template <typename T> __global__ void cumsum_z(T *B, const T *A, int nx, int ny, int nz) {
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ix >= nx || iy >= ny) return;
  T sum = 0;
  for (int iz = 0; iz < nz; iz++) {
    size_t i = ((size_t)iz * ny + iy) * nx + ix;
    sum += A[i];
    B[i] = sum;
  }
}

template <typename T> __global__ void cumsum_y(T *B, const T *A, int nx, int ny, int nz) {
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iz = blockIdx.z * blockDim.z + threadIdx.z;
  if (ix >= nx || iz >= nz) return;
  T sum = 0;
  for (int iy = 0; iy < ny; iy++) {
    size_t i = ((size_t)iz * ny + iy) * nx + ix;
    sum += A[i];
    B[i] = sum;
  }
}

// U elements of a column from row k on, `inner` apart; zero after its `rows` rows.
template <typename T, int U>
__device__ void load_column(T *x, const T *column, int inner, int k, int rows) {
#pragma unroll
  for (int u = 0; u < U; u++) x[u] = k + u < rows ? column[(size_t)(k + u) * inner] : (T)0;
}

// Sums of `count` elements that lie `inner` apart: for y count = ny, inner = nx; for z count = nz, inner = nx * ny.
// W warps of U rows are one pass over 32 columns. What a warp does not have is zero, so that all meet at the barrier.
// The bound of half a multiprocessor's threads leaves registers for the next pass, which is under way meanwhile.
template <typename T, int U, int W>
__global__ void __launch_bounds__(32 * W, 32 / W)
    cumsum_tile(T *__restrict__ B, const T *__restrict__ A, int inner, int count) {
  __shared__ T sums[2][W][32];
  int lane = threadIdx.x, w = threadIdx.y, turn = 0;
  int i = blockIdx.x * 32 + lane;
  int rows = i < inner ? count : 0;
  size_t column = (size_t)blockIdx.y * count * inner + i;
  T x[U], next[U], carry = 0;
  load_column<T, U>(x, A + column, inner, w * U, rows);
  for (int first = 0; first < count; first += U * W) {
    int k = first + w * U;
    load_column<T, U>(next, A + column, inner, k + U * W, rows);
#pragma unroll
    for (int u = 1; u < U; u++) x[u] += x[u - 1];
    sums[turn][w][lane] = x[U - 1];
    __syncthreads();
    T before = carry;
#pragma unroll
    for (int v = 0; v < W; v++) {
      T sum = sums[turn][v][lane];
      if (v < w) before += sum;
      carry += sum;
    }
#pragma unroll
    for (int u = 0; u < U; u++) {
      if (k + u < rows) B[column + (size_t)(k + u) * inner] = before + x[u];
      x[u] = next[u];
    }
    turn ^= 1;
  }
}

// A block that has finished U planes says so, and begins the next ones when all blocks have finished those `lag` stages
// back.
template <typename T, int U>
__device__ void keep_pace(T *__restrict__ B, const T *__restrict__ A, int inner, int count, unsigned *stages,
                          unsigned wanted, int lag, bool wide) {
  const int P = 16 / sizeof(T);
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * P;
  T x[U][P], sum[P];
#pragma unroll
  for (int p = 0; p < P; p++) sum[p] = 0;
#pragma unroll
  for (int u = 0; u < U; u++) load16(x[u], A + (size_t)u * inner, i, u < count ? inner : 0, wide);
  for (int k = 0, stage = 0; k < count; k += U, stage++) {
    if (threadIdx.x == 0 && stage >= lag) {
      while (*(volatile unsigned *)(stages + stage - lag) < wanted) {
      }
    }
    __syncthreads();
#pragma unroll
    for (int u = 0; u < U; u++) {
#pragma unroll
      for (int p = 0; p < P; p++) sum[p] += x[u][p];
      load16(x[u], A + (size_t)(k + u + U) * inner, i, k + u + U < count ? inner : 0, wide);
      store16(B + (size_t)(k + u) * inner, sum, i, k + u < count ? inner : 0, wide);
    }
    if (threadIdx.x == 0) atomicAdd(stages + stage, 1u);
  }
}

// Along z. Counters grow from launch to launch (this is launch number `runs`): no one clears them. The blocks wait for
// each other: a cooperative launch. The two calls become two loops, one without a question about single elements.
template <typename T, int U>
__global__ void __launch_bounds__(256)
    cumsum_paced(T *__restrict__ B, const T *__restrict__ A, int inner, int count, unsigned *stages, unsigned runs,
                 int lag) {
  if (inner % (16 / sizeof(T)) == 0)
    keep_pace<T, U>(B, A, inner, count, stages, runs * gridDim.x, lag, true);
  else
    keep_pace<T, U>(B, A, inner, count, stages, runs * gridDim.x, lag, false);
}

// ---- kernels: sums along x ------------------------------------------------------------------------------------------

// L threads per row, a power of two: 32 are a warp.
template <typename T, int L> __global__ void cumsum_shared(T *B, const T *A, int nx) {
  __shared__ T part[L];
  int lane = threadIdx.x;
  size_t row = (size_t)blockIdx.x * nx;
  T sum = 0;
  for (int first = 0; first < nx; first += L) {
    if (first + lane < nx) part[lane] = A[row + first + lane];
    __syncthreads();
    if (lane == 0) {
      for (int i = 0; i < L && first + i < nx; i++) {
        sum += part[i];
        part[i] = sum;
      }
    }
    __syncthreads();
    if (first + lane < nx) B[row + first + lane] = part[lane];
    __syncthreads();
  }
}

// A lane without a number adds zero, so that the whole warp is there for every shuffle; so below.
template <typename T, int L> __global__ void cumsum_broadcast(T *B, const T *A, int nx, int rows) {
  unsigned all = threads_of_warp<L>();
  int lane = threadIdx.x;
  int iy = blockIdx.x * blockDim.y + threadIdx.y;
  bool on = iy < rows;
  size_t row = (size_t)iy * nx;
  T sum = 0;
  for (int first = 0; first < nx; first += L) {
    int ix = first + lane;
    T value = on && ix < nx ? A[row + ix] : (T)0;
    T mine = 0;
    for (int i = 0; i < L; i++) {
      sum += __shfl_sync(all, value, i, L);
      if (i == lane) mine = sum;
    }
    if (on && ix < nx) B[row + ix] = mine;
  }
}

template <typename T, int L> __global__ void cumsum_chunks(T *B, const T *A, int nx, int rows) {
  unsigned all = threads_of_warp<L>();
  int lane = threadIdx.x;
  int iy = blockIdx.x * blockDim.y + threadIdx.y;
  bool on = iy < rows;
  size_t row = (size_t)iy * nx;
  T before = 0;
  for (int first = 0; first < nx; first += L) {
    int ix = first + lane;
    T sum = on && ix < nx ? A[row + ix] : (T)0;
    for (int width = 2; width <= L; width *= 2) {
      T lower = __shfl_sync(all, sum, width / 2 - 1, width);
      if (lane % width >= width / 2) sum += lower;
    }
    sum += before;
    if (on && ix < nx) B[row + ix] = sum;
    before = __shfl_sync(all, sum, L - 1, L);
  }
}

template <typename T> __global__ void cumsum_shuffle(T *B, const T *A, int nx, int rows) {
  int lane = threadIdx.x;
  int iy = blockIdx.x * blockDim.y + threadIdx.y;
  bool on = iy < rows;
  size_t row = (size_t)iy * nx;
  T before = 0;
  for (int first = 0; first < nx; first += 32) {
    int ix = first + lane;
    T sum = on && ix < nx ? A[row + ix] : (T)0;
    for (int k = 1; k < 32; k *= 2) {
      T left = __shfl_up_sync(0xffffffff, sum, k);
      if (lane >= k) sum += left;
    }
    sum += before;
    if (on && ix < nx) B[row + ix] = sum;
    before = __shfl_sync(0xffffffff, sum, 31);
  }
}

template <typename T, int V> __global__ void cumsum_rows(T *__restrict__ B, const T *__restrict__ A, int nx, int rows) {
  const int P = 16 / sizeof(T);
  int lane = threadIdx.x;
  int iy = blockIdx.x * blockDim.y + threadIdx.y;
  int end = iy < rows ? nx : 0;
  bool wide = nx % P == 0;
  size_t row = (size_t)iy * nx;
  T carry = 0;
  for (int first = 0; first < nx; first += 32 * P * V) {
    T x[V][P], sum[V];
#pragma unroll
    for (int v = 0; v < V; v++) load16(x[v], A + row, first + (32 * v + lane) * P, end, wide);
#pragma unroll
    for (int v = 0; v < V; v++) {
#pragma unroll
      for (int p = 1; p < P; p++) x[v][p] += x[v][p - 1];
      sum[v] = x[v][P - 1];
    }
#pragma unroll
    for (int k = 1; k < 32; k *= 2) {
#pragma unroll
      for (int v = 0; v < V; v++) {
        T left = __shfl_up_sync(0xffffffff, sum[v], k);
        if (lane >= k) sum[v] += left;
      }
    }
#pragma unroll
    for (int v = 0; v < V; v++) {
      T left = __shfl_up_sync(0xffffffff, sum[v], 1);
      T before = carry + (lane > 0 ? left : (T)0);
#pragma unroll
      for (int p = 0; p < P; p++) x[v][p] += before;
      store16(B + row, x[v], first + (32 * v + lane) * P, end, wide);
      carry += __shfl_sync(0xffffffff, sum[v], 31);
    }
  }
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// copy_wide         block b, grid ceil(n / (b * 16 / sizeof(T))); both arrays begin on a 16-byte boundary
// copy_3d           block {32, 8}, grid {ceil(nx / 32), ceil(ny / 8), nz}
// *_z               block {32, 8}, grid {ceil(nx / 32), ceil(ny / 8)}
// *_y               block 256, grid {ceil(nx / 256), 1, nz}
// copy_x            block {1, 256}, grid {1, ceil(ny / 256), nz}
// cumsum_shared     block L, grid rows = ny * nz
// cumsum_broadcast, _chunks                  block {L, by}, grid ceil(rows / by); the source has by = 1
// copy_x32, cumsum_shuffle, _rows            block {32, by}, likewise
// cumsum_tile       block {32, W}, grid {ceil(inner / 32), outer}: outer = nz for y, 1 for z; try <T, 8, 16>
// cumsum_paced      block b, grid ceil(inner / (b * 16 / sizeof(T))), cooperative; stages: ceil(count / U) counters
//                   from 0, runs = 1, 2, ...; lag 1 or more, try <T, 4> with lag 3
