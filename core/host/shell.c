/* SPDX-License-Identifier: MIT
 *
 * The program's os.execute. That of the C library ignores SIGINT until the command has ended: a Ctrl-C reaches the
 * command alone, and a script that starts one after another never ends. Here it reaches the script too, which is
 * interrupted when the command has ended. */
#include <errno.h>
#include <lauxlib.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/host/host.h"

extern char **environ;

/* os.execute([command]), as Lua's manual has it. */
int host_execute(lua_State *L) {
  const char *command = luaL_optstring(L, 1, NULL), *const shell = "/bin/sh";
  if (!command) {
    lua_pushboolean(L, access(shell, X_OK) == 0);
    return 1;
  }
  const char *const words[] = {"sh", "-c", command, NULL};
  pid_t child;
  int how = 0;
  errno = posix_spawn(&child, shell, NULL, NULL, (char *const *)(uintptr_t)words, environ);
  if (errno) return luaL_fileresult(L, false, NULL);
  while (waitpid(child, &how, 0) < 0 && errno == EINTR) {
  }
  errno = 0; /* luaL_execresult would take it for a failure to start the command */
  return luaL_execresult(L, how);
}
