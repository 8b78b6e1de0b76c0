/* SPDX-License-Identifier: MIT
 *
 * CUB's collectives of a block and of a warp, by their documented interface: each keeps its threads' values in its
 * temporary storage, and one thread reduces or scans them. A reduction adds in the order of CUB's warp reductions (a
 * tree over each warp, then the warps one after another), a scan from the first thread to the last, so that sums of
 * floating-point numbers may differ from a GPU's in the last bits. What else CUB has needs the CUDA device. */
#ifndef MW_CUB_H
#define MW_CUB_H
#if !defined(MW_PREPROCESS)

#include "../moonwarp.h"

namespace cub {

/* {== Operators, storage, the threads of a warp ======================== */

#define MW_OPERATOR(name, result)                                                                                      \
  struct name {                                                                                                        \
    template <class T> T operator()(const T &a, const T &b) const { return result; }                                   \
  };
MW_OPERATOR(Sum, a + b)
MW_OPERATOR(Difference, a - b)
MW_OPERATOR(Max, a < b ? b : a)
MW_OPERATOR(Min, b < a ? b : a)
#undef MW_OPERATOR

/* Room for values without a constructor, so that it may be shared and part of a union. */
template <class T, int Count> struct mw_room {
  alignas(T) unsigned char mw_bytes[sizeof(T) * Count];
  T &operator[](int i) { return ((T *)mw_bytes)[i]; }
};
struct mw_no_room {};

/* Reduces room[first] ... room[first + count - 1], at most a warp, in the order of __shfl_down_sync by 1, 2, 4, ... */
template <class Room, class Op> MW_FN void mw_tree(Room &room, int first, int count, Op op) {
  for (int distance = 1; distance < count; distance *= 2)
    for (int i = 0; i + distance < count; i += 2 * distance)
      room[first + i] = op(room[first + i], room[first + i + distance]);
}

/* room[i] becomes what is before it, room[count] everything; room[0] stays. */
template <class T, class Room, class Op> MW_FN void mw_scan(Room &room, int first, int count, int total, Op op) {
  T sum = room[first];
  for (int i = 1; i < count; i++) {
    const T next = op(sum, room[first + i]);
    room[first + i] = sum;
    sum = next;
  }
  room[total] = sum;
}

/* ==} */

/* {== Blocks =========================================================== */

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS
};

template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int = 0>
class BlockReduce {
public:
  typedef mw_room<T, X * Y * Z> TempStorage;
  explicit BlockReduce(TempStorage &storage) : room(storage) {}

