/* SPDX-License-Identifier: MIT
 *
 * From an address to the memory that it belongs to, or was meant to: a parameter's array, shared memory, a device
 * variable; as data, and in the words of messages. */
#include "core/backend/cpu/objects.h"

#include <dlfcn.h>
#include <string.h>

enum { BESIDE = 64 << 10 };
/* Two arrays with nothing between them but their guards, and parts of pages: an address that lies between them, not
 * within a page of one, may be meant for either. */
enum { BETWEEN = 2 * BESIDE + (8 << 10) };

uintptr_t cpu_locate_pointer(const cpu_grid *grid, const mw_param *param) {
  uintptr_t value;
  memcpy(&value, (const char *)grid->abi.args + param->offset, sizeof value);
  return value;
}

/* ---- arrays ---------------------------------------------------------------------------------------------------- */

/* The parameter that points into the array, the one nearest below the address first; -1: none does. */
static int matching_param(const cpu_launched *at, const cpu_found *array, uintptr_t address) {
  const mw_kernel *kernel = &at->kernel->base;
  int best = -1;
  uintptr_t nearest = 0;
  for (int i = 0; i < kernel->nparams; i++) {
    if (!kernel->params[i].pointer) continue;
    uintptr_t value = cpu_locate_pointer(at->grid, &kernel->params[i]);
    if (value < array->start || value > array->start + array->bytes) continue;
    if (best >= 0 && (value > address || value <= nearest)) continue;
    best = i;
    nearest = value;
  }
  return best;
}

static size_t size_of(mw_dtype dtype, int lanes) {
  return dtype == MW_POINTER ? sizeof(void *) : mw_dtype_size(dtype) * (size_t)(lanes ? lanes : 1);
}

static long long floor_division(long long distance, size_t element) {
  const long long by = (long long)element;
  return distance >= 0 ? distance / by : -((-distance + by - 1) / by);
}

uintptr_t cpu_locate_start(const mw_param *param, uintptr_t base, uintptr_t byte) {
  const size_t element = size_of(param->dtype, param->lanes);
  return element ? base + (uintptr_t)floor_division((long long)(byte - base), element) * element : byte;
}

void cpu_locate_distance(char *out, size_t size, const cpu_found *array, uintptr_t address) {
  const uintptr_t end = array->start + array->bytes;
  if (address < array->start)
    snprintf(out, size, "%zu byte%s before the start of", (size_t)(array->start - address),
             array->start - address == 1 ? "" : "s");
  else if (address < end)
    snprintf(out, size, "byte %zu of", (size_t)(address - array->start));
  else if (address == end)
    snprintf(out, size, "just past the end of");
  else
    snprintf(out, size, "%zu byte%s past the end of", (size_t)(address - end), address - end == 1 ? "" : "s");
}

/* The one next to the address, else the nearest that a parameter points to. */
cpu_found cpu_locate_meant(const cpu_launched *at, uintptr_t address) {
  const mw_kernel *kernel = &at->kernel->base;
  cpu_found best = {0}, nearest = cpu_memory_nearest(at->device->memory, address);
  if (cpu_found_distance(&nearest, address) < BESIDE) return nearest;
  for (int i = 0; i < kernel->nparams; i++) {
    if (!kernel->params[i].pointer) continue;
    const uintptr_t value = cpu_locate_pointer(at->grid, &kernel->params[i]);
    const cpu_found array = cpu_memory_nearest(at->device->memory, value);
    if (cpu_found_distance(&array, value) == 0 &&
        cpu_found_distance(&array, address) < cpu_found_distance(&best, address))
      best = array;
  }
  return best.found ? best : nearest;
}

/* Kind, parameter and index; the parameter, or NULL. */
static const mw_param *name_array(const cpu_launched *at, const cpu_found *array, uintptr_t address, mw_object *out) {
  const int which = matching_param(at, array, address);
  out->kind = "array";
  if (which < 0) return NULL;
  const mw_param *param = &at->kernel->base.params[which];
  const size_t element = size_of(param->dtype, param->lanes);
  out->parameter = which + 1;
  snprintf(out->name, sizeof out->name, "%s", param->name);
  out->indexed = element > 0;
  if (element) out->index = floor_division((long long)(address - cpu_locate_pointer(at->grid, param)), element);
  return param;
}

