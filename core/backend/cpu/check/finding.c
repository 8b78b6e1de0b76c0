/* SPDX-License-Identifier: MIT
 *
 * What was found, each once: findings of one kind at the same places of the same kernel are one, with a count. What
 * needs a process or the memory of the host (lines, texts) is added when the launch has ended, and then it is told. One
 * that an index out of its bounds has led to is told only if it comes without that, too. */
#include "core/backend/cpu/check/check.h"

#include <stdio.h>
#include <string.h>

static const struct {
  const char *name, *remedy;
  bool warning; /* it may be meant, and fails nothing */
} kinds[] = {
    [CPU_FINDING_BOUNDS] = {"bounds", "guard the access by the array's length"},
    [CPU_FINDING_UNINITIALISED] = {"uninitialised", "write it first: by fill, by a copy, or in the kernel"},
    [CPU_FINDING_RACE_SHARED] = {"race in shared memory", "put __syncthreads() between the two accesses"},
    [CPU_FINDING_RACE_GLOBAL] = {"race in global memory",
                                 "use an atomic, give each thread its own element, or launch twice"},
    [CPU_FINDING_WARP] = {"warp-synchronous",
                          "in each step read, __syncwarp(), write, __syncwarp(): lanes of a warp need not run in step"},
    [CPU_FINDING_FENCE] = {"missing fence",
                           "put __threadfence() between the atomic operation that saw the write and the read", true},
    [CPU_FINDING_INDEX] = {"index", "keep the index below the bound"},
    [CPU_FINDING_MISALIGNED] = {"misaligned", "begin at a multiple of the type's size; a GPU faults there"},
    [CPU_FINDING_BARRIER] = {"barrier", "let all threads of the block reach the same barrier"},
    [CPU_FINDING_MASK] = {"mask", "let the mask name exactly the lanes that take part"},
    [CPU_FINDING_OVERFLOW] = {"overflow", "compute it in 64 bits: cast one side to size_t or long long", true},
    [CPU_FINDING_IDLE] = {"idle blocks", "launch fewer blocks", true},
    [CPU_FINDING_UNUSED] = {"unused array",
                            "declare the parameter const if it is read only, or see why it is not "
                            "written",
                            true},
    [CPU_FINDING_HANG] = {"hang", "see that what it waits for is written in every order, and is not overwritten"},
    [CPU_FINDING_ORDER] =
        {"depends on order",
         "what that order has left stays for the script's checks; sums of floats by atomics and places "
         "by atomicAdd may differ",
         true},
    [CPU_FINDING_SAMPLED] = {"sampled", "run all blocks: leave out blocks:N of --check", true},
};

static void set_party(mw_party *to, const cpu_party *from, const cpu_checker *checker) {
  const mw_dim3 size = checker->grid->abi.block, b = cpu_block_index(checker->grid, from->block);
  *to = (mw_party){.known = from->known, .block_known = from->block_known};
  to->host = from->host;
  to->bytes = (int)from->bytes;
  to->verb = from->verb                                                      ? from->verb
             : from->how == MW_ACCESS_ATOMIC || from->how == MW_ACCESS_BLOCK ? "atomic"
             : from->write                                                   ? "write"
                                                                             : "read";
  memcpy(to->block, (uint32_t[3]){b.x, b.y, b.z}, sizeof to->block);
  const unsigned plane = size.x * size.y;
  memcpy(to->thread, (uint32_t[3]){from->rank % size.x, from->rank % plane / size.x, from->rank / plane},
         sizeof to->thread);
}

/* ---- which finding it is --------------------------------------------------------------------------------------- */

static const void *place_of(const cpu_party *party) {
  return party && party->known ? party->place : NULL;
}

static unsigned line_of(const cpu_party *party) {
  return party && party->known && !party->place ? party->line : 0;
}

static bool is_party(const cpu_noted *noted, int i, const cpu_party *party) {
  return noted->places[i] == place_of(party) && noted->lines[i] == line_of(party);
}