  /* The result is thread 0's; the others get a part of it. */
  template <class Op> T Reduce(T input, Op op, int valid = X * Y * Z, MW_EXACTLY_HERE) {
    const int rank = (int)mw_thread_rank();
    room[rank] = input;
    __syncthreads(mw_file, mw_line, mw_column);
    if (rank) return input;
    for (int first = 0; first < valid; first += 32) {
      mw_tree(room, first, valid - first < 32 ? valid - first : 32, op);
      if (first) room[0] = op(room[0], room[first]);
    }
    return room[0];
  }
  template <int N, class Op> T Reduce(T (&inputs)[N], Op op, MW_EXACTLY_HERE) {
    T sum = inputs[0];
    for (int i = 1; i < N; i++) sum = op(sum, inputs[i]);
    return Reduce(sum, op, X * Y * Z, mw_file, mw_line, mw_column);
  }
  T Sum(T input, int valid = X * Y * Z, MW_EXACTLY_HERE) {
    return Reduce(input, cub::Sum(), valid, mw_file, mw_line, mw_column);
  }
  template <int N> T Sum(T (&inputs)[N], MW_EXACTLY_HERE) {
    return Reduce(inputs, cub::Sum(), mw_file, mw_line, mw_column);
  }

private:
  TempStorage &room;
};

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int = 0> class BlockScan {
  static const int threads = X * Y * Z;

public:
  typedef mw_room<T, threads + 2> TempStorage;
  explicit BlockScan(TempStorage &storage) : room(storage) {}

#define MW_PLACE      mw_file, mw_line, mw_column
#define MW_ADD        cub::Sum()
#define MW_LIST(...)  __VA_ARGS__
/* A scan of one item per thread, and of several: `front` is what comes before the block. */
#define MW_SCAN(name, Template, parameters, inclusive, op, front, result)                                              \
  template <MW_LIST Template class = void> void name(T input, T &output, MW_LIST parameters MW_EXACTLY_HERE) {         \
    result scan<inclusive>(&input, &output, 1, op, front, MW_PLACE);                                                   \
  }                                                                                                                    \
  template <int N, MW_LIST Template class = void>                                                                      \
  void name(T (&inputs)[N], T (&outputs)[N], MW_LIST parameters MW_EXACTLY_HERE) {                                     \
    result scan<inclusive>(inputs, outputs, N, op, front, MW_PLACE);                                                   \
  }
#define MW_SCANS(name, Template, parameters, inclusive, op)                                                            \
  MW_SCAN(name, Template, parameters, inclusive, op, nothing(), )                                                      \
  MW_SCAN(name, Template, (MW_LIST parameters T & total, ), inclusive, op, nothing(), total =)                         \
  MW_SCAN(name, (MW_LIST Template class Callback, ), (MW_LIST parameters Callback &callback, ), inclusive, op,         \
          (called<Callback>{room, callback, MW_PLACE}), )
  MW_SCANS(InclusiveSum, (), (), true, MW_ADD)
  MW_SCAN(ExclusiveSum, (), (), false, MW_ADD, initial{T()}, )
  MW_SCAN(ExclusiveSum, (), (T & total, ), false, MW_ADD, initial{T()}, total =)
  MW_SCAN(ExclusiveSum, (class Callback, ), (Callback & callback, ), false, MW_ADD,
          (called<Callback>{room, callback, MW_PLACE}), )
  MW_SCANS(InclusiveScan, (class Op, ), (Op op, ), true, op)
  MW_SCANS(ExclusiveScan, (class Op, ), (Op op, ), false, op)
  MW_SCAN(ExclusiveScan, (class Op, ), (T first, Op op, ), false, op, initial{first}, )
  MW_SCAN(ExclusiveScan, (class Op, ), (T first, Op op, T &total, ), false, op, initial{first}, total =)
#undef MW_SCANS
#undef MW_SCAN
#undef MW_ADD

private:
  struct nothing {
    static const bool any = false;
    T operator()(const T &total) const { return total; }
  };
  struct initial {
    static const bool any = true;
    T value;
    T operator()(const T &) const { return value; }
  };
  /* What a callback gives for the block's total: the first warp calls it, and its first lane's result counts. */
  template <class Callback> struct called {
    static const bool any = true;
    TempStorage &room;
    Callback &callback;
    const char *mw_file;
    int mw_line, mw_column;
    T operator()(const T &total) const {
      if (mw_thread_rank() < 32) {
        const T value = callback(total);
        if (mw_thread_rank() == 0) room[threads + 1] = value;
      }
      __syncthreads(MW_PLACE);
      return room[threads + 1];
    }
  };

  /* Returns the block's total, without what is before it. With nothing there, the first item of an exclusive scan
   * stays as it is. */
  template <bool Inclusive, class Op, class Front>
  T scan(const T *inputs, T *outputs, int count, Op op, const Front &front, const char *mw_file, int mw_line,
         int mw_column) {
    const int rank = (int)mw_thread_rank();
    T sum = inputs[0];
    for (int i = 1; i < count; i++) sum = op(sum, inputs[i]);
    room[rank] = sum;
    __syncthreads(MW_PLACE);
    if (rank == 0) mw_scan<T>(room, 0, threads, threads, op);
    __syncthreads(MW_PLACE);
    const T total = room[threads], first = front(total);
    T before = Front::any ? rank ? op(first, room[rank]) : first : room[rank];
    for (int i = 0; i < count; i++) {
      const bool any = Front::any || rank || i;
      const T next = any ? op(before, inputs[i]) : inputs[i];
      if (Inclusive || any) outputs[i] = Inclusive ? next : before;
      before = next;
    }
    return total;
  }
  TempStorage &room;
};

enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};

/* Which item of the block a thread's item i is. */
template <bool Striped, int Threads, int N> MW_FN int mw_item(int i) {
  const int rank = (int)mw_thread_rank();
  return Striped ? i * Threads + rank : rank * N + i;
}

template <class T, int X, int N, BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1, int = 0>
struct BlockLoad {
  typedef mw_no_room TempStorage;
  explicit BlockLoad(TempStorage &) {}
  BlockLoad() {}
  template <class From> void Load(From from, T (&items)[N], int valid = X * Y * Z * N) {
    for (int i = 0; i < N; i++) {
      const int item = mw_item<Algorithm == BLOCK_LOAD_STRIPED, X * Y * Z, N>(i);
      if (item < valid) items[i] = from[item];
    }
  }
  template <class From, class Rest> void Load(From from, T (&items)[N], int valid, Rest rest) {
    for (int i = 0; i < N; i++) items[i] = rest;
    Load(from, items, valid);
  }
};

enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

