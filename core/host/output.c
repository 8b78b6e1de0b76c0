/* SPDX-License-Identifier: MIT
 *
 * Standard output: whether what was printed has come anywhere. */
#include "core/host/host.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static bool is_closed;

void host_output_open(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    if (fcntl(fd, F_GETFD) != -1) continue;
    int opened = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened != fd && opened != -1) close(opened);
    if (fd == STDOUT_FILENO) is_closed = true;
  }
}

/* A closed standard output is the caller's wish. */
bool host_output_arrived(void) {
  bool flushed = fflush(stdout) == 0 && !ferror(stdout);
  return flushed || is_closed || fcntl(STDOUT_FILENO, F_GETFD) == -1;
}

int host_arrived(lua_State *L) {
  lua_pushboolean(L, host_output_arrived());
  return 1;
}
