// SPDX-License-Identifier: MIT
//
// mistakes: kernels of courses with one mistake each, and the same kernels without it.
//
// Each is a template: <false> has the mistake, <true> is mended, and MENDED stands where they differ. The comment before
// a kernel names its source:
//   Oxford   M. Giles and others, "CUDA Programming on NVIDIA GPUs" (undated, the latest year named is 2023), by lecture
//            and page
//   Kiel     S. Boerm, "Simulation and High-Performance Computing", part 16 (2020), by title of the slide
//   report   B. Ocampo and M. de Mayo, "Parallel Computing, lab 4: CUDA" (undated), by section
// All are shortened to what the mistake needs. Sizes and blocks are in experiments/mistakes.lua.

#include <cooperative_groups.h>

// ---- shared memory ----------------------------------------------------------------------------------------------------

// A scan of one block with one of its two barriers (Oxford 4, p. 24; p. 25: "my most common CUDA programming error").
template <bool MENDED> __global__ void scan(float *x) {
  extern __shared__ float temp[];
  int t = threadIdx.x;
  temp[t] = x[t];
  for (int d = 1; d < blockDim.x; d *= 2) {
    __syncthreads();
    float left = t >= d ? temp[t - d] : 0;
    if (MENDED) __syncthreads();
    temp[t] += left;
  }
  x[t] = temp[t];
}

// A counter that all threads increment (Oxford 3, p. 16).
template <bool MENDED> __global__ void count(int *out, const float *x) {
  __shared__ int positive;
  if (threadIdx.x == 0) positive = 0;
  __syncthreads();
  if (x[threadIdx.x] > 0) {
    if (MENDED) atomicAdd(&positive, 1);
    else positive++;
  }
  __syncthreads();
  if (threadIdx.x == 0) *out = positive;
}

// Shared memory as an earlier launch has left it (report, stepburst-shidden): values and their block are hoped for.
template <bool MENDED> __global__ void hidden(float *y, const float *x) {
  __shared__ float kept[64];
  __shared__ int owner;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool is_found = !MENDED && owner == blockIdx.x;
  y[i] = 2 * (is_found ? kept[threadIdx.x] : x[i]);
}

// A tile with its halo, whose sizes are exchanged (report, stepburst-shmem: [BLOCK_WIDTH + 2][BLOCK_HEIGHT + 1]).
template <bool MENDED> __global__ void halo(float *y, const float *x) {
  __shared__ float cache[MENDED ? 9 : 10][MENDED ? 10 : 9]; // a block of 8 x 8: a cell more along x, two along y
  int i = threadIdx.x, j = threadIdx.y;
  cache[i][j + 1] = x[j * 8 + i];
  if (j == 0) cache[i][0] = cache[i][9] = 0;
  __syncthreads();
  y[j * 8 + i] = cache[i][j] + cache[i][j + 2];
}

// A barrier that not all threads of the block reach (Oxford 3, p. 12).
template <bool MENDED> __global__ void reverse(float *x, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t < n) s[t] = x[t];
  if (MENDED || t < n) __syncthreads();
  if (t < n) x[t] = s[n - 1 - t];
  __syncthreads();
}

// A tree that loses an element where half of the threads is odd (Kiel, "Reduction").
template <bool MENDED> __global__ void tree(float *out, const float *x) {
  extern __shared__ float temp[];
  int t = threadIdx.x;
  temp[t] = x[t];
  __syncthreads();
  for (int n = blockDim.x, half; n > 1; n = half) {
    half = MENDED ? (n + 1) / 2 : n / 2;
    if (t < half && t + half < n) temp[t] += temp[t + half];
    __syncthreads();
  }
  if (t == 0) *out = temp[0];
}

// ---- global memory ----------------------------------------------------------------------------------------------------

// A sum that nothing has set to zero (Oxford 4, p. 18).
template <bool MENDED> __global__ void sum(float *total, const float *x) {
  if (MENDED && threadIdx.x == 0) *total = 0;
  __syncthreads();
  atomicAdd(total, x[threadIdx.x]);
}

