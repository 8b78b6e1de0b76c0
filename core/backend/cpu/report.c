/* SPDX-License-Identifier: MIT
 *
 * A caught fault in words: kernel, block, thread, the nearest array and the place in it. A loop or split kernel does
 * not know which thread faulted; its block is then run again in the fiber flavor, and where that run does not fault
 * the message says so. The same for a write that no guard page saw: then it is the whole launch. */
#include "core/backend/cpu/block.h"
#include "core/backend/cpu/fault.h"
#include "core/backend/cpu/module.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { NULL_REACH = 64 << 10, SEARCH_SECONDS = 2, BESIDE = 64 << 10 };

/* ---- which thread ---------------------------------------------------------------------------------------------- */

typedef enum known {
  KNOWN,
  UNKNOWN_NO_TWIN,
  UNKNOWN_NO_FAULT,
  UNKNOWN_NO_WRITE,
  UNKNOWN_LONG,
  UNKNOWN_COOPERATIVE
} known;

static const char *const why_unknown[] = {
    [UNKNOWN_NO_TWIN] = "the kernel cannot be run again thread by thread",
    [UNKNOWN_NO_FAULT] = "the block did not fail again when run once more",
    [UNKNOWN_NO_WRITE] = "the launch did not do it again when run once more",
    [UNKNOWN_LONG] = "looking for it by running the launch once more took too long",
    [UNKNOWN_COOPERATIVE] = "a cooperative launch is not run again",
};

/* The same launch in the fiber flavor, silently. False: there is no such form of the kernel. */
static bool begin_again(cpu_worker *me, const cpu_grid *grid, cpu_grid *again) {
  const mw_unit_kernel *unit;
  const mw_unit_table *table;
  if (cpu_module_twin(grid->kernel, &unit, &table, NULL) != MW_OK) return false;
  cpu_grid_again(again, grid, unit, table);
  me->mute = true;
  cpu_worker_enter(me, again);
  return true;
}

static void end_again(cpu_worker *me) {
  cpu_worker_leave(me);
  me->mute = false;
}

static known run_again(cpu_worker *me, const cpu_grid *grid, cpu_fault *fault) {
  cpu_grid again;
  if (!begin_again(me, grid, &again)) return UNKNOWN_NO_TWIN;
  cpu_worker *outer = cpu_current;
  cpu_current = me;
  bool quiet = cpu_worker_run(me, &again, fault->block, fault->block + fault->blocks);
  cpu_current = outer;
  end_again(me);
  if (quiet || me->fault.kind == CPU_FAULT_ABORTED) return UNKNOWN_NO_FAULT;
  *fault = me->fault;
  return KNOWN;
}

static void tell_where(char *out, size_t size, const cpu_grid *grid, const cpu_fault *fault, known how) {
  const mw_dim3 b = cpu_grid_block(grid, fault->block), t = fault->thread;
  const mw_dim3 last = cpu_grid_block(grid, fault->block + (fault->blocks ? fault->blocks - 1 : 0));
  if (fault->has_thread)
    snprintf(out, size, "block (%u,%u,%u), thread (%u,%u,%u)", b.x, b.y, b.z, t.x, t.y, t.z);
  else if (!fault->blocks)
    snprintf(out, size, "block and thread not known (%s)", why_unknown[how]);
  else if (fault->blocks > 1 && fault->target == CPU_TARGET_LOCAL)
    snprintf(out, size, "one of blocks (%u,%u,%u) to (%u,%u,%u), thread not known (%s)", b.x, b.y, b.z, last.x, last.y,
             last.z, why_unknown[how]);
  else if (how == UNKNOWN_NO_FAULT)
    snprintf(out, size, "block (%u,%u,%u), thread not known (%s)", b.x, b.y, b.z, why_unknown[how]);
  else
    snprintf(out, size, "block (%u,%u,%u)", b.x, b.y, b.z);
}

/* ---- which array ----------------------------------------------------------------------------------------------- */

static uintptr_t pointer_value(const cpu_grid *grid, const mw_param *param) {
  uintptr_t value;
  memcpy(&value, (const char *)grid->abi.args + param->offset, sizeof value);
  return value;
}

