/* SPDX-License-Identifier: MIT
 *
 * Warp matrices, checked by themselves; launched as builtins.cu's kernels are. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "check.cuh"

using namespace nvcuda;

/* Each warp: D = A B + C of M x N x K, of small integers, which all types hold. */
template <int M, int N, int K, class T, class Element, class Sum, class LayoutA, class LayoutB>
__device__ void product(int *wrong, Element *a, Element *b, Sum *d, wmma::layout_t layout) {
  const int rank = (int)rank_in_block(), l = rank % 32;
  const bool rows_a = layout == wmma::mem_row_major;
  for (int i = rank; i < 256; i += THREADS) a[i] = (Element)(float)(i % 5), b[i] = (Element)(float)(i % 7);
  for (int i = rank; i < 256; i += THREADS) d[i] = (Sum)(float)(i % 3);
  __syncthreads();
  wmma::fragment<wmma::matrix_a, M, N, K, T, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, T, LayoutB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> fc;
  wmma::load_matrix_sync(fa, a, rows_a ? K : M);
  wmma::load_matrix_sync(fb, b, rows_a ? K : N);
  wmma::load_matrix_sync(fc, d, layout == wmma::mem_row_major ? N : M, layout);
  wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; i++) fc.x[i] = fc.x[i] + fc.x[i];
  __syncthreads();
  if (rank < 32) wmma::store_matrix_sync(d, fc, layout == wmma::mem_row_major ? N : M, layout);
  __syncthreads();
  for (int i = l; i < M * N; i += 32) {
    const int row = layout == wmma::mem_row_major ? i / N : i % M, column = layout == wmma::mem_row_major ? i % N : i / M;
    int sum = i % 3;
    for (int k = 0; k < K; k++)
      sum += (rows_a ? row * K + k : k * M + row) % 5 * ((rows_a ? column * K + k : k * N + column) % 7);
    CHECK((float)d[i] == 2.0f * (float)sum);
  }
}

__global__ void check_wmma_half(int *wrong) {
  __shared__ half a[256], b[256];
  __shared__ float d[256];
  product<16, 16, 16, half, half, float, wmma::row_major, wmma::col_major>(wrong, a, b, d, wmma::mem_row_major);
  __syncthreads();
  product<16, 16, 16, half, half, float, wmma::col_major, wmma::row_major>(wrong, a, b, d, wmma::mem_col_major);
}

__global__ void check_wmma_bfloat(int *wrong) {
  __shared__ __nv_bfloat16 a[256], b[256];
  __shared__ float d[256];
  product<16, 16, 16, __nv_bfloat16, __nv_bfloat16, float, wmma::row_major, wmma::col_major>(wrong, a, b, d,
                                                                                             wmma::mem_row_major);
}

__global__ void check_wmma_integer(int *wrong) {
  __shared__ signed char a[256], b[256];
  __shared__ int d[256];
  product<16, 16, 16, signed char, signed char, int, wmma::row_major, wmma::col_major>(wrong, a, b, d,
                                                                                       wmma::mem_row_major);
}