// Bodies in pieces of a block, where their number is no multiple of it (Kiel, "Gravitation with shared memory").
template <bool MENDED> __global__ void gravity(float *phi, const float *x, int n) {
  __shared__ float other[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  float own = i < n ? x[i] : 0, total = 0;
  for (int first = 0; first < n; first += 64) {
    if (!MENDED || first + t < n) other[t] = x[first + t];
    __syncthreads();
    int last = MENDED ? min(64, n - first) : 64;
    for (int k = 0; k < last; k++) total += fabsf(other[k] - own);
    __syncthreads();
  }
  if (i < n) phi[i] = total;
}

// Sums of four inner cells of a row, as a float4 that begins at its second float (report, stepburst-roae: "our memory
// layout did not allow that").
template <bool MENDED> __global__ void inner(float *y, const float *x) {
  int t = threadIdx.x;
  const float4 *v = (const float4 *)(x + 1);
  if (MENDED) y[t] = x[1 + 4 * t] + x[2 + 4 * t] + x[3 + 4 * t] + x[4 + 4 * t];
  else y[t] = v[t].x + v[t].y + v[t].z + v[t].w;
}

// A step of Jacobi's iteration, in blocks that reach beyond the grid: the guard is after the boundary's test (Oxford 3,
// p. 34), so that a thread with j = 0 and i >= I writes into the next row, and one with i = 0, j >= J out of the array.
template <bool MENDED> __global__ void laplace(float *u2, const float *u1, int I, int J) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  int j = threadIdx.y + blockIdx.y * blockDim.y;
  int id = i + j * I;
  if (MENDED && (i >= I || j >= J)) return;
  if (i == 0 || i == I - 1 || j == 0 || j == J - 1)
    u2[id] = u1[id];
  else if (i < I && j < J)
    u2[id] = 0.25f * (u1[id - 1] + u1[id + 1] + u1[id - I] + u1[id + I]);
}

// 0.25 is a double, so each sum is converted, multiplied, and converted back (Oxford 3, p. 31).
template <bool MENDED> __global__ void quarter(float *y, const float *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (MENDED) y[i] = 0.25f * (x[i] + 1);
  else y[i] = 0.25 * (x[i] + 1);
}

// The cells around a square field (report, gpu_set_bnd). A corner is the mean of its neighbours on the edges, which other
// threads write in the same launch; the last one has the wrong sign.
template <bool ORDER_MENDED, bool SIGN_MENDED> __global__ void edges(float *x, int n) {
  int w = n + 2, t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 1 + t; i <= n; i += gridDim.x * blockDim.x) {
    x[i * w] = x[i * w + 1];
    x[i * w + n + 1] = x[i * w + n];
    x[i] = x[w + i];
    x[(n + 1) * w + i] = x[n * w + i];
  }
  if (t > 0) return;
  int far = n + 1, next = ORDER_MENDED ? 1 : 0; // the cells that the edges are copies of
  x[0] = 0.5f * (x[next * w + 1] + x[w + next]);
  x[far] = 0.5f * (x[next * w + n] + x[w + far - next]);
  x[far * w] = 0.5f * (x[n * w + next] + x[(far - next) * w + 1]);
  x[far * w + far] = (SIGN_MENDED ? 0.5f : -0.5f) * (x[n * w + far - next] + x[(far - next) * w + n]);
}

// ---- between blocks ---------------------------------------------------------------------------------------------------

// A lock without a fence after it is taken, given back by a plain store (Oxford 3, p. 22, and 4, p. 19).
__device__ int taken;

template <bool MENDED> __global__ void lock(float *total) {
  if (threadIdx.x > 0) return;
  while (atomicCAS(&taken, 0, 1)) {}
  if (MENDED) __threadfence();
  *total += 1;
  __threadfence();
  if (MENDED) atomicExch(&taken, 0);
  else taken = 0;
}

// A scan over blocks in the order of a counter, which nothing sets back for the second launch, and without a fence after
// the wait (Oxford 4, p. 31 to 33; that page declares neither `sum` nor `local`).
__device__ unsigned started;
__device__ volatile unsigned finished;
__device__ float before;

template <bool RESETS, bool FENCES> __global__ void in_order(float *y, const float *x) {
  if (threadIdx.x > 0) return;
  unsigned mine = atomicAdd(&started, 1u);
  while (finished < mine) {}
  if (FENCES) __threadfence();
  y[mine] = before = before + x[mine];
  __threadfence();
  if (!RESETS || mine < gridDim.x - 1) {
    finished = mine + 1;
  } else {
    started = 0;
    finished = 0;
    before = 0;
  }
}

// Red and black cells in turn in one kernel, with a grid barrier after both of them only (report, onekernel).
__device__ void relax(float *u, int n, int color) {
  for (int i = 1 + blockIdx.x * blockDim.x + threadIdx.x; i < n - 1; i += gridDim.x * blockDim.x)
    if (i % 2 == color) u[i] = 0.5f * (u[i - 1] + u[i + 1]);
}

template <bool MENDED> __global__ void red_black(float *u, int n, int red, int black) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  for (int k = 0; k < 4; k++) {
    relax(u, n, red);
    if (MENDED) grid.sync();
    relax(u, n, black);
    grid.sync();
  }
}

// ---- without a mistake: the mistake is in the launches -----------------------------------------------------------------

template <bool> __global__ void twice(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
