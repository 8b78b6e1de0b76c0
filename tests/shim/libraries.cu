/* SPDX-License-Identifier: MIT
 *
 * What CUDA's smaller headers give to device code, checked by itself; launched as builtins.cu's kernels are. */
#include <cuComplex.h>
#include <curand_kernel.h>
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

/* Expected: NVIDIA's curand_kernel.h, compiled for a host. */
#define NEAR(x, expected) (fabs((x) - (expected)) <= 1e-5 * (1 + fabs(expected)))

template <class State>
__device__ void random(int *wrong, unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                       unsigned first, unsigned second, double uniform, double uniform_double, double normal,
                       double normal_next, double normal_double, double log_normal, unsigned last) {
  State state;
  curand_init(seed, sequence, offset, &state);
  CHECK(curand(&state) == first);
  CHECK(curand(&state) == second);
  CHECK(curand_uniform(&state) == (float)uniform);
  CHECK(curand_uniform_double(&state) == uniform_double);
  CHECK(NEAR(curand_normal(&state), normal));
  CHECK(NEAR(curand_normal(&state), normal_next));
  CHECK(fabs(curand_normal_double(&state) - normal_double) < 1e-13);
  CHECK(NEAR(curand_log_normal(&state, 1, 0.5f), log_normal));
  CHECK(curand(&state) == last);
}

__global__ void check_xorwow(int *wrong) {
  random<curandState>(wrong, 1234ull, 0ull, 0ull, 624778773u, 1867875844u, 0.870710075, 0.85709244785322136,
                      0.99168092, 0.312573135, -0.71981668062459658, 2.69416142, 3111817381u);
  random<curandState>(wrong, 1234ull, 1ull, 0ull, 3522650202u, 3978931785u, 0.51176542, 0.80924621037942623,
                      0.890098512, -2.70113564, 1.210526211078268, 2.47229838, 3079435581u);
  random<curandState>(wrong, 99ull, 5000ull, 7ull, 1000520565u, 19616962u, 0.86037755, 0.055674263932795454,
                      -0.337206453, 0.123652749, -0.78594997323454974, 4.29221106, 174411954u);
  random<curandState>(wrong, 81985529216486895ull, 1073741825ull, 1000003ull, 97697931u, 3645926201u, 0.0711575225,
                      0.61908214496800107, 0.730225146, 0.132903308, 0.84372480395338478, 2.37652183, 2962281781u);
  random<curandState>(wrong, 7ull, 17592186044415ull, 1099511627775ull, 3637069420u, 2418235795u, 0.0213752501,
                      0.42669208888801285, -0.0404355414, 1.57794678, -0.43842967580898834, 1.40096188, 4070637793u);
}

__global__ void check_philox(int *wrong) {
  random<curandStatePhilox4_32_10_t>(wrong, 1234ull, 0ull, 0ull, 546353992u, 3665621163u, 0.265648872,
                                     0.79605526081286371, 0.633082867, 0.743367076, -0.21876747791166526, 2.52269435, 3055983166u);
  random<curandStatePhilox4_32_10_t>(wrong, 1234ull, 1ull, 0ull, 3507855656u, 1392278645u, 0.781055391,
                                     0.058917633257806301, 1.63582182, -2.12177968, 1.0899341098975821, 1.74972641, 693635153u);
  random<curandStatePhilox4_32_10_t>(wrong, 99ull, 5000ull, 7ull, 1884483271u, 4034108437u, 0.402646244,
                                     0.23867982649244368, -0.412213951, -0.363537639, 0.63440403859480388, 2.16052341, 3527964133u);
  random<curandStatePhilox4_32_10_t>(wrong, 81985529216486895ull, 1073741825ull, 1000003ull, 3291148586u, 598319001u,
                                     0.960554779, 0.2274039825424552, -0.649884462, -1.01424146, -0.11617713500689547, 2.42752147, 1946677142u);
  random<curandStatePhilox4_32_10_t>(wrong, 7ull, 17592186044415ull, 1099511627775ull, 405931122u, 454940345u,
                                     0.889777064, 0.23687277408316731, 2.5814867, -0.0542886481, -2.0845182860448164, 5.45550632, 2730446120u);
  curandStatePhilox4_32_10_t state;
  curand_init(5, 6, 3, &state);
  const float4 uniform = curand_uniform4(&state), normal = curand_normal4(&state);
  CHECK(uniform.x == 0.169328928f && uniform.y == 0.0724629611f && uniform.w == 0.747514129f);
  CHECK(NEAR(normal.x, -1.39401805) && NEAR(normal.y, -0.473000467) && NEAR(normal.w, 1.98106134));
}

__global__ void check_sobol(int *wrong) {
  curandDirectionVectors32_t short_vectors;
  curandDirectionVectors64_t long_vectors;
  for (int i = 0; i < 32; i++) short_vectors[i] = (i ? 3u << (31 - i) : 1u << 31);
  for (int i = 0; i < 64; i++) long_vectors[i] = (i ? 3ull << (63 - i) : 1ull << 63);
  curandStateSobol32_t small;
  curand_init(short_vectors, 12345, &small);
  const float first = curand_uniform(&small);
  CHECK(first == 0.922790527f);
  CHECK(curand(&small) == 742129664u && curand(&small) == 2889613312u);
  curandStateSobol64_t large;
  curand_init(long_vectors, 12345, &large);
  CHECK(curand_uniform_double(&large) == 0.92279052734375);
  CHECK(curand_uniform(&large) == 0.172790527f && curand(&large) == 12410794673126244352ull);
}
