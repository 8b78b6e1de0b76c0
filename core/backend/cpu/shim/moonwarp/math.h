/* SPDX-License-Identifier: MIT
 *
 * CUDA's mathematics in single and double precision. libm's functions are declared, not included: the compilers know
 * them by name, make instructions of those that have one and call libm for the rest. Included by moonwarp.h only. */

/* {== One argument ===================================================== */

/* libm has name(double) and namef(float); C++ adds name(float) and name(an integer). */
#define MW_MATH1(name)                                                                                                 \
  extern "C" double name(double);                                                                                      \
  extern "C" float name##f(float);                                                                                     \
  MW_OVERLOAD1(name)
#define MW_OVERLOAD1(name)                                                                                             \
  MW_FN float name(float x) { return name##f(x); }                                                                     \
  template <class T> MW_FN typename mw_when<T>::integer name(T x) { return name((double)x); }

MW_MATH1(acos) MW_MATH1(acosh) MW_MATH1(asin) MW_MATH1(asinh) MW_MATH1(atan) MW_MATH1(atanh) MW_MATH1(cbrt)
MW_MATH1(ceil) MW_MATH1(cos) MW_MATH1(cosh) MW_MATH1(erf) MW_MATH1(erfc) MW_MATH1(exp) MW_MATH1(exp10)
MW_MATH1(exp2) MW_MATH1(expm1) MW_MATH1(fabs) MW_MATH1(floor) MW_MATH1(j0) MW_MATH1(j1) MW_MATH1(lgamma)
MW_MATH1(log) MW_MATH1(log10) MW_MATH1(log1p) MW_MATH1(log2) MW_MATH1(logb) MW_MATH1(nearbyint) MW_MATH1(rint)
MW_MATH1(round) MW_MATH1(sin) MW_MATH1(sinh) MW_MATH1(sqrt) MW_MATH1(tan) MW_MATH1(tanh) MW_MATH1(tgamma)
MW_MATH1(trunc) MW_MATH1(y0) MW_MATH1(y1)

/* The same for what libm lacks: name(double) and namef(float) from expressions in x. */
#define MW_OWN1(name, of_double, of_float)                                                                             \
  MW_FN double name(double x) { return of_double; }                                                                    \
  MW_FN float name##f(float x) { return of_float; }                                                                    \
  MW_OVERLOAD1(name)
MW_OWN1(rsqrt, 1.0 / sqrt(x), 1.0f / sqrtf(x))
MW_OWN1(rcbrt, 1.0 / cbrt(x), (float)(1.0 / cbrt((double)x)))

#define MW_TO_INTEGER1(name, Result)                                                                                   \
  extern "C" Result name(double);                                                                                      \
  extern "C" Result name##f(float);                                                                                    \
  MW_FN Result name(float x) { return name##f(x); }
MW_TO_INTEGER1(ilogb, int)
MW_TO_INTEGER1(lrint, long)
MW_TO_INTEGER1(lround, long)
MW_TO_INTEGER1(llrint, long long)
MW_TO_INTEGER1(llround, long long)

/* ==} */

/* {== Two and more arguments =========================================== */

#define MW_OVERLOAD2(name)                                                                                             \
  MW_FN float name(float x, float y) { return name##f(x, y); }                                                         \
  template <class A, class B, class = typename mw_when<A>::number> MW_FN typename mw_when<B>::number name(A x, B y) {  \
    return name((double)x, (double)y);                                                                                 \
  }
#define MW_MATH2(name)                                                                                                 \
  extern "C" double name(double, double);                                                                              \
  extern "C" float name##f(float, float);                                                                              \
  MW_OVERLOAD2(name)
#define MW_OWN2(name, e)                                                                                               \
  MW_FN double name(double x, double y) { return e; }                                                                  \
  MW_FN float name##f(float x, float y) { return e; }                                                                  \
  MW_OVERLOAD2(name)

MW_MATH2(atan2)
MW_MATH2(copysign)
MW_MATH2(fdim)
MW_MATH2(fmod)
MW_MATH2(hypot)
MW_MATH2(nextafter)
MW_MATH2(pow)
MW_MATH2(remainder)
MW_FN float pow(float x, int y) { return powf(x, (float)y); }

/* The one that is a number where the other is not. Not libm's: as instructions these vectorise. */
template <class T> MW_FN T mw_lesser(T x, T y) {
  const T m = x < y ? x : y;
  return y != y ? x : m;
}
template <class T> MW_FN T mw_greater(T x, T y) {
  const T m = x > y ? x : y;
  return y != y ? x : m;
}
MW_OWN2(fmin, mw_lesser(x, y))
MW_OWN2(fmax, mw_greater(x, y))

/* Of any two numbers, in the type that arithmetic on them has. */
template <class A, class B, class = typename mw_when<A>::number, class = typename mw_when<B>::number>
MW_FN auto min(A x, B y) -> decltype(x + y) { return mw_lesser<decltype(x + y)>(x, y); }
template <class A, class B, class = typename mw_when<A>::number, class = typename mw_when<B>::number>
MW_FN auto max(A x, B y) -> decltype(x + y) { return mw_greater<decltype(x + y)>(x, y); }
#define MW_MIN_MAX(prefix, T)                                                                                          \
  MW_FN T prefix##min(T x, T y) { return x < y ? x : y; }                                                              \
  MW_FN T prefix##max(T x, T y) { return x > y ? x : y; }
MW_MIN_MAX(u, unsigned)
MW_MIN_MAX(ll, long long)
MW_MIN_MAX(ull, unsigned long long)

MW_FN int abs(int x) { return x < 0 ? -x : x; }
MW_FN long abs(long x) { return x < 0 ? -x : x; }
MW_FN long long abs(long long x) { return x < 0 ? -x : x; }
MW_FN float abs(float x) { return fabsf(x); }
MW_FN double abs(double x) { return fabs(x); }
MW_FN long labs(long x) { return abs(x); }
MW_FN long long llabs(long long x) { return abs(x); }

extern "C" double fma(double, double, double);
extern "C" float fmaf(float, float, float);
MW_FN float fma(float x, float y, float z) { return fmaf(x, y, z); }
#define MW_MATH_AND(name, Other)                                                                                       \
  extern "C" double name(double, Other);                                                                               \
  extern "C" float name##f(float, Other);                                                                              \
  MW_FN float name(float x, Other y) { return name##f(x, y); }
MW_MATH_AND(ldexp, int)
MW_MATH_AND(scalbn, int)
MW_MATH_AND(scalbln, long)
MW_MATH_AND(frexp, int *)
extern "C" double modf(double, double *);
extern "C" float modff(float, float *);
MW_FN float modf(float x, float *whole) { return modff(x, whole); }
extern "C" double remquo(double, double, int *);
extern "C" float remquof(float, float, int *);
MW_FN float remquo(float x, float y, int *q) { return remquof(x, y, q); }
extern "C" double jn(int, double);
extern "C" float jnf(int, float);
extern "C" double yn(int, double);
extern "C" float ynf(int, float);
extern "C" void sincos(double, double *, double *);
extern "C" void sincosf(float, float *, float *);
MW_FN void sincos(float x, float *s, float *c) { sincosf(x, s, c); }
extern "C" double nan(const char *);
extern "C" float nanf(const char *);

MW_FN float fdividef(float x, float y) { return x / y; }

/* By bits, so that they hold under fast mathematics too. */
#define MW_CLASSIFY(T, Bits, infinity)                                                                                 \
  MW_FN Bits mw_magnitude(T x) { return mw_bits<Bits>(x) & ((Bits)-1 >> 1); }                                          \
  MW_FN int isnan(T x) { return mw_magnitude(x) > infinity; }                                                          \
  MW_FN int isinf(T x) { return mw_magnitude(x) == infinity; }                                                         \
  MW_FN int isfinite(T x) { return mw_magnitude(x) < infinity; }                                                       \
  MW_FN int signbit(T x) { return mw_bits<Bits>(x) != mw_magnitude(x); }
MW_CLASSIFY(float, unsigned, 0x7f800000u)
MW_CLASSIFY(double, unsigned long long, 0x7ffull << 52)

/* ==} */

/* {== Fast single-precision intrinsics: here as accurate as the others == */

#define MW_FAST1(name) MW_FN float __##name(float x) { return name(x); }
MW_FAST1(sinf) MW_FAST1(cosf) MW_FAST1(tanf) MW_FAST1(tanhf) MW_FAST1(expf) MW_FAST1(exp10f)
MW_FAST1(logf) MW_FAST1(log2f) MW_FAST1(log10f)
MW_FN float __powf(float x, float y) { return powf(x, y); }
MW_FN void __sincosf(float x, float *s, float *c) { sincosf(x, s, c); }
MW_FN float __fdividef(float x, float y) { return x / y; }
MW_FN float __saturatef(float x) { return x > 0 ? x < 1 ? x : 1.0f : 0.0f; }

/* ==} */
