/* SPDX-License-Identifier: MIT
 *
 * Where a thread is and what it does together with others: coordinates, barriers, warp operations, fences, clocks.
 * Included by moonwarp.h only. */

static const int warpSize = 32;

#if defined(MW_FAST)

/* Their addresses are never taken, so that the optimiser makes loop variables of them. */
static __thread uint3 threadIdx, blockIdx;
static __thread dim3 blockDim, gridDim;

#else

/* The calling OS thread's fiber. Its address leaves the unit (mw_unit_table.self), hence it is read again after every
 * call of the host. */
#if defined(MW_CHECK)
/* One OS thread at a time runs checked code, and its hooks read this. */
extern "C" {
__attribute__((visibility("hidden"))) mw_thread *mw_self;
}
/* Loads 2, 4 or 8 bytes without a hook: the compiler calls none for assembly. */
template <class T> MW_FN MW_UNRULED T mw_quiet(const T &from) {
  T to;
#if defined(__x86_64__)
  __asm__("mov %1, %0" : "=r"(to) : "m"(from));
#else
  if (sizeof(T) == 2)
    __asm__("ldrh %w0, %1" : "=r"(to) : "m"(from));
  else if (sizeof(T) == 4)
    __asm__("ldr %w0, %1" : "=r"(to) : "m"(from));
  else
    __asm__("ldr %0, %1" : "=r"(to) : "m"(from));
#endif
  return to;
}
MW_FN MW_UNRULED uint3 mw_quiet(const mw_dim3 &from) { return {mw_quiet(from.x), mw_quiet(from.y), mw_quiet(from.z)}; }
#if defined(MW_COUNT)
/* Stores without a hook. */
MW_FN MW_UNRULED void mw_keep(unsigned long long &to, unsigned long long value) {
#if defined(__x86_64__)
  __asm__ volatile("mov %1, %0" : "=m"(to) : "r"(value));
#else
  __asm__ volatile("str %1, %0" : "=m"(to) : "r"(value));
#endif
}
#define MW_PATH mw_quiet(mw_self)->path
/* While a loop runs the thread's path depends on its number in the text and on the iteration: see check/counter.h, and
 * check/mark/loops.c for where it stands. */
struct mw_loop {
  unsigned long long outer;
  __attribute__((always_inline)) MW_UNRULED mw_loop(unsigned number) : outer(mw_quiet(MW_PATH)) {
    mw_keep(MW_PATH, ((outer ^ number) + 1) * 0xBF58476D1CE4E5B9ull);
  }
  __attribute__((always_inline)) MW_UNRULED ~mw_loop() { mw_keep(MW_PATH, outer); }
  __attribute__((always_inline)) explicit operator bool() const { return false; }
  __attribute__((always_inline)) MW_UNRULED bool step() const {
    mw_keep(MW_PATH, mw_quiet(MW_PATH) + 0x94D049BB133111EBull);
    if (!outer) mw_keep(mw_quiet(mw_self)->rounds, mw_quiet(mw_quiet(mw_self)->rounds) + 1);
    return true;
  }
};
#endif
MW_FN MW_UNRULED uint3 mw_thread_index() { return mw_quiet(mw_quiet(mw_self)->thread_idx); }
MW_FN MW_UNRULED uint3 mw_block_index() { return mw_quiet(mw_quiet(mw_self)->block_idx); }
MW_FN MW_UNRULED dim3 mw_block_shape() { return dim3(mw_quiet(mw_quiet(mw_quiet(mw_self)->grid)->block)); }
MW_FN MW_UNRULED dim3 mw_grid_shape() { return dim3(mw_quiet(mw_quiet(mw_quiet(mw_self)->grid)->grid)); }
#define MW_HOST(function) mw_quiet(mw_quiet(mw_runtime_now)->function)
#define threadIdx (mw_thread_index())
#define blockIdx  (mw_block_index())
#define blockDim  (mw_block_shape())
#define gridDim   (mw_grid_shape())
#else
static __thread mw_thread *mw_self;
#define MW_HOST(function) mw_runtime_now->function
#define threadIdx (mw_self->thread_idx)
#define blockIdx  (mw_self->block_idx)
#define blockDim  (::dim3(mw_self->grid->block))
#define gridDim   (::dim3(mw_self->grid->grid))
#endif

