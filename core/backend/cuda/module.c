/* SPDX-License-Identifier: MIT
 *
 * Modules: a source compiled and loaded, or a binary loaded. A template that is asked for later is compiled into one more unit of the same
 * module, unless the module has variables that can change, which a second unit would have twice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend/cuda/objects.h"
#include "core/backend/reject.h"
#include "core/source/declared.h"

/* ---- loading --------------------------------------------------------------------------------------------------- */

static const char *load_hint(const mw_source *source, const cuda_unit *unit, cuda_result code) {
  bool image = code == CUDA_INVALID_IMAGE || code == CUDA_NO_BINARY_FOR_GPU || code == CUDA_UNSUPPORTED_PTX_VERSION;
  if (!image || source->form || cuda_nvrtc.major <= cuda_driver.version / 1000) return "";
  return unit->ptx ? "; NVRTC is newer than the driver: update the driver or use an older NVRTC"
                   : "; NVRTC is newer than the driver: update the driver or point $MOONWARP_LIBNVRTC at CUDA 12's";
}

static mw_status check_kernels(const cuda_image *image, const mw_source *source, mw_error *err) {
  mw_status status = MW_OK;
  for (int i = 0; i < image->nentries && !status; i++) {
    const cuda_entry *entry = &image->entries[i];
    const char *plain = entry->signature.plain; /* the symbol, cut, if that is too long to be read */
    status = mw_check_kernel(source->name, *plain ? plain : entry->symbol, entry->nslots, entry->args_bytes, err);
  }
  return status;
}

static mw_status load_unit(cuda_device *device, const mw_source *source, cuda_unit *unit, mw_error *err) {
  char log[2048] = "";
  unsigned options[] = {CUDA_JIT_ERROR_LOG, CUDA_JIT_ERROR_LOG_SIZE};
  void *values[] = {log, (void *)(uintptr_t)sizeof log};
  mw_status status = check_kernels(&unit->read, source, err);
  if (status != MW_OK || device->base.info.offline) return status;
  status = cuda_enter(device, err);
  if (status != MW_OK) return status;
  cuda_result code = cuda_driver.cuModuleLoadDataEx(&unit->code, unit->image, 2, options, values);
  if (code == CUDA_OK) return MW_OK;
  mw_error cause = {.status = MW_OK};
  status = cuda_failed(device, code, "cuModuleLoadDataEx", &cause);
  if (status == MW_LOST) return mw_fail(err, status, "%s", cause.text);
  return mw_fail(err, status, "loading '%.128s' for %s failed: %.500s%s%s%.200s", source->name, device->base.info.arch,
                 cause.text, load_hint(source, unit, code), *log ? "; " : "", log);
}

static mw_status make_unit(cuda_device *device, const mw_source *source, cuda_unit **out, mw_error *err) {
  cuda_unit *unit = NULL;
  mw_status status = source->form ? cuda_binary_unit(&device->base, source, &unit, err)
                                  : cuda_compile_unit(&device->base, source, false, &unit, err);
  if (status == MW_OK) status = load_unit(device, source, unit, err);
  if (status == MW_OK)
    *out = unit;
  else if (unit)
    cuda_unit_free(unit);
  return status;
}

/* ---- the names of its kernels ---------------------------------------------------------------------------------- */

