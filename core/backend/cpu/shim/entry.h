/* SPDX-License-Identifier: MIT
 *
 * What the generated text of a unit is made of: what CUDA's qualifiers become, descriptions of kernel parameters, the
 * launchers, and the table that the host reads. Included by every unit after moonwarp.h. The generator is
 * core/backend/cpu/translate/emit.c; the layout of the table is ../abi.h.
 *
 * Text from the user's own headers is part of the unit already; text of shim headers is included again, see
 * core/source/lexer.h. While the user's source is preprocessed MW_PREPROCESS is defined, and moonwarp.h is not
 * included. */
#ifndef MW_ENTRY_H
#define MW_ENTRY_H

#pragma GCC system_header

/* Around text that is made of the user's: no warnings. */
#if defined(__clang__)
#define MW_UNREAD_BEGIN _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Weverything\"")
#define MW_UNREAD_END   _Pragma("clang diagnostic pop")
#else
#define MW_UNREAD_BEGIN \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wunused-variable\"") \
      _Pragma("GCC diagnostic ignored \"-Wunused-value\"")
#define MW_UNREAD_END _Pragma("GCC diagnostic pop")
#endif

#define MW_INLINE __attribute__((always_inline))

#if defined(MW_FAST)
#define MW_KERNEL      static inline MW_INLINE
#define MW_COORDINATES const uint3 threadIdx, const uint3 blockIdx, const dim3 blockDim, const dim3 gridDim
#elif defined(MW_CHECK)
#define MW_KERNEL static __attribute__((noinline)) /* into what is not checked */
#else
#define MW_KERNEL static
#endif
#define MW_HELPER    static inline MW_INLINE
#define MW_RECURSIVE static inline
/* Of functions that classes or bodies declare, too. */
#define MW_EXTERN_HELPER inline MW_INLINE
#if defined(MW_CHECK)
#define MW_EXTERN_KERNEL __attribute__((noinline))
#else
#define MW_EXTERN_KERNEL
#endif
#define MW_MEMBER    inline /* explicit specialisations, and members defined outside of their class */
#define MW_SHARED    static __thread /* of a form that placing does not understand */
/* Device variables with an initialiser, which must be a constant, and others: of a class whose constructor does nothing
 * (as in CUDA). MW_STRICT: the unit would run code while it loads, and the compiler shall say where. */
#if defined(__clang__)
#define MW_INITIALISED static __attribute__((require_constant_initialization, unused))
#else
#define MW_INITIALISED static __constinit __attribute__((unused))
#endif
#if defined(MW_STRICT)
#define MW_UNINITIALISED MW_INITIALISED
#else
#define MW_UNINITIALISED static __attribute__((unused))
#endif

/* Loops over threads. The free one says that nothing depends on anything across threads, which CUDA promises; both
 * vectorisers take it as a promise about two accesses of one thread as well, where those lie in interleaved records
 * (clang++ 14, g++ 12). Kernels that depend on it (split/dependence.c) have the ordered one: g++ proves what it needs,
 * clang++ forms no groups of accesses in such a unit (compiler.c: its own proof is wrong, too, if one of them has a
 * condition). */
#if defined(__clang__)
#define MW_FREE_LOOP    _Pragma("clang loop vectorize(assume_safety) interleave_count(2)")
#define MW_ORDERED_LOOP MW_FREE_LOOP
#else
#define MW_FREE_LOOP _Pragma("GCC ivdep")
#define MW_ORDERED_LOOP
#endif
#define MW_VECTOR_LOOP MW_FREE_LOOP
/* Of a kernel whose functions read ::threadIdx again: it is one place for all threads, so nothing is promised. */
#define MW_INDEX_LOOP

typedef unsigned long long mw_u64;

#if defined(MW_FAST)
static __thread mw_worker *mw_worker_now;
MW_HELPER mw_worker *mw_worker_of() { return mw_worker_now; }
/* The first access of a thread to a unit's thread-local variables allocates them, and clang++ takes it that vector
 * registers 16 to 31 stay as they are (LLVM's TLS_addr64): so it is a call, before a kernel holds anything in one. */
