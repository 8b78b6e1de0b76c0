/* SPDX-License-Identifier: MIT
 *
 * What the compilers call in a checked unit: before each access to memory (-fsanitize=thread), and where an index, an
 * alignment or a signed integer breaks its rule (-fsanitize=bounds,alignment,signed-integer-overflow,object-size).
 * Compiled by the compiler of the unit, without a sanitizer, and linked into the unit with hidden symbols: so it works
 * under any host, and nothing of the compilers' own libraries is needed. The interface is that of compiler-rt's
 * tsan_interface.h and ubsan_handlers.h.
 *
 * An access that is simply right is judged here: by its own thread, or the last of others lies before the block's last
 * barrier or in an earlier launch. Everything else is the checker's (core/backend/cpu/check/access.c). */
extern "C" {
#include "../../abi.h"
#include "cell.h"
#include "counter.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define HOOK   HIDDEN __attribute__((used))
#define FAST   static inline __attribute__((always_inline))
#define PLACE  __builtin_return_address(0)

extern HIDDEN mw_thread *mw_self; /* the running thread; the unit defines it */
extern HIDDEN const bool mw_check_padded; /* some class of the unit may have bytes between its members; likewise */

static const mw_check *check;
static mw_cell *const *chunks; /* the check's */
HIDDEN mw_check_site mw_check_sites[MW_CHECK_SITES];
#define sites mw_check_sites

typedef unsigned long long bits;
typedef unsigned long pointer;

HOOK void mw_check_bind(const mw_check *given) {
  check = given;
  chunks = given->chunks;
}
HOOK void mw_check_fence(int block_only) { check->fence(block_only); }

/* Where the search for a place in the table of sites begins. */
FAST unsigned site_guess(const void *place) { return (unsigned)((pointer)place * 0x9E3779B97F4A7C15ull >> 56); }

/* The index of a place in the table of sites; 0 where the table is full. */
FAST unsigned site_of(const void *place, bool writes) {
  unsigned at = site_guess(place);
  for (unsigned step = 0; step < 8; step++, at = (at + 1) & (MW_CHECK_SITES - 1)) {
    if (sites[at].place == place) return at;
    if (!sites[at].place && at) {
      sites[at] = {place, writes};
      return at;
    }
  }
  return 0;
}

HOOK void mw_check_local(mw_local *it, int begins) { check->local(it, begins); }
HOOK void mw_check_used(const void *at, const char *file, int line) { check->used(at, file, (unsigned)line); }

HOOK void mw_check_copy(int what, const void *to, const void *from, unsigned bytes, const void *barrier) {
  check->copy(what, to, from, bytes, barrier, PLACE, site_of(PLACE, true));
}

FAST void note_work() { sites[0].place = sites; }

/* a[0] = 1 by thread 0, then x = a[0] by thread 1: after a barrier the stamps differ in the epoch, which is right, and
 * the cell of a[0] notes the read; without one they differ in the rank only, and check->access() reports a race. */

/* Of two stamps, by what differs: the other access is the thread's own, or lies before the block's barrier or the
 * launch. */
FAST bool is_before(bits differs) {
  if (differs >> MW_CELL_BLOCK) return differs >> MW_CELL_LAUNCH;
  return differs >> MW_CELL_EPOCH || !(differs >> MW_CELL_RANK & 0x3ff);
}

FAST bool readers_before(bits read, bits differs) {
  const bits level = read >> MW_CELL_KIND & 3;
  if (level == MW_READ_ALONE) return is_before(differs);
  if (differs >> MW_CELL_LAUNCH) return true;
  return level != MW_READ_BY_GRID && !(differs >> MW_CELL_BLOCK) && differs >> MW_CELL_EPOCH;
}

FAST mw_cell *cell_of(pointer address) {
  mw_cell *chunk = chunks[address >> MW_CHUNK_SHIFT & (MW_CHUNKS - 1)];
  return chunk ? chunk + ((address & (MW_CHUNK_BYTES - 1)) >> 2) : nullptr;
}

FAST bool is_unknown(bits write, bits read) { return !((write | read) & 15); }

FAST bool write_is_right(mw_cell *cell, bits mine, bits mask, unsigned site) {
  const bits write = cell->write, read = cell->read;
  if (mask & ~write) return is_unknown(write, read);
  if (!is_before(write ^ mine) || !readers_before(read, read ^ mine)) return false;
  const bits own = (write ^ mine) >> MW_CELL_RANK ? 0 : write & 15 << MW_CELL_MASK; /* other bytes, written before */
  cell->write = mine | (bits)site << MW_CELL_SITE | own | mask << MW_CELL_MASK | (write & 15);
  cell->read = read | mask;
  return true;
}

/* The level of a word that another thread has read before, not ordered before this read. */
FAST bits shared_level(bits differs, bits level) {
  const bits other = differs >> MW_CELL_BLOCK               ? MW_READ_BY_GRID
                     : differs >> (MW_CELL_RANK + 5) & 0x1f ? MW_READ_BY_BLOCK
                                                            : MW_READ_BY_WARP;
  return level > other ? level : other;
}

FAST bool read_is_right(mw_cell *cell, bits mine, bits mask, unsigned site) {
  const bits write = cell->write, read = cell->read, differs = read ^ mine;
  if (mask & ~write) return is_unknown(write, read);
  if (mask & ~read) return false;
  if (!is_before(write ^ mine)) return false;
  const bits fresh = mine | (bits)site << MW_CELL_SITE | mask << MW_CELL_MASK | (read & 15);
  if (readers_before(read, differs))
    cell->read = differs >> MW_CELL_RANK ? fresh : read | mask << MW_CELL_MASK; /* its own level is "alone" */
  else if (!(differs >> MW_CELL_EPOCH) && differs >> MW_CELL_WARP_EPOCH && !(differs >> (MW_CELL_RANK + 5) & 0x1f) &&
           (read >> MW_CELL_KIND & 3) <= MW_READ_BY_WARP)
    cell->read = fresh; /* before the warp's last synchronisation */
  else {
    const bits level = shared_level(differs, read >> MW_CELL_KIND & 3), by_both = read & mask << MW_CELL_MASK;
    const bits now = (read & ~((bits)3 << MW_CELL_KIND | 15 << MW_CELL_MASK)) | level << MW_CELL_KIND | by_both;
    if (now != read) cell->read = by_both ? now : fresh; /* who has read which other byte is not kept */
  }
  return true;
}

/* {== Counting =========================================================
 * y = a[t] by 32 lanes: one mw_request of that place with 32 addresses of 4 bytes; request.c makes 4 sectors of it. */

enum { MOST_ALIGNED = 16, MOST_UNALIGNED = 4 /* of what the compiler calls so */ };
enum { AHEAD = 16 }; /* lanes */

/* Lanes that access rows of memory find the next words in the cache. Of those further apart the word and the cell that
 * a later lane wants are fetched ahead: counting leaves the processor little room to do so by itself. */
FAST void fetch_ahead(const mw_cell *cell, pointer at, pointer before) {
  const long step = (long)(at - before);
  if (step <= MOST_ALIGNED) return;
  __builtin_prefetch((const void *)((pointer)cell + AHEAD * step / 4 * sizeof *cell), 1);
  __builtin_prefetch((const void *)(at + AHEAD * step));
}

/* Joins the lane to the request that is expected next. False: it is another one. The cell is that of the address; NULL:
 * nothing is fetched ahead. */
FAST bool count_next(const mw_cell *cell, const void *at, unsigned bytes, enum mw_count_kind kind, const void *place) {
  mw_warp_log *log = mw_self->log;
  if (!log) return true;
  const unsigned lane = mw_self->rank % MW_LANES;
  mw_request *request = log->at[lane]->next;
  if (request->what != mw_count_what_of(place, kind, bytes) || request->path != mw_self->path ||
      request->lanes >> lane & 1 || !(request->before->lanes >> lane & 1))
    return false;
  request->lanes |= 1u << lane;
  request->addresses[lane] = (pointer)at;
  log->at[lane] = request;
  if (cell && (request->lanes << 1) >> lane & 1) fetch_ahead(cell, (pointer)at, request->addresses[lane - 1]);
  return true;
}

FAST void count_one(const void *at, unsigned bytes, enum mw_count_kind kind, const void *place) {
  if (!count_next(nullptr, at, bytes, kind, place)) check->count(mw_count_what_of(place, kind, bytes), at);
}

/* The alignment of the vector or structure to which the bytes belong; 0: not known. */
FAST unsigned whole_alignment(pointer at, unsigned long bytes) {
  const mw_warp_log *log = mw_self->log;
  if (!log || !log->has_wholes) return 0;
  for (const mw_whole &whole : log->wholes[mw_self->rank % MW_LANES])
    if (at - whole.at < whole.bytes && at - whole.at + bytes <= whole.bytes) return whole.alignment;
  return 0;
}

/* Any access, in pieces that a GPU's instructions have: 1 to 16 bytes at a multiple of their number, aligned to that as
 * its type is, or to `most` if nothing is known of it. */
FAST void count(const void *at, unsigned long bytes, enum mw_count_kind kind, const void *place, unsigned most) {
#if defined(MW_COUNT)
  const unsigned alignment = whole_alignment((pointer)at, bytes);
  const unsigned long all = (pointer)at | bytes | MOST_ALIGNED | (alignment ? alignment : most), piece = all & -all;
  for (unsigned long done = 0; done < bytes; done += piece)
    count_one((const char *)at + done, (unsigned)piece | alignment << MW_COUNT_WHOLE, kind, place);
#else
  (void)at, (void)bytes, (void)kind, (void)place, (void)most;
#endif
}

FAST void count_plain(const mw_cell *cell, const void *at, unsigned long bytes, bool write, const void *place,
                      unsigned most) {
  if (cell->write & 15) count(at, bytes, write ? MW_COUNT_STORE : MW_COUNT_LOAD, place, most);
}

#if defined(MW_COUNT)
HOOK const void *mw_count_whole(const void *at, unsigned long bytes, unsigned long alignment) {
  mw_warp_log *log = mw_self->log;
  if (!log) return at;
  const unsigned lane = mw_self->rank % MW_LANES;
  log->wholes[lane][log->whole[lane]++ % MW_WHOLES] = {(pointer)at, (unsigned)bytes, alignment < 16 ? (unsigned)alignment : 16};
  log->has_wholes = 1;
  return at;
}
#endif

/* The path of a called function depends on the caller's and on where it is called. The first one is the kernel. */
FAST void count_call(const void *caller) {
#if defined(MW_COUNT)
  mw_thread *self = mw_self;
  if (!self || !self->log || !self->calls++ || self->calls > MW_MOST_CALLS) return;
  self->log->callers[self->calls - 1][self->rank % MW_LANES] = self->path;
  self->path = ((self->path ^ (pointer)caller) + 1) * 0x9E3779B97F4A7C15ull;
#else
  (void)caller;
#endif
}

FAST void count_return() {
#if defined(MW_COUNT)
  mw_thread *self = mw_self;
  if (!self || !self->log || !--self->calls || self->calls >= MW_MOST_CALLS) return;
  self->path = self->log->callers[self->calls][self->rank % MW_LANES];
#endif
}

/* ==} */

/* For the checker: a value is read, or it may be bytes between members. */
FAST int what_of(bool write) { return write ? MW_WRITE : mw_check_padded ? MW_READ_BYTES : MW_READ_VALUE; }

/* Any access; most: as of count. Before the first launch no thread runs: what the unit does when it is bound may be a
 * call of memcpy, too. */
static __attribute__((noinline)) void access(const void *at, unsigned long bytes, bool write, const void *place,
                                             unsigned most = MOST_ALIGNED, bool of_bytes = false) {
  const pointer address = (pointer)at;
  mw_cell *cell = cell_of(address);
  if (!cell || !bytes || !mw_self) return;
  count_plain(cell, at, bytes, write, place, most);
  if (!is_unknown(cell->write, cell->read)) note_work();
  const unsigned site = site_of(place, write), first = address & 3;
  const bits mine = mw_self->stamp;
  bool right;
  if (first + bytes <= 4) {
    const bits mask = ((1u << bytes) - 1) << first;
    right = write ? write_is_right(cell, mine, mask, site) : read_is_right(cell, mine, mask, site);
  } else if (first || bytes & 3 || (address & (MW_CHUNK_BYTES - 1)) + bytes > MW_CHUNK_BYTES) {
    right = false;
  } else {
    right = true;
    for (unsigned i = 0; i < bytes / 4; i++)
      right &= write ? write_is_right(cell + i, mine, 15, site) : read_is_right(cell + i, mine, 15, site);
  }
  if (!right) check->access(at, bytes, of_bytes && !write ? MW_READ_BYTES : what_of(write), MW_ACCESS_PLAIN, place, site);
}

/* Of whole words, aligned to all of them. Calls nothing but as its last act, so that it saves no registers. */
FAST void access_words(const void *at, const unsigned words, const bool write, const void *place) {
  const pointer address = (pointer)at;
  mw_cell *cell = cell_of(address);
  if (!cell) return;
  const unsigned site = site_guess(place);
  if (address & (4 * words - 1) || sites[site].place != place) return access(at, 4 * words, write, place);
#if defined(MW_COUNT)
  if (cell->write & 15 && ((mw_self->log && mw_self->log->has_wholes) ||
                           !count_next(cell, at, 4 * words, write ? MW_COUNT_STORE : MW_COUNT_LOAD, place)))
    return access(at, 4 * words, write, place);
#endif
  const bits mine = mw_self->stamp, launch = mine & (bits)15 << MW_CELL_LAUNCH;
  bits memory = 15, latest = 0;
  for (unsigned i = 0; i < words; i++) {
    memory &= write ? cell[i].write : cell[i].write & cell[i].read;
    if (latest < cell[i].write) latest = cell[i].write;
    if (latest < cell[i].read) latest = cell[i].read;
  }
  const bits fresh = mine | (bits)site << MW_CELL_SITE | 15 << MW_CELL_MASK | 15;
  if (memory == 15 && latest < launch) { /* not used in this launch */
    note_work();
    for (unsigned i = 0; i < words; i++) {
      if (write) {
        cell[i].write = fresh;
        cell[i].read |= 15;
      } else {
        cell[i].read = fresh;
      }
    }
    return;
  }
  if (!is_unknown(cell->write, cell->read)) note_work();
  bool right = true;
  for (unsigned i = 0; i < words; i++)
    right &= write ? write_is_right(cell + i, mine, 15, site) : read_is_right(cell + i, mine, 15, site);
  if (!right) check->access(at, 4 * words, what_of(write), MW_ACCESS_PLAIN, place, site);
}

/* Of a number of bytes that is known when this is compiled. */
FAST void access_plain(const void *at, const unsigned bytes, const bool write, const void *place) {
  bytes < 4 ? access(at, bytes, write, place) : access_words(at, bytes / 4, write, place);
}

/* {== Plain and volatile accesses ======================================
 * a[i] += 1 of an int: __tsan_read4(&a[i]), the load, __tsan_write4(&a[i]), the store. */

FAST void access_volatile(void *at, unsigned bytes, bool write, const void *place) {
  const mw_cell *cell = cell_of((pointer)at);
  if (!cell) return;
  count_plain(cell, at, bytes, write, place, MOST_ALIGNED);
  check->rest();
  check->atomic(at, bytes, !write, write, MW_ACCESS_VOLATILE, place, site_of(place, write));
}

#define ACCESSES(bytes)                                                                                                \
  HOOK void __tsan_read##bytes(void *at) { access_plain(at, bytes, false, PLACE); }                                    \
  HOOK void __tsan_write##bytes(void *at) { access_plain(at, bytes, true, PLACE); }                                    \
  HOOK void __tsan_read_write##bytes(void *at) {                                                                       \
    access(at, bytes, false, PLACE);                                                                                   \
    access(at, bytes, true, PLACE);                                                                                    \
  }                                                                                                                    \
  HOOK void __tsan_unaligned_read##bytes(void *at) { access(at, bytes, false, PLACE, MOST_UNALIGNED); }                \
  HOOK void __tsan_unaligned_write##bytes(void *at) { access(at, bytes, true, PLACE, MOST_UNALIGNED); }                \
  HOOK void __tsan_unaligned_read_write##bytes(void *at) {                                                             \
    access(at, bytes, false, PLACE, MOST_UNALIGNED);                                                                   \
    access(at, bytes, true, PLACE, MOST_UNALIGNED);                                                                    \
  }                                                                                                                    \
  HOOK void __tsan_volatile_read##bytes(void *at) { access_volatile(at, bytes, false, PLACE); }                        \
  HOOK void __tsan_volatile_write##bytes(void *at) { access_volatile(at, bytes, true, PLACE); }                        \
  HOOK void __tsan_unaligned_volatile_read##bytes(void *at) { access_volatile(at, bytes, false, PLACE); }              \
  HOOK void __tsan_unaligned_volatile_write##bytes(void *at) { access_volatile(at, bytes, true, PLACE); }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