#endif

MW_FN MW_UNRULED unsigned mw_thread_rank() {
#if defined(MW_FAST)
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
#elif defined(MW_CHECK)
  return mw_quiet(mw_quiet(mw_self)->rank);
#else
  return mw_self->rank;
#endif
}

MW_FN unsigned mw_lane() { return mw_thread_rank() % 32; }

MW_FN unsigned mw_block_threads() { return blockDim.x * blockDim.y * blockDim.z; }

/* The lanes of the calling thread's warp that exist: the last warp of a block may be short. */
MW_FN unsigned mw_existing_lanes() {
  const unsigned left = mw_block_threads() - (mw_thread_rank() & ~31u);
  return left >= 32 ? 0xffffffffu : (1u << left) - 1;
}

/* {== Block barriers =================================================== */

/* Two barriers on one line are two barriers; g++ does not say which column it is at. */
#if defined(__clang__)
#define MW_EXACTLY_HERE MW_HERE, int mw_column = __builtin_COLUMN()
#else
#define MW_EXACTLY_HERE MW_HERE, int mw_column = 0
#endif

MW_FN MW_UNRULED int mw_barrier(enum mw_barrier_op op, int value, const char *what, const char *mw_file, int mw_line,
                     int mw_column) {
#if defined(MW_FAST)
  (void)op, (void)value, (void)mw_column;
  MW_FAIL(what);
#else
  (void)what;
  return MW_HOST(barrier)(op, value, mw_file, mw_line, mw_column);
#endif
}

