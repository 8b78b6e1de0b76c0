// SPDX-License-Identifier: MIT
//
// What people also write. A line that ends in "// legal" or "// faulty" is in that twin only.

#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <string.h>

namespace cg = cooperative_groups;

// C++, [intro.memory]: each char is a place of its own; four threads may write a word's bytes, two not one byte.
__global__ void bytes_of_word(unsigned char *out) {
  __shared__ unsigned char s[32];
  s[threadIdx.x] = threadIdx.x;     // legal
  s[threadIdx.x % 4] = threadIdx.x; // faulty
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x % 4];
}

// C++, [intro.memory]: the same of halves of a word that blocks write.
__global__ void shorts_of_word(short *out) {
  if (threadIdx.x < 2) {
    out[2 * blockIdx.x + threadIdx.x] = blockIdx.x; // legal
    out[threadIdx.x] = blockIdx.x;                  // faulty
  }
}

// PTX ISA, ld.global.nc: it is for memory that nobody writes as long as the kernel runs.
__global__ void read_only_load(float *a, float *out) {
  a[threadIdx.x] = 2.f * threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = a[threadIdx.x ^ 1];         // legal
  out[threadIdx.x] = __ldg(&a[threadIdx.x ^ 1]); // faulty
}

// PTX ISA, "Observation Order": who has read an atomic's value comes after it, so a plain reset needs no fence.
__global__ void reset_counter(unsigned *count, unsigned *rounds) {
  if (threadIdx.x == 0) {
    unsigned ticket = atomicAdd(count, 1u);
    if (ticket == gridDim.x - 1) { // legal
    if (ticket == 1) {             // faulty
      *count = 0;
      *rounds += 1;
    }
  }
}

// Guide, "Memory Fence Functions": fences of a barrier's other threads are cumulative, so one thread's will do.
__global__ void fence_by_one(int *data, int *done, int *out) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = t;
    __syncthreads(); // legal
    __syncwarp();    // faulty
    if (t == 0) {
      __threadfence();
      atomicExch(done, 1);
    }
    return;
  }
  if (t == 0) {
    while (atomicAdd(done, 0) == 0) {
    }
    __threadfence();
  }
  __syncthreads();
  out[t] = data[t];
}

// C++, [intro.races]: an access of 16 bytes conflicts with one of 4 bytes within it.
__global__ void wide_and_narrow(float4 *a, float *out) {
  float *f = reinterpret_cast<float *>(a);
  a[threadIdx.x] = make_float4(threadIdx.x, 1, 2, 3);
  __syncwarp(); // legal
  out[threadIdx.x] = f[4 * (threadIdx.x ^ 3) + 3];
}

struct Row {
  char tag;
  int cells[7];
};

// C++, [intro.races]: a struct's copy reads all its members, while a neighbour sets one.
__global__ void copy_of_struct(Row *rows) {
  __shared__ Row kept[32];
  int t = threadIdx.x;
  kept[t] = rows[t];
  __syncthreads();
  Row other;
  memcpy(&other, &kept[(t + 1) % 32], sizeof other);
  __syncthreads(); // legal
  kept[t].cells[3] = t;
  rows[t].cells[3] = other.cells[3] + other.cells[0];
}

// Guide, "Shared Memory": nothing sets it to zero; an atomic reads what it adds to.
__global__ void unset_sum(int *out) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0; // legal
  __syncthreads();
  atomicAdd(&sum, (int)threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) *out = sum;
}

// Guide, "Dynamic Allocation of Shared Memory": its length is the launch's, which the kernel has to be told.
__global__ void halo(const int *in, int *out) {
  extern __shared__ int line[];
  int t = threadIdx.x;
  line[t] = in[t];
  __syncthreads();
  out[t] = line[t] - line[t + 1 < blockDim.x ? t + 1 : t]; // legal
  out[t] = line[t] - line[t + 1];                          // faulty
}

__constant__ float taps[5] = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f};

// C++, [expr.add]: a radius of three does not fit five taps.
template <int Radius> __device__ float blur(const float *line, int at) {
  float sum = 0;
  for (int k = -Radius; k <= Radius; k++) sum += taps[k + Radius] * line[at + k];
  return sum;
}

__global__ void constant_taps(const float *in, float *out) {
  out[threadIdx.x] = blur<2>(in, threadIdx.x + 3); // legal
  out[threadIdx.x] = blur<3>(in, threadIdx.x + 3); // faulty
}

