// SPDX-License-Identifier: MIT
//
// The maxima of fluid.cu by CUB's BlockReduce. The result stays on the device, so that it does not end a burst of
// launches, as Thrust's does. A file of its own: CUB takes long to compile.

#include <cub/cub.cuh>

// most[0] = the greatest u0^2 + v0^2, most[1] = the greatest d0. Blocks of 256.
__global__ void maxima_cub(float *most, const float *u0, const float *v0, const float *d0, int count) {
  typedef cub::BlockReduce<float, 256> reduce;
  __shared__ typename reduce::TempStorage space;
  float speed = 0, smoke = 0;
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < count; k += gridDim.x * blockDim.x) {
    speed = fmaxf(speed, u0[k] * u0[k] + v0[k] * v0[k]);
    smoke = fmaxf(smoke, d0[k]);
  }
  auto greater = [](float a, float b) { return fmaxf(a, b); };
  speed = reduce(space).Reduce(speed, greater);
  __syncthreads();
  smoke = reduce(space).Reduce(smoke, greater);
  if (threadIdx.x == 0) {
    atomicMax((int *)most, __float_as_int(speed));
    atomicMax((int *)most + 1, __float_as_int(smoke));
  }
}
