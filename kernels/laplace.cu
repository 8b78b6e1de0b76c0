// SPDX-License-Identifier: MIT
//
// laplace: steps of Jacobi's iteration for Laplace's equation, in 2-D and 3-D. An inner cell becomes the mean of its 4
// or 6 neighbours; a cell of the border keeps its value, which each step copies.
//
// The ladder in 2-D
//   laplace2            one cell per thread. With FACTOR double the sum is multiplied by a double, as `0.25 *` does
//   laplace2_slide      the same with the guard after the test for the border: wrong if the blocks reach beyond the
//                       grid
//   laplace2_wide       16 bytes per thread
//   laplace2_levels     temporal blocking: K steps per pass. A warp walks down a strip with all levels at once
// in 3-D
//   laplace3            one cell per thread, 3-D blocks
//   laplace3_column     2-D blocks: a thread walks up a column, three planes of it in registers
//   laplace3_wide       16 bytes per thread and row, two rows; all blocks run at once and walk up together; CHANGE: the
//                       sum of squares of what the step changes as well
//   laplace_change      that sum in a pass of its own, which reads both arrays again
//   laplace3_levels     K steps per pass: a block walks up a column of tiles with all levels at once; the sum of
//                       squares of the last step as well
// and the rulers: triad_wide, u2 = u1 + s * u3 with 16 bytes per thread; laplace_root, which finishes a sum.
//
// Bound: main memory. T_eff = steps * 2 * bytes(u1) / t. Single steps cannot exceed a copy. laplace2, laplace3 and
// laplace3_column have 4 bytes per thread in flight in f32, of which an H200 needs more; laplace3 also reads z
// neighbours from the second-level cache: (bz + 2) / bz of the grid. laplace3_wide reads what a copy does as long as
// its blocks stay together; without barriers they drift apart, and an H200 reads 960^3 cells of f32 1.32 times.
// laplace2_levels is at most K * (1 - 2 K / (32 * COLUMNS)) of a copy, laplace3_levels at most 2 K / (1 / f + 1), f the
// part of a tile that halos leave, less 2 K / planes: of a tile of 128 x 32 cells 0.82 (K = 2), 0.76 (3), 0.70 (4), if
// no neighbour's halo is in a cache. laplace2_levels takes some 9 instructions per cell and step, laplace3_levels
// some 15 (18 for K = 2): on an H200 2.7 times a copy in f32, if nothing ever waits.
//
// Sources: M. Giles and W. Armour, "CUDA Programming on NVIDIA GPUs" (Oxford; undated, the latest year named is 2023),
// lecture 3, p. 26 to 36: laplace2, laplace2_slide; laplace3_column and laplace3 of its practical 3, in this order;
// that blocks of 8 : 1 read the fewest cache lines. laplace3_levels is the 3.5-D blocking of A. Nguyen and others,
// "3.5-D blocking optimization for stencil computations on modern CPUs and GPUs" (2010), with one barrier for all.
//
// How the levels work. Level k is the grid after k steps. A level needs the plane (in 2-D: the row) before, its own
// neighbours, and the plane after; so level k + 1 is one plane behind level k. From one plane to the next a level keeps
// its plane (held) and the sum of the neighbours that are known (sum): those in the plane and in the one before. When
// the next plane comes,
//
//     out of level k + 1 = (sum + plane) / 6;   sum = held + neighbours of plane in its plane;   held = plane
//
// and out is the next plane of level k + 1. Neighbours along x are in the next lane. Along y they are in the thread
// itself, which has R rows, or in the next warp: all levels' planes are complete before any neighbour is needed, so a
// single barrier per plane is enough for all levels. The additions are those of single steps, in the same order.

#include <cooperative_groups.h>

#ifndef REAL
#define REAL float // or double
#endif
#define COLUMNS (16 / (int)sizeof(REAL))
#define ALL     0xffffffffu
#define QUARTER ((REAL)0.25)
#define SIXTH   ((REAL)1 / (REAL)6)

// ---- device helpers: 16 bytes ---------------------------------------------------------------------------------------

struct __align__(16) columns {
  REAL at[COLUMNS];
};

