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

// ---- local variables -------------------------------------------------------------------------------------------------

__global__ void written_past_a_local_array(int *out, int n) {
  int a[4] = {1, 2, 3, 4};
  int *p = a;
  p[n - 1] = 1;
  out[threadIdx.x] = a[0];
}

__global__ void array_and_pointer_past_it(int *out, int n) {
  int a[4] = {1, 2, 3, 4}, *p = a;
  p[n - 1] = 1;
  out[threadIdx.x] = a[0];
}

__global__ void read_past_a_local_array(int *out, int n) {
  int a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
  const int *p = a;
  int sum = 0;
  for (int i = 0; i < n; i++) sum += p[i];
  out[threadIdx.x] = sum + b[0];
}

__global__ void read_before_a_local_array(char *out, int n) {
  char a[5] = {1, 2, 3, 4, 5};
  char *p = a + n;
  out[threadIdx.x] = p[-n] + p[0];
}

__device__ int sum_of(const int *a, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += a[i];
  return sum;
}

__device__ const int *behind(const int *a, int n) { return a + n; }

__global__ void local_array_of_a_helper(int *out, int n) {
  int a[3];
  for (int i = 0; i < 3; i++) a[i] = i;
  out[threadIdx.x] = *behind(a, n - 2);
}

__global__ void row_past_its_last(int *out, int n) {
  int a[2][3] = {{1, 2, 3}, {4, 5, 6}};
  int *row = a[0];
  out[threadIdx.x] = row[n] + a[1][2];
}

__global__ void element_never_set(int *out, int n) {
  int a[4];
  int *p = a;
  for (int i = 0; i < n - 1; i++) p[i] = i;
  out[threadIdx.x] = p[n - 2];
}

__global__ void local_variable_never_set(int *out) {
  int n;
  if (threadIdx.x == 0) n = 3;
  if (threadIdx.x == 0 && n > 2) out[threadIdx.x] = 1;
}

__global__ void loop_bound_never_set(int *out, int n) {
  int last, sum = 0;
  if (threadIdx.x < n) last = n;
  else last = 1;
  for (int i = 0; i < last; i++) sum++;
  out[threadIdx.x] = sum;
}

__global__ void counter_never_set(int *out, int n) {
  int best;
  for (int i = 0; i < n; i++) best = i;
  while (best > 0) best--;
  out[threadIdx.x] = best;
}

// What only one lane has set is handed over; what a function sets is set.
__global__ void handed_over(int *out) {
  int n, sent[2], *p = sent, all;
  if (threadIdx.x == 0) n = p[0] = p[1] = 3;
  n = __shfl_sync(~0u, n, 0);
  sent[1] = __shfl_sync(~0u, p[1], 0);
  __match_all_sync(~0u, n, &all);
  if (n > 2 && sent[1] > 2 && all) out[threadIdx.x] = n;
}

struct vertex { float x, y; };

__device__ bool find(const int *list, int n, int &place) {
  for (int i = 0; i < n; i++)
    if (list[i] == 2) {
      place = i;
      return true;
    }
  return false;
}

__device__ int descend(int depth) {
  int path[3], *p = path, total = 0;
  for (int i = 0; i < 3; i++) p[i] = depth;
  if (depth > 0) total = descend(depth - 1);
  return total + sum_of(path, 3);
}

__global__ void many_local_variables(int *out, int n) {
  const int table[] = {0, 1, 2, 3}, shifts[4] = {1, 2, 4, 8};
  unsigned char bytes[7];
  vertex corners[3], *corner = corners;
  float part[2];
  int copy[4], place, found = 0, *least;
  memset(bytes, 0, sizeof bytes);
  memcpy(copy, shifts, sizeof copy);
  sincosf(1.0f, &part[0], &part[1]);
  for (int i = 0; i < 3; i++) corner[i].x = bytes[i] + part[i & 1];
  for (int i = 0; i < n; i++) {
    int inner[2], *q = inner;
    q[i & 1] = i;
    if (i == 1) continue;
    found += q[i & 1];
  }
  auto add = [&](int k) { return copy[k] + place; };
  if (find(table, 4, place) && place > 0) found += add(place);
  switch (n) {
  case 4: {
    int kept;
    if (n > 3) kept = n;
    if (kept > 3) found += kept;
    break;
  }
  default: found = 0;
  }
  for (least = copy; *least < 2; least++) {}
  out[threadIdx.x] = found + descend(2) + (corners[1].x > 5) + *least + sizeof copy / sizeof *copy;
}

__global__ void arrays_in_turn(float *out, int n) {
  float a[4] = {}, b[4];
  float (&r)[4] = a;
  float *from = a, *to = b;
  for (int step = 0; step < n; step++) {
    for (int i = 0; i < 4; i++) to[i] = from[i] + r[i];
    float *swap = from;
    from = to;
    to = swap;
  }
  out[threadIdx.x] = from[3];
}
