/* SPDX-License-Identifier: MIT
 *
 * The two forms of a kernel are units of their own, each with all functions and variables of the source. Memory that
 * holds the address of one of them is carried from form to form: the address becomes that of the same one there. */
#include "core/backend/cpu/objects.h"

#include <stdlib.h>
#include <string.h>

typedef struct pair { /* the same in both */
  uintptr_t from, to;
  size_t bytes; /* of a function 1: nothing points into it */
} pair;

struct cpu_twin {
  const mw_unit_table *from, *to;
  pair *pairs; /* by the first address */
  size_t count;
  uintptr_t low, high; /* where all of them lie */
};

static int by_address(const void *one, const void *other) {
  const uintptr_t a = ((const pair *)one)->from, b = ((const pair *)other)->from;
  return a < b ? -1 : a > b;
}

static void add_pair(cpu_twin *twin, uintptr_t from, uintptr_t to, size_t bytes) {
  twin->pairs = mw_grow(twin->pairs, twin->count, sizeof *twin->pairs);
  twin->pairs[twin->count++] = (pair){from, to, bytes};
}

/* Tables of one program list its variables in one order. */
static void pair_variables(cpu_twin *twin) {
  for (unsigned i = 0; i < twin->from->nvariables && i < twin->to->nvariables; i++)
    add_pair(twin, (uintptr_t)twin->from->variables[i].address, (uintptr_t)twin->to->variables[i].address,
             (size_t)twin->from->variables[i].bytes);
}

static void pair_functions(cpu_twin *twin, const cpu_unit *from, const cpu_unit *to) {
  char *names, *other_names;
  size_t count, others, k = 0;
  cpu_code *list = cpu_unit_functions(from, &count, &names), *other = cpu_unit_functions(to, &others, &other_names);
  for (size_t i = 0; i < count; i++) {
    while (k < others && strcmp(other[k].name, list[i].name) < 0) k++;
    if (k < others && !strcmp(other[k].name, list[i].name)) add_pair(twin, list[i].address, other[k].address, 1);
  }
  mw_free(list);
  mw_free(other);
  mw_free(names);
  mw_free(other_names);
}

cpu_twin *cpu_twin_make(const cpu_unit *from, const cpu_unit *to) {
  cpu_twin *twin = mw_calloc(1, sizeof *twin);
  twin->from = from->table;
  twin->to = to->table;
  pair_variables(twin);
  pair_functions(twin, from, to);
  qsort(twin->pairs, twin->count, sizeof *twin->pairs, by_address);
  if (!twin->count) return twin;
  const pair *last = &twin->pairs[twin->count - 1];
  twin->low = twin->pairs[0].from;
  twin->high = last->from + last->bytes;
  return twin;
}

void cpu_twin_free(cpu_twin *twin) {
  if (!twin) return;
  mw_free(twin->pairs);
  mw_free(twin);
}

static uintptr_t carried(const cpu_twin *twin, uintptr_t address) {
  size_t low = 0, high = twin->count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (twin->pairs[middle].from <= address)
      low = middle + 1;
    else
      high = middle;
  }
  const pair *below = low ? &twin->pairs[low - 1] : NULL;
  return below && address - below->from < below->bytes ? below->to + (address - below->from) : address;
}

void cpu_twin_carry(const cpu_twin *twin, void *memory, size_t bytes) {
  const size_t skipped = -(uintptr_t)memory % sizeof(uintptr_t);
  if (bytes < skipped) return;
  uintptr_t *word = (uintptr_t *)(void *)((char *)memory + skipped);
  for (size_t i = 0; i < (bytes - skipped) / sizeof *word; i++)
    if (word[i] - twin->low < twin->high - twin->low) word[i] = carried(twin, word[i]);
}

void cpu_twin_carry_variables(const cpu_twin *twin) {
  for (unsigned i = 0; i < twin->from->nvariables && i < twin->to->nvariables; i++) {
    const mw_unit_variable *from = &twin->from->variables[i], *to = &twin->to->variables[i];
    if (from->fixed || from->bytes != to->bytes) continue;
    memcpy(to->address, from->address, (size_t)from->bytes);
    cpu_twin_carry(twin, to->address, (size_t)to->bytes);
  }
}
