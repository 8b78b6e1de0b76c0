// SPDX-License-Identifier: MIT
//
// reduce: one number out of an array: its sum, its least or greatest element; or out of two: the greatest |v|^2 of
// v = (x, y), the dot product.
//
// The ladder, first within a block: sums, one for each block (or warp), which a further launch adds
//   reduce_tree           halving tree in static shared memory, block of 256; bound: a barrier per step
//   reduce_strided        the same tree in the opposite order: the threads that work lie apart, so all warps stay
//                         busy to the end; bound: 8 times the warps' work of reduce_tree
//   reduce_dynamic        the same in dynamic shared memory, any block; bound: the same
//   reduce_last_warp      the tree until one warp is left, whose sum comes by shuffles; bound: four barriers, not 9
//   reduce_down           a warp's sum by shuffles down: no shared memory, no barrier; bound: 1/32 of the traffic more
//   reduce_butterfly      by shuffles across (xor): every lane has the sum, at no cost; bound: the same
//   reduce_shuffle        shuffles, then one shared stage over the warps' sums: one barrier; bound: main memory
// then over the grid, for every operation and type
//   reduce_parts          one part per block; the host joins them, or a second launch does; bound: that launch
//   reduce_atomic         one atomic operation per block; bound: blocks * (time of an atomic on one address)
//   reduce_cas            compare and swap until no other came between: any operation; bound: retries
//   reduce_lock           a lock and a fence, thread 0 of each block: any code at all; bound: blocks * (a round trip)
//   reduce_last           the block that finishes last joins the parts: one launch, one order; bound: main memory
//   reduce_once           16-byte streaming loads, several in flight per thread; bound: main memory
//   reduce_integers       sums, of numbers in units of 2^-32: a warp's by one instruction (__reduce_add_sync, sm_80 and
//                         newer), the grid's by atomics, to the same bits; bound: conversions, 16 per cycle
//
// Bound: main memory, bytes(x) / t: each element is read once. A grid of as many threads as elements shows what the
// tree itself costs; a grid of a few blocks per multiprocessor hides it behind the loads.
// Sources: S. Boerm, "Simulation and High-Performance Computing", part 16 (Kiel, 2020): tree. M. Giles, "CUDA
// Programming on NVIDIA GPUs", lectures 3 and 4 (Oxford; undated): dynamic to shuffle, parts joined by the host, atomic
// and lock for sums. M. Harris, "Optimizing parallel reduction in CUDA" (2007): strided, and parts joined by a second
// launch. CUDA C++ Programming Guide, atomic functions: cas. The toolkit's sample threadFenceReduction: last.
// Rounding: the error of a sum grows with the longest chain of additions, about eps * sqrt(chain) * sum |x| (N. Higham
// and T. Mary, 2019): the elements of a thread, then log2(block), then what joins the blocks. Which methods give the
// same bits in every run: those that join in a fixed order. atomic, cas and lock join in the order in which the blocks
// come, and integers need no order; a sum in another order rounds otherwise; a minimum or maximum does not round.
// NaN: a sum with one is NaN; minimum and maximum skip them, as fmin and fmax do, and are +inf and -inf of nothing.
// Define REAL for sums within a block in another type: dev:module{ file = "reduce.cu", defines = { REAL = "double" } }.

#include "vector16.cuh"

#ifndef REAL
#define REAL float
#endif

enum { SUM, MIN, MAX, LENGTH, DOT };

// ---- device helpers -------------------------------------------------------------------------------------------------

// A block has one contiguous piece of the array, of whole blocks of threads, so that its threads stay close together.
__device__ size_t piece(size_t n) {
  size_t threads = (size_t)gridDim.x * blockDim.x;
  return (n + threads - 1) / threads * blockDim.x;
}

// What one thread gathers of the piece before the block works together.
__device__ REAL gather(const REAL *x, size_t n) {
  REAL sum = 0;
  size_t size = piece(n), first = blockIdx.x * size, end = first + size < n ? first + size : n;
  for (size_t i = first + threadIdx.x; i < end; i += blockDim.x) sum += x[i];
  return sum;
}

// What an operation does: adds, and takes y as well as x.
__device__ constexpr bool adds(int op) { return op == SUM || op == DOT; }
__device__ constexpr bool takes_two(int op) { return op == LENGTH || op == DOT; }

// Of nothing; the pointer gives the type.
template <int OP, typename T> __device__ T none(const T *) {
  T infinity = (T)__int_as_float(0x7f800000);
  return adds(OP) ? (T)0 : OP == MIN ? infinity : -infinity;
}

