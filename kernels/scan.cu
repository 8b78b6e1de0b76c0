// SPDX-License-Identifier: MIT
//
// scan: the running sum of a 1-D array of any length, y[i] = x[0] + ... + x[i]. T is float or double.
//
// The ladder
//   scan_tiles, scan_totals, scan_add      three launches: each block scans its own tile; one block scans the tiles'
//                     totals; each tile but the first gets what lies before it. y is read and written again, so the
//                     bound is half of a copy (after M. Giles, "CUDA Programming on NVIDIA GPUs", lecture 4, Oxford,
//                     2023, whose first version has two kernels, and the host scans the totals between them)
//   scan_once         one launch: a tile publishes its sum and looks back over its predecessors until it finds one
//                     whose prefix is known. Each element is read once and written once: the bound is a copy
//   scan_rounds       one launch of as many blocks as run at once. A block takes every gridDim-th tile, loads the next
//                     one before it works on this one, and writes a tile a round after it was summed, when the sums of
//                     the tiles between are ready by then: none waits. The same bits from run to run
//
// Bound: main memory. T_eff = 2 * bytes(x) / t.
// scan_once is D. Merrill and M. Garland, "Single-pass parallel prefix scan with decoupled look-back" (2016). scan_once
// adds in an order that depends on who was ready; scan_tiles and scan_rounds always in the same one.
// Rounding: partial sums of partial sums; the longest chain of additions is about n / (1024 * 1024) for scan_tiles and
// n / (tile * gridDim) for scan_rounds, some 60 more for both.

#include "vector16.cuh"

// ---- device helpers: sums over a warp -------------------------------------------------------------------------------

#define ALL 0xffffffffu

template <typename T> __device__ T scan_of_warp(T value) {
  int lane = threadIdx.x % 32;
  for (int k = 1; k < 32; k *= 2) {
    T left = __shfl_up_sync(ALL, value, k);
    if (lane >= k) value += left;
  }
  return value;
}

template <typename T> __device__ T sum_of_warp(T value) {
#pragma unroll
  for (int k = 16; k > 0; k /= 2) value += __shfl_xor_sync(ALL, value, k);
  return value;
}

// ---- device helpers: a tile -----------------------------------------------------------------------------------------
// A block of B threads holds B * U vectors of 16 bytes. A warp's are together, and its lanes take them in turn, so that
// one load of a warp is 512 bytes in a row.

template <typename T> constexpr int WIDE = 16 / sizeof(T);
template <typename T, int B, int U> constexpr int TILE = B * U * (16 / sizeof(T));

// Where the thread's first vector of a tile begins; the others follow 32 vectors apart.
template <typename T, int B, int U> __device__ size_t place(int tile) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  return (size_t)tile * TILE<T, B, U> + (size_t)(warp * U * 32 + lane) * WIDE<T>;
}

template <typename T, int B, int U> __device__ bool is_full(int tile, size_t n) {
  return (size_t)(tile + 1) * TILE<T, B, U> <= n;
}

template <typename T, int B, int U> __device__ void load_tile(T (&a)[U][WIDE<T>], const T *x, size_t n, int tile) {
  typedef typename vector16<T>::type V;
  size_t at = place<T, B, U>(tile);
  if (is_full<T, B, U>(tile, n)) {
#pragma unroll
    for (int u = 0; u < U; u++) unpack(__ldcs((const V *)(x + at + u * 32 * WIDE<T>)), a[u]);
  } else {
#pragma unroll
    for (int u = 0; u < U; u++)
#pragma unroll
      for (int p = 0; p < WIDE<T>; p++) {
        size_t i = at + u * 32 * WIDE<T> + p;
        a[u][p] = i < n ? x[i] : (T)0;
      }
  }
}

// y = a + before
template <typename T, int B, int U>
__device__ void store_tile(T *y, const T (&a)[U][WIDE<T>], T before, size_t n, int tile) {
  typedef typename vector16<T>::type V;
  size_t at = place<T, B, U>(tile);
  if (is_full<T, B, U>(tile, n)) {
#pragma unroll
    for (int u = 0; u < U; u++) {
      T out[WIDE<T>];
#pragma unroll
      for (int p = 0; p < WIDE<T>; p++) out[p] = before + a[u][p];
      __stcs((V *)(y + at + u * 32 * WIDE<T>), pack(out));
    }
  } else {
#pragma unroll
    for (int u = 0; u < U; u++)
#pragma unroll
      for (int p = 0; p < WIDE<T>; p++) {
        size_t i = at + u * 32 * WIDE<T> + p;
        if (i < n) y[i] = before + a[u][p];
      }
  }
}

