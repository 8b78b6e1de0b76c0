/* SPDX-License-Identifier: MIT
 *
 * The mathematics that CUDA has and libm lacks: functions of pi*x, norms, inverse error functions, scaled erfc, normal
 * distribution, modified Bessel functions. Accurate to a few units in the last place; single precision is computed
 * in double. */
#ifndef MW_SPECIAL_H
#define MW_SPECIAL_H

#include "rounded.h"


/* sin and cos of pi*x: the reduction to |r| <= 1/4 is exact. */
static inline void mw_sincospi(double x, double *s, double *c) {
  const double n = rint(2 * x), pi = 3.141592653589793;
  const double r = x - n / 2, quarter = n - 4 * floor(n / 4);
  const double a = sin(pi * r), b = cos(pi * r);
  const int q = isfinite(x) ? (int)quarter : 0;
  *s = q == 0 ? a : q == 1 ? b : q == 2 ? -a : -b;
  *c = q == 0 ? b : q == 1 ? -a : q == 2 ? -b : a;
  if (*s == 0) *s = copysign(0.0, x);
  if (*c == 0) *c = 0;
}
MW_FN double mw_sinpi(double x) {
  double s, c;
  mw_sincospi(x, &s, &c);
  return s;
}
MW_FN double mw_cospi(double x) {
  double s, c;
  mw_sincospi(x, &s, &c);
  return c;
}
MW_FN void sincospi(double x, double *s, double *c) { mw_sincospi(x, s, c); }
MW_FN void sincospif(float x, float *s, float *c) { *s = (float)mw_sinpi(x), *c = (float)mw_cospi(x); }
MW_FN void sincospi(float x, float *s, float *c) { sincospif(x, s, c); }

/* Euclidean length, scaled by a power of two so that nothing overflows. */
static inline double mw_norm(int n, const double *v) {
  double most = 0, sum = 0;
  for (int i = 0; i < n; i++) {
    if (isinf(v[i])) return fabs(v[i]);
    most = fabs(v[i]) > most || v[i] != v[i] ? fabs(v[i]) : most;
  }
  if (most == 0 || most != most) return most;
  const int e = ilogb(most);
  for (int i = 0; i < n; i++) sum += scalbn(v[i], -e) * scalbn(v[i], -e);
  return scalbn(sqrt(sum), e);
}
MW_FN double norm(int n, const double *v) { return mw_norm(n, v); }
MW_FN double rnorm(int n, const double *v) { return 1 / mw_norm(n, v); }
static inline float normf(int n, const float *v) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    if (isinf(v[i])) return fabsf(v[i]);
    sum += (double)v[i] * v[i];
  }
  return (float)sqrt(sum);
}
MW_FN float norm(int n, const float *v) { return normf(n, v); }
MW_FN float rnormf(int n, const float *v) { return 1 / normf(n, v); }
MW_FN float rnorm(int n, const float *v) { return rnormf(n, v); }

#define MW_NORM(n, T, suffix, parameters, ...)                                                                         \
  MW_FN T norm##n##d##suffix parameters {                                                                              \
    const T v[] = {__VA_ARGS__};                                                                                       \
    return norm(n, v);                                                                                                 \
  }                                                                                                                    \
  MW_FN T rnorm##n##d##suffix parameters { return 1 / norm##n##d##suffix(__VA_ARGS__); }
#define MW_NORMS(T, suffix)                                                                                            \
  MW_NORM(3, T, suffix, (T a, T b, T c), a, b, c)                                                                      \
  MW_NORM(4, T, suffix, (T a, T b, T c, T d), a, b, c, d)
MW_NORMS(double, )
MW_NORMS(float, f)
MW_NORMS(float, )
MW_OWN2(rhypot, 1 / hypot(x, y))

/* exp(x*x) * erfc(x): by its continued fraction (DLMF 7.9.2) where erfc is small, else directly. */
static inline double mw_erfcx(double x) {
  const double square = mw_fence(x * x), rest = fma(x, x, -square);
  if (x < 8) return exp(square) * (1 + rest) * erfc(x);
  double t = x;
  for (int k = 40; k > 0; k--) t = x + k / (2 * t);
  return 0.5641895835477563 / t;
}

