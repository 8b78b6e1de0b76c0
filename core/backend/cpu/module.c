/* SPDX-License-Identifier: MIT
 *
 * A module holds one unit where it can, two where kernels need different flavors, and one more for each template
 * instance asked for later. A source with device variables must have them once, so all its kernels come from one unit:
 * the fiber flavor where any kernel needs fibers. */
#include "core/backend/cpu/objects.h"

#include "core/backend/refs.h"
#include "core/backend/reject.h"
#include "core/source/signature.h"

#include <string.h>

typedef struct loaded {
  cpu_unit *unit;
  char *instance;     /* the template instance it was made for; NULL: the source's own kernels */
  cpu_place *checked; /* in check mode the memory of its variables */
  size_t nchecked;
  cpu_twin *there, *back; /* of a fiber variant: from the unit next to it, and to that; made at its first use */
  struct loaded *next;
} loaded;

struct cpu_module {
  mw_module base;
  unsigned long long number; /* of those compiled so far */
  cpu_program *program;
  cpu_declared *declared; /* a copy: the program renews its own */
  int ndeclared;
  loaded *units;
  cpu_kernel *kernels;
  const char **names;
  mw_refusals refused;     /* a copy, as declared */
  pthread_mutex_t lock;    /* fiber variants may be loaded by a stream's thread */
  struct cpu_module *next; /* of the device's; only the script's thread changes the list */
};

static const char *const variables_why = "the source has device variables and another kernel of it needs fibers";

/* ---- loading --------------------------------------------------------------------------------------------------- */

static cpu_device *device_of(const cpu_module *module) {
  return (cpu_device *)module->base.device;
}

static void forget_variables(cpu_checker *checker, const loaded *entry) {
  for (size_t i = 0; i < entry->nchecked; i++)
    cpu_shadow_remove(cpu_checker_shadow(checker), entry->checked[i].address, entry->checked[i].bytes);
}

/* What has been added before a failure is forgotten with the rest. */
static bool check_variables(cpu_checker *checker, loaded *entry) {
  size_t count;
  entry->checked = cpu_unit_places(entry->unit, &count);
  for (; entry->nchecked < count; entry->nchecked++) {
    const cpu_place *place = &entry->checked[entry->nchecked];
    const cpu_shadow_range memory = {place->address, place->bytes};
    if (!cpu_shadow_add(cpu_checker_shadow(checker), memory, memory, true)) return false;
  }
  return true;
}

static void unload_first(cpu_module *module) {
  loaded *entry = module->units;
  module->units = entry->next;
  cpu_checker *checker = device_of(module)->checker;
  if (checker) forget_variables(checker, entry);
  cpu_twin_free(entry->there);
  cpu_twin_free(entry->back);
  cpu_unit_free(entry->unit);
  mw_free(entry->checked);
  mw_free(entry->instance);
  mw_free(entry);
}

static void copy_declarations(cpu_module *module) {
  const cpu_declared *all;
  mw_free(module->declared);
  module->ndeclared = cpu_program_kernels(module->program, &all);
  module->declared = mw_calloc((size_t)module->ndeclared, sizeof *all);
  if (module->ndeclared) memcpy(module->declared, all, (size_t)module->ndeclared * sizeof *all);
}

/* Where a kernel has been refused, another may have its name. */
static void renew_declarations(cpu_module *module) {
  const cpu_declared *all;
  if (!module->names && cpu_program_kernels(module->program, &all) != module->ndeclared) copy_declarations(module);
}

static mw_status load(cpu_module *module, cpu_flavor flavor, const char *instance, loaded **out, mw_error *err) {
  const char *const list[] = {instance, NULL};
  cpu_unit *unit;
  mw_status status = cpu_unit_load(module->program, flavor, instance ? list : NULL, &unit, err);
  if (status != MW_OK) return status;
  renew_declarations(module);
  if (unit->table->abi != MW_ABI_VERSION) {
    cpu_unit_free(unit);
    return mw_fail(err, MW_COMPILE, "module '%s': compiled for another version of moonwarp: clear the cache",
                   module->base.name);
  }
  for (unsigned i = 0; i < unit->table->nkernels && !status; i++) {
    const mw_unit_kernel *kernel = &unit->table->kernels[i];
    status = mw_check_kernel(module->base.name, kernel->name, (int)kernel->nparams, kernel->args_bytes, err);
  }
  if (status != MW_OK) {
    cpu_unit_free(unit);
    return status;
  }
  cpu_checker *checker = device_of(module)->checker;
  unit->table->bind(checker ? cpu_checker_runtime(checker) : &cpu_runtime);
  loaded *entry = mw_calloc(1, sizeof *entry);
  *entry = (loaded){.unit = unit, .instance = instance ? mw_strdup(instance) : NULL, .next = module->units};
  module->units = entry;
  if (checker && !check_variables(checker, entry)) {
    unload_first(module);
    return mw_fail(err, MW_NO_MEMORY, "module '%s': out of memory for check mode's shadow of its device variables",
                   module->base.name);
  }
  if (out) *out = entry;
  return MW_OK;
}

