/* SPDX-License-Identifier: MIT
 *
 * Kernels whose structural counters follow from arithmetic (tests/support/counters_cases.lua): each access of the source is one
 * instruction of SASS, so that a GPU counts the same. Lengths are those of the launch: no kernel has a bound to check.
 * Loops that would be unrolled into other accesses are not. */

__device__ __forceinline__ int thread_of_grid() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

/* {== Global memory ==================================================== */

__global__ void copy(float *y, const float *x) {
  int i = thread_of_grid();
  y[i] = x[i];
}

__global__ void copy_bytes(char *y, const char *x) {
  int i = thread_of_grid();
  y[i] = x[i];
}

__global__ void copy_double(double *y, const double *x) {
  int i = thread_of_grid();
  y[i] = x[i];
}

__global__ void copy_float2(float2 *y, const float2 *x) {
  int i = thread_of_grid();
  y[i] = x[i];
}

__global__ void copy_float4(float4 *y, const float4 *x) {
  int i = thread_of_grid();
  y[i] = x[i];
}

__global__ void copy_shifted(float *y, const float *x, int shift) {
  int i = thread_of_grid();
  y[i + shift] = x[i + shift];
}

__global__ void copy_reversed(float *y, const float *x, int n) {
  int i = thread_of_grid();
  y[n - 1 - i] = x[i];
}

__global__ void broadcast(float *y, const float *x) {
  int i = thread_of_grid();
  y[i] = x[i / 32];
}

__global__ void strided(float *y, const float *x, int stride) {
  int i = thread_of_grid();
  y[i] = x[i * stride];
}

__global__ void gather(float *y, const float *x, const int *at) {
  int i = thread_of_grid();
  y[i] = x[at[i]];
}

__global__ void scatter(float *y, const float *x, const int *at) {
  int i = thread_of_grid();
  y[at[i]] = x[i];
}

struct triple {
  float x, y, z;
};

__global__ void structs(float *y, const triple *p) {
  int i = thread_of_grid();
  y[i] = p[i].x * p[i].y + p[i].z;
}

__global__ void struct_of_arrays(float *y, const float *px, const float *py, const float *pz) {
  int i = thread_of_grid();
  y[i] = px[i] * py[i] + pz[i];
}

__global__ void stencil_1d(float *y, const float *x) {
  int i = thread_of_grid();
  y[i] = x[i] + x[i + 1] + x[i + 2];
}

__global__ void stencil_2d(float *y, const float *x, int pitch) {
  int i = (blockIdx.y * blockDim.y + threadIdx.y + 1) * pitch + blockIdx.x * blockDim.x + threadIdx.x + 1;
  y[i] = x[i - pitch] + x[i - 1] + x[i] + x[i + 1] + x[i + pitch];
}

/* ==} */

/* {== Transposes of n x n, by tiles of 32 x 32 and 32 x 8 threads ======= */

__global__ void transpose_plain(float *b, const float *a, int n) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  b[x * n + y] = a[y * n + x];
}

/* Where element (row, column) of a tile is. */
struct in_rows {
  enum { WORDS = 32 * 32 };
  static __device__ __forceinline__ int at(int row, int column) { return 32 * row + column; }
};
struct padded {
  enum { WORDS = 32 * 33 };
  static __device__ __forceinline__ int at(int row, int column) { return 33 * row + column; }
};
struct swizzled {
  enum { WORDS = 32 * 32 };
  static __device__ __forceinline__ int at(int row, int column) { return 32 * row + (column ^ row); }
};