/* "just past the end of parameter 1 'x', an array of 400 bytes (offset 400; index 100, it has 100 elements)" */
static void describe_array(const cpu_launched *at, const cpu_found *array, uintptr_t address, mw_object *out) {
  const size_t size = sizeof out->text;
  const mw_param *param = name_array(at, array, address, out);
  cpu_locate_distance(out->text, size, array, address);
  if (!param) {
    mw_list_add(out->text, size, " ", "an array of %zu bytes that no parameter points to", array->bytes);
    return;
  }
  mw_list_add(out->text, size, " ", "parameter %d '%s', an array of %zu bytes (offset %lld", out->parameter, out->name,
              array->bytes, (long long)(address - array->start));
  const size_t element = size_of(param->dtype, param->lanes);
  if (element) {
    const size_t elements = (array->start + array->bytes - cpu_locate_pointer(at->grid, param)) / element;
    mw_list_add(out->text, size, "; ", "index %lld, it has %zu %s", out->index, elements,
                elements == 1 ? "element" : "elements");
  }
  mw_list_add(out->text, size, "", ")");
}

/* The words for the array on the other side, if it may have been meant as well. */
static void add_other(const cpu_launched *at, const cpu_found *array, uintptr_t address, mw_object *out) {
  const cpu_neighbours both = cpu_memory_neighbours(at->device->memory, address);
  const cpu_found other = both.other.start == array->start ? both.nearest : both.other;
  if (cpu_found_distance(array, address) < cpu_page_bytes() || cpu_found_distance(&other, address) > BETWEEN) return;
  mw_object second = {0};
  describe_array(at, &other, address, &second);
  if (second.parameter) mw_list_add(out->text, sizeof out->text, " and ", "%s", second.text);
}

void cpu_locate_array(const cpu_launched *at, uintptr_t address, mw_object *out) {
  const cpu_found array = cpu_locate_meant(at, address), freed = cpu_memory_freed(at->device->memory, address);
  const size_t size = sizeof out->text;
  *out = (mw_object){0};
  if (freed.found && cpu_found_distance(&array, address) >= cpu_found_distance(&freed, address)) {
    out->kind = "array";
    cpu_locate_distance(out->text, size, &freed, address);
    mw_list_add(out->text, size, " ", "a closed array of %zu bytes", freed.bytes);
  } else if (!array.found) {
    snprintf(out->text, size, "address 0x%zx, and there is no array", (size_t)address);
  } else {
    describe_array(at, &array, address, out);
    add_other(at, &array, address, out);
  }
}

/* An element of an array that a parameter points to. */
bool cpu_locate_element(const cpu_launched *at, uintptr_t address, mw_object *out) {
  const cpu_found array = cpu_memory_nearest(at->device->memory, address);
  if (!array.found || address - array.start >= array.bytes) return false;
  if (!name_array(at, &array, address, out) || !out->indexed) return false;
  snprintf(out->text, sizeof out->text, "parameter %d '%s', index %lld", out->parameter, out->name, out->index);
  return true;
}

/* ---- shared memory and variables ------------------------------------------------------------------------------- */

static void locate_beside(uintptr_t address, const cpu_found *own, bool is_static, mw_object *out) {
  char place[96];
  cpu_locate_distance(place, sizeof place, own, address);
  out->kind = is_static ? "shared" : "dynamic shared";
  snprintf(out->text, sizeof out->text, "%s the %zu bytes of %s shared memory", place, own->bytes,
           is_static ? "static" : "dynamic");
}

static bool locate_shared(uintptr_t address, const char *memory, size_t bytes, bool is_static, mw_object *out) {
  const cpu_found own = {true, (uintptr_t)memory, bytes};
  if (!bytes || cpu_found_distance(&own, address) > 2 * cpu_page_bytes()) return false;
  locate_beside(address, &own, is_static, out);
  return true;
}

static bool locate_dynamic(const cpu_launched *at, uintptr_t address, mw_object *out) {
  return locate_shared(address, cpu_current->ctx.dynamic_shared, at->grid->abi.dynamic_shared, false, out);
}

/* "shared variable 't', index [1][7]" */
static void name_shared(const mw_shared_variable *variable, size_t at, mw_object *out) {
  const size_t size = sizeof out->text;
  size_t index = at / variable->element, left = variable->bytes / variable->element;
  const bool is_table = variable->dims[1];
  snprintf(out->name, sizeof out->name, "%s", variable->name);
  snprintf(out->text, size, "shared variable '%s'", variable->name);
  out->indexed = variable->dims[0];
  out->index = (long long)index;
  if (out->indexed) mw_list_add(out->text, size, ", ", is_table ? "index " : "index %zu", index);
  for (int i = 0; is_table && i < 4 && variable->dims[i]; i++) {
    left /= variable->dims[i];
    mw_list_add(out->text, size, "", "[%zu]", index / left);
    index %= left;
  }
}