static bool any_engine(const cpu_module *module, bool fiber) {
  for (int i = 0; i < module->ndeclared; i++)
    if ((strcmp(module->declared[i].engine, "fiber") == 0) == fiber) return true;
  return false;
}

static cpu_declared *declaration(const cpu_module *module, const char *name) {
  const size_t end = strcspn(name, "<( ");
  size_t start = end; /* after its namespaces */
  while (start && name[start - 1] != ':') start--;
  for (int i = 0; i < module->ndeclared; i++) {
    cpu_declared *declared = &module->declared[i];
    if (name[end] == '<' && !declared->is_template) continue;
    if (strlen(declared->name) == end - start && strncmp(declared->name, name + start, end - start) == 0)
      return declared;
  }
  return NULL;
}

/* Kernels that the fast flavor lists without code: their split form did not compile, or they need fibers. The reason
 * stands only in that unit, so it is noted. */
static bool lacks_kernels(const cpu_module *module, const cpu_unit *unit) {
  bool lacks = false;
  for (unsigned i = 0; i < unit->table->nkernels; i++) {
    const mw_unit_kernel *kernel = &unit->table->kernels[i];
    if (kernel->run) continue;
    lacks = true;
    cpu_declared *declared = declaration(module, kernel->name);
    if (!declared) continue;
    strcpy(declared->engine, "fiber");
    snprintf(declared->engine_why, sizeof declared->engine_why, "%s", kernel->engine_why);
  }
  return lacks;
}

static cpu_flavor checked_flavor(const cpu_module *module) {
  return module->base.device->counters ? CPU_COUNT : CPU_CHECK;
}

static mw_status load_source(cpu_module *module, mw_error *err) {
  const bool variables = cpu_program_has_variables(module->program);
  if (device_of(module)->checker) return load(module, checked_flavor(module), NULL, NULL, err);
  const bool fibers = any_engine(module, true), fast = any_engine(module, false) || !module->ndeclared;
  if ((variables && fibers) || !fast) return load(module, CPU_FIBER, NULL, NULL, err);
  mw_status status = load(module, CPU_FAST, NULL, NULL, err);
  if (status != MW_OK || !lacks_kernels(module, module->units->unit)) return status;
  if (variables) unload_first(module);
  return load(module, CPU_FIBER, NULL, NULL, err);
}

/* Each unit has the warnings of the whole source; the last loaded has an instance's, too. */
static void gather_log(cpu_module *module) {
  module->base.log = "";
  for (loaded *entry = module->units; entry && !*module->base.log; entry = entry->next)
    module->base.log = entry->unit->log;
}

static bool all_cached(const cpu_module *module) {
  for (const loaded *entry = module->units; entry; entry = entry->next)
    if (!entry->unit->from_cache) return false;
  return true;
}

/* ---- the names of its kernels ---------------------------------------------------------------------------------- */

static const mw_unit_kernel *find_in(const cpu_unit *unit, const char *name) {
  for (unsigned i = 0; i < unit->table->nkernels; i++) {
    const mw_unit_kernel *kernel = &unit->table->kernels[i];
    if (mw_same_name(kernel->name, name) && (kernel->run || kernel->thread)) return kernel;
  }
  return NULL;
}

/* Where the kernel can run, the fast flavor before the other. */
static const mw_unit_kernel *find(const cpu_module *module, const char *name, const loaded **where) {
  const mw_unit_kernel *best = NULL;
  for (const loaded *entry = module->units; entry; entry = entry->next) {
    const mw_unit_kernel *kernel = find_in(entry->unit, name);
    if (!kernel || (best && !kernel->run)) continue;
    best = kernel;
    *where = entry;
  }
  return best;
}

