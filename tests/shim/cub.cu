/* SPDX-License-Identifier: MIT
 *
 * CUB's collectives, checked by themselves; launched as builtins.cu's kernels are. */
#include <cub/cub.cuh>

#include "check.cuh"

#define X 64, cub::BLOCK_REDUCE_WARP_REDUCTIONS, 2, 2

struct larger {
  __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};
struct product { /* of 2x2 matrices: does not commute */
  int a, b, c, d;
};
struct times {
  __device__ product operator()(const product &x, const product &y) const {
    return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
  }
};
struct minus {
  __device__ int operator()(int a, int b) const { return a - b; }
};

__global__ void check_block_reduce(int *wrong) {
  typedef cub::BlockReduce<int, X> reduce;
  __shared__ typename reduce::TempStorage storage, other;
  const int rank = (int)rank_in_block();
  int sum = reduce(storage).Sum(rank + 1);
  int most = reduce(other).Reduce(rank == 77 ? 1000 : -rank, larger());
  if (rank == 0) CHECK(sum == THREADS * (THREADS + 1) / 2 && most == 1000);
  __syncthreads();
  int items[3] = {rank, 2 * rank, 1};
  sum = reduce(storage).Sum(items);
  most = reduce(other).Reduce(rank, larger(), 70);
  if (rank == 0) CHECK(sum == 3 * THREADS * (THREADS - 1) / 2 + THREADS && most == 69);
}

__global__ void check_block_reduce_order(int *wrong) {
  using reduce = cub::BlockReduce<product, X>;
  __shared__ reduce::TempStorage storage;
  const int rank = (int)rank_in_block();
  const product all = reduce(storage).Reduce(product{1, rank, 0, 1}, times());
  if (rank == 0) CHECK(all.a == 1 && all.b == THREADS * (THREADS - 1) / 2 && all.c == 0 && all.d == 1);
}

/* The rounding of sums of float is a GPU's: a tree over each warp, then the warps in turn. */
__global__ void check_block_reduce_rounding(int *wrong) {
  typedef cub::BlockReduce<float, X> reduce;
  __shared__ reduce::TempStorage storage;
  __shared__ float warps[THREADS / 32];
  const int rank = (int)rank_in_block();
  const float mine = 1.0f / (float)(rank * rank + 1) + (float)(rank % 7) * 1e3f;
  float tree = mine;
  for (int distance = 1; distance < 32; distance *= 2) {
    const float other = __shfl_down_sync(ALL, tree, distance);
    if (rank % 32 + distance < 32) tree += other;
  }
  if (rank % 32 == 0) warps[rank / 32] = tree;
  const float sum = reduce(storage).Sum(mine);
  if (rank == 0) {
    float expected = warps[0];
    for (int i = 1; i < THREADS / 32; i++) expected += warps[i];
    CHECK(sum == expected);
  }
}

struct running {
  int sum;
  __device__ int operator()(int total) {
    const int before = sum;
    sum += total;
    return before;
  }
};

__global__ void check_block_scan(int *wrong) {
  typedef cub::BlockScan<int, 64, cub::BLOCK_SCAN_WARP_SCANS, 2, 2> scan;
  __shared__ scan::TempStorage storage;
  const int rank = (int)rank_in_block();
  int out, total = 0;
  scan(storage).ExclusiveSum(rank, out);
  CHECK(out == rank * (rank - 1) / 2);
  __syncthreads();
  scan(storage).InclusiveSum(rank, out, total);
  CHECK(out == rank * (rank + 1) / 2 && total == THREADS * (THREADS - 1) / 2);
  __syncthreads();
  int items[3] = {1, rank, 2};
  scan(storage).ExclusiveSum(items, items, total);
  CHECK(items[0] == 3 * rank + rank * (rank - 1) / 2 && items[1] == items[0] + 1 && items[2] == items[1] + rank);
  CHECK(total == 3 * THREADS + THREADS * (THREADS - 1) / 2);
  __syncthreads();
  scan(storage).InclusiveScan(rank == 5 ? 99 : rank % 5, out, larger());
  CHECK(out == (rank >= 5 ? 99 : rank));
  __syncthreads();
  scan(storage).ExclusiveScan(rank, out, 40, larger());
  CHECK(out == (rank > 41 ? rank - 1 : 40));
  running front = {1000};
  for (int tile = 0; tile < 2; tile++) {
    __syncthreads();
    scan(storage).ExclusiveSum(1, out, front);
    CHECK(out == 1000 + tile * THREADS + rank);
  }
}