static __attribute__((noinline)) void mw_worker_enter(mw_worker *worker) {
  mw_worker_now = worker;
  __asm__ volatile("" : : "r"(&mw_worker_now)); /* also where nothing reads it */
}
#elif defined(MW_CHECK)
MW_HELPER MW_UNRULED mw_worker *mw_worker_of() { return mw_quiet(mw_quiet(mw_self)->worker); }
#else
MW_HELPER mw_worker *mw_worker_of() { return mw_self->worker; }
#endif
#if !defined(MW_CHECK)
template <class T> MW_HELPER T mw_quiet(const T &from) { return from; }
#endif
MW_HELPER MW_UNRULED void *mw_dynamic_shared() { return mw_quiet(mw_worker_of()->dynamic_shared); }

/* __shared__ T a[32], b; becomes
 *   typedef T mw_type_a[32], mw_type_b; struct MW_PLACED mw_place_a { mw_type_a mw_placed_a; mw_type_b mw_placed_b; };
 *   auto &a = mw_placed<mw_place_a>().mw_placed_a; auto &b = ...
 * A place is found for each such struct when the unit is bound, the same in what each worker has between guards. Each
 * is listed in a section that bind walks, because a unit runs no code while it loads (translate/linkage.c). (The places
 * themselves cannot be in a section: g++ leaves out variables of templates.) */
template <class T> struct mw_bare_of { typedef T type; };
template <class T> struct mw_bare_of<T &> { typedef T type; };
template <class T> using mw_bare = typename mw_bare_of<T>::type;
#define MW_PLACED
#define MW_PLACED_KEPT __attribute__((aligned(64)))
static mw_shared_layout mw_shared_all = {0, 16, nullptr, 0};
struct mw_shared_place {
  mw_u64 bytes, align, offset;
  void (*list)(); /* never called: keeps the entry of the section */
#if defined(MW_CHECK)
  void (*name)(mw_u64 offset);
#endif
};
extern "C" __attribute__((weak, visibility("hidden"))) mw_shared_place *__start_mw_places[], *__stop_mw_places[];
#if defined(MW_CHECK)
/* Then each such structure has a function that lists its members: static void mw_named(offset). */
template <class T> struct mw_extent_of {
  static constexpr unsigned element = sizeof(T);
  static MW_UNCHECKED void put(unsigned *, unsigned) {}
};
template <class T, unsigned long N> struct mw_extent_of<T[N]> {
  static constexpr unsigned element = mw_extent_of<T>::element;
  static MW_UNCHECKED void put(unsigned *dims, unsigned left) {
    if (!left) return;
    *dims = N;
    mw_extent_of<T>::put(dims + 1, left - 1);
  }
};
static mw_shared_variable mw_shared_variables[256];
template <class Place, class T> static MW_UNCHECKED void mw_name(mw_u64 offset, const char *name, T Place::*member) {
  if (mw_shared_all.nvariables == sizeof mw_shared_variables / sizeof *mw_shared_variables) return;
  mw_shared_variable *variable = &mw_shared_variables[mw_shared_all.nvariables++];
  union { /* by the ABI the bytes before the member */
    T Place::*member;
    long bytes;
  } at = {member};
  *variable = {name, offset + (mw_u64)at.bytes, sizeof(T), mw_extent_of<T>::element, {}};
  mw_extent_of<T>::put(variable->dims, 4);
  mw_shared_all.variables = mw_shared_variables;
}
#endif
/* After each there is room in check mode, where no access is right. */
#if defined(MW_CHECK)
static mw_u64 mw_gap;
#else
static constexpr mw_u64 mw_gap = 0;
#endif
static MW_UNCHECKED void mw_place(mw_shared_place *place) {
  if (place->align < 16 && place->bytes >= 16) place->align = 16; /* arrays are read as float4 by those who know it */
  place->offset = (mw_shared_all.bytes + mw_gap + place->align - 1) / place->align * place->align;
  mw_shared_all.bytes = place->offset + place->bytes;
  if (mw_shared_all.align < place->align) mw_shared_all.align = place->align;
#if defined(MW_CHECK)
  mw_gap = place->bytes < 128 ? 128 : place->bytes > 4096 ? 4096 : place->bytes;
  place->name(place->offset);
#endif
}
namespace { /* not shared between units */
template <class Place> struct mw_placing {
  static void list() { __asm__(".pushsection mw_places,\"aw\"\n.quad %c0\n.popsection" : : "i"(&place)); }
  static mw_shared_place place;
};
#if defined(MW_CHECK)
#define MW_NAMED , Place::mw_named
#else
#define MW_NAMED
#endif
template <class Place> mw_shared_place mw_placing<Place>::place = {sizeof(Place), alignof(Place), 0, list MW_NAMED};
} // namespace
template <class Place> MW_HELPER MW_UNRULED Place &mw_placed() {
  return *(Place *)(mw_quiet(mw_worker_of()->static_shared) + mw_quiet(mw_placing<Place>::place.offset));
}

