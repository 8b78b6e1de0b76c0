/* SPDX-License-Identifier: MIT
 *
 * Arithmetic with a stated rounding: __fadd_rn, __dmul_rz and their kind. The rn forms are single operations that never
 * melt into a fused multiply-add; the others correct the rounded result by the sign of its error, which error-free
 * transformations give (Boldo and Muller, "Exact and approximated error of the FMA", 2011, for fma). */
#ifndef MW_ROUNDED_H
#define MW_ROUNDED_H

#include "convert.h"


/* The value, but not the operation that made it: keeps a product out of a fused multiply-add. */
#if defined(MW_NO_CONTRACT)
#define MW_FENCE(x) return x
#elif defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define MW_FENCE(x) return __builtin_assoc_barrier(x)
#elif defined(__x86_64__)
#define MW_FENCE(x)                                                                                                    \
  __asm__("" : "+x"(x));                                                                                               \
  return x
#else
#define MW_FENCE(x)                                                                                                    \
  __asm__("" : "+w"(x));                                                                                               \
  return x
#endif
MW_FN float mw_fence(float x) { MW_FENCE(x); }
MW_FN double mw_fence(double x) { MW_FENCE(x); }

#define MW_NEAREST(p, T, root)                                                                                         \
  MW_FN T __##p##add_rn(T a, T b) { return mw_fence(a) + mw_fence(b); }                                                \
  MW_FN T __##p##sub_rn(T a, T b) { return mw_fence(a) - mw_fence(b); }                                                \
  MW_FN T __##p##mul_rn(T a, T b) { return mw_fence(a * b); }                                                          \
  MW_FN T __##p##div_rn(T a, T b) { return a / b; }                                                                    \
  MW_FN T __##p##rcp_rn(T a) { return 1 / a; }                                                                         \
  MW_FN T __##p##sqrt_rn(T a) { return root(a); }
MW_NEAREST(f, float, sqrtf)
MW_NEAREST(d, double, sqrt)
MW_FN float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
MW_FN double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
MW_FN float __fmaf_ieee_rn(float a, float b, float c) { return fmaf(a, b, c); }
MW_FN float __frsqrt_rn(float a) { return (float)(1 / sqrt((double)a)); }

/* What a + b leaves out of its rounded sum (Knuth). */
MW_FN double mw_sum_error(double a, double b) {
  const double s = a + b, t = s - a;
  return (a - (s - t)) + (b - t);
}

/* The sign of a + b - r. */
MW_FN double mw_sum_beyond(double a, double b, double r) {
  const double d = (a + b) - r;
  return d != 0 ? d : mw_sum_error(a, b);
}

/* The sign of a/b - q, given the remainder a - q*b. */
MW_FN double mw_quotient_beyond(double remainder, double b) { return b < 0 ? -remainder : remainder; }

/* The sign of a*b + c - r. */
MW_FN double mw_fma_beyond(double a, double b, double c, double r) {
  const double u = mw_fence(a * b), v = fma(a, b, -u);
  const double x = c + v, z = mw_sum_error(c, v);
  const double y = u + x;
  return ((y - r) + mw_sum_error(u, x)) + z;
}

#define MW_TOWARDS(d, to)                                                                                              \
  MW_FN float __fadd_##d(float a, float b) { return mw_directed(a + b, mw_sum_beyond(a, b, a + b), to); }              \
  MW_FN float __fsub_##d(float a, float b) { return __fadd_##d(a, -b); }                                               \
  MW_FN float __fmul_##d(float a, float b) {                                                                           \
    const float r = mw_fence(a * b);                                                                                   \
    return mw_directed(r, (double)a * b - r, to);                                                                      \
  }                                                                                                                    \
  MW_FN float __fdiv_##d(float a, float b) {                                                                           \
    const float r = a / b;                                                                                             \
    return mw_directed(r, mw_quotient_beyond(a - (double)r * b, b), to);                                               \
  }                                                                                                                    \
  MW_FN float __frcp_##d(float a) { return __fdiv_##d(1, a); }                                                         \
  MW_FN float __fsqrt_##d(float a) {                                                                                   \
    const float r = sqrtf(a);                                                                                          \
    return mw_directed(r, a - (double)r * r, to);                                                                      \
  }                                                                                                                    \
  MW_FN float __fmaf_##d(float a, float b, float c) {                                                                  \
    const float r = fmaf(a, b, c);                                                                                     \
    return mw_directed(r, mw_sum_beyond((double)a * b, c, r), to);                                                     \
  }                                                                                                                    \
  MW_FN float __fmaf_ieee_##d(float a, float b, float c) { return __fmaf_##d(a, b, c); }                               \
  MW_FN double __dadd_##d(double a, double b) { return mw_directed(a + b, mw_sum_error(a, b), to); }                   \
  MW_FN double __dsub_##d(double a, double b) { return __dadd_##d(a, -b); }                                            \
  MW_FN double __dmul_##d(double a, double b) {                                                                        \
    const double r = mw_fence(a * b);                                                                                  \
    return mw_directed(r, fma(a, b, -r), to);                                                                          \
  }                                                                                                                    \
  MW_FN double __ddiv_##d(double a, double b) {                                                                        \
    const double r = a / b;                                                                                            \
    return mw_directed(r, mw_quotient_beyond(fma(-r, b, a), b), to);                                                   \
  }                                                                                                                    \
  MW_FN double __drcp_##d(double a) { return __ddiv_##d(1, a); }                                                       \
  MW_FN double __dsqrt_##d(double a) {                                                                                 \
    const double r = sqrt(a);                                                                                          \
    return mw_directed(r, fma(-r, r, a), to);                                                                          \
  }                                                                                                                    \
  MW_FN double __fma_##d(double a, double b, double c) {                                                               \
    const double r = fma(a, b, c);                                                                                     \
    return mw_directed(r, mw_fma_beyond(a, b, c, r), to);                                                              \
  }
MW_TOWARDS(rz, MW_RZ)
MW_TOWARDS(rd, MW_RD)
MW_TOWARDS(ru, MW_RU)

#endif
