/* SPDX-License-Identifier: MIT
 *
 * What was found, each once: findings of one kind at the same places of the same kernel are one, with a count. What
 * needs a process or the memory of the host (lines, texts) is added when the launch has ended. */
#include "core/backend/cpu/check/check.h"

#include <stdio.h>
#include <string.h>

static const struct {
  const char *name, *remedy;
} kinds[] = {
    [CPU_FINDING_BOUNDS] = {"bounds", "guard the access by the array's length"},
    [CPU_FINDING_UNINITIALISED] = {"uninitialised", "write it first: by fill, by a copy, or in the kernel"},
    [CPU_FINDING_RACE_SHARED] = {"race in shared memory", "put __syncthreads() between the two accesses"},
    [CPU_FINDING_RACE_GLOBAL] = {"race in global memory",
                                 "use an atomic, give each thread its own element, or launch twice"},
    [CPU_FINDING_INDEX] = {"index", "keep the index below the bound"},
    [CPU_FINDING_MISALIGNED] = {"misaligned", "begin at a multiple of the type's size; a GPU faults there"},
};

static void set_party(mw_party *to, const cpu_party *from, const cpu_checker *checker) {
  const mw_dim3 size = checker->grid->abi.block, b = cpu_block_index(checker->grid, from->block);
  *to = (mw_party){.known = from->known, .block_known = from->block_known, .bytes = (int)from->bytes};
  to->verb = from->how == MW_ACCESS_ATOMIC ? "atomic" : from->write ? "write" : "read";
  memcpy(to->block, (uint32_t[3]){b.x, b.y, b.z}, sizeof to->block);
  const unsigned plane = size.x * size.y;
  memcpy(to->thread, (uint32_t[3]){from->rank % size.x, from->rank % plane / size.x, from->rank / plane},
         sizeof to->thread);
}

static bool is_same(const cpu_noted *noted, const char *kernel, cpu_finding_kind kind, const void *first,
                    const void *second, unsigned line) {
  const bool places = (noted->places[0] == first && noted->places[1] == second) ||
                      (noted->places[0] == second && noted->places[1] == first);
  return noted->kind == kind && places && noted->base.parties[0].line == (int)line * (first == NULL) &&
         !strcmp(noted->base.kernel, kernel);
}

static cpu_noted *find(const cpu_checker *checker, cpu_finding_kind kind, const void *first, const void *second,
                       unsigned line) {
  for (cpu_noted *noted = checker->findings; noted; noted = noted->next)
    if (is_same(noted, checker->launch->kernel, kind, first, second, line)) return noted;
  return NULL;
}

static cpu_noted *add(cpu_checker *checker, cpu_finding_kind kind) {
  cpu_noted *noted = *checker->last = mw_calloc(1, sizeof *noted);
  checker->last = &noted->next;
  if (checker->latest) checker->latest->base.next = &noted->base;
  checker->latest = noted;
  noted->kind = kind;
  noted->base.kind = kinds[kind].name;
  noted->base.remedy = kinds[kind].remedy;
  noted->base.launch = checker->launches;
  snprintf(noted->base.kernel, sizeof noted->base.kernel, "%s", checker->launch->kernel);
  return noted;
}

void cpu_finding_note(cpu_checker *checker, cpu_finding_kind kind, uintptr_t address, const cpu_party *first,
                      const cpu_party *second, const char *remark) {
  const void *other = second && second->known ? second->place : NULL;
  cpu_noted *noted = find(checker, kind, first->place, other, 0);
  checker->fault = noted;
  if (noted) {
    noted->base.count++;
    return;
  }
  noted = checker->fault = add(checker, kind);
  noted->base.count = 1;
  noted->places[0] = first->place;
  noted->places[1] = other;
  snprintf(noted->base.remark, sizeof noted->base.remark, "%s", remark);
  set_party(&noted->base.parties[0], first, checker);
  if (second) set_party(&noted->base.parties[1], second, checker);
  checker->launch->name_address(checker->launch->owner, address, noted->base.object, sizeof noted->base.object);
}

void cpu_finding_rule(cpu_checker *checker, int what, const cpu_party *party, const char *file, unsigned line,
                      long long value, unsigned long long bound, const char *type) {
  const cpu_finding_kind kind = what == MW_RULE_INDEX ? CPU_FINDING_INDEX : CPU_FINDING_MISALIGNED;
  if (what == MW_RULE_OVERFLOW) return;
  cpu_noted *noted = find(checker, kind, NULL, NULL, line);
  if (noted) {
    noted->base.count++;
    return;
  }
  noted = add(checker, kind);
  noted->base.count = 1;
  set_party(&noted->base.parties[0], party, checker);
  snprintf(noted->base.parties[0].file, sizeof noted->base.parties[0].file, "%s", file ? file : "");
  noted->base.parties[0].line = (int)line;
  if (kind == CPU_FINDING_INDEX)
    snprintf(noted->base.object, sizeof noted->base.object, "index %lld of %s", value, type);
  else
    snprintf(noted->base.object, sizeof noted->base.object, "%s at an address that is no multiple of %llu", type,
             bound);
}

static void place_party(const cpu_checked_launch *launch, mw_party *party, const void *place) {
  if (party->line == 0 && !cpu_place_find(launch, place, party->file, sizeof party->file, &party->line)) return;
  cpu_place_text(launch, party->file, party->line, party->text, sizeof party->text);
}

/* Of those of the launch that has ended. */
void cpu_findings_place(cpu_checker *checker) {
  for (cpu_noted *noted = checker->findings; noted; noted = noted->next) {
    if (noted->placed) continue;
    noted->placed = true;
    place_party(checker->launch, &noted->base.parties[0], noted->places[0]);
    if (noted->base.parties[1].known) place_party(checker->launch, &noted->base.parties[1], noted->places[1]);
    noted->base.intended = strstr(noted->base.parties[0].text, "moonwarp: race-ok") ||
                           strstr(noted->base.parties[1].text, "moonwarp: race-ok");
  }
}

void cpu_finding_leave(cpu_checker *checker) {
  cpu_worker *worker = cpu_current;
  const cpu_noted *noted = checker->fault;
  worker->fault = (cpu_fault){.kind = CPU_FAULT_FAIL, .block = worker->ctx.block, .has_thread = true};
  const uint32_t *t = noted->base.parties[0].thread;
  worker->fault.thread = (mw_dim3){t[0], t[1], t[2]};
  snprintf(worker->fault.text, sizeof worker->fault.text, "%s of %d bytes outside every array: %s",
           noted->base.parties[0].verb, noted->base.parties[0].bytes, noted->base.object);
  worker->busy = 0;
  cpu_fault_leave(worker);
}

void cpu_findings_free(cpu_checker *checker) {
  while (checker->findings) {
    cpu_noted *next = checker->findings->next;
    mw_free(checker->findings);
    checker->findings = next;
  }
}
