// SPDX-License-Identifier: MIT
//
// stencil: explicit steps of 2-D heat diffusion, T2 = T + dt * Ci * lam * laplace(T). The border keeps its values: a
// single step does not write it.
//
// The ladder
//   diffusion             every neighbour from main memory; the caches find what was read before: near the triad
//   diffusion_triad       the derivatives removed: what memory gives when each number moves once
//   diffusion_staged      diffusion_triad, but T goes through (dynamic) shared memory, where no thread needs it yet
//   diffusion_halo        diffusion_staged with room for a halo of one cell: as diffusion_staged
//   diffusion_filled      the halo is read: below diffusion_halo, by the cells that two blocks read and their branches
//   diffusion_shared      the derivatives are back, from shared memory: near diffusion_filled, arithmetic is free
//   diffusion_march       ROWS rows per thread, the three rows of a column in registers: few loads, but fewer threads
//   diffusion_vector      16 bytes per thread: two f64 or four f32 columns; as diffusion_triad
//   diffusion_levels      temporal blocking: K steps per pass over memory; up to K times the triad, less the halos
//
// Bound: main memory. T_eff = A_eff / t with A_eff = (2 * 1 + 1) * bytes(T) a step: T is the unknown field (read and
// written), Ci a known one (ETH Zurich, "Solving PDEs in parallel on GPUs", lecture 10, 2023, which gives the formula
// of the step, the first six and the idea of march). Only levels, which moves A_eff once for K steps, can exceed the
// triad. Shares of the triad, first kernel and staged to shared: 0.94, 1, 1, 0.96, 0.96 on the source's Tesla P100 (the
// first from its exercise), 0.96, 0.88, 0.88, 0.75, 0.75 on an H200, where staging is not free (experiments/stencil.lua).
//
// How levels works. Level k is the field after k steps; level 0 is T. A warp owns a strip of 32 * COLUMNS columns and
// walks down the rows with all levels at once, each one row behind the level before it:
//
//     row j       level 0, from memory
//     row j - 1   level 1, a step of row j - 1 of level 0, whose lower neighbour has just come
//     row j - 2   level 2, a step of row j - 2 of level 1, whose lower neighbour has just been computed
//     ...
//     row j - K   level K, to memory
//
// From one row to the next a level remembers two rows: held[k] is row j - 1 - k of level k, above[k] the one above it.
// So T is read once and written once for K steps. Neighbours along x are in the next lane: shuffles, no barrier. Shared
// memory holds what a thread needs later, and no other thread reads it: AHEAD rows of T and of Ci on their way from
// memory, and the rates of the last K + 1 rows, since every level needs them, each a row later than the one before. At a
// strip's edges the levels lose a column per step, so strips overlap by the halo; a warp starts K rows early and ends K
// rows late. A step has five operations per element where the flux form has thirteen. Rounding is that of K steps of
// diffusion but for the order of the sum: an element differs by a few eps a step.

#include <cuda_pipeline.h>

#ifndef REAL
#define REAL double // or float
#endif
#define COLUMNS (16 / (int)sizeof(REAL))
#define WARP 0xffffffffu
#define LEVELS_BLOCK 64 // threads of a block of diffusion_levels
#define AHEAD 4         // rows on their way from memory, a power of 2

// ---- device helpers -------------------------------------------------------------------------------------------------

// The flux form of the lecture: qx = -lam * dT/dx, then T2 = T - dt * Ci * (dqx/dx + dqy/dy).
__device__ REAL step_of(REAL w, REAL e, REAL s, REAL n, REAL c, REAL Ci, REAL lam, REAL dt, REAL _dx, REAL _dy) {
  return c + dt * Ci * (-((-lam * (e - c) * _dx) - (-lam * (c - w) * _dx)) * _dx -
                        ((-lam * (n - c) * _dy) - (-lam * (c - s) * _dy)) * _dy);
}

// What one access of 16 bytes brings.
struct __align__(16) columns {
  REAL at[COLUMNS];
};

// The columns from (ix, iy) on, ix a multiple of COLUMNS; zero outside the field. Where COLUMNS does not divide nx, not
// every row begins on a boundary of 16 bytes, and the columns are read one by one.
__device__ columns columns_of(const REAL *field, int ix, int iy, int nx, int ny) {
  columns c;
  size_t i = (size_t)iy * nx + ix;
  bool inside = ix >= 0 && ix < nx && iy >= 0 && iy < ny;
  if (inside && nx % COLUMNS == 0) return *(const columns *)(field + i);
#pragma unroll
  for (int k = 0; k < COLUMNS; k++) c.at[k] = inside && ix + k < nx ? field[i + k] : (REAL)0;
  return c;
}

