/* SPDX-License-Identifier: MIT
 *
 * Words before each line that the process prints from now on, also in libraries and child processes. A process for each
 * stream reads the lines from a pipe, and ends after the last writer. */
#include <errno.h>
#include <lauxlib.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/host/host.h"

enum { MOST_LINE = 1 << 16, PATIENCE_MS = 100 };

static pid_t printers[STDERR_FILENO + 1]; /* by the stream that they print to */

/* Later output is lost. */
static void end(void) {
  fflush(NULL);
  for (int to = STDOUT_FILENO; to <= STDERR_FILENO; to++) {
    if (!printers[to] || !freopen("/dev/null", "w", to == STDOUT_FILENO ? stdout : stderr)) continue;
    while (waitpid(printers[to], NULL, 0) < 0 && errno == EINTR) {
    }
    printers[to] = 0;
  }
}

static void put(FILE *to, const char *words, const char *text, size_t size) {
  static bool is_inside; /* of a line */
  for (const char *end; size > 0; is_inside = !end) {
    end = memchr(text, '\n', size);
    const size_t count = end ? (size_t)(end - text) + 1 : size;
    if (!is_inside) fputs(words, to);
    fwrite(text, 1, count, to);
    text += count;
    size -= count;
  }
  fflush(to);
}

/* Lines are printed whole, because other ranks print to the same place. If the end of a line does not come soon, as
 * after a question, the beginning is printed without it. */
static void copy(FILE *to, const char *words) {
  static char text[MOST_LINE];
  struct pollfd from = {.fd = STDIN_FILENO, .events = POLLIN};
  ssize_t got = 1;
  for (size_t size = 0; got > 0;) {
    const bool is_late = poll(&from, 1, size > 0 ? PATIENCE_MS : -1) == 0;
    if (!is_late) got = read(STDIN_FILENO, text + size, sizeof text - size);
    if (!is_late && got > 0) size += (size_t)got;
    const char *last = got > 0 && !is_late && size < sizeof text ? memrchr(text, '\n', size) : text + size - 1;
    const size_t whole = size > 0 && last ? (size_t)(last - text) + 1 : 0;
    put(to, words, text, whole);
    memmove(text, text + whole, size -= whole);
  }
}

/* Signals do not end it: it prints what its writers say about them. */
static void print(int from, int to, const char *words) {
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  dup2(from, STDIN_FILENO);
  dup2(to, STDOUT_FILENO);
  closefrom(STDERR_FILENO + 1);
  FILE *stream = fdopen(STDOUT_FILENO, "w");
  if (stream) copy(stream, words);
  _exit(0);
}

/* host.prefix(words): the first call begins it. host.prefix(): ends it, after all was printed; later output is lost. */
int host_prefix(lua_State *L) {
  const char *words = luaL_optstring(L, 1, "");
  int ends[2];
  if (lua_isnoneornil(L, 1)) {
    end();
    return 0;
  }
  if (printers[STDOUT_FILENO]) return 0;
  fflush(NULL);
  for (int to = STDOUT_FILENO; to <= STDERR_FILENO; to++) {
    if (pipe(ends) != 0 || (printers[to] = fork()) < 0) return luaL_error(L, "a pipe cannot be made");
    if (printers[to] == 0) print(ends[0], to, words);
    dup2(ends[1], to);
    close(ends[0]);
    close(ends[1]);
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  atexit(end);
  return 0;
}