// Guide, "Vector types": the last four of a length that is not a multiple of four are not all there.
__global__ void vector_tail(const float *in, float *out, int n) {
  int i = 4 * threadIdx.x;
  if (i + 3 < n) { // legal
  if (i < n) {     // faulty
    float4 v = *(const float4 *)(in + i);
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
  }
}

// C++, [basic.life]: a local variable's address is of no use to another thread.
__global__ void others_local(int *out) {
  __shared__ int *box[32];
  __shared__ int cell[32];
  int mine = threadIdx.x;
  cell[threadIdx.x] = mine;
  box[threadIdx.x] = &cell[threadIdx.x]; // legal
  box[threadIdx.x] = &mine;              // faulty
  __syncthreads();
  out[threadIdx.x] = *box[threadIdx.x ^ 1];
  __syncthreads();
}

// Guide, "Synchronization Functions": each lane that calls __syncwarp() is in its own mask.
__global__ void not_in_mask(int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = t;
  __syncwarp(0xffffffffu); // legal
  __syncwarp(0x0000ffffu); // faulty
  out[t] = s[t ^ 1];
}

// Guide, "Warp Shuffle Functions": the two sides of a branch meet in two shuffles with two masks.
__global__ void two_masks(int *io) {
  int t = threadIdx.x, v = io[t];
  unsigned odd = 0xaaaaaaaau, even = 0x55555555u;
  if (t & 1) v = __shfl_xor_sync(odd, v, 2);
  else v = __shfl_xor_sync(even, v, 4); // legal
  else v = __shfl_xor_sync(even, v, 1); // faulty
  io[t] = v;
}

// Guide, "Pipeline Primitives Interface": zfill sets the bytes that are not copied; without it they stay unset.
__global__ void zero_fill(const int *in, int *out, int n) {
  __shared__ int4 s[16];
  int first = 4 * threadIdx.x, bytes = min(max(n - first, 0), 4) * 4;
  if (bytes == 16) __pipeline_memcpy_async(&s[threadIdx.x], in + first, 16);                    // faulty
  __pipeline_memcpy_async(&s[threadIdx.x], in + (bytes > 0 ? first : 0), 16, 16 - bytes);       // legal
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  int4 v = s[15 - threadIdx.x];
  out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

// PTX ISA, "Conflict and Data-races": tiles with a rim that overlap are written by two blocks.
__global__ void overlapping_tiles(const double *in, double *out, int n) {
  int i = blockIdx.x * (blockDim.x - 2) + threadIdx.x;
  if (i < n && threadIdx.x >= 1 && threadIdx.x + 1 < blockDim.x) // legal
  if (i < n)                                                     // faulty
    out[i] = in[i] * 2;
}

__device__ int most_seen = 0;

// PTX ISA, "Conflict and Data-races": a maximum by compare and write is two accesses, which other blocks come between.
__global__ void device_maximum(const int *in) {
  int v = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (v > most_seen) most_seen = v; // faulty
  atomicMax(&most_seen, v);         // legal
}

// Guide, "Memory Fence Functions": a ring's slot is free again when its reader has said so, with a fence before.
__global__ void ring_of_two(int *slots, int *full, int *empty, int *out, int items) {
  if (threadIdx.x) return;
  for (int k = 0; k < items; k++) {
    int at = k % 2;
    if (blockIdx.x == 0) {
      while (atomicAdd(&empty[at], 0) < k / 2) {
      }
      __threadfence();
      slots[at] = 100 + k;
      __threadfence();
      atomicAdd(&full[at], 1);
    } else {
      while (atomicAdd(&full[at], 0) < k / 2 + 1) {
      }
      __threadfence();
      out[k] = slots[at];
      __threadfence(); // legal
      atomicAdd(&empty[at], 1);
    }
  }
}

// Guide, "Thread Block Groups": all threads of the group come to its sync().
__global__ void group_in_branch(float *io) {
  __shared__ float s[64];
  cg::thread_block block = cg::this_thread_block();
  unsigned r = block.thread_rank();
  s[r] = io[r];
  if (r < 40) block.sync(); // faulty
  block.sync();             // legal
  io[r] = s[63 - r];
  block.sync();
}

// Guide, "Synchronization Functions": a warp's partial sums reach the first warp over a barrier.
__global__ void two_level_sum(const float *in, float *out, int n) {
  __shared__ float part[32];
  float v = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) v += in[i];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads(); // legal
  if (threadIdx.x < 32) {
    v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x == 0) *out = v;
  }
}

// PTX ISA, "Release and Acquire Patterns": SC fences of all threads, each its own, order as well as a barrier's one.
__global__ void last_block_fences(int *parts, unsigned *tickets, int *total) {
  __shared__ bool last;
  parts[blockIdx.x * blockDim.x + threadIdx.x] = 1 + threadIdx.x;
  __threadfence();
  __syncthreads(); // legal
  if (threadIdx.x == 0) {
    last = atomicAdd(tickets, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  int sum = 0;
  for (int b = 0; b < gridDim.x; b++) sum += parts[b * blockDim.x + (threadIdx.x + 32) % blockDim.x];
  total[threadIdx.x] = sum;
}

// PTX ISA, "Conflict and Data-races": fields of bits that lie in one word are one place.
struct Flags {
  unsigned low : 4, high : 4;
};

__global__ void bit_fields(Flags *flags) {
  if (threadIdx.x == 0) flags->low = 3;
  __syncthreads(); // legal
  if (threadIdx.x == 40) flags->high = 5;
}

// Guide, "volatile": a flag in shared memory that a warp waits for, and lane 0 of another one sets and takes back.
__global__ void broadcast_global(volatile int *word, int *out) {
  if (threadIdx.x == 0) *word = 9;
  __syncwarp(); // legal
  out[threadIdx.x] = *word;
}
