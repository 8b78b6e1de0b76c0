// SPDX-License-Identifier: MIT
//
// gemm: C = A B, of matrices that lie in memory row by row: A has m rows and k columns, B k and n, C m and n.
//
//            n                  A number of C is a row of A times a column of B: 2 k operations with 2 k numbers.
//          +-----+              A tile of C of h x w needs h rows and w columns: 2 h w k operations with (h + w) k
//       k  |  B  |              numbers. So each level of memory is used the less, the larger the tile that the level
//     k    +-----+              above it holds: C's tile of a block by shared memory, that of a thread by registers.
//   +---+  +-----+
// m | A |  |  C  |                  block: 128 x 128        warp: 64 x 32        thread: 8 x 8
//   +---+  +-----+
//
// The ladder, a new idea each
//   gemm_naive         a thread computes an element, from global memory
//   gemm_tile          a block copies a tile of A and one of B to shared memory, and uses each number TILE times
//   gemm_registers     a thread computes 8 x 8 elements in registers: 16 numbers read for 64 products
//   gemm_vectors       16 bytes per access, of global and of shared memory
//   gemm_double        two tiles in shared memory in turn: the next one is on its way while this one is used
//   gemm_wmma          tensor cores by C++: a warp computes 32 x 64 elements in pieces of 16 x 16
//   gemm_mma           tensor cores by PTX: mma.sync on what ldmatrix reads, swizzled shared memory, tiles by cp.async
//
// Bound, per cycle and multiprocessor (GPUs since Ampere): 128 fused multiply-adds in f32 are 256 flop; gemm_naive,
// gemm_tile: a warp's 32 of them need two words, one of which is the same for all lanes: two passes, 32 flop per cycle.
// Tensor cores since Hopper: 4096 flop per cycle in f16 and bf16, 2048 in tf32, 8192 in i8, 256 in f64.
// Sources: Oxford's course on CUDA (M. Giles, W. Armour), lecture 5; V. Volkov and J. Demmel, "Benchmarking GPUs to
// tune dense linear algebra" (2008): registers; S. Boehm, "How to optimize a CUDA matmul kernel for cuBLAS-like
// performance" (2022); NVIDIA, "Parallel Thread Execution ISA": the lanes' parts of mma's matrices.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

// ---- an element per thread ------------------------------------------------------------------------------------------

template <typename T> __device__ double exact(T x) { return (double)x; }
__device__ double exact(half x) { return __half2float(x); }
__device__ double exact(__nv_bfloat16 x) { return __bfloat162float(x); }

template <typename T> struct sum_of { typedef float type; }; // of products of T
template <> struct sum_of<double> { typedef double type; };
template <> struct sum_of<signed char> { typedef int type; };

// What the others are compared with: summed in double, in which products of f32, f16, bf16 and i8 are exact.
template <typename T>
__global__ void gemm_exact(typename sum_of<T>::type *E, const T *A, const T *B, int m, int n, int k) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= n || row >= m) return;
  double sum = 0;
  for (int i = 0; i < k; i++) sum += exact(A[(size_t)row * k + i]) * exact(B[(size_t)i * n + column]);
  E[(size_t)row * n + column] = (typename sum_of<T>::type)sum;
}

template <typename T> __global__ void gemm_naive(T *C, const T *A, const T *B, int m, int n, int k) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= n || row >= m) return;
  T sum = 0;
  for (int i = 0; i < k; i++) sum += A[(size_t)row * k + i] * B[(size_t)i * n + column];
  C[(size_t)row * n + column] = sum;
}

// Bt: B by columns, as gemm_mma wants it.
template <typename T> __global__ void by_columns(T *Bt, const T *B, int n, int k) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < n && row < k) Bt[(size_t)column * k + row] = B[(size_t)row * n + column];
}

// ---- tiles in shared memory -----------------------------------------------------------------------------------------

