/* SPDX-License-Identifier: MIT
 *
 * CUDA's <cooperative_groups/memcpy_async.h>: copies by a group, made at once; who waits for them meets the group. */
#ifndef MW_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define MW_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H

#include "../cooperative_groups.h"

#if !defined(MW_PREPROCESS)

#include "../moonwarp/copy.h"

namespace cooperative_groups {

template <class G> MW_FN void memcpy_async(const G &g, void *to, const void *from, size_t bytes) {
  mw_copy_later(to, from, bytes, g.thread_rank(), g.num_threads());
  mw_copies_commit();
}
/* So many elements as both have. */
template <class G, class T>
MW_FN void memcpy_async(const G &g, T *to, size_t room, const T *from, size_t count) {
  memcpy_async(g, to, from, (room < count ? room : count) * sizeof(T));
}
template <unsigned Stages, class G> MW_FN void wait_prior(const G &g, MW_HERE) {
  mw_copies_wait(Stages);
  g.sync(mw_file, mw_line);
}
template <class G> MW_FN void wait(const G &g, MW_HERE) { wait_prior<0>(g, mw_file, mw_line); }

} // namespace cooperative_groups
#endif
#endif
