/* SPDX-License-Identifier: MIT
 *
 * Cooperative groups, checked by themselves; launched as builtins.cu's kernels are, check_grid_sync cooperatively and
 * check_short_warp with block {40, 1, 1}. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "check.cuh"

namespace cg = cooperative_groups;

__global__ void check_thread_block(int *wrong) {
  __shared__ int cell[THREADS];
  const cg::thread_block block = cg::this_thread_block();
  CHECK(block.thread_rank() == rank_in_block() && block.size() == THREADS && block.num_threads() == THREADS);
  CHECK(block.group_index().y == blockIdx.y && block.thread_index().z == threadIdx.z);
  CHECK(block.group_dim().x == 64 && block.dim_threads().y == 2);
  cell[block.thread_rank()] = 1;
  block.sync();
  CHECK(cell[THREADS - 1 - block.thread_rank()] == 1);
  cg::sync(block);
  cell[block.thread_rank()] = 2;
  cg::this_thread_block().sync();
  CHECK(cell[(block.thread_rank() + 100) % THREADS] == 2);
}

__global__ void check_tiles(int *wrong) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  const auto tile = cg::tiled_partition<8>(block);
  const auto inner = cg::tiled_partition<4>(tile);
  const int l = (int)lane();
  CHECK(warp.size() == 32 && warp.thread_rank() == l && warp.meta_group_size() == THREADS / 32);
  CHECK(warp.meta_group_rank() == rank_in_block() / 32);
  CHECK(tile.num_threads() == 8 && tile.thread_rank() == l % 8 && tile.meta_group_rank() == rank_in_block() / 8);
  CHECK(inner.thread_rank() == l % 4 && inner.meta_group_rank() == l % 8 / 4 && inner.meta_group_size() == 2);
  CHECK(warp.shfl(l, 3) == 3 && tile.shfl(l, 3) == l / 8 * 8 + 3 && inner.shfl_xor(l, 1) == (l ^ 1));
  CHECK(tile.shfl_down(l, 1) == (l % 8 < 7 ? l + 1 : l) && tile.shfl_up(l, 2) == (l % 8 >= 2 ? l - 2 : l));
  CHECK(tile.ballot(l % 8 < 3) == 7u && warp.ballot(l == 9) == 1u << 9);
  CHECK(tile.any(l % 8 == 5) && !tile.all(l % 8) && warp.all(l < 32));
  CHECK(tile.match_any(l % 2) == (l % 2 ? 0xaau : 0x55u));
  tile.sync();
  warp.sync();
  const double d = warp.shfl(l * 0.5, 30);
  CHECK(d == 15);
}

struct particle {
  double x, y;
  int tag;
};

__global__ void check_tile_collectives(int *wrong) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const auto tile = cg::tiled_partition<8>(warp);
  const int l = (int)lane(), first = l / 8 * 8;
  CHECK(cg::reduce(warp, l, cg::plus<int>()) == 496);
  CHECK(cg::reduce(tile, l, cg::plus<int>()) == 8 * first + 28);
  CHECK(cg::reduce(tile, l, cg::less<int>()) == first && cg::reduce(tile, l, cg::greater<int>()) == first + 7);
  CHECK(cg::reduce(tile, 1u << l, cg::bit_or<unsigned>()) == 0xffu << first);
  CHECK(cg::reduce(warp, l * 0.25, cg::plus<double>()) == 124);
  CHECK(cg::inclusive_scan(warp, 1) == l + 1 && cg::exclusive_scan(warp, 2) == 2 * l);
  CHECK(cg::inclusive_scan(tile, l, cg::greater<int>()) == l && cg::inclusive_scan(tile, 1) == l % 8 + 1);
  const particle mine = {l + 0.5, -l * 1.0, l}, got = warp.shfl(mine, 21);
  CHECK(got.x == 21.5 && got.y == -21 && got.tag == 21);
}

/* The well-known form that takes any group. */
__device__ int reduce_sum(cg::thread_group group, int *cell, int value) {
  const int r = (int)group.thread_rank();
  for (int i = (int)group.size() / 2; i > 0; i /= 2) {
    cell[r] = value;
    group.sync();
    if (r < i) value += cell[r + i];
    group.sync();
  }
  return value;
}

__global__ void check_thread_group(int *wrong) {
  __shared__ int cell[THREADS];
  const cg::thread_block block = cg::this_thread_block();
  const int whole = reduce_sum(block, cell, 1);
  CHECK(block.thread_rank() != 0 || whole == THREADS);
  block.sync();
  const cg::thread_group tile = cg::tiled_partition(block, 16);
  const int part = reduce_sum(tile, cell + rank_in_block() / 16 * 16, 2);
  CHECK(tile.thread_rank() != 0 || part == 32);
  CHECK(tile.size() == 16);
}

__global__ void check_coalesced(int *wrong) {
  const int l = (int)lane();
  if (l % 4 == 1) {
    const cg::coalesced_group active = cg::coalesced_threads();
    if (active.size() == 8) {
      CHECK(active.thread_rank() == l / 4);
      CHECK(active.shfl(l, 2) == 9 && active.shfl_down(l, 1) == (l < 29 ? l + 4 : l));
      CHECK(active.shfl_up(l, 1) == (l > 1 ? l - 4 : l));
      CHECK(active.ballot(l > 16) == 0xf0u && active.any(l == 5) && !active.all(l == 5));
      CHECK(cg::reduce(active, l, cg::plus<int>()) == 120);
    }
    active.sync();
  }
}

__device__ int arrived;

__global__ void check_grid_sync(int *wrong) {
  const cg::grid_group grid = cg::this_grid();
  CHECK(grid.is_valid() && grid.size() == THREADS * BLOCKS && grid.num_blocks() == BLOCKS);
  CHECK(grid.block_rank() == blockIdx.x + 2 * blockIdx.y);
  CHECK(grid.thread_rank() == grid.block_rank() * THREADS + rank_in_block());
  for (int round = 1; round <= 3; round++) {
    atomicAdd(&arrived, 1);
    grid.sync();
    CHECK(atomicAdd(&arrived, 0) == round * THREADS * BLOCKS);
    grid.sync();
  }
}

__global__ void check_short_warp(int *wrong) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int l = (int)lane(), there = threadIdx.x < 32 ? 32 : 8;
  CHECK(warp.ballot(1) == (there == 32 ? ALL : 0xffu));
  CHECK(warp.meta_group_size() == 2);
  if (threadIdx.x < 32) CHECK(warp.shfl(l, 7) == 7 && warp.all(l < there)); /* CUDA leaves lanes that are not there open */
  int count = __syncthreads_count(threadIdx.x % 2);
  CHECK(count == 20);
}
