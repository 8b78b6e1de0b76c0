/* SPDX-License-Identifier: MIT
 *
 * What the split form of a kernel is made of: a function that runs a whole block, in which each stretch between two
 * barriers or warp operations is a loop over the threads. Included by units of the FAST flavor. The generator is
 * core/backend/cpu/split/split.c; names that begin with mw_ do not meet the user's.
 *
 * Threads that do not take part in a warp operation leave no value: a shuffle reads 0 from them, as on an H200 (CUDA
 * leaves it undefined), votes do not count them. */
#ifndef MW_SPLIT_H
#define MW_SPLIT_H

#pragma GCC system_header

#ifndef MW_OPERATORS
#define MW_OPERATORS 0
#endif

#define MW_SPLIT        static inline MW_INLINE
#define MW_STACK_SHARED __attribute__((aligned(64)))
/* Shared memory that outlives the block of text it is declared in; and what refers to that of a helper. */
#define MW_KEPT static __thread __attribute__((aligned(64)))
#define mw_kept
#define mw_grid_sync() mw_runtime_now->grid_barrier(__FILE__, __LINE__)

/* Which element of a variable's array is the thread's. Where that is only needed under a condition, g++ takes an int for
 * an index that may wrap, and gathers; clang++ does not, and its vectors of longs are half as wide. Measured: 7 times as
 * fast on potential_shared with g++, 1.2 times as long on scan_tiles with clang++. */
#if defined(__clang__)
typedef int mw_number;
#define MW_SEEMS_OWN
#else
typedef long mw_number;
#define MW_SEEMS_OWN +(mw_e & mw_none)
#endif
/* 0, of which the compiler knows nothing (split/hoist.c). */
MW_HELPER mw_number mw_nothing() {
  mw_number none = 0;
  __asm__("" : "+r"(none));
  return none;
}

/* Before everything: the block's coordinates as locals, and thread 0's for the sake of types. */
#define MW_BLOCK                                                                                                       \
  const uint3 blockIdx = ::blockIdx, threadIdx = {0, 0, 0};                                                            \
  const dim3 blockDim = ::blockDim, gridDim = ::gridDim;                                                               \
  const int mw_nx = (int)blockDim.x, mw_ny = (int)blockDim.y, mw_nz = (int)blockDim.z, mw_n = mw_nx * mw_ny * mw_nz;  \
  const int mw_t = 0, mw_from = 0, mw_to = mw_nx;                                                                      \
  const mw_number mw_none = mw_nothing();                                                                              \
  (void)blockIdx, (void)threadIdx, (void)gridDim, (void)mw_n, (void)mw_t, (void)mw_from, (void)mw_to, (void)mw_none;

/* The same for a row of threads, mw_from to mw_to, of a kernel without barriers. */
#define MW_ROW_PARAMETERS                                                                                              \
  const unsigned mw_z, const unsigned mw_y, const int mw_from, const int mw_to, const uint3 blockIdx,                  \
      const dim3 blockDim, const dim3 gridDim
#define MW_ROW_BLOCK                                                                                                   \
  const uint3 threadIdx = {(unsigned)mw_from, mw_y, mw_z};                                                             \
  const int mw_n = mw_to - mw_from, mw_t = 0;                                                                          \
  const mw_number mw_none = mw_nothing();                                                                              \
  (void)blockIdx, (void)threadIdx, (void)gridDim, (void)mw_n, (void)mw_t, (void)mw_none;
#define MW_ROW_THREAD                                                                                                  \
  const int mw_t = mw_x - mw_from;                                                                                     \
  const mw_number mw_e = (mw_number)mw_x - mw_from;                                                                    \
  const uint3 threadIdx = {(unsigned)mw_x, mw_y, mw_z};                                                                \
  (void)mw_t, (void)mw_e, (void)threadIdx;

#define MW_THREADS                                                                                                     \
  for (int mw_z = 0; mw_z < mw_nz; mw_z++)                                                                             \
    for (int mw_y = 0; mw_y < mw_ny; mw_y++)                                                                           \
      MW_VECTOR_LOOP                                                                                                   \
      for (int mw_x = 0; mw_x < mw_nx; mw_x++)