/* g++ calls these for what is long, and for what is not aligned to its size. */
FAST void access_range(void *at, unsigned long bytes, bool write, const void *place) {
  access(at, bytes, write, place, bytes > MOST_ALIGNED ? MOST_ALIGNED : MOST_UNALIGNED);
}
HOOK void __tsan_read_range(void *at, unsigned long bytes) { access_range(at, bytes, false, PLACE); }
HOOK void __tsan_write_range(void *at, unsigned long bytes) { access_range(at, bytes, true, PLACE); }
/* Of clang++, for what it calls none (core/backend/cpu/check/mark/accesses.c). how: 1 it writes, 2 it is volatile */
HOOK void mw_check_bytes(void *at, unsigned long bytes, int how) {
  how & 2 ? access_volatile(at, (unsigned)bytes, how & 1, PLACE) : access_range(at, bytes, how & 1, PLACE);
}
HOOK void __tsan_vptr_read(void **at) { access(at, sizeof *at, false, PLACE); }
HOOK void __tsan_vptr_update(void **at, void *) { access(at, sizeof *at, true, PLACE); }
HOOK void __tsan_init() {}
HOOK void __tsan_func_entry(void *caller) { count_call(caller); }
HOOK void __tsan_func_exit() { count_return(); }

/* a[i] = b[j] of 24 bytes: memcpy(&a[i], &b[j], 24), for which clang++ 14 has no hook: b's bytes are read, a's written.
 * of_bytes: a kernel's own call, of any bytes. */
