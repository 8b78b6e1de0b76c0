// SPDX-License-Identifier: MIT
//
// Threads of a block that share memory between barriers: legal, though each looks like a race or a wrong address.
// legal.lua runs them.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern __shared__ char dynamic[];

// ---- reuse of one array ---------------------------------------------------------------------------------------

__global__ void tree_reduction(const float *x, float *y, int n) {
  __shared__ float s[128];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int half = blockDim.x / 2; half; half /= 2) {
    if (t < half) s[t] += s[t + half];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}

__global__ void double_buffer(float *a, int steps) {
  __shared__ float s[2][64];
  const int t = threadIdx.x;
  s[0][t] = a[t];
  __syncthreads();
  for (int k = 0; k < steps; k++) {
    s[(k + 1) % 2][t] = s[k % 2][(t + 1) % 64];
    __syncthreads();
  }
  a[t] = s[steps % 2][t];
}

__global__ void swapped_pointers(float *a, int steps) {
  __shared__ float one[64], two[64];
  float *from = one, *to = two;
  const int t = threadIdx.x;
  from[t] = a[t];
  for (int k = 0; k < steps; k++) {
    __syncthreads();
    to[t] = from[63 - t];
    float *swap = from;
    from = to, to = swap;
  }
  a[t] = from[t];
}

__global__ void read_then_write(float *a) {
  __shared__ float s[64];
  const int t = threadIdx.x;
  s[t] = a[t];
  __syncthreads();
  const float next = s[(t + 1) % 64];
  __syncthreads();
  s[t] = next;
  a[t] = s[t];
}

__global__ void one_writes_all_read(float *a, int n) {
  __shared__ float best;
  float sum = 0;
  for (int k = 0; k < 4; k++) {
    if (threadIdx.x == k) best = a[k];
    __syncthreads();
    sum += best;
    __syncthreads();
  }
  a[n + threadIdx.x] = sum;
}

__global__ void reused_in_loop(const float *x, float *y, int n) {
  __shared__ float s[32];
  float sum = 0;
  for (int first = 0; first < n; first += blockDim.x) {
    const int i = first + threadIdx.x;
    s[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    for (int k = 0; k < 32; k++) sum += s[k];
    __syncthreads();
  }
  y[threadIdx.x] = sum;
}

__global__ void many_barriers(int *a, int rounds) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = t;
  for (int k = 0; k < rounds; k++) {
    __syncthreads();
    const int next = s[(t + 1) % 64];
    __syncthreads();
    s[t] = next;
  }
  a[blockIdx.x * 64 + t] = s[t];
}

// ---- scans and sorts ------------------------------------------------------------------------------------------

__global__ void hillis_steele(int *a) {
  __shared__ int s[2][100];
  const int t = threadIdx.x;
  int in = 0;
  s[0][t] = a[t];
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    s[1 - in][t] = t >= d ? s[in][t] + s[in][t - d] : s[in][t];
    in = 1 - in;
    __syncthreads();
  }
  a[t] = s[in][t];
}

__global__ void hillis_steele_in_place(int *a) {
  __shared__ int s[100];
  const int t = threadIdx.x;
  s[t] = a[t];
  for (int d = 1; d < blockDim.x; d *= 2) {
    __syncthreads();
    const int add = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += add;
  }
  a[t] = s[t];
}

#define PADDED(i) ((i) + (i) / 32)
__global__ void blelloch(int *a) {
  __shared__ int s[PADDED(128) + 1];
  const int t = threadIdx.x;
  s[PADDED(t)] = a[t], s[PADDED(t + 64)] = a[t + 64];
  int offset = 1;
  for (int d = 64; d > 0; d /= 2, offset *= 2) {
    __syncthreads();
    if (t < d) s[PADDED(offset * (2 * t + 2) - 1)] += s[PADDED(offset * (2 * t + 1) - 1)];
  }
  if (t == 0) s[PADDED(127)] = 0;
  for (int d = 1; d < 128; d *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < d) {
      const int left = PADDED(offset * (2 * t + 1) - 1), right = PADDED(offset * (2 * t + 2) - 1), sum = s[left];
      s[left] = s[right];
      s[right] += sum;
    }
  }
  __syncthreads();
  a[t] = s[PADDED(t)], a[t + 64] = s[PADDED(t + 64)];
}

__global__ void bitonic_sort(int *a) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = a[t];
  for (int k = 2; k <= 64; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      __syncthreads();
      const int other = t ^ j;
      if (other > t && (s[t] > s[other]) == !(t & k)) {
        const int swap = s[t];
        s[t] = s[other], s[other] = swap;
      }
    }
  __syncthreads();
  a[t] = s[t];
}

