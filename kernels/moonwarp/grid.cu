/* SPDX-License-Identifier: MIT
 *
 * Boxes of cells between arrays of mw.grid, and between them and the buffers in which they are sent: one thread per cell,
 * x only. T is any element type. */
#if defined(__has_include)
#if __has_include(<cuda_fp16.h>) && __has_include(<cuda_bf16.h>)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif
#endif

namespace moonwarp {

/* to and from: where a box of nx * ny * any cells begins, and how far its rows and planes are apart. */
template <class T>
__global__ void copy_box(T *to, const T *from, long long to_first, long long to_row, long long to_plane,
                         long long from_first, long long from_row, long long from_plane, int nx, int ny, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= n) return;
  const long long row = i / nx, x = i - row * nx, z = row / ny, y = row - z * ny;
  to[to_first + x + y * to_row + z * to_plane] = from[from_first + x + y * from_row + z * from_plane];
}

} /* namespace moonwarp */