template <class T, int X, int N, BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1, int = 0>
struct BlockStore {
  typedef mw_no_room TempStorage;
  explicit BlockStore(TempStorage &) {}
  BlockStore() {}
  template <class To> void Store(To to, T (&items)[N], int valid = X * Y * Z * N) {
    for (int i = 0; i < N; i++) {
      const int item = mw_item<Algorithm == BLOCK_STORE_STRIPED, X * Y * Z, N>(i);
      if (item < valid) to[item] = items[i];
    }
  }
};

template <class T, int X, int N, bool = false, int Y = 1, int Z = 1, int = 0> class BlockExchange {
  static const int threads = X * Y * Z;

public:
  typedef mw_room<T, threads * N> TempStorage;
  explicit BlockExchange(TempStorage &storage) : room(storage) {}

  template <class Out> void BlockedToStriped(const T (&inputs)[N], Out (&outputs)[N], MW_EXACTLY_HERE) {
    for (int i = 0; i < N; i++) room[mw_item<false, threads, N>(i)] = inputs[i];
    take<true>(outputs, MW_PLACE);
  }
  template <class Out> void StripedToBlocked(const T (&inputs)[N], Out (&outputs)[N], MW_EXACTLY_HERE) {
    for (int i = 0; i < N; i++) room[mw_item<true, threads, N>(i)] = inputs[i];
    take<false>(outputs, MW_PLACE);
  }
  template <class Out, class Rank>
  void ScatterToBlocked(const T (&inputs)[N], Out (&outputs)[N], Rank (&ranks)[N], MW_EXACTLY_HERE) {
    for (int i = 0; i < N; i++) room[(int)ranks[i]] = inputs[i];
    take<false>(outputs, MW_PLACE);
  }
  template <class Out, class Rank>
  void ScatterToStriped(const T (&inputs)[N], Out (&outputs)[N], Rank (&ranks)[N], MW_EXACTLY_HERE) {
    for (int i = 0; i < N; i++) room[(int)ranks[i]] = inputs[i];
    take<true>(outputs, MW_PLACE);
  }
  template <class Rank> void ScatterToBlocked(T (&items)[N], Rank (&ranks)[N], MW_EXACTLY_HERE) {
    ScatterToBlocked(items, items, ranks, MW_PLACE);
  }
  template <class Rank> void ScatterToStriped(T (&items)[N], Rank (&ranks)[N], MW_EXACTLY_HERE) {
    ScatterToStriped(items, items, ranks, MW_PLACE);
  }

private:
  template <bool Striped, class Out> void take(Out (&outputs)[N], const char *mw_file, int mw_line, int mw_column) {
    __syncthreads(MW_PLACE);
    for (int i = 0; i < N; i++) outputs[i] = room[mw_item<Striped, threads, N>(i)];
  }
  TempStorage &room;
};

template <class T, int X, int Y = 1, int Z = 1, int = 0> class BlockAdjacentDifference {
  static const int threads = X * Y * Z;

public:
  typedef mw_room<T, threads> TempStorage;
  explicit BlockAdjacentDifference(TempStorage &storage) : room(storage) {}

  /* The block's first item keeps its value, or is compared with the last one of the tile before. */
  template <int N, class Out, class Op>
  void SubtractLeft(T (&inputs)[N], Out (&outputs)[N], Op op, MW_EXACTLY_HERE) {
    const int rank = (int)mw_thread_rank();
    share(inputs[N - 1], MW_PLACE);
    T first = inputs[0]; /* not const: the operator may take references */
    for (int i = N - 1; i > 0; i--) outputs[i] = op(inputs[i], inputs[i - 1]);
    outputs[0] = rank ? op(first, room[rank - 1]) : first;
  }
  template <int N, class Out, class Op>
  void SubtractLeft(T (&inputs)[N], Out (&outputs)[N], Op op, T before, MW_EXACTLY_HERE) {
    T first = inputs[0];
    SubtractLeft(inputs, outputs, op, MW_PLACE);
    if (mw_thread_rank() == 0) outputs[0] = op(first, before);
  }
  /* The block's last item keeps its value, or is compared with the first one of the tile after. */
  template <int N, class Out, class Op>
  void SubtractRight(T (&inputs)[N], Out (&outputs)[N], Op op, MW_EXACTLY_HERE) {
    const int rank = (int)mw_thread_rank();
    share(inputs[0], MW_PLACE);
    for (int i = 0; i < N - 1; i++) outputs[i] = op(inputs[i], inputs[i + 1]);
    outputs[N - 1] = rank < threads - 1 ? op(inputs[N - 1], room[rank + 1]) : inputs[N - 1];
  }
  template <int N, class Out, class Op>
  void SubtractRight(T (&inputs)[N], Out (&outputs)[N], Op op, T behind, MW_EXACTLY_HERE) {
    T last = inputs[N - 1];
    SubtractRight(inputs, outputs, op, MW_PLACE);
    if (mw_thread_rank() == threads - 1) outputs[N - 1] = op(last, behind);
  }

private:
  void share(const T &value, const char *mw_file, int mw_line, int mw_column) {
    room[(int)mw_thread_rank()] = value;
    __syncthreads(MW_PLACE);
  }
  TempStorage &room;
};