static bool locate_static(const mw_shared_layout *layout, uintptr_t address, mw_object *out) {
  const char *memory = cpu_current->ctx.static_shared;
  if (!layout || !locate_shared(address, memory, (size_t)layout->bytes, true, out)) return false;
  const size_t at = address - (uintptr_t)memory;
  const mw_shared_variable *before = NULL;
  for (unsigned i = 0; i < layout->nvariables; i++) {
    const mw_shared_variable *variable = &layout->variables[i];
    if (at - variable->offset < variable->bytes) return name_shared(variable, at - (size_t)variable->offset, out), true;
    if (at >= variable->offset) before = variable;
  }
  if (!before || at >= layout->bytes) return true;
  const size_t past = at - (size_t)(before->offset + before->bytes);
  snprintf(out->name, sizeof out->name, "%s", before->name);
  snprintf(out->text, sizeof out->text, "%zu bytes past the end of shared variable '%s' of %llu bytes", past,
           before->name, before->bytes);
  return true;
}

bool cpu_locate_variable(const mw_unit_variable *variable, uintptr_t address, mw_object *out) {
  const size_t at = address - (uintptr_t)variable->address, element = size_of(variable->dtype, variable->lanes);
  if (at >= variable->bytes) return false;
  out->kind = "variable";
  snprintf(out->name, sizeof out->name, "%s", variable->name);
  out->indexed = element > 0;
  out->index = element ? (long long)(at / element) : 0;
  if (element)
    snprintf(out->text, sizeof out->text, "device variable '%s', index %lld", variable->name, out->index);
  else
    snprintf(out->text, sizeof out->text, "byte %zu of the device variable '%s'", at, variable->name);
  return true;
}

static bool locate_variable(const mw_unit_table *table, uintptr_t address, mw_object *out) {
  for (unsigned i = 0; i < table->nvariables; i++)
    if (cpu_locate_variable(&table->variables[i], address, out)) return true;
  return false;
}

/* In the unit's memory, and none of its device variables: the lines of the accesses name it. */
static bool locate_own(const mw_unit_table *table, uintptr_t address, mw_object *out) {
  Dl_info there, unit;
  if (!dladdr((const void *)address, &there) || !dladdr(table, &unit) || there.dli_fbase != unit.dli_fbase)
    return false;
  out->kind = "variable";
  snprintf(out->text, sizeof out->text, "a static variable of a function or class");
  return true;
}

void cpu_locate(const cpu_launched *at, uintptr_t address, mw_object *out) {
  *out = (mw_object){0};
  const mw_unit_table *table = at->grid->table;
  if (!locate_dynamic(at, address, out) && !locate_static(table->shared, address, out) &&
      !locate_variable(table, address, out) && !locate_own(table, address, out) &&
      !cpu_locate_element(at, address, out))
    cpu_locate_array(at, address, out);
}

void cpu_locate_fault(const cpu_launched *at, const cpu_fault *fault, mw_object *out) {
  const cpu_found own = {true, fault->base, fault->bytes};
  const size_t size = sizeof out->text;
  char place[96];
  *out = (mw_object){0};
  if (fault->target == CPU_TARGET_LOCAL || fault->target == CPU_TARGET_NO_CODE)
    snprintf(out->text, size, "a local array");
  else if (fault->target == CPU_TARGET_DYNAMIC || fault->target == CPU_TARGET_STATIC)
    locate_beside(fault->address, &own, fault->target == CPU_TARGET_STATIC, out);
  else if (fault->target == CPU_TARGET_VARIABLE) {
    cpu_locate_distance(place, sizeof place, &own, fault->address);
    out->kind = "variable";
    snprintf(out->text, size, "%s the device variables of the module", place);
  } else if (fault->direction_known && fault->address < CPU_NULL_REACH)
    snprintf(out->text, size, "a null pointer, address 0x%zx", (size_t)fault->address);
  else if (fault->direction_known)
    cpu_locate_array(at, fault->address, out);
  else
    snprintf(out->text, size, "an address that no memory can have");
}