/* {== Parameters ====================================================== */

/* What mw_dtype (core/base/dtype.h) calls the type, and how many of it a vector type holds. */
enum { MW_DTYPE_VOID = 13, MW_DTYPE_POINTER, MW_DTYPE_STRUCT, MW_DTYPE_TEXTURE, MW_DTYPE_SURFACE };

template <class T> struct mw_type {
  static constexpr int dtype = MW_DTYPE_STRUCT, lanes = 1;
};
template <class T> struct mw_type<const T> : mw_type<T> {};
template <class T> struct mw_type<volatile T> : mw_type<T> {};
template <class T> struct mw_type<const volatile T> : mw_type<T> {};
template <class T> struct mw_type<T *> {
  static constexpr int dtype = MW_DTYPE_POINTER, lanes = 1;
};

/* Defined by the fp16 and bf16 headers, which a unit may or may not include. */
template <class> struct mw_small;
template <class> struct mw_small2;
struct mw_binary16;
struct mw_bfloat16;
/* Likewise by the header of textures. */
struct cudaTextureObject_t;
struct cudaSurfaceObject_t;

#define MW_TYPE(T, D, L)                                                                                               \
  template <> struct mw_type<T> {                                                                                      \
    static constexpr int dtype = D, lanes = L;                                                                         \
  };
#define MW_TYPES(T, N, D) MW_TYPE(T, D, 1) MW_TYPE(N##1, D, 1) MW_TYPE(N##2, D, 2) MW_TYPE(N##3, D, 3) MW_TYPE(N##4, D, 4)
MW_TYPE(void, MW_DTYPE_VOID, 1)
MW_TYPE(bool, 12, 1)
MW_TYPE(char, 4, 1)
MW_TYPES(float, float, 2)
MW_TYPES(double, double, 3)
MW_TYPES(signed char, char, 4)
MW_TYPES(short, short, 5)
MW_TYPES(int, int, 6)
MW_TYPES(long, long, 7)
MW_TYPES(long long, longlong, 7)
MW_TYPES(unsigned char, uchar, 8)
MW_TYPES(unsigned short, ushort, 9)
MW_TYPES(unsigned, uint, 10)
MW_TYPES(unsigned long, ulong, 11)
MW_TYPES(unsigned long long, ulonglong, 11)
MW_TYPE(cudaTextureObject_t, MW_DTYPE_TEXTURE, 1)
MW_TYPE(cudaSurfaceObject_t, MW_DTYPE_SURFACE, 1)
MW_TYPE(mw_small<mw_binary16>, 0, 1)
MW_TYPE(mw_small2<mw_binary16>, 0, 2)
MW_TYPE(mw_small<mw_bfloat16>, 1, 1)
MW_TYPE(mw_small2<mw_bfloat16>, 1, 2)

template <class T> struct mw_pointee {
  typedef T type;
  static constexpr bool pointer = false, is_const = false;
};
template <class T> struct mw_pointee<T *> {
  typedef T type;
  static constexpr bool pointer = true, is_const = false;
};
template <class T> struct mw_pointee<const T *> {
  typedef T type;
  static constexpr bool pointer = true, is_const = true;
};
/* They begin with a pointer, to memory that a texture only reads. */
template <> struct mw_pointee<cudaTextureObject_t> {
  typedef cudaTextureObject_t type;
  static constexpr bool pointer = true, is_const = true;
};
template <> struct mw_pointee<cudaSurfaceObject_t> {
  typedef cudaSurfaceObject_t type;
  static constexpr bool pointer = true, is_const = false;
};

/* The type as C++ writes it, taken from the compiler's name of a function: "... [T = const float *]" (clang++),
 * "... [with T = const float*]" (g++; blanks are made the same). */