/* The parameter that points into the array, the one nearest below the address first; -1: none does. */
static int matching_param(const cpu_grid *grid, const cpu_found *array, uintptr_t address) {
  const mw_kernel *kernel = &grid->kernel->base;
  int best = -1;
  uintptr_t nearest = 0;
  for (int i = 0; i < kernel->nparams; i++) {
    if (!kernel->params[i].pointer) continue;
    uintptr_t value = pointer_value(grid, &kernel->params[i]);
    if (value < array->start || value > array->start + array->bytes) continue;
    if (best >= 0 && (value > address || value <= nearest)) continue;
    best = i;
    nearest = value;
  }
  return best;
}

static size_t element_size(const mw_param *param) {
  return param->dtype == MW_POINTER ? sizeof(void *) : mw_dtype_size(param->dtype) * (param->lanes ? param->lanes : 1);
}

static long long floor_division(long long distance, size_t element) {
  const long long by = (long long)element;
  return distance >= 0 ? distance / by : -((-distance + by - 1) / by);
}

static int tell_distance(char *out, size_t size, const cpu_found *array, uintptr_t address) {
  const uintptr_t end = array->start + array->bytes;
  if (address < array->start)
    return snprintf(out, size, "%zu bytes before the start of", (size_t)(array->start - address));
  if (address == end) return snprintf(out, size, "just past the end of");
  return snprintf(out, size, "%zu bytes past the end of", (size_t)(address - end));
}

static uintptr_t distance(const cpu_found *array, uintptr_t address) {
  if (!array->found) return UINTPTR_MAX;
  if (address < array->start) return array->start - address;
  return address < array->start + array->bytes ? 0 : address - (array->start + array->bytes);
}

/* The array that was meant: the one beside the address, else the nearest that a parameter points to. */
static cpu_found meant(cpu_device *device, const cpu_grid *grid, uintptr_t address) {
  const mw_kernel *kernel = &grid->kernel->base;
  cpu_found best = {0}, nearest = cpu_memory_nearest(&device->memory, address);
  if (distance(&nearest, address) < BESIDE) return nearest;
  for (int i = 0; i < kernel->nparams; i++) {
    if (!kernel->params[i].pointer) continue;
    const uintptr_t value = pointer_value(grid, &kernel->params[i]);
    const cpu_found array = cpu_memory_nearest(&device->memory, value);
    if (distance(&array, value) == 0 && distance(&array, address) < distance(&best, address)) best = array;
  }
  return best.found ? best : nearest;
}

static void tell_array(char *out, size_t size, const cpu_grid *grid, uintptr_t address, const cpu_found *array) {
  if (!array->found) {
    snprintf(out, size, "address 0x%zx, and there is no array", (size_t)address);
    return;
  }
  int used = tell_distance(out, size, array, address);
  int which = matching_param(grid, array, address);
  if (which < 0) {
    snprintf(out + used, size - (size_t)used, " an array of %zu bytes that no parameter points to", array->bytes);
    return;
  }
  const mw_param *param = &grid->kernel->base.params[which];
  used += snprintf(out + used, size - (size_t)used, " parameter %d '%s', an array of %zu bytes (offset %lld", which + 1,
                   param->name, array->bytes, (long long)(address - array->start));
  uintptr_t base = pointer_value(grid, param);
  size_t element = element_size(param);
  long long distance = (long long)(address - base);
  if (element)
    used += snprintf(out + used, size - (size_t)used, "; index %lld, it has %zu of %s",
                     floor_division(distance, element), (array->start + array->bytes - base) / element, param->type);
  snprintf(out + used, size - (size_t)used, ")");
}

/* ---- the sentences --------------------------------------------------------------------------------------------- */

static const char *verb_of(const cpu_fault *fault) {
  return !fault->direction_known ? "went" : fault->write ? "wrote" : "read";
}

static bool any_null(const cpu_grid *grid) {
  const mw_kernel *kernel = &grid->kernel->base;
  for (int i = 0; i < kernel->nparams; i++)
    if (kernel->params[i].pointer && !pointer_value(grid, &kernel->params[i])) return true;
  return false;
}

/* Where no argument is null, it may be dynamic shared memory that was not asked for. */
static mw_status tell_null(const cpu_grid *grid, const cpu_fault *fault, const char *where, mw_error *err) {
  const bool shared = !grid->abi.dynamic_shared && !any_null(grid);
  return mw_fail(err, MW_FAULT, "kernel '%s' %s through a null pointer: %s, address 0x%zx%s", grid->kernel->base.name,
                 verb_of(fault), where, (size_t)fault->address,
                 shared ? "; no argument is null: extern __shared__ memory is there where prepare has shared = bytes"
                        : "");
}

