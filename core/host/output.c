/* SPDX-License-Identifier: MIT
 *
 * Standard output: whether what was printed has come anywhere. */
#include "core/host/host.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static bool is_closed;

static void ignore(int signal_number) {
  (void)signal_number;
}

/* A write beyond `ulimit -f` is an error like one on a full disk, and not the end. A handler, unlike SIG_IGN, is not
 * inherited by the programs that are started. */
static void survive_file_limit(void) {
  struct sigaction action = {.sa_handler = ignore, .sa_flags = SA_RESTART};
  sigaction(SIGXFSZ, &action, NULL);
}

void host_output_open(void) {
  survive_file_limit();
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

/* The reader of a pipe has left, as head(1) does: the program ends as if SIGPIPE had not been ignored for the sake of
 * child processes. */
static void end_without_reader(void) {
  struct pollfd output = {.fd = STDOUT_FILENO};
  if (poll(&output, 1, 0) != 1 || !(output.revents & POLLERR)) return;
  signal(SIGPIPE, SIG_DFL);
  raise(SIGPIPE);
}

bool host_output_close(void) {
  if (host_output_arrived()) return true;
  end_without_reader();
  fputs("moonwarp: standard output could not be written: is the disk full?\n", stderr);
  return false;
}

int host_arrived(lua_State *L) {
  lua_pushboolean(L, host_output_arrived());
  return 1;
}
