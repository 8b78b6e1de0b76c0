// SPDX-License-Identifier: MIT
//
// tuning: four kernels whose shape is open. What a variant changes is a template's argument, or the block and the grid of
// its launch; none of it changes what is computed.
//
//   diffuse       a step of heat diffusion; a thread computes ROWS rows below each other: what it has read of one row
//                 is a neighbour of the next. LDG: read by the path of read-only data
//   product       C = A B, f32; a thread computes DOWN x ALONG elements, a block DOWN blockDim.y x ALONG blockDim.x,
//                 from tiles of DEPTH columns of A and rows of B in shared memory
//   add           a sum; a thread has UNROLL accesses of V elements on their way; the block that comes last adds the
//                 blocks' sums
//   turn          a transposition by tiles of SIDE x SIDE in shared memory, whose rows are PAD elements longer; UNROLL
//                 rows of a thread are on their way at once; ORDER: blocks follow the rows of A, those of B, or diagonals
// Bound: diffuse, add, turn the memory's rate; product 128 fused multiply-adds a cycle and multiprocessor.
// Sources: Oxford's course on CUDA (M. Giles, W. Armour), practical 10, tunes by brute force; B. van Werkhoven, "Kernel
// Tuner" (2019); G. Ruetsch and P. Micikevicius, "Optimizing Matrix Transpose in CUDA" (2009): diagonal blocks.

// ---- diffuse --------------------------------------------------------------------------------------------------------

template <int LDG, typename T> __device__ T read(const T *p) { return LDG ? __ldg(p) : *p; }

// The border keeps its values.
template <typename T, int ROWS, int LDG>
__global__ void diffuse(T *T2, const T *T1, T a, int nx, int ny) {
  int ix = blockIdx.x * blockDim.x + threadIdx.x, iy = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
  if (ix >= nx) return;
#pragma unroll
  for (int r = 0; r < ROWS; r++, iy++) {
    if (iy >= ny) return;
    const T *p = T1 + (size_t)iy * nx + ix;
    T here = read<LDG>(p);
    bool inside = ix > 0 && ix < nx - 1 && iy > 0 && iy < ny - 1;
    T around = inside ? read<LDG>(p - 1) + read<LDG>(p + 1) + read<LDG>(p - nx) + read<LDG>(p + nx) : 4 * here;
    T2[(size_t)iy * nx + ix] = here + a * (around - 4 * here);
  }
}

// ---- product --------------------------------------------------------------------------------------------------------

