// SPDX-License-Identifier: MIT
//
// streams: kernels that put a known amount of work between a copy in and a copy out.
//
//   iterate  v = a * v + b, `rounds` times for each element: little memory traffic, as much arithmetic as wanted
//   nothing  no work at all: what a kernel in the legacy default stream costs by its mere presence
//
// With a = -1, b = 1 and an odd number of rounds the result is 1 - v, without any rounding for multiples of 2^-20
// between 0 and 1: the host knows every bit of it, however many rounds there were. a and b are arguments, so that the
// compiler cannot know it too.
//
// Bound: arithmetic, n * rounds fused multiply-adds. Sources of what is around it: S. Boerm, "Simulation and
// High-Performance Computing", part 16 (Kiel, 2020), for the pipeline of chunks; M. Giles and W. Armour, "CUDA
// Programming on NVIDIA GPUs", lecture 6 (Oxford; undated), for the streams. With blocks of a piece each, iterate is also
// the worker of experiments/concurrency.lua.

// ---- kernels --------------------------------------------------------------------------------------------------------

template <typename T> __global__ void iterate(T *out, const T *in, T a, T b, int rounds, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  T v = in[i];
  for (int k = 0; k < rounds; k++) v = a * v + b;
  out[i] = v;
}

__global__ void nothing() {}

// ---- host notes -----------------------------------------------------------------------------------------------------
// iterate  any block; grid ceil(n / block)
// nothing  any
