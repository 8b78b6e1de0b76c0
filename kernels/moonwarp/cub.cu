// SPDX-License-Identifier: MIT
//
// CUB's and Thrust's functions for whole arrays as functions of C, which moonwarp.cub compiles with nvcc and calls.
// Each returns a cudaError_t. `work` is memory of `*size` bytes; where it is null, only *size is set.

#ifndef __CUDACC_RTC__ // it has functions of the host

#include <cub/cub.cuh>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/system_error.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

#define SORT(NAME, T) \
  EXPORT int sort_keys_##NAME(void *work, size_t *size, T *y, const T *x, long long n, cudaStream_t stream) { \
    return cub::DeviceRadixSort::SortKeys(work, *size, x, y, n, 0, 8 * sizeof(T), stream); \
  }

// Thrust's result is a number of the host, for which it waits: sum gets it by a copy back.
#define REDUCE(NAME, T) \
  EXPORT int reduce_##NAME(void *work, size_t *size, T *sum, const T *x, long long n, cudaStream_t stream) { \
    return cub::DeviceReduce::Sum(work, *size, x, sum, n, stream); \
  } \
  EXPORT int thrust_reduce_##NAME(T *sum, const T *x, long long n, cudaStream_t stream) { \
    try { \
      T total = thrust::reduce(thrust::cuda::par.on(stream), x, x + n); \
      return cudaMemcpyAsync(sum, &total, sizeof total, cudaMemcpyHostToDevice, stream); \
    } catch (const thrust::system_error &error) { \
      return error.code().value(); \
    } \
  }

SORT(u32, unsigned)
SORT(f32, float)
REDUCE(u32, unsigned)
REDUCE(f32, float)
REDUCE(f64, double)

EXPORT const char *explain(int status) {
  return cudaGetErrorString((cudaError_t)status);
}

#endif
