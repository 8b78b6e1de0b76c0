/* SPDX-License-Identifier: MIT
 *
 * CUDA's <cooperative_groups/reduce.h>: reduce over a tile or coalesced threads, and the operators. */
#ifndef MW_COOPERATIVE_GROUPS_REDUCE_H
#define MW_COOPERATIVE_GROUPS_REDUCE_H

#include "../cooperative_groups.h"

#if !defined(MW_PREPROCESS)
namespace cooperative_groups {

#define MW_GROUP_OPERATOR(name, e)                                                                                     \
  template <class T> struct name {                                                                                     \
    T operator()(const T &a, const T &b) const { return e; }                                                           \
  };
MW_GROUP_OPERATOR(plus, a + b)
MW_GROUP_OPERATOR(less, b < a ? b : a)
MW_GROUP_OPERATOR(greater, a < b ? b : a)
MW_GROUP_OPERATOR(bit_and, a &b)
MW_GROUP_OPERATOR(bit_or, a | b)
MW_GROUP_OPERATOR(bit_xor, a ^ b)

template <unsigned Size, class Parent, class T, class Op>
MW_FN T reduce(const thread_block_tile<Size, Parent> &g, T value, Op op, MW_HERE) {
  for (int distance = Size / 2; distance; distance /= 2) {
    value = op(value, g.shfl_xor(value, distance, mw_file, mw_line));
  }
  return value;
}

template <class T, class Op> MW_FN T reduce(const coalesced_group &g, T value, Op op, MW_HERE) {
  T result = g.shfl(value, 0, mw_file, mw_line);
  for (unsigned i = 1; i < g.num_threads(); i++) result = op(result, g.shfl(value, (int)i, mw_file, mw_line));
  return result;
}

} // namespace cooperative_groups
#endif
#endif
