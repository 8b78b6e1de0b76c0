// SPDX-License-Identifier: MIT
//
// recurrence: v[i] = s[i] * v[i - 1] + u[i] from v[-1] = 0 on, and the running sum, which it is for s = 1.
//
// A pair (s, u) stands for the step v -> s v + u. Two steps in a row are a step: (s1, u1), then (s2, u2) are
// (s2 s1, s2 u1 + u2). So a scan of pairs is the solution: its u. The kernels take the elements and their operator as
// OP: element<T,2>, pairs, or element<T,1> for the running sum; T is float or double. Pairs do not commute: the earlier
// one always comes first.
//
// The ladder
//   recurrence_blocks<OP, BARRIERS>     each block scans its own elements, one per thread, in shared memory, from
//                 doubling distances, with two barriers each (W. D. Hillis and G. L. Steele, 1986); the host scans what
//                 the blocks leave, and recurrence_finish gives each block what lies before it
//   recurrence_blocks<OP, WARPS>     the same by shuffles: warps first, then the warps' totals
//   recurrence_in_order     one launch: a block takes the next number, scans, waits for the block before it, and hands
//                 a running total on
//   recurrence_rounds     16 bytes per load; as many blocks as run at once take tiles in rounds, publish what a tile
//                 comes to, and write it a round later, when all tiles between are there (as scan_rounds); tiles are
//                 copied to shared memory AHEAD rounds before, so that memory is busy while a block scans and waits
//
// Bound: main memory; bytes of u and v, and s, each moved once. recurrence_blocks moves u, u, v and v (for pairs s'
// as well): 1/2 of a copy for sums, 3/7 for pairs, and the host takes longer than both kernels. In order a block waits
// for the one before: its bytes over some 1 to 2 us, the way of a word through the second-level cache and back. Rounds
// wait for nothing.
//
// Sources: M. Giles and W. Armour, "CUDA Programming on NVIDIA GPUs" (Oxford; undated, the latest year named is 2023),
// lecture 4, p. 22 to 37: all but rounds. Its counters (p. 31 and 32) are never set back, so that a second launch is
// wrong, and `sum` and `local` (p. 33) are not declared; here recurrence_clear sets the counters back.

#include <cuda_pipeline.h>

#include "vector16.cuh"

#define ALL 0xffffffffu

enum method { BARRIERS, WARPS };

// ---- device helpers: elements ---------------------------------------------------------------------------------------

// The step v -> s v + u: u, then s. Of a running sum there is no s, which is 1.
template <typename T, int COUNT> struct element {
  typedef T type;
  static const int SIZE = COUNT;
  T at[COUNT];
};

template <typename OP, typename T> __device__ OP make(T s, T u) {
  OP a;
  a.at[OP::SIZE - 1] = s;
  a.at[0] = u;
  return a;
}

template <typename OP> __device__ typename OP::type slope(OP a) {
  return OP::SIZE > 1 ? a.at[OP::SIZE - 1] : 1;
}

// The element that changes nothing.
template <typename OP> __device__ OP nothing() {
  typedef typename OP::type T;
  return make<OP>((T)1, (T)0);
}

// What `first` and then `next` come to.
template <typename OP> __device__ OP join(OP first, OP next) {
  typedef typename OP::type T;
  T s = slope(next);
  return make<OP>((T)(s * slope(first)), (T)(s * first.at[0] + next.at[0]));
}

template <typename OP> __device__ OP from_below(OP a, int k) {
#pragma unroll
  for (int p = 0; p < OP::SIZE; p++) a.at[p] = __shfl_up_sync(ALL, a.at[p], k);
  return a;
}

template <typename OP> __device__ OP of_lane(OP a, int lane) {
#pragma unroll
  for (int p = 0; p < OP::SIZE; p++) a.at[p] = __shfl_sync(ALL, a.at[p], lane);
  return a;
}

// ---- device helpers: warps and blocks -------------------------------------------------------------------------------

template <typename OP> __device__ OP scan_of_warp(OP a) {
  int lane = threadIdx.x % 32;
#pragma unroll
  for (int k = 1; k < 32; k *= 2) {
    OP left = from_below(a, k);
    if (lane >= k) a = join(left, a);
  }
  return a;
}

// What the warps before this one come to, and all of them.
template <typename OP> __device__ OP before_warp(const OP *totals, int warps, OP *whole) {
  OP before = nothing<OP>(), all = before;
#pragma unroll
  for (int w = 0; w < warps; w++) {
    if (w == (int)threadIdx.x / 32) before = all;
    all = join(all, totals[w]);
  }
  *whole = all;
  return before;
}

