/* SPDX-License-Identifier: MIT
 *
 * System calls that are refused in a sandbox, of every kind of program that the processor runs. */
#ifndef MW_HOST_FILTER_H
#define MW_HOST_FILTER_H

#include <lua.h>
#include <stdbool.h>

bool filter_is_built(void); /* false where libseccomp was not there when this was built */

/* A file with the filter, as bwrap reads it, which exec leaves open; -1 and errno if there can be none. */
int filter_open(void);

int host_has_filter(lua_State *); /* host.has_filter() */

#endif
