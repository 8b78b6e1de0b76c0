/* SPDX-License-Identifier: MIT
 *
 * A caught fault in words: kernel, block, thread, the nearest array and the place in it. A loop or split kernel does
 * not know which thread faulted; its block is then run again in the fiber flavor, and where that run does not fault
 * the message says so. The same for a write that no guard page saw: then it is the whole launch. For example:
 *   kernel 'add' wrote outside every array: block (3,0,0), thread (7,0,0), just past the end of parameter 1 'x', an
 *   array of 400 bytes (offset 400; index 100, it has 100 elements) */
#include "core/backend/cpu/objects.h"

#include <string.h>

enum { SEARCH_SECONDS = 2 };

/* ---- which thread: functions that look for it return NULL, or why it stays unknown ----------------------------- */

static const char no_variant[] = "the kernel cannot be run again thread by thread";
static const char no_fault[] = "the block did not fail again when run once more";
static const char no_write[] = "the launch did not do it again when run once more";

typedef struct story { /* what a message is made of */
  cpu_launched at;
  const cpu_fault *fault;
  char where[192]; /* block and thread */
  mw_error *err;
} story;

/* The same launch in the fiber flavor, silently. False: the kernel has no fiber variant. */
static bool begin_again(cpu_worker *me, cpu_kernel *kernel, const cpu_grid *grid, cpu_grid *again) {
  cpu_variant variant;
  if (!cpu_module_fiber_variant(kernel, &variant)) return false;
  if (variant.there) cpu_twin_carry_variables(variant.there);
  cpu_grid_begin(again, &grid->abi, variant.kernel, variant.table, grid->priority);
  me->mute = true;
  cpu_worker_enter(me, again);
  return true;
}

static void end_again(cpu_worker *me) {
  cpu_worker_leave(me);
  me->mute = false;
}

static const char *run_again(cpu_worker *me, cpu_kernel *kernel, const cpu_grid *grid, cpu_fault *fault) {
  cpu_grid again;
  if (!begin_again(me, kernel, grid, &again)) return no_variant;
  bool quiet = cpu_worker_run(me, fault->block, fault->block + fault->blocks);
  end_again(me);
  if (quiet || me->fault.kind == CPU_FAULT_ABORTED) return no_fault;
  *fault = me->fault;
  return NULL;
}

static void format_where(char *out, size_t size, const cpu_grid *grid, const cpu_fault *fault, const char *why) {
  const mw_dim3 b = cpu_block_index(grid, fault->block), t = fault->thread;
  const mw_dim3 last = cpu_block_index(grid, fault->block + (fault->blocks ? fault->blocks - 1 : 0));
  if (fault->has_thread)
    snprintf(out, size, "block (%u,%u,%u), thread (%u,%u,%u)", b.x, b.y, b.z, t.x, t.y, t.z);
  else if (!fault->blocks)
    snprintf(out, size, "block and thread not known (%s)", why);
  else if (fault->blocks > 1 && fault->target == CPU_TARGET_LOCAL)
    snprintf(out, size, "one of blocks (%u,%u,%u) to (%u,%u,%u), thread not known (%s)", b.x, b.y, b.z, last.x, last.y,
             last.z, why);
  else if (why == no_fault)
    snprintf(out, size, "block (%u,%u,%u), thread not known (%s)", b.x, b.y, b.z, why);
  else
    snprintf(out, size, "block (%u,%u,%u)", b.x, b.y, b.z);
}

/* ---- the sentences --------------------------------------------------------------------------------------------- */

#define FAULT(s, format, ...) mw_fail((s)->err, MW_FAULT, "kernel '%s' " format, (s)->at.kernel->base.name, __VA_ARGS__)

static const char *verb_of(const story *s) {
  return !s->fault->direction_known ? "went" : s->fault->write ? "wrote" : "read";
}

static bool any_null(const story *s) {
  const mw_kernel *kernel = &s->at.kernel->base;
  for (int i = 0; i < kernel->nparams; i++)
    if (kernel->params[i].pointer && !cpu_locate_pointer(s->at.grid, &kernel->params[i])) return true;
  return false;
}

