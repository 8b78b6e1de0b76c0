// SPDX-License-Identifier: MIT
//
// basic: small kernels for the specs of launches, modules and graphs.

struct Pair {
  int a;
  float b;
};

// ---- one array ------------------------------------------------------------------------------------------------------

__global__ void nothing() {}

__global__ void scale(float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= a;
}

__global__ void add(int *out, const int *a, const int *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

__global__ void increment(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1;
}

// Every thread writes its own number, all three dimensions of block and grid in it.
__global__ void whereami(int *out) {
  int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  int threads = blockDim.x * blockDim.y * blockDim.z;
  out[block * threads + thread] = blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z + 1000 * threadIdx.x +
                                  10000 * threadIdx.y + 100000 * threadIdx.z;
}

// ---- parameters of every kind ---------------------------------------------------------------------------------------

__global__ void scalars(double *out, signed char a, short b, int c, long long d, unsigned char e, unsigned short f,
                        unsigned int g, unsigned long long h, float i, double j, bool k) {
  out[0] = a;
  out[1] = b;
  out[2] = c;
  out[3] = (double)d;
  out[4] = e;
  out[5] = f;
  out[6] = g;
  out[7] = (double)h;
  out[8] = i;
  out[9] = j;
  out[10] = k ? 1.0 : 0.0;
}

__global__ void vectors(float *out, float2 a, int4 b) {
  out[0] = a.x;
  out[1] = a.y;
  out[2] = b.x;
  out[3] = b.w;
}

__global__ void by_value(float *out, Pair pair) {
  out[0] = pair.a;
  out[1] = pair.b;
}

__global__ void any_bytes(unsigned char *out, const void *bytes, int n) {
  for (int i = 0; i < n; i++) out[i] = ((const unsigned char *)bytes)[i];
}

__global__ void quads(float4 *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i].w = x[i].x + x[i].y + x[i].z;
}

__global__ void is_null(int *out, const int *maybe) { out[0] = maybe ? 0 : 1; }

__global__ void gather_rows(int *out, int **rows, int n) {
  for (int i = 0; i < n; i++) out[i] = rows[i][0];
}

template <typename T> __global__ void twice(T *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] + x[i];
}

template <int N> __global__ void constant(int *x) { x[threadIdx.x] = N; }

// ---- limits and shared memory ---------------------------------------------------------------------------------------

__global__ void __launch_bounds__(64) bounded(int *out) { out[threadIdx.x] = threadIdx.x; }

__global__ void reverse(int *x, int n) {
  extern __shared__ int parts[];
  int i = threadIdx.x;
  if (i < n) parts[i] = x[i];
  __syncthreads();
  if (i < n) x[i] = parts[n - 1 - i];
}

// ---- order ----------------------------------------------------------------------------------------------------------

__global__ void put(int *out, int value) { out[0] = value; }

// Holds its stream until the host sets gate[0], or for that many looks at it, so that nothing waits for ever. gate: pinned
// memory; [1] is 1 once it has begun, 2 when it was let go, 3 when it gave up.
__global__ void hold(int *gate, long long looks) {
  volatile int *seen = gate;
  seen[1] = 1;
  __threadfence_system();
  while (seen[0] == 0 && looks-- > 0) __nanosleep(500);
  seen[1] = seen[0] ? 2 : 3;
}