// Scan over a block of whole warps by shuffles; `totals` has room for its warps.
template <typename OP> __device__ OP scan_of_block(OP a, OP *totals, OP *whole) {
  a = scan_of_warp(a);
  if (threadIdx.x % 32 == 31) totals[threadIdx.x / 32] = a;
  __syncthreads();
  return join(before_warp(totals, blockDim.x / 32, whole), a);
}

template <typename OP, typename T> __device__ OP element_of(const T *s, const T *u, size_t i, size_t n) {
  return i < n ? make<OP>(OP::SIZE > 1 ? s[i] : (T)1, u[i]) : nothing<OP>();
}

// ---- device helpers: what tiles pass each other ---------------------------------------------------------------------
// 32 bits of an element go with a flag in a word of 64, so that each becomes visible with its flag. The flag is the
// number of the launch: words of earlier launches need not be cleared.

typedef unsigned long long word;

template <typename OP> union pieces {
  OP value;
  unsigned at[sizeof(OP) / 4];
  __device__ pieces() {}
};

template <typename OP> __device__ void publish(volatile word *status, int tile, OP value, unsigned flag) {
  pieces<OP> parts;
  parts.value = value;
#pragma unroll
  for (int k = 0; k < (int)sizeof(OP) / 4; k++) status[tile * (sizeof(OP) / 4) + k] = (word)flag << 32 | parts.at[k];
}

template <typename OP> struct words { word at[sizeof(OP) / 4]; };

// What is there now. The loads are in flight together, and until the words are used.
template <typename OP> __device__ words<OP> look(const volatile word *status, int tile) {
  words<OP> seen;
#pragma unroll
  for (int k = 0; k < (int)sizeof(OP) / 4; k++) seen.at[k] = status[tile * (sizeof(OP) / 4) + k];
  return seen;
}

// The element, of which `seen` was there before; waits for it.
template <typename OP> __device__ OP published(words<OP> seen, const volatile word *status, int tile, unsigned flag) {
  pieces<OP> parts;
  for (;;) {
    bool is_there = true;
#pragma unroll
    for (int k = 0; k < (int)sizeof(OP) / 4; k++) is_there = is_there && (unsigned)(seen.at[k] >> 32) == flag;
    if (is_there) break;
    seen = look<OP>(status, tile);
  }
#pragma unroll
  for (int k = 0; k < (int)sizeof(OP) / 4; k++) parts.at[k] = (unsigned)seen.at[k];
  return parts.value;
}

// ---- kernels: three launches, and one in order ----------------------------------------------------------------------

// slopes: s' of each element, of pairs only. totals: what each block comes to, s after s, then u after u.
template <typename OP, int METHOD, typename T = typename OP::type>
__global__ void recurrence_blocks(T *v, T *slopes, T *totals, const T *s, const T *u, size_t n) {
  extern __shared__ double room[]; // an element per thread, or per warp
  OP *part = (OP *)room, whole;
  int t = threadIdx.x;
  size_t i = (size_t)blockIdx.x * blockDim.x + t;
  OP a = element_of<OP>(s, u, i, n);
  if (METHOD == WARPS) {
    a = scan_of_block(a, part, &whole);
  } else {
    part[t] = a;
    for (int d = 1; d < (int)blockDim.x; d *= 2) {
      __syncthreads();
      OP left = t >= d ? part[t - d] : nothing<OP>();
      __syncthreads();
      part[t] = a = join(left, a);
    }
  }
  if (i < n) {
    v[i] = a.at[0];
    if (OP::SIZE > 1) slopes[i] = slope(a);
  }
  if (t == (int)blockDim.x - 1) {
    if (OP::SIZE > 1) totals[gridDim.x + blockIdx.x] = slope(a);
    totals[blockIdx.x] = a.at[0];
  }
}

// v = slopes * before + v, where before[block] is the v before a block.
template <typename OP, typename T = typename OP::type>
__global__ void recurrence_finish(T *v, const T *slopes, const T *before, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] += (OP::SIZE > 1 ? slopes[i] : (T)1) * before[blockIdx.x];
}

// Before each of the next.
__global__ void recurrence_clear(unsigned *counters) {
  if (threadIdx.x < 2) counters[threadIdx.x] = 0;
}

