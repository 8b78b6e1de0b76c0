// SPDX-License-Identifier: MIT
//
// 16 bytes of f32 or f64 as one access: four floats or two doubles. The address must be a multiple of 16.
#pragma once

template <typename T> struct vector16;
template <> struct vector16<float> { typedef float4 type; };
template <> struct vector16<double> { typedef double2 type; };

__device__ void unpack(float4 v, float *to) {
  to[0] = v.x;
  to[1] = v.y;
  to[2] = v.z;
  to[3] = v.w;
}

__device__ void unpack(double2 v, double *to) {
  to[0] = v.x;
  to[1] = v.y;
}

__device__ float4 pack(const float *x) {
  return make_float4(x[0], x[1], x[2], x[3]);
}

__device__ double2 pack(const double *x) {
  return make_double2(x[0], x[1]);
}