__global__ void check_block_moves(int *wrong) {
  typedef cub::BlockLoad<int, 64, 3, cub::BLOCK_LOAD_WARP_TRANSPOSE, 2, 2> block_load;
  typedef cub::BlockStore<int, 64, 3, cub::BLOCK_STORE_TRANSPOSE, 2, 2> block_store;
  typedef cub::BlockExchange<int, 64, 3, false, 2, 2> block_exchange;
  __shared__ union room {
    block_load::TempStorage load;
    block_store::TempStorage store;
    block_exchange::TempStorage exchange;
  } storage;
  __shared__ int from[3 * THREADS], to[3 * THREADS];
  const int rank = (int)rank_in_block();
  for (int i = rank; i < 3 * THREADS; i += THREADS) from[i] = 10 * i, to[i] = -1;
  __syncthreads();
  int items[3];
  block_load(storage.load).Load(from, items, 3 * THREADS - 1, -5);
  CHECK(items[0] == 30 * rank && items[2] == (rank == THREADS - 1 ? -5 : 30 * rank + 20));
  __syncthreads();
  block_exchange(storage.exchange).BlockedToStriped(items, items);
  CHECK(items[0] == 10 * rank && items[1] == 10 * (rank + THREADS));
  __syncthreads();
  block_exchange(storage.exchange).StripedToBlocked(items, items);
  CHECK(items[1] == 30 * rank + 10);
  __syncthreads();
  block_store(storage.store).Store(to, items, 3 * THREADS - 2);
  __syncthreads();
  CHECK(to[rank] == 10 * rank && to[3 * THREADS - 3] == 10 * (3 * THREADS - 3) && to[3 * THREADS - 2] == -1);
}

__global__ void check_adjacent_difference(int *wrong) {
  typedef cub::BlockAdjacentDifference<int, 64, 2, 2> difference;
  __shared__ difference::TempStorage storage;
  const int rank = (int)rank_in_block(), first = 2 * rank;
  int items[2] = {first * first, (first + 1) * (first + 1)}, out[2];
  difference(storage).SubtractLeft(items, out, minus());
  CHECK(out[0] == (rank ? 2 * first - 1 : 0) && out[1] == 2 * first + 1);
  __syncthreads();
  difference(storage).SubtractRight(items, out, minus());
  CHECK(out[0] == -2 * first - 1 && out[1] == (rank < THREADS - 1 ? -2 * first - 3 : items[1]));
  __syncthreads();
  difference(storage).SubtractLeft(items, items, minus(), 7);
  CHECK(items[0] == (rank ? 2 * first - 1 : -7));
}

__global__ void check_warps(int *wrong) {
  typedef cub::WarpReduce<int> reduce;
  typedef cub::WarpScan<int, 8> scan;
  __shared__ reduce::TempStorage reduces[THREADS / 32];
  __shared__ scan::TempStorage scans[THREADS / 8];
  const int rank = (int)rank_in_block(), l = rank % 32, part = rank % 8;
  const int sum = reduce(reduces[rank / 32]).Sum(l);
  __syncwarp();
  const int most = reduce(reduces[rank / 32]).Reduce(l, larger(), 20);
  if (l == 0) CHECK(sum == 496 && most == 19);
  int in, out, total;
  scan(scans[rank / 8]).InclusiveSum(l, out, total);
  CHECK(out == (part + 1) * (2 * l - part) / 2 && total == 8 * (l - part) + 28);
  __syncwarp();
  scan(scans[rank / 8]).ExclusiveSum(1, out);
  CHECK(out == part);
  __syncwarp();
  scan(scans[rank / 8]).InclusiveScan(part == 2 ? 50 : part, in, larger());
  CHECK(in == (part >= 2 ? 50 : part));
}

using namespace cub;
typedef cub::BlockReduce<int, X> sums;

__global__ void check_names(int *wrong) {
  __shared__ sums::TempStorage storage;
  __shared__ BlockScan<int, 64, BLOCK_SCAN_RAKING, 2, 2>::TempStorage other;
  int out;
  BlockScan<int, 64, BLOCK_SCAN_RAKING, 2, 2>(other).InclusiveSum(1, out);
  const int sum = sums(storage).Sum(1);
  CHECK(out == (int)rank_in_block() + 1);
  if (rank_in_block() == 0) CHECK(sum == THREADS);
}