FAST void *copy_bytes(void *to, const void *from, unsigned long bytes, bool down) {
  volatile char *into = (volatile char *)to;
  const volatile char *out = (const volatile char *)from;
  for (unsigned long i = 0; i < bytes; i++) {
    const unsigned long at = down ? bytes - 1 - i : i;
    into[at] = out[at];
  }
  return to;
}
FAST void *copy_checked(void *to, const void *from, unsigned long bytes, const void *place, bool of_bytes = false) {
  access(from, bytes, false, place, MOST_ALIGNED, of_bytes);
  access(to, bytes, true, place);
  return copy_bytes(to, from, bytes, (pointer)from < (pointer)to);
}
FAST void *set_checked(void *to, int value, unsigned long bytes, const void *place) {
  access(to, bytes, true, place);
  for (unsigned long i = 0; i < bytes; i++) ((volatile char *)to)[i] = (char)value;
  return to;
}
HOOK void *memcpy(void *to, const void *from, unsigned long bytes) { return copy_checked(to, from, bytes, PLACE); }
HOOK void *memmove(void *to, const void *from, unsigned long bytes) { return copy_checked(to, from, bytes, PLACE); }
HOOK void *memset(void *to, int value, unsigned long bytes) { return set_checked(to, value, bytes, PLACE); }
HOOK void *mw_check_memcpy(void *to, const void *from, unsigned long bytes) {
  return copy_checked(to, from, bytes, PLACE, true);
}
HOOK void *mw_check_memmove(void *to, const void *from, unsigned long bytes) {
  return copy_checked(to, from, bytes, PLACE, true);
}
HOOK void *__tsan_memcpy(void *to, const void *from, unsigned long bytes) {
  return copy_checked(to, from, bytes, PLACE);
}
HOOK void *__tsan_memmove(void *to, const void *from, unsigned long bytes) {
  return copy_checked(to, from, bytes, PLACE);
}
HOOK void *__tsan_memset(void *to, int value, unsigned long bytes) { return set_checked(to, value, bytes, PLACE); }

