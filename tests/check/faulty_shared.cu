// SPDX-License-Identifier: MIT
//
// One mistake per kernel: threads of a block that do not wait. "finding:" marks the line that check mode must name,
// with the kinds that may come; "error:" what the launch must end with; one outside of all arrays may end so too.
// faulty.lua runs them.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern __shared__ char dynamic[];

// ---- a barrier is missing -------------------------------------------------------------------------------------

__global__ void no_barrier_after_load(const float *x, float *y) {
  __shared__ float s[64];
  s[threadIdx.x] = x[threadIdx.x]; // finding: race in shared memory
  y[threadIdx.x] = s[63 - threadIdx.x]; // finding: race in shared memory
}

__global__ void no_barrier_in_tree(const float *x, float *y) {
  __shared__ float s[128];
  const int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int half = 64; half; half /= 2)
    if (t < half) s[t] += s[t + half]; // finding: race in shared memory
  if (t == 0) *y = s[0];
}

__global__ void no_barrier_before_the_tree(const float *x, float *y) {
  __shared__ float s[128];
  const int t = threadIdx.x;
  s[t] = x[t]; // finding: race in shared memory
  for (int half = 64; half; half /= 2) {
    if (t < half) s[t] += s[t + half]; // finding: race in shared memory
    __syncthreads();
  }
  if (t == 0) *y = s[0];
}

__global__ void no_barrier_at_end_of_loop(const float *x, float *y, int n) {
  __shared__ float s[64];
  float sum = 0;
  for (int first = 0; first < n; first += 64) {
    s[threadIdx.x] = x[first + threadIdx.x]; // finding: race in shared memory
    __syncthreads();
    for (int k = 0; k < 64; k++) sum += s[k]; // finding: race in shared memory
  }
  y[threadIdx.x] = sum;
}

__global__ void double_buffer_of_one(float *a) {
  __shared__ float s[64];
  s[threadIdx.x] = a[threadIdx.x];
  for (int k = 0; k < 4; k++) {
    __syncthreads();
    s[threadIdx.x] = s[(threadIdx.x + 1) % 64]; // finding: race in shared memory
  }
  a[threadIdx.x] = s[threadIdx.x];
}

__global__ void one_writes_nobody_waits(const float *x, float *y) {
  __shared__ float first;
  if (threadIdx.x == 0) first = x[0]; // finding: race in shared memory
  y[threadIdx.x] = first; // finding: race in shared memory
}

__global__ void result_read_too_early(const float *x, float *y) {
  __shared__ float s[64];
  const int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  if (t == 40) s[0] = s[0] + s[40]; // finding: race in shared memory
  if (t == 0) *y = s[0]; // finding: race in shared memory
}

__global__ void scan_in_place(int *a) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = a[t];
  for (int d = 1; d < 64; d *= 2) {
    __syncthreads();
    if (t >= d) s[t] += s[t - d]; // finding: race in shared memory
  }
  a[t] = s[t];
}

__global__ void transpose_without_barrier(const float *in, float *out) {
  __shared__ float tile[8][9];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 8 + threadIdx.x]; // finding: race in shared memory
  out[threadIdx.y * 8 + threadIdx.x] = tile[threadIdx.x][threadIdx.y]; // finding: race in shared memory
}

__global__ void halo_without_barrier(const float *in, float *out) {
  __shared__ float s[66];
  const int t = threadIdx.x + 1;
  s[t] = in[threadIdx.x]; // finding: race in shared memory
  if (threadIdx.x < 2) s[threadIdx.x * 65] = 0; // finding: race in shared memory
  out[threadIdx.x] = s[t - 1] + s[t + 1]; // finding: race in shared memory
}

__global__ void histogram_not_cleared_in_time(const int *x, int *bins) {
  __shared__ int own[64];
  own[threadIdx.x] = 0; // finding: race in shared memory
  atomicAdd(&own[x[63 - threadIdx.x] % 64], 1); // finding: race in shared memory
  __syncthreads();
  bins[threadIdx.x] = own[threadIdx.x];
}

__global__ void histogram_cleared_for_a_warp(const int *x, int *bins) {
  __shared__ int own[8];
  if (threadIdx.x < 8) own[threadIdx.x] = 0; // finding: race in shared memory
  __syncwarp();
  atomicAdd(&own[x[threadIdx.x] % 8], 1); // finding: race in shared memory
  __syncthreads();
  if (threadIdx.x < 8) bins[threadIdx.x] = own[threadIdx.x];
}

__global__ void histogram_read_too_early(const int *x, int *bins) {
  __shared__ int own[64];
  own[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&own[x[63 - threadIdx.x] % 64], 1); // finding: race in shared memory
  bins[threadIdx.x] = own[threadIdx.x]; // finding: race in shared memory
}

__global__ void halves_overlap(float *a, int n) {
  float *first = (float *)dynamic, *second = first + n - 1;
  first[threadIdx.x] = a[threadIdx.x]; // finding: race in shared memory
  second[threadIdx.x] = 2; // finding: race in shared memory
  __syncthreads();
  a[threadIdx.x] = first[threadIdx.x];
}

