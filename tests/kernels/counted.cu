// SPDX-License-Identifier: MIT
// Kernels whose requests tests/check/counters_spec.lua knows. Those of one form of access each: counters.cu.

__global__ void copy(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}

__global__ void rows(float *y, int n) {
  y[threadIdx.y * n + threadIdx.x] = threadIdx.x;
}

// ---- lanes that go different ways -----------------------------------------------------------------------------------

// In round k lane t reads (t + k) % 3 + 1 times; what it reads in round 2 is not put together with others' round 1.
__global__ void nested(int *y, const int *x) {
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 3; k++)
    for (int i = 0; i <= (t + k) % 3; i++) sum += x[32 * i + t];
  y[t] = sum;
}

__global__ void while_loops(int *y, const int *x) {
  int t = threadIdx.x, sum = 0, i = 0, k = 0;
  while (i <= t % 3) {
    int j = 0;
    do sum += x[32 * j + t];
    while (++j <= (t + i) % 2);
    i++;
  }
  while (k < t % 5) sum += x[t + 32 * k++];
  y[t] = sum;
}

struct reader {
  const int *x;
  __device__ __noinline__ int some(int t, int n) const {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += x[32 * i + t];
    return sum;
  }
};

// Two calls of a method are two places; so are its loops in the rounds of the caller's.
__global__ void members(int *y, const int *x) {
  int t = threadIdx.x, sum = 0;
  reader from = {x};
  for (int k = 0; k < 2; k++) sum += from.some(t, (t + k) % 2 + 1);
  y[t] = sum + from.some(t, 1);
}

__device__ int down(const int *x, int t, int n) { return n ? x[32 * n + t] + down(x, t, n - 1) : x[t]; }
__global__ void recursion(int *y, const int *x) {
  y[threadIdx.x] = down(x, threadIdx.x, threadIdx.x % 3);
}

__global__ void jumps(int *y, const int *x) {
  int t = threadIdx.x, sum = 0, i = 0;
again:
  sum += x[32 * i + t];
  if (++i <= t % 3) goto again;
  y[t] = sum;
}

// ---- more accesses than requests are kept open ----------------------------------------------------------------------

__global__ void long_loop(int *y, const int *x, int n) {
  int t = threadIdx.x, sum = 0;
  for (int i = 0; i < n + t; i++) sum += x[(32 * i + t) % 256];
  y[t] = sum;
}

__global__ void long_nest(int *y, const int *x, int n) {
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < n; k++)
    for (int i = 0; i <= (t * 7 + k) % 5; i++) sum += x[32 * i + t % 32];
  y[t] = sum;
}

// ---- shared memory, by a table of indices ---------------------------------------------------------------------------

template <class T> __global__ void banks_of(T *y, const int *at) {
  __shared__ T s[1024];
  for (int i = threadIdx.x; i < 1024; i += 32) s[i] = T();
  __syncthreads();
  y[threadIdx.x] = s[at[threadIdx.x]];
}

__global__ void outside(float *y, int n) {
  for (int i = 0; i < n; i++) y[32 * i + threadIdx.x] = i;
}

// ---- vectors and structures -----------------------------------------------------------------------------------------

struct loose { // aligned to 4 bytes
  float x, y, z, w;
};

__global__ void sum4(float *y, const float4 *x) {
  float4 v = x[threadIdx.x];
  y[threadIdx.x] = v.x + v.y + v.z + v.w;
}
__global__ void sum2(float *y, const float2 *x) {
  float2 v = x[threadIdx.x];
  y[threadIdx.x] = v.x + v.y;
}
__global__ void sum3(float *y, const float4 *x) { // three of four
  float4 v = x[threadIdx.x];
  y[threadIdx.x] = v.x + v.y + v.z;
}
__global__ void scale4(float4 *y, const float4 *x) {
  float4 v = x[threadIdx.x];
  v.x *= 2;
  v.w *= 3;
  y[threadIdx.x] = v;
}
__global__ void cast4(float *y, const float *x) {
  float4 v = ((const float4 *)x)[threadIdx.x];
  y[threadIdx.x] = v.x + v.y + v.z + v.w;
}
__global__ void sum_double2(double *y, const double2 *x) {
  double2 v = x[threadIdx.x];
  y[threadIdx.x] = v.x + v.y;
}
__global__ void copy3(float3 *y, const float3 *x) { y[threadIdx.x] = x[threadIdx.x]; }
__global__ void copy_loose(loose *y, const loose *x) { y[threadIdx.x] = x[threadIdx.x]; }

struct loose2 { // aligned to 4 bytes
  float x, y;
};

__global__ void reverse_loose(loose2 *y, const loose2 *x) { // whole, by an array in shared memory
  __shared__ loose2 s[32];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = s[31 - threadIdx.x];
}
__global__ void copy_auto(loose2 *y, const loose2 *x) { // by pointers whose type is not written
  auto to = y + threadIdx.x;
  auto from = x + threadIdx.x;
  *to = *from;
}

__global__ void jump(float *y, const float *x, int n) { // a loop that is written by goto
  unsigned random = threadIdx.x * 7919 + 1;
  float s = 0;
  int k = 0;
again:
  s += x[8 * k];
  random = random * 1664525u + 1013904223u;
  if (random >> 31) s += x[8 * k + 1];
  if (++k < n) goto again;
  y[threadIdx.x] = s;
}