template <typename T, int TILE> __global__ void gemm_tile(T *C, const T *A, const T *B, int m, int n, int k) {
  __shared__ T a[TILE][TILE], b[TILE][TILE];
  int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
  T sum = 0;
  for (int first = 0; first < k; first += TILE) {
    a[y][x] = row < m && first + x < k ? A[(size_t)row * k + first + x] : (T)0;
    b[y][x] = first + y < k && column < n ? B[(size_t)(first + y) * n + column] : (T)0;
    __syncthreads();
    for (int i = 0; i < TILE; i++) sum += a[y][i] * b[i][x];
    __syncthreads();
  }
  if (row < m && column < n) C[(size_t)row * n + column] = sum;
}

// ---- 8 x 8 elements per thread --------------------------------------------------------------------------------------

enum { SIDE = 128, DEPTH = 8, EACH = 8, THREADS = 256 }; // 256 threads compute 128 x 128 elements

template <typename T> __global__ void gemm_registers(T *C, const T *A, const T *B, int m, int n, int k) {
  __shared__ T a[DEPTH][SIDE], b[DEPTH][SIDE]; // a: a column of A is a row here
  int left = blockIdx.x * SIDE, top = blockIdx.y * SIDE;
  int x = threadIdx.x % (SIDE / EACH) * EACH, y = threadIdx.x / (SIDE / EACH) * EACH;
  T sum[EACH][EACH] = {};
  for (int first = 0; first < k; first += DEPTH) {
    for (int i = threadIdx.x; i < SIDE * DEPTH; i += THREADS) {
      int row = top + i / DEPTH, column = first + i % DEPTH;
      a[i % DEPTH][i / DEPTH] = row < m && column < k ? A[(size_t)row * k + column] : (T)0;
      row = first + i / SIDE, column = left + i % SIDE;
      b[i / SIDE][i % SIDE] = row < k && column < n ? B[(size_t)row * n + column] : (T)0;
    }
    __syncthreads();
    for (int i = 0; i < DEPTH; i++) {
      T down[EACH], along[EACH];
#pragma unroll
      for (int j = 0; j < EACH; j++) down[j] = a[i][y + j], along[j] = b[i][x + j];
#pragma unroll
      for (int r = 0; r < EACH; r++) {
#pragma unroll
        for (int s = 0; s < EACH; s++) sum[r][s] += down[r] * along[s];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < EACH; r++) {
#pragma unroll
    for (int s = 0; s < EACH; s++)
      if (top + y + r < m && left + x + s < n) C[(size_t)(top + y + r) * n + left + x + s] = sum[r][s];
  }
}

// ---- accesses of 16 bytes -------------------------------------------------------------------------------------------

// Four numbers of a row; 0 outside the matrix.
__device__ float4 four_of(const float *M, int row, int column, int rows, int columns) {
  const float *at = M + (size_t)row * columns + column;
  if (row < rows && column + 3 < columns && columns % 4 == 0) return *(const float4 *)at;
  float4 v = make_float4(0, 0, 0, 0);
  if (row >= rows) return v;
  if (column < columns) v.x = at[0];
  if (column + 1 < columns) v.y = at[1];
  if (column + 2 < columns) v.z = at[2];
  if (column + 3 < columns) v.w = at[3];
  return v;
}

__device__ void store_four(float *M, const float *from, int row, int column, int rows, int columns) {
  float *at = M + (size_t)row * columns + column;
  if (row >= rows) return;
  if (column + 3 < columns && columns % 4 == 0) {
    *(float4 *)at = make_float4(from[0], from[1], from[2], from[3]);
  } else {
    for (int i = 0; i < 4 && column + i < columns; i++) at[i] = from[i];
  }
}

// A thread's rows are squares of 4 x 4 elements, so far apart that a warp's reads of 16 bytes touch all banks.
__device__ void add_products(float (&sum)[EACH][EACH], const float *a, int down, const float *b, int along) {
  float of_a[EACH], of_b[EACH];
#pragma unroll
  for (int r = 0; r < EACH; r += 4) *(float4 *)&of_a[r] = *(const float4 *)&a[r / 4 * down];
#pragma unroll
  for (int s = 0; s < EACH; s += 4) *(float4 *)&of_b[s] = *(const float4 *)&b[s / 4 * along];
#pragma unroll
  for (int r = 0; r < EACH; r++) {
#pragma unroll
    for (int s = 0; s < EACH; s++) sum[r][s] += of_a[r] * of_b[s];
  }
}

__global__ void __launch_bounds__(THREADS, 2)
gemm_vectors(float *C, const float *A, const float *B, int m, int n, int k) {
  __shared__ __align__(16) float a[DEPTH][SIDE], b[DEPTH][SIDE];
  const int HALF = SIDE / 2;
  int left = blockIdx.x * SIDE, top = blockIdx.y * SIDE;
  int x = threadIdx.x % 16 * 4, y = threadIdx.x / 16 * 4;      // of its first square of 4 x 4; the others are HALF away
  int a_row = threadIdx.x / 2, a_column = threadIdx.x % 2 * 4; // of the four numbers that it copies
  int b_row = threadIdx.x / 32, b_column = threadIdx.x % 32 * 4;
  float sum[EACH][EACH] = {};
  for (int first = 0; first < k; first += DEPTH) {
    float4 of_a = four_of(A, top + a_row, first + a_column, m, k);
    float4 of_b = four_of(B, first + b_row, left + b_column, k, n);
    a[a_column][a_row] = of_a.x;
    a[a_column + 1][a_row] = of_a.y;
    a[a_column + 2][a_row] = of_a.z;
    a[a_column + 3][a_row] = of_a.w;
    *(float4 *)&b[b_row][b_column] = of_b;
    __syncthreads();
#pragma unroll 2
    for (int i = 0; i < DEPTH; i++) add_products(sum, &a[i][y], HALF, &b[i][x], HALF);
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < EACH; r++) {
    int row = top + y + r % 4 + r / 4 * HALF;
    store_four(C, &sum[r][0], row, left + x, m, n);
    store_four(C, &sum[r][4], row, left + x + HALF, m, n);
  }
}

// ---- two tiles in turn ----------------------------------------------------------------------------------------------

enum { DEEP = 16, COPIES = DEEP / DEPTH }; // a thread copies COPIES times four numbers of A and of B

// While a tile is used, the next one is on its way to registers; it then goes to the other half of shared memory,
// which all threads have left before the last barrier. So there is one barrier per tile, and nobody waits for global
// memory. 8 warps: 2 down, 4 along, 64 x 32 elements each. 32 lanes: 8 down, 4 along; squares of 4 x 4, 32 down and 16
// along.
__global__ void __launch_bounds__(THREADS, 2)
gemm_double(float *C, const float *A, const float *B, int m, int n, int k) {
  __shared__ __align__(16) float a[2][DEEP][SIDE + 4], b[2][DEEP][SIDE]; // + 4: fewer lanes write to one bank
  int left = blockIdx.x * SIDE, top = blockIdx.y * SIDE, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int x = warp % 4 * 32 + lane % 4 * 4, y = warp / 4 * 64 + lane / 4 * 4;
  int a_row = threadIdx.x / 4, a_column = threadIdx.x % 4 * 4; // of the numbers that it copies
  int b_row = threadIdx.x / 32, b_column = threadIdx.x % 32 * 4;
  float sum[EACH][EACH] = {};
  float4 next_a[COPIES], next_b[COPIES];
#pragma unroll
  for (int i = 0; i < COPIES; i++) {
    next_a[i] = four_of(A, top + a_row + 64 * i, a_column, m, k);
    next_b[i] = four_of(B, b_row + 8 * i, left + b_column, k, n);
  }
  for (int first = 0, now = 0; first < k; first += DEEP, now ^= 1) {
#pragma unroll
    for (int i = 0; i < COPIES; i++) {
      a[now][a_column][a_row + 64 * i] = next_a[i].x;
      a[now][a_column + 1][a_row + 64 * i] = next_a[i].y;
      a[now][a_column + 2][a_row + 64 * i] = next_a[i].z;
      a[now][a_column + 3][a_row + 64 * i] = next_a[i].w;
      *(float4 *)&b[now][b_row + 8 * i][b_column] = next_b[i];
    }
    __syncthreads();
    if (first + DEEP < k) {
#pragma unroll
      for (int i = 0; i < COPIES; i++) {
        next_a[i] = four_of(A, top + a_row + 64 * i, first + DEEP + a_column, m, k);
        next_b[i] = four_of(B, first + DEEP + b_row + 8 * i, left + b_column, k, n);
      }
    }
#pragma unroll
    for (int i = 0; i < DEEP; i++) add_products(sum, &a[now][i][y], 32, &b[now][i][x], 16);
  }
#pragma unroll
  for (int r = 0; r < EACH; r++) {
    int row = top + y + r % 4 + r / 4 * 32;
    store_four(C, &sum[r][0], row, left + x, m, n);
    store_four(C, &sum[r][4], row, left + x + 16, m, n);
  }
}

// ---- tensor cores by wmma -------------------------------------------------------------------------------------------

// What lies in memory, the type of its sums, and the sides of a warp's product. wmma calls its matrices of float
// `tf32`.
template <typename T, int M_, int N_, int K_> struct cores {
  typedef T stored;
  typedef typename sum_of<T>::type sum;
  enum { M = M_, N = N_, K = K_ };
  static __device__ T convert(T x) { return x; }
};
struct f16_cores : cores<half, 16, 16, 16> {};
struct bf16_cores : cores<__nv_bfloat16, 16, 16, 16> {};
struct i8_cores : cores<signed char, 16, 16, 16> {};
struct f64_cores : cores<double, 8, 8, 4> {};
struct tf32_cores : cores<float, 16, 16, 8> {
  // The nearest number of 11 bits, which is what tensor cores take of it.
  static __device__ float convert(float x) { return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u); }
};

enum { WARPS = 8 }; // 8 warps compute 128 x 128 as 4 x 2 parts of 32 x 64

template <typename Cores, typename Factor> __global__ void __launch_bounds__(32 * WARPS)
gemm_wmma(typename Cores::sum *C, const typename Cores::stored *A, const typename Cores::stored *B, int m, int n,
          int k) {
  using namespace nvcuda::wmma;
  typedef typename Cores::stored T;
  typedef typename Cores::sum Sum;
  const int M = Cores::M, N = Cores::N, K = Cores::K, DOWN = 32 / M, ALONG = 64 / N, LONG = 64 / sizeof(T);
  const int PAD = 16 / sizeof(T); // rows begin in other banks
  __shared__ __align__(32) T a[SIDE][LONG + PAD], b[LONG][SIDE + PAD];
  __shared__ __align__(32) Sum edge[WARPS][M][N];
  int left = blockIdx.x * SIDE, top = blockIdx.y * SIDE, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int x = warp % 2 * 64, y = warp / 2 * 32;
  fragment<accumulator, M, N, K, Sum> sum[DOWN][ALONG];
#pragma unroll
  for (int r = 0; r < DOWN; r++) {
#pragma unroll
    for (int s = 0; s < ALONG; s++) fill_fragment(sum[r][s], (Sum)0);
  }
  for (int first = 0; first < k; first += LONG) {
#pragma unroll 8
    for (int i = threadIdx.x; i < SIDE * LONG; i += 32 * WARPS) {
      int row = top + i / LONG, column = first + i % LONG;
      a[i / LONG][i % LONG] = Cores::convert(row < m && column < k ? A[(size_t)row * k + column] : (T)0);
      row = first + i / SIDE, column = left + i % SIDE;
      b[i / SIDE][i % SIDE] = Cores::convert(row < k && column < n ? B[(size_t)row * n + column] : (T)0);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < LONG; i += K) {
      fragment<matrix_a, M, N, K, Factor, row_major> down[DOWN];
      fragment<matrix_b, M, N, K, Factor, row_major> along[ALONG];
#pragma unroll
      for (int r = 0; r < DOWN; r++) load_matrix_sync(down[r], &a[y + M * r][i], LONG + PAD);
#pragma unroll
      for (int s = 0; s < ALONG; s++) load_matrix_sync(along[s], &b[i][x + N * s], SIDE + PAD);
#pragma unroll
      for (int r = 0; r < DOWN; r++) {
#pragma unroll
        for (int s = 0; s < ALONG; s++) mma_sync(sum[r][s], down[r], along[s], sum[r][s]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < DOWN; r++) {
#pragma unroll
    for (int s = 0; s < ALONG; s++) { // by shared memory, since which lane holds what is the hardware's
      store_matrix_sync(&edge[warp][0][0], sum[r][s], N, mem_row_major);
      __syncwarp();
      for (int i = lane; i < M * N; i += 32) {
        int row = top + y + M * r + i / N, column = left + x + N * s + i % N;
        if (row < m && column < n) C[(size_t)row * n + column] = edge[warp][i / N][i % N];
      }
      __syncwarp();
    }
  }
}

// ---- tensor cores by mma.sync ---------------------------------------------------------------------------------------

// A warp's product of 16 rows of A and 8 columns of B, 32 bytes of each: k is 16 in f16 and bf16, 8 in tf32, 32 in i8,
// 4 in f64. Both factors lie along k, so B by columns (Bt). Lane l has the words l % 4 of rows l / 4 and l / 4 + 8 of
// A's two halves of 16 bytes, and of row l / 4 of Bt's; of C the columns 2 * (l % 4) and the next, of the same rows as
// of A.
//
//          Bt  0        16       32 bytes
//   row 0     | 0 1 2 3 | 0 1 2 3 |     ldmatrix reads four squares of 8 rows x 16 bytes, and gives each lane its word.
//   row 1     | 4 5 6 7 | 4 5 6 7 |     Lane l has the address of row l % 8 of square l / 8.
//   ...
//
// A row of a tile has 128 bytes, so that all rows begin in the same bank. The 16 bytes number c of row r lie at c ^ (r
// % 8): what 8 lanes read or write at a time is in 8 different places of the 128 bytes. f64 has 8 bytes per lane, and
// its own places.

template <typename T> struct by_ldmatrix { // words of 32 bits, as ldmatrix gives them
  typedef T stored;
  typedef typename sum_of<T>::type sum;
  struct factor_a { unsigned x[4]; };
  struct factor_b { unsigned x[2]; };

  static __device__ int place(int row) { return row % 8; }

  static __device__ void load(unsigned &x0, unsigned &x1, unsigned &x2, unsigned &x3, unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x0), "=r"(x1), "=r"(x2), "=r"(x3) : "r"(address));
  }

  // The bytes from `address` on, where row 0 of the warp's part begins, at step (32 bytes) of a row.
  template <int PARTS> static __device__ void load_a(factor_a (&a)[PARTS], unsigned address, int lane, int step) {
    int row = lane % 16, chunk = (2 * step + lane / 16) ^ place(row);
#pragma unroll
    for (int i = 0; i < PARTS; i++)
      load(a[i].x[0], a[i].x[1], a[i].x[2], a[i].x[3], address + (16 * i + row) * 128 + chunk * 16);
  }

  template <int PARTS> static __device__ void load_b(factor_b (&b)[PARTS], unsigned address, int lane, int step) {
    int row = lane % 8 + lane / 16 * 8, chunk = (2 * step + lane / 8 % 2) ^ place(row);
#pragma unroll
    for (int i = 0; i < PARTS; i += 2)
      load(b[i].x[0], b[i].x[1], b[i + 1].x[0], b[i + 1].x[1], address + (8 * i + row) * 128 + chunk * 16);
  }
};

#define MMA(TYPES, KIND) \
  static __device__ void multiply(sum *c, const factor_a &a, const factor_b &b) { \
    asm volatile("mma.sync.aligned." TYPES " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
                 : "+" KIND(c[0]), "+" KIND(c[1]), "+" KIND(c[2]), "+" KIND(c[3]) \
                 : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(b.x[0]), "r"(b.x[1])); \
  }
struct f16_mma : by_ldmatrix<half> { MMA("m16n8k16.row.col.f32.f16.f16.f32", "f") };
struct bf16_mma : by_ldmatrix<__nv_bfloat16> { MMA("m16n8k16.row.col.f32.bf16.bf16.f32", "f") };
struct tf32_mma : by_ldmatrix<float> { MMA("m16n8k8.row.col.f32.tf32.tf32.f32", "f") }; // lower 13 bits are ignored
struct i8_mma : by_ldmatrix<signed char> { MMA("m16n8k32.row.col.s32.s8.s8.s32", "r") };
#undef MMA

struct f64_mma { // a lane's number has 8 bytes: rows l / 4, number l % 4 of them
  typedef double stored, sum;
  struct factor_a { double x[2]; };
  struct factor_b { double x[1]; };

  static __device__ int place(int row) { return row % 4 * 2; }

  static __device__ double load(unsigned address) {
    double x;
    asm volatile("ld.shared.f64 %0, [%1];" : "=d"(x) : "r"(address));
    return x;
  }

  template <typename Factor, int PARTS>
  static __device__ void load_rows(Factor (&f)[PARTS], unsigned address, int lane, int step) {
    const int EIGHTS = sizeof(Factor) / sizeof(double);
    int row = lane / 4, chunk = (2 * step + lane % 4 / 2) ^ place(row);
#pragma unroll
    for (int i = 0; i < EIGHTS * PARTS; i++)
      f[i / EIGHTS].x[i % EIGHTS] = load(address + (8 * i + row) * 128 + chunk * 16 + lane % 2 * 8);
  }

  template <int PARTS> static __device__ void load_a(factor_a (&a)[PARTS], unsigned address, int lane, int step) {
    load_rows(a, address, lane, step);
  }

  template <int PARTS> static __device__ void load_b(factor_b (&b)[PARTS], unsigned address, int lane, int step) {
    load_rows(b, address, lane, step);
  }

  static __device__ void multiply(double *c, const factor_a &a, const factor_b &b) {
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3]) : "d"(a.x[0]), "d"(a.x[1]), "d"(b.x[0]));
  }
};

