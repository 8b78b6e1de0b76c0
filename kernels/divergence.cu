// SPDX-License-Identifier: MIT
//
// divergence: what it costs when threads do different things, and how they agree on who does what.
//
// The ladders
//   ways      branches<BY_WARP>       the threads, or the warps, of a block go `ways` different ways
//   branch    root_branch, root_select        if and else of one instruction each; a choice
//   list      list_branch             a few elements take `steps` steps, after a branch
//             list_two                two lists of indices, then a launch for each
//             list_build<BY>          one list, of the expensive ones; its places by an atomic operation of each
//                                     thread, by a vote of each warp, by a count of each block
//             list_in_block           a list of each block, in shared memory: one launch
//   boundary  edge_branch             points of the boundary take `steps` steps, after a branch
//             inner, edges            a kernel for each
//   count     count<BY>               how many elements are small, joined by element, warp or block
//   atomics   bins<IN_SHARED>         atomic additions to few or many addresses, in global or in shared memory
//
// Bound: of branches by threads 1 / ways of one way, since a warp takes all ways that one of its threads takes, one
// after the other; by warps that of one way. The others: main memory, as of a copy (count only reads). The expensive
// part is `steps` multiplications and additions, each of which waits for the one before.
//
// Sources: M. Giles and W. Armour, "CUDA Programming on NVIDIA GPUs" (Oxford; undated, the latest year named is 2023),
// lecture 3: p. 2 to 8 (branches, root_branch), 10 (edge_branch, inner), 11 (lists), 14 to 19 (count, bins).

enum { ELEMENT, SHARED, WARP, BLOCK };

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define ALL 0xffffffffu

// ---- device helpers -------------------------------------------------------------------------------------------------

__device__ float work(float v, int steps, float a, float b) {
  for (int k = 0; k < steps; k++) v = v * a + b;
  return v;
}

// The lanes before this one that vote for it.
__device__ unsigned before(unsigned votes) { return __popc(votes & ((1u << threadIdx.x % 32) - 1)); }

// The first of as many places as the warp has votes.
__device__ unsigned reserve(unsigned *next, unsigned votes) {
  unsigned first = 0;
  if (threadIdx.x % 32 == 0 && votes) first = atomicAdd(next, __popc(votes));
  return __shfl_sync(ALL, first, 0);
}

// ---- ways -----------------------------------------------------------------------------------------------------------

template <bool BY_WARP>
__global__ void branches(float *y, const float *x, int n, int ways, int steps, float a, float b) {
  int i = INDEX;
  if (i >= n) return;
  int way = (BY_WARP ? threadIdx.x / 32 : threadIdx.x) % ways;
  float v = x[i];
  for (int w = 0; w < ways; w++) {
    if (w == way) v = work(v, steps, a, b);
  }
  y[i] = v;
}

__global__ void root_branch(float *y, const float *x, int n, float fraction) {
  int i = INDEX;
  if (i >= n) return;
  if (x[i] < fraction) y[i] = x[i] - 2.0f;
  else y[i] = sqrtf(x[i]);
}

__global__ void root_select(float *y, const float *x, int n, float fraction) {
  int i = INDEX;
  if (i >= n) return;
  float low = x[i] - 2.0f, high = sqrtf(x[i]);
  y[i] = x[i] < fraction ? low : high;
}

// ---- lists ----------------------------------------------------------------------------------------------------------

__global__ void list_branch(float *y, const float *x, int n, float fraction, int steps, float a, float b) {
  int i = INDEX;
  if (i >= n) return;
  y[i] = x[i] < fraction ? work(x[i], steps, a, b) : 1 - x[i];
}

__global__ void list_begin(unsigned *counts) { counts[threadIdx.x] = 0; }

// The expensive ones at counts[0], the others at counts[1].
__global__ void list_two(unsigned *list, unsigned *others, unsigned *counts, const float *x, int n, float fraction) {
  int i = INDEX;
  bool is_in = i < n && x[i] < fraction, is_other = i < n && !is_in;
  unsigned votes = __ballot_sync(ALL, is_in), rest = __ballot_sync(ALL, is_other);
  unsigned first = reserve(&counts[0], votes), other = reserve(&counts[1], rest);
  if (is_in) list[first + before(votes)] = i;
  if (is_other) others[other + before(rest)] = i;
}

// The other elements are done at once.
template <int BY>
__global__ void list_build(float *y, unsigned *list, unsigned *counts, const float *x, int n, float fraction) {
  __shared__ unsigned next;
  int i = INDEX;
  bool is_in = i < n && x[i] < fraction;
  unsigned *from = counts, at = 0;
  if (BY == BLOCK) {
    int count = __syncthreads_count(is_in);
    if (threadIdx.x == 0) next = atomicAdd(counts, count);
    __syncthreads();
    from = &next;
  }
  if (BY == ELEMENT) {
    if (is_in) at = atomicAdd(counts, 1);
  } else {
    unsigned votes = __ballot_sync(ALL, is_in);
    at = reserve(from, votes) + before(votes);
  }
  if (is_in) list[at] = i;
  else if (i < n) y[i] = 1 - x[i];
}

