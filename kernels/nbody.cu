// SPDX-License-Identifier: MIT
//
// nbody: the gravitational potential of n bodies at each of them, phi[i] = -sum of m[j] / |x[i] - x[j]|, j != i, G = 1.
// A distance of zero is the body itself; bodies in the same place do not see each other either.
//
// The ladder
//   v1 potential_direct   each thread reads all bodies from memory (from cache, in truth)
//   v2 potential_tiled    a block stages 256 bodies at a time in shared memory
//
// Bound: n^2 interactions; each needs one reciprocal square root, so the special-function units (16 a cycle and
// multiprocessor on recent GPUs) set the ceiling. The problem is Kiel's, lecture 16 on GPU computing; the tiling that
// of L. Nyland, M. Harris and J. Prins, "Fast N-body simulation with CUDA", GPU Gems 3 (2007), chapter 31.
// Rounding: a sum of n terms of one sign, so mw.check takes { sum = n }.

#define TILE 256

// ---- kernels --------------------------------------------------------------------------------------------------------

__global__ void potential_direct(float *phi, const float *x, const float *y, const float *z, const float *m, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int j = 0; j < n; j++) {
    float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
    float r2 = dx * dx + dy * dy + dz * dz;
    sum += r2 > 0.0f ? m[j] / sqrtf(r2) : 0.0f;
  }
  phi[i] = -sum;
}

// The last tile is filled up with bodies of no mass; a thread without a body of its own still loads and waits.
__global__ void __launch_bounds__(TILE)
potential_tiled(float *phi, const float *x, const float *y, const float *z, const float *m, int n) {
  __shared__ float xs[TILE], ys[TILE], zs[TILE], ms[TILE];
  int it = threadIdx.x;
  int i = blockIdx.x * TILE + it;
  bool on = i < n;
  float xi = on ? x[i] : 0.0f, yi = on ? y[i] : 0.0f, zi = on ? z[i] : 0.0f;
  float sum = 0;
  for (int first = 0; first < n; first += TILE) {
    int j = first + it;
    xs[it] = j < n ? x[j] : 0.0f;
    ys[it] = j < n ? y[j] : 0.0f;
    zs[it] = j < n ? z[j] : 0.0f;
    ms[it] = j < n ? m[j] : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; k++) {
      float dx = xs[k] - xi, dy = ys[k] - yi, dz = zs[k] - zi;
      float r2 = dx * dx + dy * dy + dz * dz;
      sum += r2 > 0.0f ? ms[k] * rsqrtf(r2) : 0.0f;
    }
    __syncthreads();
  }
  if (on) phi[i] = -sum;
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// potential_direct   any block, grid ceil(n / block)
// potential_tiled    block 256, grid ceil(n / 256)