// Writes those of the columns that are from first to last - 1.
__device__ void put_columns(REAL *field, columns c, int ix, int iy, int nx, int first, int last) {
  size_t i = (size_t)iy * nx + ix;
  if (nx % COLUMNS == 0 && ix >= first && ix + COLUMNS <= last) {
    *(columns *)(field + i) = c;
    return;
  }
#pragma unroll
  for (int k = 0; k < COLUMNS; k++) {
    if (ix + k >= first && ix + k < last) field[i + k] = c.at[k];
  }
}

// Begins to copy the columns from (ix, iy) on to a place in shared memory; zero outside the field.
__device__ void fetch(columns *to, const REAL *field, int ix, int iy, int nx, int ny) {
  bool inside = ix >= 0 && ix < nx && iy >= 0 && iy < ny;
  const REAL *from = inside ? field + (size_t)iy * nx + ix : field;
  if (nx % COLUMNS == 0) {
    __pipeline_memcpy_async(to, from, sizeof(columns), inside ? 0 : sizeof(columns));
    return;
  }
#pragma unroll
  for (int k = 0; k < COLUMNS; k++) {
    bool is_cell = inside && ix + k < nx;
    __pipeline_memcpy_async(&to->at[k], is_cell ? from + k : field, sizeof(REAL), is_cell ? 0 : sizeof(REAL));
  }
}

// scale * Ci of row iy: the cells that no step changes get zero.
__device__ columns rate_of(columns Ci, REAL scale, int ix, int iy, int nx, int ny) {
  bool solid = iy > 0 && iy < ny - 1;
#pragma unroll
  for (int k = 0; k < COLUMNS; k++) {
    Ci.at[k] = solid && ix + k > 0 && ix + k < nx - 1 ? scale * Ci.at[k] : (REAL)0;
  }
  return Ci;
}

// One step of the columns c: n and s are the rows below and above them, w and e the cells left and right of them, rate
// is dt * Ci * lam / dy^2, aspect (dy / dx)^2, centre -2 (1 + aspect).
__device__ columns advance(columns c, columns n, columns s, REAL w, REAL e, columns rate, REAL aspect, REAL centre) {
  columns out;
  REAL left = w;
#pragma unroll
  for (int k = 0; k < COLUMNS; k++) {
    REAL right = k + 1 < COLUMNS ? c.at[(k + 1) % COLUMNS] : e;
    out.at[k] = c.at[k] + rate.at[k] * (centre * c.at[k] + (aspect * (left + right) + (n.at[k] + s.at[k])));
    left = c.at[k];
  }
  return out;
}

// ---- kernels --------------------------------------------------------------------------------------------------------

__global__ void diffusion(REAL *T2, const REAL *T, const REAL *Ci, REAL lam, REAL dt, REAL _dx, REAL _dy, int nx,
                          int ny) {
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ix > 0 && ix < nx - 1 && iy > 0 && iy < ny - 1) {
    size_t i = (size_t)iy * nx + ix;
    T2[i] = step_of(T[i - 1], T[i + 1], T[i - nx], T[i + nx], T[i], Ci[i], lam, dt, _dx, _dy);
  }
}

// Kernels up to diffusion_filled keep parameters that they do not use, so that a launch of one is a launch of all.
__global__ void diffusion_triad(REAL *T2, const REAL *T, const REAL *Ci, REAL lam, REAL dt, REAL _dx, REAL _dy, int nx,
                                int ny) {
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  size_t i = (size_t)iy * nx + ix;
  if (ix > 0 && ix < nx - 1 && iy > 0 && iy < ny - 1) T2[i] = T[i] + dt * Ci[i];
}

// A thread reads back what it has written itself: no barrier is needed.
__global__ void diffusion_staged(REAL *T2, const REAL *T, const REAL *Ci, REAL lam, REAL dt, REAL _dx, REAL _dy, int nx,
                                 int ny) {
  extern __shared__ REAL tile[];
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  int at = threadIdx.y * blockDim.x + threadIdx.x;
  size_t i = (size_t)iy * nx + ix;
  if (ix < nx && iy < ny) tile[at] = T[i];
  if (ix > 0 && ix < nx - 1 && iy > 0 && iy < ny - 1) T2[i] = tile[at] + dt * Ci[i];
}

