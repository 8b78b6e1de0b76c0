/* SPDX-License-Identifier: MIT
 *
 * Running the host part: loaded from memory, main called, the process ended with its status. */
#ifndef MW_RUNTIME_PROGRAM_H
#define MW_RUNTIME_PROGRAM_H

#include "core/runtime/runtime.h"

/* Says why the process ends, if a signal ends it in the host part. Before a device is opened, whose own handlers of faults
 * come first. name: of the program. */
void runtime_crash_watch(const char *name);
/* Takes the object's symbols; the names of instances of templates in it, of a source, NULL-terminated, for mw_free. */
void runtime_symbols_take(const void *object, size_t size);
const char **runtime_instances(int source);
/* Runs main; returns only where it cannot be run. modules: of each source, or NULL. argv ends in NULL. Neither is freed:
 * they live as long as the process. */
mw_status runtime_run(mw_device *, mw_module **modules, int count, const void *object, size_t size, int argc,
                      char **argv, mw_error *);

#endif
