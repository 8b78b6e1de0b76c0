/* SPDX-License-Identifier: MIT
 *
 * Finding a kernel by the name that a script gives it: "scale", "lab::scale", one of several overloads by its whole
 * signature "scale(float *, int)", or a template "scale<float>". */
#include <stdio.h>
#include <string.h>

#include "core/backend/cuda/objects.h"
#include "core/backend/reject.h"
#include "core/source/declared.h"

typedef struct place { /* where a kernel is */
  cuda_unit *unit;
  const cuda_entry *entry;
} place;

/* ---- plain kernels --------------------------------------------------------------------------------------------- */

/* The module's plain kernels, then its source's templates as "scale<...>"; true where name is one of those. */
static bool list_known(const cuda_module *module, const char *name, char *known, size_t size) {
  bool found = false;
  mw_declared_kernel *written;
  int count = mw_declared_kernels(cuda_compiled_text(module), &written);
  *known = '\0';
  for (char **n = module->names; *n; n++) mw_list_add(known, size, ", ", "%s", *n);
  for (int i = 0; i < count; i++) {
    if (!written[i].is_template) continue;
    found = found || strcmp(written[i].name, name) == 0;
    mw_list_add(known, size, ", ", "%s<...>", written[i].name);
  }
  mw_free(written);
  return found;
}

static mw_status reject_name(const cuda_module *module, const char *name, mw_error *err) {
  char known[512];
  const mw_status refused = mw_refusals_check(&module->units->refused, name, err);
  if (refused != MW_OK) return refused;
  if (list_known(module, name, known, sizeof known))
    return mw_reject_template(&module->base, name, cuda_compiled_text(module), err);
  return mw_reject_kernel(&module->base, name, known, err);
}

static mw_status find_plain(cuda_module *module, const char *name, place *out, mw_error *err) {
  char signature[400], all[700] = "";
  int found = 0, most = 0;
  const cuda_image *image = &module->units->read;
  for (int i = 0; i < image->nentries; i++) {
    const mw_signature *s = &image->entries[i].signature;
    mw_signature_write(s, signature, sizeof signature);
    const int rank = s->is_template ? 0 : mw_signature_answers(signature, name);
    if (!rank || rank < most) continue;
    if (rank > most) *all = 0, found = 0;
    most = rank;
    *out = (place){module->units, &image->entries[i]};
    mw_list_add(all, sizeof all, "; ", "%s", signature);
    found++;
  }
  if (found == 1) return MW_OK;
  if (found == 0) return reject_name(module, name, err);
  return mw_reject_overload(&module->base, name, all, err);
}

/* ---- templates ------------------------------------------------------------------------------------------------- */

static bool find_lowered(cuda_unit *unit, const char *expression, place *out) {
  *out = (place){unit, NULL};
  for (int i = 0; i < unit->nlowered && !out->entry; i++)
    if (mw_same_name(unit->lowered[i].expression, expression))
      out->entry = cuda_image_entry(&unit->read, unit->lowered[i].symbol);
  return out->entry;
}

/* Of what was not compiled here: all instances are in the code, by the names that the mangled ones stand for. */
static mw_status find_instance(cuda_module *module, const char *name, place *out, mw_error *err) {
  cuda_unit *unit = module->units;
  for (int i = 0; i < unit->read.nentries; i++) {
    const mw_signature *s = &unit->read.entries[i].signature;
    if (!s->is_template || (!mw_same_name(s->name, name) && !mw_same_name(mw_signature_bare(s->name), name))) continue;
    *out = (place){unit, &unit->read.entries[i]};
    return MW_OK;
  }
  return reject_name(module, name, err);
}

static mw_status find_template(cuda_module *module, const char *name, place *out, mw_error *err) {
  if (module->source.form) return find_instance(module, name, out, err);
  for (cuda_unit *unit = module->units; unit; unit = unit->next)
    if (find_lowered(unit, name, out)) return MW_OK;
  cuda_unit *unit;
  mw_status status = mw_refusals_check(&module->units->refused, name, err);
  if (status == MW_OK) status = cuda_module_instantiate(module, name, &unit, err);
  if (status != MW_OK || find_lowered(unit, name, out)) return status;
  return mw_fail(err, MW_INVALID, "'%s' is not a kernel of '%.128s'", name, module->base.name);
}

/* ---- kernels --------------------------------------------------------------------------------------------------- */

static int function_attribute(const cuda_kernel *kernel, unsigned which) {
  int value = 0;
  cuda_driver.cuFuncGetAttribute(&value, which, kernel->function);
  return value > 0 ? value : 0;
}

static void ask_driver(cuda_kernel *kernel) {
  mw_kernel *k = &kernel->base;
  k->registers = function_attribute(kernel, CUDA_FUNC_NUM_REGS);
  k->max_threads = function_attribute(kernel, CUDA_FUNC_MAX_THREADS_PER_BLOCK);
  k->shared_bytes = (size_t)function_attribute(kernel, CUDA_FUNC_SHARED_SIZE);
  k->local_bytes = (size_t)function_attribute(kernel, CUDA_FUNC_LOCAL_SIZE);
  k->const_bytes = (size_t)function_attribute(kernel, CUDA_FUNC_CONST_SIZE);
  kernel->dynamic_limit = (size_t)function_attribute(kernel, CUDA_FUNC_MAX_DYNAMIC_SHARED);
}

