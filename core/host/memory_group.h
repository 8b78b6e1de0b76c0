/* SPDX-License-Identifier: MIT
 *
 * A control group of the kernel (cgroup, v1 or v2) in which a process's memory is counted, with that of all that it
 * starts: whatever holds it, a process, a file or a socket. It sets no limit. Only root, and users whom a system lets,
 * can make one. */
#ifndef MW_HOST_MEMORY_GROUP_H
#define MW_HOST_MEMORY_GROUP_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

bool     memory_group_open(void);  /* makes one for this process's children; false: there can be none */
bool     memory_group_enter(void); /* in a child: it and what it starts are counted from now on */
uint64_t memory_group_bytes(void); /* 0 without a group */
void     memory_group_close(void); /* when nothing is left in it */
int      host_counts_memory(lua_State *); /* host.counts_memory(): whether one can be made */

#endif
