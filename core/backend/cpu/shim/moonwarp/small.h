/* SPDX-License-Identifier: MIT
 *
 * Two-byte floating numbers, single and in pairs: what cuda_fp16.h and cuda_bf16.h give names to. A format says how bits
 * become a float and back; everything else is written once. Results are correctly rounded: sums, products, quotients
 * and roots by way of float (more than twice the digits, so the second rounding does no harm), fused multiply-adds by
 * way of double, rounded to odd.
 *
 * The functions are friends, found by the type of an argument, so that the other argument may still be converted. */
#ifndef MW_SMALL_H
#define MW_SMALL_H

#include "../moonwarp.h"
#include "atomic.h"
#include "rounded.h"

/* {== Formats ========================================================== */

/* Rounds to odd: r is a rounded value, the sign of `error` that of the exact value minus r. A later rounding to fewer
 * digits then comes out as if it were the only one (Boldo and Melquiond, 2008). */
template <class T, class Bits> MW_FN T mw_to_odd(T r, double error) {
  const Bits bits = mw_bits<Bits>(r);
  if (!(error < 0 || error > 0) || bits & 1) return r;
  return mw_bits<T>((Bits)((r > 0) == (error > 0) ? bits + 1 : bits - 1));
}
MW_FN float mw_odd_float(double x) {
  const float r = (float)x;
  return isinf(r)           ? r
         : r == 0 && x != 0 ? copysignf(__FLT_DENORM_MIN__, (float)x)
                            : mw_to_odd<float, unsigned>(r, x - r);
}
template <class I> MW_FN double mw_odd_double(I x) {
  const double r = (double)x;
  const mw_int128 error = (mw_int128)x - (mw_int128)r;
  return mw_to_odd<double, unsigned long long>(r, error > 0 ? 1 : error < 0 ? -1 : 0);
}

#if defined(__aarch64__) || (defined(__clang__) && defined(__F16C__))
#define MW_NATIVE_HALF __fp16
#elif defined(__FLT16_MANT_DIG__) && defined(__F16C__)
__extension__ typedef _Float16 mw_native_half;
#define MW_NATIVE_HALF mw_native_half
#endif

struct mw_binary16 {
  static constexpr unsigned short one = 0x3c00, infinity = 0x7c00;
#if defined(MW_NATIVE_HALF)
  MW_FN float widen(unsigned short bits) {
    MW_NATIVE_HALF h;
    __builtin_memcpy(&h, &bits, sizeof h);
    return (float)h;
  }
  MW_FN unsigned short narrow(float x) {
    const MW_NATIVE_HALF h = (MW_NATIVE_HALF)x;
    unsigned short bits;
    __builtin_memcpy(&bits, &h, sizeof bits);
    return bits;
  }
#else
  MW_FN float widen(unsigned short bits) {
    const unsigned u = (bits & 0x7fffu) << 13, sign = (bits & 0x8000u) << 16;
    if (u >= 0x0f800000u) return mw_bits<float>(sign | 0x70000000u | u);
    return mw_bits<float>(sign |
                          mw_bits<unsigned>(mw_bits<float>(u) * 5192296858534827628530496329220096.0f)); /* 2^112 */
  }
  MW_FN unsigned short narrow(float x) {
    unsigned u = mw_bits<unsigned>(x);
    const unsigned sign = u >> 16 & 0x8000u;
    u &= 0x7fffffffu;
    if (u > 0x7f800000u) return 0x7fff;
    if (u >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);
    /* Below the least normal number the sum's last digit is that of the result. */
    if (u < 0x38800000u) return (unsigned short)(sign | (mw_bits<unsigned>(mw_bits<float>(u) + 0.5f) - 0x3f000000u));
    return (unsigned short)(sign | (u - 0x38000000u + 0xfffu + (u >> 13 & 1)) >> 13);
  }
#endif
};

