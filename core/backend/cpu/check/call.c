/* SPDX-License-Identifier: MIT
 *
 * What a call of a library's function does to arrays: it reads elements, of which one without a value is a finding, and
 * what it writes holds values from then on. */
#include <stdio.h>

#include "core/backend/cpu/check/check.h"

/* The array is a module of its own, so that two of one line of the script are two findings. */
static void note_read(cpu_checker *checker, const mw_call *call, int i, size_t index) {
  const mw_range *range = &mw_call_ranges(call)[i];
  cpu_grid grid = {.abi = {.grid = {1, 1, 1}, .block = {1, 1, 1}}};
  const cpu_checked_launch launch = {.kernel = "", .grid = &grid, .source_name = "", .module = ~0ull - (unsigned)i};
  const cpu_party party = {
      .known = true, .host = true, .verb = "read by a library", .file = call->file, .line = (unsigned)call->line};
  mw_object object = {.kind = "array", .indexed = true, .index = (long long)index};
  snprintf(object.name, sizeof object.name, "%s", range->name);
  snprintf(object.text, sizeof object.text, "%s: '%s', element %zu", call->name, range->name, index + 1);
  checker->grid = &grid;
  checker->launch = &launch;
  cpu_finding_tell(checker, CPU_FINDING_UNINITIALISED, &party, NULL, &object);
  cpu_findings_place(checker);
  checker->launch = NULL;
}

void cpu_checker_call(cpu_checker *checker, const mw_call *call) {
  const mw_range *ranges = mw_call_ranges(call);
  pthread_mutex_lock(&checker->one);
  for (int i = 0; i < call->nranges; i++) {
    const uintptr_t from = (uintptr_t)ranges[i].at;
    const uintptr_t empty =
        ranges[i].reads ? cpu_shadow_first_empty(&checker->shadow, from, ranges[i].bytes) : from + ranges[i].bytes;
    if (empty < from + ranges[i].bytes) note_read(checker, call, i, (empty - from) / ranges[i].element);
  }
  for (int i = 0; i < call->nranges; i++) /* what was told as well: once is enough */
    if (ranges[i].reads || ranges[i].writes)
      cpu_shadow_written(&checker->shadow, (uintptr_t)ranges[i].at, ranges[i].bytes);
  pthread_mutex_unlock(&checker->one);
}