__global__ void diffusion_halo(REAL *T2, const REAL *T, const REAL *Ci, REAL lam, REAL dt, REAL _dx, REAL _dy, int nx,
                               int ny) {
  extern __shared__ REAL tile[];
  int width = blockDim.x + 2;
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  int at = (threadIdx.y + 1) * width + threadIdx.x + 1;
  size_t i = (size_t)iy * nx + ix;
  if (ix < nx && iy < ny) tile[at] = T[i];
  if (ix > 0 && ix < nx - 1 && iy > 0 && iy < ny - 1) T2[i] = tile[at] + dt * Ci[i];
}

// The barrier keeps the reads of the halo, which nothing here uses: another thread might.
__global__ void diffusion_filled(REAL *T2, const REAL *T, const REAL *Ci, REAL lam, REAL dt, REAL _dx, REAL _dy, int nx,
                                 int ny) {
  extern __shared__ REAL tile[];
  int width = blockDim.x + 2;
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  int at = (threadIdx.y + 1) * width + threadIdx.x + 1;
  size_t i = (size_t)iy * nx + ix;
  bool inside = ix > 0 && ix < nx - 1 && iy > 0 && iy < ny - 1;
  if (ix < nx && iy < ny) tile[at] = T[i];
  if (inside) {
    if (threadIdx.x == 0) tile[at - 1] = T[i - 1];
    if (threadIdx.x == blockDim.x - 1) tile[at + 1] = T[i + 1];
    if (threadIdx.y == 0) tile[at - width] = T[i - nx];
    if (threadIdx.y == blockDim.y - 1) tile[at + width] = T[i + nx];
  }
  __syncthreads();
  if (inside) T2[i] = tile[at] + dt * Ci[i];
}

// The barrier is outside every condition: a block at the border has threads without a cell, and they must arrive too.
__global__ void diffusion_shared(REAL *T2, const REAL *T, const REAL *Ci, REAL lam, REAL dt, REAL _dx, REAL _dy, int nx,
                                 int ny) {
  extern __shared__ REAL tile[];
  int width = blockDim.x + 2;
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  int at = (threadIdx.y + 1) * width + threadIdx.x + 1;
  size_t i = (size_t)iy * nx + ix;
  bool inside = ix > 0 && ix < nx - 1 && iy > 0 && iy < ny - 1;
  if (ix < nx && iy < ny) tile[at] = T[i];
  if (inside) {
    if (threadIdx.x == 0) tile[at - 1] = T[i - 1];
    if (threadIdx.x == blockDim.x - 1) tile[at + 1] = T[i + 1];
    if (threadIdx.y == 0) tile[at - width] = T[i - nx];
    if (threadIdx.y == blockDim.y - 1) tile[at + width] = T[i + nx];
  }
  __syncthreads();
  if (inside) {
    T2[i] = step_of(tile[at - 1], tile[at + 1], tile[at - width], tile[at + width], tile[at], Ci[i], lam, dt, _dx, _dy);
  }
}

template <int ROWS>
__global__ void diffusion_march(REAL *__restrict__ T2, const REAL *__restrict__ T, const REAL *__restrict__ Ci,
                                REAL lam, REAL dt, REAL _dx, REAL _dy, int nx, int ny) {
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int first = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
  if (ix < 1 || ix >= nx - 1 || first >= ny) return;
  size_t i = (size_t)first * nx + ix;
  REAL s = first > 0 ? T[i - nx] : (REAL)0, c = T[i];
#pragma unroll
  for (int k = 0; k < ROWS; k++) {
    if (first + k < ny - 1) {
      REAL n = T[i + nx];
      if (first + k > 0) T2[i] = step_of(T[i - 1], T[i + 1], s, n, c, Ci[i], lam, dt, _dx, _dy);
      s = c;
      c = n;
      i += nx;
    }
  }
}

__global__ void diffusion_vector(REAL *__restrict__ T2, const REAL *__restrict__ T, const REAL *__restrict__ Ci,
                                 REAL lam, REAL dt, REAL _dx, REAL _dy, int nx, int ny) {
  int ix = COLUMNS * (blockIdx.x * blockDim.x + threadIdx.x);
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  if (iy < 1 || iy >= ny - 1 || ix >= nx) return;
  size_t i = (size_t)iy * nx + ix;
  columns s, c, n, r, out;
  if (nx % COLUMNS == 0) { // asked once, so that all four loads are in flight together
    s = *(const columns *)(T + i - nx);
    c = *(const columns *)(T + i);
    n = *(const columns *)(T + i + nx);
    r = *(const columns *)(Ci + i);
  } else {
    s = columns_of(T, ix, iy - 1, nx, ny);
    c = columns_of(T, ix, iy, nx, ny);
    n = columns_of(T, ix, iy + 1, nx, ny);
    r = columns_of(Ci, ix, iy, nx, ny);
  }
  REAL w = ix > 0 ? T[i - 1] : (REAL)0, e = ix + COLUMNS < nx ? T[i + COLUMNS] : (REAL)0;
#pragma unroll
  for (int k = 0; k < COLUMNS; k++) {
    REAL left = k > 0 ? c.at[(k + COLUMNS - 1) % COLUMNS] : w, right = k + 1 < COLUMNS ? c.at[(k + 1) % COLUMNS] : e;
    out.at[k] = step_of(left, right, s.at[k], n.at[k], c.at[k], r.at[k], lam, dt, _dx, _dy);
  }
  put_columns(T2, out, ix, iy, nx, 1, nx - 1);
}