static bool has_name(char **names, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

static bool in_code(const cuda_image *image, const char *bare) {
  for (int i = 0; i < image->nentries; i++) {
    const mw_signature *s = &image->entries[i].signature;
    if (!s->is_template && strcmp(mw_signature_bare(s->plain), bare) == 0) return true;
  }
  return false;
}

/* In source order; kernels that come from included files follow in the code's order, those that are refused at last.
 * Of what was not compiled here the instances are listed: there are no others. */
static void collect_names(cuda_module *module) {
  const cuda_image *image = &module->units->read;
  mw_declared_kernel *written;
  const mw_refusals *refused = &module->units->refused;
  int count = 0, declared = mw_declared_kernels(cuda_compiled_text(module), &written);
  module->names =
      mw_calloc((size_t)(image->nentries + declared) + mw_refusals_count(refused) + 1, sizeof *module->names);
  for (int i = 0; i < declared; i++)
    if (in_code(image, written[i].name)) module->names[count++] = mw_strdup(written[i].name);
  for (int i = 0; i < image->nentries; i++) {
    const mw_signature *s = &image->entries[i].signature;
    const char *bare = s->is_template ? s->name : mw_signature_bare(s->plain);
    if ((!s->is_template || module->source.form) && !has_name(module->names, count, bare))
      module->names[count++] = mw_strdup(bare);
  }
  mw_free(written);
  mw_refusal one;
  for (size_t at = 0; mw_refusals_next(refused, &at, &one);)
    if (one.what == MW_REFUSED_KERNEL && !has_name(module->names, count, one.name))
      module->names[count++] = mw_strdup(one.name);
  module->base.kernel_names = (const char *const *)module->names;
}

/* ---- modules --------------------------------------------------------------------------------------------------- */

mw_status cuda_compile(mw_device *base, const mw_source *source, mw_module **out, mw_error *err) {
  cuda_unit *unit;
  mw_status status = make_unit(cuda_device_of(base), source, &unit, err);
  if (status != MW_OK) return status;
  cuda_module *module = mw_calloc(1, sizeof *module);
  module->base = (mw_module){.device = base, .log = unit->log, .from_cache = unit->from_cache};
  snprintf(module->base.name, sizeof module->base.name, "%s", source->name);
  module->source = mw_source_copy(source);
  module->units = unit;
  collect_names(module);
  *out = &module->base;
  return MW_OK;
}

/* What was compiled as a unit, with the user's own headers read in; mw_free. */
static char *unit_text(const mw_device *device, const mw_source *source, const cuda_unit *unit) {
  if (cuda_is_reduced(unit)) return mw_strdup(unit->device_code);
  char *read = strstr(source->text, "#include") ? cuda_device_code(device, source, &unit->read) : NULL;
  return read ? read : mw_strdup(source->text);
}

const char *cuda_declarations(cuda_module *module) {
  if (!module->declarations) module->declarations = unit_text(module->base.device, &module->source, module->units);
  return module->declarations;
}

/* ---- templates that are asked for later ------------------------------------------------------------------------ */

/* "counter" of _ZZ4nextvE7counter or _ZZ4nextvE7counter_0, a variable inside a function; NULL: no such name. */
static const char *local_name(const char *symbol, char *bare, size_t size) {
  if (strncmp(symbol, "_ZZ", 3) != 0) return NULL;
  for (const char *at = strchr(symbol, 'E'); at; at = strchr(at + 1, 'E')) {
    char *name;
    unsigned long length = strtoul(at + 1, &name, 10);
    size_t left = strlen(name);
    if (name == at + 1 || length > left || (length < left && name[length] != '_')) continue;
    snprintf(bare, size, "%.*s", (int)length, name);
    return bare;
  }
  return NULL;
}

static bool is_library(const char *name) {
  static const char *const spaces[] = {"cuda::", "cub::", "thrust::", "std::", "nv::", "cooperative_groups::", NULL};
  for (const char *const *space = spaces; *space; space++)
    if (strncmp(name, *space, strlen(*space)) == 0) return true;
  return false;
}

/* A member of a class is one: CUDA has no device variables there. So are libraries' objects and what the source
 * declares const. A variable that only a header of the device declares counts as one that changes. */
static bool is_constant(const cuda_global *global, const char *source) {
  char bare[256];
  const char *plain = global->signature.plain;
  if (global->constant) return false; /* a __constant__ variable: constant only to kernels */
  if (local_name(global->symbol, bare, sizeof bare)) return mw_declared_constant(source, bare);
  return strstr(plain, ">::") || is_library(plain) || mw_declared_constant(source, mw_signature_bare(plain));
}

static bool has_variables(const cuda_image *image, const char *source) {
  for (int i = 0; i < image->nglobals; i++)
    if (!is_constant(&image->globals[i], source)) return true;
  return false;
}

/* The compiler leaves out variables that no kernel uses, so the new unit is asked too. */
static mw_status compile_second(cuda_module *module, const char *expression, cuda_unit **out, mw_error *err) {
  const char *const wanted[] = {expression, NULL};
  cuda_device *device = cuda_device_of(module->base.device);
  cuda_unit *unit = NULL;
  mw_source source = module->source;
  source.templates = wanted;
  mw_status status = cuda_compile_unit(&device->base, &source, cuda_is_reduced(module->units), &unit, err);
  char *text = status == MW_OK ? unit_text(&device->base, &source, unit) : NULL;
  if (text && has_variables(&unit->read, text)) status = mw_reject_instance(&module->base, expression, err);
  if (status == MW_OK) status = load_unit(device, &source, unit, err);
  if (status == MW_OK)
    *out = unit;
  else if (unit)
    cuda_unit_free(unit);
  mw_free(text);
  return status;
}

mw_status cuda_module_instantiate(cuda_module *module, const char *expression, cuda_unit **out, mw_error *err) {
  mw_error cause = {.status = MW_OK};
  if (has_variables(&module->units->read, cuda_declarations(module)))
    return mw_reject_instance(&module->base, expression, err);
  mw_status status = compile_second(module, expression, out, &cause);
  if (status == MW_INVALID) return mw_fail(err, status, "%s", cause.text);
  if (status != MW_OK) {
    mw_error_log(err, cause.log);
    return mw_fail(err, status, "no kernel '%.200s': %.750s", expression, cause.text);
  }
  if (*(*out)->log) module->base.log = (*out)->log;
  (*out)->next = module->units->next;
  module->units->next = *out;
  return MW_OK;
}

static void free_units(cuda_device *device, cuda_module *module) {
  bool usable = !device->base.info.offline && !cuda_stuck(device) && cuda_enter(device, NULL) == MW_OK;
  if (usable && cuda_wait_all(device, NULL) == MW_INTERRUPTED) usable = false; /* a kernel may never end */
  for (cuda_unit *unit = module->units, *next; unit; unit = next) {
    next = unit->next;
    if (usable && !device->lost) cuda_driver.cuModuleUnload(unit->code);
    cuda_unit_free(unit);
  }
}

void cuda_kernel_free(cuda_kernel *kernel) {
  mw_free((void *)kernel->base.params);
  mw_free((void *)kernel->base.name);
  mw_free(kernel);
}

static void destroy(cuda_module *module) {
  cuda_device *device = cuda_device_of(module->base.device);
  free_units(device, module);
  for (cuda_kernel *k = module->kernels, *next; k; k = next) {
    next = k->next;
    if (device->last == k) device->last = NULL;
    cuda_kernel_free(k);
  }
  for (char **name = module->names; *name; name++) mw_free(*name);
  mw_free(module->names);
  mw_free(module->declarations);
  mw_source_free(&module->source);
  mw_free(module);
}

/* A graph that holds its kernels keeps it, and nothing is unloaded while a graph is captured. */
static void destroy_unless_held(cuda_module *module) {
  cuda_device *device = cuda_device_of(module->base.device);
  if (!module->closed || module->graphs > 0) return;
  if (!cuda_capture) {
    destroy(module);
    return;
  }
  module->next_retired = device->retired;
  device->retired = module;
}

void cuda_unload(mw_module *base) {
  ((cuda_module *)base)->closed = true;
  destroy_unless_held((cuda_module *)base);
}

void cuda_module_release(cuda_module *module) {
  module->graphs--;
  destroy_unless_held(module);
}

void cuda_unload_retired(cuda_device *device) {
  cuda_module *module = device->retired;
  device->retired = NULL;
  for (cuda_module *next; module; module = next) {
    next = module->next_retired;
    destroy(module);
  }
}

/* ---- device variables ------------------------------------------------------------------------------------------ */

static const cuda_global *find_global(const cuda_image *image, const char *name) {
  for (int i = 0; i < image->nglobals; i++) {
    const cuda_global *g = &image->globals[i];
    const char *plain = g->signature.plain;
    if (!strcmp(g->symbol, name) || !strcmp(plain, name) || !strcmp(mw_signature_bare(plain), name)) return g;
  }
  return NULL;
}

/* The element's type as declared; bytes where the text does not say or does not fit the size. */
static void describe_variable(cuda_module *module, const char *name, size_t bytes, mw_param *out) {
  const char *bare = mw_signature_bare(name);
  bool told = mw_declared_variable(cuda_declarations(module), bare, out) && out->size && bytes % out->size == 0;
  if (!told) *out = (mw_param){.type = "unsigned char", .dtype = MW_U8, .lanes = 1, .size = 1};
  snprintf(out->name, sizeof out->name, "%s", bare);
}

static mw_status reject_variable(cuda_module *module, const char *name, mw_error *err) {
  char known[512] = "";
  const cuda_image *image = &module->units->read;
  mw_status status = mw_refusals_check(&module->units->refused, name, err);
  if (status != MW_OK) return status;
  for (int i = 0; i < image->nglobals; i++)
    if (!is_constant(&image->globals[i], cuda_declarations(module)))
      mw_list_add(known, sizeof known, ", ", "%s", image->globals[i].signature.plain);
  return mw_fail(
      err, MW_NOT_FOUND,
      "module '%.128s' has no device variable '%s'; it has: %s (the compiler leaves out what no kernel uses)",
      module->base.name, name, *known ? known : "none");
}

mw_status cuda_variable(mw_module *base, const char *name, mw_buffer **out, mw_param *type, mw_error *err) {
  cuda_module *module = (cuda_module *)base;
  cuda_device *device = cuda_device_of(base->device);
  const cuda_global *global = find_global(&module->units->read, name);
  cuda_address address;
  size_t bytes;
  if (!global) return reject_variable(module, name, err);
  mw_status status =
      CUDA_CALL(device, err, cuModuleGetGlobal_v2, &address, &bytes, module->units->code, global->symbol);
  if (status != MW_OK) return status;
  describe_variable(module, name, bytes, type);
  *out = cuda_buffer_new(device, (void *)(uintptr_t)address, bytes, MW_SPACE_GLOBAL);
  (*out)->owner = base;
  return MW_OK;
}