// counters: blocks that have begun, blocks that have handed on; total: v at the end of the latter.
template <typename OP, typename T = typename OP::type>
__global__ void recurrence_in_order(T *v, T *total, volatile unsigned *counters, const T *s, const T *u, size_t n) {
  __shared__ OP part[32];
  __shared__ unsigned number;
  __shared__ T before;
  if (threadIdx.x == 0) number = atomicAdd((unsigned *)counters, 1u);
  __syncthreads();
  size_t i = (size_t)number * blockDim.x + threadIdx.x;
  OP whole, a = scan_of_block(element_of<OP>(s, u, i, n), part, &whole);
  if (threadIdx.x == 0) {
    while (counters[1] < number) {
    }
    __threadfence();
    before = number > 0 ? *total : (T)0;
    *total = whole.at[0] + slope(whole) * before;
    __threadfence();
    counters[1] = number + 1;
  }
  __syncthreads();
  if (i < n) v[i] = a.at[0] + slope(a) * before;
}

// ---- kernels: in rounds ---------------------------------------------------------------------------------------------
// A tile is B * U vectors of 16 bytes, of each array. A warp's are together, and its lanes take them in turn.

template <typename OP, int U> struct tile {
  static const int WIDE = 16 / sizeof(typename OP::type);
  OP a[U][WIDE];
};

template <typename OP, int B, int U> __device__ size_t place(int tile) {
  const int WIDE = 16 / sizeof(typename OP::type);
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  return ((size_t)tile * B * U + warp * U * 32 + lane) * WIDE;
}

// Copies a tile to `stage`, of U * B vectors of each array, while the thread goes on; zeros follow the arrays' end.
template <typename OP, int B, int U, typename V, typename T>
__device__ void load_stage(V *stage, const T *s, const T *u, size_t n, int number) {
  const int WIDE = tile<OP, U>::WIDE;
  size_t at = place<OP, B, U>(number);
#pragma unroll
  for (int k = 0; k < U; k++) {
    size_t i = at + k * 32 * WIDE, left = i < n ? n - i : 0, missing = left < WIDE ? (WIDE - left) * sizeof(T) : 0;
    V *to = stage + k * B + threadIdx.x;
    __pipeline_memcpy_async(to, u + i, 16, missing);
    if (OP::SIZE > 1) __pipeline_memcpy_async(to + U * B, s + i, 16, missing);
  }
}

// A thread reads what it has copied itself, so that no barrier is needed.
template <typename OP, int B, int U, typename V> __device__ void read_stage(tile<OP, U> &t, const V *stage) {
  const int WIDE = tile<OP, U>::WIDE;
#pragma unroll
  for (int k = 0; k < U; k++) {
    typename OP::type terms[WIDE], slopes[WIDE] = {};
    unpack(stage[k * B + threadIdx.x], terms);
    if (OP::SIZE > 1) unpack(stage[(U + k) * B + threadIdx.x], slopes);
#pragma unroll
    for (int p = 0; p < WIDE; p++) t.a[k][p] = make<OP>(slopes[p], terms[p]);
  }
}

template <typename OP, int B, int U, typename T>
__device__ void store_tile(T *v, const tile<OP, U> &from, T before, size_t n, int number) {
  const int WIDE = tile<OP, U>::WIDE;
  typedef typename vector16<T>::type V;
  size_t at = place<OP, B, U>(number);
  bool is_full = (size_t)(number + 1) * B * U * WIDE <= n;
#pragma unroll
  for (int k = 0; k < U; k++) {
    T out[WIDE];
#pragma unroll
    for (int p = 0; p < WIDE; p++) out[p] = from.a[k][p].at[0] + slope(from.a[k][p]) * before;
    size_t i = at + k * 32 * WIDE;
    if (is_full) {
      __stcs((V *)(v + i), pack(out));
    } else {
#pragma unroll
      for (int p = 0; p < WIDE; p++)
        if (i + p < n) v[i + p] = out[p];
    }
  }
}

// Scans a warp's part of a tile where it is; what it comes to. The U scans are independent until their totals are
// joined.
template <typename OP, int U> __device__ OP scan_part(tile<OP, U> &t) {
  const int WIDE = tile<OP, U>::WIDE;
  int lane = threadIdx.x % 32;
  OP sums[U], run = nothing<OP>();
#pragma unroll
  for (int k = 0; k < U; k++) {
#pragma unroll
    for (int p = 1; p < WIDE; p++) t.a[k][p] = join(t.a[k][p - 1], t.a[k][p]);
    sums[k] = scan_of_warp(t.a[k][WIDE - 1]);
  }
#pragma unroll
  for (int k = 0; k < U; k++) {
    OP left = from_below(sums[k], 1), before = lane > 0 ? join(run, left) : run;
    run = join(run, of_lane(sums[k], 31));
#pragma unroll
    for (int p = 0; p < WIDE; p++) t.a[k][p] = join(before, t.a[k][p]);
  }
  return run;
}