/* The same in two halves, for regions that treat whole rows of threads; the two ends of a row; and are the indices of
 * the grid, times `scale`, far from overflow? */
#define MW_ROWS                                                                                                        \
  for (int mw_z = 0; mw_z < mw_nz; mw_z++)                                                                             \
    for (int mw_y = 0; mw_y < mw_ny; mw_y++)
#define MW_ROW MW_VECTOR_LOOP for (int mw_x = mw_from; mw_x < mw_to; mw_x++)
#define MW_ENDS                                                                                                        \
  for (int mw_x = mw_from; mw_full && mw_x < mw_to; mw_x += mw_to - mw_from > 1 ? mw_to - mw_from - 1 : 1)
#define MW_LINEAR(scale)                                                                                               \
  ((mw_u64)gridDim.x * blockDim.x * (scale) < 1u << 30 && (mw_u64)gridDim.y * blockDim.y * (scale) < 1u << 30 &&       \
   (mw_u64)gridDim.z * blockDim.z * (scale) < 1u << 30)

#define MW_THREAD                                                                                                      \
  const int mw_t = (mw_z * mw_ny + mw_y) * mw_nx + mw_x;                                                              \
  const mw_number mw_e = (mw_number)(mw_z * mw_ny + mw_y) * mw_nx + mw_x;                                              \
  const uint3 threadIdx = {(unsigned)mw_x, (unsigned)mw_y, (unsigned)mw_z};                                            \
  (void)mw_t, (void)mw_e, (void)threadIdx;

/* {== Types =========================================================== */

template <class T> struct mw_plain_of { typedef T type; };
template <class T> struct mw_plain_of<T &> : mw_plain_of<T> {};
template <class T> struct mw_plain_of<T &&> : mw_plain_of<T> {};
template <class T> struct mw_plain_of<const T> : mw_plain_of<T> {};
template <class T> struct mw_plain_of<volatile T> : mw_plain_of<T> {};
template <class T> struct mw_plain_of<const volatile T> : mw_plain_of<T> {};
template <class T, size_t N> struct mw_plain_of<T[N]> { typedef T *type; };
template <class T, size_t N> struct mw_plain_of<const T[N]> { typedef const T *type; };
template <class T> using mw_plain = typename mw_plain_of<T>::type;
template <class T> using mw_word = typename mw_word_of<mw_plain<T>>::type;

/* Of what is computed once for all threads, or again: types whose operators, conversions and constructors are the
 * language's own, or the shim's. A class of the program's may read threadIdx in any of them. Where the program declares
 * operators (MW_OPERATORS), they may be of enumerations and CUDA's vectors. Half types are classes. */
template <class T> struct mw_knows {
  static constexpr bool value = !__is_class(T) && !__is_union(T) && !(MW_OPERATORS && __is_enum(T));
};
template <class T> struct mw_knows<const T> : mw_knows<T> {};
template <class T> struct mw_knows<volatile T> : mw_knows<T> {};
template <class T> struct mw_knows<const volatile T> : mw_knows<T> {};
template <class T> struct mw_knows<T &> : mw_knows<T> {};
template <class T> struct mw_knows<T &&> { static constexpr bool value = false; };
template <class T> struct mw_knows_type : mw_knows<T> {};
template <class T> struct mw_knows_type<T &> { static constexpr bool value = false; };
template <class T, size_t N> struct mw_knows<T[N]> { static constexpr bool value = true; };
template <class T> struct mw_knows<T[]> { static constexpr bool value = true; };
#define MW_KNOWS(type)                                                                                                 \
  template <> struct mw_knows<type> { static constexpr bool value = !MW_OPERATORS; };