// Shared memory: DEPTH rows of the tile of A, a column of A in each, then DEPTH of the tile of B. An element of a thread
// is blockDim away from its next one, so that a warp's accesses lie side by side.
template <int DOWN, int ALONG, int DEPTH>
__global__ void product(float *C, const float *A, const float *B, int n) {
  extern __shared__ float tiles[];
  int x = threadIdx.x, y = threadIdx.y, width = blockDim.x * ALONG, height = blockDim.y * DOWN;
  int left = blockIdx.x * width, top = blockIdx.y * height;
  float *a = tiles, *b = tiles + DEPTH * height;
  float sum[DOWN][ALONG] = {};
  for (int first = 0; first < n; first += DEPTH) {
    for (int k = x; k < DEPTH; k += blockDim.x)
      for (int r = y; r < height; r += blockDim.y)
        a[k * height + r] = top + r < n && first + k < n ? A[(size_t)(top + r) * n + first + k] : 0;
    for (int k = y; k < DEPTH; k += blockDim.y)
      for (int c = x; c < width; c += blockDim.x)
        b[k * width + c] = first + k < n && left + c < n ? B[(size_t)(first + k) * n + left + c] : 0;
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < DEPTH; k++) {
      float down[DOWN], along[ALONG];
#pragma unroll
      for (int i = 0; i < DOWN; i++) down[i] = a[k * height + y + i * blockDim.y];
#pragma unroll
      for (int j = 0; j < ALONG; j++) along[j] = b[k * width + x + j * blockDim.x];
#pragma unroll
      for (int i = 0; i < DOWN; i++) {
#pragma unroll
        for (int j = 0; j < ALONG; j++) sum[i][j] += down[i] * along[j];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < DOWN; i++) {
#pragma unroll
    for (int j = 0; j < ALONG; j++) {
      int row = top + y + i * blockDim.y, column = left + x + j * blockDim.x;
      if (row < n && column < n) C[(size_t)row * n + column] = sum[i][j];
    }
  }
}

// ---- add ------------------------------------------------------------------------------------------------------------

template <int V> struct vector;
template <> struct vector<1> { typedef float type; };
template <> struct vector<2> { typedef float2 type; };
template <> struct vector<4> { typedef float4 type; };

__device__ float total(float v) { return v; }
__device__ float total(float2 v) { return v.x + v.y; }
__device__ float total(float4 v) { return (v.x + v.y) + (v.z + v.w); }

// The sum of a block of whole warps, in thread 0.
__device__ float add_block(float value) {
  __shared__ float warps[32];
  int lane = threadIdx.x % 32, count = blockDim.x / 32;
  for (int k = 16; k > 0; k /= 2) value += __shfl_down_sync(0xffffffff, value, k);
  if (lane == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = lane < count ? warps[lane] : 0;
  for (int k = 16; k > 0; k /= 2) value += __shfl_down_sync(0xffffffff, value, k);
  return value;
}

template <int V, int UNROLL>
__global__ void add(float *sum, float *parts, unsigned *ticket, const float *x, size_t n) {
  __shared__ bool last;
  typedef typename vector<V>::type access;
  const access *v = (const access *)x;
  size_t count = n / V, step = (size_t)gridDim.x * blockDim.x * UNROLL;
  float own[UNROLL] = {};
  for (size_t i = (size_t)blockIdx.x * blockDim.x * UNROLL + threadIdx.x; i < count; i += step) {
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
      if (i + u * blockDim.x < count) own[u] += total(v[i + u * blockDim.x]);
  }
  size_t rest = count * V + threadIdx.x;
  if (blockIdx.x == 0 && rest < n) own[0] += x[rest];
#pragma unroll
  for (int u = 1; u < UNROLL; u++) own[0] += own[u];
  float value = add_block(own[0]);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = value;
    __threadfence();
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  value = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) value += __ldcg(parts + b);
  value = add_block(value);
  if (threadIdx.x == 0) {
    sum[0] = value;
    *ticket = 0; // for the next launch
  }
}

// ---- turn -----------------------------------------------------------------------------------------------------------

enum { ROWS_OF_A, ROWS_OF_B, DIAGONALS };

template <typename T, int SIDE, int PAD, int UNROLL, int ORDER>
__global__ void turn(T *B, const T *A, int nx, int ny) {
  __shared__ T tile[SIDE][SIDE + PAD];
  int columns = (nx + SIDE - 1) / SIDE, rows = (ny + SIDE - 1) / SIDE, block = blockIdx.x;
  int column = ORDER == ROWS_OF_B ? block / rows : block % columns, row = ORDER == ROWS_OF_B ? block % rows : block / columns;
  if (ORDER == DIAGONALS) column = (column + row) % columns;
  int left = column * SIDE, top = row * SIDE;
#pragma unroll UNROLL
  for (int y = threadIdx.y; y < SIDE; y += blockDim.y)
    if (left + threadIdx.x < nx && top + y < ny)
      tile[y][threadIdx.x] = A[(size_t)(top + y) * nx + left + threadIdx.x];
  __syncthreads();
#pragma unroll UNROLL
  for (int x = threadIdx.y; x < SIDE; x += blockDim.y)
    if (top + threadIdx.x < ny && left + x < nx)
      B[(size_t)(left + x) * ny + top + threadIdx.x] = tile[threadIdx.x][x];
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// diffuse   any block; grid ceil(nx / block.x) x ceil(ny / (block.y ROWS))
// product   any block; shared = 4 DEPTH (DOWN block.y + ALONG block.x); grid ceil(n / (ALONG block.x)) x
//           ceil(n / (DOWN block.y))
// add       block 32 k, any grid; parts: an element per block; the ticket is 0 before and after; x on 16 bytes
// turn      block SIDE x any; grid ceil(nx / SIDE) ceil(ny / SIDE)
