// SPDX-License-Identifier: MIT
//
// nbody: the gravitational potential of n bodies at each of them, phi[i] = -sum of m[j] / |x[i] - x[j]|, j != i, with
// G = 1; then the accelerations, and the one step from which integrators are made. No two bodies share a place.
//
// The ladder; TILE is 256. Bound: arithmetic. Each of the n^2 interactions needs a reciprocal square root.
//   potential_direct<float>      each thread reads all bodies; bound: issue, since the reads are the caches'. With
//                                <double> the literal 1 of 1 / r is a double, as in the next
//   potential_shared<double>     a block stages TILE bodies in shared memory, as the source does, with its literal
//                                1.0, a double: it turns division and sum into f64; bound: f64 units and conversions
//   potential_shared<float>      the same with 1.0f; bound: issue of an exactly rounded root and a division
//   potential_tiled              rsqrtf in their place; the body itself is known by its distance; bound: issue
//   potential_wide<B, I, U>      a thread has I bodies, so a staged body is read once for I interactions; only tiles
//                                with own bodies ask who is who; unrolled U times; bound: the special-function units
//   the option fast_math         any of them: denormals are flushed, so rsqrtf is one instruction; roots and divisions
//                                are approximate; bound: the special-function units
//   potential_pairs<I>           each pair once, by Newton's third law: a root serves two interactions; bound: issue,
//                                nine instructions for the two
//
//   v9 potential_tile            v4 of some bodies from some others, adding up: a step of a ring of devices
//
// The special-function units give 16 results a cycle and multiprocessor (CUDA C++ Programming Guide, throughput of
// native arithmetic instructions, reciprocal square root of f32, compute capability 5.0 and later).
// Sources: S. Boerm, "Simulation and High-Performance Computing", part 16 (Kiel, 2020): tiles and the question; of its
// direct kernel it has only the times.
// L. Nyland, M. Harris, J. Prins, "Fast N-body simulation with CUDA", GPU Gems 3 (2007), chapter 31: tiles, several
// bodies per thread. L. Verlet, Phys. Rev. 159 (1967) 98: leapfrog.
// Rounding: a sum of n terms of one sign, so mw.check takes { sum = n }; pairs are added in an order that differs from
// run to run.

#define TILE 256
#define WARP 32

// ---- device helpers -------------------------------------------------------------------------------------------------

// A body as (x, y, z, mass). What stands for a body beyond the last has no mass, and is so far away that its distance
// to all others is neither 0 nor infinite.
__device__ float4 body_of(const float *x, const float *y, const float *z, const float *m, int i, int n) {
  return i < n ? make_float4(x[i], y[i], z[i], m[i]) : make_float4(1e18f, 0.0f, 0.0f, 0.0f);
}

__device__ float inverse_distance(float4 b, float x, float y, float z) {
  float dx = b.x - x, dy = b.y - y, dz = b.z - z;
  return rsqrtf(dx * dx + dy * dy + dz * dz);
}

__device__ float inverse_root(float a) { return rsqrtf(a); }
__device__ double inverse_root(double a) { return rsqrt(a); }

// ---- kernels: the potential -----------------------------------------------------------------------------------------

// One: the type of the literal 1 in 1 / r.
template <typename One>
__global__ void
potential_direct(float *phi, const float *x, const float *y, const float *z, const float *m, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int j = 0; j < n; j++) {
    float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
    float r2 = dx * dx + dy * dy + dz * dz;
    sum += r2 > 0.0f ? One(1) * m[j] / sqrtf(r2) : One(0);
  }
  phi[i] = -sum;
}

// The last tile is filled up with bodies of no mass; a thread without a body still loads and waits.
template <typename One>
__global__ void __launch_bounds__(TILE)
potential_shared(float *phi, const float *x, const float *y, const float *z, const float *m, int n) {
  __shared__ float xs[TILE], ys[TILE], zs[TILE], ms[TILE];
  int it = threadIdx.x;
  int i = blockIdx.x * TILE + it;
  float4 own = body_of(x, y, z, m, i, n);
  float xi = own.x, yi = own.y, zi = own.z, sum = 0;
  for (int first = 0; first < n; first += TILE) {
    float4 b = body_of(x, y, z, m, first + it, n);
    xs[it] = b.x;
    ys[it] = b.y;
    zs[it] = b.z;
    ms[it] = b.w;
    __syncthreads();
    for (int k = 0; k < TILE; k++) {
      float dx = xs[k] - xi, dy = ys[k] - yi, dz = zs[k] - zi;
      if (first + k != i) sum += One(1) * ms[k] / sqrtf(dx * dx + dy * dy + dz * dz);
    }
    __syncthreads();
  }
  if (i < n) phi[i] = -sum;
}

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

