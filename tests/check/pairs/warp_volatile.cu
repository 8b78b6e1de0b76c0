// SPDX-License-Identifier: MIT
//
// Warp-synchronous code through volatile memory. A line that ends in "// legal" or "// faulty" is in that twin only.
// PTX ISA, "volatile Operation": relaxed, system scope; so it orders nothing. Guide, "SIMT Architecture": lanes of a
// warp may diverge anywhere, so values pass between them only over __syncwarp() (guide, "Synchronization Functions").

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Guide, "Synchronization Functions": __syncwarp() orders memory among the lanes; a step needs one after its reads too.
__device__ void last_steps(volatile int *s, int t) {
  s[t] += s[t + 32]; // faulty
  s[t] += s[t + 16]; // faulty
  s[t] += s[t + 8];  // faulty
  s[t] += s[t + 4];  // faulty
  s[t] += s[t + 2];  // faulty
  s[t] += s[t + 1];  // faulty
  for (int step = 32; step > 0; step >>= 1) { // legal
    int v = s[t] + s[t + step];               // legal
    __syncwarp();                             // legal
    s[t] = v;                                 // legal
    __syncwarp();                             // legal
  }                                           // legal
}

__global__ void harris_tail(const int *in, int *out) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  if (t < 64) s[t] += s[t + 64];
  __syncthreads();
  if (t < 32) last_steps(s, t);
  if (t == 0) out[blockIdx.x] = s[0];
}

// Guide, "SIMT Architecture": unrolling by blockSize keeps no lanes in step either.
template <unsigned int blockSize, typename T> __device__ void fold(volatile T *data, unsigned int tid) {
  if (blockSize >= 32) {
    T v = data[tid] + data[tid + 16];
    __syncwarp();
    data[tid] = v;
    __syncwarp();
  }
  if (blockSize >= 16) {
    T v = data[tid] + data[tid + 8];
    __syncwarp(); // legal
    data[tid] = v;
    __syncwarp();
  }
}

template <unsigned int blockSize> __global__ void fold_all(float *io) {
  __shared__ float data[blockSize];
  unsigned int tid = threadIdx.x;
  data[tid] = io[tid];
  __syncthreads();
  if (tid < 32) fold<blockSize, float>(data, tid);
  __syncthreads();
  io[tid] = data[tid];
}

// Guide, "Synchronization Functions": a guard keeps a step's readers from its writers, and one __syncwarp() is enough.
__global__ void guarded_tree(double *io) {
  extern __shared__ double tree[];
  volatile double *v = tree;
  v[threadIdx.x] = io[threadIdx.x];
  __syncwarp();
  for (unsigned half = 16; half >= 1; half /= 2) {
    if (threadIdx.x < half) v[threadIdx.x] = v[threadIdx.x] + v[threadIdx.x + half]; // legal
    v[threadIdx.x] = v[threadIdx.x] + v[(threadIdx.x + half) & 31];                  // faulty
    __syncwarp();
  }
  if (threadIdx.x == 0) io[0] = v[0];
}

// PTX ISA, "volatile Operation": a scan by volatile steps reads what the lane below has or has not yet written.
__global__ void warp_scan(const unsigned *in, unsigned *out) {
  volatile __shared__ unsigned cell[2][32];
  unsigned lane = threadIdx.x & 31, w = threadIdx.x >> 5;
  cell[w][lane] = in[threadIdx.x];
  __syncwarp();
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    unsigned below = lane >= d ? cell[w][lane - d] : 0u;
    __syncwarp(); // legal
    cell[w][lane] += below;
    __syncwarp(); // legal
  }
  out[threadIdx.x] = cell[w][lane];
}

// Guide, "SIMT Architecture": lane 0 does not run first; the others need a __syncwarp() to read what it has written.
__global__ void leader_tells(long long *out, const long long *in) {
  __shared__ volatile long long said[4];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (lane == 0) said[warp] = in[warp] * 10;
  __syncwarp(); // legal
  out[threadIdx.x] = said[warp] + lane;
}