__global__ void global_within_block(float *a) {
  a[threadIdx.x] = threadIdx.x; // finding: race in global memory
  a[64 + threadIdx.x] = a[63 - threadIdx.x]; // finding: race in global memory
}

union phases {
  int first[64];
  double second[32];
};

__global__ void union_without_barrier(int *a) {
  __shared__ phases u;
  const int t = threadIdx.x;
  u.first[t] = t;
  __syncthreads();
  const int mine = u.first[63 - t]; // finding: race in shared memory
  if (t < 32) u.second[t] = mine; // finding: race in shared memory
  __syncthreads();
  a[t] = (int)u.second[t / 2];
}

// ---- a warp's synchronisation is missing ----------------------------------------------------------------------

__global__ void no_syncwarp(const float *x, float *y) {
  __shared__ float s[64];
  const int t = threadIdx.x;
  s[t] = x[t];
  s[t + 32] = 0;
  __syncwarp();
  for (int half = 16; half; half /= 2) s[t] += s[t + half]; // finding: race in shared memory
  if (t == 0) *y = s[0];
}

__global__ void syncwarp_once(const float *x, float *y) {
  __shared__ float s[64];
  const int t = threadIdx.x;
  s[t] = x[t];
  s[t + 32] = 0;
  __syncwarp();
  for (int half = 16; half; half /= 2) {
    s[t] += s[t + half]; // finding: race in shared memory
    __syncwarp();
  }
  if (t == 0) *y = s[0];
}

__global__ void syncwarp_for_a_block(int *a) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x; // finding: race in shared memory
  __syncwarp();
  a[threadIdx.x] = s[63 - threadIdx.x]; // finding: race in shared memory
}

__global__ void masks_that_do_not_meet(int *a) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = t; // finding: race in shared memory
  if (t < 16) __syncwarp(0x0000ffff);
  else __syncwarp(0xffff0000);
  a[t] = s[31 - t]; // finding: race in shared memory
}

__global__ void small_tile_for_a_warp(int *a) {
  __shared__ int s[32];
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  s[threadIdx.x] = threadIdx.x; // finding: race in shared memory
  tile.sync();
  a[threadIdx.x] = s[31 - threadIdx.x]; // finding: race in shared memory
}

__global__ void lane_zero_tells_nobody(int *a) {
  __shared__ int first;
  if (threadIdx.x == 0) first = a[0]; // finding: race in shared memory
  a[32 + threadIdx.x] = first; // finding: race in shared memory
}

// ---- two write one place --------------------------------------------------------------------------------------

__global__ void all_write_one(float *a) {
  __shared__ float s;
  s = threadIdx.x; // finding: race in shared memory
  __syncthreads();
  a[threadIdx.x] = s;
}

__global__ void neighbours_write_one(int *a) {
  __shared__ int s[32];
  s[threadIdx.x / 2] = threadIdx.x; // finding: race in shared memory
  __syncthreads();
  a[threadIdx.x] = s[threadIdx.x / 2];
}

__global__ void plain_counter(int *a) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  count++; // finding: race in shared memory
  __syncthreads();
  a[threadIdx.x] = count;
}

__global__ void plain_beside_atomic(int *a) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (threadIdx.x == 7) count = 5; // finding: race in shared memory
  else atomicAdd(&count, 1); // finding: race in shared memory
  __syncthreads();
  a[threadIdx.x] = count;
}

__global__ void word_over_bytes(unsigned char *a) {
  __shared__ unsigned s[16];
  unsigned char *bytes = (unsigned char *)s;
  bytes[threadIdx.x] = 1; // finding: race in shared memory
  if (threadIdx.x == 63) s[0] = 0; // finding: race in shared memory
  __syncthreads();
  a[threadIdx.x] = bytes[threadIdx.x];
}

__global__ void unnamed_union_without_barrier(int *a) {
  __shared__ union {
    int first[64];
    float second[64];
  } u;
  u.first[threadIdx.x] = threadIdx.x; // finding: race in shared memory
  a[threadIdx.x] = (int)u.second[63 - threadIdx.x]; // finding: race in shared memory
}

__global__ void unnamed_struct_without_barrier(int *a) {
  __shared__ struct {
    int key, value[2];
  } s[64], *first;
  s[threadIdx.x].value[1] = threadIdx.x; // finding: race in shared memory
  if (threadIdx.x == 0) first = s;
  a[threadIdx.x] = s[63 - threadIdx.x].value[1]; // finding: race in shared memory
}

// ---- longer ones ----------------------------------------------------------------------------------------------

__global__ void sort_without_barrier(int *a) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = a[t];
  __syncthreads();
  for (int k = 2; k <= 64; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      const int other = t ^ j;
      if (other > t && (s[t] > s[other]) == !(t & k)) { // finding: race in shared memory
        const int swap = s[t]; // finding: race in shared memory
        s[t] = s[other], s[other] = swap; // finding: race in shared memory
      }
    }
  __syncthreads();
  a[t] = s[t];
}

