// SPDX-License-Identifier: MIT
//
// transpose: B(y, x) = A(x, y), where both the reads and the writes want to run along rows.
//
// The ladder; A has nx columns and ny rows, x runs along a row
//   transpose_not          a copy by the blocks of tile: what blocks of this shape reach when nothing is turned
//   transpose_read         threads side by side read a row and write a column: a warp writes into 32 rows
//   transpose_write        they read a column and write a row
//   transpose_tile         a tile of 32 x 32 in shared memory: rows on both sides; PAD = 0: the warp reads a column of
//                          the tile, whose words are all in one bank; PAD = 1: each row begins a bank further
//   transpose_swizzled     no padding: element x of row y is at x ^ y, so that rows and columns lie in all banks
//   transpose_wide         a thread turns a square of 16 x 16 bytes in registers: every access, also that of shared
//                          memory, has 16 bytes
//   transpose_wide, ROWS_OF_B: the blocks that run at the same time go along B's rows, which are then written
//                          whole; before, they went along A's rows, and B was written all over
//   transpose_pieces       a copy again: pieces of 512 bytes go where a transposition of pieces has them, and nothing
//                          is turned: what memory allows when one side goes against its order
//
// Bound: main memory, T_tot = 2 * bytes(A) / t, as of a copy.
//   read, write   a warp's access to a column takes 32 sectors of 32 bytes, to a row 4 (f32) or 8 (f64): 8 and 4 times
//   the traffic between a multiprocessor and the L2 cache on that side
//   tile, PAD = 0   32 passes (f32) for each warp's read of the tile, of at best 1: 33 passes of shared memory for
//   256 bytes moved, 7.8 bytes per cycle and multiprocessor; f64: 32 of at best 2, 34 for 512 bytes, 15
//   others   2 passes for 256 bytes (4 for 512), 128 bytes per cycle: more than main memory has on any GPU
//   In flight per thread: 4 elements (read, write: 1), wide 4 (f64: 2) times 16 bytes, pieces 16 bytes.
// Sources: M. Harris, "An Efficient Matrix Transpose in CUDA C/C++" (NVIDIA's blog, 2013), and G. Ruetsch and
// P. Micikevicius, "Optimizing Matrix Transpose in CUDA" (NVIDIA, 2009): read, tile and the order of blocks (there
// along diagonals). CUDA C++ Programming Guide, shared memory: 32 banks of 4 bytes.

#include "vector16.cuh"

enum { TILE = 32, ROWS = 8 }; // a tile, and the threads of a block along y

// ---- device helpers -------------------------------------------------------------------------------------------------

// One row of 16 bytes of an array of `columns` x `rows`, or what of it is within; is_wide: 16 bytes at a time.
template <typename T> __device__ void load_row(T *to, const T *A, int x, int y, int columns, int rows, bool is_wide) {
  const int WIDE = 16 / sizeof(T);
  if (is_wide) {
    if (x < columns && y < rows) unpack(*(const typename vector16<T>::type *)(A + (size_t)y * columns + x), to);
  } else {
#pragma unroll
    for (int k = 0; k < WIDE; k++) {
      if (x + k < columns && y < rows) to[k] = A[(size_t)y * columns + x + k];
    }
  }
}

template <typename T>
__device__ void store_row(T *B, typename vector16<T>::type row, int x, int y, int columns, int rows, bool is_wide) {
  const int WIDE = 16 / sizeof(T);
  if (is_wide) {
    if (x < columns && y < rows) *(typename vector16<T>::type *)(B + (size_t)y * columns + x) = row;
  } else {
    T from[WIDE];
    unpack(row, from);
#pragma unroll
    for (int k = 0; k < WIDE; k++) {
      if (x + k < columns && y < rows) B[(size_t)y * columns + x + k] = from[k];
    }
  }
}

enum order { ROWS_OF_A, ROWS_OF_B };

// The tile of a block.
template <int ORDER> __device__ int2 tile_of(int block, int tiles_x, int tiles_y) {
  if (ORDER == ROWS_OF_B) return make_int2(block / tiles_y, block % tiles_y);
  return make_int2(block % tiles_x, block / tiles_x);
}

// ---- kernels --------------------------------------------------------------------------------------------------------

template <typename T> __global__ void transpose_not(T *__restrict__ B, const T *__restrict__ A, int nx, int ny) {
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
  for (int i = 0; i < TILE; i += ROWS) {
    if (x < nx && y + i < ny) B[(size_t)(y + i) * nx + x] = A[(size_t)(y + i) * nx + x];
  }
}

template <typename T> __global__ void transpose_read(T *B, const T *A, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < nx && y < ny) B[(size_t)x * ny + y] = A[(size_t)y * nx + x];
}

