// SPDX-License-Identifier: MIT
//
// One mistake per kernel: values, bounds, alignment, barriers; marked as in faulty_shared.cu. faulty.lua runs them.

extern __shared__ char dynamic[];

// ---- values that are not there --------------------------------------------------------------------------------

__global__ void shared_not_set(float *a) {
  __shared__ float s[64];
  if (threadIdx.x < 32) s[threadIdx.x] = 1;
  __syncthreads();
  a[threadIdx.x] = s[threadIdx.x]; // finding: uninitialised
}

__global__ void shared_sum_not_cleared(int *a) {
  __shared__ int sum;
  atomicAdd(&sum, 1); // finding: uninitialised
  __syncthreads();
  a[threadIdx.x] = sum;
}

__global__ void last_tile_not_set(const float *x, float *y, int n) {
  __shared__ float s[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) s[threadIdx.x] = x[i];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 64; k++) sum += s[k]; // finding: uninitialised
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

__global__ void global_not_set(const float *x, float *y) {
  y[threadIdx.x] += x[threadIdx.x]; // finding: uninitialised
}

__global__ void half_a_word_set(short *a, int *out) {
  short *mine = a + 2 * threadIdx.x;
  mine[0] = 1;
  out[threadIdx.x] = mine[1]; // finding: uninitialised
}

struct sample {
  char tag;
  double value;
};
__global__ void structure_not_set(sample *out) {
  __shared__ sample s[33];
  s[threadIdx.x].tag = 1;
  s[threadIdx.x].value = 2;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x + 1]; // finding: uninitialised
}

// ---- bounds ---------------------------------------------------------------------------------------------------

__global__ void one_too_many(float *a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) a[i] = 1; // finding: bounds
}

__global__ void one_too_few(const float *x, float *y, int n) {
  const int i = threadIdx.x;
  if (i < n) y[i] = x[i] - x[i - 1]; // finding: bounds
}

__global__ void no_guard(const float *x, float *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i]; // finding: bounds
}

__global__ void far_outside(float *a, int n) {
  a[threadIdx.x * n * n] = 1; // finding: bounds
}

__global__ void last_byte_outside(unsigned char *a, int n) {
  if (threadIdx.x <= n) a[threadIdx.x] = 0; // finding: bounds
}

__global__ void vector_half_outside(float4 *a, int n) {
  const int i = threadIdx.x;
  if (4 * i <= n) a[i] = make_float4(1, 2, 3, 4); // finding: bounds
}

__global__ void row_of_another_width(float *a, int width, int height) {
  const int x = threadIdx.x, y = threadIdx.y;
  if (x < width && y < height) a[y * (width + 1) + x] = 1; // finding: bounds
}

__global__ void static_index(float *a, int n) {
  __shared__ float s[32];
  __shared__ float guard[32];
  guard[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0) s[n] = 1; // finding: index, race in shared memory
  __syncthreads();
  a[threadIdx.x] = guard[threadIdx.x];
}

__global__ void static_row_index(float *a, int n) {
  __shared__ float s[8][9];
  for (int k = 0; k < n; k++)
    if (threadIdx.x < 8) s[threadIdx.x][k] = k; // finding: index, race in shared memory
  __syncthreads();
  a[threadIdx.x] = s[threadIdx.x % 8][0];
}

__global__ void dynamic_index(float *a, int n) {
  float *s = (float *)dynamic;
  s[threadIdx.x + 1] = a[threadIdx.x]; // finding: bounds
  __syncthreads();
  a[threadIdx.x] = s[threadIdx.x];
}

__global__ void local_index(float *a, int n) {
  float local[8];
  for (int k = 0; k < 8; k++) local[k] = k;
  a[threadIdx.x] = local[threadIdx.x < n ? 0 : n]; // finding: index
}

// ---- alignment ------------------------------------------------------------------------------------------------

__global__ void misaligned_vector(float *a) {
  const float4 *v = (const float4 *)(a + 2);
  const float4 mine = v[threadIdx.x]; // finding: misaligned
  if (mine.x != 1) a[threadIdx.x] = mine.x;
}

__global__ void misaligned_member(const float *a, float *out) {
  const float4 *v = (const float4 *)(a + 2);
  out[threadIdx.x] = v[threadIdx.x].y; // finding: misaligned
}

__global__ void misaligned_copy(const float *a, float *out) {
  const float4 *in4 = reinterpret_cast<const float4 *>(a + 1);
  float4 *out4 = reinterpret_cast<float4 *>(out);
  out4[threadIdx.x] = in4[threadIdx.x]; // finding: misaligned
}

__global__ void misaligned_store(float *a) {
  float *p = a + 1 + 4 * threadIdx.x;
  *(float4 *)p = make_float4(1, 2, 3, 4); // finding: misaligned
}

