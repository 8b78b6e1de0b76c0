// SPDX-License-Identifier: MIT
//
// Whole patterns of larger programs. A line that ends in "// legal" or "// faulty" is in that twin only.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cub/cub.cuh>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

// CUB, BlockReduce: its TempStorage is used again after a barrier only.
template <typename T, int Threads> __global__ void two_reductions(const T *in, T *out) {
  typedef cub::BlockReduce<T, Threads> Reduce;
  __shared__ typename Reduce::TempStorage temp;
  T v = in[blockIdx.x * Threads + threadIdx.x];
  T sum = Reduce(temp).Sum(v);
  __syncthreads(); // legal
  T most = Reduce(temp).Reduce(v, cub::Max());
  if (threadIdx.x == 0) out[blockIdx.x] = sum + most;
}

// Guide, "Memory Fence Functions": a grid barrier with a sense that turns round, used three times.
__device__ unsigned arrived = 0, sense = 0;

__device__ void all_blocks(unsigned blocks) {
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned old = atomicAdd(&sense, 0u);
    __threadfence();
    if (atomicAdd(&arrived, 1u) == blocks - 1) {
      atomicExch(&arrived, 0u);
      __threadfence(); // legal
      atomicAdd(&sense, 1u);
    } else {
      while (atomicAdd(&sense, 0u) == old) {
      }
    }
    __threadfence(); // legal
  }
  __syncthreads();
}

__global__ void jacobi(float *a, float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 3; k++) {
    if (i > 0 && i < n - 1) b[i] = 0.5f * (a[i - 1] + a[i + 1]);
    all_blocks(gridDim.x);
    float *c = a;
    a = b;
    b = c;
  }
}

// Guide, "wait_prior": wait_prior<1> leaves the newest copy of the group open.
__global__ void group_stages(const int *in, int *out, int tiles) {
  __shared__ int stage[2][64];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, stage[0], in, sizeof(int) * 64);
  for (int k = 0; k < tiles; k++) {
    if (k + 1 < tiles) {
      cg::memcpy_async(block, stage[(k + 1) % 2], in + 64 * (k + 1), sizeof(int) * 64);
      cg::wait_prior<1>(block);
    } else {
      cg::wait(block); // legal
      cg::wait_prior<1>(block); // faulty
    }
    out[64 * k + threadIdx.x] = stage[k % 2][63 - threadIdx.x];
    block.sync();
  }
}

struct Node {
  int value, next;
};

// PTX ISA, "Release and Acquire Patterns": a list's node is filled, fenced, and then hung in.
__global__ void push_and_sum(Node *nodes, int *head, int *done, int *out) {
  if (threadIdx.x) return;
  if (blockIdx.x < 3) {
    int me = blockIdx.x + 1, first;
    nodes[me].value = 10 * me;
    do {
      first = atomicAdd(head, 0);
      nodes[me].next = first;
      __threadfence(); // legal
    } while (atomicCAS(head, first, me) != first);
    atomicAdd(done, 1);
  } else {
    while (atomicAdd(done, 0) < 3) {
    }
    int sum = 0;
    int at = atomicAdd(head, 0);
    __threadfence();
    for (; at > 0; at = nodes[at].next) sum += nodes[at].value;
    *out = sum;
  }
}

class Shape {
public:
  __device__ virtual float area() const = 0;
};

class Square : public Shape {
public:
  float side;
  __device__ float area() const override { return side * side; }
};

// C++, [dcl.init]: a member that no constructor sets.
__global__ void areas(float *out) {
  Square square;
  square.side = threadIdx.x; // legal
  Shape *shape = &square;
  out[threadIdx.x] = shape->area();
}

// Guide, "Pipeline Interface": producers and consumers are warps of their own.
__global__ void warp_roles(const int *in, int *out, int rounds) {
  __shared__ int stage[2][32];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  bool producer = threadIdx.x < 32;
  auto pipe = cuda::make_pipeline(block, &state,
                                  producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  int lane = threadIdx.x % 32;
  for (int r = 0; r < rounds; r++) {
    if (producer) {
      pipe.producer_acquire();
      cuda::memcpy_async(&stage[r % 2][lane], &in[r * 32 + lane], sizeof(int), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait(); // legal
      out[r * 32 + lane] = stage[r % 2][31 - lane];
      pipe.consumer_wait(); // faulty
      pipe.consumer_release();
    }
  }
}

// PTX ISA, "Conflict and Data-races": a sparse matrix's rows have one block each; a long row has several.
__global__ void long_rows(const int *first, const double *values, double *y, int rows) {
  int row = blockIdx.x % rows, parts = gridDim.x / rows, part = blockIdx.x / rows;
  double sum = 0;
  for (int k = first[row] + part * blockDim.x + threadIdx.x; k < first[row + 1]; k += parts * blockDim.x)
    sum += values[k];
  for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x == 0) atomicAdd(&y[row], sum); // legal
  if (threadIdx.x == 0) y[row] += sum;           // faulty
}

// Guide, "Synchronization Functions": bitonic steps within a block, each after a barrier.
__global__ void bitonic(short *io) {
  extern __shared__ char raw[];
  short *keys = reinterpret_cast<short *>(raw);
  unsigned t = threadIdx.x;
  keys[t] = io[t];
  for (unsigned k = 2; k <= blockDim.x; k *= 2) {
    for (unsigned j = k / 2; j > 0; j /= 2) {
      __syncthreads(); // legal
      unsigned with = t ^ j;
      if (with > t && (keys[t] > keys[with]) == ((t & k) == 0)) {
        short swap = keys[t];
        keys[t] = keys[with];
        keys[with] = swap;
      }
    }
  }
  __syncthreads();
  io[t] = keys[t];
}

// PTX ISA, "Conflict and Data-races": a sieve marks composites; blocks that mark one byte each meet by an atomic word.
__global__ void sieve(unsigned *marks, int n) {
  int p = blockIdx.x * blockDim.x + threadIdx.x + 2;
  for (int m = p * p; m < n; m += p) {
    atomicOr(&marks[m / 32], 1u << (m % 32)); // legal
    marks[m / 32] |= 1u << (m % 32);          // faulty
  }
}