#define MW_KNOWS_ALL(stem) MW_KNOWS(stem##1) MW_KNOWS(stem##2) MW_KNOWS(stem##3) MW_KNOWS(stem##4)
MW_KNOWS_ALL(char) MW_KNOWS_ALL(uchar) MW_KNOWS_ALL(short) MW_KNOWS_ALL(ushort) MW_KNOWS_ALL(int) MW_KNOWS_ALL(uint)
MW_KNOWS_ALL(long) MW_KNOWS_ALL(ulong) MW_KNOWS_ALL(longlong) MW_KNOWS_ALL(ulonglong) MW_KNOWS_ALL(float)
MW_KNOWS_ALL(double) MW_KNOWS(dim3)
#define MW_KNOWN(...)      static_assert(mw_knows<decltype((__VA_ARGS__))>::value, "'" #__VA_ARGS__ "' is of a class")
#define MW_KNOWN_TYPE(...) static_assert(mw_knows_type<__VA_ARGS__>::value, "'" #__VA_ARGS__ "' is a class")

/* The arguments of a helper's template header, as the compiler deduced them. */
template <class T> struct mw_one { typedef T type; };
template <class T, T V> struct mw_constant {
  static constexpr auto value = V;
};
template <int I, class T, class... R> struct mw_pick { typedef typename mw_pick<I - 1, R...>::type type; };
template <class T, class... R> struct mw_pick<0, T, R...> { typedef T type; };
template <class... T> struct mw_pack {
  template <int I> using at = typename mw_pick<I, T...>::type;
};

/* As many bytes as the array has elements. */
template <class T, size_t N> char (&mw_elements(const T (&)[N]))[N];

/* The I-th of what auto &[a, b] = *x; names. */
#if __cplusplus >= 201703L
template <int I, class A, class... R> MW_HELPER auto *mw_nth(A &a, R &...rest) {
  if constexpr (I == 0) return __builtin_addressof(a);
  else return mw_nth<I - 1>(rest...);
}
#define MW_BOUND(count, ...)                                                                                           \
  template <int I, class T> MW_HELPER auto *mw_bound##count(T *x) {                                                    \
    auto &[__VA_ARGS__] = *x;                                                                                          \
    return mw_nth<I>(__VA_ARGS__);                                                                                     \
  }
MW_BOUND(1, a) MW_BOUND(2, a, b) MW_BOUND(3, a, b, c) MW_BOUND(4, a, b, c, d)
#endif

/* x, of a type that is known only when the template of the block is made: what is not called need not compile. */
template <class Any, class T> T &&mw_later(T &&x);

/* ==} */

/* {== Storage with one element per thread =============================== */

/* Outside of thread loops coordinates are the first thread's. */
template <class T> MW_HELPER T mw_first(T value) { return value; }

/* Storage only: each thread constructs its element where the declaration stands. */
template <class T, int N> struct __attribute__((aligned(64))) mw_private {
  static_assert(sizeof(T) <= 2048, "a variable that lives across barriers is too large for the split form");
  union {
    T at[N];
  };
  char apart[64]; /* so that arrays of 4 KiB do not fall on the same cache sets */
  MW_INLINE mw_private() {}
  MW_INLINE ~mw_private() {}
  MW_INLINE void clear(int n) { __builtin_memset((void *)at, 0, n * sizeof(T)); }
};

template <class T, class From> MW_HELPER void mw_assign(T &to, const From &from) {
  static_assert(sizeof(T) == sizeof(From), "");
  __builtin_memcpy((void *)__builtin_addressof(to), (const void *)__builtin_addressof(from), sizeof(T));
}

struct mw_here {};
inline MW_INLINE void *operator new(size_t, void *at, mw_here) noexcept { return at; }
template <class T> MW_HELPER void *mw_at(T &x) { return (void *)__builtin_addressof(x); }

/* What a helper returns: kept in a variable, which is made where the helper returns, and read as a value. */
template <class T> struct mw_result {
  static_assert(__is_trivially_copyable(T), "a helper returns a class that is not copied byte by byte");
  union {
    T at;
  };
  MW_INLINE mw_result() {}
  MW_INLINE void operator=(const T &from) { new (mw_at(at), mw_here()) T(from); }
};
template <class T, bool = __is_class(T) || __is_union(T)> struct mw_result_pick { typedef T type; };
template <class T> struct mw_result_pick<T, true> { typedef mw_result<T> type; };
template <class T> using mw_result_of = typename mw_result_pick<T>::type;
template <class T> MW_HELPER T mw_given(const T &x) { return x; }
template <class T> MW_HELPER T mw_given(const mw_result<T> &x) { return x.at; }

