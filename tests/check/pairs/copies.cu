// SPDX-License-Identifier: MIT
//
// Asynchronous copies. A line that ends in "// legal" or "// faulty" is in that twin only.
// Guide, "Asynchronous Data Copies": a copy is made when its thread has waited for it; other threads see it after a
// barrier that follows the wait; source and destination are the copy's until then.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

// Guide, "Pipeline Primitives Interface": commit only closes the batch; a barrier of the block waits for no copy.
__global__ void no_wait(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[t], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0); // legal
  __syncthreads();
  out[t] = s[t ^ 1];
}

// Guide, "Pipeline Primitives Interface": wait_prior(N) leaves the last N batches open.
__global__ void one_left(const float4 *in, float4 *out) {
  __shared__ float4 a[32], b[32];
  int t = threadIdx.x;
  __pipeline_memcpy_async(a + t, in + t, 16);
  __pipeline_commit();
  __pipeline_memcpy_async(b + t, in + 32 + t, 16);
  __pipeline_commit();
  __pipeline_wait_prior(1); // faulty
  __pipeline_wait_prior(0); // legal
  out[t] = make_float4(a[t].x, b[t].y, a[t].z, b[t].w);
}

// Guide, "Asynchronous Data Copies": who has waited sees its own copy; a neighbour's wants a barrier.
__global__ void neighbours_copy(const double *in, double *out, int n) {
  extern __shared__ double line[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) __pipeline_memcpy_async(&line[i], &in[i], sizeof(double));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads(); // legal
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = line[i] + (i + 1 < n ? line[i + 1] : 0.0);
}

// Guide, "Asynchronous Data Copies": the barrier stands behind the wait, not before it.
__global__ void barrier_first(const long long *in, long long *out) {
  __shared__ long long s[48];
  __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 8);
  __pipeline_commit();
  __syncthreads();          // faulty
  __pipeline_wait_prior(0);
  __syncthreads();          // legal
  out[threadIdx.x] = s[47 - threadIdx.x];
}

// Guide, "Asynchronous Data Copies": the source of a copy in flight is not to be written.
__global__ void source_again(int *io) {
  __shared__ int s[32];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &io[t], 4);
  __pipeline_commit();
  io[t] = -1;               // faulty
  __pipeline_wait_prior(0);
  io[t] = -1;               // legal
  io[t + 32] = s[t];
}

// Guide, "Asynchronous Data Copies": nor is its destination.
__global__ void target_again(const unsigned *in, unsigned *out, int n) {
  __shared__ unsigned tile[4][32];
  unsigned *mine = &tile[threadIdx.y][threadIdx.x];
  int i = threadIdx.y * 32 + threadIdx.x;
  if (i < n) __pipeline_memcpy_async(mine, in + i, sizeof *mine);
  __pipeline_commit();
  if (i == 5) *mine = 0;    // faulty
  __pipeline_wait_prior(0);
  if (i == 5) *mine = 0;    // legal
  if (i < n) out[i] = *mine;
}

// Guide, "Asynchronous Data Copies": a slot of a double buffer is copied to again once all have read it.
__global__ void double_buffer(const float *in, float *out, int tiles) {
  __shared__ float slot[2][64];
  int t = threadIdx.x;
  float sum = 0;
  __pipeline_memcpy_async(&slot[0][t], &in[t], 4);
  __pipeline_commit();
  for (int k = 0; k < tiles; k++) {
    if (k + 1 < tiles) __pipeline_memcpy_async(&slot[(k + 1) & 1][t], &in[(k + 1) * 64 + t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += slot[k & 1][63 - t];
    __syncthreads(); // legal
  }
  out[t] = sum;
}

// Guide, "Pipeline Primitives Interface": without a batch each turn, wait_prior(1) of the last turn waits for too few.
__global__ void tail_batch(const int *in, int *out, int tiles) {
  __shared__ int slot[2][32];
  const int lane = threadIdx.x;
  __pipeline_memcpy_async(&slot[0][lane], &in[lane], 4);
  __pipeline_commit();
  for (int k = 0; k < tiles; ++k) {
    if (k + 1 < tiles) {
      __pipeline_memcpy_async(&slot[(k + 1) % 2][lane], &in[(k + 1) * 32 + lane], 4);
      __pipeline_commit(); // faulty
    }
    __pipeline_commit(); // legal
    __pipeline_wait_prior(1);
    out[k * 32 + lane] = slot[k % 2][lane];
  }
}

// Guide, "Single-Stage Asynchronous Data Copies using cuda::pipeline": consumer_wait() is what waits.
__global__ void pipe_single(const int *in, int *out, int n) {
  extern __shared__ int line[];
  cg::thread_block block = cg::this_thread_block();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
  auto pipe = cuda::make_pipeline(block, &state);
  for (int first = 0; first < n; first += block.size()) {
    pipe.producer_acquire();
    cuda::memcpy_async(block, line, in + first, sizeof(int) * block.size(), pipe);
    pipe.producer_commit();
    pipe.consumer_wait(); // legal
    out[first + block.thread_rank()] = line[block.size() - 1 - block.thread_rank()];
    pipe.consumer_wait(); // faulty
    pipe.consumer_release();
  }
}

// Guide, "Pipeline Interface": after consumer_release() the stage is the producers' again.
__global__ void pipe_release(const float *in, float *out, int rounds) {
  __shared__ float stage[2][32];
  auto block = cg::this_thread_block();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto pipe = cuda::make_pipeline(block, &state);
  int filled = 0;
  for (int r = 0; r < rounds; r++) {
    for (; filled < rounds && filled < r + 2; filled++) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, stage[filled % 2], in + filled * 32, sizeof(float) * 32, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    float other = stage[r % 2][threadIdx.x ^ 31];            // legal
    pipe.consumer_release();
    float other = stage[r % 2][threadIdx.x ^ 31];            // faulty
    out[r * 32 + threadIdx.x] = other;
  }
}

// Guide, "memcpy_async": cg::wait() is what ends a group's copies; sync() is not.
__global__ void group_copy(const short *in, short *out) {
  __shared__ short s[256];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, in, sizeof s);
  cg::wait(block);  // legal
  block.sync();     // faulty
  out[block.thread_rank()] = s[255 - block.thread_rank()];
}

// Guide, "Using memcpy_async with cuda::barrier": the copy is complete when the barrier's phase is.
__global__ void copy_by_barrier(const double *in, double *out, int n) {
  __shared__ double s[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, block.size());
  block.sync();
  cuda::memcpy_async(block, s, in, sizeof(double) * n, bar);
  bar.arrive_and_wait(); // legal
  block.sync();          // faulty
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = s[n - 1 - i];
}

// Guide, "Using memcpy_async with cuda::barrier": to have arrived is not to have waited.
__global__ void own_by_barrier(const float *in, float *out) {
  __shared__ float s[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  int t = threadIdx.x;
  if (t == 0) init(&bar, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(s + t, in + t, sizeof(float), bar);
  auto token = bar.arrive();
  bar.wait(std::move(token)); // legal
  out[t] = s[t];
  bar.wait(std::move(token)); // faulty
}