// Arrays of bodies have all x, then all y, all z and all masses.
__global__ void __launch_bounds__(TILE)
potential_tile(float *phi, const float *own, const float *tile, int n, int others, int is_first) {
  __shared__ float4 staged[TILE];
  int it = threadIdx.x;
  int i = blockIdx.x * TILE + it;
  float4 mine = body_of(own, own + n, own + 2 * n, own + 3 * n, i, n);
  float sum = 0;
  for (int first = 0; first < others; first += TILE) {
    staged[it] = body_of(tile, tile + others, tile + 2 * others, tile + 3 * others, first + it, others);
    __syncthreads();
    for (int k = 0; k < TILE; k++) {
      float dx = staged[k].x - mine.x, dy = staged[k].y - mine.y, dz = staged[k].z - mine.z;
      float r2 = dx * dx + dy * dy + dz * dz;
      sum += r2 > 0.0f ? staged[k].w * rsqrtf(r2) : 0.0f;
    }
    __syncthreads();
  }
  if (i < n) phi[i] = (is_first ? 0.0f : phi[i]) - sum;
}

// A thread's I bodies are B apart from each other; the loop over a staged tile is unrolled U times.
template <int B, int I, int U>
__global__ void __launch_bounds__(B)
potential_wide(float *phi, const float *x, const float *y, const float *z, const float *m, int n) {
  __shared__ float4 tile[B];
  int it = threadIdx.x;
  int from = blockIdx.x * B * I;
  float xi[I], yi[I], zi[I], sum[I];
#pragma unroll
  for (int k = 0; k < I; k++) {
    float4 own = body_of(x, y, z, m, from + k * B + it, n);
    xi[k] = own.x;
    yi[k] = own.y;
    zi[k] = own.z;
    sum[k] = 0;
  }
  for (int first = 0; first < n; first += B) {
    tile[it] = body_of(x, y, z, m, first + it, n);
    __syncthreads();
    bool apart = first + B <= from || first >= from + B * I;
    if (apart) {
#pragma unroll U
      for (int j = 0; j < B; j++) {
        float4 b = tile[j];
#pragma unroll
        for (int k = 0; k < I; k++) sum[k] += b.w * inverse_distance(b, xi[k], yi[k], zi[k]);
      }
    } else {
      for (int j = 0; j < B; j++) {
        float4 b = tile[j];
#pragma unroll
        for (int k = 0; k < I; k++)
          sum[k] += first + j == from + k * B + it ? 0.0f : b.w * inverse_distance(b, xi[k], yi[k], zi[k]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int k = 0; k < I; k++)
    if (from + k * B + it < n) phi[from + k * B + it] = -sum[k];
}

// A block is a warp and has a group of 32 * I bodies, I per lane. The groups stand in a circle, and each meets the half
// of them that is ahead of it, 32 bodies at a time. These 32 walk round the warp by shuffles, with the sums that they
// gather on the way; after 32 steps each is home and adds its sum to phi, which has to be 0 before. gridDim.y parts
// share the half circle.
template <int I>
__global__ void __launch_bounds__(WARP)
potential_pairs(float *phi, const float *x, const float *y, const float *z, const float *m, int n) {
  const int G = WARP * I;
  int lane = threadIdx.x, group = blockIdx.x, groups = gridDim.x;
  float xi[I], yi[I], zi[I], mi[I], sum[I];
#pragma unroll
  for (int k = 0; k < I; k++) {
    float4 own = body_of(x, y, z, m, group * G + k * WARP + lane, n);
    xi[k] = own.x;
    yi[k] = own.y;
    zi[k] = own.z;
    mi[k] = own.w;
    sum[k] = 0;
  }
  // The group itself: every ordered pair, by the first part only.
  int inside = blockIdx.y == 0 ? G : 0;
  for (int j = 0; j < inside; j++) {
    float4 b = body_of(x, y, z, m, group * G + j, n);
#pragma unroll
    for (int k = 0; k < I; k++)
      sum[k] += j == k * WARP + lane ? 0.0f : b.w * inverse_distance(b, xi[k], yi[k], zi[k]);
  }
  // Of an even number of groups, the opposite one is met from one side only.
  int ahead = (groups - 1) / 2 + (groups % 2 == 0 && group < groups / 2 ? 1 : 0);
  int chunks = ahead * I, share = (chunks + gridDim.y - 1) / gridDim.y;
  int from = blockIdx.y * share, to = min(from + share, chunks);
  for (int c = from; c < to; c++) {
    int j = (group + 1 + c / I) % groups * G + c % I * WARP + lane;
    float4 b = body_of(x, y, z, m, j, n);
    float gathered = 0;
#pragma unroll 4
    for (int step = 0; step < WARP; step++) {
#pragma unroll
      for (int k = 0; k < I; k++) {
        float inverse = inverse_distance(b, xi[k], yi[k], zi[k]);
        sum[k] += b.w * inverse;
        gathered += mi[k] * inverse;
      }
      b.x = __shfl_sync(0xffffffff, b.x, lane + 1);
      b.y = __shfl_sync(0xffffffff, b.y, lane + 1);
      b.z = __shfl_sync(0xffffffff, b.z, lane + 1);
      b.w = __shfl_sync(0xffffffff, b.w, lane + 1);
      gathered = __shfl_sync(0xffffffff, gathered, lane + 1);
    }
    if (j < n) atomicAdd(phi + j, -gathered);
  }
#pragma unroll
  for (int k = 0; k < I; k++) {
    int i = group * G + k * WARP + lane;
    if (i < n) atomicAdd(phi + i, -sum[k]);
  }
}

// ---- kernels: motion ------------------------------------------------------------------------------------------------

// Positions, velocities and accelerations are n numbers along x, then n along y, then n along z. Softening e: bodies
// see each other at the distance sqrt(r^2 + e^2), in the force and in the potential, so that energy is conserved.
template <typename Real, int B>
__global__ void __launch_bounds__(B)
accelerations(Real *a, Real *phi, const Real *x, const Real *m, Real softening, int n) {
  __shared__ Real xs[B], ys[B], zs[B], ms[B];
  int it = threadIdx.x;
  int i = blockIdx.x * B + it;
  bool on = i < n;
  Real xi = on ? x[i] : 0, yi = on ? x[n + i] : 0, zi = on ? x[2 * n + i] : 0;
  Real ax = 0, ay = 0, az = 0, sum = 0;
  for (int first = 0; first < n; first += B) {
    int j = first + it;
    xs[it] = j < n ? x[j] : 0;
    ys[it] = j < n ? x[n + j] : 0;
    zs[it] = j < n ? x[2 * n + j] : 0;
    ms[it] = j < n ? m[j] : 0;
    __syncthreads();
    int count = min(B, n - first);
    for (int k = 0; k < count; k++) {
      Real dx = xs[k] - xi, dy = ys[k] - yi, dz = zs[k] - zi;
      Real inverse = inverse_root(dx * dx + dy * dy + dz * dz + softening * softening);
      Real near = first + k == i ? 0 : ms[k] * inverse;
      Real pull = first + k == i ? 0 : near * inverse * inverse;
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
      sum += near;
    }
    __syncthreads();
  }
  if (on) {
    a[i] = ax;
    a[n + i] = ay;
    a[2 * n + i] = az;
    phi[i] = -sum;
  }
}

// to += step * rate. With velocities and accelerations it is a kick, with positions and velocities a drift; leapfrog is
// half a kick, a drift, new accelerations, half a kick.
template <typename Real> __global__ void advance(Real *to, const Real *rate, Real step, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] += step * rate[i];
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// potential_direct         any block, grid ceil(n / block)
// potential_shared, tiled  block 256, grid ceil(n / 256)
// potential_wide<B, I, U>  block B, grid ceil(n / (B * I))
// potential_pairs<I>       block 32, grid {ceil(n / (32 * I)), parts}; phi 0 before; parts: enough warps for the device
// accelerations<Real, B>   block B, grid ceil(n / B)
// advance<Real>            any block, grid ceil(count / block); count is 3 n
