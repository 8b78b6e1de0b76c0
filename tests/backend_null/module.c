/* SPDX-License-Identifier: MIT
 *
 * Modules and kernels of the null backend: read from their declarations, and never run. */
#include "tests/backend_null/null.h"

#include <ctype.h>
#include <stdio.h>

#include "core/backend/reject.h"
#include "core/base/memory.h"
#include "core/source/declared.h"

typedef struct null_kernel {
  mw_kernel base;
  mw_param params[64];
  char name[256];
  struct null_kernel *next;
} null_kernel;

typedef struct null_module {
  mw_module base;
  char *text;
  const char **names;
  mw_declared_kernel *declared;
  null_kernel *kernels;
} null_module;

mw_status null_compile(mw_device *device, const mw_source *source, mw_module **out, mw_error *err) {
  CALLED();
  assert(!source->form == !source->code && (!source->form || source->code_bytes > 0));
  if (source->form) return mw_reject_binary(device, source, err);
  if (strstr(source->text, "#error")) return mw_fail(err, MW_COMPILE, "compiling '%s' failed: #error", source->name);
  null_module *module = mw_calloc(1, sizeof *module);
  module->text = mw_strdup(source->text);
  int all = mw_declared_kernels(source->text, &module->declared), n = 0;
  module->names = mw_calloc((size_t)all + 1, sizeof *module->names);
  for (int i = 0; i < all; i++)
    if (!module->declared[i].is_template) module->names[n++] = module->declared[i].name;
  module->base = (mw_module){.device = device, .kernel_names = module->names, .log = ""};
  snprintf(module->base.name, sizeof module->base.name, "%s", source->name);
  null_device_of(device)->modules++;
  *out = &module->base;
  return MW_OK;
}

void null_unload(mw_module *base) {
  CALLED();
  null_module *module = (null_module *)base;
  assert(base->refs == 0);
  for (int i = 0; i < MOST_BUFFERS; i++) assert(!null_buffers[i] || null_buffers[i]->base.owner != base);
  for (null_kernel *k = module->kernels, *next; k; k = next) {
    next = k->next;
    mw_free(k);
  }
  null_device_of(base->device)->modules--;
  mw_free(module->declared);
  mw_free(module->names);
  mw_free(module->text);
  mw_free(module);
}

static bool is_word(char c) {
  return c == '_' || isalnum((unsigned char)c);
}

/* A copy of the text with another word for one. */
static char *replaced(const char *text, const char *word, const char *by, size_t length) {
  size_t words = 1, width = strlen(word);
  for (const char *at = text; (at = strstr(at, word)); at++) words++;
  char *out = mw_malloc(strlen(text) + words * length + 1), *to = out;
  while (*text) {
    bool whole = !strncmp(text, word, width) && (to == out || !is_word(to[-1])) && !is_word(text[width]);
    memcpy(to, whole ? by : text, whole ? length : 1);
    to += whole ? length : 1;
    text += whole ? width : 1;
  }
  *to = '\0';
  return out;
}

/* "scale<float>" of "template <class T> ... T *x": the text with float for each T; as our own kernels are written. */
static char *instance_text(const char *text, const char *name) {
  static const char number[] = "unsigned long long";
  const char *angle = strchr(name, '<');
  char *plain = replaced(text, "u64", number, sizeof number - 1);
  if (!angle) return plain;
  char *instance = replaced(plain, "T", angle + 1, strcspn(angle + 1, ",>"));
  mw_free(plain);
  return instance;
}

/* A type that the text does not give, such as a typedef's, is taken for a pointer. */
static size_t place_params(mw_param *params, int n) {
  size_t at = 0;
  for (int i = 0; i < n; i++) {
    if (!params[i].size) {
      params[i].pointer = true;
      params[i].dtype = MW_VOID;
      params[i].size = sizeof(void *);
    }
    size_t align = params[i].size % 8 == 0 ? 8 : params[i].size % 4 == 0 ? 4 : params[i].size % 2 == 0 ? 2 : 1;
    at = (at + align - 1) / align * align;
    params[i].offset = (uint32_t)at;
    at += params[i].size;
  }
  return at;
}

mw_status null_kernel_get(mw_module *base, const char *name, mw_kernel **out, mw_error *err) {
  CALLED();
  null_module *module = (null_module *)base;
  null_kernel *kernel = mw_calloc(1, sizeof *kernel);
  char *text = instance_text(module->text, name);
  int n = mw_declared_params(text, name, kernel->params, 64);
  mw_free(text);
  if (n < 0 || n > 64) {
    mw_free(kernel);
    return mw_fail(err, MW_NOT_FOUND, "module '%s' has no kernel '%s'", base->name, name);
  }
  snprintf(kernel->name, sizeof kernel->name, "%s", name);
  kernel->base = (mw_kernel){.module = base,
                             .name = kernel->name,
                             .params = kernel->params,
                             .nparams = n,
                             .max_threads = 1024,
                             .spill_stores = -1,
                             .spill_loads = -1,
                             .engine = "null",
                             .engine_why = ""};
  kernel->base.args_bytes = place_params(kernel->params, n);
  kernel->next = module->kernels;
  module->kernels = kernel;
  *out = &kernel->base;
  return MW_OK;
}

mw_status null_variable(mw_module *base, const char *name, mw_buffer **out, mw_param *type, mw_error *err) {
  CALLED();
  static double memory[512];
  if (!mw_declared_variable(((null_module *)base)->text, name, type))
    return mw_fail(err, MW_NOT_FOUND, "module '%s' has no device variable '%s'", base->name, name);
  *out = &null_add_buffer(base->device, base->device->main, type->size, MW_SPACE_GLOBAL)->base;
  (*out)->address = memory;
  (*out)->owner = base;
  return MW_OK;
}

mw_status null_text(mw_module *module, const char *kind, char **out, mw_error *err) {
  CALLED();
  (void)out;
  assert(!strcmp(kind, "ptx") || !strcmp(kind, "sass") || !strcmp(kind, "cpp"));
  return mw_fail(err, MW_UNSUPPORTED, "%s has no %s", module->device->info.id, kind);
}

mw_status null_occupancy(mw_kernel *kernel, int threads, size_t shared, mw_occupancy *out, mw_error *err) {
  CALLED();
  (void)err;
  const mw_device_info *info = &kernel->module->device->info;
  assert(threads >= 1 && threads <= info->max_threads_per_block && shared <= info->shared_per_block_optin);
  *out = (mw_occupancy){.blocks = info->max_threads_per_multiprocessor / threads, .limit = MW_LIMIT_THREADS};
  return MW_OK;
}
