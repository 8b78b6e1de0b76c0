// SPDX-License-Identifier: MIT
//
// small: many problems, each so small that one block holds it through all of its steps.
//
// Steps of Jacobi's iteration on `grids` squares of 64 x 64 cells, whose borders keep their values
//   jacobi_step          one step of some or all grids, from one array to another: the host calls it for each step
//   jacobi_shared        a block per grid, all steps; two copies of the grid in shared memory, a barrier per step
//   jacobi_registers     a warp per grid, all steps: a lane has 8 x 16 cells in registers, and gets what lies next to
//                        them from other lanes; no shared memory, no barrier
// Implicit steps of 1-D diffusion, (1 + 2 r) v[i] - r (v[i-1] + v[i+1]) = u[i], zero outside, by parallel
// cyclic reduction (PCR)
//   implicit             a block per system, a thread per unknown, `steps` steps. In level s each equation takes away
//                        its neighbours s = 1, 2, 4, ... away, times factors; LEVELS levels, 2^LEVELS >= length, leave
//                        each equation with one unknown. The factors are the same in all steps: made once per launch
//
// Bounds, cells or unknowns per second. jacobi_step: a launch per step, 2 to 3 us of the host; then the caches, 8 bytes
// per cell. jacobi_shared: shared memory, 20 bytes per cell and step: 128 / 20 = 6 cells per cycle and multiprocessor.
// jacobi_registers: issue; a cell needs two additions (east + south of a cell is north + west of the next one on the
// diagonal) and a product, with borders and shuffles about 4 instructions: 32 cells per cycle and multiprocessor.
// implicit: shared memory, 12 bytes per level, 8 levels for 256: 1.3 unknowns per cycle and multiprocessor.
//
// One problem per block, the whole calculation in a kernel: M. Giles and W. Armour, "CUDA Programming on NVIDIA GPUs"
// (Oxford; undated, the latest year named is 2023), lecture 7, p. 4 to 8, which has cyclic reduction as well. That is
// of R. Hockney (1965), with all equations in each level by him and C. Jesshope (1981).

#include "vector16.cuh"

#define SIDE  64
#define CELLS (SIDE * SIDE)
#define WIDE  8 // cells of a lane in jacobi_registers
#define HIGH  16
#define ALL   0xffffffffu

// ---- device helpers -------------------------------------------------------------------------------------------------

// The same additions in all kernels, so that the bits are equal.
__device__ float mean(float east, float south, float north, float west) {
  return 0.25f * ((east + south) + (north + west));
}

__device__ float cell_after(const float *u, int x, int y) {
  int i = y * SIDE + x;
  bool is_border = x == 0 || x == SIDE - 1 || y == 0 || y == SIDE - 1;
  return is_border ? u[i] : mean(u[i + 1], u[i + SIDE], u[i - SIDE], u[i - 1]);
}

// ---- kernels: Jacobi ------------------------------------------------------------------------------------------------

