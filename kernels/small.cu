// SPDX-License-Identifier: MIT
//
// small: many problems, each so small that one block holds it through all of its steps.
//
// Steps of Jacobi's iteration on `grids` squares of 64 x 64 cells, whose borders keep their values
//   v1 jacobi_step       one step of some or all grids, from one array to another: the host calls it for each step
//   v2 jacobi_shared     a block per grid, all steps; two copies of the grid in shared memory, a barrier per step
//   v3 jacobi_registers  64 threads per grid, all steps: a thread has 8 x 8 cells in registers. Neighbours along x are
//                        in the next lane, along y in shared memory, where each thread leaves its first and last row
// Implicit steps of 1-D diffusion, (1 + 2 r) v[i] - r (v[i-1] + v[i+1]) = u[i], zero outside, by parallel cyclic
// reduction
//   v4 implicit          a block per system, a thread per unknown, `steps` steps. In level s each equation takes away
//                        its neighbours s = 1, 2, 4, ... away, times factors; LEVELS levels, 2^LEVELS >= length, leave
//                        each equation with one unknown. The factors are the same in all steps: made once per launch
//
// Bounds, cells or unknowns per second. v1: a launch per step, 2 to 3 us of the host; then the caches, 8 bytes a cell.
// v2: shared memory, 20 bytes a cell and step: 128 / 20 = 6 cells a cycle and multiprocessor. v3: issue; a cell needs
// two additions (east + south of a cell is north + west of the next one on the diagonal) and a product, with selects,
// shuffles and rows about 4.3 instructions: 30 cells a cycle and multiprocessor; shared memory would allow 43. v4:
// shared memory, 12 bytes a level, 8 levels for 256: 1.3 unknowns a cycle and multiprocessor; launched per step it
// makes the factors in each.
//
// Jacobi in shared memory follows the 2-D solver of M. Giles and W. Armour, "CUDA Programming on NVIDIA GPUs" (Oxford),
// lecture 3; cyclic reduction is of R. Hockney (1965), with all equations in each level by him and C. Jesshope (1981).

#define SIDE  64
#define CELLS (SIDE * SIDE)
#define PART  8 // cells of a thread along each side in v3
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

__device__ float4 four(const float *v) {
  return make_float4(v[0], v[1], v[2], v[3]);
}

__device__ void put_four(float *v, float4 from) {
  v[0] = from.x;
  v[1] = from.y;
  v[2] = from.z;
  v[3] = from.w;
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

__global__ void __launch_bounds__(64) jacobi_registers(float *to, const float *from, int steps) {
  const int bands = SIDE / PART, halves = PART / 4;
  __shared__ float4 rows[2][2][bands][halves][bands]; // by turns; each band's first and last row, 16 bytes a thread
  int column = threadIdx.x % bands, band = threadIdx.x / bands;
  bool is_left = column == 0, is_right = column == bands - 1, is_top = band == 0, is_bottom = band == bands - 1;
  size_t base = (size_t)blockIdx.x * CELLS + (band * SIDE + column) * PART;
  float u[PART][PART];
#pragma unroll
  for (int j = 0; j < PART; j++)
#pragma unroll
    for (int i = 0; i < PART; i++) u[j][i] = from[base + j * SIDE + i];
  for (int k = 0; k < steps; k++) {
    float above[PART], below[PART];
    int turn = k % 2;
#pragma unroll
    for (int h = 0; h < halves; h++) {
      rows[turn][0][band][h][column] = four(u[0] + 4 * h);
      rows[turn][1][band][h][column] = four(u[PART - 1] + 4 * h);
    }
    __syncthreads();
#pragma unroll
    for (int h = 0; h < halves; h++) {
      put_four(above + 4 * h, rows[turn][1][is_top ? 0 : band - 1][h][column]);
      put_four(below + 4 * h, rows[turn][0][is_bottom ? band : band + 1][h][column]);
    }
#pragma unroll
    for (int j = 0; j < PART; j++) {
      float row[PART], west = __shfl_up_sync(ALL, u[j][PART - 1], 1), east = __shfl_down_sync(ALL, u[j][0], 1);
#pragma unroll
      for (int i = 0; i < PART; i++) {
        float e = i + 1 < PART ? u[j][(i + 1) % PART] : east, w = i > 0 ? u[j][(i + PART - 1) % PART] : west;
        float after = mean(e, j + 1 < PART ? u[(j + 1) % PART][i] : below[i], above[i], w);
        bool is_kept =
            (i == 0 && is_left) || (i == PART - 1 && is_right) || (j == 0 && is_top) || (j == PART - 1 && is_bottom);
        row[i] = is_kept ? u[j][i] : after;
      }
#pragma unroll
      for (int i = 0; i < PART; i++) {
        above[i] = u[j][i];
        u[j][i] = row[i];
      }
    }
  }
#pragma unroll
  for (int j = 0; j < PART; j++)
#pragma unroll
    for (int i = 0; i < PART; i++) to[base + j * SIDE + i] = u[j][i];
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
// jacobi_registers  block 64, grid `grids`
// implicit          block 2^LEVELS, which is at least `length`, grid the number of systems; to may be from
