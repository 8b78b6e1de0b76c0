/* SPDX-License-Identifier: MIT
 *
 * Processes whose supervisor was killed. The kernel gives them to the nearest subreaper above, which is our process. */
#ifndef MW_HOST_ORPHANS_H
#define MW_HOST_ORPHANS_H

#include <stdbool.h>
#include <sys/types.h>

void orphans_adopt(void); /* from now on they come to us */

/* Kills those that came, and all below them, until none is left. What we started is in our session, or a supervisor. */
void orphans_end(bool (*is_supervisor)(pid_t));

#endif
