/* SPDX-License-Identifier: MIT
 *
 * CUDA's <cuComplex.h>: complex numbers as float2 and double2. Quotients by Smith's method (R. L. Smith, "Algorithm 116:
 * Complex division", 1962) and magnitudes scaled, so that neither overflows before its result does. */
#ifndef MW_CUCOMPLEX_H
#define MW_CUCOMPLEX_H
#if !defined(MW_PREPROCESS)

#include "moonwarp.h"

typedef float2 cuFloatComplex, cuComplex;
typedef double2 cuDoubleComplex;
MW_FN cuComplex make_cuComplex(float x, float y) { return make_float2(x, y); }

#define MW_COMPLEX(Complex, Real, f, make)                                                                             \
  MW_FN Complex make_##Complex(Real x, Real y) { return make(x, y); }                                                  \
  MW_FN Real cuCreal##f(Complex z) { return z.x; }                                                                     \
  MW_FN Real cuCimag##f(Complex z) { return z.y; }                                                                     \
  MW_FN Complex cuConj##f(Complex z) { return make(z.x, -z.y); }                                                       \
  MW_FN Complex cuCadd##f(Complex a, Complex b) { return make(a.x + b.x, a.y + b.y); }                                 \
  MW_FN Complex cuCsub##f(Complex a, Complex b) { return make(a.x - b.x, a.y - b.y); }                                 \
  MW_FN Complex cuCmul##f(Complex a, Complex b) { return make(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }         \
  MW_FN Complex cuCfma##f(Complex a, Complex b, Complex c) { return cuCadd##f(cuCmul##f(a, b), c); }                   \
  MW_FN Real cuCabs##f(Complex z) { return hypot##f(z.x, z.y); }                                                       \
  MW_FN Complex cuCdiv##f(Complex a, Complex b) {                                                                      \
    const bool steep = fabs##f(b.x) < fabs##f(b.y);                                                                    \
    const Real ratio = steep ? b.x / b.y : b.y / b.x, whole = steep ? b.x * ratio + b.y : b.x + b.y * ratio;           \
    return steep ? make((a.x * ratio + a.y) / whole, (a.y * ratio - a.x) / whole)                                      \
                 : make((a.x + a.y * ratio) / whole, (a.y - a.x * ratio) / whole);                                     \
  }
MW_COMPLEX(cuFloatComplex, float, f, make_float2)
MW_COMPLEX(cuDoubleComplex, double, , make_double2)
#undef MW_COMPLEX

MW_FN cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) { return make_float2((float)z.x, (float)z.y); }
MW_FN cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return make_double2(z.x, z.y); }

#endif
#endif
