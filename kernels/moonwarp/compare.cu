// SPDX-License-Identifier: MIT
//
// Does an array have the expected values? For mw.check of large arrays in a GPU's memory, which would take a thousand
// times longer to bring to the host than to read where they are. It only counts: where an element is wrong, the host
// looks again and says which (core/bind/compare.c, whose rules these are).

typedef unsigned long long u64;

// Not a number, also of integers, which always are one.
template <class T> __device__ __forceinline__ bool is_nan(T value) {
  return value != value;
}

// The largest of non-negative numbers: their bits are in the same order.
__device__ __forceinline__ void raise(u64 *most, double value) {
  for (int lane = 16; lane > 0; lane /= 2) {
    const double other = __shfl_xor_sync(0xffffffff, value, lane);
    value = other > value ? other : value;
  }
  if (threadIdx.x % 32 == 0 && value > 0) atomicMax(most, (u64)__double_as_longlong(value));
}

namespace moonwarp {

// found: the elements that are wrong, the bits of the largest absolute and relative error of those that are compared as
// numbers, and of the sum of the squares of these errors. Whole warps; exact: integers, of which only equal ones are right.
template <class T>
__global__ void compare(u64 *found, const T *got, const T *expected, double absolute, double relative, int exact,
                        u64 n) {
  u64 wrong = 0;
  double most = 0, most_relative = 0, squares = 0;
  const u64 step = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    const T g = got[i], e = expected[i];
    if (g == e || (is_nan(g) && is_nan(e))) continue;
    const double size = fabs((double)e), error = fabs((double)g - (double)e);
    if (!(error <= 1.7976931348623157e308)) { // an infinity or a NaN on one side
      wrong++;
      continue;
    }
    const double ratio = size > 0 ? error / size : 0;
    squares += error * error;
    most = error > most ? error : most;
    most_relative = ratio > most_relative ? ratio : most_relative;
    if (exact || !(error <= absolute + relative * size)) wrong++;
  }
  for (int lane = 16; lane > 0; lane /= 2) {
    wrong += __shfl_xor_sync(0xffffffff, wrong, lane);
    squares += __shfl_xor_sync(0xffffffff, squares, lane);
  }
  if (threadIdx.x % 32 == 0 && wrong > 0) atomicAdd(found, wrong);
  if (threadIdx.x % 32 == 0 && squares > 0) atomicAdd((double *)(found + 3), squares);
  raise(found + 1, most);
  raise(found + 2, most_relative);
}

} // namespace moonwarp
