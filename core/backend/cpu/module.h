/* SPDX-License-Identifier: MIT
 *
 * A module: one source, the units loaded from it, the kernels handed out. */
#ifndef MW_CPU_MODULE_H
#define MW_CPU_MODULE_H

#include "core/backend/cpu/kernel.h"

mw_status cpu_module_compile(mw_device *, const mw_source *, mw_module **out, mw_error *);
void cpu_module_unload(mw_module *);
mw_status cpu_module_kernel(mw_module *, const char *name, mw_kernel **out, mw_error *);
mw_status cpu_module_variable(mw_module *, const char *name, mw_buffer **out, mw_param *type, mw_error *);
mw_status cpu_module_text(mw_module *, const char *kind, char **out, mw_error *);

/* The same kernel in the fiber flavor, with the variables' present values; compiles it at the first call. */
mw_status cpu_module_twin(cpu_kernel *, const mw_unit_kernel **kernel, const mw_unit_table **table, mw_error *);

#endif