// Guide, "Memory Fence Functions": a fence orders one thread's own accesses; it does not wait for other lanes.
__global__ void fence_is_no_wait(volatile short *line, short *out) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  line[t] = (short)(t + 1);
  __threadfence_block(); // faulty
  __syncwarp();          // legal
  out[t] = line[t ^ 1];
}

// Guide, "SIMT Architecture": a row of a 32-wide block is a warp; two rows are two warps, which need __syncthreads().
__global__ void two_rows(float *out) {
  __shared__ float tile[4][32];
  float(*v)[32] = tile;
  v[threadIdx.y][threadIdx.x] = threadIdx.x * 0.25f + threadIdx.y;
  __syncwarp();
  out[threadIdx.y * 32 + threadIdx.x] = v[threadIdx.y][31 - threadIdx.x];     // legal
  out[threadIdx.y * 32 + threadIdx.x] = v[3 - threadIdx.y][31 - threadIdx.x]; // faulty
}

struct Cursor {
  volatile int *line;
  int lane;
  __device__ int left() const { return line[(lane + 31) % 32]; }
  __device__ void put(int value) { line[lane] = value; }
};

// Guide, "Synchronization Functions": a rotation writes what the neighbour still reads, unless the warp syncs between.
__global__ void rotate_class(int *io, int times) {
  __shared__ int line[32];
  Cursor c{line, (int)threadIdx.x};
  c.put(io[c.lane]);
  __syncwarp();
  for (int k = 0; k < times; k++) {
    int next = c.left();
    __syncwarp(); // legal
    c.put(next);
    __syncwarp();
  }
  io[c.lane] = c.left();
}

// Guide, "Thread Block Tile": tile.sync() is what __syncwarp(mask of the tile) is.
__global__ void half_warps(char *io) {
  __shared__ char cells[64];
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  volatile char *mine = cells + threadIdx.x / 16 * 16;
  mine[tile.thread_rank()] = io[threadIdx.x];
  tile.sync(); // legal
  if (tile.thread_rank() < 8) io[threadIdx.x] = mine[tile.thread_rank() + 8];
}

// Guide, "Synchronization Functions": __syncwarp(mask) orders the lanes that the mask names, and no other.
__global__ void narrow_mask(int *io) {
  volatile __shared__ int s[32];
  int lane = threadIdx.x;
  s[lane] = io[lane];
  __syncwarp(lane < 16 ? 0x0000ffffu : 0xffff0000u); // faulty
  __syncwarp(0xffffffffu);                           // legal
  io[lane] = s[31 - lane];
}

// PTX ISA, "volatile Operation": odd-even sort; each phase's pairs overlap those of the phase before.
__global__ void odd_even(int *io, int n) {
  extern __shared__ int keys[];
  volatile int *k = keys;
  const int t = threadIdx.x;
  k[t] = io[t];
  k[t + 16] = io[t + 16];
  __syncwarp(0xffff);
  for (int phase = 0; phase < n; ++phase) {
    int at = 2 * t + (phase & 1);
    if (at + 1 < n) {
      int a = k[at], b = k[at + 1];
      if (a > b) {
        k[at] = b;
        k[at + 1] = a;
      }
    }
    __syncwarp(0xffff); // legal
  }
  __syncwarp(0xffff);
  io[t] = k[t];
  io[t + 16] = k[t + 16];
}

// PTX ISA, "volatile Operation": relaxed writes of two lanes to one place leave either value.
__global__ void last_writer(volatile float *winner, float *out) {
  if (threadIdx.x == 5) *winner = 5.5f;    // legal
  if (threadIdx.x >= 5) *winner = threadIdx.x + 0.5f; // faulty
  __syncthreads();
  out[threadIdx.x] = *winner;
}
