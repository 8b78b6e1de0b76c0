/* SPDX-License-Identifier: MIT
 *
 * The kernels of a:fill, a:linspace and a:random on both devices. One thread per element, x only: blocks of any
 * size, enough of them for n threads.
 *
 * Random elements depend only on (seed, offset + i): a Philox4x32-10 counter (Salmon, Moraes, Dror and Shaw, "Parallel
 * random numbers: as easy as 1, 2, 3", SC 2011) gives each element its 128 bits. The same seed gives the same bits on
 * every device: integers are exact, and the floating arithmetic is + - * / and sqrt in double precision, which IEEE 754
 * fixes to the last bit as long as nothing is contracted. Compile this file with contract = false and without fast
 * mathematics.
 *
 * T is one of __half, __nv_bfloat16, float, double, signed char, short, int, long long and their unsigned kinds. The
 * two-byte floats need CUDA's headers; without those the other types still compile. */
#if defined(__has_include)
#if __has_include(<cuda_fp16.h>) && __has_include(<cuda_bf16.h>)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define HAS_SMALL_FLOATS 1
#endif
#endif

typedef unsigned long long u64;

/* {== Element types ==================================================== */

/* How a double becomes a T, and of how many bits a uniform number in [0, 1) is made so that T holds it exactly.
 * Integers: to nearest even, held within their range. */
template <class T> struct element {
  static __device__ __forceinline__ T from(double v) {
    const bool is_signed = T(-1) < T(0);
    const int bits = 8 * sizeof(T) - is_signed;
    const T most = (T)(~0ull >> (64 - bits)), least = is_signed ? (T)(-most - 1) : T(0);
    const double beyond = (double)(1ull << (bits - 1)) * 2, r = rint(v);
    if (r != r) return T(0);
    return r >= beyond ? most : r <= (double)least ? least : (T)r;
  }
};

template <> struct element<float> {
  enum { digits = 24 };
  static __device__ __forceinline__ float from(double v) { return (float)v; }
};
template <> struct element<double> {
  enum { digits = 53 };
  static __device__ __forceinline__ double from(double v) { return v; }
};
#if defined(HAS_SMALL_FLOATS)
template <> struct element<__half> {
  enum { digits = 11 };
  static __device__ __forceinline__ __half from(double v) { return __float2half_rn((float)v); }
};
template <> struct element<__nv_bfloat16> {
  enum { digits = 8 };
  static __device__ __forceinline__ __nv_bfloat16 from(double v) { return __float2bfloat16_rn((float)v); }
};
#endif

/* ==} */

/* {== Random bits ====================================================== */

struct random_bits {
  unsigned word[4];
  __device__ __forceinline__ u64 first() const { return (u64)word[1] << 32 | word[0]; }
  __device__ __forceinline__ u64 second() const { return (u64)word[3] << 32 | word[2]; }
};

