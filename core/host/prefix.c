/* SPDX-License-Identifier: MIT
 *
 * Whatever the process prints from now on, in a library or by a child as well, with some words before each line: a
 * process for each stream reads it from a pipe, and ends after the last that may print. */
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

/* Lines are printed whole, since other ranks print to the same place. What has no end soon, a question say, is printed
 * without it. */
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

/* It ends with its writers, whatever signals the job gets. */
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

/* host.prefix(words): from now on, the words of the first call; without words all has been printed when it returns, and
 * nothing is after it. */
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