/* The solution y of erf(y) = p, with q = 1 - |p| given next to p so that the ends lose no digits: the approximation of
 * Giles, "Approximating the erfinv function" (2010), then three steps of Halley. */
static inline double mw_erfinv_of(double p, double q) {
  if (p != p || p > 1 || p < -1) return __builtin_nan("");
  if (p == 1 || p == -1) return copysign(__builtin_inf(), p);
  if (p == 0) return p;
  const bool tail = fabs(p) > 0.5;
  const double w = -log(tail ? q * (2 - q) : (1 - p) * (1 + p));
  double y;
  if (w < 5) {
    const double t = w - 2.5;
    y = 1.50140941 + t * (0.246640727 + t * (-0.00417768164 + t * (-0.00125372503 + t * 0.000218580871)));
  } else {
    const double t = sqrt(w) - 3;
    y = 2.83297682 + t * (1.00167406 + t * (0.00943887047 + t * -0.0076224613));
  }
  y *= fabs(p);
  for (int i = 0; i < 3; i++) {
    const double e = tail ? q - erfc(y) : erf(y) - fabs(p);
    const double step = e / (1.1283791670955126 * exp(-y * y));
    y -= step / (1 + y * step);
  }
  return copysign(y, p);
}
MW_FN double mw_erfinv(double p) { return mw_erfinv_of(p, 1 - fabs(p)); }
static inline double mw_erfcinv(double q) {
  if (q > 1) return -mw_erfinv_of(q - 1, 2 - q);
  return mw_erfinv_of(1 - q, q);
}

/* The normal distribution. The rounding of x/sqrt(2) is put right to first order. */
static inline double mw_normcdf(double x) {
  const double root = 0.7071067811865476, root_rest = -4.833646656726457e-17;
  if (x < -38.6) return 0;
  const double t = mw_fence(-x * root), rest = fma(-x, root, -t) - x * root_rest;
  return 0.5 * (erfc(t) - 1.1283791670955126 * exp(-t * t) * rest);
}
MW_FN double mw_normcdfinv(double p) { return -1.4142135623730951 * mw_erfcinv(2 * p); }

/* Modified Bessel functions of the first kind, order n = 0 or 1: the power series (DLMF 10.25.2), for large x the
 * asymptotic one (DLMF 10.40.1). */
static inline double mw_bessel_i(int n, double x) {
  const double a = fabs(x), quarter = a * a / 4;
  double term = 1, sum = 1;
  if (a < 30) {
    if (n) term = sum = a / 2;
    for (int k = 1; term > sum * 1e-17; k++) sum += term *= quarter / ((double)k * (k + n));
  } else {
    for (int k = 1; k < 30 && fabs(term) > 1e-17; k++) {
      const double odd = 2 * k - 1;
      sum += term *= (odd * odd - 4 * n) / (8 * a * k);
    }
    sum *= exp(a / 2) / sqrt(6.283185307179586 * a) * exp(a / 2);
  }
  return n && x < 0 ? -sum : sum;
}

/* Single precision is computed in double. */
#define MW_SPECIAL(name, e) MW_OWN1(name, e, (float)(e))
MW_SPECIAL(sinpi, mw_sinpi(x))
MW_SPECIAL(cospi, mw_cospi(x))
MW_SPECIAL(erfcx, mw_erfcx(x))
MW_SPECIAL(erfinv, mw_erfinv(x))
MW_SPECIAL(erfcinv, mw_erfcinv(x))
MW_SPECIAL(normcdf, mw_normcdf(x))
MW_SPECIAL(normcdfinv, mw_normcdfinv(x))
MW_SPECIAL(cyl_bessel_i0, mw_bessel_i(0, x))
MW_SPECIAL(cyl_bessel_i1, mw_bessel_i(1, x))

#endif
