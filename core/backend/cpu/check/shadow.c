/* SPDX-License-Identifier: MIT
 *
 * Cells by address. A chunk of cells is reserved for each 64 MiB of address space in which something checked lies; the
 * system gives it memory where it is touched, 4 bytes for a byte. Any cell of it can be read: a kernel's access may lie
 * besides all that is checked. Only the cells of what is checked can be written, as a limit of a process's data
 * (RLIMIT_DATA) counts every page that can. */
#include "core/backend/cpu/check/check.h"

#include <string.h>
#include <sys/mman.h>

enum { CELLS = MW_CHUNK_BYTES / 4, LARGE = 8 << 20 };

static void *reserve(size_t bytes, int access) {
  void *map = mmap(NULL, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return map == MAP_FAILED ? NULL : map;
}

bool cpu_shadow_open(cpu_shadow *shadow) {
  shadow->chunks = reserve(MW_CHUNKS * sizeof *shadow->chunks, PROT_READ | PROT_WRITE);
  return shadow->chunks != NULL;
}

void cpu_shadow_close(cpu_shadow *shadow) {
  if (!shadow->chunks) return;
  for (size_t i = 0; i < shadow->nmade; i++) munmap(shadow->made[i], CELLS * sizeof **shadow->made);
  munmap(shadow->chunks, MW_CHUNKS * sizeof *shadow->chunks);
  mw_free(shadow->made);
  mw_free(shadow->ranges);
}

mw_cell *cpu_shadow_cell(const cpu_shadow *shadow, uintptr_t address) {
  mw_cell *chunk = shadow->chunks[address >> MW_CHUNK_SHIFT & (MW_CHUNKS - 1)];
  return chunk ? chunk + ((address & (MW_CHUNK_BYTES - 1)) >> 2) : NULL;
}

static mw_cell *make_cell(cpu_shadow *shadow, uintptr_t address) {
  mw_cell **chunk = &shadow->chunks[address >> MW_CHUNK_SHIFT];
  if (!*chunk && (*chunk = reserve(CELLS * sizeof **chunk, PROT_READ))) {
    shadow->made = mw_grow(shadow->made, shadow->nmade, sizeof *shadow->made);
    shadow->made[shadow->nmade++] = *chunk;
  }
  return cpu_shadow_cell(shadow, address);
}

#define EACH static inline __attribute__((always_inline))

/* Which bytes of a word lie from `from` to before `end`. */
EACH unsigned bytes_within(uintptr_t word, uintptr_t from, uintptr_t end) {
  unsigned mask = 15;
  if (word < from) mask &= 15u << (from - word);
  if (word + 4 > end) mask &= 15u >> (word + 4 - end);
  return mask;
}

/* Calls visit for the cell of each word of a range, with the bytes of the word that lie in it. */
EACH void each_word(const cpu_shadow *shadow, uintptr_t from, size_t bytes,
                    void (*visit)(mw_cell *, unsigned mask, bool flag), bool flag) {
  const uintptr_t end = from + bytes;
  for (uintptr_t word = from & ~(uintptr_t)3, stop; word < end; word = stop) {
    mw_cell *cell = cpu_shadow_cell(shadow, word);
    stop = (word | (MW_CHUNK_BYTES - 1)) + 1;
    if (!cell) continue;
    for (; word < stop && word < end; word += 4, cell++) visit(cell, bytes_within(word, from, end), flag);
  }
}

EACH void begin_word(mw_cell *cell, unsigned mask, bool has_values) {
  cell->write = (cell->write & 15) | mask;
  cell->read = (cell->read & 15 & ~mask & cell->write) | (has_values ? mask : 0);
}

EACH void end_word(mw_cell *cell, unsigned mask, bool flag) {
  (void)flag;
  cell->write &= 15 & ~mask;
  cell->read &= 15 & ~mask;
}

EACH void write_word(mw_cell *cell, unsigned mask, bool flag) {
  (void)flag;
  cell->read |= mask & cell->write;
}

EACH void close_word(mw_cell *cell, unsigned mask, bool flag) {
  (void)flag;
  cell->write &= 15 & ~mask;
  if (!(cell->write & 15)) cell->read = 15;
}

static char *page_below(const void *address) {
  return (char *)((uintptr_t)address & ~(uintptr_t)(cpu_page_bytes() - 1));
}

static char *page_above(const void *address) {
  return page_below((const char *)address + cpu_page_bytes() - 1);
}

/* Where many cells come into use at once, in large pages. */
static void enlarge_pages(mw_cell *cell, mw_cell *end) {
  char *from = page_above(cell);
  if ((char *)end > from + LARGE) madvise(from, (size_t)(page_below(end) - from), MADV_HUGEPAGE);
}

/* Calls visit for the cells of whole words, chunk by chunk. */
static void each_run(const cpu_shadow *shadow, uintptr_t from, uintptr_t end, void (*visit)(mw_cell *, mw_cell *)) {
  for (uintptr_t stop; from < end; from = stop) {
    mw_cell *cell = cpu_shadow_cell(shadow, from);
    stop = (from | (MW_CHUNK_BYTES - 1)) + 1;
    if (stop > end) stop = end;
    if (cell) visit(cell, cell + (stop - from) / 4);
  }
}

/* Cells of one chunk can be written. */
static bool open_cells(mw_cell *cell, mw_cell *end) {
  char *from = page_below(cell);
  return !mprotect(from, (size_t)(page_above(end) - from), PROT_READ | PROT_WRITE);
}

/* No longer, but for those that share a page with others. */
static void lock_cells(mw_cell *cell, mw_cell *end) {
  char *from = page_above(cell), *to = page_below(end);
  if (from < to) mprotect(from, (size_t)(to - from), PROT_READ);
}

/* Cells of one chunk. Whole pages of them give their memory back. */
static void clear_cells(mw_cell *cell, mw_cell *end) {
  char *from = page_above(cell), *to = page_below(end);
  if (from < to && !madvise(from, (size_t)(to - from), MADV_DONTNEED)) {
    memset(cell, 0, (size_t)(from - (char *)cell));
    lock_cells(cell, end);
    cell = (mw_cell *)to;
  }
  memset(cell, 0, (size_t)((char *)end - (char *)cell));
}

bool cpu_shadow_open_range(cpu_shadow *shadow, uintptr_t from, uintptr_t end) {
  const uintptr_t first = from & ~(uintptr_t)3;
  for (uintptr_t at = first, stop; at < end; at = stop) {
    mw_cell *cell = make_cell(shadow, at);
    stop = (at | (MW_CHUNK_BYTES - 1)) + 1;
    if (stop > end) stop = end;
    if (cell && open_cells(cell, cell + (stop - at + 3) / 4)) continue;
    each_run(shadow, first, at, lock_cells);
    return false;
  }
  return true;
}

bool cpu_shadow_add(cpu_shadow *shadow, cpu_shadow_range memory, cpu_shadow_range all, bool has_values) {
  const uintptr_t end = memory.from + memory.bytes, all_end = all.from + all.bytes;
  if (!cpu_shadow_open_range(shadow, all.from, all_end)) return false;
  shadow->ranges = mw_grow(shadow->ranges, shadow->nranges, sizeof *shadow->ranges);
  shadow->ranges[shadow->nranges++] = memory;
  each_run(shadow, memory.from, end, enlarge_pages);
  each_word(shadow, memory.from, memory.bytes, begin_word, has_values);
  each_word(shadow, all.from, memory.from - all.from, close_word, false);
  each_word(shadow, end, all_end - end, close_word, false);
  return true;
}

void cpu_shadow_fresh(cpu_shadow *shadow, uintptr_t from, size_t bytes) {
  each_word(shadow, from, bytes, begin_word, false);
}

void cpu_shadow_close_range(cpu_shadow *shadow, uintptr_t from, size_t bytes) {
  each_word(shadow, from, bytes, close_word, false);
}

EACH void forget_word(mw_cell *cell, unsigned mask, bool flag) {
  end_word(cell, mask, flag);
  if (!(cell->write & 15)) *cell = (mw_cell){0};
}

void cpu_shadow_forget(cpu_shadow *shadow, uintptr_t from, size_t bytes) {
  each_word(shadow, from, bytes, forget_word, false);
}

uintptr_t cpu_shadow_first_empty(const cpu_shadow *shadow, uintptr_t from, size_t bytes) {
  const uintptr_t end = from + bytes;
  for (uintptr_t word = from & ~(uintptr_t)3; word < end; word += 4) {
    const mw_cell *cell = cpu_shadow_cell(shadow, word);
    const mw_check_bits empty = cell ? bytes_within(word, from, end) & cell->write & ~cell->read : 0;
    if (empty) return word + (uintptr_t)__builtin_ctzll(empty);
  }
  return end;
}

/* At its ends a word may be in part another's. */
void cpu_shadow_remove(cpu_shadow *shadow, uintptr_t from, size_t bytes) {
  for (size_t i = shadow->nranges; i-- > 0;)
    if (shadow->ranges[i].from - from < bytes) shadow->ranges[i] = shadow->ranges[--shadow->nranges];
  const uintptr_t end = from + bytes, first = (from + 3) & ~(uintptr_t)3, last = end & ~(uintptr_t)3;
  if (first >= last) return each_word(shadow, from, bytes, end_word, false);
  each_word(shadow, from, first - from, end_word, false);
  each_run(shadow, first, last, clear_cells);
  each_word(shadow, last, end - last, end_word, false);
}

void cpu_shadow_written(cpu_shadow *shadow, uintptr_t from, size_t bytes) {
  each_word(shadow, from, bytes, write_word, false);
}

/* Which of the four bytes from an address on hold values. */
static unsigned values_at(const cpu_shadow *shadow, uintptr_t address) {
  const mw_cell *cell = cpu_shadow_cell(shadow, address), *next = cpu_shadow_cell(shadow, address + 3);
  const mw_check_bits low = cell ? cell->read & 15 : 15, high = next ? next->read & 15 : 15;
  return (unsigned)((low | high << 4) >> (address & 3));
}

void cpu_shadow_copied(cpu_shadow *shadow, uintptr_t to, uintptr_t from, size_t bytes) {
  const uintptr_t end = to + bytes;
  for (uintptr_t word = to & ~(uintptr_t)3; word < end; word += 4) {
    mw_cell *cell = cpu_shadow_cell(shadow, word);
    const mw_check_bits mask = cell ? bytes_within(word, to, end) & cell->write : 0;
    if (mask) cell->read = (cell->read & ~mask) | (values_at(shadow, from + (word - to)) & mask);
    if (!cell) word |= MW_CHUNK_BYTES - 4; /* nor are there cells in the rest of the chunk */
  }
}

static size_t words_of(const cpu_shadow_range *range) {
  return (range->from % 4 + range->bytes + 3) / 4;
}

unsigned char *cpu_shadow_keep(const cpu_shadow *shadow) {
  size_t words = 0;
  for (size_t i = 0; i < shadow->nranges; i++) words += words_of(&shadow->ranges[i]);
  unsigned char *kept = mw_malloc(words + 1), *to = kept;
  for (size_t i = 0; i < shadow->nranges; i++)
    for (size_t k = 0; k < words_of(&shadow->ranges[i]); k++)
      *to++ = cpu_shadow_cell(shadow, shadow->ranges[i].from + 4 * k)->read & 15;
  return kept;
}

void cpu_shadow_put(cpu_shadow *shadow, const unsigned char *kept) {
  for (size_t i = 0; i < shadow->nranges; i++)
    for (size_t k = 0; k < words_of(&shadow->ranges[i]); k++, kept++) {
      mw_cell *cell = cpu_shadow_cell(shadow, shadow->ranges[i].from + 4 * k);
      if ((cell->read & 15) != *kept)
        cell->read = (cell->read & ~(mw_check_bits)15) | *kept; /* untouched pages stay so */
    }
}

EACH void clear_word(mw_cell *cell, unsigned mask, bool flag) {
  (void)mask, (void)flag;
  if (!((cell->write | cell->read) >> 4)) return; /* untouched pages stay so */
  cell->write &= 15;
  cell->read &= 15;
}

void cpu_shadow_clear_launches(cpu_shadow *shadow) {
  for (size_t i = 0; i < shadow->nranges; i++)
    each_word(shadow, shadow->ranges[i].from, shadow->ranges[i].bytes, clear_word, false);
}

/* Without its epochs, where it is of the stamp's block. */
static mw_check_bits folded(mw_check_bits bits, unsigned long long stamp) {
  const mw_check_bits epochs = ((mw_check_bits)1 << MW_CELL_BLOCK) - ((mw_check_bits)1 << MW_CELL_WARP_EPOCH);
  return (bits ^ stamp) >> MW_CELL_BLOCK ? bits : bits & ~epochs;
}

void cpu_shadow_fold(cpu_shadow *shadow, unsigned long long stamp) {
  for (size_t i = 0; i < shadow->nranges; i++) {
    const cpu_shadow_range range = shadow->ranges[i];
    for (uintptr_t word = range.from & ~(uintptr_t)3; word < range.from + range.bytes; word += 4) {
      mw_cell *cell = cpu_shadow_cell(shadow, word);
      const mw_cell now = {folded(cell->write, stamp), folded(cell->read, stamp)};
      if (now.write != cell->write || now.read != cell->read) *cell = now; /* untouched pages stay so */
    }
  }
}

/* ---- what a launch touched ------------------------------------------------------------------------------------- */

static unsigned mask_of(mw_check_bits bits, const unsigned stamps[2]) {
  const unsigned launch = (unsigned)(bits >> MW_CELL_LAUNCH);
  return launch >= stamps[0] && launch <= stamps[1] ? (unsigned)(bits >> MW_CELL_MASK) & 15 : 0;
}

/* Which bytes of the cell's word were touched so. */
static unsigned touched_bytes(const mw_cell *cell, mw_touch_kind kind, const unsigned stamps[2]) {
  if (kind == MW_TOUCH_READ) return mask_of(cell->read, stamps);
  const bool plain = (cell->write >> MW_CELL_KIND & 3) == MW_ACCESS_PLAIN;
  return plain == (kind == MW_TOUCH_WRITE) ? mask_of(cell->write, stamps) : 0;
}

bool cpu_shadow_is_touched(const cpu_shadow *shadow, cpu_shadow_range range, const unsigned stamps[2]) {
  for (uintptr_t word = range.from & ~(uintptr_t)3; word < range.from + range.bytes; word += 4) {
    const mw_cell *cell = cpu_shadow_cell(shadow, word);
    if (cell && (mask_of(cell->read, stamps) || mask_of(cell->write, stamps))) return true;
  }
  return false;
}

static int touched_so(const cpu_shadow *shadow, cpu_shadow_range range, mw_touch_kind kind, const unsigned stamps[2],
                      int most, mw_touch *out) {
  int count = 0;
  for (size_t at = 0; at < range.bytes; at++) {
    const uintptr_t address = range.from + at;
    const mw_cell *cell = cpu_shadow_cell(shadow, address);
    const unsigned bytes = cell ? touched_bytes(cell, kind, stamps) : 0;
    if (!bytes) at += 3 - (address & 3); /* the word is not */
    if (!(bytes >> (address & 3) & 1)) continue;
    if (!count || out[count - 1].from + out[count - 1].bytes != at) {
      if (count == most) break;
      out[count++] = (mw_touch){kind, at, 0};
    }
    out[count - 1].bytes++;
  }
  return count;
}

int cpu_shadow_touched(const cpu_shadow *shadow, cpu_shadow_range range, const unsigned stamps[2], int most,
                       mw_touch *out) {
  int count = 0;
  for (mw_touch_kind kind = MW_TOUCH_READ; kind <= MW_TOUCH_ATOMIC; kind++)
    count += touched_so(shadow, range, kind, stamps, most, out + count);
  return count;
}