struct mw_bfloat16 {
  static constexpr unsigned short one = 0x3f80, infinity = 0x7f80;
  MW_FN float widen(unsigned short bits) { return mw_bits<float>((unsigned)bits << 16); }
  MW_FN unsigned short narrow(float x) {
    const unsigned u = mw_bits<unsigned>(x);
    return (u & 0x7fffffffu) > 0x7f800000u ? 0x7fff : (unsigned short)((u + 0x7fffu + (u >> 16 & 1)) >> 16);
  }
};

/* ==} */

struct mw_small_raw {
  unsigned short x;
};

template <class F> struct __attribute__((aligned(2))) mw_small {
  unsigned short mw_word;

  mw_small() = default;
  mw_small(float x) : mw_word(F::narrow(x)) {}
  mw_small(double x) : mw_word(F::narrow(mw_odd_float(x))) {}
  template <class I, class = typename mw_when<I>::integer>
  mw_small(I x) : mw_word(F::narrow(mw_odd_float(mw_odd_double(x)))) {}
  template <class Other> explicit mw_small(mw_small<Other> x) : mw_small((float)x) {}
  mw_small(mw_small_raw raw) : mw_word(raw.x) {}
  operator mw_small_raw() const { return mw_small_raw{mw_word}; }
  operator float() const { return F::widen(mw_word); }
  static mw_small of(unsigned short word) { return mw_small(mw_small_raw{word}); }

  /* The nearest value towards the wanted side of x. */
  static mw_small directed(double x, enum mw_direction to) {
    const mw_small r(x);
    const double value = (float)r;
    if (value != value || value == x) return r;
    const bool up = x > value, raise = to == MW_RU || (to == MW_RZ && x < 0);
    if (to == MW_RN || up != raise) return r;
    if (!(r.mw_word & 0x7fff)) return of(raise ? 1 : 0x8001);
    return of((unsigned short)(r.mw_word + ((value > 0) == raise ? 1 : -1)));
  }

#define MW_SMALL_OPERATOR(op, name)                                                                                    \
  friend mw_small operator op(mw_small a, mw_small b) { return mw_small((float)a op(float) b); }                       \
  friend mw_small &operator op##=(mw_small &a, mw_small b) { return a = a op b; }                                      \
  friend mw_small name(mw_small a, mw_small b) { return a op b; }                                                      \
  friend mw_small name##_rn(mw_small a, mw_small b) { return a op b; }                                                 \
  friend mw_small name##_sat(mw_small a, mw_small b) { return mw_saturated(a op b); }
  MW_SMALL_OPERATOR(+, __hadd)
  MW_SMALL_OPERATOR(-, __hsub)
  MW_SMALL_OPERATOR(*, __hmul)
  MW_SMALL_OPERATOR(/, __hdiv)

#define MW_SMALL_COMPARISON(op, name)                                                                                  \
  friend bool operator op(mw_small a, mw_small b) { return (float)a op(float) b; }                                     \
  friend bool name(mw_small a, mw_small b) { return a op b; }                                                          \
  friend bool name##u(mw_small a, mw_small b) { return a op b || __hisnan(a) || __hisnan(b); }
  MW_SMALL_COMPARISON(==, __heq)
  MW_SMALL_COMPARISON(<, __hlt)
  MW_SMALL_COMPARISON(>, __hgt)
  MW_SMALL_COMPARISON(<=, __hle)
  MW_SMALL_COMPARISON(>=, __hge)
  friend bool operator!=(mw_small a, mw_small b) { return !(a == b); }
  friend bool __hne(mw_small a, mw_small b) { return (float)a < (float)b || (float)a > (float)b; }
  friend bool __hneu(mw_small a, mw_small b) { return !(a == b); }

  friend mw_small operator+(mw_small a) { return a; }
  friend mw_small operator-(mw_small a) { return of(a.mw_word ^ 0x8000); }
#define MW_SMALL_STEP(step, op)                                                                                        \
  friend mw_small &operator step(mw_small &a) { return a = a op mw_small(1.0f); }                                      \
  friend mw_small operator step(mw_small &a, int) {                                                                    \
    const mw_small old = a;                                                                                            \
    step a;                                                                                                            \
    return old;                                                                                                        \
  }
  MW_SMALL_STEP(++, +)
  MW_SMALL_STEP(--, -)

  friend mw_small mw_saturated(mw_small a) { return mw_small(__saturatef(a)); }
  friend mw_small __hneg(mw_small a) { return -a; }
  friend mw_small __habs(mw_small a) { return of(a.mw_word & 0x7fff); }
  friend bool __hisnan(mw_small a) { return (a.mw_word & 0x7fff) > F::infinity; }
  friend int __hisinf(mw_small a) { return (a.mw_word & 0x7fff) != F::infinity ? 0 : a.mw_word >> 15 ? -1 : 1; }

  friend mw_small __hfma(mw_small a, mw_small b, mw_small c) {
    const double p = (double)(float)a * (float)b, s = p + (float)c;
    return mw_small(isfinite(s) ? mw_to_odd<double, unsigned long long>(s, mw_sum_error(p, (float)c)) : s);
  }
  friend mw_small __hfma_sat(mw_small a, mw_small b, mw_small c) { return mw_saturated(__hfma(a, b, c)); }
  friend mw_small __hfma_relu(mw_small a, mw_small b, mw_small c) { return __hmax(__hfma(a, b, c), mw_small(0.0f)); }
  friend mw_small __hmin(mw_small a, mw_small b) { return mw_small(fminf(a, b)); }
  friend mw_small __hmax(mw_small a, mw_small b) { return mw_small(fmaxf(a, b)); }
  friend mw_small __hmin_nan(mw_small a, mw_small b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }
  friend mw_small __hmax_nan(mw_small a, mw_small b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }

/* Both forms of a function of one argument, the pair's name being h2... */
#define MW_SMALL_FUNCTIONS(X)                                                                                          \
  X(sqrt, sqrtf(x))                                                                                                    \
  X(rsqrt, (float)(1 / sqrt((double)x)))                                                                               \
  X(rcp, 1 / x)                                                                                                        \
  X(exp, expf(x))                                                                                                      \
  X(exp2, exp2f(x))                                                                                                    \
  X(exp10, exp10f(x))                                                                                                  \
  X(log, logf(x))                                                                                                      \
  X(log2, log2f(x))                                                                                                    \
  X(log10, log10f(x))                                                                                                  \
  X(sin, sinf(x))                                                                                                      \
  X(cos, cosf(x))                                                                                                      \
  X(tanh, tanhf(x))                                                                                                    \
  X(tanh_approx, tanhf(x))                                                                                                    \
  X(floor, floorf(x))                                                                                                  \
  X(ceil, ceilf(x))                                                                                                    \
  X(rint, rintf(x))                                                                                                    \
  X(trunc, truncf(x))
#define MW_SMALL_FUNCTION(name, e)                                                                                     \
  friend mw_small h##name(mw_small a) {                                                                                \
    const float x = a;                                                                                                 \
    return mw_small(e);                                                                                                \
  }
  MW_SMALL_FUNCTIONS(MW_SMALL_FUNCTION)
};

