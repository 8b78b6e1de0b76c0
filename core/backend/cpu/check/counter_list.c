/* SPDX-License-Identifier: MIT
 *
 * The launches of a device that were counted. The first ones are listed one by one; later ones of the same kernel and
 * configuration are summed, so that a script of a million launches keeps as much as one of a thousand. A list that was
 * asked for does not change any more: sums begin anew. */
#include "core/backend/cpu/check/check.h"

#include <string.h>

enum { ONE_BY_ONE = 1000, BUCKETS = 256 };

typedef struct entry {
  mw_counter_launch base; /* first */
  unsigned long long module;
  struct entry *link; /* of the same hash */
} entry;

struct cpu_counter_list {
  const mw_counter_launch *first;
  entry *last, *sums[BUCKETS];
  size_t count;
  mw_counter_launch newest;
};

/* ---- sums ------------------------------------------------------------------------------------------------------ */

static size_t sum(size_t a, size_t b) {
  return a + b;
}

static size_t most(size_t a, size_t b) {
  return a > b ? a : b;
}

static void add_counters(mw_counters *to, const mw_counters *from) {
#define SUM                               sum
#define MOST                              most
#define ADD(name, kind, unit, title, doc) to->name = kind(to->name, from->name);
  MW_COUNTERS(ADD)
}

static int compare_lines(const mw_counter_line *a, const mw_counter_line *b) {
  const int files = strcmp(a->file, b->file);
  return files ? files : a->line - b->line;
}

void cpu_counter_list_add(mw_counter_launch *to, const mw_counter_line *line) {
  size_t at = 0;
  for (size_t end = to->nlines; at < end;) {
    const size_t middle = (at + end) / 2;
    if (compare_lines(&to->lines[middle], line) < 0)
      at = middle + 1;
    else
      end = middle;
  }
  add_counters(&to->counters, &line->counters);
  if (at < to->nlines && !compare_lines(&to->lines[at], line))
    return add_counters(&to->lines[at].counters, &line->counters);
  to->lines = mw_grow(to->lines, to->nlines, sizeof *to->lines);
  memmove(&to->lines[at + 1], &to->lines[at], (to->nlines++ - at) * sizeof *to->lines);
  to->lines[at] = *line;
}

static void add_launch(mw_counter_launch *to, const mw_counter_launch *launch) {
  to->launches++;
  to->blocks += launch->blocks;
  to->blocks_run += launch->blocks_run;
  for (size_t i = 0; i < launch->nlines; i++) cpu_counter_list_add(to, &launch->lines[i]);
}

/* ---- entries --------------------------------------------------------------------------------------------------- */

static entry **bucket_of(cpu_counter_list *list, const mw_counter_launch *launch, unsigned long long module) {
  uint64_t key = module;
  for (int i = 0; i < 3; i++) key = cpu_mixed(key ^ (uint64_t)launch->grid[i] << 32 ^ launch->block[i]);
  return &list->sums[key % BUCKETS];
}

static entry *append(cpu_counter_list *list, const mw_counter_launch *launch, unsigned long long module) {
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

static bool is_alike(const entry *it, const mw_counter_launch *launch, unsigned long long module) {
  return it->module == module && !strcmp(it->base.kernel, launch->kernel) &&
         !memcmp(it->base.grid, launch->grid, sizeof launch->grid) &&
         !memcmp(it->base.block, launch->block, sizeof launch->block);
}

static entry *sum_of(cpu_counter_list *list, const mw_counter_launch *launch, unsigned long long module) {
  entry **bucket = bucket_of(list, launch, module), *it = *bucket;
  while (it && !is_alike(it, launch, module)) it = it->link;
  if (it) return it;
  it = append(list, launch, module);
  it->link = *bucket;
  return *bucket = it;
}

/* ---- the list -------------------------------------------------------------------------------------------------- */

cpu_counter_list *cpu_counter_list_make(void) {
  return mw_calloc(1, sizeof(cpu_counter_list));
}

void cpu_counter_list_append(cpu_counter_list *list, const mw_counter_launch *launch, unsigned long long module) {
  entry *to = list->count < ONE_BY_ONE ? append(list, launch, module) : sum_of(list, launch, module);
  add_launch(&to->base, launch);
  mw_free(list->newest.lines);
  list->newest = *launch;
}

const mw_counter_launch *cpu_counter_list_all(cpu_counter_list *list) {
  memset(list->sums, 0, sizeof list->sums);
  return list->first;
}

const mw_counter_launch *cpu_counter_list_newest(const cpu_counter_list *list) {
  return list->newest.launch ? &list->newest : NULL;
}

void cpu_counter_list_free(cpu_counter_list *list) {
  for (const mw_counter_launch *it = list->first, *next; it; it = next) {
    next = it->next;
    mw_free(it->lines);
    mw_free((void *)(uintptr_t)it);
  }
  mw_free(list->newest.lines);
  mw_free(list);
}