// WHOLE: COLUMNS divides nx, so that every row begins on a boundary of 16 bytes and columns are all inside or all
// outside. It is a template's argument because a second way to load, even if it is never taken, may keep loads from
// being in flight together.

// The columns from ix on of the row at `row`; zero outside of the grid.
template <bool WHOLE> __device__ columns columns_of(const REAL *row, int ix, int nx, bool is_inside) {
  columns c = {};
  if (WHOLE) {
    if (is_inside && ix >= 0 && ix < nx) c = *(const columns *)(row + ix);
  } else {
#pragma unroll
    for (int k = 0; k < COLUMNS; k++) {
      if (is_inside && ix + k >= 0 && ix + k < nx) c.at[k] = row[ix + k];
    }
  }
  return c;
}

// Writes those of the columns that are from first to last - 1.
template <bool WHOLE> __device__ void put_columns(REAL *row, columns c, int ix, int first, int last) {
  if (WHOLE) {
    if (ix >= first && ix < last) *(columns *)(row + ix) = c;
  } else {
#pragma unroll
    for (int k = 0; k < COLUMNS; k++) {
      if (ix + k >= first && ix + k < last) row[ix + k] = c.at[k];
    }
  }
}

// The column next to the warp's columns: in the first lane the one before them, in the last lane the one after.
__device__ REAL beyond_of(const REAL *row, int ix, int nx, bool is_inside) {
  int lane = threadIdx.x % 32, at = lane == 0 ? ix - 1 : ix + COLUMNS;
  return is_inside && (lane == 0 || lane == 31) && at >= 0 && at < nx ? row[at] : (REAL)0;
}

// The column left of a lane's columns, and the one right of them; beyond: those that are not the warp's.
__device__ REAL left_of(columns c, REAL beyond = 0) {
  REAL left = __shfl_up_sync(ALL, c.at[COLUMNS - 1], 1);
  return threadIdx.x % 32 == 0 ? beyond : left;
}
__device__ REAL right_of(columns c, REAL beyond = 0) {
  REAL right = __shfl_down_sync(ALL, c.at[0], 1);
  return threadIdx.x % 32 == 31 ? beyond : right;
}

// The sums of each column's left and right neighbour.
__device__ columns beside(columns c, REAL left, REAL right) {
  columns sum;
#pragma unroll
  for (int k = 0; k < COLUMNS; k++) {
    REAL w = k > 0 ? c.at[(k + COLUMNS - 1) % COLUMNS] : left, e = k + 1 < COLUMNS ? c.at[(k + 1) % COLUMNS] : right;
    sum.at[k] = w + e;
  }
  return sum;
}

__device__ void add(columns &sum, columns c) {
#pragma unroll
  for (int k = 0; k < COLUMNS; k++) sum.at[k] += c.at[k];
}

// The columns after a step: the mean, or what they were, on the border.
template <bool WHOLE>
__device__ columns step_of(columns sum, columns last, columns was, REAL part, bool is_border, int ix, int nx) {
  columns out;
#pragma unroll
  for (int k = 0; k < COLUMNS; k++) {
    bool is_first = (!WHOLE || k == 0) && ix + k <= 0, is_last = (!WHOLE || k == COLUMNS - 1) && ix + k >= nx - 1;
    bool is_kept = is_border || is_first || is_last;
    out.at[k] = is_kept ? was.at[k] : part * (sum.at[k] + last.at[k]);
  }
  return out;
}

// The squares of what a step changes, of the columns from first to last - 1.
__device__ double squares(columns out, columns was, int ix, int first, int last) {
  REAL sum = 0;
#pragma unroll
  for (int k = 0; k < COLUMNS; k++) {
    REAL d = out.at[k] - was.at[k];
    if (ix + k >= first && ix + k < last) sum += d * d;
  }
  return (double)sum;
}