struct mw_type_text {
  char at[96];
};

/* Where `from` begins with one of the shim's own names: its length, and the name that users know. */
struct mw_type_alias {
  const char *own, *known;
};
constexpr mw_type_alias mw_type_aliases[] = {{"mw_small<mw_binary16>", "__half"},
                                             {"mw_small2<mw_binary16>", "__half2"},
                                             {"mw_small<mw_bfloat16>", "__nv_bfloat16"},
                                             {"mw_small2<mw_bfloat16>", "__nv_bfloat162"},
                                             {"mw_dim3", "uint3"},
                                             {"long long unsigned int", "unsigned long long"}, /* as g++ writes them */
                                             {"long unsigned int", "unsigned long"},
                                             {"short unsigned int", "unsigned short"},
                                             {"long long int", "long long"},
                                             {"long int", "long"},
                                             {"short int", "short"}};

constexpr int mw_type_match(const char *from, const char *own) {
  int i = 0;
  while (own[i] && own[i] == from[i]) i++;
  return own[i] ? 0 : i;
}

template <class T> constexpr mw_type_text mw_type_spelled() {
  const char *from = __PRETTY_FUNCTION__;
  while (!(from[0] == 'T' && from[1] == ' ' && from[2] == '=')) from++;
  from += 4;
  mw_type_text out = {};
  int length = 0, depth = 0;
  for (; *from && length < 94; from++) {
    if (*from == '[') depth++;
    if (depth == 0 && (*from == ']' || *from == ';')) break;
    if (*from == ']') depth--;
    int skip = 0;
    for (const mw_type_alias &alias : mw_type_aliases)
      if (!skip && (skip = mw_type_match(from, alias.own)))
        for (const char *known = alias.known; *known && length < 94;) out.at[length++] = *known++;
    if (skip) {
      from += skip - 1;
      continue;
    }
    if (*from == '*' && length && out.at[length - 1] != ' ' && out.at[length - 1] != '*' && out.at[length - 1] != '(')
      out.at[length++] = ' ';
    out.at[length++] = *from;
  }
  return out;
}

template <class T> struct mw_type_name {
  static constexpr mw_type_text text = mw_type_spelled<T>();
};
template <class T> constexpr mw_type_text mw_type_name<T>::text;

template <class F> struct mw_layout;
template <class... A> struct mw_layout<void (*)(A...)> {
  static constexpr unsigned count = sizeof...(A);
  unsigned offset[count + 1]; /* [count]: size of the argument block */
  constexpr mw_layout() : offset() {
    const unsigned sizes[] = {(unsigned)sizeof(A)..., 0}, aligns[] = {(unsigned)alignof(A)..., 1};
    unsigned at = 0;
    for (unsigned i = 0; i < count; i++) {
      at = (at + aligns[i] - 1) / aligns[i] * aligns[i];
      offset[i] = at;
      at += sizes[i];
    }
    offset[count] = at;
  }
};

template <unsigned N> struct mw_param_list {
  mw_unit_param at[N + 1];
  unsigned bytes, count = N;
};

/* An enumeration is passed as the number that it is. */
template <class T, bool = __is_enum(T)> struct mw_value { typedef T type; };
template <class T> struct mw_value<T, true> { typedef __underlying_type(T) type; };

template <class T> constexpr mw_unit_param mw_describe_one(const char *name, unsigned offset) {
  typedef typename mw_pointee<typename mw_value<T>::type>::type P;
  return {name,
          mw_type_name<T>::text.at,
          (unsigned char)mw_type<P>::dtype,
          (unsigned char)mw_type<P>::lanes,
          mw_pointee<T>::pointer,
          mw_pointee<T>::is_const,
          (unsigned)sizeof(T),
          offset};
}

/* A kernel's type, without noexcept. */
template <class F> struct mw_kernel_type;
template <class... A> struct mw_kernel_type<void (*)(A...)> { typedef void (*type)(A...); };
#if defined(__cpp_noexcept_function_type)
template <class... A> struct mw_kernel_type<void (*)(A...) noexcept> { typedef void (*type)(A...); };
#endif