/* "lab::f(float *)" */
static void signature_write(const cpu_declared *declared, const mw_unit_kernel *kernel, char *out, size_t size) {
  char types[400] = "";
  for (unsigned i = 0; i < kernel->nparams; i++) mw_list_add(types, sizeof types, ", ", "%s", kernel->params[i].type);
  snprintf(out, size, "%s%s(%s)", declared->scope, declared->shown, types);
}

/* Of those that share a name. */
static bool is_first(const cpu_module *module, int kernel) {
  int i = 0;
  while (module->declared[i].is_template || strcmp(module->declared[i].shown, module->declared[kernel].shown)) i++;
  return i == kernel;
}

static void list_names(cpu_module *module) {
  const mw_refusals *now = cpu_program_refused(module->program), *refused = &module->refused;
  int count = 0;
  mw_refusals_copy(&module->refused, now->at, now->size);
  module->names = mw_calloc((size_t)module->ndeclared + mw_refusals_count(refused) + 1, sizeof *module->names);
  for (int i = 0; i < module->ndeclared; i++)
    if (!module->declared[i].is_template && is_first(module, i) &&
        !mw_refusals_check(refused, module->declared[i].shown, NULL))
      module->names[count++] = module->declared[i].shown;
  mw_refusal one;
  for (size_t at = 0; mw_refusals_next(refused, &at, &one);)
    if (one.what == MW_REFUSED_KERNEL) module->names[count++] = one.name;
  module->base.kernel_names = module->names;
}

static void free_module(cpu_module *module) {
  while (module->kernels) {
    cpu_kernel *next = module->kernels->next;
    cpu_kernel_free(module->kernels);
    module->kernels = next;
  }
  while (module->units) unload_first(module);
  if (module->program) cpu_program_free(module->program);
  pthread_mutex_destroy(&module->lock);
  mw_free(module->names);
  mw_refusals_free(&module->refused);
  mw_free(module->declared);
  mw_free(module);
}

mw_status cpu_module_compile(mw_device *device, const mw_source *source, mw_module **out, mw_error *err) {
  if (source->form) return mw_reject_binary(device, source, err);
  static unsigned long long compiled;
  cpu_module *module = mw_calloc(1, sizeof *module);
  module->number = ++compiled;
  module->base.device = device;
  pthread_mutex_init(&module->lock, NULL);
  snprintf(module->base.name, sizeof module->base.name, "%s", source->name);
  mw_status status = cpu_program_parse(source, device_of(module)->checker != NULL, &module->program, err);
  if (status == MW_OK) {
    copy_declarations(module);
    status = load_source(module, err);
  }
  if (status != MW_OK) {
    free_module(module);
    return status;
  }
  list_names(module);
  gather_log(module);
  module->base.from_cache = all_cached(module);
  module->next = device_of(module)->modules;
  device_of(module)->modules = module;
  *out = &module->base;
  return MW_OK;
}

void cpu_module_unload(mw_module *base) {
  cpu_device *device = (cpu_device *)base->device;
  cpu_streams_drain(device, false, NULL);
  cpu_module **place = &device->modules;
  while (*place != (cpu_module *)base) place = &(*place)->next;
  *place = (*place)->next;
  free_module((cpu_module *)base);
}

/* ---- kernels --------------------------------------------------------------------------------------------------- */

static mw_status fail_unknown(const cpu_module *module, const char *name, mw_error *err) {
  char list[512] = "";
  for (int i = 0; i < module->ndeclared; i++)
    if (module->declared[i].is_template || is_first(module, i))
      mw_list_add(list, sizeof list, ", ", "%s%s", module->declared[i].shown,
                  module->declared[i].is_template ? "<...>" : "");
  return mw_reject_kernel(&module->base, name, list, err);
}

/* The unit for one more template instance. */
static mw_status instantiate(cpu_module *module, const char *name, const cpu_declared *declared, mw_error *err) {
  if (!strchr(name, '<'))
    return mw_reject_template(&module->base, name, cpu_program_options(module->program)->text, err);
  if (cpu_program_has_variables(module->program)) return mw_reject_instance(&module->base, name, err);
  const bool fiber = strcmp(declared->engine, "fiber") == 0;
  if (device_of(module)->checker) return load(module, checked_flavor(module), name, NULL, err);
  mw_status status = load(module, fiber ? CPU_FIBER : CPU_FAST, name, NULL, err);
  const loaded *where;
  if (status != MW_OK || find(module, name, &where)) return status;
  lacks_kernels(module, module->units->unit);
  return load(module, CPU_FIBER, name, NULL, err);
}

