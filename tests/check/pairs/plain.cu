// SPDX-License-Identifier: MIT
//
// What is missing most often. A line that ends in "// legal" or "// faulty" is in that twin only.

#define TILE 8

// Guide, "Synchronization Functions": the tile is read after all have written it.
__global__ void transpose_tile(const float *in, float *out, int n) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x < n && y < n) tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads(); // legal
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  if (x < n && y < n) out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

// Guide, "Shared Memory", matrix product: a second barrier keeps the next tile from being loaded too early.
template <typename T, int N> __global__ void product(const T *a, const T *b, T *c, int n) {
  __shared__ T as[N][N], bs[N][N];
  int row = blockIdx.y * N + threadIdx.y, col = blockIdx.x * N + threadIdx.x;
  T sum = 0;
  for (int m = 0; m < n / N; ++m) {
    as[threadIdx.y][threadIdx.x] = a[row * n + m * N + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(m * N + threadIdx.y) * n + col];
    __syncthreads();
    for (int e = 0; e < N; ++e) sum += as[threadIdx.y][e] * bs[e][threadIdx.x];
    __syncthreads(); // legal
  }
  c[row * n + col] = sum;
}

// PTX ISA, "Conflict and Data-races": bins that several blocks share want atomics.
__global__ void shared_bins(const unsigned char *in, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[in[i] / 16], 1); // legal
  if (i < n) bins[in[i] / 16]++;              // faulty
}

// PTX ISA, "Conflict and Data-races": blocks of a launch are not ordered, so a stencil does not work in place.
__global__ void in_place(double *a, double *b, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
      z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= nx || y >= ny || z + 1 >= nz) return;
  int i = (z * ny + y) * nx + x;
  b[i] = 0.5 * (a[i] + a[i + nx * ny]); // legal
  a[i] = 0.5 * (a[i] + a[i + nx * ny]); // faulty
}

// Guide, "Thread Hierarchy": the last block has more threads than there are elements.
__global__ void no_guard(const short2 *in, short2 *out, int n) {
  unsigned i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) // legal
    out[i] = make_short2(in[i].y, in[i].x);
}

// Guide, "Synchronization Functions": a barrier in a condition is allowed only if all threads find the same.
__global__ void half_barrier(int *io) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = io[t];
  if (t < 32) {
    __syncthreads(); // faulty
    s[t] += 1;
  } else {
    s[t] -= 1;
  }
  __syncthreads(); // legal
  io[t] = s[63 - t];
  __syncthreads();
  if (t == 0) io[0] += s[1];
}

// Guide, "Synchronization Functions": a loop's barrier is met as often by each thread.
__global__ void uneven_loop(const int *lengths, int *out) {
  __shared__ int turn;
  if (threadIdx.x == 0) turn = 0;
  __syncthreads();
  int mine = lengths[threadIdx.x];
  for (int k = 0; k < mine; k++) { // faulty
  for (int k = 0; k < 6; k++) {    // legal
    if (threadIdx.x == k && k < mine) turn = turn + 1;
    __syncthreads();
  }
  __syncthreads();
  if (threadIdx.x == 0) out[0] = turn;
  __syncthreads();
}

// Guide, "Warp Shuffle Functions": all lanes that the mask names take part, with the same mask.
__global__ void mask_too_wide(float *io) {
  int t = threadIdx.x;
  float v = io[t];
  if (t < 16) {
    v += __shfl_down_sync(0x0000ffffu, v, 8, 16); // legal
    v += __shfl_down_sync(0xffffffffu, v, 8, 16); // faulty
  }
  __syncwarp();
  io[t] = v;
}

// Guide, "Size and Alignment Requirement": a vector of 16 bytes is read from a multiple of 16.
__global__ void misaligned(const float *in, float4 *out, int shift) {
  const float4 *v = reinterpret_cast<const float4 *>(in + 4 * shift); // legal
  const float4 *v = reinterpret_cast<const float4 *>(in + shift);     // faulty
  out[threadIdx.x] = v[threadIdx.x];
}

// Guide, "Synchronization Functions": thread 0's answer is read by all after a barrier, and changed after another.
__global__ void flag_of_block(const int *in, int *rounds) {
  __shared__ bool again;
  int left = in[threadIdx.x], count = 0;
  do {
    if (threadIdx.x == 0) again = false;
    __syncthreads();
    if (left > 0) {
      left--;
      atomicExch((int *)rounds + 1 + threadIdx.x, left);
    }
    if (left > 0 && threadIdx.x == 63) again = true;
    __syncthreads();
    count++;
    bool go = again; // legal
    __syncthreads(); // legal
    bool go = again; // faulty
    if (!go) break;
  } while (true);
  if (threadIdx.x == 0) rounds[0] = count;
}

// Guide, "Synchronization Functions": a scan by steps reads and writes the same array, and wants two barriers per step.
__global__ void scan_steps(int *io) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = io[t];
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    int add = t >= d ? s[t - d] : 0;
    __syncthreads(); // legal
    s[t] += add;
    __syncthreads();
  }
  io[t] = s[t];
}

// Guide, "Thread Hierarchy": x runs fastest; a pitch of the wrong side leaves a plane that is not a square.
__global__ void wrong_pitch(unsigned short *image, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  image[y * width + x] = (unsigned short)(x ^ y);  // legal
  image[y * height + x] = (unsigned short)(x ^ y); // faulty
}