template <class F> struct mw_describer;
template <class... A> struct mw_describer<void (*)(A...)> {
  /* All parameters of a pack have its name, the last one. */
  static constexpr mw_param_list<sizeof...(A)> list(const char *const *names, unsigned nnames) {
    const mw_layout<void (*)(A...)> layout;
    unsigned i = 0, k = 0;
    return {{mw_describe_one<A>(names[i < nnames ? i++ : nnames - 1], layout.offset[k++])..., mw_unit_param{}},
            layout.offset[sizeof...(A)]};
  }
};

template <class F, unsigned N> constexpr auto mw_describe(const char *const (&names)[N]) {
  return mw_describer<F>::list(names, N - 1); /* an empty one ends them */
}

/* ==} */

/* {== Launchers ======================================================= */

template <int... I> struct mw_indices {};
#if defined(__clang__)
template <class, int... I> using mw_indices_alias = mw_indices<I...>;
template <int N> using mw_indices_to = __make_integer_seq<mw_indices_alias, int, N>;
#else
template <int N> using mw_indices_to = mw_indices<__integer_pack(N)...>;
#endif

template <class F, int I> struct mw_offset {
  static constexpr unsigned at = mw_layout<F>().offset[I];
};

template <class T, unsigned Offset> MW_HELPER MW_UNCHECKED const T &mw_argument(const mw_grid *grid) {
  return *(const T *)((const char *)grid->args + Offset);
}

MW_HELPER uint3 mw_block_at(const mw_grid *grid, mw_u64 block) {
  const unsigned x = grid->grid.x, y = grid->grid.y;
  if (y == 1 && grid->grid.z == 1) return {(unsigned)block, 0, 0};
  const mw_u64 row = block / x;
  return {(unsigned)(block - row * x), (unsigned)(row % y), (unsigned)(row / y)};
}

MW_HELPER void mw_block_next(const mw_grid *grid, uint3 &at) {
  if (++at.x < grid->grid.x) return;
  at.x = 0;
  if (++at.y < grid->grid.y) return;
  at.y = 0;
  at.z++;
}

/* A fault handler reads it: never moved, never left out. */
MW_HELPER void mw_block_note(mw_worker *worker, mw_u64 block, unsigned count) {
  *(volatile unsigned long long *)&worker->block = block;
  *(volatile unsigned long long *)&worker->blocks = count;
}

#if defined(MW_FAST)

/* A kernel without barriers: the threads of a block are the iterations of a loop that the compiler may vectorise,
 * since CUDA orders nothing between them.
 *
 * Nor does it between blocks. A block of 32 x 8 threads touches eight short pieces of memory a row apart, which no
 * prefetcher follows; so neighbours in x are walked together, thread row by thread row, and memory in long lines
 * (mw_rows). Where a kernel uses its coordinates along x only as blockIdx.x * blockDim.x + threadIdx.x, the line is one
 * loop: threadIdx.x simply goes on counting past the block's end (mw_line). mw_line_threads bounds a line to what stays
 * in the first-level cache. */
enum mw_walk { mw_blocks, mw_rows, mw_line };
enum mw_order { mw_free, mw_ordered, mw_reread }; /* the loop: MW_FREE_LOOP, MW_ORDERED_LOOP, MW_INDEX_LOOP */
enum { mw_line_threads = 4096 };
/* What a function of a row is given at once: its arrays of one element per thread are made for that. */
enum { mw_piece_threads = 1024 };

/* One row of threads: of a function of one thread, or by a function that does the row itself. */
template <class S, S K, bool Index, mw_order Order> struct mw_row;
#define MW_ROW_LOOP                                                                                                    \
  for (int x = 0; x < (int)(shape.x * count); x++) {                                                                   \
    const uint3 thread = {(unsigned)x, y, z};                                                                          \
    if (Index) threadIdx = thread; /* functions that the kernel calls read it */                                       \
    K(thread, at, shape, grid, arguments...);                                                                          \
  }
