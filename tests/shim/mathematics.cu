/* SPDX-License-Identifier: MIT
 *
 * CUDA's mathematics, checked by itself; launched as builtins.cu's kernels are. The expected values were computed with
 * 40 digits (mpmath 1.3); NEAR says how many units in the last place double and float results may differ from them:
 * CUDA's documented bounds, a little widened for the special functions. Arguments are exact in single precision. */
#include "check.cuh"

/* |got - expected| in units in the last place of expected. */
__device__ double distance(double got, double expected) {
  const double unit = ldexp(1.0, (expected == 0 ? -1074 : ilogb(expected) - 52));
  return fabs(got - expected) / unit;
}
__device__ double distance(float got, double expected) {
  const double unit = ldexp(1.0, (expected == 0 ? -149 : ilogb(expected) - 23));
  return fabs((double)got - expected) / unit;
}

/* name(double), namef(float) and name(float). Half a unit is the rounding of `expected` itself. */
#define NEAR(name, ulps, ulpsf, expected, x)                                                                           \
  CHECK(distance(name((double)(x)*one), expected) <= ulps + 0.5);                                                      \
  CHECK(distance(name##f((float)(x)*one), expected) <= ulpsf + 0.5);                                                   \
  CHECK(name((float)(x)*one) == name##f((float)(x)*one))
#define NEAR2(name, ulps, ulpsf, expected, x, y)                                                                       \
  CHECK(distance(name((double)(x)*one, (double)(y)), expected) <= ulps + 0.5);                                         \
  CHECK(distance(name##f((float)(x)*one, (float)(y)), expected) <= ulpsf + 0.5);                                       \
  CHECK(name((float)(x)*one, (float)(y)) == name##f((float)(x)*one, (float)(y)))

__global__ void check_elementary(int *wrong) {
  const float one = (float)opaque_one();
  NEAR(sin, 2, 4, 0.47942553860420300027, 0.5);
  NEAR(sin, 2, 4, -0.9092974268256816954, -2.0);
  NEAR(sin, 2, 4, -0.5440211108893698134, 10.0);
  NEAR(sin, 2, 4, 0.000015258789061907881054, 1.52587890625e-05);
  NEAR(sin, 2, 4, -0.50636564110975879366, 100.0);
  NEAR(cos, 2, 4, 0.87758256189037271612, 0.5);
  NEAR(cos, 2, 4, -0.98999249660044545727, 3.0);
  NEAR(cos, 2, 4, -0.83907152907645245226, -10.0);
  NEAR(cos, 2, 4, 0.8623188722876839341, 100.0);
  NEAR(tan, 2, 4, 0.54630248984379051326, 0.5);
  NEAR(tan, 2, 4, -3.0095696738628312882, -1.25);
  NEAR(tan, 2, 4, 0.64836082745908667126, 10.0);
  NEAR(asin, 2, 4, 0.25268025514207865349, 0.25);
  NEAR(asin, 2, 4, -1.0654358165107393123, -0.875);
  NEAR(acos, 2, 4, 1.3181160716528179657, 0.25);
  NEAR(acos, 2, 4, 2.6362321433056359315, -0.875);
  NEAR(atan, 2, 4, 0.46364760900080611621, 0.5);
  NEAR(atan, 2, 4, -1.5208379310729538578, -20.0);
  NEAR(sinh, 2, 4, 0.25261231680816830791, 0.25);
  NEAR(sinh, 2, 4, 10.017874927409901899, 3.0);
  NEAR(cosh, 2, 4, 1.0314130998795731762, 0.25);
  NEAR(cosh, 2, 4, 10.067661995777765842, 3.0);
  NEAR(tanh, 2, 4, 0.24491866240370912928, 0.25);
  NEAR(tanh, 2, 4, 0.99505475368673045133, 3.0);
  NEAR(asinh, 3, 4, 0.24746646154726345294, 0.25);
  NEAR(asinh, 3, 4, 4.09462222433053057, 30.0);
  NEAR(acosh, 3, 4, 0.69314718055994530942, 1.25);
  NEAR(acosh, 3, 4, 4.0940666686320851277, 30.0);
  NEAR(atanh, 3, 4, 0.2554128118829953416, 0.25);
  NEAR(atanh, 3, 4, -0.97295507452765665255, -0.75);
  NEAR(exp, 2, 4, 1.6487212707001281468, 0.5);
  NEAR(exp, 2, 4, 0.000045399929762484851536, -10.0);
  NEAR(exp, 2, 4, 485165195.40979027797, 20.0);
  NEAR(exp2, 2, 4, 1.4142135623730950488, 0.5);
  NEAR(exp2, 2, 4, 0.00082118790552120560843, -10.25);
  NEAR(exp10, 2, 4, 3.162277660168379332, 0.5);
  NEAR(exp10, 2, 4, 0.00056234132519034908039, -3.25);
  NEAR(expm1, 2, 4, 0.00097703949241653524285, 0.0009765625);
  NEAR(expm1, 2, 4, 6.3890560989306502272, 2.0);
  NEAR(log, 2, 4, -0.69314718055994530942, 0.5);
  NEAR(log, 2, 4, 2.302585092994045684, 10.0);
  NEAR(log, 2, 4, 11.51292546497022842, 100000.0);
  NEAR(log2, 2, 4, -0.41503749927884381855, 0.75);
  NEAR(log2, 2, 4, 3.3219280948873623479, 10.0);
  NEAR(log10, 2, 4, -0.12493873660829995313, 0.75);
  NEAR(log10, 2, 4, 0.69897000433601880479, 5.0);
  NEAR(log1p, 2, 4, 0.00097608597305545889596, 0.0009765625);
  NEAR(log1p, 2, 4, 1.0986122886681096914, 2.0);
  NEAR(sqrt, 0, 0, 1.4142135623730950488, 2.0);
  NEAR(sqrt, 0, 0, 100000.0, 10000000000.0);
  NEAR(rsqrt, 2, 4, 0.7071067811865475244, 2.0);
  NEAR(rsqrt, 2, 4, 0.00001, 10000000000.0);
  NEAR(cbrt, 2, 4, 1.2599210498948731648, 2.0);
  NEAR(cbrt, 2, 4, 1000.0, 1000000000.0);
  NEAR(rcbrt, 2, 4, 0.79370052598409973738, 2.0);
  NEAR(rcbrt, 2, 4, 0.001, 1000000000.0);
}

__global__ void check_special(int *wrong) {
  const float one = (float)opaque_one();
  NEAR(erf, 2, 4, 0.27632639016823693299, 0.25);
  NEAR(erf, 2, 4, 0.96610514647531072707, 1.5);
  NEAR(erfc, 6, 6, 0.72367360983176306701, 0.25);
  NEAR(erfc, 6, 6, 0.000022090496998585441373, 3.0);
  NEAR(erfcx, 8, 8, 0.61569034419292587487, 0.5);
  NEAR(erfcx, 8, 8, 0.17900115118138995042, 3.0);
  NEAR(erfcx, 8, 8, 0.028174348741051319319, 20.0);
  NEAR(erfinv, 10, 6, 0.22531205501217810473, 0.25);
  NEAR(erfinv, 10, 6, -1.0847870400692831413, -0.875);
  NEAR(erfinv, 10, 6, 2.040452014605609194, 0.99609375);
  NEAR(erfcinv, 10, 6, 0.81341984759761854169, 0.25);
  NEAR(erfcinv, 10, 6, -0.47693627620446987338, 1.5);
  NEAR(erfcinv, 10, 6, 2.3314677736219476723, 0.0009765625);
  NEAR(normcdf, 8, 8, 0.69146246127401310364, 0.5);
  NEAR(normcdf, 8, 8, 0.10564977366685525769, -1.25);
  NEAR(normcdf, 8, 8, 0.000031671241833119921254, -4.0);
  NEAR(normcdfinv, 10, 8, -0.6744897501960817432, 0.25);
  NEAR(normcdfinv, 10, 8, 1.1503493803760081783, 0.875);
  NEAR(normcdfinv, 10, 8, -2.4175590162365050618, 0.0078125);
  NEAR(tgamma, 12, 14, 1.7724538509055160273, 0.5);
  NEAR(tgamma, 12, 14, 11.631728396567448929, 4.5);
  NEAR(tgamma, 12, 14, 2.3632718012073547031, -1.5);
  NEAR(lgamma, 6, 8, 0.57236494292470008707, 0.5);
  NEAR(lgamma, 6, 8, 13.940625219403763633, 10.5);
  NEAR(sinpi, 2, 4, 0.7071067811865475244, 0.25);
  NEAR(sinpi, 2, 4, 0.7071067811865475244, 2.75);
  NEAR(sinpi, 2, 4, 0.38268343236508977173, -7.125);
  NEAR(cospi, 2, 4, 0.7071067811865475244, 0.25);
  NEAR(cospi, 2, 4, -0.7071067811865475244, 2.75);
  NEAR(cospi, 2, 4, -0.92387953251128675613, -7.125);
  NEAR(j0, 16, 16, 0.93846980724081290423, 0.5);
  NEAR(j0, 16, 16, -0.17759677131433830435, 5.0);
  NEAR(j1, 16, 16, 0.24226845767487388638, 0.5);
  NEAR(j1, 16, 16, -0.32757913759146522204, 5.0);
  NEAR(y0, 16, 16, -0.44451873350670655715, 0.5);
  NEAR(y0, 16, 16, -0.30851762524903378007, 5.0);
  NEAR(y1, 16, 16, -1.4714723926702430692, 0.5);
  NEAR(y1, 16, 16, 0.1478631433912268448, 5.0);
  NEAR(cyl_bessel_i0, 8, 8, 1.0634833707413235193, 0.5);
  NEAR(cyl_bessel_i0, 8, 8, 27.239871823604446895, 5.0);
  NEAR(cyl_bessel_i0, 8, 8, 14894774793419899.924, 40.0);
  NEAR(cyl_bessel_i1, 8, 8, 0.25789430539089631636, 0.5);
  NEAR(cyl_bessel_i1, 8, 8, 24.335642142450527199, 5.0);
  NEAR(cyl_bessel_i1, 8, 8, 14707396163259352.739, 40.0);
}

__global__ void check_two_arguments(int *wrong) {
  const float one = (float)opaque_one();
  NEAR2(pow, 2, 10, 24.705294220065463531, 2.5, 3.5);
  NEAR2(pow, 2, 10, 0.01, 10.0, -2.0);
  NEAR2(pow, 2, 10, 9.5367431640625e-7, 0.5, 20.0);
  NEAR2(atan2, 2, 4, 0.46364760900080611621, 1.0, 2.0);
  NEAR2(atan2, 2, 4, -2.6779450445889871222, -1.0, -2.0);
  NEAR2(hypot, 2, 4, 5.0, 3.0, 4.0);
  NEAR2(hypot, 2, 4, 2.7041634565979919698, 1.5, 2.25);
  CHECK(distance(rhypot(3.0 * one, 4.0), 0.2) <= 2.5); /* CUDA does not overload it for float */
  CHECK(distance(rhypotf(3.0f * one, 4.0f), 0.2) <= 4.5);
  CHECK(distance(rhypot(1.5 * one, 2.25), 0.36980013081681941468) <= 2.5);
  CHECK(distance(rhypotf(1.5f * one, 2.25f), 0.36980013081681941468) <= 4.5);
  NEAR2(fdim, 0, 0, 1.75, 3.0, 1.25);
  NEAR2(fdim, 0, 0, 0, 1.0, 2.0);
}

__global__ void check_rounding_functions(int *wrong) {
  const float f = (float)opaque_one();
  const double d = opaque_one();
  CHECK(floor(-2.5 * d) == -3 && ceil(-2.5 * d) == -2 && trunc(-2.5 * d) == -2 && round(-2.5 * d) == -3 &&
        rint(-2.5 * d) == -2);
  CHECK(floorf(2.5f * f) == 2 && ceilf(2.5f * f) == 3 && truncf(2.5f * f) == 2 && roundf(2.5f * f) == 3 &&
        rintf(2.5f * f) == 2);
  CHECK(nearbyint(3.5 * d) == 4 && lrint(2.5 * d) == 2 && lroundf(2.5f * f) == 3 && llrintf(-1.5f * f) == -2 &&
        llround(-1.5 * d) == -2);
  CHECK(fmod(-7.5 * d, 2.0) == -1.5 && remainder(7.5 * d, 2.0) == -0.5 && fmodf(7.5f * f, 2.0f) == 1.5f &&
        fabs(-3 * d) == 3);
  int quotient = 0, exponent = 0;
  CHECK(remquo(7.5 * d, 2.0, &quotient) == -0.5 && (quotient & 7) == 4);
  CHECK(frexp(10 * d, &exponent) == 0.625 && exponent == 4 && ldexp(0.625f * f, 4) == 10 && scalbn(3 * d, -1) == 1.5);
  double whole;
  float wholef;
  CHECK(modf(-2.75 * d, &whole) == -0.75 && whole == -2 && modff(2.75f * f, &wholef) == 0.75f && wholef == 2);
  CHECK(ilogb(10 * d) == 3 && logb(0.3 * d) == -2 && ilogbf(1e-40f * f) == -133);
  CHECK(nextafter(d, 2.0) - 1 == 2.220446049250313e-16 && nextafterf(f, 0.0f) == 0.99999994f);
  CHECK(copysign(3 * d, -0.0) == -3 && fma(2 * d, 3.0, 4.0) == 10 &&
        fmaf(f + 0.000244140625f, f + 0.000244140625f, -1) > 0.00048828125f);
}

__global__ void check_special_values(int *wrong) {
  const float f = (float)opaque_one();
  const double d = opaque_one(), infinite = d / (d - 1), none = infinite - infinite;
  const float infinitef = (float)infinite, nonef = (float)none;
  CHECK(isnan(none) && isinf(-infinite) && !isfinite(infinite) && isfinite(d) && signbit(-0.0 * d) && !isnan(infinite));
  CHECK(isnan(nonef) && isinf(infinitef) && !isfinite(nonef) && signbit(-f) && !signbit(f));
  CHECK(fmin(none, d) == 1 && fmax(d, none) == 1 && fminf(nonef, f) == 1 && fmaxf(f, nonef) == 1 &&
        isnan(fmax(none, none)));
  CHECK(fmin(-1 * d, 2.0) == -1 && fmaxf(-1 * f, 2.0f) == 2 && max(f, 2.0f) == 2 && min(2.0 * d, 1.0) == 1);
  CHECK(isnan(sqrt(-d)) && exp(-infinite) == 0 && isinf(log(0 * d)) && isnan(acos(2 * d)) && pow(none, 0.0) == 1);
  CHECK(erfinv(1 * d) == infinite && isnan(erfinv(2 * d)) && erfcinv(2 * d) == -infinite && normcdf(-50 * d) == 0);
  CHECK(rsqrt(0 * d) == infinite && rsqrtf(4 * f) == 0.5f && isnan(sinpi(infinite)) && sinpi(3 * d) == 0 &&
        cospi(1.5 * d) == 0);
  CHECK(distance(tgamma(5 * d), 24) <= 8 && fabs(lgamma(d)) < 1e-15 && distance(cbrt(-27 * d), -3) <= 1 &&
        exp2(10 * d) == 1024);
}

__global__ void check_norms(int *wrong) {
  const float f = (float)opaque_one();
  const double d = opaque_one();
  const double v[5] = {1 * d, 2, 3, 4, 5};
  CHECK(distance(norm(5, v), 7.4161984870956629) <= 3 && distance(norm3d(2 * d, 3, 6), 7) <= 2);
  CHECK(distance(norm3d(2e200 * d, 3e200, 6e200), 7e200) <= 3 && distance(norm4d(1 * d, 2, 4, 10), 11) <= 2);
  CHECK(distance(rnorm3d(2 * d, 3, 6), 1 / 7.0) <= 3 && distance(norm3df(2 * f, 3, 6), 7.0) <= 3);
  double s, c;
  float sf, cf;
  sincos(0.5 * d, &s, &c);
  CHECK(distance(s, 0.47942553860420300027) <= 2.5 && distance(c, 0.8775825618903727161) <= 2.5);
  sincospi(0.25 * d, &s, &c);
  CHECK(distance(s, 0.70710678118654752440) <= 2.5 && s - c < 3e-16);
  sincosf(0.5f * f, &sf, &cf);
  CHECK(distance(sf, 0.47942553860420300027) <= 2.5 && distance(cf, 0.8775825618903727161) <= 2.5);
}

/* Fast intrinsics: on a GPU they promise about 2^-21 here. */
__global__ void check_fast_intrinsics(int *wrong) {
  const float f = (float)opaque_one();
  float s, c;
  CHECK(fabsf(__sinf(0.5f * f) - 0.47942554f) < 2e-6f && fabsf(__cosf(0.5f * f) - 0.87758256f) < 2e-6f);
  CHECK(fabsf(__expf(0.5f * f) - 1.6487213f) < 3e-6f && fabsf(__logf(10 * f) - 2.3025851f) < 3e-6f);
  CHECK(fabsf(__powf(2.5f * f, 3.5f) - 24.705294f) < 2e-4f && __saturatef(-2 * f) == 0 && __saturatef(3 * f) == 1);
  CHECK(fabsf(__fdividef(f, 3) - 0.33333334f) < 1e-6f && __frcp_rn(4 * f) == 0.25f && __frsqrt_rn(4 * f) == 0.5f);
  __sincosf(0.5f * f, &s, &c);
  CHECK(fabsf(s * s + c * c - 1) < 1e-5f && fabsf(__log2f(8 * f) - 3) < 1e-5f &&
        fabsf(__tanf(0.5f * f) - 0.5463025f) < 1e-5f);
}