// x and y are B's.
template <typename T> __global__ void transpose_write(T *B, const T *A, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < ny && y < nx) B[(size_t)y * ny + x] = A[(size_t)x * nx + y];
}

template <typename T, int PAD>
__global__ void transpose_tile(T *__restrict__ B, const T *__restrict__ A, int nx, int ny) {
  __shared__ T tile[TILE][TILE + PAD];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
  for (int i = 0; i < TILE; i += ROWS) {
    if (x < nx && y + i < ny) tile[threadIdx.y + i][threadIdx.x] = A[(size_t)(y + i) * nx + x];
  }
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x; // from here on those of B
  y = blockIdx.x * TILE + threadIdx.y;
#pragma unroll
  for (int i = 0; i < TILE; i += ROWS) {
    if (x < ny && y + i < nx) B[(size_t)(y + i) * ny + x] = tile[threadIdx.x][threadIdx.y + i];
  }
}

template <typename T> __global__ void transpose_swizzled(T *__restrict__ B, const T *__restrict__ A, int nx, int ny) {
  __shared__ T tile[TILE][TILE];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
  for (int i = 0; i < TILE; i += ROWS) {
    int row = threadIdx.y + i;
    if (x < nx && y + i < ny) tile[row][threadIdx.x ^ row] = A[(size_t)(y + i) * nx + x];
  }
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
#pragma unroll
  for (int i = 0; i < TILE; i += ROWS) {
    int column = threadIdx.y + i;
    if (x < ny && y + i < nx) B[(size_t)(y + i) * ny + x] = tile[threadIdx.x][column ^ threadIdx.x];
  }
}

// A tile has WIDTH x HEIGHT elements of A. A thread has a square of WIDE x WIDE elements, WIDE of them 16 bytes; all
// its loads are in flight before the first is used. In shared memory the tile lies as in B: row r has its 16 bytes
// number c at c ^ (r / WIDE) % 8, so that eight lanes, which share a pass, write to all banks, and read from all banks.
template <typename T, int WIDTH, int HEIGHT, int ORDER>
__global__ void transpose_wide(T *__restrict__ B, const T *__restrict__ A, int nx, int ny) {
  const int WIDE = 16 / sizeof(T), ACROSS = WIDTH / WIDE, DOWN = HEIGHT / WIDE;
  typedef typename vector16<T>::type wide;
  __shared__ wide tile[WIDTH][DOWN];
  int2 at = tile_of<ORDER>(blockIdx.x, (nx + WIDTH - 1) / WIDTH, (ny + HEIGHT - 1) / HEIGHT);
  int x0 = at.x * WIDTH, y0 = at.y * HEIGHT, column = threadIdx.x % ACROSS, row = threadIdx.x / ACROSS;
  bool is_wide = nx % WIDE == 0 && ny % WIDE == 0; // all rows of A and B begin on 16 bytes
  T square[WIDE][WIDE] = {};
#pragma unroll
  for (int i = 0; i < WIDE; i++) {
    load_row(square[i], A, x0 + column * WIDE, y0 + row * WIDE + i, nx, ny, is_wide);
  }
#pragma unroll
  for (int i = 0; i < WIDE; i++) {
    T turned[WIDE];
#pragma unroll
    for (int k = 0; k < WIDE; k++) turned[k] = square[k][i];
    tile[column * WIDE + i][row ^ column % 8] = pack(turned);
  }
  __syncthreads();
  column = threadIdx.x % DOWN; // from here on those of B
  row = threadIdx.x / DOWN;
#pragma unroll
  for (int i = 0; i < WIDE; i++) {
    wide out = tile[row * WIDE + i][column ^ row % 8];
    store_row(B, out, y0 + column * WIDE, x0 + row * WIDE + i, ny, nx, is_wide);
  }
}

// A piece is PIECE times 16 bytes of a row of A. A thread moves 16 bytes, and threads go along B.
template <typename T> __global__ void transpose_pieces(T *__restrict__ B, const T *__restrict__ A, int nx, int ny) {
  typedef typename vector16<T>::type wide;
  const int PIECE = 32, across = nx * (int)sizeof(T) / (16 * PIECE); // pieces in a row of A
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  int piece = i / PIECE, x = piece / ny, y = piece % ny;
  if (x < across) ((wide *)B)[i] = ((const wide *)A)[((size_t)y * across + x) * PIECE + i % PIECE];
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// transpose_not, _tile, _swizzled   block {32, 8}, grid {ceil(nx / 32), ceil(ny / 32)}
// transpose_read, _write            any block {bx, by}; the grid covers A (read) or B (write)
// transpose_wide                    block WIDTH * HEIGHT / WIDE^2, grid: tiles; WIDTH and HEIGHT multiples of 8 * WIDE
// transpose_pieces                  any block, grid: 16 bytes per thread; a row of A has a multiple of 512 bytes