// ---- tiles ----------------------------------------------------------------------------------------------------

__global__ void transpose(const float *in, float *out, int width, int height) {
  __shared__ float tile[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x, y = blockIdx.x * 16 + threadIdx.y;
  if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void stencil(const float *in, float *out, int n) {
  __shared__ float s[64 + 2];
  const int t = threadIdx.x + 1, i = blockIdx.x * 64 + threadIdx.x;
  s[t] = i < n ? in[i] : 0;
  if (threadIdx.x == 0) s[0] = i > 0 ? in[i - 1] : 0;
  if (threadIdx.x == 63) s[65] = i + 1 < n ? in[i + 1] : 0;
  __syncthreads();
  if (i < n) out[i] = s[t - 1] + s[t] + s[t + 1];
}

__global__ void stencil_2d(const float *in, float *out, int width, int height) {
  __shared__ float s[10][10];
  const int x0 = blockIdx.x * 8 - 1, y0 = blockIdx.y * 8 - 1;
  for (int k = threadIdx.y * 8 + threadIdx.x; k < 100; k += 64) {
    const int x = x0 + k % 10, y = y0 + k / 10;
    s[k / 10][k % 10] = x >= 0 && x < width && y >= 0 && y < height ? in[y * width + x] : 0;
  }
  __syncthreads();
  const int x = x0 + 1 + threadIdx.x, y = y0 + 1 + threadIdx.y;
  if (x < width && y < height) {
    const int i = threadIdx.x + 1, j = threadIdx.y + 1;
    out[y * width + x] = s[j][i - 1] + s[j][i + 1] + s[j - 1][i] + s[j + 1][i];
  }
}

__global__ void product(const float *a, const float *b, float *c, int n) {
  __shared__ float sa[8][8], sb[8][8];
  const int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  float sum = 0;
  for (int first = 0; first < n; first += 8) {
    const int i = first + threadIdx.x, j = first + threadIdx.y;
    sa[threadIdx.y][threadIdx.x] = y < n && i < n ? a[y * n + i] : 0;
    sb[threadIdx.y][threadIdx.x] = j < n && x < n ? b[j * n + x] : 0;
    __syncthreads();
    for (int k = 0; k < 8; k++) sum += sa[threadIdx.y][k] * sb[k][threadIdx.x];
    __syncthreads();
  }
  if (x < n && y < n) c[y * n + x] = sum;
}

__global__ void odd_block_3d(int *a) {
  __shared__ int s[3 * 5 * 7];
  const int t = threadIdx.x + 3 * (threadIdx.y + 5 * threadIdx.z), threads = 3 * 5 * 7;
  s[t] = t;
  __syncthreads();
  a[(blockIdx.x + gridDim.x * blockIdx.y) * threads + t] = s[threads - 1 - t];
}

// ---- addresses ------------------------------------------------------------------------------------------------

__global__ void dynamic_split_in_two(float *a, int n) {
  float *first = (float *)dynamic;
  int *second = (int *)(first + n);
  const int t = threadIdx.x;
  first[t] = a[t];
  second[t] = n - 1 - t;
  __syncthreads();
  a[t] = first[second[t]];
}

__global__ void bytes_in_shared(unsigned char *a) {
  __shared__ unsigned char s[67];
  const int t = threadIdx.x;
  s[t] = a[t];
  __syncthreads();
  a[t] = s[66 - t];
}

// A count of its own for each thread, in bytes: a thread reads its byte and writes it, beside those of three others.
__global__ void byte_counts(unsigned char *a, int n) {
  __shared__ unsigned char counts[4 * 48];
  const int t = threadIdx.x;
  for (int bin = 0; bin < 4; bin++) counts[bin * 48 + t] = 0;
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) counts[i / 48 % 4 * 48 + t]++;
  __syncthreads();
  unsigned sum = 0;
  for (int i = 0; t < 4 && i < 48; i++) sum += counts[t * 48 + i];
  if (t < 4) a[t] = sum;
}

__global__ void shorts_in_shared(short *a) {
  __shared__ short s[33];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  a[threadIdx.x] = s[32 - threadIdx.x];
}

struct body {
  float x, y, z;
  char flag;
};

__global__ void structs(body *bodies, float *out) {
  __shared__ body s[32];
  s[threadIdx.x] = bodies[threadIdx.x];
  __syncthreads();
  body mine = s[31 - threadIdx.x];
  out[threadIdx.x] = mine.x + mine.y + mine.z;
  mine.x = 5;
  bodies[threadIdx.x] = mine;
}

__global__ void members_by_different_threads(body *bodies) {
  const int t = threadIdx.x;
  body *b = &bodies[t / 4];
  switch (t % 4) {
    case 0: b->x = 1; break;
    case 1: b->y = 2; break;
    case 2: b->z = 3; break;
    default: b->flag = 4;
  }
}

__global__ void vectors(float4 *a, double2 *b) {
  __shared__ float4 s[32];
  const int t = threadIdx.x;
  s[t] = a[t];
  __syncthreads();
  const float4 v = s[31 - t];
  a[t] = make_float4(v.w, v.z, v.y, v.x);
  double2 d = b[t];
  d.x += d.y;
  b[t] = d;
}

// A vector's components by threads of their own, then the whole.
__global__ void vector_by_components(float4 *a) {
  __shared__ float4 s[16];
  float *components = (float *)s;
  components[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x < 16) a[threadIdx.x] = s[threadIdx.x];
}

union words {
  float f[32];
  int i[32];
};

__global__ void union_in_shared(int *a) {
  __shared__ words u;
  u.f[threadIdx.x] = 1;
  __syncthreads();
  a[threadIdx.x] = u.i[31 - threadIdx.x];
}

__global__ void unnamed_struct(int *a) {
  __shared__ struct {
    int key;
    short value[2];
  } s[64];
  const int t = threadIdx.x;
  s[t].key = t, s[t].value[0] = 1, s[t].value[1] = 2;
  __syncthreads();
  a[t] = s[63 - t].key + s[t ^ 1].value[1];
}

union phases {
  int first[64];
  double second[32];
};

// One array for two purposes, as cub's TempStorage.
__global__ void union_for_two_phases(int *a) {
  __shared__ phases u;
  const int t = threadIdx.x;
  u.first[t] = t;
  __syncthreads();
  const int mine = u.first[63 - t];
  __syncthreads();
  if (t < 32) u.second[t] = mine;
  __syncthreads();
  a[t] = (int)u.second[t / 2];
}

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__global__ void local_array_and_recursion(int *a) {
  int local[16];
  for (int k = 0; k < 16; k++) local[k] = k * (int)threadIdx.x;
  a[threadIdx.x] = local[threadIdx.x % 16] + fibonacci(threadIdx.x % 10);
}

__global__ void partly_set(float *a, int n) {
  __shared__ float s[64];
  if (threadIdx.x < n) s[threadIdx.x] = 2;
  __syncthreads();
  a[threadIdx.x] = threadIdx.x < n ? s[n - 1 - threadIdx.x] : 0;
}

__global__ void guarded_ends(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = in[i == 0 ? 0 : i - 1] + in[i == n - 1 ? i : i + 1];
}

__global__ void pointer_past_the_end(const float *in, float *out, int n) {
  const float *end = in + n;
  float sum = 0;
  for (const float *p = in + threadIdx.x; p < end; p += blockDim.x) sum += *p;
  out[threadIdx.x] = sum;
}

// ---- barriers -------------------------------------------------------------------------------------------------

__global__ void block_leaves_early(float *a, int n) {
  __shared__ float s[32];
  if (blockIdx.x * 32 >= n) return;
  s[threadIdx.x] = a[blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  a[blockIdx.x * 32 + threadIdx.x] = s[31 - threadIdx.x];
}

// Threads that have ended count as arrived (from Volta on).
__global__ void threads_leave_early(float *a, int n) {
  __shared__ float s[64];
  if (threadIdx.x >= n) return;
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  a[threadIdx.x] = s[n - 1 - threadIdx.x];
}

__global__ void barrier_in_uniform_branch(float *a) {
  __shared__ float s[32];
  float *mine = a + blockIdx.x * 32;
  s[threadIdx.x] = mine[threadIdx.x];
  if (blockIdx.x % 2) {
    __syncthreads();
    mine[threadIdx.x] = s[31 - threadIdx.x];
  }
}

__global__ void barriers_that_count(int *a) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  const int some = __syncthreads_or(threadIdx.x == 3);
  const int next = s[(threadIdx.x + 1) % 64];
  const int all = __syncthreads_count(next > 9);
  s[threadIdx.x] = all + some;
  const int and_all = __syncthreads_and(1);
  a[threadIdx.x] = s[63 - threadIdx.x] + and_all;
}

__global__ void group_sync(int *a) {
  __shared__ int s[64];
  cg::thread_block block = cg::this_thread_block();
  s[block.thread_rank()] = block.thread_rank();
  block.sync();
  a[block.thread_rank()] = s[63 - block.thread_rank()];
}

__global__ void shared_atomics(int *a) {
  __shared__ int count, low;
  __shared__ unsigned long long wide;
  if (threadIdx.x == 0) count = 0, low = 1000, wide = 0;
  __syncthreads();
  atomicAdd(&count, 1);
  atomicMin(&low, (int)threadIdx.x + 5);
  atomicAdd(&wide, 2ull);
  __syncthreads();
  a[threadIdx.x] = count + low + (int)wide;
}

// A slot by an atomic of shared memory; what lies in it is read after the barrier.
__global__ void shared_compaction(int *a) {
  __shared__ int count, list[64];
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (threadIdx.x % 3 == 0) list[atomicAdd(&count, 1)] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x < count) atomicAdd(&a[0], list[threadIdx.x]);
}

