/* SPDX-License-Identifier: MIT
 *
 * A sandbox: a command in namespaces of its own, made by bubblewrap (bwrap). Its processes see no others and cannot
 * signal any, reach no network, and end together. They see the machine's files read-only, but for what a view says.
 * They keep the user's id, and no capability that would change a mount. */
#ifndef MW_HOST_SANDBOX_H
#define MW_HOST_SANDBOX_H

#include <stdint.h>

/* bwrap outside and its first process inside count as processes, too. */
enum { SANDBOX_PROCESSES = 2 };

/* Becomes the command. A view is a list of pairs of words, later ones on top of earlier ones; it ends with NULL:
 *   "hide" FOLDER     looks empty and cannot be written
 *   "scratch" FOLDER  is empty, can be written, and vanishes with the sandbox
 *   "read" PATH       is there, in a hidden folder too
 *   "write" FOLDER    can be written; it is made if it is not there
 *   "private" "/"     what the machine mounts from now on is not there, and could not be written
 * Scratch folders and /dev/shm are in memory, of so many bytes at most each (0: half of the machine's).
 * Paths that do not exist are left out, as is a "read" that would bring back what is hidden. /dev has no devices but
 * GPUs. What filter.h refuses is refused, if there is a filter. Returns only if there is no bwrap, or no private
 * mounts; other obstacles are an exit status of bwrap, which says why on standard error. */
void sandbox_exec(const char *const *view, uint64_t bytes, const char *const *argv);

/* What the exit status of bwrap says: the signal that the command died of, or 0. 130 is a status that moonwarp has. */
int sandbox_signal(int exit_status);

#endif
