// SPDX-License-Identifier: MIT
//
// memcopy: B = A, the kernel that tells how fast main memory can be at all.
//
// The ladder
//   v1 memcopy          2-D, one f64 a thread; the block's shape is the caller's (32 x 2^k in the study)
//   v2 memcopy_stride   1-D, any grid and block: a thread walks the array in steps of the whole grid
//   v3 memcopy_vector1  one 16-byte load and store a thread
//   v4 memcopy_vector2  two 16-byte loads in flight a thread, a block copies one contiguous piece
//   v5 memcopy_vector4  four of them
//   v6 memcopy_stream4  four, told to the caches as data that is used once (ld.cs, st.cs)
//
// Bound: main memory. T_tot = 2 * bytes(A) / t, since each element is read once and written once
// (ETH Zurich, "Solving PDEs in parallel on GPUs", lectures 6 and 10).
// Why several loads a thread: bytes in flight = bandwidth * latency (Little's law); on a large GPU one 8-byte load
// a thread is not enough of them.

// ---- device helpers -------------------------------------------------------------------------------------------------

#define INDEX ((size_t)blockIdx.x * blockDim.x + threadIdx.x)

// Pair i of n elements by one access of 16 bytes; the last pair of an odd n is a single element.
__device__ void copy_pair(double *__restrict__ B, const double *__restrict__ A, size_t i, size_t n) {
  if (2 * i + 1 < n)
    ((double2 *)B)[i] = ((const double2 *)A)[i];
  else if (2 * i < n)
    B[2 * i] = A[2 * i];
}

// ---- kernels --------------------------------------------------------------------------------------------------------

__global__ void memcopy(double *B, const double *A, int nx, int ny) {
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ix < nx && iy < ny) B[(size_t)iy * nx + ix] = A[(size_t)iy * nx + ix];
}

__global__ void memcopy_stride(double *B, const double *A, size_t n) {
  size_t step = (size_t)gridDim.x * blockDim.x;
  for (size_t i = INDEX; i < n; i += step) B[i] = A[i];
}

// From here on n counts elements of f64, as above, and may be odd; both arrays begin on a 16-byte boundary.
__global__ void memcopy_vector1(double *__restrict__ B, const double *__restrict__ A, size_t n) {
  copy_pair(B, A, INDEX, n);
}

// A block copies blockDim.x * 2 pairs.
__global__ void memcopy_vector2(double *__restrict__ B, const double *__restrict__ A, size_t n) {
  double2 *to = (double2 *)B;
  const double2 *from = (const double2 *)A;
  size_t width = blockDim.x, pairs = n / 2;
  size_t i = (size_t)blockIdx.x * width * 2 + threadIdx.x;
  if (i + width < pairs) {
    double2 a = from[i], b = from[i + width];
    to[i] = a;
    to[i + width] = b;
  } else {
    for (; 2 * i < n; i += width) copy_pair(B, A, i, n);
  }
}

// A block copies blockDim.x * 4 pairs.
__global__ void memcopy_vector4(double *__restrict__ B, const double *__restrict__ A, size_t n) {
  double2 *to = (double2 *)B;
  const double2 *from = (const double2 *)A;
  size_t width = blockDim.x, pairs = n / 2;
  size_t i = (size_t)blockIdx.x * width * 4 + threadIdx.x;
  if (i + 3 * width < pairs) {
    double2 a = from[i], b = from[i + width], c = from[i + 2 * width], d = from[i + 3 * width];
    to[i] = a;
    to[i + width] = b;
    to[i + 2 * width] = c;
    to[i + 3 * width] = d;
  } else {
    for (; 2 * i < n; i += width) copy_pair(B, A, i, n);
  }
}

__global__ void memcopy_stream4(double *__restrict__ B, const double *__restrict__ A, size_t n) {
  double2 *to = (double2 *)B;
  const double2 *from = (const double2 *)A;
  size_t width = blockDim.x, pairs = n / 2;
  size_t i = (size_t)blockIdx.x * width * 4 + threadIdx.x;
  if (i + 3 * width < pairs) {
    double2 a = __ldcs(from + i), b = __ldcs(from + i + width);
    double2 c = __ldcs(from + i + 2 * width), d = __ldcs(from + i + 3 * width);
    __stcs(to + i, a);
    __stcs(to + i + width, b);
    __stcs(to + i + 2 * width, c);
    __stcs(to + i + 3 * width, d);
  } else {
    for (; 2 * i < n; i += width) copy_pair(B, A, i, n);
  }
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// memcopy           block {32, by}, grid {ceil(nx / 32), ceil(ny / by)}
// memcopy_stride    any; block 1, grid 1 shows what a single thread can do
// memcopy_vectorK   block b, grid ceil(ceil(n / 2) / (K * b)); a grid too small leaves a tail uncopied, and mw.check says so
