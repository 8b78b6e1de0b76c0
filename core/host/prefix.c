/* SPDX-License-Identifier: MIT
 *
 * Whatever the process prints from now on, in a library or by a child as well, with some words before each line: sed reads
 * it from pipes, and ends after the last that may print. */
#include <errno.h>
#include <lauxlib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/host/host.h"

static pid_t printers[STDERR_FILENO + 1]; /* by the stream that they print to */

/* Text printed after it is lost. */
static void end(void) {
  fflush(NULL);
  for (int to = STDOUT_FILENO; to <= STDERR_FILENO; to++) {
    if (!printers[to] || !freopen("/dev/null", "w", to == STDOUT_FILENO ? stdout : stderr)) continue;
    while (waitpid(printers[to], NULL, 0) < 0 && errno == EINTR) {
    }
    printers[to] = 0;
  }
}

/* It ends with its writers, whatever signals the job gets. */
static void print(int from, int to, const char *script) {
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  dup2(from, STDIN_FILENO);
  dup2(to, STDOUT_FILENO);
  closefrom(STDERR_FILENO + 1);
  execlp("sed", "sed", "-u", script, (char *)NULL);
  _exit(127);
}

/* host.prefix(words): from now on; without words all has been printed when it returns, and nothing is after it. */
int host_prefix(lua_State *L) {
  const char *script = lua_pushfstring(L, "s/^/%s/", luaL_optstring(L, 1, ""));
  int ends[2];
  if (lua_isnoneornil(L, 1)) {
    end();
    return 0;
  }
  fflush(NULL);
  for (int to = STDOUT_FILENO; to <= STDERR_FILENO; to++) {
    if (pipe(ends) != 0 || (printers[to] = fork()) < 0) return luaL_error(L, "a pipe cannot be made");
    if (printers[to] == 0) print(ends[0], to, script);
    dup2(ends[1], to);
    close(ends[0]);
    close(ends[1]);
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  atexit(end);
  return 0;
}
