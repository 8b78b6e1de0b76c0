// SPDX-License-Identifier: MIT
//
// CUB's device-wide scan and sum, for the benchmarks to compare with. Work goes to the default stream of the context
// that is current, which is the primary one that moonwarp uses too.

#include <climits>
#include <cub/cub.cuh>

#include "native.h"

static void *workspace;
static size_t workspace_bytes;

// CUB is called twice: without a workspace it tells how much it needs. One is kept for all calls, so that only the
// first call of a size allocates. n: an int, since with a 32-bit count CUB takes its faster offsets.
template <typename F> static const char *run(const native_value &n, F algorithm) {
  if (n.integer < 1 || n.integer > INT_MAX) return "cub: 1 to 2^31 - 1 elements expected";
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
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

// scan(y, x, n): y[i] = x[0] + ... + x[i]
template <typename T> static const char *scan(const native_value *v) {
  T *y = NATIVE_ARRAY(T, v[0]);
  const T *x = NATIVE_ARRAY(const T, v[1]);
  int n = (int)v[2].integer;
  return run(v[2], [=](void *space, size_t &bytes) { return cub::DeviceScan::InclusiveSum(space, bytes, x, y, n); });
}

// sum(out, x, n): out[0] = x[0] + ... + x[n - 1]
template <typename T> static const char *sum(const native_value *v) {
  T *out = NATIVE_ARRAY(T, v[0]);
  const T *x = NATIVE_ARRAY(const T, v[1]);
  int n = (int)v[2].integer;
  return run(v[2], [=](void *space, size_t &bytes) { return cub::DeviceReduce::Sum(space, bytes, x, out, n); });
}

extern "C" {
const char *scan_f32(const native_value *v, double *) {
  return scan<float>(v);
}
const char *scan_f64(const native_value *v, double *) {
  return scan<double>(v);
}
const char *sum_f32(const native_value *v, double *) {
  return sum<float>(v);
}
const char *sum_f64(const native_value *v, double *) {
  return sum<double>(v);
}
}