/* What a C library would read, out of sight of the hooks. */
FAST int compare_checked(const void *one, const void *other, unsigned long bytes, const void *place) {
  access(one, bytes, false, place, MOST_ALIGNED, true);
  access(other, bytes, false, place, MOST_ALIGNED, true);
  const volatile unsigned char *a = (const volatile unsigned char *)one, *b = (const volatile unsigned char *)other;
  for (unsigned long i = 0; i < bytes; i++)
    if (a[i] != b[i]) return a[i] - b[i];
  return 0;
}
FAST unsigned long length_checked(const char *text, const void *place) {
  for (unsigned long i = 0;; i++) {
    access(text + i, 1, false, place);
    if (!((const volatile char *)text)[i]) return i;
  }
}
HOOK int memcmp(const void *one, const void *other, unsigned long bytes) {
  return compare_checked(one, other, bytes, PLACE);
}
HOOK int bcmp(const void *one, const void *other, unsigned long bytes) {
  return compare_checked(one, other, bytes, PLACE);
}

/* What libm writes and reads through pointers: the linker calls these instead (cpu_check_linked of linker.c).
 * sincosf(x, &s[t], &c[t]) is __wrap_sincosf: 4 bytes are written at each. */
#define BY_POINTERS(T, f)                                                                                              \
  void __real_sincos##f(T, T *, T *);                                                                                  \
  T __real_frexp##f(T, int *);                                                                                         \
  T __real_modf##f(T, T *);                                                                                            \
  T __real_remquo##f(T, T, int *);                                                                                     \
  T __real_nan##f(const char *);                                                                                       \
  HOOK void __wrap_sincos##f(T x, T *sine, T *cosine) {                                                                \
    access(sine, sizeof *sine, true, PLACE);                                                                           \
    access(cosine, sizeof *cosine, true, PLACE);                                                                       \
    __real_sincos##f(x, sine, cosine);                                                                                 \
  }                                                                                                                    \
  HOOK T __wrap_frexp##f(T x, int *power) {                                                                            \
    access(power, sizeof *power, true, PLACE);                                                                         \
    return __real_frexp##f(x, power);                                                                                  \
  }                                                                                                                    \
  HOOK T __wrap_modf##f(T x, T *whole) {                                                                               \
    access(whole, sizeof *whole, true, PLACE);                                                                         \
    return __real_modf##f(x, whole);                                                                                   \
  }                                                                                                                    \
  HOOK T __wrap_remquo##f(T x, T y, int *quotient) {                                                                   \
    access(quotient, sizeof *quotient, true, PLACE);                                                                   \
    return __real_remquo##f(x, y, quotient);                                                                           \
  }                                                                                                                    \
  HOOK T __wrap_nan##f(const char *text) {                                                                             \
    length_checked(text, PLACE);                                                                                       \
    return __real_nan##f(text);                                                                                        \
  }
