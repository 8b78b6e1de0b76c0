/* SPDX-License-Identifier: MIT
 *
 * What CUDA's smaller headers give to device code, checked by itself; launched as builtins.cu's kernels are. */
#include <cuComplex.h>
#include <type_traits>

#include "check.cuh"

__global__ void check_complex(int *wrong) {
  const cuFloatComplex a = make_cuFloatComplex(3, 4 * opaque_one()), b = make_cuComplex(1, -2);
  const cuFloatComplex product = cuCmulf(a, b), quotient = cuCdivf(product, b), sum = cuCaddf(a, cuConjf(b));
  CHECK(product.x == 11 && product.y == -2);
  CHECK(fabsf(quotient.x - 3) < 1e-5f && fabsf(quotient.y - 4) < 1e-5f);
  CHECK(sum.x == 4 && sum.y == 6 && cuCabsf(a) == 5 && cuCrealf(a) == 3 && cuCimagf(cuCsubf(a, b)) == 6);
}

__global__ void check_complex_double(int *wrong) {
  const cuDoubleComplex a = make_cuDoubleComplex(1, 2 * opaque_one()), b = cuComplexFloatToDouble(make_cuComplex(3, 1));
  const cuDoubleComplex fused = cuCfma(a, b, a), quotient = cuCdiv(make_cuDoubleComplex(1, 7), b);
  CHECK(fused.x == 2 && fused.y == 9 && fabs(quotient.x - 1) < 1e-12 && fabs(quotient.y - 2) < 1e-12);
  const cuDoubleComplex huge = make_cuDoubleComplex(3e200 * opaque_one(), 4e200), one = cuCdiv(huge, huge);
  CHECK(fabs(cuCabs(huge) / 5e200 - 1) < 1e-12 && fabs(one.x - 1) < 1e-12 && fabs(one.y) < 1e-12);
}

__global__ void check_type_traits(int *wrong) {
  CHECK((std::is_same<std::make_unsigned<int>::type, unsigned>::value));
  CHECK((std::is_same<std::make_signed<unsigned char>::type, signed char>::value));
  CHECK((std::is_same<std::common_type<char, float, double>::type, double>::value));
  CHECK((std::is_same<typename std::common_type<const int &, short>::type, int>::value));
  typedef std::aligned_storage<12, 8>::type storage;
  CHECK(sizeof(storage) == 16 && alignof(storage) == 8);
}