/* {== Pairs ============================================================ */

template <class F> struct __attribute__((aligned(4))) mw_small2 {
  typedef mw_small<F> part;
  part x, y;

  mw_small2() = default;
  mw_small2(part low, part high) : x(low), y(high) {}

#define MW_PAIR2(name, of)                                                                                             \
  friend mw_small2 name(mw_small2 a, mw_small2 b) { return mw_small2(of(a.x, b.x), of(a.y, b.y)); }
#define MW_PAIR_OPERATOR(op, name, of)                                                                                 \
  MW_PAIR2(operator op, of)                                                                                            \
  MW_PAIR2(name, of)                                                                                                   \
  friend mw_small2 &operator op##=(mw_small2 &a, mw_small2 b) { return a = a op b; }
  MW_PAIR_OPERATOR(+, __hadd2, __hadd)
  MW_PAIR_OPERATOR(-, __hsub2, __hsub)
  MW_PAIR_OPERATOR(*, __hmul2, __hmul)
  MW_PAIR_OPERATOR(/, __h2div, __hdiv)
  MW_PAIR2(__hadd2_rn, __hadd)
  MW_PAIR2(__hsub2_rn, __hsub)
  MW_PAIR2(__hmul2_rn, __hmul)
  MW_PAIR2(__hadd2_sat, __hadd_sat)
  MW_PAIR2(__hsub2_sat, __hsub_sat)
  MW_PAIR2(__hmul2_sat, __hmul_sat)
  MW_PAIR2(__hmin2, __hmin)
  MW_PAIR2(__hmax2, __hmax)
  MW_PAIR2(__hmin2_nan, __hmin_nan)
  MW_PAIR2(__hmax2_nan, __hmax_nan)

/* __hxx2 gives 1 or 0 in each place, __hbxx2 whether both hold, __hxx2_mask all bits or none. */
#define MW_PAIR_COMPARISON(name)                                                                                       \
  friend mw_small2 __h##name##2(mw_small2 a, mw_small2 b) {                                                            \
    return mw_small2(part::of(__h##name(a.x, b.x) ? F::one : 0), part::of(__h##name(a.y, b.y) ? F::one : 0));          \
  }                                                                                                                    \
  friend bool __hb##name##2(mw_small2 a, mw_small2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }           \
  friend unsigned __h##name##2_mask(mw_small2 a, mw_small2 b) {                                                        \
    return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);                            \
  }
  MW_PAIR_COMPARISON(eq)
  MW_PAIR_COMPARISON(ne)
  MW_PAIR_COMPARISON(lt)
  MW_PAIR_COMPARISON(gt)
  MW_PAIR_COMPARISON(le)
  MW_PAIR_COMPARISON(ge)
  MW_PAIR_COMPARISON(equ)
  MW_PAIR_COMPARISON(neu)
  MW_PAIR_COMPARISON(ltu)
  MW_PAIR_COMPARISON(gtu)
  MW_PAIR_COMPARISON(leu)
  MW_PAIR_COMPARISON(geu)
  friend bool operator==(mw_small2 a, mw_small2 b) { return __hbeq2(a, b); }
  friend bool operator!=(mw_small2 a, mw_small2 b) { return !__hbeq2(a, b); }

  friend mw_small2 operator-(mw_small2 a) { return mw_small2(-a.x, -a.y); }
  friend mw_small2 __hneg2(mw_small2 a) { return -a; }
  friend mw_small2 __habs2(mw_small2 a) { return mw_small2(__habs(a.x), __habs(a.y)); }