// sums[block] = the sum over the threads of a block. All threads of all warps take part.
__device__ void put_sum(double *sums, double value) {
  __shared__ double of_warp[32];
  int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  int warps = blockDim.x * blockDim.y * blockDim.z / 32;
  for (int k = 16; k > 0; k /= 2) value += __shfl_down_sync(ALL, value, k);
  if (t % 32 == 0) of_warp[t / 32] = value;
  __syncthreads();
  if (t == 0) {
    double sum = 0;
    for (int k = 0; k < warps; k++) sum += of_warp[k];
    sums[((size_t)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = sum;
  }
}

// ---- kernels: 2-D ---------------------------------------------------------------------------------------------------

template <typename FACTOR> __global__ void laplace2(REAL *u2, const REAL *u1, int nx, int ny) {
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ix >= nx || iy >= ny) return;
  size_t i = (size_t)iy * nx + ix;
  if (ix == 0 || ix == nx - 1 || iy == 0 || iy == ny - 1)
    u2[i] = u1[i];
  else
    u2[i] = (FACTOR)0.25 * (u1[i - 1] + u1[i + 1] + u1[i - nx] + u1[i + nx]);
}

// A thread with iy == 0 and ix >= nx writes into the next row; the last ones write beyond the array.
__global__ void laplace2_slide(REAL *u2, const REAL *u1, int nx, int ny) {
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  size_t i = (size_t)iy * nx + ix;
  if (ix == 0 || ix == nx - 1 || iy == 0 || iy == ny - 1)
    u2[i] = u1[i];
  else if (ix < nx && iy < ny)
    u2[i] = QUARTER * (u1[i - 1] + u1[i + 1] + u1[i - nx] + u1[i + nx]);
}

// All loads are in flight together; a warp's lanes without a column take part in the shuffles.
template <bool WHOLE>
__global__ void laplace2_wide(REAL *__restrict__ u2, const REAL *__restrict__ u1, int nx, int ny) {
  int ix = COLUMNS * (blockIdx.x * blockDim.x + threadIdx.x);
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  const REAL *row = u1 + (size_t)iy * nx;
  columns south = columns_of<WHOLE>(row - nx, ix, nx, iy > 0 && iy < ny);
  columns here = columns_of<WHOLE>(row, ix, nx, iy < ny);
  columns north = columns_of<WHOLE>(row + nx, ix, nx, iy + 1 < ny);
  REAL beyond = beyond_of(row, ix, nx, iy < ny);
  columns sum = beside(here, left_of(here, beyond), right_of(here, beyond));
  add(sum, south);
  columns out = step_of<WHOLE>(sum, north, here, QUARTER, iy == 0 || iy == ny - 1, ix, nx);
  if (iy < ny) put_columns<WHOLE>(u2 + (size_t)iy * nx, out, ix, 0, nx);
}

template <int K, bool WHOLE>
__global__ void __launch_bounds__(128)
    laplace2_levels(REAL *__restrict__ u2, const REAL *__restrict__ u1, int nx, int ny, int rows) {
  const int halo = (K + COLUMNS - 1) / COLUMNS * COLUMNS, width = 32 * COLUMNS - 2 * halo;
  int own = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * width; // the strip's first column without its halo
  if (own >= nx) return;
  int ix = own - halo + threadIdx.x % 32 * COLUMNS, end = min(own + width, nx);
  int first = blockIdx.y * rows, last = min(first + rows, ny);
  columns none = {}, held[K], sum[K];
#pragma unroll
  for (int k = 0; k < K; k++) held[k] = sum[k] = none;
  const REAL *at = u1 + ((ptrdiff_t)first - K) * nx;
  columns next = columns_of<WHOLE>(at, ix, nx, first - K >= 0 && first - K < ny);
#pragma unroll 2
  for (int j = first - K; j < last + K; j++) {
    columns row = next;
    at += nx;
    next = columns_of<WHOLE>(at, ix, nx, j + 1 >= 0 && j + 1 < ny); // a row ahead: arithmetic hides the wait
#pragma unroll
    for (int k = 0; k < K; k++) {
      int here = j - k - 1; // the row of level k + 1 that row j - k of level k completes
      columns out = step_of<WHOLE>(sum[k], row, held[k], QUARTER, here <= 0 || here >= ny - 1, ix, nx);
      sum[k] = beside(row, left_of(row), right_of(row));
      add(sum[k], held[k]);
      held[k] = row;
      row = out;
    }
    if (j - K >= first) put_columns<WHOLE>(u2 + (size_t)(j - K) * nx, row, ix, own, end);
  }
}

// ---- kernels: 3-D ---------------------------------------------------------------------------------------------------

__global__ void laplace3(REAL *u2, const REAL *u1, int nx, int ny, int nz) {
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  int iz = blockIdx.z * blockDim.z + threadIdx.z;
  if (ix >= nx || iy >= ny || iz >= nz) return;
  size_t plane = (size_t)nx * ny, i = iz * plane + (size_t)iy * nx + ix;
  if (ix == 0 || ix == nx - 1 || iy == 0 || iy == ny - 1 || iz == 0 || iz == nz - 1)
    u2[i] = u1[i];
  else
    u2[i] = SIXTH * (u1[i - 1] + u1[i + 1] + u1[i - nx] + u1[i + nx] + u1[i - plane] + u1[i + plane]);
}

__global__ void laplace3_column(REAL *__restrict__ u2, const REAL *__restrict__ u1, int nx, int ny, int nz) {
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ix >= nx || iy >= ny) return;
  size_t plane = (size_t)nx * ny, i = (size_t)iy * nx + ix;
  bool is_border = ix == 0 || ix == nx - 1 || iy == 0 || iy == ny - 1;
  REAL below = 0, here = u1[i];
  for (int iz = 0; iz < nz; iz++, i += plane) {
    REAL above = iz < nz - 1 ? u1[i + plane] : (REAL)0;
    if (is_border || iz == 0 || iz == nz - 1)
      u2[i] = here;
    else
      u2[i] = SIXTH * (u1[i - 1] + u1[i + 1] + u1[i - nx] + u1[i + nx] + below + above);
    below = here;
    here = above;
  }
}