/* ==} */

/* {== Warps ============================================================ */

/* The calling thread's logical warp of `Threads`. Lanes wait after a collective too, so that its storage may be used
 * again at once, as is done where CUB shuffles. */
template <int Threads> struct mw_part {
  int lane, size;
  unsigned mask;
  mw_part() : lane((int)mw_lane() % Threads) {
    mask = (Threads >= 32 ? 0xffffffffu : (1u << Threads % 32) - 1) << (mw_lane() - lane) & mw_existing_lanes();
    size = __popc((int)mask);
  }
};

template <class T, int Threads = 32, int = 0> class WarpReduce {
public:
  typedef mw_room<T, Threads> TempStorage;
  explicit WarpReduce(TempStorage &storage) : room(storage) {}

  /* The result is the first lane's. */
  template <class Op> T Reduce(T input, Op op, int valid = Threads, MW_HERE) {
    const mw_part<Threads> part;
    room[part.lane] = input;
    __syncwarp(part.mask, mw_file, mw_line);
    if (part.lane == 0) {
      mw_tree(room, 0, valid < part.size ? valid : part.size, op);
      input = room[0];
    }
    __syncwarp(part.mask, mw_file, mw_line);
    return input;
  }
  T Sum(T input, int valid = Threads, MW_HERE) { return Reduce(input, cub::Sum(), valid, mw_file, mw_line); }

private:
  TempStorage &room;
};

template <class T, int Threads = 32, int = 0> class WarpScan {
public:
  typedef mw_room<T, Threads + 1> TempStorage;
  explicit WarpScan(TempStorage &storage) : room(storage) {}

  void InclusiveSum(T input, T &output, MW_HERE) { InclusiveScan(input, output, cub::Sum(), mw_file, mw_line); }
  void InclusiveSum(T input, T &output, T &total, MW_HERE) {
    InclusiveScan(input, output, cub::Sum(), total, mw_file, mw_line);
  }
  void ExclusiveSum(T input, T &output, MW_HERE) { ExclusiveScan(input, output, T(), cub::Sum(), mw_file, mw_line); }
  void ExclusiveSum(T input, T &output, T &total, MW_HERE) {
    ExclusiveScan(input, output, T(), cub::Sum(), total, mw_file, mw_line);
  }
  template <class Op> void InclusiveScan(T input, T &output, Op op, MW_HERE) {
    T total = input;
    InclusiveScan(input, output, op, total, mw_file, mw_line);
  }
  template <class Op> void InclusiveScan(T input, T &output, Op op, T &total, MW_HERE) {
    const T before = scan(input, op, total, mw_file, mw_line);
    output = mw_lane() % Threads ? op(before, input) : input;
  }
  template <class Op> void ExclusiveScan(T input, T &output, T initial, Op op, MW_HERE) {
    T total = input;
    ExclusiveScan(input, output, initial, op, total, mw_file, mw_line);
  }
  template <class Op> void ExclusiveScan(T input, T &output, T initial, Op op, T &total, MW_HERE) {
    const T before = scan(input, op, total, mw_file, mw_line);
    output = mw_lane() % Threads ? op(initial, before) : initial;
  }
  template <class Op> void ExclusiveScan(T input, T &output, Op op, MW_HERE) {
    T total = input;
    const T before = scan(input, op, total, mw_file, mw_line);
    if (mw_lane() % Threads) output = before;
  }

private:
  template <class Op> T scan(T input, Op op, T &total, const char *mw_file, int mw_line) {
    const mw_part<Threads> part;
    room[part.lane] = input;
    __syncwarp(part.mask, mw_file, mw_line);
    if (part.lane == 0) mw_scan<T>(room, 0, part.size, Threads, op);
    __syncwarp(part.mask, mw_file, mw_line);
    const T before = room[part.lane];
    total = room[Threads];
    __syncwarp(part.mask, mw_file, mw_line);
    return before;
  }
  TempStorage &room;
};
#undef MW_PLACE
#undef MW_LIST

/* ==} */

} // namespace cub

#endif
#endif
