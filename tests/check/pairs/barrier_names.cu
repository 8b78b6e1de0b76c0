// SPDX-License-Identifier: MIT
//
// cuda::barrier and groups under other names. A line that ends in "// legal" or "// faulty" is in that twin only.

#include <cooperative_groups.h>
#include <cuda/barrier>

namespace cg = cooperative_groups;
namespace sync_with = cuda;

using gate_t = cuda::barrier<cuda::thread_scope_block>;
typedef cuda::barrier<cuda::thread_scope_block> Barrier;
template <cuda::thread_scope Scope> using barrier_of = cuda::barrier<Scope>;
using Block = cg::thread_block;
typedef cg::thread_block_tile<16> Half;

// Guide, "Asynchronous Barrier": writes before arrive are seen after the wait of the same phase, not before it.
__global__ void gate_alias(int *out) {
  __shared__ gate_t gate;
  __shared__ int ring[96];
  const int t = threadIdx.x;
  if (t == 0) init(&gate, blockDim.x);
  __syncthreads();
  ring[t] = 3 * t;
  gate.arrive_and_wait();     // legal
  (void)gate.arrive();        // faulty
  out[t] = ring[(t + 1) % 96];
}

// Guide, "Temporal Splitting and Five Stages of Synchronization": only wait(token) ends the phase.
__global__ void typedef_split(double *out, const double *in, int n) {
  __shared__ Barrier bar;
  __shared__ double kept[64];
  int i = threadIdx.x;
  if (i == 0) { init(&bar, blockDim.x); }
  __syncthreads();
  kept[i] = i < n ? in[i] : 0.0;
  Barrier::arrival_token token = bar.arrive();
  double own = kept[i] * 2.0;
  bar.wait(std::move(token)); // legal
  double other = kept[63 - i];
  bar.wait(std::move(token)); // faulty
  if (i < n) out[i] = own + other;
}

// Guide, "Initialization, Expected Arrival Count, and Participation": init comes before any thread takes part.
__global__ void namespace_alias(short *out) {
  __shared__ sync_with::barrier<sync_with::thread_scope_block> b;
  __shared__ short s[32];
  if (threadIdx.x == 0) init(&b, 32);
  __syncthreads(); // legal
  s[threadIdx.x] = (short)threadIdx.x;
  b.arrive_and_wait();
  out[threadIdx.x] = s[31 - threadIdx.x];
}

struct Meeting {
  barrier_of<cuda::thread_scope_block> &bar;
  __device__ explicit Meeting(barrier_of<cuda::thread_scope_block> &b) : bar(b) {}
  __device__ void meet() const { bar.arrive_and_wait(); }
};

// Guide, "Asynchronous Barrier": a slot is written again only after a phase that its readers have joined.
__global__ void template_alias(float *out, int steps) {
  __shared__ barrier_of<cuda::thread_scope_block> b;
  __shared__ float slot;
  if (threadIdx.x == 0) init(&b, blockDim.x);
  __syncthreads();
  Meeting all(b);
  float sum = 0;
  for (int k = 0; k < steps; ++k) {
    if (threadIdx.x == k) slot = k + 0.5f;
    all.meet();
    sum += slot;
    all.meet(); // legal
  }
  out[threadIdx.x] = sum;
}

template <typename T> struct Traits {
  using bar = cuda::barrier<cuda::thread_scope_block>;
  using value = T;
};

// Guide, "Warp Specialization": the consumer's arrival frees the buffer, the producer's fills it.
template <typename T> __global__ void specialised(T *out, const T *in, int rounds) {
  __shared__ typename Traits<T>::bar ready, filled;
  __shared__ typename Traits<T>::value buffer[32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    init(&ready, blockDim.x);
    init(&filled, blockDim.x);
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int r = 0; r < rounds; r++) {
      ready.arrive_and_wait();
      buffer[lane] = in[r * 32 + lane];
      (void)filled.arrive();
    }
  } else {
    (void)ready.arrive();
    for (int r = 0; r < rounds; r++) {
      filled.arrive_and_wait();
      T value = buffer[31 - lane];              // legal
      if (r + 1 < rounds) (void)ready.arrive();
      T value = buffer[31 - lane];              // faulty
      out[r * 32 + lane] = value;
    }
  }
}

// Guide, "Thread Block Groups": block.sync() is __syncthreads(); thread_rank() is only a number.
__global__ void block_alias(unsigned char *out) {
  __shared__ unsigned char cells[8][16];
  Block block = cg::this_thread_block();
  cells[threadIdx.y][threadIdx.x] = (unsigned char)block.thread_rank();
  block.sync(); // legal
  out[block.thread_rank()] = cells[7 - threadIdx.y][threadIdx.x];
}

// Guide, "Thread Block Tile": sync() of a tile orders the lanes of that tile, and not those of the next one.
__global__ void tile_alias(int *out) {
  __shared__ int s[64];
  Half tile = cg::tiled_partition<16>(cg::this_thread_block());
  int t = threadIdx.x;
  s[t] = t * t;
  tile.sync();
  out[t] = s[t ^ 15]; // legal
  out[t] = s[t ^ 16]; // faulty
}

#define MAKE_GATE(name, count)                                                                                         \
  __shared__ gate_t name;                                                                                              \
  if (threadIdx.x + threadIdx.y * blockDim.x == 0) init(&name, count);                                                 \
  __syncthreads()

// Guide, "Asynchronous Barrier": arrive_and_drop leaves; who has left sees nothing of a later phase.
__global__ void macro_gate(int *out) {
  MAKE_GATE(gate, 64);
  __shared__ int s[64];
  int t = threadIdx.x + threadIdx.y * blockDim.x;
  if (t >= 32) {
    s[t] = t;               // legal
    gate.arrive_and_drop();
    s[t] = t;               // faulty
    return;
  }
  s[t] = -t;
  gate.arrive_and_wait();
  out[t] = s[t + 32];
}

class Stage {
public:
  typedef gate_t *handle;
  __device__ Stage(handle g) : gate(g) {}
  __device__ gate_t::arrival_token enter() { return gate->arrive(); }
  __device__ void leave(gate_t::arrival_token &&token) { gate->wait(static_cast<gate_t::arrival_token &&>(token)); }

private:
  handle gate;
};

// Guide, "Tracking the Barrier Phase": work between arrive and wait must not touch what the phase guards.
__global__ void stage_class(long long *out) {
  __shared__ gate_t g;
  __shared__ long long data[48];
  const unsigned i = threadIdx.x;
  if (i == 0) init(&g, blockDim.x);
  __syncthreads();
  Stage stage(&g);
  data[i] = i;                                       // legal
  gate_t::arrival_token token = stage.enter();
  data[i] = i;                                       // faulty
  stage.leave(static_cast<gate_t::arrival_token &&>(token));
  out[i] = data[(i + 7) % 48];
}