template <class... A, void (*K)(uint3, uint3, dim3, dim3, A...), bool Index, mw_order Order>
struct mw_row<void (*)(uint3, uint3, dim3, dim3, A...), K, Index, Order> {
  static MW_INLINE inline void run(const unsigned z, const unsigned y, const uint3 at, const dim3 shape, const dim3 grid,
                                   const unsigned count, A... arguments) {
    if constexpr (Order == mw_reread) {
      MW_INDEX_LOOP MW_ROW_LOOP
    } else if constexpr (Order == mw_ordered) {
      MW_ORDERED_LOOP MW_ROW_LOOP
    } else {
      MW_FREE_LOOP MW_ROW_LOOP
    }
  }
};
/* Such a function asks the kernel's guard at both ends of a row and then leaves it out (split.h). In blocks at the
 * border of the grid a guard often fails only in the first or last threads, so their rows come in pieces that begin
 * and end with one thread and are longest in the middle: 1, 1, 2, 4, 8, 8, 4, 2, 1, 1. */
MW_HELPER int mw_piece_end(int from, int length) {
  const int grown = from ? from : 1, left = (length - from + 1) / 2;
  return from + (grown < left ? grown : left);
}

template <class... A, void (*K)(unsigned, unsigned, int, int, uint3, dim3, dim3, A...), bool Index, mw_order Order>
struct mw_row<void (*)(unsigned, unsigned, int, int, uint3, dim3, dim3, A...), K, Index, Order> {
  static MW_INLINE inline void run(const unsigned z, const unsigned y, const uint3 at, const dim3 shape, const dim3 grid,
                                   const unsigned count, A... arguments) {
    const int length = (int)(shape.x * count);
    const bool border = length >= 16 && (at.x == 0 || at.x + count == grid.x);
    for (int from = 0, to; from < length; from = to) {
      to = border ? mw_piece_end(from, length) : length;
      if (to - from > mw_piece_threads) to = from + mw_piece_threads;
      K(z, y, from, to, at, shape, grid, arguments...);
    }
  }
};

template <class F, class S, S K, bool Index, mw_walk Walk, mw_order Order> struct mw_loop_run;
template <class... A, class S, S K, bool Index, mw_walk Walk, mw_order Order>
struct mw_loop_run<void (*)(A...), S, K, Index, Walk, Order> {
  static MW_INLINE inline void neighbours(mw_worker *worker, mw_u64 first, unsigned count, uint3 at, const dim3 shape,
                                          const dim3 grid, A... arguments) {
    for (unsigned z = 0; z < shape.z; z++)
      for (unsigned y = 0; y < shape.y; y++)
        for (unsigned i = 0; i < count; i += Walk == mw_line ? count : 1) {
          const uint3 block = {at.x + i, at.y, at.z};
          const unsigned together = Walk == mw_line ? count : 1;
          mw_block_note(worker, first + i, together);
          blockIdx = block;
          mw_row<S, K, Index, Order>::run(z, y, block, shape, grid, together, arguments...);
        }
  }

  template <int... I>
  static MW_INLINE inline void blocks(const mw_grid *grid, mw_worker *worker, mw_u64 first, mw_u64 last, mw_indices<I...>) {
    const dim3 shape(grid->block);
    mw_worker_enter(worker);
    blockDim = shape;
    gridDim = dim3(grid->grid);
    const bool fits = Walk != mw_line || (mw_u64)grid->grid.x * shape.x < 1u << 31; /* any sum of parts, in any type */
    const unsigned wide = Walk != mw_blocks && fits && shape.x < mw_line_threads ? mw_line_threads / shape.x : 1;
    uint3 at = mw_block_at(grid, first);
    while (first < last) {
      unsigned count = grid->grid.x - at.x < wide ? grid->grid.x - at.x : wide;
      if (last - first < count) count = (unsigned)(last - first);
      neighbours(worker, first, count, at, shape, dim3(grid->grid),
                 mw_argument<A, mw_offset<void (*)(A...), I>::at>(grid)...);
      first += count;
      at.x += count - 1;
      mw_block_next(grid, at);
    }
  }

  static void run(const mw_grid *grid, mw_worker *worker, mw_u64 first, mw_u64 last) {
    blocks(grid, worker, first, last, mw_indices_to<sizeof...(A)>());
  }
};

#else

/* One thread of a block. */
template <class F, F K> struct mw_thread_run;
template <class... A, void (*K)(A...)> struct mw_thread_run<void (*)(A...), K> {
  template <int... I> static MW_INLINE MW_UNCHECKED inline void call(const mw_grid *grid, mw_indices<I...>) {
    (void)grid;
    K(mw_argument<A, mw_offset<void (*)(A...), I>::at>(grid)...);
  }
  static MW_UNHOOKED void run(const mw_grid *grid) { call(grid, mw_indices_to<sizeof...(A)>()); }
};