__global__ void list_work(float *y, const unsigned *list, const unsigned *counts, const float *x, int steps, float a,
                          float b) {
  for (unsigned k = INDEX; k < counts[0]; k += gridDim.x * blockDim.x) y[list[k]] = work(x[list[k]], steps, a, b);
}

__global__ void list_rest(float *y, const unsigned *others, const unsigned *counts, const float *x) {
  for (unsigned k = INDEX; k < counts[1]; k += gridDim.x * blockDim.x) y[others[k]] = 1 - x[others[k]];
}

__global__ void list_in_block(float *y, const float *x, int n, float fraction, int steps, float a, float b) {
  __shared__ unsigned list[1024], count;
  int i = INDEX;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  bool is_in = i < n && x[i] < fraction;
  unsigned votes = __ballot_sync(ALL, is_in), first = reserve(&count, votes);
  if (is_in) list[first + before(votes)] = i;
  else if (i < n) y[i] = 1 - x[i];
  __syncthreads();
  for (unsigned k = threadIdx.x; k < count; k += blockDim.x) y[list[k]] = work(x[list[k]], steps, a, b);
}

// ---- a boundary -----------------------------------------------------------------------------------------------------

__device__ float mean(const float *x, int i, int j, int nx) {
  size_t at = (size_t)j * nx + i;
  return 0.25f * (x[at - 1] + x[at + 1] + x[at - nx] + x[at + nx]);
}

__global__ void edge_branch(float *y, const float *x, int nx, int steps, float a, float b) {
  int i = INDEX, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= nx) return;
  size_t at = (size_t)j * nx + i;
  bool is_edge = i == 0 || i == nx - 1 || j == 0 || j == nx - 1;
  y[at] = is_edge ? work(x[at], steps, a, b) : mean(x, i, j, nx);
}

__global__ void inner(float *y, const float *x, int nx) {
  int i = INDEX, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i > 0 && i < nx - 1 && j > 0 && j < nx - 1) y[(size_t)j * nx + i] = mean(x, i, j, nx);
}

// Four sides of nx - 1 points each, one after the other.
__global__ void edges(float *y, const float *x, int nx, int steps, float a, float b) {
  int side = INDEX / (nx - 1), k = INDEX % (nx - 1);
  if (side > 3) return;
  int i = side == 0 ? k : side == 1 ? nx - 1 : side == 2 ? nx - 1 - k : 0;
  int j = side == 0 ? 0 : side == 1 ? k : side == 2 ? nx - 1 : nx - 1 - k;
  size_t at = (size_t)j * nx + i;
  y[at] = work(x[at], steps, a, b);
}

// ---- agreeing -------------------------------------------------------------------------------------------------------

template <int BY> __global__ void count(unsigned *total, const float *x, int n, float fraction) {
  __shared__ unsigned sum;
  int i = INDEX;
  bool is_small = i < n && x[i] < fraction;
  if (BY == ELEMENT && is_small) atomicAdd(total, 1);
  if (BY == WARP) reserve(total, __ballot_sync(ALL, is_small));
  if (BY == SHARED) {
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    if (is_small) atomicAdd(&sum, 1);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, sum);
  }
  if (BY == BLOCK) {
    int all = __syncthreads_count(is_small);
    if (threadIdx.x == 0) atomicAdd(total, all);
  }
}

// Thread i adds 1 to total[i % many]; in shared memory each block has its own, which are joined.
template <bool IN_SHARED> __global__ void bins(unsigned *total, int n, int many) {
  __shared__ unsigned own[IN_SHARED ? 1024 : 1];
  unsigned *to = IN_SHARED ? own : total;
  if (IN_SHARED) {
    for (int t = threadIdx.x; t < many; t += blockDim.x) own[t] = 0;
    __syncthreads();
  }
  for (unsigned i = INDEX; i < n; i += gridDim.x * blockDim.x) atomicAdd(&to[i % many], 1);
  if (IN_SHARED) {
    __syncthreads();
    for (int t = threadIdx.x; t < many; t += blockDim.x) atomicAdd(&total[t], own[t]);
  }
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// branches, root_..., list_branch, list_two, list_build, list_in_block, count: a thread per element, in whole warps
// list_begin            one block of 2, before list_two or list_build
// list_work, list_rest  any, after them
// edge_branch, inner    block {32, by}, grid {ceil(nx / 32), ceil(nx / by)}
// edges                 block b, grid ceil(4 * (nx - 1) / b)
// bins                  any; total has `many` elements, at most 1024 in shared memory
