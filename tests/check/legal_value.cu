// SPDX-License-Identifier: MIT
//
// The kernels of faulty_value.cu as they are right.

struct pair { int key, value; };
struct triple { int x, y, z; };
typedef struct { short low, high; } halves;

__global__ void half_of_a_word(short *s, int *out) {
  s[2 * threadIdx.x] = 1;
  s[2 * threadIdx.x + 1] = 2;
  out[threadIdx.x] = ((int *)s)[threadIdx.x];
}

__global__ void half_of_a_shared_word(int *out) {
  __shared__ int s[32];
  ((short *)s)[2 * threadIdx.x + 1] = 1;
  ((short *)s)[2 * threadIdx.x] = 1;
  out[threadIdx.x] = s[threadIdx.x];
}

__global__ void member_of_a_shared_pair(int *out) {
  __shared__ pair s[32];
  s[threadIdx.x].key = 7;
  s[threadIdx.x].value = 8;
  __syncthreads();
  pair p = s[31 - threadIdx.x];
  out[threadIdx.x] = p.key + p.value;
}

__global__ void member_of_a_pair(pair *p, int *out) {
  p[threadIdx.x].value = 7;
  out[threadIdx.x] = p[threadIdx.x].value;
}

__global__ void two_of_a_triple(triple *p, triple *out) {
  p[threadIdx.x].x = 7;
  p[threadIdx.x].y = 8;
  p[threadIdx.x].z = 9;
  out[threadIdx.x] = p[threadIdx.x];
}

__global__ void half_of_halves(halves *p, halves *out) {
  p[threadIdx.x].low = 7;
  p[threadIdx.x].high = 7;
  out[threadIdx.x] = p[threadIdx.x];
}

__global__ void three_of_a_vector(float *x, float4 *out) {
  for (int i = 0; i < 4; i++) x[4 * threadIdx.x + i] = 1;
  out[threadIdx.x] = ((float4 *)x)[threadIdx.x];
}

// A kernel's own memcpy copies bytes, whatever they hold.
__global__ void bytes_of_a_buffer(char *to, char *from) {
  for (int i = 0; i < 5; i++) from[8 * threadIdx.x + i] = 1;
  memcpy(to + 8 * threadIdx.x, from + 8 * threadIdx.x, 8);
}