// `so_far` begins as none and a comparison with NaN is false, so a NaN never gets in.
template <int OP, typename T> __device__ T join(T so_far, T value) {
  if (adds(OP)) return so_far + value;
  if (OP == MIN) return value < so_far ? value : so_far;
  return value > so_far ? value : so_far;
}

template <int OP, typename T> __device__ T item(T x, T y) {
  return OP == LENGTH ? x * x + y * y : OP == DOT ? x * y : x;
}

template <int OP, typename T> __device__ T gather_items(const T *x, const T *y, size_t n) {
  T value = none<OP>(x);
  size_t size = piece(n), first = blockIdx.x * size, end = first + size < n ? first + size : n;
  for (size_t i = first + threadIdx.x; i < end; i += blockDim.x)
    value = join<OP>(value, item<OP>(x[i], takes_two(OP) ? y[i] : x[i]));
  return value;
}

template <int OP, typename T> __device__ T join_warp(T value) {
  for (int k = 16; k > 0; k /= 2) value = join<OP>(value, __shfl_down_sync(0xffffffff, value, k));
  return value;
}

// The block's value, in thread 0. Call it again only after a barrier.
template <int OP, typename T> __device__ T join_block(T value) {
  __shared__ T warps[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, count = blockDim.x / 32;
  value = join_warp<OP>(value);
  if (lane == 0) warps[warp] = value;
  __syncthreads();
  value = lane < count ? warps[lane] : none<OP>(warps);
  return join_warp<OP>(value);
}

// There is no atomic minimum of floats, but their bits are ordered: those without a sign as integers are, those with
// one the other way round, and as unsigned integers all of these are above all of those.
__device__ void atomic_lower(float *to, float value) {
  int bits = __float_as_int(value);
  if (bits >= 0) atomicMin((int *)to, bits);
  else atomicMax((unsigned *)to, (unsigned)bits);
}

__device__ void atomic_raise(float *to, float value) {
  int bits = __float_as_int(value);
  if (bits >= 0) atomicMax((int *)to, bits);
  else atomicMin((unsigned *)to, (unsigned)bits);
}

__device__ void atomic_lower(double *to, double value) {
  long long bits = __double_as_longlong(value);
  if (bits >= 0) atomicMin((long long *)to, bits);
  else atomicMax((unsigned long long *)to, (unsigned long long)bits);
}

__device__ void atomic_raise(double *to, double value) {
  long long bits = __double_as_longlong(value);
  if (bits >= 0) atomicMax((long long *)to, bits);
  else atomicMin((unsigned long long *)to, (unsigned long long)bits);
}

template <int OP, typename T> __device__ void atomic_join(T *to, T value) {
  if (adds(OP)) atomicAdd(to, value);
  else if (OP == MIN) atomic_lower(to, value);
  else atomic_raise(to, value);
}

template <int OP> __device__ void swap_in(float *to, float value) {
  unsigned *word = (unsigned *)to;
  unsigned old = *word, seen; // moonwarp: race-ok a stale value costs another turn
  do {
    seen = old;
    old = atomicCAS(word, seen, __float_as_uint(join<OP>(__uint_as_float(seen), value)));
  } while (old != seen);
}

template <int OP> __device__ void swap_in(double *to, double value) {
  unsigned long long *word = (unsigned long long *)to;
  unsigned long long old = *word, seen; // moonwarp: race-ok a stale value costs another turn
  do {
    seen = old;
    double next = join<OP>(__longlong_as_double((long long)seen), value);
    old = atomicCAS(word, seen, (unsigned long long)__double_as_longlong(next));
  } while (old != seen);
}

template <int OP> __device__ float join_items(float so_far, float4 x, float4 y) {
  so_far = join<OP>(join<OP>(so_far, item<OP>(x.x, y.x)), item<OP>(x.y, y.y));
  return join<OP>(join<OP>(so_far, item<OP>(x.z, y.z)), item<OP>(x.w, y.w));
}

template <int OP> __device__ double join_items(double so_far, double2 x, double2 y) {
  return join<OP>(join<OP>(so_far, item<OP>(x.x, y.x)), item<OP>(x.y, y.y));
}

// gather_items in pieces of 16 bytes, U of them in flight, read past the caches' order of use (ld.cs).
template <int OP, int U, int B, typename T> __device__ T gather_vectors(const T *x, const T *y, size_t n) {
  typedef typename vector16<T>::type V;
  const int per = sizeof(V) / sizeof(T);
  const V *xv = (const V *)x, *yv = (const V *)(takes_two(OP) ? y : x);
  size_t count = n / per, step = (size_t)gridDim.x * B * U, i = (size_t)blockIdx.x * B * U + threadIdx.x;
  T value[U];
#pragma unroll
  for (int u = 0; u < U; u++) value[u] = none<OP>(x);
  for (; i + (U - 1) * B < count; i += step) {
    V a[U], b[U];
#pragma unroll
    for (int u = 0; u < U; u++) {
      a[u] = __ldcs(xv + i + u * B);
      b[u] = takes_two(OP) ? __ldcs(yv + i + u * B) : a[u];
    }
#pragma unroll
    for (int u = 0; u < U; u++) value[u] = join_items<OP>(value[u], a[u], b[u]);
  }
  for (; i < count; i += B) value[0] = join_items<OP>(value[0], xv[i], yv[i]);
  size_t rest = count * per + threadIdx.x;
  if (blockIdx.x == 0 && rest < n) value[0] = join<OP>(value[0], item<OP>(x[rest], takes_two(OP) ? y[rest] : x[rest]));
#pragma unroll
  for (int u = 1; u < U; u++) value[0] = join<OP>(value[0], value[u]);
  return value[0];
}

// True in every thread of the block that comes last. The fence before the ticket lets every block's part be seen
// before its ticket is.
template <typename T> __device__ bool comes_last(T *parts, unsigned *ticket, T value) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = value;
    __threadfence();
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  return last;
}

