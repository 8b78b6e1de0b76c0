// SPDX-License-Identifier: MIT
//
// y = 2 x, right and wrong in ways that a tuning must find.

__device__ int calls;

__global__ void right(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

__global__ void off_by_one(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - 1) y[i] = 2 * x[i];
}

__global__ void neighbour(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i == 0 ? 1 : i - 1];
}

__global__ void nothing(float *y, const float *x, int n) {
  if (n < 0) y[0] = x[0];
}

__global__ void half_of_it(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 2) y[i] = 2 * x[i];
}

__global__ void one_element(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i] + (i == n / 3 ? 1e-3f : 0);
}

__global__ void rounded(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = (int)(2048 * x[i]) / 1024.0f;
}

__global__ void adds(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += 2 * x[i];
}

// Too fast: it works in the first calls, which are those that are compared.
__global__ void soon_idle(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && calls < 2) y[i] = 2 * x[i];
  if (i == n - 1) calls++;
}

// A race in shared memory: no barrier between the writes and the reads.
__global__ void racing(float *y, const float *x, int n) {
  __shared__ float tile[256];
  int it = threadIdx.x, i = blockIdx.x * blockDim.x + it, other = blockDim.x - 1 - it;
  float value = i < n ? 2 * x[i] : 0;
  // Half of the writers come late, so that the other half reads before them in every run, and not what the shared memory
  // of an earlier launch holds.
  tile[it] = -1;
  __syncthreads();
  if (it < blockDim.x / 2)
    for (int k = 0; k < 4096; k++) value += 0 * x[0];
  tile[other] = value;
  int j = blockIdx.x * blockDim.x + other;
  if (j < n) y[j] = tile[it];
}

__global__ void outside(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i + (i == n - 1 ? 100000 : 0)] = 2 * x[i];
}