/* mw_start<T>::plain(x) is what T x; does; of(x) = value, of a scalar or a vector, what T x = value; does, make that
 * of any type by a function that returns the value, so that nothing is copied; and copy what an array's initialiser
 * does. Kernel parameters are destroyed by the host alone. */
#define MW_LASTS(x) static_assert(__has_trivial_destructor(mw_plain<decltype(x)>), "'" #x "' has a destructor")
template <class T> struct mw_lasting {
  static_assert(__has_trivial_destructor(T), "a variable that lives across barriers has a destructor");
  static MW_INLINE T &of(T &x) { return x; }
  template <class F> static MW_INLINE void make(T &x, const F &value) { new (mw_at(x), mw_here()) T(value()); }
  static MW_INLINE void called() {}
  static MW_INLINE void listed() {
    static_assert(__is_trivially_constructible(T) || !__is_aggregate(T), "a member may keep a reference to what is listed");
  }
};
template <class T, size_t N> struct mw_lasting<T[N]> {
  static_assert(__has_trivial_destructor(T), "a variable that lives across barriers has a destructor");
  static MW_INLINE void copy(T (&to)[N], const T (&from)[N]) {
    static_assert(!__is_class(T) || (__is_trivial(T) && __is_aggregate(T)), "an array that lives across barriers cannot be copied byte by byte");
    mw_assign(to, from);
  }
};
template <class T, bool = __is_trivially_constructible(T)> struct mw_start : mw_lasting<T> {
  static MW_INLINE void plain(T &) {}
};
template <class T> struct mw_start<T, false> : mw_lasting<T> {
  static MW_INLINE void plain(T &x) { new (mw_at(x), mw_here()) T; }
};
template <class T, size_t N> struct mw_start<T[N], false> : mw_lasting<T[N]> {
  static MW_INLINE void plain(T (&x)[N]) {
    for (T &element : x) mw_start<T>::plain(element);
  }
};

template <int N> struct __attribute__((aligned(64))) mw_mask {
  unsigned char at[N];
  char apart[64];
  MW_INLINE void clear(int n) { __builtin_memset(at, 0, n); }
  MW_INLINE void fill(int n) { __builtin_memset(at, 1, n); }
  MW_INLINE bool some(unsigned char value, int n) const {
    unsigned found = 0;
    for (int t = 0; t < n; t++) found |= at[t] == value;
    return found;
  }
  MW_INLINE bool none(int n) const {
    unsigned found = 0;
    for (int t = 0; t < n; t++) found |= at[t];
    return !found;
  }
};

/* ==} */

/* {== Warp operations ================================================= */

/* Not a branch for each thread, which would keep the loop over them from becoming vectors: it is judged at the end. */
struct mw_masks {
  unsigned wrong = 0;
  MW_INLINE void operator|=(unsigned more) { wrong |= more; }
  MW_INLINE ~mw_masks() {
    if (__builtin_expect(wrong != 0, 0))
      mw_runtime_now->fail("the mask of a warp operation does not name the calling lane", nullptr, 0);
  }
};

/* Is thread t not in the mask? */
MW_HELPER unsigned mw_lacks(unsigned mask, int t) { return ~mask >> (t & 31) & 1; }

/* The lanes of t's tile of cooperative groups. */
MW_HELPER unsigned mw_tile_lanes(int t, unsigned size) {
  return (size < 32 ? (1u << size) - 1 : ~0u) << (t & 31 & ~(size - 1));
}