// Scans a warp's part of a tile where it is; its sum. The U scans are independent, and so hide each other's latency.
template <typename T, int U> __device__ T scan_part(T (&a)[U][WIDE<T>]) {
  int lane = threadIdx.x % 32;
  T s[U], run = 0;
#pragma unroll
  for (int u = 0; u < U; u++) {
#pragma unroll
    for (int p = 1; p < WIDE<T>; p++) a[u][p] += a[u][p - 1];
    s[u] = a[u][WIDE<T> - 1];
  }
#pragma unroll
  for (int k = 1; k < 32; k *= 2)
#pragma unroll
    for (int u = 0; u < U; u++) {
      T left = __shfl_up_sync(ALL, s[u], k);
      if (lane >= k) s[u] += left;
    }
#pragma unroll
  for (int u = 0; u < U; u++) {
    T left = __shfl_up_sync(ALL, s[u], 1);
    T before = run + (lane > 0 ? left : (T)0);
    run += __shfl_sync(ALL, s[u], 31);
#pragma unroll
    for (int p = 0; p < WIDE<T>; p++) a[u][p] += before;
  }
  return run;
}

// From the sums of a block's warps: the block's sum, and what lies before this warp.
template <typename T, int WARPS> __device__ T sum_of_block(const T *sums, T *before) {
  int warp = threadIdx.x / 32;
  T sum = 0;
#pragma unroll
  for (int v = 0; v < WARPS; v++) {
    if (v == warp) *before = sum;
    sum += sums[v];
  }
  return sum;
}

// ---- device helpers: what tiles pass each other ---------------------------------------------------------------------
// A status is a state and a value that become visible together: for f32 one 64-bit word, for f64 two, each with a half
// of the value and the state; halves of different states are taken as nothing yet. All is 0 at first.

typedef unsigned long long word;

#define NOTHING 0u
#define SUM     1u // of the tile
#define PREFIX  2u // of the tile and all before it

__device__ void publish(volatile word *status, int tile, unsigned state, float v) {
  status[tile] = (word)state << 32 | __float_as_uint(v);
}

__device__ void publish(volatile word *status, int tile, unsigned state, double v) {
  word bits = (word)__double_as_longlong(v);
  status[2 * (size_t)tile] = (word)state << 32 | bits >> 32;
  status[2 * (size_t)tile + 1] = (word)state << 32 | (bits & 0xffffffffu);
}

__device__ unsigned peek(const volatile word *status, int tile, float *v) {
  word w = status[tile];
  *v = __uint_as_float((unsigned)w);
  return (unsigned)(w >> 32);
}

__device__ unsigned peek(const volatile word *status, int tile, double *v) {
  word high = status[2 * (size_t)tile], low = status[2 * (size_t)tile + 1];
  *v = __longlong_as_double((long long)(high << 32 | (low & 0xffffffffu)));
  return high >> 32 == low >> 32 ? (unsigned)(low >> 32) : NOTHING;
}

// The sum of all tiles before this one, by one warp. It looks at 32 predecessors at a time, lane 0 at the nearest,
// until all are there that lie before the nearest known prefix.
template <typename T> __device__ T look_back(const volatile word *status, int tile) {
  int lane = threadIdx.x % 32;
  T sum = 0;
  unsigned known;
  int nearest = tile - 1;
  do {
    T value;
    unsigned nearer, missing;
    do {
      value = 0;
      unsigned state = nearest - lane >= 0 ? peek(status, nearest - lane, &value) : PREFIX;
      known = __ballot_sync(ALL, state == PREFIX);
      missing = __ballot_sync(ALL, state == NOTHING);
      nearer = (known & (0u - known)) - 1; // the bits below the lowest one of known; all, where it has none
    } while (missing & nearer);
    bool counts = (nearer >> lane & 1) || lane == __ffs(known) - 1;
    sum += sum_of_warp(counts ? value : (T)0);
    nearest -= 32;
  } while (!known);
  return sum;
}

// The sum of the tiles first .. last - 1, each thread every B-th of them; to be added up over the block.
template <typename T, int B> __device__ T sum_between(const volatile word *status, int first, int last) {
  T sum = 0;
  for (int tile = first + (int)threadIdx.x; tile < last; tile += B) {
    T value;
    while (peek(status, tile, &value) == NOTHING) {
    }
    sum += value;
  }
  return sum;
}

// ---- kernels: three launches ----------------------------------------------------------------------------------------

// Scan over a block of whole warps; part has room for 32.
template <typename T> __device__ T scan_of_block(T value, T *part) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  value = scan_of_warp(value);
  if (lane == 31) part[warp] = value;
  __syncthreads();
  T before = 0;
  for (int v = 0; v < 32; v++)
    if (v < warp) before += part[v];
  __syncthreads();
  return before + value;
}

template <typename T> __global__ void scan_tiles(T *y, T *totals, const T *x, size_t n) {
  __shared__ T part[32];
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  T sum = scan_of_block(i < n ? x[i] : (T)0, part);
  if (i < n) y[i] = sum;
  if (threadIdx.x == blockDim.x - 1) totals[blockIdx.x] = sum;
}

