// SPDX-License-Identifier: MIT
//
// memcopy: B = A, the kernel that shows how fast main memory can be.
//
// The ladder
//   memcopy             2-D, one element per thread; the block's shape is the caller's
//   memcopy_stride      1-D, any grid and block: a thread walks the array in steps of the whole grid
//   memcopy_vector1     one 16-byte load and store per thread
//   memcopy_vector2     two 16-byte loads in flight per thread, a block copies one contiguous piece
//   memcopy_vector4     four of them
//   memcopy_stream4     four, told to the caches as data that is used once (ld.cs, st.cs)
//
// Bound: main memory. T_tot = 2 * bytes(A) / t, since each element is read once and written once (S. Omlin and
// L. Raess, introduction notebook of github.com/omlins/julia-gpu-course-2023, which has memcopy and the sweep of its
// blocks; ETH Zurich's lecture 10, "Solving PDEs in parallel on GPUs", 2023, begins with it).
// Why several loads per thread: bytes in flight = bandwidth * latency (Little's law); on a large GPU one 8-byte load
// a thread is not enough of them.

#ifndef REAL
#define REAL double // or float
#endif

// ---- device helpers -------------------------------------------------------------------------------------------------

#define INDEX ((size_t)blockIdx.x * blockDim.x + threadIdx.x)
#define WIDE (16 / sizeof(REAL)) // elements of one access

// 16 bytes, of whatever type: a copy moves bits.
typedef double2 bytes16;

// Access i of n elements, 16 bytes; where they end within it, element by element.
__device__ void copy_wide(REAL *__restrict__ B, const REAL *__restrict__ A, size_t i, size_t n) {
  if (WIDE * i + (WIDE - 1) < n) {
    ((bytes16 *)B)[i] = ((const bytes16 *)A)[i];
  } else {
#pragma unroll
    for (size_t k = 0; k < WIDE - 1; k++) {
      if (WIDE * i + k < n) B[WIDE * i + k] = A[WIDE * i + k];
    }
  }
}

// ---- kernels --------------------------------------------------------------------------------------------------------

__global__ void memcopy(REAL *B, const REAL *A, int nx, int ny) {
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ix < nx && iy < ny) B[(size_t)iy * nx + ix] = A[(size_t)iy * nx + ix];
}

__global__ void memcopy_stride(REAL *B, const REAL *A, size_t n) {
  size_t step = (size_t)gridDim.x * blockDim.x;
  for (size_t i = INDEX; i < n; i += step) B[i] = A[i];
}

// From here on n counts elements, as above, and may be odd; both arrays begin on a 16-byte boundary.
__global__ void memcopy_vector1(REAL *__restrict__ B, const REAL *__restrict__ A, size_t n) {
  copy_wide(B, A, INDEX, n);
}

// A block copies blockDim.x * 2 accesses.
__global__ void memcopy_vector2(REAL *__restrict__ B, const REAL *__restrict__ A, size_t n) {
  bytes16 *to = (bytes16 *)B;
  const bytes16 *from = (const bytes16 *)A;
  size_t width = blockDim.x, whole = n / WIDE;
  size_t i = (size_t)blockIdx.x * width * 2 + threadIdx.x;
  if (i + width < whole) {
    bytes16 a = from[i], b = from[i + width];
    to[i] = a;
    to[i + width] = b;
  } else {
    for (; WIDE * i < n; i += width) copy_wide(B, A, i, n);
  }
}

// A block copies blockDim.x * 4 accesses.
__global__ void memcopy_vector4(REAL *__restrict__ B, const REAL *__restrict__ A, size_t n) {
  bytes16 *to = (bytes16 *)B;
  const bytes16 *from = (const bytes16 *)A;
  size_t width = blockDim.x, whole = n / WIDE;
  size_t i = (size_t)blockIdx.x * width * 4 + threadIdx.x;
  if (i + 3 * width < whole) {
    bytes16 a = from[i], b = from[i + width], c = from[i + 2 * width], d = from[i + 3 * width];
    to[i] = a;
    to[i + width] = b;
    to[i + 2 * width] = c;
    to[i + 3 * width] = d;
  } else {
    for (; WIDE * i < n; i += width) copy_wide(B, A, i, n);
  }
}

__global__ void memcopy_stream4(REAL *__restrict__ B, const REAL *__restrict__ A, size_t n) {
  bytes16 *to = (bytes16 *)B;
  const bytes16 *from = (const bytes16 *)A;
  size_t width = blockDim.x, whole = n / WIDE;
  size_t i = (size_t)blockIdx.x * width * 4 + threadIdx.x;
  if (i + 3 * width < whole) {
    bytes16 a = __ldcs(from + i), b = __ldcs(from + i + width);
    bytes16 c = __ldcs(from + i + 2 * width), d = __ldcs(from + i + 3 * width);
    __stcs(to + i, a);
    __stcs(to + i + width, b);
    __stcs(to + i + 2 * width, c);
    __stcs(to + i + 3 * width, d);
  } else {
    for (; WIDE * i < n; i += width) copy_wide(B, A, i, n);
  }
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// memcopy           block {bx, by}, grid {ceil(nx / bx), ceil(ny / by)}
// memcopy_stride    any; block 1, grid 1 shows what a single thread can do
// memcopy_vectorK   block b, grid ceil(ceil(n / WIDE) / (K * b)); a grid too small leaves a tail uncopied, and mw.check
//                   says so