BY_POINTERS(double, )
BY_POINTERS(float, f)

/* ==} */

/* {== Atomics ==========================================================
 * atomicAdd(&a[0], 1): __tsan_atomic32_fetch_add(&a[0], 1, order), a read and a write by MW_ACCESS_ATOMIC. */

/* What the next atomic operation is, by the shim's atomic.h. */
static int next_is;
HOOK void mw_check_next(int what) { next_is |= what; }

/* Others may run before it. */
FAST void rest() {
  const int is = next_is;
  next_is = 0;
  check->rest();
  next_is = is;
}

FAST bool holds(const volatile void *at, const void *value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++)
    if (((const volatile char *)at)[i] != ((const char *)value)[i]) return false;
  return true;
}

/* expected: it writes if that is there; NULL: as write says. */
FAST void atomic(volatile void *at, unsigned bytes, bool read, bool write, enum mw_count_kind kind, const void *place,
                 const void *expected = nullptr) {
  const mw_cell *cell = cell_of((pointer)at);
  if (cell) rest();
  if (expected) write = holds(at, expected, bytes);
  const int is = next_is;
  const enum mw_access how = is & MW_NEXT_THREAD  ? MW_ACCESS_PLAIN
                             : is & MW_NEXT_BLOCK ? MW_ACCESS_BLOCK
                                                  : MW_ACCESS_ATOMIC;
  const bool again = read && !write && kind != MW_COUNT_LOAD && !(is & MW_NEXT_SWAP); /* of a loop that swaps */
  if (!again) next_is = 0;
  if (!cell) return;
  if (cell->write & 15) count((const void *)at, bytes, kind, place, MOST_ALIGNED);
  check->atomic((const void *)at, bytes, write && is & MW_NEXT_SWAP ? MW_READ_SWAP : read, write, how, place,
                site_of(place, write));
}