__global__ void misaligned_pair(float *a) {
  reinterpret_cast<float2 *>(a + 1)[threadIdx.x] = make_float2(1, 2); // finding: misaligned
}

__global__ void misaligned_bytes(char *a, int i) {
  uchar4 v = make_uchar4(1, 2, 3, 4);
  a += 2;
  reinterpret_cast<uchar4 *>(a)[i] = v; // finding: misaligned
}

__global__ void misaligned_load(const float *a, float *out) {
  out[threadIdx.x] = __ldg((const float4 *)(a + 1) + threadIdx.x).w; // finding: misaligned
}

struct __align__(16) planet { float x, y, z, mass; };

__global__ void misaligned_struct(const float *a, float *out) {
  __shared__ float s[32];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  const planet *__restrict__ all = (const planet *)(s + 1);
  if (threadIdx.x < 7) {
    const planet one = *(all + threadIdx.x); // finding: misaligned
    out[threadIdx.x] = one.mass;
  }
}

__global__ void misaligned_word(char *a, int *out) {
  out[threadIdx.x] = *(int *)(a + 4 * threadIdx.x + 1); // finding: misaligned
}

__global__ void misaligned_double(float *a, double *out) {
  out[threadIdx.x] = *(double *)(a + 1 + 2 * threadIdx.x); // finding: misaligned
}

// ---- barriers -------------------------------------------------------------------------------------------------

__global__ void barrier_of_a_half(float *a) {
  if (threadIdx.x < 16) __syncthreads(); // finding: barrier
  a[threadIdx.x] = 1;
  __syncthreads();
}

__global__ void barrier_in_a_guard(float *a, int n) {
  __shared__ float s[64];
  if (threadIdx.x < n) {
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads(); // finding: barrier
    a[threadIdx.x] = s[n - 1 - threadIdx.x];
  }
  __syncthreads();
}

__global__ void barriers_of_two_branches(float *a) {
  __shared__ float s[64];
  s[threadIdx.x] = a[threadIdx.x];
  if (threadIdx.x < 32) {
    __syncthreads(); // finding: barrier
  } else {
    __syncthreads();
  }
  a[threadIdx.x] = s[63 - threadIdx.x];
}

__global__ void mask_without_caller(int *a) {
  a[threadIdx.x] = __shfl_sync(1u, (int)threadIdx.x, 0); // error: mask // finding: mask
}

__global__ void mask_of_absent(int *a) {
  if (threadIdx.x < 16) a[threadIdx.x] = __shfl_down_sync(~0u, (int)threadIdx.x, 1); // finding: mask
  else a[threadIdx.x] = 0;
}

// ---- more bounds ----------------------------------------------------------------------------------------------

__global__ void static_index_below(float *a, int n) {
  __shared__ float s[32];
  s[threadIdx.x] = 1;
  __syncthreads();
  const int left = (int)threadIdx.x - n;
  a[threadIdx.x] = s[left]; // finding: index, uninitialised
}

struct particle {
  float x, y, z;
};

__global__ void struct_outside(particle *p, int n) {
  if (threadIdx.x <= n) p[threadIdx.x].z = 1; // finding: bounds
}

__device__ float weights[4] = {1, 2, 3, 4};

__global__ void device_variable_index(float *a, int n) {
  a[threadIdx.x] = weights[threadIdx.x < n ? threadIdx.x : n]; // finding: index, bounds
}

__global__ void read_in_front(const float *x, float *y) {
  const float *p = x + threadIdx.x;
  y[threadIdx.x] = p[-1] + p[0]; // finding: bounds
}

__global__ void named_barrier_that_is_none(int *a) {
  __barrier_sync_count(17, 32); // error: there are 0 to 15 // finding: barrier
  a[threadIdx.x] = 1;
}

__global__ void named_barrier_of_half_a_warp(int *a) {
  __barrier_sync_count(1, 48); // error: wanted a multiple of 32 // finding: barrier
  a[threadIdx.x] = 1;
}

__global__ void shuffle_of_no_width(int *a) {
  a[threadIdx.x] = __shfl_sync(~0u, (int)threadIdx.x, 0, 12); // error: wanted a power of two // finding: mask
}

__global__ void into_the_neighbour(int *a) {
  __shared__ int s[32], other[32];
  int *p = s;
  other[threadIdx.x] = 1;
  __syncthreads();
  p[threadIdx.x + 32] = 7; // finding: bounds
  __syncthreads();
  a[threadIdx.x] = s[threadIdx.x] + other[threadIdx.x];
}

__global__ void into_the_next_declaration(float *a) {
  __shared__ float s[32];
  __shared__ float other[32];
  float *p = s;
  other[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  a[threadIdx.x] = p[threadIdx.x + 1]; // finding: bounds, uninitialised
  other[threadIdx.x] = 0;
}
