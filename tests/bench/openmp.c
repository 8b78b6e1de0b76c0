/* SPDX-License-Identifier: MIT
 *
 * The yardstick of tests/bench/cpu_openmp.lua: memcopy, triad and the naive stencil of kernels/ as anyone would write
 * them in C with OpenMP. */
#include "native.h"

#include <stddef.h>

native_function memcopy, triad, diffusion;

/* memcopy(B, A, n) */
const char *memcopy(const native_value *v, double *result) {
  double *restrict B = NATIVE_ARRAY(double, v[0]);
  const double *restrict A = NATIVE_ARRAY(const double, v[1]);
  ptrdiff_t n = (ptrdiff_t)v[2].integer;
  (void)result;
#pragma omp parallel for simd schedule(static)
  for (ptrdiff_t i = 0; i < n; i++) B[i] = A[i];
  return NULL;
}

/* triad(B, A, C, s, n) */
const char *triad(const native_value *v, double *result) {
  double *restrict B = NATIVE_ARRAY(double, v[0]);
  const double *restrict A = NATIVE_ARRAY(const double, v[1]), *restrict C = NATIVE_ARRAY(const double, v[2]);
  double s = v[3].number;
  ptrdiff_t n = (ptrdiff_t)v[4].integer;
  (void)result;
#pragma omp parallel for simd schedule(static)
  for (ptrdiff_t i = 0; i < n; i++) B[i] = A[i] + s * C[i];
  return NULL;
}

/* diffusion(T2, T, Ci, lam, dt, _dx, _dy, nx, ny) */
const char *diffusion(const native_value *v, double *result) {
  double *restrict T2 = NATIVE_ARRAY(double, v[0]);
  const double *restrict T = NATIVE_ARRAY(const double, v[1]), *restrict Ci = NATIVE_ARRAY(const double, v[2]);
  double lam = v[3].number, dt = v[4].number, _dx = v[5].number, _dy = v[6].number;
  ptrdiff_t nx = (ptrdiff_t)v[7].integer, ny = (ptrdiff_t)v[8].integer;
  (void)result;
#pragma omp parallel for schedule(static)
  for (ptrdiff_t iy = 1; iy < ny - 1; iy++) {
#pragma omp simd
    for (ptrdiff_t ix = 1; ix < nx - 1; ix++) {
      ptrdiff_t i = iy * nx + ix;
      double c = T[i];
      T2[i] = c + dt * Ci[i] * (-((-lam * (T[i + 1] - c) * _dx) - (-lam * (c - T[i - 1]) * _dx)) * _dx -
                                ((-lam * (T[i + nx] - c) * _dy) - (-lam * (c - T[i - nx]) * _dy)) * _dy);
    }
  }
  return NULL;
}