#define FETCH(bits, T, name)                                                                                           \
  HOOK T __tsan_atomic##bits##_fetch_##name(volatile T *at, T value, int) {                                            \
    atomic(at, sizeof(T), true, true, MW_COUNT_ATOMIC, PLACE);                                                                          \
    return __atomic_fetch_##name(at, value, __ATOMIC_SEQ_CST);                                                         \
  }
#define COMPARE(bits, T, strength, weak)                                                                               \
  HOOK int __tsan_atomic##bits##_compare_exchange_##strength(volatile T *at, T *expected, T value, int, int) {         \
    atomic(at, sizeof(T), true, false, MW_COUNT_ATOMIC, PLACE, expected);                                              \
    return __atomic_compare_exchange_n(at, expected, value, weak, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                 \
  }
#define ATOMICS(bits, T)                                                                                               \
  HOOK T __tsan_atomic##bits##_load(const volatile T *at, int) {                                                       \
    atomic((volatile T *)at, sizeof(T), true, false, MW_COUNT_LOAD, PLACE);                                                           \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                                      \
  }                                                                                                                    \
  HOOK void __tsan_atomic##bits##_store(volatile T *at, T value, int) {                                                \
    atomic(at, sizeof(T), false, true, MW_COUNT_STORE, PLACE);                                                                         \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                                     \
  }                                                                                                                    \
  HOOK T __tsan_atomic##bits##_exchange(volatile T *at, T value, int) {                                                \
    atomic(at, sizeof(T), true, true, MW_COUNT_ATOMIC, PLACE);                                                                          \
    return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                                           \
  }                                                                                                                    \
  FETCH(bits, T, add)                                                                                                  \
  FETCH(bits, T, sub)                                                                                                  \
  FETCH(bits, T, and)                                                                                                  \
  FETCH(bits, T, or)                                                                                                   \
  FETCH(bits, T, xor)                                                                                                  \
  FETCH(bits, T, nand)                                                                                                 \
  COMPARE(bits, T, strong, 0)                                                                                          \
  COMPARE(bits, T, weak, 1)                                                                                            \
  HOOK T __tsan_atomic##bits##_compare_exchange_val(volatile T *at, T expected, T value, int, int) {                   \
    atomic(at, sizeof(T), true, false, MW_COUNT_ATOMIC, PLACE, &expected);                                             \
    __atomic_compare_exchange_n(at, &expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                          \
    return expected;                                                                                                   \
  }
