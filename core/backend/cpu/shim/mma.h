/* SPDX-License-Identifier: MIT
 *
 * CUDA's <mma.h>: warp matrices, in fibers. Every lane holds both factors whole and its share of the sum, so that a product
 * needs no other lane; CUDA leaves open which lane holds what. Products of half and bfloat16 are exact and summed as
 * float, in order of k: a GPU may round other sums. Matrices of 1 and 4 bits need the CUDA device. */
#ifndef MW_MMA_H
#define MW_MMA_H
#if !defined(MW_PREPROCESS)

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "moonwarp.h"

namespace nvcuda {
namespace wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
} // namespace precision

template <class T> struct mw_element { typedef T type; };
template <> struct mw_element<precision::tf32> { typedef float type; };
/* What products are summed as. */
template <class T> struct mw_sum { typedef float type; };
template <> struct mw_sum<int> { typedef int type; };
template <> struct mw_sum<double> { typedef double type; };

template <class Use, int M, int N, int K> struct mw_shape { /* of a warp's matrix; whole: each lane has all of it */
  static const int rows = M, columns = N;
  static const bool whole = false;
};
template <int M, int N, int K> struct mw_shape<matrix_a, M, N, K> {
  static const int rows = M, columns = K;
  static const bool whole = true;
};
template <int M, int N, int K> struct mw_shape<matrix_b, M, N, K> {
  static const int rows = K, columns = N;
  static const bool whole = true;
};

template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment : mw_shape<Use, M, N, K> {
  typedef mw_shape<Use, M, N, K> mw_of;
  typedef typename mw_element<T>::type element_type, storage_element_type;
  static const int num_elements = mw_of::rows * mw_of::columns / (mw_of::whole ? 1 : 32);
  element_type x[num_elements];

  /* Where element i of the calling lane is in memory. */
  static unsigned mw_at(int i, unsigned stride, bool by_rows) {
    const unsigned element = (unsigned)i + (mw_of::whole ? 0 : mw_lane() * num_elements);
    const unsigned row = element / mw_of::columns, column = element % mw_of::columns;
    return by_rows ? row * stride + column : column * stride + row;
  }
};

template <class F, class From>
MW_FN void mw_load(F &fragment, const From *from, unsigned stride, bool by_rows, const char *mw_file, int mw_line) {
  __syncwarp(0xffffffffu, mw_file, mw_line);
  for (int i = 0; i < F::num_elements; i++) fragment.x[i] = from[F::mw_at(i, stride, by_rows)];
}
template <class Use, int M, int N, int K, class T, class From>
MW_FN void load_matrix_sync(fragment<Use, M, N, K, T, row_major> &f, const From *from, unsigned stride, MW_HERE) {
  mw_load(f, from, stride, true, mw_file, mw_line);
}
template <class Use, int M, int N, int K, class T, class From>
MW_FN void load_matrix_sync(fragment<Use, M, N, K, T, col_major> &f, const From *from, unsigned stride, MW_HERE) {
  mw_load(f, from, stride, false, mw_file, mw_line);
}
template <int M, int N, int K, class T, class From>
MW_FN void load_matrix_sync(fragment<accumulator, M, N, K, T> &f, const From *from, unsigned stride, layout_t layout,
                            MW_HERE) {
  mw_load(f, from, stride, layout == mem_row_major, mw_file, mw_line);
}

template <int M, int N, int K, class T, class To>
MW_FN void store_matrix_sync(To *to, const fragment<accumulator, M, N, K, T> &f, unsigned stride, layout_t layout,
                             MW_HERE) {
  __syncwarp(0xffffffffu, mw_file, mw_line);
  for (int i = 0; i < f.num_elements; i++) to[f.mw_at(i, stride, layout == mem_row_major)] = f.x[i];
  __syncwarp(0xffffffffu, mw_file, mw_line);
}

template <class F, class V> MW_FN void fill_fragment(F &f, V value) {
  for (int i = 0; i < F::num_elements; i++) f.x[i] = (typename F::element_type)value;
}

/* Not inlined: kernels call it in unrolled loops over their tiles, which take seconds to compile. */
template <int M, int N, int K, class D, class A, class B, class C, class LayoutA, class LayoutB>
static __attribute__((noinline)) void mma_sync(fragment<accumulator, M, N, K, D> &d, const fragment<matrix_a, M, N, K, A, LayoutA> &a,
                    const fragment<matrix_b, M, N, K, B, LayoutB> &b, const fragment<accumulator, M, N, K, C> &c,
                    bool = false) {
  typedef typename mw_sum<C>::type Sum;
  for (int i = 0; i < d.num_elements; i++) {
    const int element = (int)mw_lane() * d.num_elements + i, row = element / N, column = element % N;
    Sum sum = (Sum)c.x[i];
    for (int k = 0; k < K; k++) sum += (Sum)a.x[row * K + k] * (Sum)b.x[k * N + column];
    d.x[i] = (D)sum;
  }
}

/* To 10 bits of fraction, halves away from zero. */
MW_FN float __float_to_tf32(float x) {
  return (x - x == 0) ? mw_bits<float>((mw_bits<unsigned>(x) + 0x1000u) & ~0x1fffu) : x;
}

} // namespace wmma
} // namespace nvcuda

#endif
#endif