/* Where no argument is null, it may be dynamic shared memory that was not asked for. */
static mw_status format_null(const story *s) {
  const bool shared = !s->at.grid->abi.dynamic_shared && !any_null(s);
  return FAULT(s, "%s through a null pointer: %s, address 0x%zx%s", verb_of(s), s->where, (size_t)s->fault->address,
               shared ? "; no argument is null: extern __shared__ memory is there where prepare has shared = bytes"
                      : "");
}

static mw_status format_bounds(const story *s) {
  if (s->fault->direction_known && s->fault->address < CPU_NULL_REACH) return format_null(s);
  if (!s->fault->direction_known)
    return FAULT(s,
                 "went outside every array: %s, an address no memory can have, or one that is not a multiple of the "
                 "size of the vector there",
                 s->where);
  mw_object array;
  cpu_locate_array(&s->at, s->fault->address, &array);
  return FAULT(s, "%s outside every array: %s, %s", verb_of(s), s->where, array.text);
}

static mw_status format_stack(const story *s) {
  const char *shared = s->at.kernel->unit->shared_bytes ? " or static shared memory" : "";
  if (s->fault->target == CPU_TARGET_LOCAL)
    return FAULT(s, "overran a local array%s: %s; its stack was overwritten", shared, s->where);
  if (s->fault->target == CPU_TARGET_NO_CODE)
    return FAULT(s,
                 "jumped to an address that holds no code: %s; a local array%s was overrun, or a function pointer is "
                 "wrong",
                 s->where, shared);
  if (!s->fault->on_fiber)
    return FAULT(s, "overflowed its worker's stack: %s; use smaller local arrays or less recursion", s->where);
  return FAULT(s,
               "overflowed a thread's stack: %s; use smaller local arrays or less recursion, or give each thread more "
               "with MOONWARP_CPU_STACK=bytes (now %zu)",
               s->where, cpu_stack_bytes());
}

/* What has its own guards: shared memory, or all variables of a unit, of which the first or the last is named. */
static mw_status format_beside(const story *s) {
  const cpu_fault *fault = s->fault;
  const cpu_found own = {true, fault->base, fault->bytes};
  char place[96];
  cpu_locate_distance(place, sizeof place, &own, fault->address);
  if (fault->target == CPU_TARGET_VARIABLE)
    return FAULT(s, "%s outside the device variables of its module: %s, %s the %s of them, '%s' of %zu bytes",
                 verb_of(s), s->where, place, fault->address < fault->base ? "first" : "last", fault->variable->name,
                 fault->bytes);
  const bool fixed = fault->target == CPU_TARGET_STATIC;
  return FAULT(s, "%s outside its shared memory: %s, %s the %zu bytes of %s shared memory%s", verb_of(s), s->where,
               place, fault->bytes, fixed ? "static" : "dynamic", fixed ? " in its module" : "");
}

/* The guard of a stack or of shared memory was met by an index that an array is nearer to. */
static bool of_array(const story *s) {
  if (s->fault->target == CPU_TARGET_ARRAY) return true;
  if (!s->fault->bytes) return false;
  const cpu_found array = cpu_locate_meant(&s->at, s->fault->address), own = {true, s->fault->base, s->fault->bytes};
  return cpu_found_distance(&array, s->fault->address) < cpu_found_distance(&own, s->fault->address);
}

static mw_status format_signal(const story *s) {
  const cpu_target target = s->fault->target;
  const int number = s->fault->signal;
  if (!of_array(s))
    return target == CPU_TARGET_VARIABLE || target == CPU_TARGET_DYNAMIC || target == CPU_TARGET_STATIC
               ? format_beside(s)
               : format_stack(s);
  if (number == SIGFPE) return FAULT(s, "divided an integer by zero (or the least integer by -1): %s", s->where);
  if (number == SIGILL || number == SIGTRAP)
    return FAULT(s, "ran into a trap (code that must not be reached): %s", s->where);
  return format_bounds(s);
}