// What the tiles of a warp's threads come to.
template <typename OP> __device__ void join_window(OP *windows, OP tile) {
  tile = scan_of_warp(tile);
  if (threadIdx.x % 32 == 31) windows[threadIdx.x / 32] = tile;
}

// All blocks must run at once, and be at most B: a cooperative launch. Thread t joins the t-th of the tiles between.
// With EARLY it asks for it before the scan and waits before its block publishes, with one barrier per round; else it
// asks when its block has published. The first is faster for pairs, the second for numbers.
template <typename OP, int B, int U, int AHEAD, bool EARLY, typename T = typename OP::type>
__global__ void __launch_bounds__(B, 1)
    recurrence_rounds(T *v, const T *s, const T *u, size_t n, volatile word *status, unsigned flag) {
  typedef typename vector16<T>::type V;
  enum { STAGES = AHEAD + 1, SIZE = OP::SIZE * U * B }; // SIZE: vectors of a stage
  extern __shared__ double room[];
  __shared__ OP sums[2][B / 32], windows[2][B / 32];
  V *stages = (V *)room;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, step = gridDim.x;
  int tiles = (int)((n - 1) / ((size_t)B * U * tile<OP, U>::WIDE)) + 1;
  int rounds = (tiles - (int)blockIdx.x + step - 1) / step; // in which this block scans; it writes in one more
  tile<OP, U> now, held;
  OP held_before = nothing<OP>(), held_whole = held_before; // of the tile that is to be written
  T v_end = 0;                                              // v at the end of the last one written
  for (int r = 0; r < AHEAD; r++) {
    if (r < rounds) load_stage<OP, B, U>(stages + r * SIZE, s, u, n, blockIdx.x + r * step);
    __pipeline_commit();
  }
  for (int r = 0; r <= rounds; r++) {
    OP before = nothing<OP>(), whole = before, between = before;
    int mine = blockIdx.x + r * step, old = mine - step;
    int other = old - step + 1 + (int)threadIdx.x; // the tiles since this block's last one: old - step + 1 to old - 1
    bool is_between = other >= 0 && other < old;
    words<OP> seen = {};
    if (r + AHEAD < rounds) load_stage<OP, B, U>(stages + (r + AHEAD) % STAGES * SIZE, s, u, n, mine + AHEAD * step);
    __pipeline_commit();
    __pipeline_wait_prior(AHEAD);
    if (EARLY && is_between) seen = look<OP>(status, other);
    if (r < rounds) {
      read_stage<OP, B, U>(now, stages + r % STAGES * SIZE);
      OP sum = scan_part<OP, U>(now);
      if (lane == 0) sums[r % 2][warp] = sum;
    }
    if (EARLY) {
      if (is_between) between = published<OP>(seen, status, other, flag);
      join_window(windows[r % 2], between);
    }
    __syncthreads();
    if (r < rounds) {
      before = before_warp(sums[r % 2], B / 32, &whole);
      if (threadIdx.x == 0) publish(status, mine, whole, flag);
    }
    if (!EARLY) {
      if (is_between) between = published<OP>(seen, status, other, flag);
      join_window(windows[r % 2], between);
      __syncthreads();
    }
    if (r > 0) {
      before_warp(windows[r % 2], B / 32, &between);
      T start = between.at[0] + slope(between) * v_end;
      v_end = held_whole.at[0] + slope(held_whole) * start;
      store_tile<OP, B, U>(v, held, held_before.at[0] + slope(held_before) * start, n, old);
    }
    held = now;
    held_before = before;
    held_whole = whole;
  }
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// OP is element<T,1> for sums, of which s and slopes are null, or element<T,2>. n is at least 1; s, u and v begin on a
// boundary of 16 bytes.
// recurrence_blocks    block of whole warps, grid ceil(n / block), shared: an element per thread; totals: SIZE a block
// recurrence_finish    the same grid and block
// recurrence_clear     two counters; block 32, grid 1
// recurrence_in_order  block of whole warps, grid ceil(n / block)
// recurrence_rounds    block B, grid min(tiles, B, blocks that run at once), cooperative; a tile has B * U * 16 /
//                      sizeof(T) elements; shared: AHEAD + 1 stages of B * U * 16 bytes per array; sums with 512, 8 and
//                      pairs with 512, 4 fit into the registers. status: sizeof(OP) / 4 words per tile, 0 before the
//                      first launch; flag: 1, 2, ... from launch to launch