__device__ __forceinline__ random_bits philox4x32_10(random_bits counter, unsigned key0, unsigned key1) {
  unsigned c0 = counter.word[0], c1 = counter.word[1], c2 = counter.word[2], c3 = counter.word[3];
#pragma unroll
  for (int round = 0; round < 10; round++) {
    const u64 p0 = (u64)0xd2511f53u * c0, p1 = (u64)0xcd9e8d57u * c2;
    c0 = (unsigned)(p1 >> 32) ^ c1 ^ key0;
    c1 = (unsigned)p1;
    c2 = (unsigned)(p0 >> 32) ^ c3 ^ key1;
    c3 = (unsigned)p0;
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return random_bits{{c0, c1, c2, c3}};
}

__device__ __forceinline__ random_bits random_of(u64 seed, u64 index) {
  const random_bits counter = {{(unsigned)index, (unsigned)(index >> 32), 0, 0}};
  return philox4x32_10(counter, (unsigned)seed, (unsigned)(seed >> 32));
}

/* The upper 64 bits of a*b, by halves: this form vectorises on a CPU. */
__device__ __forceinline__ u64 multiply_high(u64 a, u64 b) {
  const u64 a0 = (unsigned)a, a1 = a >> 32, b0 = (unsigned)b, b1 = b >> 32;
  const u64 middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (unsigned)middle;
  return a1 * b1 + (middle >> 32) + (other >> 32);
}

/* ==} */

/* {== Elementary functions ============================================= */

/* A polynomial by Horner's rule, coefficients from the highest power down. */
template <int N> __device__ __forceinline__ double horner(double x, const double (&c)[N]) {
  double sum = c[0];
#pragma unroll
  for (int i = 1; i < N; i++) sum = sum * x + c[i];
  return sum;
}

/* ln(u) for normal u > 0, within 2 units in the last place: u = m 2^e, m in [sqrt(1/2), sqrt(2)), and
 * ln(m) = 2 atanh((m-1)/(m+1)), whose series to s^21 is short of 2^-56. */
__device__ __forceinline__ double natural_log(double u) {
  const double series[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
                           1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};
  /* Adding 1 - sqrt(1/2) to the mantissa's bits carries into the exponent where m would be sqrt(2) or more. */
  const u64 bits = (u64)__double_as_longlong(u) + (0x3ff0000000000000ull - 0x3fe6a09e667f3bcdull);
  const int e = (int)(bits >> 52) - 1023;
  const double m = __longlong_as_double((long long)((bits & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull));
  const double s = (m - 1) / (m + 1), ss = s * s;
  const double log_m = 2 * s + 2 * s * (ss * horner(ss, series));
  /* ln 2 in two parts, the first with room for e. */
  return e * 0.693147180369123816490 + (log_m + e * 1.90821492927058770002e-10);
}

/* cos(2 pi u) for u in [0, 1): a quarter turn is taken off exactly, then Taylor's series on [-pi/4, pi/4]. */
__device__ __forceinline__ double cosine_of_turns(double u) {
  const double cosine[] = {1.0 / 20922789888000,
                           -1.0 / 87178291200,
                           1.0 / 479001600,
                           -1.0 / 3628800,
                           1.0 / 40320,
                           -1.0 / 720,
                           1.0 / 24,
                           -1.0 / 2,
                           1.0};
  const double sine[] = {1.0 / 355687428096000,
                         -1.0 / 1307674368000,
                         1.0 / 6227020800,
                         -1.0 / 39916800,
                         1.0 / 362880,
                         -1.0 / 5040,
                         1.0 / 120,
                         -1.0 / 6,
                         1.0};
  const int quarter = (int)(4 * u + 0.5);
  const double x = (4 * u - quarter) * 1.57079632679489661923, xx = x * x;
  const double value = quarter & 1 ? x * horner(xx, sine) : horner(xx, cosine);
  return (quarter + 1) & 2 ? -value : value;
}

/* A standard normal number by Box and Muller's transform: |z| <= 8.6, since the least u1 is 2^-53. */
__device__ __forceinline__ double standard_normal(const random_bits &bits) {
  const double u1 = (double)(long long)((bits.first() >> 11) + 1) * (1.0 / 9007199254740992);
  const double u2 = (double)(long long)(bits.second() >> 11) * (1.0 / 9007199254740992);
  return sqrt(-2 * natural_log(u1)) * cosine_of_turns(u2);
}

/* ==} */

/* {== Uniform numbers: floating in [min, max), integer in [min, max] === */

template <class T> struct uniform {
  /* The bias of the multiply-high is below range / 2^64. */
  static __device__ __forceinline__ T number(const random_bits &bits, double min, double max) {
    const T low = element<T>::from(min), high = element<T>::from(max);
    const u64 range = (u64)high - (u64)low + 1; /* 0 stands for 2^64 */
    const u64 x = bits.first();
    return (T)((u64)low + (range ? multiply_high(x, range) : x));
  }
};

/* Where the range is not [0, 1), rounding to T may reach max. */
template <class T> struct uniform_floating {
  static __device__ __forceinline__ T number(const random_bits &bits, double min, double max) {
    const double unit = 1.0 / (double)(1ull << element<T>::digits);
    const double u = (double)(long long)(bits.first() >> (64 - element<T>::digits)) * unit;
    return element<T>::from(min + u * (max - min));
  }
};
template <> struct uniform<float> : uniform_floating<float> {};
template <> struct uniform<double> : uniform_floating<double> {};
#if defined(HAS_SMALL_FLOATS)
template <> struct uniform<__half> : uniform_floating<__half> {};
template <> struct uniform<__nv_bfloat16> : uniform_floating<__nv_bfloat16> {};
#endif

/* ==} */

__device__ __forceinline__ u64 thread_number() {
  return (u64)blockIdx.x * blockDim.x + threadIdx.x;
}

namespace moonwarp {

/* a[i] = value */
template <class T> __global__ void fill(T *a, T value, unsigned long long n) {
  const u64 i = thread_number();
  if (i < n) a[i] = value;
}

/* found[i] is element number at[i] of a, from 1 on. */
template <class T>
__global__ void gather(T *found, const T *a, const unsigned long long *at, unsigned long long n) {
  const u64 i = thread_number();
  if (i < n) found[i] = a[at[i] - 1];
}

/* n numbers evenly from `from` to `to`, both ends exact; one number is `from`. */
template <class T> __global__ void linspace(T *a, double from, double to, unsigned long long n) {
  const u64 i = thread_number();
  if (i >= n) return;
  const double steps = n > 1 ? (double)(long long)(n - 1) : 1.0;
  const double v = from + (to - from) * ((double)(long long)i / steps);
  a[i] = element<T>::from(n > 1 && i == n - 1 ? to : v);
}

template <class T>
__global__ void random_uniform(T *a, unsigned long long seed, unsigned long long offset, double min, double max,
                               unsigned long long n) {
  const u64 i = thread_number();
  if (i < n) a[i] = uniform<T>::number(random_of(seed, offset + i), min, max);
}

/* Integers get the nearest one. */
template <class T>
__global__ void random_normal(T *a, unsigned long long seed, unsigned long long offset, double mean, double sd,
                              unsigned long long n) {
  const u64 i = thread_number();
  if (i < n) a[i] = element<T>::from(mean + sd * standard_normal(random_of(seed, offset + i)));
}

} // namespace moonwarp
