/* SPDX-License-Identifier: MIT
 *
 * The program around the library: what this folder's files share, but for child.h, process_tree.h and supervisor.h.
 * The command line itself is Lua (lua/moonwarp/cli.lua) and reaches these through the module moonwarp.host. None of it is
 * in moonwarp.so. */
#ifndef MW_HOST_HOST_H
#define MW_HOST_HOST_H

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>

void host_variables_settle(void); /* of the environment's lists of folders, such as PATH, the absolute ones are left */

lua_State *host_state_new(void); /* libraries open, moonwarp preloaded; NULL: no memory */
int host_frames(lua_State *);    /* host.traceback() */
int host_traceback(lua_State *); /* message handler: the message and the user's own lines below it */

void host_leave_watch(lua_State *); /* whatever ends the process ends the session's run */
int host_exit(lua_State *);          /* os.exit, whose status is no better than the run */

void host_interrupt_watch(lua_State *); /* Ctrl-C ends what this state runs with the error "interrupted" */
bool host_interrupt_clear(void);        /* true where an interruption was pending; it no longer is */
int host_catch_term(lua_State *);       /* host.catch_term(): from now on SIGTERM interrupts, as Ctrl-C does */
int host_caught(lua_State *);           /* host.caught(): "SIGINT" or "SIGTERM", the last interruption; nil: none */

void host_coroutines_follow(lua_State *);                 /* from now on; of one state */
void host_coroutines_hook(lua_Hook, int mask, int count); /* lua_sethook in each; a signal's handler may call it */

/* A descriptor 0 to 2 that is closed would be the next file opened: what is printed would land in a journal. Each gets
 * /dev/null instead, for the wrong direction: reading is at an end or fails, writing fails, as it would closed. */
void host_output_open(void);
bool host_output_arrived(void); /* false where what was printed is lost, as on a full disk */
bool host_output_close(void);   /* the same, and says so; ends the process by SIGPIPE if the reader has left */
int host_arrived(lua_State *);  /* the same for Lua */

int host_prefix(lua_State *); /* host.prefix(words): words before each line that is printed */
int host_execute(lua_State *); /* os.execute, which Ctrl-C interrupts */
int host_reserve(lua_State *); /* host.reserve(path, bytes): room for a file to grow, 0 gives it back; true, or false and why */
int host_sync(lua_State *); /* host.sync(path): true once a file or folder is on the disk; else nil and why */

int host_editor_read(lua_State *);     /* (prompt): line; nil at the end; false after Ctrl-C */
int host_editor_open(lua_State *);     /* (history file, completer): line editing, at a terminal */
int host_editor_remember(lua_State *); /* (text): into the history and its file */
void host_editor_close(void);          /* gives the terminal back */

#endif