static bool is_same(const cpu_noted *noted, const cpu_checked_launch *launch, cpu_finding_kind kind,
                    const cpu_party *first, const cpu_party *second) {
  const bool parties = (is_party(noted, 0, first) && is_party(noted, 1, second)) ||
                       (is_party(noted, 0, second) && is_party(noted, 1, first));
  return noted->kind == kind && noted->module == launch->module && parties &&
         !strcmp(noted->base.kernel, launch->kernel);
}

static cpu_noted *find(const cpu_checker *checker, cpu_finding_kind kind, const cpu_party *first,
                       const cpu_party *second, const mw_object *object) {
  for (cpu_noted *noted = checker->findings; noted; noted = noted->next)
    if (is_same(noted, checker->launch, kind, first, second) &&
        (!object || !strcmp(noted->base.object.text, object->text)))
      return noted;
  return NULL;
}

/* ---- what follows from an index out of its bounds, or a misaligned address ------------------------------------ */

static cpu_slip *slip_of(cpu_checker *checker, const cpu_party *party) {
  return &checker->slips[(party->block * 1021 + party->rank) % CPU_SLIPS];
}

static void slip(cpu_checker *checker, const cpu_party *party, const cpu_noted *noted) {
  *slip_of(checker, party) = (cpu_slip){party->block, party->rank, noted};
}

static const cpu_noted *slipped(cpu_checker *checker, const cpu_party *party) {
  if (!party || !party->known) return NULL;
  const cpu_slip *it = slip_of(checker, party);
  return it->noted && it->block == party->block && it->rank == party->rank ? it->noted : NULL;
}

static const cpu_noted *due_to(cpu_checker *checker, cpu_finding_kind kind, const cpu_party *first,
                               const cpu_party *second) {
  if (kind == CPU_FINDING_INDEX || kind == CPU_FINDING_MISALIGNED) return NULL;
  const cpu_noted *cause = slipped(checker, first);
  if (!cause) cause = slipped(checker, second);
  if (cause && cause->kind == CPU_FINDING_MISALIGNED && kind != CPU_FINDING_BOUNDS) return NULL; /* only its fault */
  return cause;
}

/* ---- noting ---------------------------------------------------------------------------------------------------- */

static cpu_noted *add(cpu_checker *checker, cpu_finding_kind kind) {
  cpu_noted *noted = *checker->last = mw_calloc(1, sizeof *noted);
  checker->last = &noted->next;
  noted->kind = kind;
  noted->module = checker->launch->module;
  noted->base.kind = kinds[kind].name;
  noted->base.remedy = kinds[kind].remedy;
  noted->base.warning = kinds[kind].warning && !(kind == CPU_FINDING_FENCE && checker->mode.strict);
  noted->base.launch = checker->launches;
  noted->base.seed = checker->seed;
  snprintf(noted->base.kernel, sizeof noted->base.kernel, "%s", checker->launch->kernel);
  return noted;
}

static void add_party(cpu_checker *checker, cpu_noted *noted, int i, const cpu_party *party) {
  if (!party) return;
  set_party(&noted->base.parties[i], party, checker);
  noted->places[i] = place_of(party);
  noted->lines[i] = line_of(party);
  if (!party->known || !party->line) return;
  noted->base.parties[i].line = (int)party->line;
  snprintf(noted->base.parties[i].file, sizeof noted->base.parties[i].file, "%s", party->file ? party->file : "");
}

static bool is_narrow(const cpu_party *first, const cpu_party *second) {
  return first && second && first->how != MW_ACCESS_PLAIN && second->how != MW_ACCESS_PLAIN &&
         (first->how == MW_ACCESS_BLOCK || second->how == MW_ACCESS_BLOCK);
}

static cpu_scene scene_of(cpu_checker *checker, const cpu_party *first, const cpu_party *second) {
  const cpu_grid *grid = checker->grid;
  const mw_dim3 size = grid->abi.block;
  const cpu_worker *worker = cpu_current;
  const mw_thread *thread = worker ? cpu_checker_thread() : NULL; /* none: the launch has ended */
  return (cpu_scene){.block_threads = size.x * size.y * size.z,
                     .blocks = grid->blocks,
                     .cooperative = grid->cooperative,
                     .met_block = worker && worker->met_block,
                     .met_flag = worker && worker->met_flag,
                     .has_lock = thread && cpu_order_has_lock(checker, thread),
                     .is_narrow = is_narrow(first, second)};
}