__global__ void product_without_second_barrier(const float *a, const float *b, float *c, int n) {
  __shared__ float sa[8][8], sb[8][8];
  const int x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (int first = 0; first < n; first += 8) {
    sa[y][x] = a[y * n + first + x]; // finding: race in shared memory
    sb[y][x] = b[(first + y) * n + x]; // finding: race in shared memory
    __syncthreads();
    for (int k = 0; k < 8; k++) sum += sa[y][k] * sb[k][x]; // finding: race in shared memory
  }
  c[y * n + x] = sum;
}

__global__ void down_sweep_without_barrier(int *a) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = a[t], s[t + 64] = a[t + 64];
  __syncthreads();
  for (int d = 1, offset = 64; d < 128; d *= 2, offset /= 2) {
    if (t < d) {
      const int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1, sum = s[left]; // finding: race in shared memory
      s[left] = s[right]; // finding: race in shared memory
      s[right] += sum; // finding: race in shared memory
    }
  }
  __syncthreads();
  a[t] = s[t];
}

__global__ void wrong_buffer(float *a, int steps) {
  __shared__ float s[2][64];
  const int t = threadIdx.x;
  s[0][t] = s[1][t] = a[t];
  __syncthreads();
  for (int k = 0; k < steps; k++) {
    s[k % 2][t] = s[k % 2][(t + 1) % 64]; // finding: race in shared memory
    __syncthreads();
  }
  a[t] = s[steps % 2][t];
}

__global__ void tile_reads_its_neighbour(int *a) {
  __shared__ int s[32];
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  s[threadIdx.x] = threadIdx.x; // finding: race in shared memory
  tile.sync();
  a[threadIdx.x] = s[(threadIdx.x + 16) % 32]; // finding: race in shared memory
}

__global__ void coalesced_without_sync(int *a) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  a[t] = 0;
  if (t % 3 == 0) {
    cg::coalesced_group group = cg::coalesced_threads();
    s[group.thread_rank()] = t; // finding: race in shared memory
    a[t] = s[group.size() - 1 - group.thread_rank()]; // finding: race in shared memory
  }
}

__global__ void flag_without_fence(int *a) {
  __shared__ int data;
  __shared__ volatile int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    data = 42; // finding: race in shared memory
    ready = 1;
  } else if (threadIdx.x == 32) {
    while (!ready) {}
    a[0] = data; // finding: race in shared memory
  }
}

__global__ void plain_flag_in_shared(int *a) {
  __shared__ int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 0) ready = 1; // finding: race in shared memory
  if (threadIdx.x == 32) a[0] = ready; // finding: race in shared memory
}

__global__ void last_warp_without_fence(int *a) {
  __shared__ int part[4];
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    part[threadIdx.x / 32] = threadIdx.x; // finding: race in shared memory
    if (atomicAdd(&count, 1u) == 3) a[0] = part[0] + part[1] + part[2] + part[3]; // finding: race in shared memory
  }
}

__global__ void sum_of_sums_too_early(const int *x, int *y) {
  __shared__ int sums[4];
  int sum = x[threadIdx.x];
  for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum; // finding: race in shared memory
  if (threadIdx.x == 0) *y = sums[0] + sums[1] + sums[2] + sums[3]; // finding: race in shared memory
}

__global__ void shared_list_too_early(int *a) {
  __shared__ int count, list[64];
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  list[atomicAdd(&count, 1)] = threadIdx.x; // finding: race in shared memory
  if (threadIdx.x < 64) a[threadIdx.x] = list[63 - threadIdx.x]; // finding: race in shared memory
}

// Shuffles order the lanes of their own warp only, however many they are.
__global__ void shuffles_for_a_barrier(int *a) {
  __shared__ int first;
  int sum = threadIdx.x;
  if (threadIdx.x == 0) first = a[0]; // finding: race in shared memory
  __syncwarp();
  const int mine = first; // finding: race in shared memory
  for (int k = 0; k < 40; k++) sum += __shfl_xor_sync(~0u, sum, 1); // finding: overflow
  __syncthreads();
  a[threadIdx.x] = sum + mine;
}

// Shared memory declared outside of the kernel.
__shared__ int outside[64];

__global__ void outside_of_the_kernel(int *a) {
  outside[threadIdx.x] = a[threadIdx.x]; // finding: race in shared memory
  a[threadIdx.x] = outside[threadIdx.x ^ 1]; // finding: race in shared memory
}

struct Neighbour {
  template <class T> __device__ static T get(T value);
};

__global__ void shared_memory_of_a_method(int *a) { a[threadIdx.x] = Neighbour::get(a[threadIdx.x]); }
template <class T> __device__ T Neighbour::get(T value) {
  __shared__ T values[64];
  values[threadIdx.x] = value; // finding: race in shared memory
  return values[threadIdx.x ^ 1]; // finding: race in shared memory
}