#define MW_PAIR_FMA(name, of)                                                                                          \
  friend mw_small2 name(mw_small2 a, mw_small2 b, mw_small2 c) {                                                       \
    return mw_small2(of(a.x, b.x, c.x), of(a.y, b.y, c.y));                                                            \
  }
  MW_PAIR_FMA(__hfma2, __hfma)
  MW_PAIR_FMA(__hfma2_sat, __hfma_sat)
  MW_PAIR_FMA(__hfma2_relu, __hfma_relu)
  /* Complex a * b + c, rounded as the fused operations it is made of. */
  friend mw_small2 __hcmadd(mw_small2 a, mw_small2 b, mw_small2 c) {
    return mw_small2(__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
  }
  friend mw_small2 __hisnan2(mw_small2 a) {
    return mw_small2(part::of(__hisnan(a.x) ? F::one : 0), part::of(__hisnan(a.y) ? F::one : 0));
  }
#define MW_PAIR_FUNCTION(name, e)                                                                                      \
  friend mw_small2 h2##name(mw_small2 a) { return mw_small2(h##name(a.x), h##name(a.y)); }
  MW_SMALL_FUNCTIONS(MW_PAIR_FUNCTION)

  friend float __low2float(mw_small2 a) { return a.x; }
  friend float __high2float(mw_small2 a) { return a.y; }
};

/* ==} */

/* {== Names: N is half or bfloat16 ===================================== */

