// SPDX-License-Identifier: MIT
//
// functions: how fast and how exact are the functions of CUDA's library?
//
//   rates<F, T>       sums of F at `steps` arguments 1/64 apart, from x + 1/2 on: how many a second
//   values<F>         pairs of an f64 and its F, for functions/exact.c, which knows the exact values
//   errors<F>         F of f32 numbers in the order of their bits, compared with F of f64: the largest error
//
// Each is compiled twice, with and without fast math, which replaces most functions of f32 by one instruction of the
// special function units and a multiplication or two.
//
// Bound: the special function units of a multiprocessor compute 16 values per cycle, in f32. Without fast math a
// function is a polynomial: 8 to 40 instructions, of which a multiprocessor begins 128 per cycle in f32 and 64 in f64.
//
// The error is in units in the last place: |got - exact| / ulp(exact), where ulp is the distance of the neighbours of
// `exact` in f32 (Muller and others, "Handbook of Floating-Point Arithmetic", 2018, section 2.3). A result that is the
// nearest number has at most 0.5. The functions of f64 have errors below 2 ulp of f64, 4e-9 ulp of f32: they are exact
// enough here.
// Sources: NVIDIA, "CUDA C++ Programming Guide" 13.0, mathematical functions: the errors that the tables allow.

#define INDEX ((size_t)blockIdx.x * blockDim.x + threadIdx.x)

// ---- the functions --------------------------------------------------------------------------------------------------

#define FUNCTION(name, value)                                          \
  struct name {                                                        \
    template <typename T> static __device__ T of(T x) { return value; } \
  };
FUNCTION(f_exp, exp(x))
FUNCTION(f_log, log(x))
FUNCTION(f_sin, sin(x))
FUNCTION(f_sqrt, sqrt(x))
FUNCTION(f_rsqrt, rsqrt(x))
FUNCTION(f_div, 3 / x)
FUNCTION(f_tanh, tanh(x))

// ---- rates and values -----------------------------------------------------------------------------------------------

template <class F, typename T> __global__ void rates(T *y, const T *x, int steps, int n) {
  size_t i = INDEX;
  if (i >= n) return;
  T v = x[i] + (T)0.5, sum = 0;
  for (int k = 0; k < steps; k++) sum += F::of(v + k * (T)0.015625);
  y[i] = sum;
}

// A pair begins with a random number in [0, 1), of which its argument in [low, high) is made.
template <class F> __global__ void values(double *pairs, double low, double high, int n) {
  size_t i = INDEX;
  if (i >= n) return;
  double x = low + (high - low) * pairs[2 * i];
  pairs[2 * i] = x;
  pairs[2 * i + 1] = F::of(x);
}

// ---- errors of f32 --------------------------------------------------------------------------------------------------

// By bits, which fast math does not take for numbers.
__device__ bool is_finite(float x) { return (__float_as_uint(x) >> 23 & 255) != 255; }
__device__ bool is_nan(float x) { return (__float_as_uint(x) & 0x7fffffff) > 0x7f800000; }
__device__ bool is_nan(double x) { return (__double_as_longlong(x) & 0x7fffffffffffffffLL) > 0x7ff0000000000000LL; }

// The distance of f32 numbers around x: 2^-149 for the smallest, 2^(e - 23) for 2^e <= |x| < 2^(e + 1).
__device__ double ulp(double x) {
  int e = (int)(__double_as_longlong(x) >> 52 & 2047) - 1023;
  return __longlong_as_double((long long)(max(e, -126) - 23 + 1023) << 52);
}

// Infinite where one of both is no finite number, as NaN or what overflows, and the other not the same.
__device__ float error_of(float got, double exact) {
  const float infinite = __uint_as_float(0x7f800000);
  if (is_nan(exact)) return is_nan(got) ? 0 : infinite;
  float nearest = (float)exact;
  if (!is_finite(nearest)) return __float_as_uint(got) == __float_as_uint(nearest) ? 0 : infinite;
  return is_finite(got) ? (float)(fabs((double)got - exact) / ulp(exact)) : infinite;
}

// Numbers with the bits 0, every, 2 * every, ... below 2^32 whose value lies in [low, high]. worst: the bits of the
// largest error above those of its argument; wrong: how many results are not the nearest number; seen: how many
// numbers.
template <class F>
__global__ void errors(unsigned long long *worst, unsigned long long *wrong, unsigned long long *seen, float low,
                       float high, unsigned long long every) {
  unsigned long long most = 0, far = 0, count = 0, step = (unsigned long long)gridDim.x * blockDim.x * every;
  for (unsigned long long bits = INDEX * every; bits < 1ull << 32; bits += step) {
    float x = __uint_as_float((unsigned)bits);
    if (is_nan(x) || !(x >= low && x <= high)) continue;
    float error = error_of(F::of(x), F::of((double)x));
    most = max(most, (unsigned long long)__float_as_uint(error) << 32 | bits);
    far += error > 0.5f;
    count++;
  }
  atomicMax(worst, most);
  atomicAdd(wrong, far);
  atomicAdd(seen, count);
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// rates, values   one element per thread, any block
// errors          any grid; worst, wrong and seen are 0 before