template <typename T> struct __align__(2 * sizeof(T)) pair {
  T x, y;
};

// LINES rows of 128 bytes, of a matrix of `rows` rows of `length` numbers: a thread copies 16 bytes at a time.
template <typename Cores, int LINES, int COUNT>
__device__ void fetch_rows(unsigned to, const typename Cores::stored *M, int top, int first, int rows, int length) {
  const int PIECE = 16 / sizeof(typename Cores::stored);
  int chunk = threadIdx.x % 8, column = first + chunk * PIECE;
  const typename Cores::stored *from = &M[(size_t)(top + threadIdx.x / 8) * length + column];
#pragma unroll
  for (int row = threadIdx.x / 8; row < LINES; row += COUNT / 8) {
    int bytes = top + row < rows && column < length ? 16 : 0; // the rest of the 16 is 0
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::
                 "r"(to + row * 128 + (chunk ^ Cores::place(row)) * 16), "l"(from), "r"(bytes) : "memory");
    from += (size_t)(COUNT / 8) * length;
  }
}

// Blocks begin in the order of their numbers: STRIP tiles down, then the STRIP tiles next to them. So those that run at
// once share rows of A and columns of B in the L2.
template <int STRIP> __device__ void place_of_block(int &x, int &y) {
  int id = blockIdx.y * gridDim.x + blockIdx.x, first = id / (STRIP * gridDim.x) * STRIP;
  int high = min(STRIP, (int)gridDim.y - first);
  id -= first * gridDim.x;
  x = id / high, y = first + id % high;
}

