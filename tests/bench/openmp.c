/* SPDX-License-Identifier: MIT
 *
 * The yardstick of tests/bench/cpu_openmp.lua: memcopy, triad and the naive stencil of kernels/ as anyone would write
 * them in C with OpenMP. A Lua module of its own; arrays come as addresses. */
#include <lauxlib.h>
#include <lua.h>
#include <stddef.h>
#include <stdint.h>

static double *address(lua_State *L, int index) {
  return (double *)(uintptr_t)luaL_checkinteger(L, index);
}

/* memcopy(B, A, n) */
static int openmp_memcopy(lua_State *L) {
  double *restrict B = address(L, 1);
  const double *restrict A = address(L, 2);
  ptrdiff_t n = (ptrdiff_t)luaL_checkinteger(L, 3);
#pragma omp parallel for simd schedule(static)
  for (ptrdiff_t i = 0; i < n; i++) B[i] = A[i];
  return 0;
}

/* triad(B, A, C, s, n) */
static int openmp_triad(lua_State *L) {
  double *restrict B = address(L, 1);
  const double *restrict A = address(L, 2), *restrict C = address(L, 3);
  double s = luaL_checknumber(L, 4);
  ptrdiff_t n = (ptrdiff_t)luaL_checkinteger(L, 5);
#pragma omp parallel for simd schedule(static)
  for (ptrdiff_t i = 0; i < n; i++) B[i] = A[i] + s * C[i];
  return 0;
}

/* diffusion(T2, T, Ci, lam, dt, _dx, _dy, nx, ny) */
static int openmp_diffusion(lua_State *L) {
  double *restrict T2 = address(L, 1);
  const double *restrict T = address(L, 2), *restrict Ci = address(L, 3);
  double lam = luaL_checknumber(L, 4), dt = luaL_checknumber(L, 5);
  double _dx = luaL_checknumber(L, 6), _dy = luaL_checknumber(L, 7);
  ptrdiff_t nx = (ptrdiff_t)luaL_checkinteger(L, 8), ny = (ptrdiff_t)luaL_checkinteger(L, 9);
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
  return 0;
}

int luaopen_openmp(lua_State *L);
int luaopen_openmp(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"diffusion", openmp_diffusion}, {"memcopy", openmp_memcopy}, {"triad", openmp_triad}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