static mw_status tell_bounds(cpu_device *device, const cpu_grid *grid, const cpu_fault *fault, const char *where,
                             mw_error *err) {
  const char *name = grid->kernel->base.name;
  const char *verb = verb_of(fault);
  if (fault->direction_known && fault->address < NULL_REACH) return tell_null(grid, fault, where, err);
  if (!fault->direction_known)
    return mw_fail(err, MW_FAULT,
                   "kernel '%s' went outside every array: %s, an address no memory can have, or one that is not a "
                   "multiple of the size of the vector there%s",
                   name, where,
                   device->memory.exact ? " (MOONWARP_CPU_CHECK aligns arrays to their elements only)" : "");
  char array[384];
  cpu_found nearest = meant(device, grid, fault->address);
  tell_array(array, sizeof array, grid, fault->address, &nearest);
  return mw_fail(err, MW_FAULT, "kernel '%s' %s outside every array: %s, %s", name, verb, where, array);
}

static mw_status tell_stack(const cpu_grid *grid, const cpu_fault *fault, const char *where, mw_error *err) {
  const char *name = grid->kernel->base.name;
  const char *shared = grid->kernel->unit->shared_bytes ? " or static shared memory" : "";
  if (fault->target == CPU_TARGET_LOCAL)
    return mw_fail(err, MW_FAULT, "kernel '%s' overran a local array%s: %s; its stack was overwritten", name, shared,
                   where);
  if (fault->target == CPU_TARGET_NO_CODE)
    return mw_fail(
        err, MW_FAULT,
        "kernel '%s' jumped to an address that holds no code: %s; a local array%s was overrun, or a function "
        "pointer is wrong",
        name, where, shared);
  if (!fault->on_fiber)
    return mw_fail(err, MW_FAULT,
                   "kernel '%s' overflowed its worker's stack: %s; use smaller local arrays or less recursion", name,
                   where);
  return mw_fail(err, MW_FAULT,
                 "kernel '%s' overflowed a thread's stack: %s; use smaller local arrays or less recursion, or give "
                 "each thread more with MOONWARP_CPU_STACK=bytes (now %zu)",
                 name, where, cpu_stack_bytes());
}

/* Known by its addresses: shared memory lies between guards of its own. */
static mw_status tell_shared(const cpu_grid *grid, const cpu_fault *fault, const char *where, mw_error *err) {
  const cpu_found shared = {true, fault->base, fault->bytes};
  char place[96];
  tell_distance(place, sizeof place, &shared, fault->address);
  const char *kind = fault->target == CPU_TARGET_STATIC ? "static" : "dynamic";
  return mw_fail(err, MW_FAULT, "kernel '%s' %s outside its shared memory: %s, %s the %zu bytes of %s shared memory%s",
                 grid->kernel->base.name, verb_of(fault), where, place, fault->bytes, kind,
                 fault->target == CPU_TARGET_STATIC ? " in its module" : "");
}

/* The variable is the first or the last of its unit, not always the one that was meant. */
static mw_status tell_variable(const cpu_grid *grid, const cpu_fault *fault, const char *where, mw_error *err) {
  const cpu_found outermost = {true, fault->base, fault->bytes};
  char place[96];
  tell_distance(place, sizeof place, &outermost, fault->address);
  return mw_fail(err, MW_FAULT,
                 "kernel '%s' %s outside the device variables of its module: %s, %s the %s of them, '%s' of %zu bytes",
                 grid->kernel->base.name, verb_of(fault), where, place, fault->address < fault->base ? "first" : "last",
                 fault->variable->name, fault->bytes);
}

/* The guard of a stack or of shared memory was met by an index that an array is nearer to. */
static bool of_array(cpu_device *device, const cpu_grid *grid, const cpu_fault *fault) {
  if (fault->target == CPU_TARGET_ARRAY) return true;
  if (!fault->bytes) return false;
  const cpu_found array = meant(device, grid, fault->address), own = {true, fault->base, fault->bytes};
  return distance(&array, fault->address) < distance(&own, fault->address);
}

