/* SPDX-License-Identifier: MIT
 *
 * The kernels of dev:sum, dev:min, dev:max, dev:norm and dev:dot: parts, one for each block, which the block that
 * comes last joins. A block has one contiguous piece, so the parts depend on the number of elements and on nothing else
 * of the device: the same bits in every run. In what type values are joined:
 *
 *   sum, dot   double of floats; 64 bits of integers, which wrap
 *   norm       double: squares
 *   min, max   the element's own type, of two-byte floats float
 *
 * reduce_wide is for a GPU, in blocks of 256 threads: 16 bytes per load, several in flight. If an array does not begin
 * at a multiple of 16 bytes (a view), the same elements are loaded one by one, so the order stays. reduce_lanes is for
 * the CPU device, in blocks of one thread: a thread's 32 lanes are one loop over vectors of the processor. NaN: a sum
 * with one is NaN; minimum and maximum skip them, and are +inf and -inf of nothing else. T as in array.cu.
 *
 * room: how many blocks are through, 0 before and after; the value, as a double or as 64 bits of an integer; the parts,
 * 8 bytes for each. */
#if defined(__has_include)
#if __has_include(<cuda_fp16.h>) && __has_include(<cuda_bf16.h>)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define HAS_SMALL_FLOATS 1
#endif
#endif

typedef unsigned long long u64;

enum operation { SUM, MIN, MAX, NORM, DOT };

/* {== What is joined =================================================== */

/* own: of a minimum; wide: of a sum, which has the bits of a long long as well. */
template <class T> struct number {
  typedef T own;
  typedef u64 wide;
  static __device__ __forceinline__ T most() { return (T)(~0ull >> (64 - 8 * sizeof(T) + (T(-1) < T(0)))); }
  static __device__ __forceinline__ T least() { return (T)(T(-1) < T(0) ? -most() - 1 : 0); }
};

template <class T> struct real {
  typedef T own;
  typedef double wide;
  static __device__ __forceinline__ T most() { return (T)__int_as_float(0x7f800000); }
  static __device__ __forceinline__ T least() { return -most(); }
};

template <> struct number<float> : real<float> {};
template <> struct number<double> : real<double> {};
#if defined(HAS_SMALL_FLOATS)
template <> struct number<__half> : real<float> {};
template <> struct number<__nv_bfloat16> : real<float> {};
#endif

template <class A, class B, bool FIRST> struct either { typedef A type; };
template <class A, class B> struct either<A, B, false> { typedef B type; };

template <class T, int OP> struct joined {
  typedef number<T> of;
  typedef typename either<typename of::own, typename of::wide, OP == MIN || OP == MAX>::type other;
  typedef typename either<double, other, OP == NORM>::type type;
};

template <class T, int OP> __device__ __forceinline__ typename joined<T, OP>::type none() {
  typedef typename joined<T, OP>::type A;
  return OP == MIN ? (A)number<T>::most() : OP == MAX ? (A)number<T>::least() : A(0);
}

/* A comparison with NaN is false. */
template <int OP, class A> __device__ __forceinline__ A join(A so_far, A value) {
  if (OP == MIN) return value < so_far ? value : so_far;
  if (OP == MAX) return value > so_far ? value : so_far;
  return so_far + value;
}

template <class T, int OP> __device__ __forceinline__ typename joined<T, OP>::type item(T x, T y) {
  typedef typename joined<T, OP>::type A;
  const A value = (A)(typename number<T>::own)x;
  return OP == NORM ? value * value : OP == DOT ? value * (A)(typename number<T>::own)y : value;
}

/* By thread 0 of each block. True in the last one: it sees the parts of all. */
template <class A> __device__ __forceinline__ bool comes_last(u64 *room, A value) {
  ((A *)(room + 2))[blockIdx.x] = value;
  __threadfence();
  const bool is_last = atomicAdd(room, 1ull) == gridDim.x - 1;
  __threadfence();
  return is_last;
}

__device__ __forceinline__ u64 bits_of(double value) { return (u64)__double_as_longlong(value); }
__device__ __forceinline__ u64 bits_of(float value) { return bits_of((double)value); }
template <class A> __device__ __forceinline__ u64 bits_of(A value) { return (u64)value; }

/* By one thread of the last block. */
template <class A> __device__ __forceinline__ void leave(u64 *room, A value) {
  room[1] = bits_of(value);
  room[0] = 0;
}

/* ==} */

/* {== A GPU ============================================================ */

/* 16 bytes of elements, the i-th of the array. */
template <class T> struct vector {
  T lane[16 / sizeof(T)];
};

template <class T, bool ALIGNED> __device__ __forceinline__ vector<T> load(const T *x, u64 i) {
  enum { LANES = 16 / sizeof(T) };
  vector<T> v;
  if (ALIGNED) {
    const uint4 bits = __ldcs((const uint4 *)x + i);
    memcpy(&v, &bits, sizeof v);
  } else {
#pragma unroll
    for (int k = 0; k < LANES; k++) v.lane[k] = x[i * LANES + k];
  }
  return v;
}