// Of the grids from `first` on, a grid per 4096 threads.
__global__ void jacobi_step(float *to, const float *from, int first) {
  size_t at = (size_t)first * CELLS + (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  int i = at % CELLS;
  to[at] = cell_after(from + (at - i), i % SIDE, i / SIDE);
}

__global__ void jacobi_shared(float *to, const float *from, int steps) {
  __shared__ float u[2][CELLS];
  size_t base = (size_t)blockIdx.x * CELLS;
  for (int i = threadIdx.x; i < CELLS; i += blockDim.x) u[0][i] = from[base + i];
  __syncthreads();
  for (int k = 0; k < steps; k++) {
    for (int i = threadIdx.x; i < CELLS; i += blockDim.x) u[(k + 1) % 2][i] = cell_after(u[k % 2], i % SIDE, i / SIDE);
    __syncthreads();
  }
  for (int i = threadIdx.x; i < CELLS; i += blockDim.x) to[base + i] = u[steps % 2][i];
}

// A lane has WIDE x HIGH cells; 8 lanes are a band of the grid, 4 bands the grid.
__global__ void __launch_bounds__(32) jacobi_registers(float *to, const float *from, int steps) {
  const int BANDS = SIDE / HIGH, LANES = SIDE / WIDE;
  int column = threadIdx.x % LANES, band = threadIdx.x / LANES;
  bool is_left = column == 0, is_right = column == LANES - 1, is_top = band == 0, is_bottom = band == BANDS - 1;
  size_t base = (size_t)blockIdx.x * CELLS + band * HIGH * SIDE + column * WIDE;
  float u[HIGH][WIDE];
#pragma unroll
  for (int j = 0; j < HIGH; j++)
#pragma unroll
    for (int i = 0; i < WIDE; i += 4) unpack(*(const float4 *)(from + base + j * SIDE + i), u[j] + i);
  for (int k = 0; k < steps; k++) {
    float above[WIDE], below[WIDE]; // the rows next to the lane's, as they were
#pragma unroll
    for (int i = 0; i < WIDE; i++) {
      above[i] = __shfl_up_sync(ALL, u[HIGH - 1][i], LANES);
      below[i] = __shfl_down_sync(ALL, u[0][i], LANES);
    }
#pragma unroll
    for (int j = 0; j < HIGH; j++) {
      float row[WIDE], west = __shfl_up_sync(ALL, u[j][WIDE - 1], 1), east = __shfl_down_sync(ALL, u[j][0], 1);
#pragma unroll
      for (int i = 0; i < WIDE; i++) {
        float e = i + 1 < WIDE ? u[j][(i + 1) % WIDE] : east, w = i > 0 ? u[j][(i + WIDE - 1) % WIDE] : west;
        float after = mean(e, j + 1 < HIGH ? u[(j + 1) % HIGH][i] : below[i], above[i], w);
        bool is_side = (i == 0 && is_left) || (i == WIDE - 1 && is_right);
        row[i] = is_side || (j == 0 && is_top) || (j == HIGH - 1 && is_bottom) ? u[j][i] : after;
      }
#pragma unroll
      for (int i = 0; i < WIDE; i++) {
        above[i] = u[j][i];
        u[j][i] = row[i];
      }
    }
  }
#pragma unroll
  for (int j = 0; j < HIGH; j++)
#pragma unroll
    for (int i = 0; i < WIDE; i += 4) *(float4 *)(to + base + j * SIDE + i) = pack(u[j] + i);
}

// ---- kernels: implicit steps ----------------------------------------------------------------------------------------

// One block of at least `length` threads per system.
template <int LEVELS> __global__ void implicit(float *to, const float *from, int length, float r, int steps) {
  __shared__ float at[4][1 << LEVELS]; // a, b, c of the equations a v[i-s] + b v[i] + c v[i+s] = d; then d by turns
  const int n = 1 << LEVELS;
  int i = threadIdx.x;
  size_t place = (size_t)blockIdx.x * length + i;
  float a = i > 0 && i < length ? -r : 0, c = i < length - 1 ? -r : 0, b = i < length ? 1 + 2 * r : 1;
  float d = i < length ? from[place] : 0, low[LEVELS], high[LEVELS];
#pragma unroll
  for (int k = 0; k < LEVELS; k++) {
    int s = 1 << k;
    at[0][i] = a;
    at[1][i] = b;
    at[2][i] = c;
    __syncthreads();
    low[k] = i >= s ? a / at[1][i - s] : 0;
    high[k] = i + s < n ? c / at[1][i + s] : 0;
    if (i >= s) b -= low[k] * at[2][i - s];
    if (i + s < n) b -= high[k] * at[0][i + s];
    a = i >= s ? -low[k] * at[0][i - s] : 0;
    c = i + s < n ? -high[k] * at[2][i + s] : 0;
    __syncthreads();
  }
  for (int step = 0; step < steps; step++) {
#pragma unroll
    for (int k = 0; k < LEVELS; k++) {
      int s = 1 << k;
      float *now = at[(step * LEVELS + k) % 2];
      now[i] = d;
      __syncthreads();
      if (i >= s) d -= low[k] * now[i - s];
      if (i + s < n) d -= high[k] * now[i + s];
    }
    d /= b;
  }
  if (i < length) to[place] = d;
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// jacobi_step       block 256, grid 16 per grid
// jacobi_shared     any block, 256 for example, grid `grids`
// jacobi_registers  block 32, grid `grids`; arrays begin on a boundary of 16 bytes
// implicit          block 2^LEVELS, which is at least `length`, grid the number of systems; to may be from
