/* SPDX-License-Identifier: MIT
 *
 * The group holds the read end of a pipe to which nothing is written. When the only write end closes, because this
 * process has ended in whatever way, the system sends SIGKILL to the group: O_ASYNC with F_SETOWN and F_SETSIG. A
 * parent-death signal would reach a compiler's driver and not the processes that do its work.
 *
 * vfork, not fork: a process with gigabytes of arrays takes long to copy. */
#include "core/compile/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CPU_GRACE = 5, NOT_STARTED = 127 }; /* seconds between SIGXCPU and SIGKILL */

/* ---- in the child, which shares our memory: system calls only ---------------------------------------------------- */

static bool set_limit(__rlimit_resource_t which, uint64_t limit, uint64_t grace) {
  struct rlimit now;
  if (limit == 0) return true;
  if (getrlimit(which, &now) != 0) return false;
  if (now.rlim_max < limit + grace) limit = now.rlim_max < limit ? now.rlim_max : limit;
  if (now.rlim_max > limit + grace) now.rlim_max = limit + grace;
  if (now.rlim_cur > limit) now.rlim_cur = limit;
  return setrlimit(which, &now) == 0;
}

static bool set_limits(const mw_process_limits *limits) {
  const struct rlimit no_core = {0, 0};
  return setrlimit(RLIMIT_CORE, &no_core) == 0 && set_limit(RLIMIT_CPU, limits->seconds, CPU_GRACE) &&
         set_limit(RLIMIT_AS, limits->memory, 0) && set_limit(RLIMIT_FSIZE, limits->file, 0);
}

/* No handler of ours may run in the child. Ctrl-C and closed pipes end it even if we ignore them. */
static void reset_signals(void) {
  struct sigaction action;
  sigset_t none;
  for (int number = 1; number < NSIG; number++) {
    if (sigaction(number, NULL, &action) != 0) continue;
    if (action.sa_handler == SIG_DFL) continue;
    if (action.sa_handler == SIG_IGN && number != SIGINT && number != SIGPIPE) continue;
    action = (struct sigaction){.sa_handler = SIG_DFL};
    sigaction(number, &action, NULL);
  }
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Ours may be below 3 if this process was started with closed files. */
static bool place_files(const mw_spawn_order *order) {
  const int from[] = {order->in, order->out, order->err};
  int high[3];
  for (int i = 0; i < 3; i++)
    if ((high[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 3)) < 0) return false;
  for (int i = 0; i < 3; i++)
    if (dup2(high[i], i) < 0) return false;
  return true;
}

/* A copy of the read end, above the first three files, survives exec. A system without such signals does without. */
static void tie_life(int life) {
  const int kept = fcntl(life, F_DUPFD, 3);
  struct pollfd ended = {.fd = kept};
  if (fcntl(kept, F_SETOWN, -getpid()) != 0 || fcntl(kept, F_SETSIG, SIGKILL) != 0) return;
  fcntl(kept, F_SETFL, O_ASYNC | O_NONBLOCK);
  if (poll(&ended, 1, 0) > 0) _exit(NOT_STARTED); /* it ended before this */
}

static _Noreturn void become(const mw_spawn_order *order, int life, volatile int *failed) {
  if (setpgid(0, 0) == 0) tie_life(life);
  reset_signals();
  if (place_files(order) && set_limits(&order->limits))
    execve(order->path, (char *const *)order->argv, (char *const *)order->env);
  *failed = errno;
  _exit(NOT_STARTED);
}

/* ---- in this process --------------------------------------------------------------------------------------------- */

int mw_spawn(const mw_spawn_order *order, pid_t *pid, int *life) {
  int ends[2];
  volatile int failed = 0;
  sigset_t all, before;
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  *pid = vfork();
  if (*pid == 0) become(order, ends[0], &failed);
  if (*pid < 0) failed = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  close(ends[0]);
  *life = ends[1];
  if (failed) close(ends[1]);
  return failed;
}