#endif

/* ==} */

/* {== The table ======================================================= */

/* What the functions of translate/shared.c return. */
template <size_t Bytes> struct mw_size {};
template <class F> struct mw_size_of;
template <size_t Bytes, class... A> struct mw_size_of<mw_size<Bytes> (*)(A...)> {
  static constexpr unsigned bytes = Bytes;
};

template <class T> struct mw_element { typedef T type; };
template <class T, size_t N> struct mw_element<T[N]> : mw_element<T> {};

template <class T> struct mw_fixed { static constexpr unsigned char value = 0; };
template <class T> struct mw_fixed<const T> { static constexpr unsigned char value = 1; };

template <class T> constexpr mw_unit_variable mw_variable(const char *name, T &variable, bool is_const) {
  typedef typename mw_element<T>::type E;
  return {name,
          (void *)&variable,
          sizeof(T),
          (unsigned char)mw_type<E>::dtype,
          (unsigned char)mw_type<E>::lanes,
          is_const,
          mw_fixed<T>::value};
}

#if defined(MW_FAST)
#define MW_SELF nullptr
#else
static mw_thread **mw_self_address() { return &mw_self; }
#define MW_SELF mw_self_address
#endif

/* The hooks of a checked unit are in shim/check/hooks.cpp. */
#if defined(MW_CHECK)
extern "C" __attribute__((visibility("hidden"))) void mw_check_bind(const struct mw_check *);
extern "C" __attribute__((visibility("hidden"))) struct mw_check_site mw_check_sites[];
#define MW_CHECK_BIND(runtime) mw_check_bind((runtime)->check)
/* For the hooks: some class may have bytes between its members. */
static constexpr bool mw_has_gap(size_t bytes, size_t of_members) { return of_members && bytes != of_members; }
#define MW_CHECK_PADDED(is)                                                                                            \
  extern "C" __attribute__((visibility("hidden"))) const bool mw_check_padded;                                        \
  const bool mw_check_padded = is;
#define MW_CHECK_SITES_OF_UNIT mw_check_sites
#else
#define MW_CHECK_BIND(runtime) (void)0
#define MW_CHECK_SITES_OF_UNIT nullptr
#endif

/* An access past the unit's variables shall meet a guard, and not what the system has put after the unit. Linkers put
 * a section that they do not know, and that has no content, after all other writable ones. */
#define MW_GUARD_BYTES (16 << 20)
#define MW_GUARD_TEXT_(bytes)                                                                                          \
  ".pushsection .moonwarp_guard,\"aw\",%nobits\n.globl mw_guard\n.hidden mw_guard\nmw_guard: .zero " #bytes           \
  "\n.popsection\n"
#define MW_GUARD_TEXT(bytes) MW_GUARD_TEXT_(bytes)
__asm__(MW_GUARD_TEXT(MW_GUARD_BYTES));
extern "C" __attribute__((visibility("hidden"))) char mw_guard[MW_GUARD_BYTES];

/* What destructors of variables are registered with: such a unit is rejected, but not by the linker. */
extern "C" __attribute__((visibility("hidden"))) void *__dso_handle;
void *__dso_handle;

#define MW_TABLE(kernels, nkernels, variables, nvariables)                                                             \
  static MW_UNCHECKED void mw_bind(const mw_runtime *runtime) {                                                        \
    mw_runtime_now = runtime;                                                                                          \
    MW_CHECK_BIND(runtime); /* first: without optimisation mw_place sets memory by a call, which is hooked */          \
    for (mw_shared_place **at = __start_mw_places; at < __stop_mw_places; at++) mw_place(*at);                         \
  }                                                                                                                    \
  extern const mw_unit_table mw_table __asm__("mw_unit_table") __attribute__((visibility("default")));                 \
  const mw_unit_table mw_table = {                                                                                     \
      MW_ABI_VERSION, kernels, nkernels, variables, nvariables, mw_bind, MW_SELF, &mw_shared_all, mw_guard, MW_GUARD_BYTES, \
      MW_CHECK_SITES_OF_UNIT};

/* ==} */

#endif
