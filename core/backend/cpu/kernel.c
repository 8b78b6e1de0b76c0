/* SPDX-License-Identifier: MIT
 *
 * From the unit's table to the public description of a kernel. */
#include "core/backend/cpu/objects.h"

static void convert(mw_param *to, const mw_unit_param *from) {
  *to = (mw_param){
      .dtype = (mw_dtype)from->dtype,
      .lanes = from->lanes ? from->lanes : 1,
      .pointer = from->pointer,
      .is_const = from->is_const,
      .size = from->size,
      .offset = from->offset,
  };
  snprintf(to->name, sizeof to->name, "%s", from->name);
  snprintf(to->type, sizeof to->type, "%s", from->type);
}

cpu_kernel *cpu_kernel_make(mw_module *module, const char *name, const cpu_unit *owner, const mw_unit_kernel *unit,
                            const char *instance, const char *why) {
  cpu_kernel *kernel = mw_calloc(1, sizeof *kernel);
  mw_param *params = mw_calloc(unit->nparams, sizeof *params);
  for (unsigned i = 0; i < unit->nparams; i++) convert(&params[i], &unit->params[i]);
  kernel->unit = unit;
  kernel->owner = owner;
  kernel->instance = instance;
  kernel->base = (mw_kernel){
      .module = module,
      .name = mw_strdup(name),
      .params = params,
      .nparams = (int)unit->nparams,
      .args_bytes = unit->args_bytes,
      .max_threads = unit->max_threads > 0 && unit->max_threads < 1024 ? unit->max_threads : 1024,
      .shared_bytes = unit->shared_bytes,
      .spill_stores = -1,
      .spill_loads = -1,
      .engine = unit->engine,
      .engine_why = mw_strdup(why),
  };
  return kernel;
}

void cpu_kernel_free(cpu_kernel *kernel) {
  mw_free((void *)kernel->base.params);
  mw_free((void *)kernel->base.engine_why);
  mw_free((void *)kernel->base.name);
  mw_free(kernel);
}