// What the last block does: the parts in the order of the blocks, from L2 (ld.cg), where the others left them.
template <int OP, typename T> __device__ void finish(T *out, const T *parts, unsigned *ticket) {
  T value = none<OP>(parts);
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) value = join<OP>(value, __ldcg(parts + b));
  value = join_block<OP>(value);
  if (threadIdx.x == 0) {
    out[0] = value;
    *ticket = 0; // for the next launch
  }
}

// ---- kernels: a block or a warp -------------------------------------------------------------------------------------

__global__ void __launch_bounds__(256) reduce_tree(REAL *sums, const REAL *x, size_t n) {
  __shared__ REAL part[256];
  int it = threadIdx.x;
  part[it] = gather(x, n);
  __syncthreads();
  for (int k = 128; k > 0; k /= 2) {
    if (it < k) part[it] += part[it + k];
    __syncthreads();
  }
  if (it == 0) sums[blockIdx.x] = part[0];
}

__global__ void __launch_bounds__(256) reduce_strided(REAL *sums, const REAL *x, size_t n) {
  __shared__ REAL part[256];
  int it = threadIdx.x;
  part[it] = gather(x, n);
  __syncthreads();
  for (int k = 1; k < 256; k *= 2) {
    if (it % (2 * k) == 0) part[it] += part[it + k];
    __syncthreads();
  }
  if (it == 0) sums[blockIdx.x] = part[0];
}

// Of an odd number of values the middle one waits for the next step.
__global__ void reduce_dynamic(REAL *sums, const REAL *x, size_t n) {
  extern __shared__ REAL parts[];
  int it = threadIdx.x;
  parts[it] = gather(x, n);
  __syncthreads();
  for (int count = blockDim.x; count > 1; count = (count + 1) / 2) {
    if (it < count / 2) parts[it] += parts[it + (count + 1) / 2];
    __syncthreads();
  }
  if (it == 0) sums[blockIdx.x] = parts[0];
}

__global__ void __launch_bounds__(256) reduce_last_warp(REAL *sums, const REAL *x, size_t n) {
  __shared__ REAL part[256];
  int it = threadIdx.x;
  part[it] = gather(x, n);
  __syncthreads();
  for (int k = 128; k >= 32; k /= 2) {
    if (it < k) part[it] += part[it + k];
    __syncthreads();
  }
  if (it >= 32) return;
  REAL value = part[it];
  for (int k = 16; k > 0; k /= 2) value += __shfl_down_sync(0xffffffff, value, k);
  if (it == 0) sums[blockIdx.x] = value;
}

