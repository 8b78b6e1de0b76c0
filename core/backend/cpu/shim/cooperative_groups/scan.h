/* SPDX-License-Identifier: MIT
 *
 * CUDA's <cooperative_groups/scan.h>: prefix sums over a tile or coalesced threads. */
#ifndef MW_COOPERATIVE_GROUPS_SCAN_H
#define MW_COOPERATIVE_GROUPS_SCAN_H

#include "reduce.h"

#if !defined(MW_PREPROCESS)
namespace cooperative_groups {

template <class G, class T, class Op> MW_FN T mw_scan(const G &g, T value, Op op, const char *mw_file, int mw_line) {
  for (unsigned distance = 1; distance < g.num_threads(); distance *= 2) {
    const T before = g.shfl_up(value, distance, mw_file, mw_line);
    if (g.thread_rank() >= distance) value = op(before, value);
  }
  return value;
}
template <class G, class T> MW_FN T inclusive_scan(const G &g, T value, MW_HERE) {
  return mw_scan(g, value, plus<T>(), mw_file, mw_line);
}
template <class G, class T, class Op>
MW_FN auto inclusive_scan(const G &g, T value, Op op, MW_HERE) -> decltype((T)op(value, value)) {
  return mw_scan(g, value, op, mw_file, mw_line);
}

/* The thread of rank 0 gets a zero. */
template <class G, class T, class Op>
MW_FN auto exclusive_scan(const G &g, T value, Op op, MW_HERE) -> decltype((T)op(value, value)) {
  const T before = g.shfl_up(mw_scan(g, value, op, mw_file, mw_line), 1, mw_file, mw_line);
  return g.thread_rank() ? before : T();
}
template <class G, class T> MW_FN T exclusive_scan(const G &g, T value, MW_HERE) {
  return exclusive_scan(g, value, plus<T>(), mw_file, mw_line);
}

} // namespace cooperative_groups
#endif
#endif
