/* SPDX-License-Identifier: MIT
 *
 * Child processes as Lua objects: functions of the module moonwarp.host. */
#ifndef MW_HOST_CHILD_H
#define MW_HOST_CHILD_H

#include <lauxlib.h>
#include <lua.h>

void host_child_class(lua_State *); /* the classes of the objects below */
void host_lock_class(lua_State *);
int  host_spawn(lua_State *);   /* ({ argv =, ... }): child */
int  host_wait(lua_State *);    /* (children, seconds): until one has something to report, a signal comes, or so long */
int  host_program(lua_State *); /* (): the path of this program */
int  host_lock(lua_State *);    /* (path): lock; or nil and who has it, or why not */
int *host_lock_file(lua_State *, int index); /* the lock's descriptor; raises if the value is not an open lock */

#endif