__global__ void private_columns(const int *in, int *bins, int n) {
  __shared__ unsigned char own[8][32];
  for (int b = 0; b < 8; b++) own[b][threadIdx.x] = 0;
  for (int i = threadIdx.x; i < n; i += 32) own[in[i] % 8][threadIdx.x]++;
  __syncthreads();
  if (threadIdx.x < 8) {
    int sum = 0;
    for (int t = 0; t < 32; t++) sum += own[threadIdx.x][t];
    bins[threadIdx.x] = sum;
  }
}

// ---- what a structure has between its members -----------------------------------------------------------------

struct padded {
  char tag;
  double value;
  short count;
};
__global__ void padding_copied(padded *out) {
  __shared__ padded s[32];
  const int t = threadIdx.x;
  s[t].tag = t;
  s[t].value = t;
  s[t].count = 2;
  __syncthreads();
  out[t] = s[31 - t];
}

struct entry {
  float key;
  char tag;
};
__global__ void short_padding_copied(entry *out) {
  __shared__ entry s[32];
  const int t = threadIdx.x;
  s[t].key = t;
  s[t].tag = 1;
  __syncthreads();
  out[t] = s[31 - t];
}

__global__ void bytes_copied(const char *in, char *out) {
  __shared__ char s[4][41];
  const int t = threadIdx.x;
  memset(s[t], t, sizeof s[t]);
  memcpy(s[t] + 1, in + 10 * t, 10);
  __syncthreads();
  memcpy(out + 41 * t, s[3 - t], 41);
}