// Writes all of T2, the border as T has it.
template <int K>
__global__ void __launch_bounds__(LEVELS_BLOCK, K <= 8 ? 8 : 1)
diffusion_levels(REAL *__restrict__ T2, const REAL *__restrict__ T, const REAL *__restrict__ Ci, REAL lam, REAL dt,
                 REAL _dx, REAL _dy, int nx, int ny, int rows) {
  const int RATES = K + 1 + AHEAD <= 16 ? 16 : 32; // a power of 2: rows are found by a mask
  __shared__ columns coming[AHEAD][LEVELS_BLOCK], rates[RATES][LEVELS_BLOCK];
  const int halo = (K + COLUMNS - 1) / COLUMNS * COLUMNS, width = 32 * COLUMNS - 2 * halo, t = threadIdx.x;
  int own = (blockIdx.x * blockDim.x + t) / 32 * width; // the strip's first column without its halo
  if (own >= nx) return;
  int ix = own - halo + t % 32 * COLUMNS;
  int first = blockIdx.y * rows, last = min(first + rows, ny);
  const REAL aspect = _dx / _dy * (_dx / _dy), centre = -2 * (1 + aspect), scale = dt * lam * _dy * _dy;
  columns none = {}, held[K], above[K];
#pragma unroll
  for (int k = 0; k < K; k++) held[k] = above[k] = none;
#pragma unroll
  for (int k = 0; k < RATES; k++) rates[k][t] = none;
#pragma unroll
  for (int a = 0; a < AHEAD; a++) {
    fetch(&coming[(first - K + a) & (AHEAD - 1)][t], T, ix, first - K + a, nx, ny);
    fetch(&rates[(first - K + a) & (RATES - 1)][t], Ci, ix, first - K + a, nx, ny);
    __pipeline_commit();
  }
#pragma unroll 3 // above, held and the row that comes take turns in the registers: three rows without a move
  for (int j = first - K; j < last + K; j++) {
    __pipeline_wait_prior(AHEAD - 1);
    columns row = coming[j & (AHEAD - 1)][t];
    columns *rate = &rates[j & (RATES - 1)][t];
    *rate = rate_of(*rate, scale, ix, j, nx, ny);
    fetch(&coming[j & (AHEAD - 1)][t], T, ix, j + AHEAD, nx, ny);
    fetch(&rates[(j + AHEAD) & (RATES - 1)][t], Ci, ix, j + AHEAD, nx, ny);
    __pipeline_commit();
#pragma unroll
    for (int k = 0; k < K; k++) {
      REAL w = __shfl_up_sync(WARP, held[k].at[COLUMNS - 1], 1), e = __shfl_down_sync(WARP, held[k].at[0], 1);
      columns out = advance(held[k], row, above[k], w, e, rates[(j - 1 - k) & (RATES - 1)][t], aspect, centre);
      above[k] = held[k];
      held[k] = row;
      row = out;
    }
    if (j - K >= first) put_columns(T2, row, ix, j - K, nx, own, min(own + width, nx));
  }
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// arrays             the three fields begin on a boundary of 16 bytes (diffusion_vector and diffusion_levels)
// up to _shared      block {bx, by}, grid {ceil(nx / bx), ceil(ny / by)}
// shared             _staged: bx * by * sizeof(REAL); _halo, _filled, _shared: (bx + 2) * (by + 2) * sizeof(REAL)
// diffusion_march    block {bx, by}, grid {ceil(nx / bx), ceil(ny / (by * ROWS))}
// diffusion_vector   block {bx, by}, grid {ceil(nx / (bx * COLUMNS)), ceil(ny / by)}
// diffusion_levels   block LEVELS_BLOCK or 32, grid {ceil(strips / warps of a block), ceil(ny / rows)} with
//                    strips = ceil(nx / (32 * COLUMNS - 2 * halo)), halo = K rounded up to a multiple of COLUMNS
// stable for         dt <= min(dx, dy)^2 / lam / max(Ci) / 4; the lecture divides by 4.1