ATOMICS(8, unsigned char)
ATOMICS(16, unsigned short)
ATOMICS(32, unsigned)
ATOMICS(64, unsigned long)

HOOK void __tsan_atomic_thread_fence(int) { check->fence(0); }
HOOK void __tsan_atomic_signal_fence(int) {}

/* ==} */

/* {== Rules: -fsanitize=bounds,alignment,signed-integer-overflow,object-size =
 * int s[8]; s[9]: __ubsan_handle_out_of_bounds("k.cu", 12, 'int[8]', 9), which is rule(MW_RULE_INDEX, "k.cu", 12, 9). */

struct source_place {
  const char *file;
  unsigned line, column;
};
struct type_descriptor {
  unsigned short kind, info;
  char name[1];
};

/* An integer as the compilers pass it, of the type told: in the word itself if it fits there. */
FAST long long integer_of(const type_descriptor *type, unsigned long value) {
  const unsigned width = 1u << (type->info >> 1);
  if (width > 64) return *(const long long *)value;
  const unsigned unused = 64 - width;
  return type->info & 1 ? (long long)(value << unused) >> unused : (long long)(value << unused >> unused);
}

struct bounds_data {
  source_place at;
  const type_descriptor *array, *index;
};
HOOK void __ubsan_handle_out_of_bounds(bounds_data *data, unsigned long index) {
  check->rule(MW_RULE_INDEX, data->at.file, data->at.line, integer_of(data->index, index), 0, data->array->name);
}

