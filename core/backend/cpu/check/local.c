/* SPDX-License-Identifier: MIT
 *
 * Local variables that are followed (mark/locals.c): a chain of them for each thread, and cells for what they lie
 * in. A thread that was ended leaves cells behind; so what a cell of a stack says counts within a variable of the chain
 * only. */
#include "core/backend/cpu/check/check.h"

#include <stdio.h>

static cpu_stack stack_now(void) {
  const cpu_worker *worker = cpu_current;
  return worker->in_fibers ? cpu_fibers_lane(worker->fibers)->fiber.stack : worker->kernel_stack.fiber.stack;
}

/* The cell of a stack's last word, which is the machine's own, says that its cells can be written. */
static bool open_stack(cpu_checker *checker) {
  const cpu_stack stack = stack_now();
  const uintptr_t low = (uintptr_t)stack.low, top = low + stack.bytes - 4;
  const mw_cell *cell = cpu_shadow_cell(&checker->shadow, top);
  const mw_check_bits opened = (mw_check_bits)1 << MW_CELL_SITE;
  if (cell && cell->write == opened) return true;
  if (!cpu_shadow_open_range(&checker->shadow, low, low + stack.bytes)) return false;
  cpu_shadow_cell(&checker->shadow, top)->write = opened;
  return true;
}

void cpu_check_local(mw_local *it, int begins) {
  cpu_checker *checker = cpu_checker_now();
  mw_thread *thread = cpu_checker_thread();
  cpu_shadow *shadow = &checker->shadow;
  if (!open_stack(checker)) return;
  if (!begins) {
    if (thread->locals == it) thread->locals = it->outer;
    cpu_shadow_forget(shadow, it->from, it->end - it->from);
    return;
  }
  it->outer = thread->locals;
  thread->locals = it;
  cpu_shadow_close_range(shadow, it->from, it->at - it->from);
  cpu_shadow_close_range(shadow, it->at + it->bytes, it->end - it->at - it->bytes);
  cpu_shadow_fresh(shadow, it->at, it->bytes);
  if (it->kind == MW_LOCAL_SET) cpu_shadow_written(shadow, it->at, it->bytes);
}

bool cpu_is_on_stack(uintptr_t address) {
  const cpu_stack stack = stack_now();
  return address - (uintptr_t)stack.low < stack.bytes;
}

const mw_local *cpu_local_at(const mw_thread *thread, uintptr_t address) {
  for (const mw_local *it = thread->locals; it; it = it->outer)
    if (address - it->from < it->end - it->from) return it;
  return NULL;
}

mw_object cpu_local_object(const mw_local *it, uintptr_t address) {
  const long long away = (long long)(address - it->at), size = it->element;
  const long long index = away >= 0 ? away / size : -((-away + size - 1) / size);
  mw_object object = {.kind = "local", .indexed = it->kind != MW_LOCAL_SCALAR, .index = index};
  snprintf(object.name, sizeof object.name, "%s", it->name);
  if (it->kind == MW_LOCAL_SCALAR)
    snprintf(object.text, sizeof object.text, "local variable '%s'", it->name);
  else
    snprintf(object.text, sizeof object.text, "local array '%s' of %lu elements, index %lld", it->name,
             it->bytes / it->element, index);
  return object;
}

/* A condition names the variable. A copy in a lambda has another address, and is not followed. */
void cpu_check_used(const void *at, const char *file, unsigned line) {
  cpu_checker *checker = cpu_checker_now();
  const mw_thread *thread = cpu_checker_thread();
  const mw_local *it = cpu_local_at(thread, (uintptr_t)at);
  if (!it || it->at != (uintptr_t)at ||
      cpu_shadow_first_empty(&checker->shadow, it->at, it->bytes) == it->at + it->bytes)
    return;
  const cpu_party party = {.known = true,
                           .block_known = true,
                           .block = thread->worker->block,
                           .rank = thread->rank,
                           .file = file,
                           .line = line};
  const mw_object object = cpu_local_object(it, it->at);
  cpu_finding_tell(checker, CPU_FINDING_UNINITIALISED, &party, NULL, &object);
  cpu_shadow_written(&checker->shadow, it->at, it->bytes); /* told once */
}