// The columns at `at`, the first of which is column ix of a row.
template <bool WHOLE> __device__ columns columns_at(const REAL *at, int ix, int nx) {
  return WHOLE ? *(const columns *)at : columns_of<WHOLE>(at - ix, ix, nx, true);
}

// All blocks run at once and walk up all planes together: the rows next to a block's strips are then in the
// second-level cache, and main memory reads and writes one plane after the other. Blocks drift apart, so they wait for
// each other every `period` planes. A strip is 2 rows by 16 bytes; strips have numbers along x, then along y, and each
// block has `share` of them, from `first` on. Lanes exchange columns even where a row ends and the next begins: cells
// there keep their values.
template <bool CHANGE, bool WHOLE>
__global__ void __launch_bounds__(896)
    laplace3_wide(REAL *__restrict__ u2, const REAL *__restrict__ u1, double *__restrict__ sums, int nx, int ny, int nz,
                  int first, int share, int period) {
  const int R = 2;
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  int across = (nx + COLUMNS - 1) / COLUMNS, strip = first + blockIdx.x * share + threadIdx.x,
      ix = strip % across * COLUMNS;
  // If ny is odd, the last strip's first row is another's as well. Threads without a strip load a neighbour's.
  int own_y = threadIdx.x < share ? strip / across * R : ny, iy = min(strip / across * R, ny - R);
  int south_at = iy > 0 ? -nx : 0, north_at = iy + R < ny ? R * nx : 0;
  ptrdiff_t plane = (ptrdiff_t)nx * ny;
  int lane = threadIdx.x % 32, beyond_at = lane == 0 ? -(ix > 0) : ix + COLUMNS < nx ? COLUMNS : 0;
  const REAL *at = u1 + (ptrdiff_t)iy * nx + ix;
  columns below[R], here[R], above[R];
#pragma unroll
  for (int r = 0; r < R; r++) below[r] = here[r] = above[r] = columns_at<WHOLE>(at + r * nx, ix, nx);
  double change = 0;
#pragma unroll 1
  for (int iz = 0; iz < nz; iz++, at += plane) {
    columns south = columns_at<WHOLE>(at + south_at, ix, nx), north = columns_at<WHOLE>(at + north_at, ix, nx);
    REAL beyond[R];
#pragma unroll
    for (int r = 0; r < R; r++) {
      beyond[r] = lane == 0 || lane == 31 ? at[r * nx + beyond_at] : (REAL)0;
      if (iz + 1 < nz) above[r] = columns_at<WHOLE>(at + r * nx + plane, ix, nx);
    }
    if (iz > 0 && iz % period == 0) grid.sync();
#pragma unroll
    for (int r = 0; r < R; r++) {
      columns sum = beside(here[r], left_of(here[r], beyond[r]), right_of(here[r], beyond[r]));
      add(sum, r > 0 ? here[(r + R - 1) % R] : south);
      add(sum, r + 1 < R ? here[(r + 1) % R] : north);
      add(sum, below[r]);
      bool is_border = iy + r == 0 || iy + r == ny - 1 || iz == 0 || iz == nz - 1;
      columns out = step_of<WHOLE>(sum, above[r], here[r], SIXTH, is_border, ix, nx);
      if (iy + r >= own_y) {
        if (CHANGE) change += squares(out, here[r], ix, 0, nx);
        put_columns<WHOLE>(u2 + (at - u1) - ix + r * nx, out, ix, 0, nx);
      }
      below[r] = here[r];
    }
#pragma unroll
    for (int r = 0; r < R; r++) here[r] = above[r];
  }
  if (CHANGE) put_sum(sums + first / share, change);
}