/* Element t is at[t + 32]: a shuffle may read past both ends of the block. */
template <int N, class T> struct __attribute__((aligned(64))) mw_shuffle {
  static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
  T at[N + 32 + 64];
  MW_INLINE void clear(int n) { __builtin_memset((void *)at, 0, (n + 96) * sizeof(T)); }
  /* The lanes that the last warp does not have. */
  MW_INLINE void end(int n) {
    if (__builtin_expect(n & 31, 0)) __builtin_memset((void *)(at + 32 + n), 0, (32 - (n & 31)) * sizeof(T));
  }
};

template <class X> MW_HELPER auto mw_get_shfl_down(const X &x, int t, int, unsigned delta, int width = 32) {
  const int by = (int)(delta & 31);
  const auto own = x.at[t + 32], other = x.at[t + 32 + by];
  return (t & (width - 1)) + by < width ? other : own;
}
template <class X> MW_HELPER auto mw_get_shfl_up(const X &x, int t, int, unsigned delta, int width = 32) {
  const int by = (int)(delta & 31);
  const auto own = x.at[t + 32], other = x.at[t + 32 - by];
  return (t & (width - 1)) >= by ? other : own;
}
template <class X> MW_HELPER auto mw_get_shfl(const X &x, int t, int, int lane, int width = 32) {
  return x.at[(t & ~(width - 1)) + (lane & (width - 1)) + 32];
}
template <class X> MW_HELPER auto mw_get_shfl_xor(const X &x, int t, int, int mask, int width = 32) {
  const int lane = t & 31, from = lane ^ (mask & 31);
  return x.at[(t & ~31) + (from <= (lane | (width - 1)) ? from : lane) + 32];
}

/* The same where the mask may leave lanes out: those give 0. */
template <class X> MW_HELPER auto mw_masked(const X &x, unsigned mask, int source) {
  auto value = x.at[source + 32];
  if (!(mask >> (source & 31) & 1)) __builtin_memset((void *)&value, 0, sizeof value);
  return value;
}
template <class X> MW_HELPER auto mw_masked_shfl_down(const X &x, int t, int, unsigned mask, unsigned delta, int width = 32) {
  const int by = (int)(delta & 31);
  return mw_masked(x, mask, (t & (width - 1)) + by < width ? t + by : t);
}
template <class X> MW_HELPER auto mw_masked_shfl_up(const X &x, int t, int, unsigned mask, unsigned delta, int width = 32) {
  const int by = (int)(delta & 31);
  return mw_masked(x, mask, (t & (width - 1)) >= by ? t - by : t);
}
template <class X> MW_HELPER auto mw_masked_shfl(const X &x, int t, int, unsigned mask, int lane, int width = 32) {
  return mw_masked(x, mask, (t & ~(width - 1)) + (lane & (width - 1)));
}
template <class X> MW_HELPER auto mw_masked_shfl_xor(const X &x, int t, int, unsigned mask, int bits, int width = 32) {
  const int lane = t & 31, from = lane ^ (bits & 31);
  return mw_masked(x, mask, (t & ~31) + (from <= (lane | (width - 1)) ? from : lane));
}

/* Two bits per thread: does it take part, and what it says. */
template <int N> struct __attribute__((aligned(64))) mw_votes {
  unsigned char at[N + 32];
  unsigned yes[N / 32 + 1], here[N / 32 + 1];
  MW_INLINE void clear(int n) { __builtin_memset(at, 0, (n + 31) & ~31); }
  MW_INLINE void set(int t, bool vote) { at[t] = 2 | vote; }
  MW_INLINE void collect(int n) {
    for (int w = 0; w * 32 < n; w++) {
      unsigned y = 0, h = 0;
      for (int l = 0; l < 32; l++) {
        y |= (unsigned)(at[w * 32 + l] & 1) << l;
        h |= (unsigned)(at[w * 32 + l] >> 1) << l;
      }
      yes[w] = y, here[w] = h;
    }
  }
  MW_INLINE int count(int n) const {
    int sum = 0;
    for (int t = 0; t < n; t++) sum += at[t] & 1;
    return sum;
  }
  MW_INLINE int any(int n) const { return count(n) != 0; }
  MW_INLINE int all(int n) const {
    int no = 0;
    for (int t = 0; t < n; t++) no += at[t] == 2;
    return no == 0;
  }
};

