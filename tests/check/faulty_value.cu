// SPDX-License-Identifier: MIT
//
// Kernels that read what was written in part, or leave a local array: the lines that end in "finding: KIND" are found.

struct pair { int key, value; };
struct triple { int x, y, z; };
typedef struct { short low, high; } halves;

__global__ void half_of_a_word(short *s, int *out) {
  s[2 * threadIdx.x] = 1;
  out[threadIdx.x] = ((int *)s)[threadIdx.x]; // finding: uninitialised
}

__global__ void half_of_a_shared_word(int *out) {
  __shared__ int s[32];
  ((short *)s)[2 * threadIdx.x + 1] = 1;
  out[threadIdx.x] = s[threadIdx.x]; // finding: uninitialised
}

__global__ void member_of_a_shared_pair(int *out) {
  __shared__ pair s[32];
  s[threadIdx.x].key = 7;
  __syncthreads();
  pair p = s[31 - threadIdx.x]; // finding: uninitialised
  out[threadIdx.x] = p.key + p.value;
}

__global__ void member_of_a_pair(pair *p, int *out) {
  p[threadIdx.x].value = 7;
  pair q = p[threadIdx.x]; // finding: uninitialised
  out[threadIdx.x] = q.key + q.value;
}

__global__ void two_of_a_triple(triple *p, triple *out) {
  p[threadIdx.x].x = 7;
  p[threadIdx.x].z = 9;
  out[threadIdx.x] = p[threadIdx.x]; // finding: uninitialised
}

__global__ void half_of_halves(halves *p, halves *out) {
  p[threadIdx.x].low = 7;
  out[threadIdx.x] = p[threadIdx.x]; // finding: uninitialised
}

__global__ void three_of_a_vector(float *x, float4 *out) {
  for (int i = 0; i < 3; i++) x[4 * threadIdx.x + i] = 1;
  out[threadIdx.x] = ((float4 *)x)[threadIdx.x]; // finding: uninitialised
}

// ---- local variables -------------------------------------------------------------------------------------------------

__global__ void written_past_a_local_array(int *out, int n) {
  int a[4] = {1, 2, 3, 4};
  int *p = a;
  p[n + 1] = 1; // finding: index
  out[threadIdx.x] = a[0];
}

__global__ void array_and_pointer_past_it(int *out, int n) {
  int a[4] = {1, 2, 3, 4}, *p = a;
  p[n] = 1; // finding: index
  out[threadIdx.x] = a[0];
}

__global__ void read_past_a_local_array(int *out, int n) {
  int a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
  const int *p = a;
  int sum = 0;
  for (int i = 0; i <= n; i++) sum += p[i]; // finding: index
  out[threadIdx.x] = sum + b[0];
}

__global__ void read_before_a_local_array(char *out, int n) {
  char a[5] = {1, 2, 3, 4, 5};
  char *p = a + n;
  out[threadIdx.x] = p[-n - 1]; // finding: index
}

__device__ const int *behind(const int *a, int n) { return a + n; }

__global__ void local_array_of_a_helper(int *out, int n) {
  int a[3];
  for (int i = 0; i < 3; i++) a[i] = i;
  out[threadIdx.x] = *behind(a, n - 1); // finding: index
}

__global__ void row_past_its_last(int *out, int n) {
  int a[2][3] = {{1, 2, 3}, {4, 5, 6}};
  int *row = a[1];
  out[threadIdx.x] = row[n - 1]; // finding: index
}

__global__ void element_never_set(int *out, int n) {
  int a[4];
  int *p = a;
  for (int i = 0; i < n - 1; i++) p[i] = i;
  out[threadIdx.x] = p[n - 1]; // finding: uninitialised
}

__global__ void local_variable_never_set(int *out) {
  int n;
  if (threadIdx.x == 0) n = 3;
  if (n > 2) out[threadIdx.x] = 1; // finding: uninitialised
}

__global__ void loop_bound_never_set(int *out, int n) {
  int last, sum = 0;
  if (threadIdx.x < n) last = n;
  for (int i = 0; i < last; i++) sum++; // finding: uninitialised
  out[threadIdx.x] = sum;
}

__global__ void counter_never_set(int *out, int n) {
  int best;
  for (int i = 0; i < n - 4; i++) best = i;
  while (best > 0) best--; // finding: uninitialised
  out[threadIdx.x] = n;
}
