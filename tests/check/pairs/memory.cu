// SPDX-License-Identifier: MIT
//
// Out of arrays, and what was never written. A line that ends in "// legal" or "// faulty" is in that twin only.

// Guide, "__shared__": each variable is an object of its own; what lies behind it is not the next one.
__global__ void next_array(int *out) {
  __shared__ int s[32];
  __shared__ int guard[32];
  int t = threadIdx.x;
  guard[t] = -1;
  s[t] = t;
  __syncthreads();
  int *p = s;
  p[(t + 1) % 32] = 7;  // legal
  p[t + 32] = 7;        // faulty
  __syncthreads();
  out[t] = s[t] + guard[t];
}

template <typename T> __device__ void clear(T *at, int from, int upto) {
  for (int i = from; i < upto; i++) at[i] = T(0);
}

// C++, [expr.add]: a pointer into an array reaches its elements; a function's count has to be the array's.
__global__ void clear_too_much(double *out) {
  __shared__ double left[8], right[8];
  if (threadIdx.x < 8) left[threadIdx.x] = right[threadIdx.x] = 1.0;
  __syncthreads();
  if (threadIdx.x == 0) clear(left, 0, 8); // legal
  if (threadIdx.x == 0) clear(left, 0, 9); // faulty
  __syncthreads();
  out[threadIdx.x] = left[threadIdx.x] + right[threadIdx.x];
}

// C++, [expr.add]: a window that begins before the first element.
__global__ void window_before(const float *in, float *out) {
  __shared__ float pad[4];
  __shared__ float line[64];
  int t = threadIdx.x;
  if (t < 4) pad[t] = 0.f;
  line[t] = in[t];
  __syncthreads();
  const float *p = line + t;
  out[t] = pad[0] + p[0] + (t > 0 ? p[-1] : 0.f); // legal
  out[t] = pad[0] + p[0] + p[-1];                 // faulty
}

// C++, [expr.add]: the same of an array in local memory that a helper fills.
__device__ __noinline__ int fill_squares(int *to, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    to[i] = i * i;
    sum += to[i];
  }
  return sum;
}

__global__ void local_by_pointer(int *out, int n) {
  int a[6];
  int b[6];
  int sum = fill_squares(b, 6);
  sum += fill_squares(a, n - 1); // legal
  sum += fill_squares(a, n);     // faulty
  out[threadIdx.x] = sum + a[threadIdx.x % 6] + b[threadIdx.x % 6];
}

// C++, [expr.add]: a local stack of a tree walk that holds less than the walk needs.
__global__ void small_stack(const int2 *nodes, int *visited) {
  short stack[3];
  short other[5];
  short *top = stack, *spare = other;
  for (int i = 0; i < 5; i++) spare[i] = (short)i;
  *top++ = 0;
  int seen = 0;
  while (top != stack && seen < 40) {
    int2 node = nodes[*--top];
    seen++;
    if (node.x >= 0 && top < stack + 3) *top++ = (short)node.x; // legal
    if (node.y >= 0 && top < stack + 3) *top++ = (short)node.y; // legal
    if (node.x >= 0) *top++ = (short)node.x;                    // faulty
    if (node.y >= 0) *top++ = (short)node.y;                    // faulty
  }
  visited[threadIdx.x] = seen + spare[threadIdx.x % 5];
}

__device__ float weights[16];
__device__ float biases[16];

// C++, [expr.add]: one __device__ array does not go on in the next.
__global__ void device_array(float *out, int taps) {
  weights[threadIdx.x] = threadIdx.x;
  biases[threadIdx.x] = 1;
  __syncthreads();
  const float *w = weights;
  float sum = 0;
  for (int k = 0; k < taps; k++) sum += w[(threadIdx.x + k) % 16]; // legal
  for (int k = 0; k < taps; k++) sum += w[threadIdx.x + k];        // faulty
  out[threadIdx.x] = sum + biases[0];
}

// C++, [dcl.init]: what is read has been written; here a byte of each word has not.
__global__ void three_bytes(unsigned *out, const unsigned char *in) {
  __shared__ unsigned words[32];
  unsigned char *bytes = reinterpret_cast<unsigned char *>(&words[threadIdx.x]);
  for (int k = 0; k < 4; k++) bytes[k] = in[threadIdx.x * 4 + k]; // legal
  for (int k = 0; k < 3; k++) bytes[k] = in[threadIdx.x * 4 + k]; // faulty
  __syncthreads();
  out[threadIdx.x] = words[31 - threadIdx.x];
}

struct Particle {
  float x, y;
  int kind;
};

// C++, [dcl.init]: members that no thread has set are not zero.
__global__ void member_unset(float *out) {
  __shared__ Particle box[32];
  Particle &mine = box[threadIdx.x];
  mine.x = threadIdx.x;
  mine.y = 0; // legal
  mine.kind = 1;
  __syncthreads();
  const Particle &other = box[threadIdx.x ^ 7];
  out[threadIdx.x] = other.kind == 1 ? other.x + other.y : 0.f;
}

// C++, [dcl.init]: a float4 of which three parts were set.
__global__ void fourth_part(float4 *cells, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cells[i].x = 1;
  cells[i].y = 2;
  cells[i].z = 3;
  cells[i].w = 4; // legal
  float4 c = cells[i];
  out[i] = c.x + c.y + c.z + c.w;
}

// C++, [dcl.init]: a local that only some paths set decides nothing.
__global__ void unset_condition(const int *in, int *out) {
  int limit = 0; // legal
  int limit;     // faulty
  if (in[threadIdx.x] > 40) limit = 3;
  if (limit > 2) out[threadIdx.x] = 1;
}

// C++, [dcl.init]: a flag that the loop sets only if it finds something.
__global__ void unset_flag(const float *in, int n, int *out) {
  bool found = false; // legal
  bool found;         // faulty
  int at = -1;
  for (int i = 0; i < n; i++) {
    if (in[i] == (float)threadIdx.x) {
      found = true;
      at = i;
    }
  }
  out[threadIdx.x] = found ? at : -2;
}

// C++, [dcl.init]: a minimum that starts from nothing.
template <typename T> __global__ void unset_minimum(const T *in, T *out, int n) {
  T least = in[0]; // legal
  T least;         // faulty
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    if (in[i] < least) least = in[i];
  out[threadIdx.x] = least;
}

// C++, [dcl.init]: a switch without a default leaves its variable unset.
__global__ void unset_switch(const unsigned char *op, int *out) {
  int step;
  switch (op[threadIdx.x]) {
  case 0: step = 1; break;
  case 1: step = -1; break;
  default: step = 0; // legal
  }
  while (step > 0) {
    out[threadIdx.x] += step;
    step--;
  }
}

// C++, [dcl.init]: a local array of which the last element is never set.
__global__ void unset_element(double *out, int taps) {
  double w[4];
  for (int k = 0; k < 4; k++) w[k] = 0.25 * k; // legal
  for (int k = 0; k < 3; k++) w[k] = 0.25 * k; // faulty
  double sum = 0;
  for (int k = 0; k < taps; k++) sum += w[k] * threadIdx.x;
  out[threadIdx.x] = sum;
}

// Guide, "Dynamic Allocation of Shared Memory": arrays in one extern array are placed by hand, and may overlap.
__global__ void two_in_one(const float *in, int *out, int n) {
  extern __shared__ float pool[];
  float *values = pool;
  int *places = (int *)(pool + n);     // legal
  int *places = (int *)(pool + n / 2); // faulty
  int t = threadIdx.x;
  values[t] = in[t];
  places[t] = n - 1 - t;
  __syncthreads();
  out[t] = (int)values[places[t]];
}