template <class X> MW_HELPER unsigned mw_get_ballot(const X &x, int t, int, unsigned mask) { return x.yes[t / 32] & mask; }
template <class X> MW_HELPER unsigned mw_get_activemask(const X &x, int t, int) { return x.here[t / 32]; }
template <class X> MW_HELPER int mw_get_any(const X &x, int t, int, unsigned mask) { return (x.yes[t / 32] & mask) != 0; }
template <class X> MW_HELPER int mw_get_all(const X &x, int t, int, unsigned mask) {
  return (x.yes[t / 32] & mask) == (x.here[t / 32] & mask);
}

template <int N, class T> struct __attribute__((aligned(64))) mw_values {
  T at[N + 32];
  mw_votes<N> votes;
  MW_INLINE void clear(int n) { votes.clear(n); }
  MW_INLINE void set(int t, T value) { at[t] = value, votes.set(t, true); }
  MW_INLINE void collect(int n) { votes.collect(n); }
};

/* The lanes of t's warp that are in the mask and take part. */
template <class X> MW_HELPER unsigned mw_lanes_of(const X &x, int t, unsigned mask) { return x.votes.here[t / 32] & mask; }

template <class X> MW_HELPER unsigned mw_get_match_any(const X &x, int t, int, unsigned mask) {
  unsigned same = 0, lanes = mw_lanes_of(x, t, mask);
  for (int l = 0; l < 32; l++)
    same |= (unsigned)((lanes >> l & 1) && !__builtin_memcmp(&x.at[(t & ~31) + l], &x.at[t], sizeof x.at[t])) << l;
  return same;
}
template <class X> MW_HELPER unsigned mw_get_match_all(const X &x, int t, int n, unsigned mask, int *all) {
  const unsigned lanes = mw_lanes_of(x, t, mask);
  *all = mw_get_match_any(x, t, n, mask) == lanes;
  return *all ? lanes : 0;
}

#define MW_GET_REDUCE(name, T, expression)                                                                             \
  template <class X> MW_HELPER auto mw_get_reduce_##name(const X &x, int t, int, unsigned mask) {                      \
    const unsigned lanes = mw_lanes_of(x, t, mask);                                                                    \
    T a = x.at[t];                                                                                                     \
    for (int l = 0; l < 32; l++)                                                                                       \
      if ((lanes >> l & 1) && l != (t & 31)) {                                                                         \
        const auto b = x.at[(t & ~31) + l];                                                                            \
        a = expression;                                                                                                \
      }                                                                                                                \
    return a;                                                                                                          \
  }
MW_GET_REDUCE(add, auto, a + b)
MW_GET_REDUCE(min, auto, a < b ? a : b)
MW_GET_REDUCE(max, auto, a > b ? a : b)
MW_GET_REDUCE(and, unsigned, a & b)
MW_GET_REDUCE(or, unsigned, a | b)
MW_GET_REDUCE(xor, unsigned, a ^ b)

/* ==} */

/* The launcher: F is the kernel's own type, K runs a block of it. */
template <class F, class S, S K> struct mw_split_run;
template <class... A, class S, S K> struct mw_split_run<void (*)(A...), S, K> {
  template <int... I>
  static MW_INLINE inline void blocks(const mw_grid *grid, mw_worker *worker, mw_u64 first, mw_u64 last, mw_indices<I...>) {
    mw_worker_enter(worker);
    blockDim = dim3(grid->block);
    gridDim = dim3(grid->grid);
    uint3 at = mw_block_at(grid, first);
    for (mw_u64 b = first; b < last; b++, mw_block_next(grid, at)) {
      mw_block_note(worker, b, 1);
      blockIdx = at;
      K(mw_argument<A, mw_offset<void (*)(A...), I>::at>(grid)...);
    }
  }
  static void run(const mw_grid *grid, mw_worker *worker, mw_u64 first, mw_u64 last) {
    blocks(grid, worker, first, last, mw_indices_to<sizeof...(A)>());
  }
};

#endif
