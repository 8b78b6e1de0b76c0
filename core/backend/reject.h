/* SPDX-License-Identifier: MIT
 *
 * What every backend rejects in the same words. */
#ifndef MW_REJECT_H
#define MW_REJECT_H

#include <string.h>

#include "core/backend/backend.h"
#include "core/source/declared.h"

/* known: what the module has instead, a list in words; "": nothing. */
static inline mw_status mw_reject_kernel(const mw_module *module, const char *name, const char *known, mw_error *err) {
  return mw_fail(err, MW_NOT_FOUND, "module '%.128s' has no kernel '%s'; it has: %s", module->name, name,
                 *known ? known : "none (a kernel is a __global__ function)");
}

/* A kernel beyond the limits of backend.h. bytes: of its arguments, 0 while they are not known. */
static inline mw_status mw_check_kernel(const char *module, const char *name, int nparams, size_t bytes,
                                        mw_error *err) {
  if (strcspn(name, "<") > MW_MOST_NAME)
    return mw_fail(err, MW_INVALID, "module '%.128s': the name of kernel '%.40s...' has more than %d characters", module,
                   name, MW_MOST_NAME);
  if (nparams > MW_MOST_PARAMS)
    return mw_fail(err, MW_INVALID, "kernel '%s' has %d parameters, %d at most: pass a struct or an array", name, nparams,
                   MW_MOST_PARAMS);
  if (bytes > MW_MOST_ARGS)
    return mw_fail(err, MW_INVALID, "the arguments of kernel '%s' have %zu bytes, %d at most: pass an array", name, bytes,
                   MW_MOST_ARGS);
  return MW_OK;
}

/* Code of a GPU, asked of another device. */
static inline mw_status mw_reject_binary(const mw_device *device, const mw_source *source, mw_error *err) {
  return mw_fail(err, MW_UNSUPPORTED,
                 "'%.128s' is code of a GPU, which %s does not run: compile its source there, dev:module { file = ... }",
                 source->name, device->info.id);
}

/* Asked for without its arguments; text: of the module. */
static inline mw_status mw_reject_template(const mw_module *module, const char *name, const char *text, mw_error *err) {
  char arguments[64];
  mw_declared_instance(text, name, arguments, sizeof arguments);
  return mw_fail(err, MW_INVALID, "kernel '%s' of module '%.128s' is a template: name an instance, as in %s<%s>", name,
                 module->name, name, arguments);
}

/* Asked for by its name alone; all: the signatures of those that have it. */
static inline mw_status mw_reject_overload(const mw_module *module, const char *name, const char *all, mw_error *err) {
  return mw_fail(err, MW_INVALID, "kernel '%s' of module '%.100s' is overloaded: give one whole signature: %s", name,
                 module->name, all);
}

/* Asked for later, of a module whose device variables a second unit would have twice. */
static inline mw_status mw_reject_instance(const mw_module *module, const char *name, mw_error *err) {
  return mw_fail(
      err, MW_INVALID,
      "module '%.128s' has device variables, so '%s' must be compiled with it: list it in templates = {\"%s\"}",
      module->name, name, name);
}

/* A capture that a stream has joined and not left. */
static inline mw_status mw_reject_capture(mw_error *err) {
  return mw_fail(err, MW_INVALID,
                 "a stream that joined the capture was not joined back: record an event on it and let the captured "
                 "stream wait for that");
}

#endif
