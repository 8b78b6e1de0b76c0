/* SPDX-License-Identifier: MIT
 *
 * CUDA's <cooperative_groups.h>: the block, tiles of up to one warp, coalesced threads, the grid. Every member that
 * waits takes the caller's file and line as hidden arguments. Tiles of more than a warp, clusters, labelled partitions
 * and asynchronous copies need the CUDA device. */
#ifndef MW_COOPERATIVE_GROUPS_H
#define MW_COOPERATIVE_GROUPS_H
#if !defined(MW_PREPROCESS)

#include "moonwarp.h"

namespace cooperative_groups {

/* {== What groups are made of ========================================== */

/* A shuffle of any trivially copyable type, in pieces of at most 8 bytes; `lane` counts within the warp. */
template <class T>
MW_FN T mw_shuffle_pieces(enum mw_warp_op op, unsigned mask, const T &value, int arg, int width, const char *what,
                   const char *mw_file, int mw_line) {
  static_assert(__is_trivially_copyable(T), "a shuffled type must be trivially copyable");
  T result = value;
  for (size_t at = 0; at < sizeof(T); at += 8) {
    const size_t bytes = sizeof(T) - at < 8 ? sizeof(T) - at : 8;
    unsigned long long piece = 0;
    __builtin_memcpy(&piece, (const char *)&value + at, bytes);
    piece = mw_warp(op, mask, piece, arg, width, nullptr, what, mw_file, mw_line);
    __builtin_memcpy((char *)&result + at, &piece, bytes);
  }
  return result;
}

/* Some lanes of one warp, which wait for each other: tiles and coalesced groups are this and a way to count. */
struct mw_lanes {
  unsigned mw_mask;

  void sync(MW_HERE) const { __syncwarp(mw_mask, mw_file, mw_line); }
  unsigned size() const { return num_threads(); }
  unsigned num_threads() const { return (unsigned)__popc(mw_mask); }
  unsigned thread_rank() const { return (unsigned)__popc(mw_mask & ((1u << mw_lane()) - 1)); }
  int any(int predicate, MW_HERE) const { return __any_sync(mw_mask, predicate, mw_file, mw_line); }
  int all(int predicate, MW_HERE) const { return __all_sync(mw_mask, predicate, mw_file, mw_line); }
  unsigned ballot(int predicate, MW_HERE) const {
    return mw_packed(__ballot_sync(mw_mask, predicate, mw_file, mw_line));
  }
  template <class T> unsigned match_any(T value, MW_HERE) const {
    return mw_packed(__match_any_sync(mw_mask, value, mw_file, mw_line));
  }
  template <class T> unsigned match_all(T value, int &predicate, MW_HERE) const {
    return mw_packed(__match_all_sync(mw_mask, value, &predicate, mw_file, mw_line));
  }

  /* A lane mask with the group's lanes pushed together: bit r is the thread of rank r. */
  unsigned mw_packed(unsigned lanes) const {
    unsigned packed = 0, rank = 0;
    for (unsigned left = mw_mask; left; left &= left - 1, rank++)
      packed |= (lanes >> (__ffs((int)left) - 1) & 1) << rank;
    return packed;
  }
  int mw_lane_of(unsigned rank) const { return (int)__fns(mw_mask, 0, (int)rank + 1); }
};

/* ==} */

/* {== The group whose kind is known at run time only =================== */

struct grid_group;
struct thread_block;

struct thread_group {
  enum mw_kind { mw_is_block, mw_is_lanes, mw_is_grid } mw_kind;
  mw_lanes mw_part;

