/* SPDX-License-Identifier: MIT
 *
 * A kernel of a loaded unit, as the binding sees it. */
#ifndef MW_CPU_KERNEL_H
#define MW_CPU_KERNEL_H

#include "core/backend/cpu/translate/unit.h"

typedef struct cpu_kernel {
  mw_kernel base;
  char *name;
  char *engine_why;
  const mw_unit_kernel *unit;
  const cpu_unit *owner;
  const char *instance; /* the template instance its unit was loaded for; NULL: the module's own unit */
  mw_param *params;
  _Atomic double block_seconds; /* of one block on one thread, from its last launches; 0: none yet */
  struct cpu_kernel *next;
} cpu_kernel;

cpu_kernel *cpu_kernel_make(mw_module *, const char *name, const cpu_unit *, const mw_unit_kernel *,
                            const char *instance, const char *why);
void cpu_kernel_free(cpu_kernel *);
mw_status cpu_kernel_occupancy(mw_kernel *, int threads, size_t shared, mw_occupancy *, mw_error *);

#endif