__global__ void reduce_down(REAL *sums, const REAL *x, size_t n) {
  REAL value = gather(x, n);
  for (int k = 16; k > 0; k /= 2) value += __shfl_down_sync(0xffffffff, value, k);
  if (threadIdx.x % 32 == 0) sums[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = value;
}

__global__ void reduce_butterfly(REAL *sums, const REAL *x, size_t n) {
  REAL value = gather(x, n);
  for (int k = 1; k < 32; k *= 2) value += __shfl_xor_sync(0xffffffff, value, k);
  if (threadIdx.x % 32 == 0) sums[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = value;
}

__global__ void reduce_shuffle(REAL *sums, const REAL *x, size_t n) {
  __shared__ REAL warps[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, count = blockDim.x / 32;
  REAL value = gather(x, n);
  for (int k = 16; k > 0; k /= 2) value += __shfl_down_sync(0xffffffff, value, k);
  if (lane == 0) warps[warp] = value;
  __syncthreads();
  value = lane < count ? warps[lane] : (REAL)0;
  for (int k = 16; k > 0; k /= 2) value += __shfl_down_sync(0xffffffff, value, k);
  if (threadIdx.x == 0) sums[blockIdx.x] = value;
}

// ---- kernels: the grid ----------------------------------------------------------------------------------------------

template <typename T, int OP> __global__ void reduce_parts(T *parts, const T *x, const T *y, size_t n) {
  T value = join_block<OP>(gather_items<OP>(x, y, n));
  if (threadIdx.x == 0) parts[blockIdx.x] = value;
}

// Before reduce_atomic to reduce_lock, whose blocks find a value to join.
template <typename T, int OP> __global__ void reduce_begin(T *out) {
  out[0] = none<OP>(out);
}

template <typename T, int OP> __global__ void reduce_atomic(T *out, const T *x, const T *y, size_t n) {
  T value = join_block<OP>(gather_items<OP>(x, y, n));
  if (threadIdx.x == 0) atomic_join<OP>(out, value);
}

template <typename T, int OP> __global__ void reduce_cas(T *out, const T *x, const T *y, size_t n) {
  T value = join_block<OP>(gather_items<OP>(x, y, n));
  if (threadIdx.x == 0) swap_in<OP>(out, value);
}

// Only thread 0 takes the lock: where the threads of a warp move together, one that waits keeps the one that has the
// lock from giving it back. The first fence lets the block see the value of the one before it, the second lets the
// next one see its own.
template <typename T, int OP>
__global__ void reduce_lock(T *out, unsigned *lock, const T *x, const T *y, size_t n) {
  T value = join_block<OP>(gather_items<OP>(x, y, n));
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0u, 1u) != 0u) {}
    __threadfence();
    volatile T *shared_value = out;
    *shared_value = join<OP>((T)*shared_value, value);
    __threadfence();
    atomicExch(lock, 0u);
  }
}

template <typename T, int OP>
__global__ void reduce_last(T *out, T *parts, unsigned *ticket, const T *x, const T *y, size_t n) {
  T value = join_block<OP>(gather_items<OP>(x, y, n));
  if (comes_last(parts, ticket, value)) finish<OP>(out, parts, ticket);
}

// Two blocks of 1024 threads per multiprocessor need at most 32 registers per thread; a sum needs no bound (0).
template <typename T, int OP, int U, int B>
__global__ void __launch_bounds__(B, OP != SUM && B == 1024 ? 2 : 0)
reduce_once(T *out, T *parts, unsigned *ticket, const T *x, const T *y, size_t n) {
  T value;
  value = gather_vectors<OP, U, B>(x, y, n);
  value = join_block<OP>(value);
  if (comes_last(parts, ticket, value)) finish<OP>(out, parts, ticket);
}

// A warp's sum, in lane 0.
__device__ int add_warp(int value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  return join_warp<SUM>(value);
#else
  return __reduce_add_sync(0xffffffff, value);
#endif
}

// A thread's sum is below 2^17. It goes in two parts, since the instruction takes 32 bits.
template <typename T>
__global__ void reduce_integers(T *out, unsigned long long *total, unsigned *ticket, const T *x, size_t n) {
  const T unit = 4294967296;
  long long sum = 0;
  size_t size = piece(n), first = blockIdx.x * size, end = first + size < n ? first + size : n;
  for (size_t i = first + threadIdx.x; i < end; i += blockDim.x) sum += (long long)rint(x[i] * unit);
  int low = add_warp((int)(sum & 0xffffff)), high = add_warp((int)(sum >> 24));
  if (threadIdx.x % 32 == 0) {
    atomicAdd(total, (unsigned long long)((long long)high * (1 << 24) + low));
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(ticket, 1u) == gridDim.x - 1) {
    out[0] = (T)((double)(long long)atomicExch(total, 0ull) / unit);
    *ticket = 0; // for the next launch
  }
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// reduce_tree, _strided, _last_warp  block 256, any grid; sums holds one element per block
// reduce_dynamic                 any block, shared = block * sizeof(REAL)
// reduce_down, reduce_butterfly  block 32 * k; sums holds one element per warp
// reduce_shuffle                 block 32 * k, k <= 32
// the grid's: reduce_parts<float,MIN> and the like, block 32 * k, any grid; y is null but for LENGTH and DOT
// reduce_parts    parts: one per block; a second launch of one block joins them (those of LENGTH by MAX, of DOT by SUM)
// reduce_lock     the lock is 0 before and after
// reduce_last     parts: one per block; the ticket is 0 before and after
// reduce_integers block 32 * k, any grid; total and ticket are 0 before and after
// reduce_once     <T, OP, U, B>: block B; x and y 16-byte aligned; U = 4, B = 1024, 2 blocks per multiprocessor
