// SPDX-License-Identifier: MIT
//
// CUB's and Thrust's functions for whole arrays as functions of C, which moonwarp.cub compiles with nvcc and calls.
// Each returns a cudaError_t. `work` is memory of `*size` bytes; where it is null, only *size is set.

#ifndef __CUDACC_RTC__ // it has functions of the host

#include <cub/cub.cuh>
#include <limits>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/reduce.h>
#include <thrust/system_error.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

#define SORT(NAME, T) \
  EXPORT int sort_keys_##NAME(void *work, size_t *size, T *y, const T *x, long long n, cudaStream_t stream) { \
    return cub::DeviceRadixSort::SortKeys(work, *size, x, y, n, 0, 8 * sizeof(T), stream); \
  }

#define DEVICE(NAME, WHAT, T) \
  EXPORT int NAME(void *work, size_t *size, T *result, const T *x, long long n, cudaStream_t stream) { \
    return cub::DeviceReduce::WHAT(work, *size, x, result, n, stream); \
  }

// Thrust's result is a number of the host, for which it waits: `result` gets it by a copy back.
#define THRUST(NAME, VALUE, T) \
  EXPORT int NAME(T *result, const T *x, long long n, cudaStream_t stream) { \
    try { \
      auto on = thrust::cuda::par.on(stream); \
      T value = VALUE; \
      return cudaMemcpyAsync(result, &value, sizeof value, cudaMemcpyHostToDevice, stream); \
    } catch (const thrust::system_error &error) { \
      return error.code().value(); \
    } \
  }

#define REDUCE(NAME, T) \
  DEVICE(reduce_##NAME, Sum, T) \
  DEVICE(max_##NAME, Max, T) \
  THRUST(thrust_reduce_##NAME, thrust::reduce(on, x, x + n), T) \
  THRUST(thrust_max_##NAME, thrust::reduce(on, x, x + n, std::numeric_limits<T>::lowest(), thrust::maximum<T>()), T)

SORT(u32, unsigned)
SORT(f32, float)
REDUCE(u32, unsigned)
REDUCE(f32, float)
REDUCE(f64, double)

EXPORT const char *explain(int status) {
  return cudaGetErrorString((cudaError_t)status);
}

#endif