struct mismatch_data {
  source_place at;
  const type_descriptor *type;
  unsigned char log_alignment, kind;
};
HOOK void __ubsan_handle_type_mismatch_v1(mismatch_data *data, unsigned long address) {
  const unsigned long alignment = 1ul << data->log_alignment;
  const int rule = address & (alignment - 1) ? MW_RULE_ALIGNMENT : MW_RULE_OBJECT;
  check->rule(rule, data->at.file, data->at.line, (long long)address, (long long)alignment, data->type->name);
}
/* From the shim's mw_tested: function is "T &mw_tested(...) [T = const float4]", or as g++ has it "[with T = ...]". */
HOOK void mw_check_misaligned(const void *at, unsigned long alignment, const char *function, const char *file,
                              int line) {
  static char type[96];
  const char *from = function;
  unsigned size = 0;
  while (*from && !(from[0] == 'T' && from[1] == ' ' && from[2] == '=')) from++;
  if (*from) from += 4;
  type[size++] = '\'';
  for (; *from && *from != ']' && *from != ';' && size < sizeof type - 2; from++) type[size++] = *from;
  type[size++] = '\'';
  type[size] = 0;
  check->rule(MW_RULE_ALIGNMENT, file, (unsigned)line, (long long)at, (long long)alignment, type);
}
HOOK void __ubsan_handle_pointer_overflow(void *, unsigned long, unsigned long) {}

struct overflow_data {
  source_place at;
  const type_descriptor *type;
};
FAST void overflow(int what, const overflow_data *data, unsigned long left, unsigned long right) {
  check->rule(what, data->at.file, data->at.line, integer_of(data->type, left), integer_of(data->type, right),
              data->type->name);
}
HOOK void __ubsan_handle_add_overflow(overflow_data *data, unsigned long left, unsigned long right) {
  overflow(MW_RULE_ADD, data, left, right);
}
HOOK void __ubsan_handle_sub_overflow(overflow_data *data, unsigned long left, unsigned long right) {
  overflow(MW_RULE_SUB, data, left, right);
}
HOOK void __ubsan_handle_mul_overflow(overflow_data *data, unsigned long left, unsigned long right) {
  overflow(MW_RULE_MUL, data, left, right);
}
HOOK void __ubsan_handle_divrem_overflow(overflow_data *data, unsigned long left, unsigned long right) {
  overflow(MW_RULE_DIVREM, data, left, right);
}
HOOK void __ubsan_handle_negate_overflow(overflow_data *data, unsigned long value) {
  overflow(MW_RULE_NEGATE, data, 0, value);
}

/* ==} */
}