/* Check mode knows the line of each access, and finds it without this. */
static mw_status add_hint(const story *s, mw_status status) {
  const bool is_access = s->fault->signal == SIGSEGV || s->fault->signal == SIGBUS;
  if (s->err && is_access && s->fault->target != CPU_TARGET_UNDER && !s->at.device->checker)
    mw_list_add(s->err->text, sizeof s->err->text, "; ", "--check names the line");
  return status;
}

static mw_status describe(cpu_device *device, cpu_kernel *kernel, const cpu_grid *grid, const cpu_fault *fault,
                          const char *why, mw_error *err) {
  story s = {{device, kernel, grid}, fault, "", err};
  const mw_dim3 b = cpu_block_index(grid, fault->block);
  format_where(s.where, sizeof s.where, grid, fault, why);
  if (fault->kind == CPU_FAULT_SIGNAL) return add_hint(&s, format_signal(&s));
  if (fault->kind == CPU_FAULT_FAIL || fault->has_thread)
    return mw_fail(err, MW_FAULT, "kernel '%s': %s: %s", kernel->base.name, s.where, fault->text);
  return mw_fail(err, MW_FAULT, "kernel '%s', block (%u,%u,%u): %s", kernel->base.name, b.x, b.y, b.z, fault->text);
}

mw_status cpu_explain(cpu_device *device, cpu_worker *me, cpu_kernel *kernel, cpu_grid *grid, mw_error *err) {
  cpu_fault *fault = &grid->stop.fault;
  const bool blind = !fault->has_thread && fault->kind != CPU_FAULT_RULE && grid->unit->run;
  const char *why = blind && fault->target != CPU_TARGET_UNDER ? run_again(me, kernel, grid, fault) : NULL;
  return describe(device, kernel, grid, fault, why, err);
}

/* ---- the bytes between an array and its guards ----------------------------------------------------------------- */

/* The launch once more, to see who does it: after an array from the last block on, since that is where arrays end. */
static const char *find_writer(cpu_worker *me, cpu_kernel *kernel, const cpu_grid *grid, const cpu_redzone *redzone,
                               cpu_fault *fault) {
  if (grid->grid_barrier) return "a cooperative launch is not run again";
  cpu_grid again;
  if (!begin_again(me, kernel, grid, &again)) return no_variant;
  again.watch = redzone;
  const double enough = mw_clock() + SEARCH_SECONDS;
  bool quiet = true;
  const bool behind = fault->address >= (uintptr_t)redzone->end;
  unsigned long long left = grid->blocks;
  while (quiet && left && mw_clock() < enough) {
    left--;
    const unsigned long long block = behind ? left : grid->blocks - 1 - left;
    quiet = cpu_worker_run(me, block, block + 1);
  }
  end_again(me);
  if (quiet && left) return "looking for it by running the launch once more took too long";
  if (quiet || cpu_redzone_written(redzone) != me->fault.address) return no_write;
  *fault = me->fault;
  return NULL;
}

mw_status cpu_explain_redzone(cpu_device *device, cpu_worker *me, cpu_kernel *kernel, cpu_grid *grid, mw_error *err) {
  const void *args = grid->abi.args;
  cpu_redzone redzone, other;
  uintptr_t byte, again;
  const int which = cpu_memory_overrun(device->memory, &kernel->base, args, 0, &redzone, &byte);
  if (which < 0) return MW_OK;
  const mw_param *param = &kernel->base.params[which];
  cpu_fault fault = {
      .kind = CPU_FAULT_SIGNAL, .signal = SIGSEGV, .address = byte, .write = true, .direction_known = true};
  const char *why = find_writer(me, kernel, grid, &redzone, &fault);
  for (int i = 0; i >= 0;) i = cpu_memory_overrun(device->memory, &kernel->base, args, i, &other, &again);
  fault.address = cpu_locate_start(param, cpu_locate_pointer(grid, param), fault.address);
  return describe(device, kernel, grid, &fault, why, err);
}
