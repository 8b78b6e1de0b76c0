/* SPDX-License-Identifier: MIT
 *
 * The launches of a device that were counted. The first ones are listed one by one; later ones of the same kernel and
 * configuration are summed, so that a script of a million launches keeps as much as one of a thousand. A list that was
 * asked for does not change any more: sums begin anew. */
#include "core/backend/cpu/check/check.h"

#include <string.h>

enum { ONE_BY_ONE = 1000, BUCKETS = 256 };

typedef struct entry {
  mw_counted base; /* first */
  unsigned long long module;
  struct entry *link; /* of the same hash */
} entry;

struct cpu_counted {
  const mw_counted *first;
  entry *last, *sums[BUCKETS];
  size_t count;
  mw_counted newest;
};

/* ---- sums ------------------------------------------------------------------------------------------------------ */

static void add_counts(mw_counts *to, const mw_counts *from) {
  const size_t atomic = to->atomic_contention, shared = to->shared_atomic_contention;
  for (size_t i = 0; i < sizeof *to / sizeof(size_t); i++) ((size_t *)to)[i] += ((const size_t *)from)[i];
  to->atomic_contention = atomic > from->atomic_contention ? atomic : from->atomic_contention;
  to->shared_atomic_contention = shared > from->shared_atomic_contention ? shared : from->shared_atomic_contention;
}

static int compare_lines(const mw_counted_line *a, const mw_counted_line *b) {
  const int files = strcmp(a->file, b->file);
  return files ? files : a->line - b->line;
}

void cpu_counted_add(mw_counted *to, const mw_counted_line *line) {
  size_t at = 0;
  for (size_t end = to->nlines; at < end;) {
    const size_t middle = (at + end) / 2;
    if (compare_lines(&to->lines[middle], line) < 0)
      at = middle + 1;
    else
      end = middle;
  }
  add_counts(&to->counts, &line->counts);
  if (at < to->nlines && !compare_lines(&to->lines[at], line)) return add_counts(&to->lines[at].counts, &line->counts);
  to->lines = mw_grow(to->lines, to->nlines, sizeof *to->lines);
  memmove(&to->lines[at + 1], &to->lines[at], (to->nlines++ - at) * sizeof *to->lines);
  to->lines[at] = *line;
}

static void add_launch(mw_counted *to, const mw_counted *launch) {
  to->launches++;
  to->blocks += launch->blocks;
  to->blocks_run += launch->blocks_run;
  for (size_t i = 0; i < launch->nlines; i++) cpu_counted_add(to, &launch->lines[i]);
}

/* ---- entries --------------------------------------------------------------------------------------------------- */

static entry **bucket_of(cpu_counted *list, const mw_counted *launch, unsigned long long module) {
  uint64_t key = module;
  for (int i = 0; i < 3; i++) key = cpu_mixed(key ^ (uint64_t)launch->grid[i] << 32 ^ launch->block[i]);
  return &list->sums[key % BUCKETS];
}

static entry *append(cpu_counted *list, const mw_counted *launch, unsigned long long module) {
  entry *made = mw_calloc(1, sizeof *made);
  memcpy(made->base.kernel, launch->kernel, sizeof made->base.kernel);
  memcpy(made->base.grid, launch->grid, sizeof made->base.grid);
  memcpy(made->base.block, launch->block, sizeof made->base.block);
  made->base.launch = launch->launch;
  made->module = module;
  if (list->last) list->last->base.next = &made->base;
  if (!list->first) list->first = &made->base;
  list->count++;
  return list->last = made;
}

static bool is_alike(const entry *it, const mw_counted *launch, unsigned long long module) {
  return it->module == module && !strcmp(it->base.kernel, launch->kernel) &&
         !memcmp(it->base.grid, launch->grid, sizeof launch->grid) &&
         !memcmp(it->base.block, launch->block, sizeof launch->block);
}

static entry *sum_of(cpu_counted *list, const mw_counted *launch, unsigned long long module) {
  entry **bucket = bucket_of(list, launch, module), *it = *bucket;
  while (it && !is_alike(it, launch, module)) it = it->link;
  if (it) return it;
  it = append(list, launch, module);
  it->link = *bucket;
  return *bucket = it;
}

/* ---- the list -------------------------------------------------------------------------------------------------- */

cpu_counted *cpu_counted_make(void) {
  return mw_calloc(1, sizeof(cpu_counted));
}

void cpu_counted_append(cpu_counted *list, const mw_counted *launch, unsigned long long module) {
  entry *to = list->count < ONE_BY_ONE ? append(list, launch, module) : sum_of(list, launch, module);
  add_launch(&to->base, launch);
  mw_free(list->newest.lines);
  list->newest = *launch;
}

const mw_counted *cpu_counted_list(cpu_counted *list) {
  memset(list->sums, 0, sizeof list->sums);
  return list->first;
}

const mw_counted *cpu_counted_newest(const cpu_counted *list) {
  return list->newest.launch ? &list->newest : NULL;
}

void cpu_counted_free(cpu_counted *list) {
  for (const mw_counted *it = list->first, *next; it; it = next) {
    next = it->next;
    mw_free(it->lines);
    mw_free((void *)(uintptr_t)it);
  }
  mw_free(list->newest.lines);
  mw_free(list);
}