MW_FN void __syncthreads(MW_EXACTLY_HERE) {
  mw_barrier(MW_BARRIER_SYNC, 0, "__syncthreads", mw_file, mw_line, mw_column);
}
#define MW_BARRIER(name, op)                                                                                           \
  MW_FN int name(int p, MW_EXACTLY_HERE) { return mw_barrier(op, p, #name, mw_file, mw_line, mw_column); }
MW_BARRIER(__syncthreads_count, MW_BARRIER_COUNT)
MW_BARRIER(__syncthreads_and, MW_BARRIER_AND)
MW_BARRIER(__syncthreads_or, MW_BARRIER_OR)

MW_FN MW_UNRULED void mw_named_barrier(unsigned id, unsigned count, const char *what, const char *mw_file, int mw_line) {
#if defined(MW_FAST)
  (void)id, (void)count;
  MW_FAIL(what);
#else
  MW_HOST(named_barrier)(id, count, what, mw_file, mw_line);
#endif
}
MW_FN void __barrier_sync(unsigned id, MW_HERE) { mw_named_barrier(id, 0, "__barrier_sync", mw_file, mw_line); }
MW_FN void __barrier_sync_count(unsigned id, unsigned count, MW_HERE) {
  mw_named_barrier(id, count, "__barrier_sync_count", mw_file, mw_line);
}

/* The phases of a cuda::barrier. */
MW_FN MW_UNRULED void mw_phase_wait(const void *barrier, const char *mw_file, int mw_line) {
#if defined(MW_FAST)
  (void)barrier;
  MW_FAIL("cuda::barrier");
#else
  MW_HOST(phase_wait)(barrier, mw_file, mw_line);
#endif
}
MW_FN MW_UNRULED void mw_phase_end(const void *barrier) {
#if defined(MW_FAST)
  (void)barrier;
#else
  MW_HOST(phase_end)(barrier);
#endif
}

MW_FN void mw_grid_barrier(MW_HERE) {
#if defined(MW_FAST)
  MW_FAIL("grid synchronisation");
#else
  mw_runtime_now->grid_barrier(mw_file, mw_line);
#endif
}

/* ==} */

/* {== Warp operations ================================================== */

/* In check mode a function of its own, so that what it hands over is not taken for the kernel's accesses. */
#if defined(MW_CHECK)
#define MW_ASK static __attribute__((noinline)) MW_UNCHECKED
#else
#define MW_ASK MW_FN
#endif

template <class T>
MW_ASK unsigned long long mw_warp(enum mw_warp_op op, unsigned mask, T value, int arg, int width, int *predicate,
                                 const char *what, const char *mw_file, int mw_line) {
  static_assert(sizeof(T) <= 8, "a warp operation moves at most 8 bytes");
#if defined(MW_FAST)
  (void)op, (void)mask, (void)value, (void)arg, (void)width, (void)predicate;
  MW_FAIL(what);
#else
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  const mw_warp_request request = {op, mask, bits, sizeof value, arg, width, predicate, what, mw_file, mw_line};
  return mw_runtime_now->warp(&request);
#endif
}

template <class T> MW_FN T mw_unpack(unsigned long long bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

/* What CUDA's functions take a narrow type for. */
template <class T> struct mw_word_of { typedef T type; };
#define MW_WORD(T)                                                                                                     \
  template <> struct mw_word_of<T> { typedef int type; };
MW_WORD(bool) MW_WORD(char) MW_WORD(signed char) MW_WORD(unsigned char) MW_WORD(short) MW_WORD(unsigned short)

#define MW_SHUFFLE(name, op, Arg)                                                                                      \
  template <class T, class W = typename mw_word_of<T>::type>                                                           \
  MW_FN W name(unsigned mask, T value, Arg arg, int width = 32, MW_HERE) {                                             \
    return mw_unpack<W>(mw_warp(op, mask, (W)value, (int)arg, width, nullptr, #name, mw_file, mw_line));               \
  }
MW_SHUFFLE(__shfl_sync, MW_WARP_SHFL, int)
MW_SHUFFLE(__shfl_up_sync, MW_WARP_SHFL_UP, unsigned)
MW_SHUFFLE(__shfl_down_sync, MW_WARP_SHFL_DOWN, unsigned)
MW_SHUFFLE(__shfl_xor_sync, MW_WARP_SHFL_XOR, int)

MW_FN void __syncwarp(unsigned mask = 0xffffffffu, MW_HERE) {
  mw_warp(MW_WARP_SYNC, mask, 0, 0, 32, nullptr, "__syncwarp", mw_file, mw_line);
}

#define MW_VOTE(name, op, Result)                                                                                      \
  MW_FN Result name(unsigned mask, int predicate, MW_HERE) {                                                           \
    return (Result)mw_warp(op, mask, predicate, 0, 32, nullptr, #name, mw_file, mw_line);                              \
  }
MW_VOTE(__ballot_sync, MW_WARP_BALLOT, unsigned)
MW_VOTE(__all_sync, MW_WARP_ALL, int)
MW_VOTE(__any_sync, MW_WARP_ANY, int)

/* Where lanes of a warp are taken to run in step (program/lockstep.c). */
MW_FN MW_UNRULED void mw_meet(unsigned place, MW_HERE) {
#if defined(MW_FAST)
  (void)place;
  MW_FAIL("code that counts on the lanes of a warp in step");
#else
  (void)mw_file, (void)mw_line;
  MW_HOST(meet)(place);
#endif
}

template <class T> MW_FN unsigned __match_any_sync(unsigned mask, T value, MW_HERE) {
  return (unsigned)mw_warp(MW_WARP_MATCH_ANY, mask, value, 0, 32, nullptr, "__match_any_sync", mw_file, mw_line);
}
template <class T> MW_FN unsigned __match_all_sync(unsigned mask, T value, int *predicate, MW_HERE) {
  int all = 0;
  const unsigned long long lanes =
      mw_warp(MW_WARP_MATCH_ALL, mask, value, 0, 32, &all, "__match_all_sync", mw_file, mw_line);
  if (predicate) *predicate = all;
  return (unsigned)lanes;
}

#define MW_REDUCE(name, T, op)                                                                                         \
  MW_FN T name(unsigned mask, T value, MW_HERE) {                                                                      \
    return (T)mw_warp(op, mask, value, 0, 32, nullptr, #name, mw_file, mw_line);                                       \
  }
MW_REDUCE(__reduce_add_sync, int, MW_WARP_ADD)
MW_REDUCE(__reduce_add_sync, unsigned, MW_WARP_ADD)
MW_REDUCE(__reduce_min_sync, int, MW_WARP_MIN)
MW_REDUCE(__reduce_min_sync, unsigned, MW_WARP_UMIN)
MW_REDUCE(__reduce_max_sync, int, MW_WARP_MAX)
MW_REDUCE(__reduce_max_sync, unsigned, MW_WARP_UMAX)
MW_REDUCE(__reduce_and_sync, unsigned, MW_WARP_AND)
MW_REDUCE(__reduce_or_sync, unsigned, MW_WARP_OR)
MW_REDUCE(__reduce_xor_sync, unsigned, MW_WARP_XOR)

MW_FN unsigned __activemask(MW_HERE) {
#if defined(MW_FAST)
  MW_FAIL("__activemask");
#else
  (void)mw_file, (void)mw_line;
  return mw_runtime_now->active_mask();
#endif
}

/* ==} */

/* What sm_70 took away. Any function that a file declares itself is a better match. */
#define MW_GONE(name)                                                                                                  \
  int name(...) __attribute__((error(#name " is gone from CUDA since sm_70: use " #name "_sync with a mask")));
MW_GONE(__ballot)
MW_GONE(__all)
MW_GONE(__any)
MW_GONE(__shfl)
MW_GONE(__shfl_up)
MW_GONE(__shfl_down)
MW_GONE(__shfl_xor)

#if defined(MW_CHECK)
extern "C" __attribute__((visibility("hidden"))) void mw_check_fence(int block_only);
MW_FN void __threadfence() { mw_check_fence(0); }
MW_FN void __threadfence_block() { mw_check_fence(1); }
MW_FN void __threadfence_system() { mw_check_fence(0); }
#else
MW_FN void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
MW_FN void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
MW_FN void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
#endif

/* Lets the block's other threads run: what a spinning thread waits for. */
MW_FN MW_UNRULED void mw_yield() {
#if defined(MW_FIBER)
  MW_HOST(yield)();
#endif
}

MW_FN void __nanosleep(unsigned) { mw_yield(); }
/* A grid begins when those before it in its stream have ended. */
MW_FN void cudaGridDependencySynchronize() {}
MW_FN void cudaTriggerProgrammaticLaunchCompletion() {}

/* Counts the rounds of a loop that may wait for another thread, which no analysis has found (program/spin_wait.c).
 * Threads that run one after the other end with an error then; fibers let others run from time to time. */
struct mw_rounds {
  unsigned mw_count;
  bool mw_begun;
  mw_rounds() : mw_count(0), mw_begun(false) {}
  bool begins() {
    const bool first = !mw_begun;
    mw_begun = true;
    return first;
  }
  bool next(MW_HERE) {
    mw_count++;
#if defined(MW_FIBER)
    if (mw_count % 1024 == 0) mw_yield();
#else
    if (mw_count == 1u << 28) mw_runtime_now->spun(mw_file, mw_line);
#endif
    return true;
  }
};
/* Before the loop; a macro's statement does not make its indentation look wrong. */
#define MW_COUNTED for (mw_rounds mw_spin; mw_spin.begins();)

MW_FN long long clock64() {
#if defined(__x86_64__)
  return (long long)__builtin_ia32_rdtsc();
#else
  long long ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}
MW_FN clock_t clock() { return (clock_t)clock64(); }

/* PTX's %globaltimer. */
MW_FN MW_UNRULED unsigned long long mw_globaltimer() {
#if defined(MW_FAST)
  return mw_runtime_now->nanoseconds();
#else
  return MW_HOST(nanoseconds)();
#endif
}

MW_FN void __trap(MW_HERE) { MW_FAIL("__trap()"); }
MW_FN void __brkpt() {}
MW_FN void __prof_trigger(int) {}

#define assert(e) ((e) ? (void)0 : mw_runtime_now->fail("assert(" #e ")", __FILE__, __LINE__))

/* The arguments are promoted as for any variadic function; the host formats them. */
template <class... A> MW_FN int printf(const char *format, A... arguments) {
  return mw_runtime_now->print(format, arguments...);
}
