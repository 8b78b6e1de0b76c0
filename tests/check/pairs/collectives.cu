// SPDX-License-Identifier: MIT
//
// Votes, matches, shuffles and reductions are no fences.
// A line that ends in "// legal" or "// faulty" is in that twin only.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

// Guide, "Warp Shuffle Functions": they do not imply a memory barrier, nor any order of memory.
__global__ void after_shfl(float *out) {
  __shared__ float s[32];
  int t = threadIdx.x;
  s[t] = 1.5f * t;
  float first = __shfl_sync(0xffffffff, s[t], 0);
  __syncwarp(); // legal
  out[t] = s[31 - t] + first;
}

// Guide, "Warp Vote Functions": they do not imply a memory barrier.
__global__ void after_ballot(unsigned *out, const int *in) {
  __shared__ int kept[64];
  int lane = threadIdx.x & 31, base = threadIdx.x & ~31;
  unsigned votes = __ballot_sync(~0u, in[threadIdx.x] % 3 == 0);
  int place = __popc(votes & ((1u << lane) - 1));
  if (in[threadIdx.x] % 3 == 0) kept[base + place] = in[threadIdx.x];
  votes = __ballot_sync(~0u, lane < __popc(votes));
  __syncwarp(); // legal
  out[threadIdx.x] = lane < __popc(votes) ? kept[base + lane] : 0;
}

// Guide, "Warp Vote Functions": __any_sync() in a loop's condition does not publish the loop's writes.
__global__ void loop_until_any(int *cells, int *seen) {
  int t = threadIdx.x, most = -1;
  bool moved;
  do {
    most = max(most, cells[t ^ 1]);
    __syncwarp();
    moved = (t & 1) == 0 && cells[t] < 4;
    if (moved) cells[t]++;
    __syncwarp(); // legal
  } while (__any_sync(0xffffffffu, moved));
  seen[t] = most;
}

// Guide, "Synchronization Functions": __syncthreads_or() is a __syncthreads() with a vote; __any_sync() is none.
__global__ void block_vote(unsigned char *flags, int *out) {
  __shared__ unsigned char seen[32];
  seen[threadIdx.x] = flags[threadIdx.x];
  int any = __syncthreads_or(flags[threadIdx.x]);           // legal
  int any = __any_sync(0xffffffffu, flags[threadIdx.x]);    // faulty
  out[threadIdx.x] = any ? seen[(threadIdx.x + 1) % 32] : -1;
}

// Guide, "Warp Match Functions": they do not imply a memory barrier.
__global__ void leader_by_match(const int *keys, int *sums) {
  __shared__ int first[32];
  int lane = threadIdx.x;
  unsigned peers = __match_any_sync(0xffffffffu, keys[lane]);
  int leader = __ffs(peers) - 1;
  if (lane == leader) first[leader] = keys[lane] * 100;
  peers = __match_any_sync(0xffffffffu, leader);
  __syncwarp(peers); // legal
  sums[lane] = first[leader] + __popc(peers);
}

// Guide, "Warp Match Functions": the same of __match_all_sync().
__global__ void after_match_all(double *a) {
  int same;
  a[threadIdx.x] = 2.0 * threadIdx.x;
  __match_all_sync(0xffffffffu, 7, &same);
  __syncwarp(); // legal
  double got = a[(threadIdx.x + 5) % 32];
  __syncwarp();
  a[threadIdx.x] = same ? got : 0;
}

// Guide, "Warp Reduce Functions": they do not imply a memory barrier.
__global__ void after_reduce(unsigned *out, const unsigned *in) {
  extern __shared__ unsigned line[];
  unsigned lane = threadIdx.x % 32, w = threadIdx.x / 32;
  line[threadIdx.x] = in[threadIdx.x];
  unsigned most = __reduce_max_sync(0xffffffffu, in[threadIdx.x]);
  __syncwarp(); // legal
  out[threadIdx.x] = line[w * 32 + (31 ^ lane)] * most;
}

__device__ inline float sum_of_warp(float x) {
  for (int d = 16; d; d >>= 1) x += __shfl_xor_sync(0xffffffffu, x, d);
  return x;
}

// Guide, "Warp Shuffle Functions": a butterfly's last step says nothing of what its lanes wrote to memory before it.
__global__ void normalise(float *rows, float *norm, int width) {
  float *row = rows + blockIdx.x * width;
  float part = 0;
  for (int i = threadIdx.x; i < width; i += 32) part += row[i];
  float total = sum_of_warp(part);
  if (threadIdx.x == 0) norm[blockIdx.x] = total;
  total = sum_of_warp(total) / 32;
  __syncwarp();                                                                           // legal
  for (int i = threadIdx.x; i < width; i += 32) row[i] = row[i] / norm[blockIdx.x] + total;
}

// Guide, "Warp Shuffle Functions": __shfl_down_sync() hands on a place; who reads there must still be ordered.
__global__ void hand_down(int2 *out) {
  __shared__ int2 box[32];
  int t = threadIdx.x;
  box[t].x = t;
  box[t].y = -t;
  int from = __shfl_down_sync(0xffffffffu, t, 1);
  out[t] = box[t];                // legal
  out[t] = box[from];             // faulty
  out[t].x += from;
}

// Guide, "Thread Block Tile": shfl() of a tile is the warp's shuffle; sync() is its barrier.
__global__ void tile_shfl(short *io) {
  __shared__ short s[128];
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  s[threadIdx.x] = io[threadIdx.x];
  short up = tile.shfl_up(s[threadIdx.x], 1);
  tile.sync(); // legal
  io[threadIdx.x] = up + s[threadIdx.x ^ 7];
}

// Guide, "reduce": it computes a value for the group; memory that lanes share wants sync().
__global__ void group_reduce(int *out, const int *in) {
  __shared__ int s[32];
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  s[warp.thread_rank()] = in[warp.thread_rank()];
  int most = cg::reduce(warp, in[warp.thread_rank()], cg::greater<int>());
  warp.sync(); // legal
  out[threadIdx.x] = most - s[(threadIdx.x * 5) % 32];
}

// Guide, "Coalesced Groups": any() and all() are votes of the group's lanes.
__global__ void coalesced_vote(int *a) {
  if (threadIdx.x % 2 == 0) {
    cg::coalesced_group even = cg::coalesced_threads();
    a[threadIdx.x] = even.thread_rank();
    int yes = even.all(a[threadIdx.x] >= 0);
    even.sync(); // legal
    int got = a[30 - threadIdx.x];
    even.sync();
    a[threadIdx.x] = yes ? got : -1;
  }
}

// Guide, "Warp Vote Functions": __activemask() neither synchronises nor orders.
__global__ void active_mask(long long *io) {
  __shared__ long long s[2][16];
  int x = threadIdx.x, y = threadIdx.y;
  s[y][x] = io[y * 16 + x];
  unsigned mask = __activemask(); // faulty
  unsigned mask = 0xffffffffu;    // legal
  __syncwarp(mask);               // legal
  io[y * 16 + x] = s[y][15 - x] + (mask ? 1 : 0);
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
