/* SPDX-License-Identifier: MIT
 *
 * Whatever the process prints from now on, in a library or by a child as well, with some words before each line: a process
 * of its own reads it from pipes, and ends behind the last that may print. */
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

enum { STREAMS = 2, LINE = 8192, WORDS = 32 }; /* a longer line is parted */

typedef struct stream {
  int from, to;
  size_t used;
  char line[WORDS + LINE];
} stream;

static pid_t printer;

/* A write of a whole line, and its words: those of several processes to one terminal stay apart. */
static void put(stream *s, size_t words, size_t size) {
  for (size_t at = 0; at < words + size;) {
    const ssize_t got = write(s->to, s->line + at, words + size - at);
    if (got < 0 && errno != EINTR) return;
    if (got > 0) at += (size_t)got;
  }
}

/* False at the end. */
static bool pass_on(stream *s, size_t words) {
  char *const text = s->line + words;
  const ssize_t got = read(s->from, text + s->used, LINE - s->used);
  if (got < 0) return errno == EINTR;
  s->used += (size_t)got;
  for (char *end; (end = memchr(text, '\n', s->used)) || s->used == LINE || (!got && s->used);) {
    const size_t size = end ? (size_t)(end - text) + 1 : s->used;
    put(s, words, size);
    s->used -= size;
    memmove(text, text + size, s->used);
  }
  return got > 0;
}

static void print_all(stream streams[STREAMS], size_t words) {
  for (int open = STREAMS; open > 0;) {
    struct pollfd polls[STREAMS] = {{streams[0].from, POLLIN, 0}, {streams[1].from, POLLIN, 0}};
    poll(polls, STREAMS, -1);
    for (int i = 0; i < STREAMS; i++) {
      if (!polls[i].revents || pass_on(&streams[i], words)) continue;
      streams[i].from = -1;
      open--;
    }
  }
  _exit(0);
}

/* What is printed behind it is lost. */
static void end(void) {
  if (!printer) return;
  fflush(NULL);
  if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) return;
  while (waitpid(printer, NULL, 0) < 0 && errno == EINTR) {
  }
  printer = 0;
}

static void start(const char *words, int pipes[STREAMS][2]) {
  static stream streams[STREAMS];
  for (int i = 0; i < STREAMS; i++) {
    streams[i] = (stream){.from = pipes[i][0], .to = i + 1};
    memcpy(streams[i].line, words, strlen(words));
  }
  fflush(NULL);
  printer = fork();
  for (int i = 0; i < STREAMS; i++) close(printer ? pipes[i][0] : pipes[i][1]);
  if (printer) return;
  signal(SIGINT, SIG_IGN); /* it ends with its writers */
  signal(SIGTERM, SIG_IGN);
  print_all(streams, strlen(words));
}

/* host.prefix(words): from now on; without words all has been printed when it returns, and nothing is after it. */
int host_prefix(lua_State *L) {
  const char *words = luaL_optstring(L, 1, NULL);
  int pipes[STREAMS][2];
  if (!words) {
    end();
    return 0;
  }
  luaL_argcheck(L, strlen(words) <= WORDS, 1, "too long");
  for (int i = 0; i < STREAMS; i++)
    if (pipe(pipes[i]) != 0) return luaL_error(L, "a pipe cannot be made: %s", strerror(errno));
  start(words, pipes);
  for (int i = 0; i < STREAMS; i++) {
    dup2(pipes[i][1], i + 1);
    close(pipes[i][1]);
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  atexit(end);
  return 0;
}