static mw_status tell_signal(cpu_device *device, const cpu_grid *grid, const cpu_fault *fault, const char *where,
                             mw_error *err) {
  const char *name = grid->kernel->base.name;
  const bool array = of_array(device, grid, fault);
  if (!array && fault->target == CPU_TARGET_VARIABLE) return tell_variable(grid, fault, where, err);
  if (!array && (fault->target == CPU_TARGET_DYNAMIC || fault->target == CPU_TARGET_STATIC))
    return tell_shared(grid, fault, where, err);
  if (!array) return tell_stack(grid, fault, where, err);
  if (fault->signal == SIGFPE)
    return mw_fail(err, MW_FAULT, "kernel '%s' divided an integer by zero (or the least integer by -1): %s", name,
                   where);
  if (fault->signal == SIGILL || fault->signal == SIGTRAP)
    return mw_fail(err, MW_FAULT, "kernel '%s' ran into a trap (code that must not be reached): %s", name, where);
  return tell_bounds(device, grid, fault, where, err);
}

static mw_status tell(cpu_device *device, const cpu_grid *grid, const cpu_fault *fault, known how, mw_error *err) {
  const char *name = grid->kernel->base.name;
  const mw_dim3 b = cpu_grid_block(grid, fault->block);
  char where[192];
  tell_where(where, sizeof where, grid, fault, how);
  if (fault->kind == CPU_FAULT_SIGNAL) return tell_signal(device, grid, fault, where, err);
  if (fault->kind == CPU_FAULT_FAIL || fault->has_thread)
    return mw_fail(err, MW_FAULT, "kernel '%s': %s: %s", name, where, fault->text);
  return mw_fail(err, MW_FAULT, "kernel '%s', block (%u,%u,%u): %s", name, b.x, b.y, b.z, fault->text);
}

mw_status cpu_fault_report(cpu_device *device, cpu_worker *me, cpu_grid *grid, mw_error *err) {
  if (!grid->kernel)
    return mw_fail(err, MW_FAULT, "a copy or fill met memory that is not there: address 0x%zx",
                   (size_t)grid->fault.address);
  known how = KNOWN;
  bool blind = !grid->fault.has_thread && grid->fault.kind != CPU_FAULT_RULE && grid->run && grid->unit->run;
  if (blind && grid->fault.target != CPU_TARGET_UNDER) how = run_again(me, grid, &grid->fault);
  return tell(device, grid, &grid->fault, how, err);
}

/* ---- the bytes between an array and its guard ------------------------------------------------------------------ */

/* The launch once more, to see who does it: from its last block on, since that is where arrays end. */
static known find_writer(cpu_worker *me, const cpu_grid *grid, const cpu_slack *slack, cpu_fault *fault) {
  if (grid->meeting) return UNKNOWN_COOPERATIVE;
  cpu_grid again;
  if (!begin_again(me, grid, &again)) return UNKNOWN_NO_TWIN;
  again.watch = slack;
  cpu_worker *outer = cpu_current;
  cpu_current = me;
  const double enough = cpu_now() + SEARCH_SECONDS;
  bool quiet = true;
  unsigned long long left = grid->blocks;
  while (quiet && left && cpu_now() < enough) {
    left--;
    quiet = cpu_worker_run(me, &again, left, left + 1);
  }
  cpu_current = outer;
  end_again(me);
  if (quiet) return left ? UNKNOWN_LONG : UNKNOWN_NO_WRITE;
  if (cpu_slack_written(slack) != me->fault.address) return UNKNOWN_NO_WRITE;
  *fault = me->fault;
  return KNOWN;
}

mw_status cpu_fault_check_slack(cpu_device *device, cpu_worker *me, cpu_grid *grid, mw_error *err) {
  const mw_kernel *kernel = &grid->kernel->base;
  for (int i = 0; i < kernel->nparams; i++) {
    if (!kernel->params[i].pointer) continue;
    const uintptr_t value = pointer_value(grid, &kernel->params[i]);
    cpu_slack slack;
    cpu_fault fault = {.kind = CPU_FAULT_SIGNAL, .signal = SIGSEGV, .write = true, .direction_known = true};
    fault.address = cpu_memory_overrun(&device->memory, value, &slack);
    if (!fault.address) continue;
    const known how = find_writer(me, grid, &slack, &fault);
    cpu_memory_overrun(&device->memory, value, &slack);
    return tell(device, grid, &fault, how, err);
  }
  return MW_OK;
}
