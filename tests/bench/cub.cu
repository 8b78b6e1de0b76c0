// SPDX-License-Identifier: MIT
//
// CUB's device-wide scan and sum as a Lua module, for the benchmarks to compare with. Arrays come as addresses; work
// goes to the default stream of the context that is current, which is the primary one that moonwarp uses too.

#include <climits>
#include <cstdint>
#include <cub/cub.cuh>
extern "C" {
#include <lauxlib.h>
#include <lua.h>
}

static void *workspace;
static size_t workspace_bytes;

// CUB is called twice: without a workspace it tells how much it needs. One is kept for all calls, so that only the
// first call of a size allocates.
template <typename F> static int run(lua_State *L, F algorithm) {
  size_t needed = 0;
  cudaError_t error = algorithm(nullptr, needed);
  if (error == cudaSuccess && needed > workspace_bytes) {
    cudaFree(workspace);
    workspace = nullptr;
    workspace_bytes = 0;
    error = cudaMalloc(&workspace, needed);
    if (error == cudaSuccess) workspace_bytes = needed;
  }
  if (error == cudaSuccess) error = algorithm(workspace, needed);
  return error == cudaSuccess ? 0 : luaL_error(L, "cub: %s", cudaGetErrorString(error));
}

template <typename T> static T *array(lua_State *L, int index) {
  return (T *)(uintptr_t)luaL_checkinteger(L, index);
}

// int: with a 32-bit count CUB takes its faster offsets.
static int length(lua_State *L, int index) {
  lua_Integer n = luaL_checkinteger(L, index);
  luaL_argcheck(L, n >= 1 && n <= INT_MAX, index, "1 to 2^31 - 1 elements expected");
  return (int)n;
}

// scan(y, x, n): y[i] = x[0] + ... + x[i]
template <typename T> static int scan(lua_State *L) {
  T *y = array<T>(L, 1);
  const T *x = array<const T>(L, 2);
  int n = length(L, 3);
  return run(L, [=](void *space, size_t &bytes) { return cub::DeviceScan::InclusiveSum(space, bytes, x, y, n); });
}

// sum(out, x, n): out[0] = x[0] + ... + x[n - 1]
template <typename T> static int sum(lua_State *L) {
  T *out = array<T>(L, 1);
  const T *x = array<const T>(L, 2);
  int n = length(L, 3);
  return run(L, [=](void *space, size_t &bytes) { return cub::DeviceReduce::Sum(space, bytes, x, out, n); });
}

extern "C" int luaopen_cub(lua_State *L) {
  static const luaL_Reg functions[] = {{"scan_f32", scan<float>},
                                       {"scan_f64", scan<double>},
                                       {"sum_f32", sum<float>},
                                       {"sum_f64", sum<double>},
                                       {nullptr, nullptr}};
  luaL_newlib(L, functions);
  return 1;
}