/* Without a device: the largest block is bounded by __launch_bounds__ and by registers, a warp's worth of which is
 * allocated in units of 256 (cuda_occupancy.h). */
static void ask_code(const mw_device_info *info, const place *where, cuda_kernel *kernel) {
  mw_kernel *k = &kernel->base;
  int per_warp = (where->entry->registers * 32 + 255) / 256 * 256;
  int warps = per_warp ? info->registers_per_block / per_warp / 4 * 4 : 32;
  k->registers = where->entry->registers;
  k->max_threads = warps * 32 < info->max_threads_per_block ? warps * 32 : info->max_threads_per_block;
  if (where->entry->max_threads && where->entry->max_threads < k->max_threads)
    k->max_threads = where->entry->max_threads;
  k->shared_bytes = where->entry->shared_bytes;
  k->local_bytes = where->entry->local_bytes;
  k->const_bytes = where->unit->read.const_bytes;
  kernel->dynamic_limit = info->shared_per_block_optin;
}

static mw_status load_function(cuda_kernel *kernel, const place *where, mw_error *err) {
  cuda_device *device = cuda_device_of(kernel->base.module->device);
  if (device->base.info.offline) {
    ask_code(&device->base.info, where, kernel);
    return MW_OK;
  }
  mw_status status =
      CUDA_CALL(device, err, cuModuleGetFunction, &kernel->function, where->unit->code, where->entry->symbol);
  if (status == MW_OK) ask_driver(kernel);
  return status;
}

/* Above 48 KiB dynamic shared memory must be asked for; done once for each new high mark of a kernel. */
mw_status cuda_allow_shared(cuda_kernel *kernel, size_t dynamic, mw_error *err) {
  cuda_device *device = cuda_device_of(kernel->base.module->device);
  if (dynamic <= kernel->dynamic_limit) return MW_OK;
  mw_status status =
      CUDA_TRY(device, err, cuFuncSetAttribute, kernel->function, CUDA_FUNC_MAX_DYNAMIC_SHARED, (int)dynamic);
  if (status == MW_OK) kernel->dynamic_limit = dynamic;
  return status;
}

/* Properties of the function, which later launches have too: set only where the next one wants others. */
mw_status cuda_divide_cache(cuda_kernel *kernel, int carveout, mw_prefer prefer, mw_error *err) {
  cuda_device *device = cuda_device_of(kernel->base.module->device);
  mw_status status = MW_OK;
  if (carveout != kernel->carveout)
    status = CUDA_TRY(device, err, cuFuncSetAttribute, kernel->function, CUDA_FUNC_CARVEOUT, carveout);
  if (status != MW_OK) return status;
  kernel->carveout = carveout;
  if (prefer != kernel->prefer) status = CUDA_TRY(device, err, cuFuncSetCacheConfig, kernel->function, prefer);
  if (status == MW_OK) kernel->prefer = prefer;
  return status;
}

static mw_status make_kernel(cuda_module *module, const char *name, const place *where, cuda_kernel **out,
                             mw_error *err) {
  mw_signature s;
  cuda_kernel *kernel = mw_calloc(1, sizeof *kernel);
  cuda_params_of(where->entry, cuda_declarations(module), &s);
  kernel->entry = where->entry;
  kernel->carveout = MW_CARVEOUT_ANY;
  kernel->base = (mw_kernel){
      .module = &module->base,
      .name = mw_strdup(name),
      .params = s.params, /* now the kernel's */
      .nparams = s.nparams,
      .args_bytes = s.args_bytes,
      .spill_stores = where->entry->spill_stores,
      .spill_loads = where->entry->spill_loads,
      .engine = "cuda",
      .engine_why = "",
  };
  mw_status status = load_function(kernel, where, err);
  if (status != MW_OK) {
    cuda_kernel_free(kernel);
    return status;
  }
  kernel->next = module->kernels;
  module->kernels = kernel;
  *out = kernel;
  return MW_OK;
}

mw_status cuda_kernel_get(mw_module *base, const char *name, mw_kernel **out, mw_error *err) {
  cuda_module *module = (cuda_module *)base;
  const char *angle = strchr(name, '<'), *bracket = strchr(name, '(');
  bool is_template = angle && (!bracket || angle < bracket);
  place where;
  for (cuda_kernel *k = module->kernels; k; k = k->next)
    if (strcmp(k->base.name, name) == 0) {
      *out = &k->base;
      return MW_OK;
    }
  mw_status status = is_template ? find_template(module, name, &where, err) : find_plain(module, name, &where, err);
  cuda_kernel *kernel = NULL;
  if (status == MW_OK) status = make_kernel(module, name, &where, &kernel, err);
  if (status == MW_OK) *out = &kernel->base;
  return status;
}