__global__ void laplace_change(double *sums, const REAL *u2, const REAL *u1, size_t n) {
  double sum = 0;
  size_t step = (size_t)gridDim.x * blockDim.x * COLUMNS;
  for (size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * COLUMNS; i < n; i += step) {
    if (i + COLUMNS <= n) {
      sum += squares(*(const columns *)(u2 + i), *(const columns *)(u1 + i), 0, 0, COLUMNS);
    } else {
      for (size_t k = i; k < n; k++) sum += (double)(u2[k] - u1[k]) * (u2[k] - u1[k]);
    }
  }
  put_sum(sums, sum);
}

// change[0] = the root of the mean of n squares, whose sum is that of `count` sums; one block.
__global__ void laplace_root(double *change, const double *sums, int count, double n) {
  double sum = 0;
  for (int i = threadIdx.x; i < count; i += blockDim.x) sum += sums[i];
  put_sum(change, sum);
  if (threadIdx.x == 0) change[0] = sqrt(change[0] / n);
}

// R rows per thread; block {32, warps}.
template <int K, int R, bool WHOLE>
__global__ void __launch_bounds__(512) laplace3_levels(REAL *__restrict__ u2, const REAL *__restrict__ u1,
                                                       double *__restrict__ sums, int nx, int ny, int nz, int planes) {
  const int halo = (K + COLUMNS - 1) / COLUMNS * COLUMNS, width = 32 * COLUMNS - 2 * halo;
  extern __shared__ columns edges[]; // [2][K][warps][2][32]: each warp's first and last row of each level, by turns
  int lane = threadIdx.x, warp = threadIdx.y, warps = blockDim.y, height = warps * R - 2 * K;
  int own_x = blockIdx.x * width, ix = own_x - halo + lane * COLUMNS, end_x = min(own_x + width, nx);
  int own_y = blockIdx.y * height, iy = own_y - K + warp * R, end_y = min(own_y + height, ny);
  int first = blockIdx.z * planes, last = min(first + planes, nz);
  ptrdiff_t plane = (ptrdiff_t)nx * ny;
  columns none = {}, held[K][R], sum[K][R], next[R];
#pragma unroll
  for (int k = 0; k < K; k++)
#pragma unroll
    for (int r = 0; r < R; r++) held[k][r] = sum[k][r] = none;
  const REAL *at = u1 + (first - K) * plane + (ptrdiff_t)iy * nx;
#pragma unroll
  for (int r = 0; r < R; r++) {
    next[r] = columns_of<WHOLE>(at + r * nx, ix, nx, first - K >= 0 && iy + r >= 0 && iy + r < ny);
  }
  double change = 0;
  for (int j = first - K; j < last + K; j++) {
    columns row[R];
    at += plane;
#pragma unroll
    for (int r = 0; r < R; r++) {
      row[r] = next[r];
      next[r] = columns_of<WHOLE>(at + r * nx, ix, nx, j + 1 >= 0 && j + 1 < nz && iy + r >= 0 && iy + r < ny);
    }
#pragma unroll
    for (int k = 0; k < K; k++) {
      int here = j - k - 1; // the plane of level k + 1 that plane j - k of level k completes
#pragma unroll
      for (int r = 0; r < R; r++) {
        bool is_border = here <= 0 || here >= nz - 1 || iy + r <= 0 || iy + r >= ny - 1;
        columns out = step_of<WHOLE>(sum[k][r], row[r], held[k][r], SIXTH, is_border, ix, nx);
        if (k == K - 1 && here >= first && iy + r >= own_y && iy + r < end_y) {
          change += squares(out, held[k][r], ix, own_x, end_x);
          put_columns<WHOLE>(u2 + here * plane + (ptrdiff_t)(iy + r) * nx, out, ix, own_x, end_x);
        }
        sum[k][r] = held[k][r]; // the plane before: added last below, as laplace3 does
        held[k][r] = row[r];
        row[r] = out;
      }
    }
    columns *turn = edges + (j & 1) * K * warps * 64;
#pragma unroll
    for (int k = 0; k < K; k++) {
      columns *edge = turn + (k * warps + warp) * 64 + lane;
      edge[0] = held[k][0];
      edge[32] = held[k][R - 1];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < K; k++) {
      columns *edge = turn + (k * warps + warp) * 64 + lane;
#pragma unroll
      for (int r = 0; r < R; r++) {
        columns around = beside(held[k][r], left_of(held[k][r]), right_of(held[k][r]));
        add(around, r > 0 ? held[k][(r + R - 1) % R] : edge[warp > 0 ? -32 : 0]);
        add(around, r + 1 < R ? held[k][(r + 1) % R] : edge[warp + 1 < warps ? 64 : 32]);
        add(around, sum[k][r]);
        sum[k][r] = around;
      }
    }
  }
  put_sum(sums, change);
}

