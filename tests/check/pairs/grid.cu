// SPDX-License-Identifier: MIT
//
// Barriers of the whole grid. A line that ends in "// legal" or "// faulty" is in that twin only.
// Guide, "Grid Synchronization": all threads of the grid reach grid.sync().

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Guide, "Grid Synchronization": a thread that has returned does not come.
__global__ void guard_returns(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return; // faulty
  cg::grid_group grid = cg::this_grid();
  if (i < n) out[i] = in[i] + 1;
  grid.sync();
  if (i < n) out[n + i] = out[n - 1 - i];
}

// Guide, "Grid Synchronization": nor does a block that has nothing to do.
__global__ void block_leaves(float *a) {
  auto grid = cg::this_grid();
  if (blockIdx.x == 2) return; // faulty
  a[grid.thread_rank()] = 1.f;
  grid.sync();
  if (blockIdx.x == 2) return; // legal
  a[96 + grid.thread_rank()] = a[(grid.thread_rank() + 32) % 64];
}

// Guide, "Grid Synchronization": the blocks take as many turns as each other.
__global__ void uneven_turns(int *sums, const int *turns) {
  cg::grid_group g = cg::this_grid();
  int most = turns[blockIdx.x]; // faulty
  int most = turns[0];          // legal
  for (int k = 0; k < most; k++) {
    if (threadIdx.x == 0) atomicAdd(sums + k, k < turns[blockIdx.x]);
    g.sync();
  }
}

class Solver {
public:
  __device__ Solver(float *now, float *next, int n) : now(now), next(next), n(n) {}
  __device__ void step(cg::grid_group &grid) {
    for (int i = grid.thread_rank(); i < n; i += grid.size())
      next[i] = 0.5f * (now[i > 0 ? i - 1 : 0] + now[i + 1 < n ? i + 1 : i]);
    grid.sync(); // legal
    float *swap = now;
    now = next;
    next = swap;
  }

private:
  float *now, *next;
  int n;
};

// Guide, "Grid Synchronization": only grid.sync() orders one block's writes before another's reads in a launch.
__global__ void relax(float *a, float *b, int n, int steps) {
  cg::grid_group grid = cg::this_grid();
  Solver solver(a, b, n);
  for (int s = 0; s < steps; s++) solver.step(grid);
}

// Guide, "Synchronization Functions": __syncthreads() waits for the threads of the block, not for the grid.
__global__ void phases(const double *in, double *part, double *out) {
  auto grid = cg::this_grid();
  if (threadIdx.x == 0) part[blockIdx.x] = in[blockIdx.x] * blockIdx.x;
  __syncthreads(); // faulty
  grid.sync();     // legal
  double sum = 0;
  for (int b = 0; b < gridDim.x; b++) sum += part[b];
  out[grid.thread_rank()] = sum;
}

// Guide, "Grid Synchronization": a barrier in a branch is one for those only who take it.
__global__ void branch_of_block(int *cells) {
  cg::grid_group grid = cg::this_grid();
  int i = blockIdx.y * gridDim.x + blockIdx.x;
  cells[i] = i; // faulty
  if (threadIdx.x == 0) cells[i] = i;    // legal
  if (blockIdx.y == 0) grid.sync();      // faulty
  grid.sync();                           // legal
  if (threadIdx.x == 0) cells[i + 6] = cells[5 - i]; // legal
}

__device__ void meet(cg::grid_group g, bool also) {
  if (also) g.sync();
}

// Guide, "Grid Synchronization": the same one call away, for some lanes of each block.
__global__ void helper_meets(unsigned *n) {
  atomicAdd(n, 1u);
  meet(cg::this_grid(), threadIdx.x < 16); // faulty
  meet(cg::this_grid(), gridDim.x > 0);    // legal
  if (threadIdx.x == 0) atomicMax(n + 1, atomicAdd(n, 0u));
}

// Guide, "Grid Synchronization": a loop that a block leaves early leaves the others waiting.
__global__ void early_break(const short *level, short *out, int rounds) {
  cg::grid_group grid = cg::this_grid();
  for (int r = 0; r < rounds; r++) {
    if (level[blockIdx.x] <= r) break; // faulty
    if (threadIdx.x == 0 && level[blockIdx.x] > r) out[blockIdx.x] = (short)r;
    grid.sync();
  }
}

// PTX ISA, "Release and Acquire Patterns": a grid barrier made by hand wants fences around its counter.
__global__ void own_barrier(int *a, unsigned *arrived, int *b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = 2 * i;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence(); // legal
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < gridDim.x) {
    }
    __threadfence(); // legal
  }
  __syncthreads();
  b[i] = a[gridDim.x * blockDim.x - 1 - i];
}