#define MW_SMALL_ROUNDED(suffix, to, T, N)                                                                             \
  MW_FN T __float2##N##_##suffix(float x) { return T::directed(x, to); }                                               \
  MW_FN int __##N##2int_##suffix(T x) { return mw_to_integer<int>((float)x, to); }                                     \
  MW_FN unsigned __##N##2uint_##suffix(T x) { return mw_to_integer<unsigned>((float)x, to); }                          \
  MW_FN long long __##N##2ll_##suffix(T x) { return mw_to_integer<long long>((float)x, to); }                          \
  MW_FN unsigned long long __##N##2ull_##suffix(T x) { return mw_to_integer<unsigned long long>((float)x, to); }       \
  MW_FN short __##N##2short_##suffix(T x) { return mw_to_integer<short>((float)x, to); }                               \
  MW_FN unsigned short __##N##2ushort_##suffix(T x) { return mw_to_integer<unsigned short>((float)x, to); }            \
  MW_FN T __int2##N##_##suffix(int x) { return T::directed(x, to); }                                                   \
  MW_FN T __uint2##N##_##suffix(unsigned x) { return T::directed(x, to); }                                             \
  MW_FN T __short2##N##_##suffix(short x) { return T::directed(x, to); }                                               \
  MW_FN T __ushort2##N##_##suffix(unsigned short x) { return T::directed(x, to); }                                     \
  MW_FN T __ll2##N##_##suffix(long long x) { return T::directed(mw_odd_double(x), to); }                               \
  MW_FN T __ull2##N##_##suffix(unsigned long long x) { return T::directed(mw_odd_double(x), to); }

#define MW_SMALL_NAMES(T, T2, N)                                                                                       \
  MW_DIRECTIONS(MW_SMALL_ROUNDED, T, N)                                                                                \
  MW_FN float __##N##2float(T x) { return x; }                                                                         \
  MW_FN T __float2##N(float x) { return T(x); }                                                                        \
  MW_FN T __double2##N(double x) { return T(x); }                                                                      \
  MW_FN short __##N##_as_short(T x) { return (short)x.mw_word; }                                                       \
  MW_FN unsigned short __##N##_as_ushort(T x) { return x.mw_word; }                                                    \
  MW_FN T __short_as_##N(short x) { return T::of((unsigned short)x); }                                                 \
  MW_FN T __ushort_as_##N(unsigned short x) { return T::of(x); }                                                       \
  MW_FN T2 make_##N##2(T x, T y) { return T2(x, y); }                                                                  \
  MW_FN T2 __float2##N##2_rn(float x) { return T2(T(x), T(x)); }                                                       \
  MW_FN T2 __floats2##N##2_rn(float x, float y) { return T2(T(x), T(y)); }                                             \
  MW_FN T2 __float22##N##2_rn(float2 v) { return T2(T(v.x), T(v.y)); }                                                 \
  MW_FN float2 __##N##22float2(T2 v) { return make_float2(v.x, v.y); }                                                 \
  MW_FN T2 __##N##2##N##2(T x) { return T2(x, x); }                                                                    \
  MW_FN T2 __halves2##N##2(T x, T y) { return T2(x, y); }                                                              \
  MW_FN T __low2##N(T2 v) { return v.x; }                                                                              \
  MW_FN T __high2##N(T2 v) { return v.y; }                                                                             \
  MW_FN T2 __low2##N##2(T2 v) { return T2(v.x, v.x); }                                                                 \
  MW_FN T2 __high2##N##2(T2 v) { return T2(v.y, v.y); }                                                                \
  MW_FN T2 __lows2##N##2(T2 a, T2 b) { return T2(a.x, b.x); }                                                          \
  MW_FN T2 __highs2##N##2(T2 a, T2 b) { return T2(a.y, b.y); }                                                         \
  MW_FN T2 __lowhigh2highlow(T2 v) { return T2(v.y, v.x); }                                                            \
  MW_ATOMIC(atomicAdd, T, MW_CAS_LOOP(T, mw_bits16, p, old, old + v))                                                  \
  MW_ATOMIC(atomicAdd, T2, MW_CAS_LOOP(T2, mw_bits32, p, old, old + v))                                                \
  MW_FN signed char __##N##2char_rz(T x) { return mw_to_integer<signed char>((float)x, MW_RZ); }                       \
  MW_FN unsigned char __##N##2uchar_rz(T x) { return mw_to_integer<unsigned char>((float)x, MW_RZ); }

/* ==} */

#endif