// ---- kernels: a ruler -----------------------------------------------------------------------------------------------

__global__ void triad_wide(REAL *__restrict__ u2, const REAL *__restrict__ u1, const REAL *__restrict__ u3, REAL s,
                           size_t n) {
  size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * COLUMNS;
  if (i + COLUMNS <= n) {
    columns a = *(const columns *)(u1 + i), c = *(const columns *)(u3 + i);
#pragma unroll
    for (int k = 0; k < COLUMNS; k++) a.at[k] += s * c.at[k];
    *(columns *)(u2 + i) = a;
  } else {
    for (; i < n; i++) u2[i] = u1[i] + s * u3[i];
  }
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// arrays            begin on a boundary of 16 bytes; at least 2 cells along each side
// laplace2, _slide  block {bx, by}, grid {ceil(nx / bx), ceil(ny / by)}
// laplace2_wide     block {32 * k, by}, grid {ceil(nx / (bx * COLUMNS)), ceil(ny / by)}
// laplace2_levels   block 32 * warps (128 at most), grid {ceil(strips / warps), ceil(ny / rows)} with
//                   strips = ceil(nx / (32 * COLUMNS - 2 * halo)), halo = K rounded up to a multiple of COLUMNS
// laplace3          block {bx, by, bz}, grid {ceil(nx / bx), ceil(ny / by), ceil(nz / bz)}
// laplace3_column   block {bx, by}, grid {ceil(nx / bx), ceil(ny / by)}
// laplace3_wide     block 32 * k (896 at most), share <= block, grid: blocks that run at once, cooperative; launches
//                   from first = 0 on, until share * grid of all have the ceil(nx / COLUMNS) * ceil(ny / 2) strips
// laplace3_levels   block {32, warps} with warps * R > 2 K, grid {ceil(nx / (32 * COLUMNS - 2 * halo)),
//                   ceil(ny / (warps * R - 2 K)), ceil(nz / planes)}, shared 2 * K * warps * 1024 bytes
// sums              one f64 per block; then laplace_root, block 1024, grid 1
// laplace_change    block 256, a few blocks per multiprocessor
// triad_wide        block 256, grid ceil(ceil(n / COLUMNS) / 256)