static const char *why_engine(const cpu_module *module, const char *name, const mw_unit_kernel *unit) {
  const cpu_declared *declared = declaration(module, name);
  if (unit->run || !declared) return unit->engine_why;
  if (strcmp(declared->engine, "fiber") == 0) return declared->engine_why;
  return cpu_program_has_variables(module->program) ? variables_why : unit->engine_why;
}

static bool is_overloaded(const cpu_module *module, const cpu_declared *declared) {
  int count = 0;
  for (int i = 0; i < module->ndeclared; i++)
    count += !module->declared[i].is_template && !strcmp(module->declared[i].shown, declared->shown);
  return count > 1;
}

typedef struct kernel_names {
  const char *own; /* in the units' tables */
  char shown[700]; /* "f", or one of several by its signature */
} kernel_names;

/* Of a plain kernel; what names none of them stays as it is. */
static mw_status names_find(const cpu_module *module, const char *name, kernel_names *out, mw_error *err) {
  char all[1400] = "", signature[sizeof out->shown];
  const loaded *where;
  int found = 0, most = 0;
  for (int i = 0; i < module->ndeclared; i++) {
    const cpu_declared *declared = &module->declared[i];
    const mw_unit_kernel *kernel = declared->is_template ? NULL : find(module, declared->name, &where);
    if (!kernel) continue;
    signature_write(declared, kernel, signature, sizeof signature);
    const int rank = mw_signature_answers(signature, name);
    if (!rank || rank < most) continue;
    if (rank > most) *all = 0, found = 0;
    most = rank;
    mw_list_add(all, sizeof all, "; ", "%s", signature);
    out->own = declared->name;
    snprintf(out->shown, sizeof out->shown, "%s", is_overloaded(module, declared) ? signature : declared->shown);
    found++;
  }
  if (found > 1) return mw_reject_overload(&module->base, name, all, err);
  if (!found) out->own = name;
  if (!found) snprintf(out->shown, sizeof out->shown, "%s", name);
  return MW_OK;
}

/* With the lock. */
static mw_status get_kernel(cpu_module *module, const char *name, mw_kernel **out, mw_error *err) {
  kernel_names names;
  mw_status status = names_find(module, name, &names, err);
  if (status != MW_OK) return status;
  name = names.own;
  for (cpu_kernel *kernel = module->kernels; kernel; kernel = kernel->next)
    if (mw_same_name(kernel->unit->name, name)) {
      *out = &kernel->base;
      return MW_OK;
    }
  const loaded *where = NULL;
  const mw_unit_kernel *unit = find(module, name, &where);
  const cpu_declared *declared = unit ? NULL : declaration(module, name);
  status = unit ? MW_OK : mw_refusals_check(&module->refused, name, err);
  if (status != MW_OK) return status;
  if (declared && declared->is_template) {
    status = instantiate(module, name, declared, err);
    if (status != MW_OK) return status;
    gather_log(module);
    unit = find(module, name, &where);
  }
  if (!unit) return fail_unknown(module, name, err);
  cpu_kernel *kernel =
      cpu_kernel_make(&module->base, names.shown, where->unit, unit, where->instance, why_engine(module, name, unit));
  kernel->next = module->kernels;
  module->kernels = kernel;
  *out = &kernel->base;
  return MW_OK;
}

mw_status cpu_module_kernel(mw_module *base, const char *name, mw_kernel **out, mw_error *err) {
  cpu_module *module = (cpu_module *)base;
  pthread_mutex_lock(&module->lock);
  mw_status status = get_kernel(module, name, out, err);
  pthread_mutex_unlock(&module->lock);
  return status;
}

/* ---- fiber variants -------------------------------------------------------------------------------------------- */

static loaded *find_fiber_variant(cpu_module *module, const cpu_kernel *kernel) {
  for (loaded *entry = module->units; entry; entry = entry->next) {
    bool same = kernel->instance ? entry->instance && strcmp(entry->instance, kernel->instance) == 0 : !entry->instance;
    if (same && entry->unit->flavor != CPU_FAST) return entry;
  }
  return NULL;
}

