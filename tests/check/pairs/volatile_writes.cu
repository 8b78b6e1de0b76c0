// SPDX-License-Identifier: MIT
//
// Volatile writes of different values to one place. A line that ends in "// legal" or "// faulty" is in that twin only.
// PTX ISA, "volatile Operation": each of them is relaxed, so which value stays is not known.

// PTX ISA, "volatile Operation": many threads find what they look for, and each reports its own place.
__global__ void reports_place(const int *in, volatile int *place) {
  int t = threadIdx.x;
  if (in[t] % 3 == 2) *place = t; // faulty
  if (in[t] == 2) *place = t;     // legal
}

// PTX ISA, "volatile Operation": the same by blocks, with a value of eight bytes.
__global__ void wide_value(volatile double *value) {
  if (threadIdx.x == 0) *value = blockIdx.x + 0.5;                    // faulty
  if (threadIdx.x == 0 && blockIdx.x == 2) *value = blockIdx.x + 0.5; // legal
}

struct Status {
  short code, line;
};

__device__ inline void set(volatile Status &s, short code) { s.code = code; }

// PTX ISA, "volatile Operation": the same through a reference to a struct in shared memory.
__global__ void member_flag(int *out) {
  __shared__ Status status;
  int rank = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  if (rank == 0) status.code = status.line = 0;
  __syncthreads();
  if (threadIdx.z == 1) set(status, (short)rank); // faulty
  if (rank == 100) set(status, (short)rank);      // legal
  __syncthreads();
  if (rank == 0) out[0] = status.code;
}

// PTX ISA, "volatile Operation": bytes of one word are places of their own, the same byte is not.
__global__ void byte_status(volatile unsigned char *status, const signed char *in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] > 120 && threadIdx.x == 60 + blockIdx.x) status[blockIdx.x] = in[i]; // legal
  if (in[i] > 20) status[in[i] % 4] = in[i];                                     // faulty
}

// PTX ISA, "Vector Data-types": an access of 16 bytes is several of its parts, so two may mix.
__global__ void wide_float4(float4 *a) {
  volatile float *v = &a->x;
  if (blockIdx.x == 0) *a = make_float4(1, 1, 1, 1);
  if (blockIdx.x == 1) v[1] = 2; // faulty
  if (blockIdx.x == 2) v[1] = 2; // legal
}

// PTX ISA, "volatile Operation": a minimum by read and write loses what others write between.
__global__ void shared_best(const long long *in, long long *out) {
  __shared__ long long best;
  volatile long long *b = &best;
  if (threadIdx.x == 0) best = 1000;
  __syncthreads();
  if (in[threadIdx.x] < *b) *b = in[threadIdx.x]; // faulty
  atomicMin(&best, in[threadIdx.x]);              // legal
  __syncthreads();
  if (threadIdx.x == 0) *out = best;
}