/* Counts a finding that was noted before (false), or notes it. Without parties it is known by its object. */
static bool note(cpu_checker *checker, cpu_finding_kind kind, const cpu_party *first, const cpu_party *second,
                 const mw_object *object) {
  cpu_noted *noted = find(checker, kind, first, second, first ? NULL : object);
  const bool is_new = !noted;
  if (is_new) {
    noted = add(checker, kind);
    add_party(checker, noted, 0, first);
    add_party(checker, noted, 1, second);
    noted->scene = scene_of(checker, first, second);
  }
  if (is_new || noted->due) noted->due = due_to(checker, kind, first, second);
  if (kind == CPU_FINDING_INDEX || kind == CPU_FINDING_MISALIGNED) slip(checker, first, noted);
  checker->fault = noted;
  (noted->same ? noted->same : noted)->base.count++;
  return is_new;
}

void cpu_finding_note(cpu_checker *checker, cpu_finding_kind kind, uintptr_t address, const cpu_party *first,
                      const cpu_party *second, const char *remark) {
  if (!note(checker, kind, first, second, NULL)) return;
  mw_finding *finding = &checker->fault->base;
  snprintf(finding->remark, sizeof finding->remark, "%s", remark);
  checker->launch->locate(checker->launch->owner, address, &finding->object);
  const char *memory = finding->object.kind;
  if (kind == CPU_FINDING_UNINITIALISED && memory && strstr(memory, "shared"))
    finding->remedy = "write it first in this block, with __syncthreads() before the read if another thread does";
}

static const char same_value[] = "all have written the same value";

/* The writes of a race have not all the same value. */
static void note_change(cpu_noted *noted) {
  char *remark = (noted->same ? noted->same : noted)->base.remark;
  noted->changed = true;
  if (!strcmp(remark, same_value)) *remark = '\0';
}

void cpu_finding_settle(cpu_checker *checker) {
  cpu_doubt *doubt = &checker->doubt;
  if (!doubt->open) return;
  doubt->open = false;
  if (!memcmp((const void *)doubt->address, doubt->before, doubt->bytes)) return;
  if (!doubt->noted)
    cpu_finding_note(checker, doubt->kind, doubt->address, &doubt->parties[0], &doubt->parties[1], cpu_volatile);
  note_change(doubt->noted ? doubt->noted : checker->fault);
}

void cpu_finding_tell(cpu_checker *checker, cpu_finding_kind kind, const cpu_party *first, const cpu_party *second,
                      const mw_object *object) {
  if (note(checker, kind, first, second, object)) checker->fault->base.object = *object;
}

void cpu_finding_fault(cpu_checker *checker, const cpu_fault *fault) {
  const mw_dim3 size = checker->grid->abi.block, t = fault->thread;
  const bool is_local = fault->target == CPU_TARGET_LOCAL || fault->target == CPU_TARGET_NO_CODE;
  const cpu_party party = {.known = true,
                           .block_known = true,
                           .block = fault->block,
                           .rank = t.x + size.x * (t.y + size.y * t.z),
                           .write = fault->write,
                           .verb = fault->direction_known && !is_local ? NULL : "access",
                           .place = is_local ? NULL : fault->place};
  mw_object object;
  checker->launch->locate_fault(checker->launch->owner, fault, &object);
  cpu_finding_tell(checker, CPU_FINDING_BOUNDS, &party, NULL, &object);
}

/* ---- when a launch has ended ----------------------------------------------------------------------------------- */

static void place_party(const cpu_checked_launch *launch, mw_party *party, const void *place) {
  if (party->line == 0 && !cpu_place_find(launch, place, party->file, sizeof party->file, &party->line)) return;
  cpu_place_text(launch, party->file, party->line, party->text, sizeof party->text);
}

static void place(const cpu_checker *checker, cpu_noted *noted) {
  const cpu_checked_launch *launch = checker->launch;
  mw_party *parties = noted->base.parties;
  noted->placed = true;
  for (int i = 0; i < 2; i++)
    if (parties[i].known) place_party(launch, &parties[i], noted->places[i]);
  noted->base.remedy = cpu_remedy_of(checker, noted);
  noted->base.intended = strstr(parties[0].text, "moonwarp: race-ok") || strstr(parties[1].text, "moonwarp: race-ok");
}

