// Bit-fields of each width, alone and with a neighbour, in shared and in global memory: first without a race, then with
// one in each of the marked lines.
template <int W> struct Alone {
  unsigned long long a : W;
};
template <int W> struct Beside {
  unsigned long long a : W;
  unsigned char b;
};

template <int W> __global__ void width(unsigned long long *out, Alone<W> *p, Beside<W> *q) {
  __shared__ Alone<W> s[2];
  __shared__ Beside<W> t[2];
  const int i = threadIdx.x;
  if (i == 0) s[0].a = 1, t[0].a = 1, p[0].a = 1, q[0].a = 1;
  if (i == 32) s[1].a = 1, t[1].a = 1, t[1].b = 1, p[1].a = 1, q[1].a = 1, q[1].b = 1;
  __syncthreads();
  out[i] = s[0].a + s[1].a + t[0].a + t[1].a + t[1].b + p[0].a + p[1].a + q[0].a + q[1].a + q[1].b;
  __syncthreads();
  if (i == 0) s[0].a = 0, t[0].a = 0, p[0].a = 0, q[0].a = 0;
  if (i != 32) return;
  out[i] += s[0].a; // race
  out[i] += t[0].a; // race
  out[i] += p[0].a; // race
  out[i] += q[0].a; // race
}