// Starts the way of tile number `tile` of A and Bt.
template <typename Cores, int HEIGHT, int WIDTH, int COUNT, typename T>
__device__ void fetch_tiles(unsigned to, const T *A, const T *Bt, int top, int left, int tile, int m, int n, int k) {
  const int LONG = 128 / sizeof(T);
  fetch_rows<Cores, HEIGHT, COUNT>(to, A, top, tile * LONG, m, k);
  fetch_rows<Cores, WIDTH, COUNT>(to + HEIGHT * 128, Bt, left, tile * LONG, n, k);
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Until all but the last TILES - 2 tiles are there, and all threads have left the tile before.
template <int TILES> __device__ void wait_for_tile() {
  asm volatile("cp.async.wait_group %0;" ::"n"(TILES - 2) : "memory");
  __syncthreads();
}

// A block computes HEIGHT x WIDTH elements, a warp HIGH x BROAD of them. One of TILES tiles in shared memory is used,
// the others are on their way; while a warp multiplies, it reads the factors of the next step.
template <typename Cores, int HEIGHT, int WIDTH, int HIGH, int BROAD, int TILES, int STRIP>
__global__ void __launch_bounds__(HEIGHT / HIGH * (WIDTH / BROAD) * 32)
gemm_mma(typename Cores::sum *C, const typename Cores::stored *A, const typename Cores::stored *Bt, int m, int n,
         int k) {
  typedef typename Cores::sum Sum;
  const int COUNT = HEIGHT / HIGH * (WIDTH / BROAD) * 32, LONG = 128 / sizeof(typename Cores::stored);
  const int TILE = (HEIGHT + WIDTH) * 128, DOWN = HIGH / 16, ALONG = BROAD / 8;
  extern __shared__ __align__(128) unsigned char tiles[]; // of each HEIGHT rows of A, then WIDTH of Bt
  unsigned shared = (unsigned)__cvta_generic_to_shared(tiles);
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int x = warp % (WIDTH / BROAD) * BROAD, y = warp / (WIDTH / BROAD) * HIGH, left, top;
  place_of_block<STRIP>(left, top);
  left *= WIDTH, top *= HEIGHT;
  Sum sum[DOWN][ALONG][4] = {};
  typename Cores::factor_a a[2][DOWN]; // of this step, 32 bytes of k, and of the next one
  typename Cores::factor_b b[2][ALONG];

  for (int tile = 0; tile < TILES - 1; tile++)
    fetch_tiles<Cores, HEIGHT, WIDTH, COUNT>(shared + tile * TILE, A, Bt, top, left, tile, m, n, k);
  wait_for_tile<TILES>();
  Cores::load_a(a[0], shared + y * 128, lane, 0);
  Cores::load_b(b[0], shared + (HEIGHT + x) * 128, lane, 0);
  for (int tile = 0; tile * LONG < k; tile++) {
    fetch_tiles<Cores, HEIGHT, WIDTH, COUNT>(shared + (tile + TILES - 1) % TILES * TILE, A, Bt, top, left,
                                             tile + TILES - 1, m, n, k);
#pragma unroll
    for (int step = 0; step < 4; step++) {
      if (step == 3) wait_for_tile<TILES>();
      unsigned from = shared + (step < 3 ? tile : tile + 1) % TILES * TILE;
      Cores::load_a(a[(step + 1) % 2], from + y * 128, lane, (step + 1) % 4);
      Cores::load_b(b[(step + 1) % 2], from + (HEIGHT + x) * 128, lane, (step + 1) % 4);
#pragma unroll
      for (int r = 0; r < DOWN; r++) {
#pragma unroll
        for (int s = 0; s < ALONG; s++) Cores::multiply(sum[r][s], a[step % 2][r], b[step % 2][s]);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < 2 * DOWN; r++) {
#pragma unroll
    for (int s = 0; s < ALONG; s++) {
      int row = top + y + 8 * r + lane / 4, column = left + x + 8 * s + lane % 4 * 2;
      const Sum *two = &sum[r / 2][s][r % 2 * 2];
      Sum *to = &C[(size_t)row * n + column];
      if (row >= m || column >= n) continue;
      if (n % 2 == 0) {
        *(pair<Sum> *)to = pair<Sum>{two[0], two[1]};
      } else {
        to[0] = two[0];
        if (column + 1 < n) to[1] = two[1];
      }
    }
  }
}
