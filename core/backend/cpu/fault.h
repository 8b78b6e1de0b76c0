/* SPDX-License-Identifier: MIT
 *
 * Signals: a fault inside a kernel returns to the worker that runs it; any other goes to the previous handler.
 * report.c turns what was caught into words. */
#ifndef MW_CPU_FAULT_H
#define MW_CPU_FAULT_H

#include "core/backend/cpu/grid.h"

void cpu_fault_install(void); /* counted: one for each open device */
void cpu_fault_remove(void);
int cpu_fault_abort_signal(void); /* sent to a thread, ends the block it runs when its grid is stopped */

extern atomic_uint cpu_interrupts; /* how often Ctrl-C was pressed */

/* Leaves the running kernel with worker->fault filled. On a fiber or a plain stack. */
void cpu_fault_leave(cpu_worker *) __attribute__((noreturn));
/* Notes which block and thread the worker runs. */
void cpu_fault_place(cpu_worker *);
/* Leaves the running kernel where its thread has written behind the array that is watched. */
void cpu_fault_watch(cpu_worker *, const cpu_slack *);

/* The error for a grid that stopped with a fault; runs the block again to name the thread where it is not known. */
mw_status cpu_fault_report(cpu_device *, cpu_worker *me, cpu_grid *, mw_error *);
/* The error for a write just behind an array that the guard page could not see; MW_OK: none. Runs the launch again to
 * find the thread. */
mw_status cpu_fault_check_slack(cpu_device *, cpu_worker *me, cpu_grid *, mw_error *);

#endif
