// SPDX-License-Identifier: MIT
//
// barriers: kernels that need their block's threads to meet, in every shape that the engines treat differently. All
// have the parameters (out, in, n), run with 64 threads per block, and write out[block * 64 + thread] for in of that
// length; cpu/engines_spec.lua holds the expected results, and runs each kernel through every engine that takes it.

#define BLOCK 64
#define HERE (blockIdx.x * BLOCK + threadIdx.x)

// One barrier at the top level, neighbours exchanged through shared memory.
__global__ void rotate(int *out, const int *in, int n) {
  __shared__ int part[BLOCK];
  part[threadIdx.x] = in[HERE];
  __syncthreads();
  out[HERE] = part[(threadIdx.x + 1) % BLOCK];
}

// A barrier in a loop whose bounds all threads share.
__global__ void prefix(int *out, const int *in, int n) {
  __shared__ int part[BLOCK];
  int it = threadIdx.x;
  part[it] = in[HERE];
  __syncthreads();
  for (int k = 1; k < BLOCK; k *= 2) {
    int left = it >= k ? part[it - k] : 0;
    __syncthreads();
    part[it] += left;
    __syncthreads();
  }
  out[HERE] = part[it];
}

// A local array and a loop-carried local live across the barriers.
__global__ void carried(int *out, const int *in, int n) {
  __shared__ int part[BLOCK];
  int mine[3] = {in[HERE], 0, 0};
  int last = 0;
  for (int round = 0; round < 3; round++) {
    part[threadIdx.x] = mine[round % 3] + round;
    __syncthreads();
    last += part[BLOCK - 1 - threadIdx.x];
    mine[(round + 1) % 3] = last;
    __syncthreads();
  }
  out[HERE] = last;
}

// Threads that return before the barrier do not take part any more.
__global__ void early(int *out, const int *in, int n) {
  __shared__ int part[BLOCK];
  part[threadIdx.x] = in[HERE];
  __syncthreads();
  out[HERE] = -1;
  if (threadIdx.x >= 32) return;
  int other = part[threadIdx.x + 32];
  __syncthreads();
  out[HERE] = other;
}

// A barrier under a condition that all threads of the block answer alike.
__global__ void uniform_if(int *out, const int *in, int n) {
  __shared__ int part[BLOCK];
  part[threadIdx.x] = in[HERE];
  if (blockIdx.x % 2 == 0) {
    __syncthreads();
    out[HERE] = part[BLOCK - 1 - threadIdx.x];
  } else {
    out[HERE] = part[threadIdx.x];
  }
}

// The barrier is reached through two helpers.
__device__ void meet() { __syncthreads(); }
__device__ int exchange(int *part, int value, int partner) {
  part[threadIdx.x] = value;
  meet();
  int got = part[partner];
  meet();
  return got;
}
__global__ void helpers(int *out, const int *in, int n) {
  __shared__ int part[BLOCK];
  int value = in[HERE];
  for (int k = 1; k < BLOCK; k *= 2) value += exchange(part, value, threadIdx.x ^ k);
  out[HERE] = value;
}

// A while loop whose end is decided by shared memory, read between barriers.
__global__ void until_done(int *out, const int *in, int n) {
  __shared__ int part[BLOCK];
  __shared__ int rounds;
  part[threadIdx.x] = in[HERE];
  if (threadIdx.x == 0) rounds = 0;
  __syncthreads();
  while (rounds < 4) {
    int next = part[(threadIdx.x + 1) % BLOCK];
    __syncthreads();
    part[threadIdx.x] = next;
    if (threadIdx.x == 0) rounds++;
    __syncthreads();
  }
  out[HERE] = part[threadIdx.x];
}

// A barrier at the end of a do-while body.
__global__ void do_loop(int *out, const int *in, int n) {
  __shared__ int part[BLOCK];
  int k = 0;
  int sum = 0;
  do {
    part[threadIdx.x] = in[HERE] + k;
    __syncthreads();
    sum += part[0];
    __syncthreads();
    k++;
  } while (k < 3);
  out[HERE] = sum;
}

// The counting forms.
__global__ void counting(int *out, const int *in, int n) {
  int odd = __syncthreads_count(in[HERE] % 2);
  int all = __syncthreads_and(in[HERE] >= 0);
  int any = __syncthreads_or(in[HERE] == 5);
  out[HERE] = odd * 100 + all * 10 + any;
}

// Dynamic shared memory, n bytes of it given at the launch.
__global__ void dynamic(int *out, const int *in, int n) {
  extern __shared__ int parts[];
  parts[threadIdx.x] = in[HERE];
  __syncthreads();
  out[HERE] = parts[threadIdx.x ^ 1];
}

// A barrier in a switch, after a break and a continue at the barrier's own level.
__global__ void jumps(int *out, const int *in, int n) {
  __shared__ int part[BLOCK];
  int sum = 0;
  for (int k = 0; k < 8; k++) {
    if (k == 2) continue;
    if (k == 5) break;
    part[threadIdx.x] = in[HERE] * k;
    __syncthreads();
    sum += part[(threadIdx.x + k) % BLOCK];
    __syncthreads();
  }
  out[HERE] = sum;
}

// Atomics on shared memory on both sides of a barrier.
__global__ void bins(int *out, const int *in, int n) {
  __shared__ int count[8];
  if (threadIdx.x < 8) count[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&count[in[HERE] % 8], 1);
  __syncthreads();
  out[HERE] = count[threadIdx.x % 8];
}