// One block, which walks over the totals with a carry.
template <typename T> __global__ void scan_totals(T *totals, int count) {
  __shared__ T part[32];
  __shared__ T last;
  T carry = 0;
  for (int first = 0; first < count; first += blockDim.x) {
    int i = first + threadIdx.x;
    T sum = carry + scan_of_block(i < count ? totals[i] : (T)0, part);
    if (i < count) totals[i] = sum;
    if (threadIdx.x == blockDim.x - 1) last = sum;
    __syncthreads();
    carry = last;
  }
}

template <typename T> __global__ void scan_add(T *y, const T *totals, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x > 0 && i < n) y[i] += totals[blockIdx.x - 1];
}

// ---- kernels: one launch --------------------------------------------------------------------------------------------

// Before each of the two below.
__global__ void scan_clear(word *status, int words, unsigned *ticket) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < words) status[i] = 0;
  if (i == 0) *ticket = 0;
}

// Blocks need not start in the order of their numbers; whoever comes next takes the next tile, so that all tiles before
// it are being worked on and no wait is for ever.
template <typename T, int B, int U>
__global__ void __launch_bounds__(B)
    scan_once(T *__restrict__ y, const T *__restrict__ x, size_t n, volatile word *status, unsigned *ticket) {
  __shared__ T sums[B / 32], prefix;
  __shared__ int mine;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) mine = (int)atomicAdd(ticket, 1u);
  __syncthreads();
  int tile = mine;
  T a[U][WIDE<T>];
  load_tile<T, B, U>(a, x, n, tile);
  T sum_here = scan_part<T, U>(a);
  if (lane == 0) sums[warp] = sum_here;
  __syncthreads();
  T before = 0, sum = sum_of_block<T, B / 32>(sums, &before);
  if (warp == 0) {
    if (lane == 0) publish(status, tile, tile > 0 ? SUM : PREFIX, sum);
    T earlier = tile > 0 ? look_back<T>(status, tile) : (T)0;
    if (lane == 0) {
      publish(status, tile, PREFIX, earlier + sum);
      prefix = earlier;
    }
  }
  __syncthreads();
  store_tile<T, B, U>(y, a, prefix + before, n, tile);
}

// All blocks must run at once: a cooperative launch. A tile is summed in one turn of the loop and written in the next,
// with the sums of the gridDim - 1 tiles since this block's last one; so a block has one turn more than tiles.
template <typename T, int B, int U>
__global__ void __launch_bounds__(B, 1)
    scan_rounds(T *__restrict__ y, const T *__restrict__ x, size_t n, volatile word *status) {
  __shared__ T sums[2][B / 32], windows[2][B / 32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, step = gridDim.x;
  int tiles = (int)((n + TILE<T, B, U> - 1) / TILE<T, B, U>);
  T now[U][WIDE<T>], next[U][WIDE<T>], held[U][WIDE<T>];
  T held_before = 0, held_sum = 0; // of the tile that is to be written
  T prefix = 0;                    // all up to and with the last one written
  int turn = 0;
  if (blockIdx.x < tiles) load_tile<T, B, U>(now, x, n, blockIdx.x);
  for (int tile = blockIdx.x, old = tile - step; old < tiles; old = tile, tile += step, turn ^= 1) {
    T before = 0, sum = 0;
    if (tile + step < tiles) load_tile<T, B, U>(next, x, n, tile + step);
    if (tile < tiles) {
      T sum_here = scan_part<T, U>(now);
      if (lane == 0) sums[turn][warp] = sum_here;
    }
    __syncthreads();
    if (tile < tiles) {
      sum = sum_of_block<T, B / 32>(sums[turn], &before);
      if (threadIdx.x == 0) publish(status, tile, SUM, sum);
    }
    if (old >= 0) {
      T window = sum_of_warp(sum_between<T, B>(status, old - step + 1 > 0 ? old - step + 1 : 0, old));
      if (lane == 0) windows[turn][warp] = window;
    }
    __syncthreads();
    if (old >= 0) {
      T ignored, earlier = prefix + sum_of_block<T, B / 32>(windows[turn], &ignored);
      prefix = earlier + held_sum;
      store_tile<T, B, U>(y, held, earlier + held_before, n, old);
    }
#pragma unroll
    for (int u = 0; u < U; u++)
#pragma unroll
      for (int p = 0; p < WIDE<T>; p++) {
        held[u][p] = now[u][p];
        now[u][p] = next[u][p];
      }
    held_before = before;
    held_sum = sum;
  }
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// Both arrays begin on a 16-byte boundary. tile = B * U * 16 / sizeof(T) elements, tiles = ceil(n / tile).
// scan_tiles, scan_add   block of whole warps, grid ceil(n / block); totals holds one per block
// scan_totals            grid 1, block of whole warps
// scan_clear             status holds 1 word per tile for float, 2 for double
// scan_once              block B, grid tiles
// scan_rounds            block B, grid min(tiles, multiprocessors * resident blocks), cooperative; <T, 512, 8> fits
