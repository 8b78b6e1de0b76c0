/* SPDX-License-Identifier: MIT
 *
 * The reductions of moonwarp.nccl on CPU devices: one thread per element, x only. */
namespace moonwarp {

enum operation { SUM, PROD, MAX, MIN, AVG }; /* AVG: the sum, which divide ends */

/* out = out op in */
template <class T, operation OP> __global__ void combine(T *out, const T *in, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= n) return;
  const T a = out[i], b = in[i];
  if (OP == SUM || OP == AVG) out[i] = a + b;
  if (OP == PROD) out[i] = a * b;
  if (OP == MAX) out[i] = b > a || a != a ? b : a; /* a NaN loses, as in NCCL */
  if (OP == MIN) out[i] = b < a || a != a ? b : a;
}

template <class T> __global__ void divide(T *x, int by, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] / (T)by;
}

} /* namespace moonwarp */