// ---- pointers to vectors --------------------------------------------------------------------------------------

struct loose { float a, b, c, d; }; // of the alignment of a float

template <class T> __device__ T picked(const T *from, int i) { return from[i]; }

__global__ void loose_structs(float *y, const float *x) {
  const loose *four = (const loose *)(x + 1);
  const float3 *three = (const float3 *)(x + 1);
  const int t = threadIdx.x;
  const loose one = four[t], other = *four;
  const float3 next = picked(three, t);
  y[t] = one.d + other.a + next.x;
}

// A pointer that is not used where it is misaligned; names that are a pointer here and a number or an array there.
__global__ void names_of_pointers(float *y, float *x, int n) {
  const float4 *v = (const float4 *)x, *odd = (const float4 *)(x + 1);
  float4 *rows[2] = { (float4 *)x, (float4 *)x + 8 };
  float4 (*pairs)[2] = (float4 (*)[2])x;
  const int t = threadIdx.x;
  float4 sum = make_float4(0, 0, 0, 0), *place = &sum;
  if (n < 0) sum = *odd;
  for (int i = 0; i < 2; i++) {
    const float v = 2;
    sum.x += v *v * rows[i][t % 8].x;
    float4 copy = rows[i][t % 8], odd[2] = { copy, pairs[i][1] };
    sum.y += odd[1].x + copy.w;
  }
  place[0] = *&v[t % 8], *place = *(v + t % 8);
  auto last = [&](const float4 *v) { return *v; };
  const float4 end = last(&v[n]), *const at = v;
  y[t] = sum.x + (end.x) *place->y + at[0].x * (*place).z;
}

// Variables of several types beside each other, each to its last byte.
__global__ void variables_side_by_side(int *a) {
  __shared__ int s[33], other[31], *at;
  __shared__ char bytes[3];
  __shared__ char more[64];
  __shared__ double wide;
  const int t = threadIdx.x;
  s[t] = t, more[t] = 1, more[32 + t] = 2;
  if (t < 31) other[t] = t;
  if (t < 3) bytes[t] = 1;
  if (t == 0) s[32] = 9, at = other, wide = 3;
  __syncthreads();
  a[t] = at[30 - t % 31] + s[32] + bytes[2] + ((const int4 *)more)[t % 4].w + (int)wide + other[t % 31];
}
