// SPDX-License-Identifier: MIT
//
// multi-gpu: kernels that work on the memory of two devices, and a step of 3-D heat diffusion that is launched in parts.
//
//   copy    out = in; one of the two may be another device's memory
//   chase   follows a list of places by one thread, each load needs the one before it: the time of a load
//   count   each thread adds 1 to a counter `each` times, by atomics
//   add     out = a + b: with one of them in another device's memory, a step of an all-reduce
//   heat    out = in + k * (the six neighbours - 6 in), for some planes of a box
//
// A thread of heat marches through `deep` planes of its column in z. It keeps three values of the column, so that of the
// neighbours in z one load per cell is left. The sides in x and y are insulated: a neighbour outside is the cell
// itself. Block z of the grid starts at plane first + z * stride, and no block goes past `end`. With deep = 1 two blocks
// do the first and the last plane of a device, its border, and a second launch does what is between.
//
// Bound: main memory, one read and one write per cell; what is in another device's memory, the link. Source: the
// halo exchange that hides behind the interior is that of S. Omlin and L. Raess, ImplicitGlobalGrid.jl, and of the course
// "Solving partial differential equations in parallel on GPUs" (ETH Zurich).

// ---- memory of another device -------------------------------------------------------------------------------------

__global__ void copy(float4 *out, const float4 *in, long long n) {
  const long long threads = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) out[i] = in[i];
}

__global__ void chase(int *last, const volatile int *next, int steps) { // volatile: past the first-level cache
  int at = 0;
  for (int i = 0; i < steps; i++) at = next[at];
  *last = at;
}

__global__ void count(unsigned *counters, unsigned places, int each) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < each; k++) atomicAdd(&counters[(i + k * 32) % places], 1u);
}

__global__ void add(float4 *out, const float4 *a, const float4 *b, long long n) {
  const long long threads = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    const float4 u = a[i], v = b[i];
    out[i] = make_float4(u.x + v.x, u.y + v.y, u.z + v.z, u.w + v.w);
  }
}

// ---- heat ---------------------------------------------------------------------------------------------------------

__global__ void __launch_bounds__(256)
    heat(double *__restrict__ out, const double *__restrict__ in, int nx, int ny, int first, int end, int stride, int deep,
         double k) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  const long long plane = (long long)nx * ny;
  const int from = first + blockIdx.z * stride, to = min(from + deep, end);
  const int left = x > 0 ? -1 : 0, right = x < nx - 1 ? 1 : 0, front = y > 0 ? -nx : 0, back = y < ny - 1 ? nx : 0;
  long long at = from * plane + (long long)y * nx + x;
  double below = in[at - plane], here = in[at];
  for (int z = from; z < to; z++, at += plane) {
    const double above = in[at + plane];
    out[at] = here + k * (in[at + left] + in[at + right] + in[at + front] + in[at + back] + below + above - 6 * here);
    below = here;
    here = above;
  }
}

// ---- host notes ---------------------------------------------------------------------------------------------------
// copy, add  any block and grid; n counts float4
// chase      one thread
// count      any block and grid
// heat       block 64x4; grid ceil(nx / 64), ceil(ny / 4), blocks of planes