bool cpu_module_fiber_variant(cpu_kernel *kernel, cpu_variant *out) {
  cpu_module *module = (cpu_module *)kernel->base.module;
  mw_status status = MW_OK;
  mw_error err = {0}; /* what compiles reads it to try again */
  pthread_mutex_lock(&module->lock);
  loaded *entry = find_fiber_variant(module, kernel);
  if (!entry) status = load(module, CPU_FIBER, kernel->instance, &entry, &err);
  mw_error_clear(&err);
  const bool other = status == MW_OK && entry->unit != kernel->owner;
  if (other && !entry->there) {
    entry->there = cpu_twin_make(kernel->owner, entry->unit);
    entry->back = cpu_twin_make(entry->unit, kernel->owner);
  }
  pthread_mutex_unlock(&module->lock);
  if (status != MW_OK) return false;
  *out = (cpu_variant){.kernel = find_in(entry->unit, kernel->unit->name), .table = entry->unit->table};
  if (other) out->there = entry->there, out->back = entry->back;
  return out->kernel != NULL;
}

/* ---- variables and text ---------------------------------------------------------------------------------------- */

/* The unit that was loaded first; with device variables it is the only one, but for fiber variants. */
static const cpu_unit *own_unit(const cpu_module *module) {
  const loaded *first = module->units;
  while (first->next) first = first->next;
  return first->unit;
}

void cpu_modules_variables(const cpu_device *device, void visit(void *owner, const mw_unit_variable *), void *owner) {
  for (const cpu_module *module = device->modules; module; module = module->next) {
    const mw_unit_table *table = own_unit(module)->table;
    for (unsigned i = 0; i < table->nvariables; i++)
      if (!table->variables[i].fixed) visit(owner, &table->variables[i]);
  }
}

static mw_status fail_variable(const cpu_module *module, const char *name, mw_error *err) {
  char list[512] = "";
  const mw_unit_table *table = own_unit(module)->table;
  mw_status status = mw_refusals_check(&module->refused, name, err);
  if (status != MW_OK) return status;
  for (unsigned i = 0; i < table->nvariables; i++) mw_list_add(list, sizeof list, ", ", "%s", table->variables[i].name);
  return mw_fail(err, MW_NOT_FOUND, "module '%s' has no device variable '%s'; it has: %s", module->base.name, name,
                 *list ? list : "none");
}

static mw_buffer *variable_buffer(cpu_module *module, const mw_unit_variable *variable) {
  mw_buffer *buffer = mw_calloc(1, sizeof *buffer);
  *buffer = (mw_buffer){
      .device = module->base.device,
      .address = variable->address,
      .bytes = variable->bytes,
      .space = MW_SPACE_GLOBAL,
      .host = true,
      .stream = module->base.device->main,
      .owner = &module->base,
  };
  atomic_init(&buffer->refs, 1);
  mw_device_retain(module->base.device);
  return buffer;
}

mw_status cpu_module_variable(mw_module *base, const char *name, mw_buffer **out, mw_param *type, mw_error *err) {
  cpu_module *module = (cpu_module *)base;
  const mw_unit_table *table = own_unit(module)->table;
  for (unsigned i = 0; i < table->nvariables; i++) {
    const mw_unit_variable *variable = &table->variables[i];
    if (strcmp(variable->name, name)) continue;
    *type = (mw_param){.dtype = (mw_dtype)variable->dtype,
                       .lanes = variable->lanes ? variable->lanes : 1,
                       .is_const = variable->is_const,
                       .size = (uint32_t)variable->bytes};
    snprintf(type->name, sizeof type->name, "%s", variable->name);
    *out = variable_buffer(module, variable);
    return MW_OK;
  }
  return fail_variable(module, name, err);
}

unsigned long long cpu_module_source(const mw_module *base, const char **name, const char **text) {
  *name = cpu_module_options(base)->name;
  *text = cpu_module_options(base)->text;
  return ((const cpu_module *)base)->number;
}

const mw_source *cpu_module_options(const mw_module *base) {
  return cpu_program_options(((const cpu_module *)base)->program);
}

mw_status cpu_module_text(mw_module *base, const char *kind, char **out, mw_error *err) {
  cpu_module *module = (cpu_module *)base;
  if (strcmp(kind, "cpp"))
    return mw_fail(err, MW_UNSUPPORTED,
                   "the cpu device has no %s: compile the module on a cuda device, such as \"cuda:sm_90\"", kind);
  *out = cpu_unit_source(module->program, own_unit(module)->flavor, NULL);
  return MW_OK;
}