static bool same_text(const char *one, const char *other) {
  return one == other || (one && other && !strcmp(one, other));
}

/* One without parties is known by its object. */
static bool same_memory(const mw_finding *one, const mw_finding *other) {
  if (!one->parties[0].known) return !strcmp(one->object.text, other->object.text);
  return same_text(one->object.kind, other->object.kind) && !strcmp(one->object.name, other->object.name) &&
         one->object.parameter == other->object.parameter;
}

static bool same_line(const mw_party *one, const mw_party *other) {
  return one->known == other->known && one->line == other->line && !strcmp(one->file, other->file) &&
         !strcmp(one->text, other->text) && same_text(one->verb, other->verb);
}

/* One that was told, of the same memory at the same lines of a kernel of this name: the compiler has made the line
 * several times, or the module was compiled once more. */
static cpu_noted *find_told(const cpu_checker *checker, const cpu_noted *noted) {
  const mw_party *mine = noted->base.parties;
  for (cpu_noted *other = checker->findings; other != noted; other = other->next) {
    const mw_party *its = other->base.parties;
    if (other->told && other->kind == noted->kind && !strcmp(other->base.kernel, noted->base.kernel) &&
        same_memory(&other->base, &noted->base) &&
        ((same_line(&its[0], &mine[0]) && same_line(&its[1], &mine[1])) ||
         (same_line(&its[0], &mine[1]) && same_line(&its[1], &mine[0]))))
      return other;
  }
  return NULL;
}

/* Whether it comes of the index that is a finding already: at that line, or nobody knows where. */
static bool is_due(const cpu_noted *noted) {
  const mw_party *parties = noted->base.parties;
  if (!noted->due) return false;
  const int line = noted->due->base.parties[0].line;
  return parties[0].line == line || parties[0].line == 0 || (parties[1].known && parties[1].line == line);
}

static void tell(cpu_checker *checker, cpu_noted *noted) {
  noted->told = true;
  if (checker->told_last)
    checker->told_last->base.next = &noted->base;
  else
    checker->told = noted;
  checker->told_last = noted;
}

static bool is_write_race(const cpu_noted *noted) {
  const mw_party *parties = noted->base.parties;
  return (noted->kind == CPU_FINDING_RACE_SHARED || noted->kind == CPU_FINDING_RACE_GLOBAL) &&
         !strcmp(parties[0].verb, "write") && parties[1].known && !strcmp(parties[1].verb, "write");
}

static void remark_value(cpu_noted *noted) {
  if (noted->changed)
    note_change(noted);
  else if (!noted->same)
    snprintf(noted->base.remark, sizeof noted->base.remark, "%s", same_value);
}

void cpu_findings_place(cpu_checker *checker) {
  for (cpu_noted *noted = checker->findings; noted; noted = noted->next) {
    if (noted->told || noted->same) continue;
    if (!noted->placed) place(checker, noted);
    if (is_due(noted) || noted->explained == noted->base.count) continue;
    noted->same = find_told(checker, noted);
    if (is_write_race(noted)) remark_value(noted);
    if (noted->same)
      noted->same->base.count += noted->base.count;
    else
      tell(checker, noted);
  }
  memset(checker->slips, 0, sizeof checker->slips);
}

void cpu_finding_leave(cpu_checker *checker) {
  cpu_worker *worker = cpu_current;
  const mw_finding *finding = &checker->fault->base;
  const char *kind = finding->object.kind;
  const bool is_shared = kind && strstr(kind, "shared");
  worker->fault = (cpu_fault){.kind = CPU_FAULT_FAIL, .block = worker->ctx.block, .has_thread = true};
  const uint32_t *t = finding->parties[0].thread;
  worker->fault.thread = (mw_dim3){t[0], t[1], t[2]};
  snprintf(worker->fault.text, sizeof worker->fault.text, "%s of %d bytes outside %s: %s", finding->parties[0].verb,
           finding->parties[0].bytes, is_shared ? "its shared memory" : "every array", finding->object.text);
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