  void sync(MW_HERE) const {
    if (mw_kind == mw_is_lanes)
      mw_part.sync(mw_file, mw_line);
    else if (mw_kind == mw_is_block)
      __syncthreads(mw_file, mw_line);
    else
      mw_grid_barrier(mw_file, mw_line);
  }
  unsigned long long num_threads() const {
    const unsigned long long blocks = (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    return mw_kind == mw_is_lanes ? mw_part.num_threads() : mw_block_threads() * (mw_kind == mw_is_grid ? blocks : 1);
  }
  unsigned long long size() const { return num_threads(); }
  unsigned long long thread_rank() const;
};

/* ==} */

struct thread_block {
  static void sync(MW_EXACTLY_HERE) { __syncthreads(mw_file, mw_line, mw_column); }
  static unsigned thread_rank() { return mw_thread_rank(); }
  static unsigned size() { return mw_block_threads(); }
  static unsigned num_threads() { return mw_block_threads(); }
  static dim3 group_index() { return dim3(blockIdx); }
  static dim3 thread_index() { return dim3(threadIdx); }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
  operator thread_group() const { return thread_group{thread_group::mw_is_block, {0}}; }
};
MW_FN thread_block this_thread_block() { return thread_block(); }

/* What tiles of more than 32 threads meet in; there are none here. */
template <unsigned MaxBlockSize = 1024> struct block_tile_memory {
  char unused;
};
template <unsigned MaxBlockSize> MW_FN thread_block this_thread_block(block_tile_memory<MaxBlockSize> &) {
  return thread_block();
}

struct grid_group {
  static bool is_valid() { return true; }
  static void sync(MW_HERE) { mw_grid_barrier(mw_file, mw_line); }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 group_dim() { return gridDim; }
  static dim3 block_index() { return dim3(blockIdx); }
  static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  static unsigned long long block_rank() {
    return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
  }
  static unsigned long long num_threads() { return num_blocks() * mw_block_threads(); }
  static unsigned long long size() { return num_threads(); }
  static unsigned long long thread_rank() { return block_rank() * mw_block_threads() + mw_thread_rank(); }
  operator thread_group() const { return thread_group{thread_group::mw_is_grid, {0}}; }
};
MW_FN grid_group this_grid() { return grid_group(); }

inline unsigned long long thread_group::thread_rank() const {
  return mw_kind == mw_is_lanes   ? mw_part.thread_rank()
         : mw_kind == mw_is_block ? mw_thread_rank()
                                  : grid_group::thread_rank();
}

/* {== Tiles ============================================================ */

template <unsigned Size, class Parent = void> struct thread_block_tile : mw_lanes {
  static_assert(Size <= 32, "a tile of more than 32 threads needs the CUDA device");
  static_assert(Size && (Size & (Size - 1)) == 0, "a tile's size is a power of two");
  unsigned mw_meta_rank, mw_meta_size;

  thread_block_tile() = default;
  /* Whose part the tile is may be forgotten: thread_block_tile<32> t = tiled_partition<32>(block). */
  template <class Other>
  thread_block_tile(const thread_block_tile<Size, Other> &tile)
      : mw_lanes(tile), mw_meta_rank(tile.mw_meta_rank), mw_meta_size(tile.mw_meta_size) {}

  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }
  static unsigned thread_rank() { return mw_lane() & (Size - 1); }
  unsigned meta_group_rank() const { return mw_meta_rank; }
  unsigned meta_group_size() const { return mw_meta_size; }

#define MW_TILE_SHUFFLE(name, op)                                                                                      \
  template <class T> T name(const T &value, int arg, MW_HERE) const {                                                  \
    return mw_shuffle_pieces(op, mw_mask, value, arg, (int)Size, "tile." #name, mw_file, mw_line);                            \
  }
  MW_TILE_SHUFFLE(shfl, MW_WARP_SHFL)
  MW_TILE_SHUFFLE(shfl_up, MW_WARP_SHFL_UP)
  MW_TILE_SHUFFLE(shfl_down, MW_WARP_SHFL_DOWN)
  MW_TILE_SHUFFLE(shfl_xor, MW_WARP_SHFL_XOR)
  operator thread_group() const {
    return thread_group{thread_group::mw_is_lanes, {mw_mask}};
  }
};

/* The lanes of the calling thread's tile of `size` threads. */
MW_FN unsigned mw_tile_mask(unsigned size) {
  const unsigned first = mw_lane() & ~(size - 1);
  return ((size >= 32 ? 0xffffffffu : (1u << size) - 1) << first) & mw_existing_lanes();
}

template <unsigned Size, class Parent> MW_FN thread_block_tile<Size, Parent> mw_tile(unsigned rank, unsigned threads) {
  thread_block_tile<Size, Parent> tile;
  tile.mw_mask = mw_tile_mask(Size);
  tile.mw_meta_rank = rank / Size;
  tile.mw_meta_size = (threads + Size - 1) / Size;
  return tile;
}
template <unsigned Size> MW_FN thread_block_tile<Size, thread_block> tiled_partition(const thread_block &) {
  return mw_tile<Size, thread_block>(mw_thread_rank(), mw_block_threads());
}
template <unsigned Size, unsigned Outer, class Parent>
MW_FN thread_block_tile<Size, thread_block_tile<Outer, Parent>>
tiled_partition(const thread_block_tile<Outer, Parent> &g) {
  static_assert(Size <= Outer, "a tile lies within its parent");
  return mw_tile<Size, thread_block_tile<Outer, Parent>>(g.thread_rank(), Outer);
}
MW_FN thread_group tiled_partition(const thread_group &, unsigned size) {
  return thread_group{thread_group::mw_is_lanes, {mw_tile_mask(size)}};
}

/* ==} */

/* {== Coalesced threads ================================================ */

struct coalesced_group : mw_lanes {
  template <class T>
  T mw_from(const T &value, int rank, bool there, const char *what, const char *mw_file, int mw_line) const {
    const int lane = there ? mw_lane_of((unsigned)rank) : (int)mw_lane();
    return mw_shuffle_pieces(MW_WARP_SHFL, mw_mask, value, lane, 32, what, mw_file, mw_line);
  }
  template <class T> T shfl(const T &value, int rank, MW_HERE) const {
    return mw_from(value, rank, rank >= 0 && (unsigned)rank < num_threads(), "group.shfl", mw_file, mw_line);
  }
  template <class T> T shfl_up(const T &value, unsigned delta, MW_HERE) const {
    const unsigned rank = thread_rank();
    return mw_from(value, (int)(rank - delta), delta <= rank, "group.shfl_up", mw_file, mw_line);
  }
  template <class T> T shfl_down(const T &value, unsigned delta, MW_HERE) const {
    const unsigned rank = thread_rank();
    return mw_from(value, (int)(rank + delta), rank + delta < num_threads(), "group.shfl_down", mw_file, mw_line);
  }
  unsigned meta_group_rank() const { return 0; }
  unsigned meta_group_size() const { return 1; }
  operator thread_group() const { return thread_group{thread_group::mw_is_lanes, {mw_mask}}; }
};
MW_FN coalesced_group coalesced_threads(MW_HERE) {
  coalesced_group group;
  group.mw_mask = __activemask(mw_file, mw_line);
  return group;
}
/* Groups of the threads with one predicate, or with one label. */
template <class G, class T> MW_FN coalesced_group labeled_partition(const G &g, T label, MW_HERE) {
  coalesced_group group;
  group.mw_mask = __match_any_sync(g.mw_mask, label, mw_file, mw_line);
  return group;
}
template <class G> MW_FN coalesced_group binary_partition(const G &g, bool predicate, MW_HERE) {
  return labeled_partition(g, (int)predicate, mw_file, mw_line);
}

/* ==} */

template <class G> MW_FN void sync(const G &g, MW_HERE) { g.sync(mw_file, mw_line); }
template <class G> MW_FN void synchronize(const G &g, MW_HERE) { g.sync(mw_file, mw_line); }
template <class G> MW_FN auto thread_rank(const G &g) -> decltype(g.thread_rank()) { return g.thread_rank(); }
template <class G> MW_FN auto group_size(const G &g) -> decltype(g.num_threads()) { return g.num_threads(); }
template <class G> MW_FN bool is_valid(const G &) { return true; }

} // namespace cooperative_groups

#endif
#endif
