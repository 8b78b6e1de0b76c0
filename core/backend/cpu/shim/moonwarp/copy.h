/* SPDX-License-Identifier: MIT
 *
 * What CUDA copies asynchronously, copied at once: the part of one thread of several. A thread that reads a copy before
 * it waits for it finds it complete, which CUDA does not promise; check mode knows which are on their way. */
#ifndef MW_COPY_H
#define MW_COPY_H
#if !defined(MW_PREPROCESS)

#include "../moonwarp.h"

typedef unsigned char __attribute__((may_alias)) mw_unit1;
typedef unsigned __attribute__((may_alias)) mw_unit4;
typedef unsigned long long __attribute__((may_alias)) mw_unit8;

/* what: MW_COPY_* of check/cell.h. */
#if defined(MW_CHECK)
extern "C" __attribute__((visibility("hidden"))) void mw_check_copy(int what, const void *to, const void *from, unsigned bytes,
                                                                     const void *barrier);
#define MW_COPY(what, to, from, bytes, barrier) mw_check_copy(what, to, from, (unsigned)(bytes), barrier);
#else
#define MW_COPY(what, to, from, bytes, barrier)
#endif

/* A batch of the thread's copies; waits for all but so many; for one more. Until then what they write is not there. */
MW_FN void mw_copies_commit() { MW_COPY(1, nullptr, nullptr, 0, nullptr) }
MW_FN void mw_copies_wait(size_t prior) {
  (void)prior;
  MW_COPY(2, nullptr, nullptr, prior, nullptr)
}
MW_FN void mw_copies_wait_oldest() { MW_COPY(3, nullptr, nullptr, 0, nullptr) }
/* The phase of a barrier ends, and with it the copies that it tells of. */
MW_FN void mw_copies_land(const void *barrier) {
  (void)barrier;
  MW_COPY(4, nullptr, nullptr, 0, barrier)
}

template <class Unit> MW_FN void mw_copy_units(void *to, const void *from, size_t bytes, size_t first, size_t step) {
  for (size_t i = first; i < bytes / sizeof(Unit); i += step) ((Unit *)to)[i] = ((const Unit *)from)[i];
}

MW_FN void mw_copy(void *to, const void *from, size_t bytes, size_t rank = 0, size_t threads = 1) {
  const size_t ends = (size_t)to | (size_t)from | bytes;
  if (ends % 8 == 0)
    mw_copy_units<mw_unit8>(to, from, bytes, rank, threads);
  else if (ends % 4 == 0)
    mw_copy_units<mw_unit4>(to, from, bytes, rank, threads);
  else
    mw_copy_units<mw_unit1>(to, from, bytes, rank, threads);
}

namespace cuda {
/* So many bytes; they and both ends of the copy are multiples of Alignment. */
template <size_t Alignment> struct aligned_size_t {
  static constexpr size_t align = Alignment;
  size_t value;
  explicit constexpr aligned_size_t(size_t bytes) : value(bytes) {}
  constexpr operator size_t() const { return value; }
};
} // namespace cuda

/* A copy of which a barrier tells; without one the thread waits for it by itself. */
MW_FN void mw_copy_later(void *to, const void *from, size_t bytes, size_t rank = 0, size_t threads = 1,
                         const void *barrier = nullptr) {
  (void)barrier;
  mw_copy(to, from, bytes, rank, threads);
#if defined(MW_CHECK)
  const size_t ends = (size_t)to | (size_t)from | bytes, unit = ends % 8 == 0 ? 8 : ends % 4 == 0 ? 4 : 1;
  if (threads == 1) mw_check_copy(0, to, from, (unsigned)bytes, barrier);
  for (size_t i = rank * unit; threads > 1 && i < bytes; i += threads * unit)
    mw_check_copy(0, (char *)to + i, (const char *)from + i, (unsigned)unit, barrier);
#endif
}

#endif
#endif