template <class LAYOUT> __global__ void transpose(float *b, const float *a, int n) {
  __shared__ float tile[LAYOUT::WORDS];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll 1
  for (int j = 0; j < 32; j += 8) tile[LAYOUT::at(threadIdx.y + j, threadIdx.x)] = a[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll 1
  for (int j = 0; j < 32; j += 8) b[(y + j) * n + x] = tile[LAYOUT::at(threadIdx.x, threadIdx.y + j)];
}

/* ==} */

/* {== Shared memory ==================================================== */

/* Blocks of 32 threads. */
__global__ void shared_strided(float *y, int stride) {
  __shared__ float s[32 * 33];
  s[threadIdx.x * stride] = threadIdx.x;
  __syncthreads();
  y[thread_of_grid()] = s[(31 - threadIdx.x) * stride];
}

/* T of 8 or 16 bytes; blocks of 32 threads, each of which accesses its own element and its neighbour's. */
template <class T> __global__ void shared_wide(T *y, const T *x, int stride) {
  __shared__ T s[32 * 4];
  s[threadIdx.x * stride] = x[thread_of_grid()];
  __syncthreads();
  y[thread_of_grid()] = s[(threadIdx.x ^ 1) * stride];
}

/* All lanes read one word, which is a broadcast. */
__global__ void shared_broadcast(float *y, int which) {
  __shared__ float s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  y[thread_of_grid()] = s[which + threadIdx.x / 32];
}

__global__ void stencil_shared(float *y, const float *x) {
  __shared__ float s[256 + 2];
  int i = thread_of_grid(), t = threadIdx.x;
  s[t + 1] = x[i + 1];
  if (t == 0) s[0] = x[i];
  if (t == 255) s[257] = x[i + 2];
  __syncthreads();
  y[i] = s[t] + s[t + 1] + s[t + 2];
}

/* ==} */

/* {== Tree reductions of a block of 256 threads ========================= */

__global__ void tree_interleaved(float *sums, const float *x) {
  __shared__ volatile float s[256];
  int t = threadIdx.x;
  s[t] = x[thread_of_grid()];
  __syncthreads();
#pragma unroll 1
  for (int step = 1; step < 256; step *= 2) {
    if (t % (2 * step) == 0) s[t] = s[t] + s[t + step];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}

__global__ void tree_strided(float *sums, const float *x) {
  __shared__ volatile float s[256];
  int t = threadIdx.x;
  s[t] = x[thread_of_grid()];
  __syncthreads();
#pragma unroll 1
  for (int step = 1; step < 256; step *= 2) {
    int i = 2 * step * t;
    if (i < 256) s[i] = s[i] + s[i + step];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}

__global__ void tree_halved(float *sums, const float *x) {
  __shared__ volatile float s[256];
  int t = threadIdx.x;
  s[t] = x[thread_of_grid()];
  __syncthreads();
#pragma unroll 1
  for (int step = 128; step > 0; step /= 2) {
    if (t < step) s[t] = s[t] + s[t + step];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}

__global__ void tree_shuffled(float *sums, const float *x) {
  float value = x[thread_of_grid()];
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  if (threadIdx.x % 32 == 0) sums[thread_of_grid() / 32] = value;
}

/* ==} */

/* {== Histograms of 32 bins ============================================ */

__global__ void histogram_global(unsigned *bins, const int *x) {
  atomicAdd(&bins[x[thread_of_grid()]], 1u);
}

/* The bins are written by a warp of each block at its end. */
__global__ void histogram_shared(unsigned *bins, const int *x) {
  __shared__ unsigned own[32];
  if (threadIdx.x < 32) own[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&own[x[thread_of_grid()]], 1u);
  __syncthreads();
  if (threadIdx.x < 32) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

/* ==} */

/* {== Divergence: one warp per block =================================== */

/* Lane k reads k + 1 rows; all lanes write together. */
__global__ void loop_unequal(float *y, const float *x) {
  float sum = 0;
#pragma unroll 1
  for (int row = 0; row <= threadIdx.x; row++) sum += x[32 * row + threadIdx.x];
  y[thread_of_grid()] = sum;
}

/* The same rows, from the last one on. */
__global__ void loop_left(float *y, const float *x) {
  float sum = 0;
  int row = 0;
#pragma unroll 1
  while (true) {
    sum += x[32 * row + threadIdx.x];
    if (row == threadIdx.x) break;
    row++;
  }
  y[thread_of_grid()] = sum;
}

/* Every third lane leaves early. */
__global__ void early_return(float *y, float *z, const float *x) {
  int i = thread_of_grid();
  z[i] = 1;
  if (threadIdx.x % 3 == 0) return;
  y[i] = x[i];
}

/* Lanes leave one after the other. */
__global__ void returns_in_turn(float *y, const float *x) {
#pragma unroll 1
  for (int row = 0; row < 32; row++) {
    if (row == threadIdx.x) return;
    y[32 * row + threadIdx.x] = x[32 * row + threadIdx.x];
  }
}

/* Odd and even lanes read by instructions of their own, and write together. */
__global__ void two_sides(float *y, const float *x) {
  int i = thread_of_grid();
  float value;
  if (threadIdx.x % 2)
    value = __expf(x[i]);
  else
    value = x[i + 1] * 2;
  y[i] = value;
}

/* Four ways, of 8 lanes each, which write together. */
__global__ void four_ways(float *y, const float *x) {
  int i = thread_of_grid();
  float value;
  switch (threadIdx.x / 8) {
    case 0: value = x[i] * 2; break;
    case 1: value = __expf(x[i + 32]); break;
    case 2: value = x[i + 64] - 3; break;
    default: value = __frsqrt_rn(x[i + 96]);
  }
  y[i] = value;
}

/* In each row every second lane reads: the even ones, then the odd ones. */
__global__ void loop_skipping(float *y, const float *x) {
  float sum = 0;
#pragma unroll 1
  for (int row = 0; row < 32; row++) {
    if ((row + threadIdx.x) % 2) continue;
    sum += x[32 * row + threadIdx.x];
  }
  y[thread_of_grid()] = sum;
}

__device__ __noinline__ float element(const float *x, int i) {
  return x[i];
}

/* A function that is not inlined, in a loop of unequal length. */
__global__ void calls_in_loop(float *y, const float *x) {
  float sum = 0;
#pragma unroll 1
  for (int row = 0; row < 1 + threadIdx.x / 8; row++) sum += element(x, 32 * row + threadIdx.x);
  y[thread_of_grid()] = sum;
}

__device__ __noinline__ float outer(const float *x, int i) {
  float value = element(x, i);
  if (i % 2) value += element(x, i + 1);
  return value;
}

/* A call within a call, the second one by half of the lanes. */
__global__ void calls_nested(float *y, const float *x) {
  int i = thread_of_grid();
  y[i] = outer(x, i);
}

/* The same function on both sides of a branch. */
__global__ void calls_two_sides(float *y, const float *x) {
  int i = thread_of_grid();
  float value;
  if (threadIdx.x % 2)
    value = __expf(element(x, i));
  else
    value = element(x, i + 1) * 2;
  y[i] = value;
}

/* ==} */