/* Small integers of a vector add up to an int: one addition of 64 bits for all of them. */
template <class T, int OP, class A> __device__ __forceinline__ A join_vectors(A so_far, vector<T> x, vector<T> y) {
  enum { LANES = 16 / sizeof(T), IN_INT = OP == SUM && sizeof(T) < sizeof(int) && (A)0.5 == 0 };
  typedef typename either<int, A, IN_INT>::type few;
  few value = IN_INT ? few(0) : (few)so_far;
#pragma unroll
  for (int k = 0; k < LANES; k++) value = join<OP>(value, (few)item<T, OP>(x.lane[k], y.lane[k]));
  return IN_INT ? join<OP>(so_far, (A)value) : (A)value;
}

/* With the value of the lane that is k further. */
template <int OP, class A> __device__ __forceinline__ A join_lanes(A value, int k) {
  return join<OP>(value, (A)__shfl_down_sync(0xffffffff, value, k));
}

/* The value of a block of 256 threads, in thread 0. Call it again only after a barrier. */
template <class T, int OP, class A> __device__ __forceinline__ A join_block(A value) {
  __shared__ A warps[8];
  for (int k = 16; k > 0; k /= 2) value = join_lanes<OP>(value, k);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x < 8 ? warps[threadIdx.x] : none<T, OP>();
  for (int k = 4; k > 0; k /= 2) value = join_lanes<OP>(value, k);
  return value;
}

namespace moonwarp {

/* piece: vectors of a block, of which the last one also has the elements that fill no vector. y: x but for DOT. */
template <class T, int OP, bool ALIGNED>
__global__ void __launch_bounds__(256)
reduce_wide(u64 *room, const T *x, const T *y, u64 n, u64 piece) {
  typedef typename joined<T, OP>::type A;
  enum { LANES = 16 / sizeof(T), THREADS = 256, FLIGHT = OP == DOT ? 4 : 8 };
  const u64 all = n / LANES, first = blockIdx.x * piece, last = first + piece < all ? first + piece : all;
  A value[FLIGHT];
#pragma unroll
  for (int f = 0; f < FLIGHT; f++) value[f] = none<T, OP>();
  u64 i = first + threadIdx.x;
  for (; i + (FLIGHT - 1) * THREADS < last; i += FLIGHT * THREADS) {
    vector<T> a[FLIGHT], b[FLIGHT];
#pragma unroll
    for (int f = 0; f < FLIGHT; f++) {
      a[f] = load<T, ALIGNED>(x, i + f * THREADS);
      b[f] = OP == DOT ? load<T, ALIGNED>(y, i + f * THREADS) : a[f];
    }
#pragma unroll
    for (int f = 0; f < FLIGHT; f++) value[f] = join_vectors<T, OP>(value[f], a[f], b[f]);
  }
  for (; i < last; i += THREADS) {
    const vector<T> a = load<T, ALIGNED>(x, i);
    value[0] = join_vectors<T, OP>(value[0], a, OP == DOT ? load<T, ALIGNED>(y, i) : a);
  }
  const u64 rest = all * LANES + threadIdx.x;
  if (blockIdx.x == gridDim.x - 1 && rest < n) value[0] = join<OP>(value[0], item<T, OP>(x[rest], y[rest]));
#pragma unroll
  for (int f = 1; f < FLIGHT; f++) value[0] = join<OP>(value[0], value[f]);
  A whole = join_block<T, OP>(value[0]);
  __shared__ bool is_last;
  if (threadIdx.x == 0) is_last = comes_last(room, whole);
  __syncthreads();
  if (!is_last) return;
  whole = none<T, OP>();
  for (u64 b = threadIdx.x; b < gridDim.x; b += THREADS) whole = join<OP>(whole, ((const A *)(room + 2))[b]);
  whole = join_block<T, OP>(whole);
  if (threadIdx.x == 0) leave(room, whole);
}

} // namespace moonwarp

/* ==} */

/* {== The CPU device =================================================== */

namespace moonwarp {

/* piece: elements of a block, which has one thread. */
template <class T, int OP>
__global__ void reduce_lanes(u64 *room, const T *x, const T *y, u64 n, u64 piece) {
  typedef typename joined<T, OP>::type A;
  enum { LANES = 32 };
  A value[LANES];
  const u64 first = blockIdx.x * piece, last = first + piece < n ? first + piece : n;
  for (int k = 0; k < LANES; k++) value[k] = none<T, OP>();
  u64 i = first;
  for (; i + LANES <= last; i += LANES)
    for (int k = 0; k < LANES; k++) value[k] = join<OP>(value[k], item<T, OP>(x[i + k], y[i + k]));
  for (; i < last; i++) value[0] = join<OP>(value[0], item<T, OP>(x[i], y[i]));
  for (int k = 1; k < LANES; k++) value[0] = join<OP>(value[0], value[k]);
  if (!comes_last(room, value[0])) return;
  A whole = none<T, OP>();
  for (u64 b = 0; b < gridDim.x; b++) whole = join<OP>(whole, ((const A *)(room + 2))[b]);
  leave(room, whole);
}

} // namespace moonwarp

/* ==} */
