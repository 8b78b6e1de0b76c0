/* SPDX-License-Identifier: MIT
 *
 * One run of NVRTC, on a thread of its own. NVRTC compiles inside this process and asks whether to go on only after it
 * has parsed the source; while it parses, its own handler of SIGINT would end the process. So the calling thread blocks
 * the signal and waits for it, for the result, and for the limit on processor time. A compilation that does not end soon
 * after one of the last two is abandoned: its thread goes on until NVRTC asks, and then frees everything. A process that
 * exits before that skips the destructors of NVRTC, which would take away what its thread uses. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "core/backend/cuda/compilation.h"
#include "core/base/clock.h"
#include "core/base/interrupt.h"
#include "core/base/leave.h"
#include "core/base/memory.h"
#include "core/compile/limits.h"

enum { TICK_MS = 100, STACK = 256 << 20 }; /* the parser recurses; memory is taken only as far as it does */

static const double GRACE = 0.3; /* seconds to end in order */

typedef struct compilation {
  cuda_program program;
  mw_argv options;
  unsigned code;
  int done;           /* an eventfd */
  atomic_bool stop;   /* asked by NVRTC */
  atomic_int users;   /* the thread, and whoever waits for it */
  atomic_bool orphan; /* no one waits: the program is the thread's */
} compilation;

static atomic_int abandoned; /* that have not ended */

static void at_exit(int status, void *nothing) {
  (void)nothing;
  if (atomic_load(&abandoned) == 0) return;
  if (mw_leave) status = mw_leave(status);
  fflush(NULL);
  _exit(status);
}

/* Handlers run in the order opposite to that of their registration: this one comes after NVRTC was loaded. */
static void register_at_exit(void) {
  on_exit(at_exit, NULL);
}

static void abandon(compilation *it) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_at_exit);
  atomic_fetch_add(&abandoned, 1);
  atomic_store(&it->orphan, true);
}

static void release(compilation *it) {
  if (atomic_fetch_sub(&it->users, 1) > 1) return;
  if (atomic_load(&it->orphan)) {
    cuda_nvrtc.nvrtcDestroyProgram(&it->program);
    atomic_fetch_sub(&abandoned, 1);
  }
  mw_argv_free(&it->options);
  close(it->done);
  mw_free(it);
}

static int ask(void *context, void *reserved) {
  (void)reserved;
  return atomic_load(&((compilation *)context)->stop);
}

static void *run(void *context) {
  compilation *it = context;
  it->code = cuda_nvrtc.nvrtcCompileProgram(it->program, it->options.count, it->options.at);
  eventfd_write(it->done, 1);
  release(it);
  return NULL;
}

static int start(compilation *it, pthread_t *thread) {
  pthread_attr_t attributes;
  sigset_t all, before;
  if (cuda_nvrtc.nvrtcSetFlowCallback) cuda_nvrtc.nvrtcSetFlowCallback(it->program, ask, it);
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int failed = pthread_create(thread, &attributes, run, it);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return failed;
}

static double processor_seconds(pthread_t thread) {
  struct timespec used;
  clockid_t clock;
  if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/* signals: gives the SIGINT that this thread blocks. Returns MW_OK at the end; else why it has to stop. */
static mw_status await(compilation *it, pthread_t thread, int signals, bool *signalled) {
  const double limit = mw_compile_seconds();
  struct pollfd polls[2] = {{.fd = it->done, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
  struct signalfd_siginfo info;
  mw_status status = MW_OK;
  for (double until = 0; status == MW_OK || mw_clock() < until;) {
    poll(polls, 2, status == MW_OK ? TICK_MS : TICK_MS / 10);
    if (polls[0].revents) return status;
    if (polls[1].revents && read(signals, &info, sizeof info) == sizeof info) *signalled = true;
    if (status != MW_OK) continue;
    if (*signalled || atomic_load(&mw_interrupted))
      status = MW_INTERRUPTED;
    else if (limit > 0 && processor_seconds(thread) > limit)
      status = MW_IO;
    atomic_store(&it->stop, status != MW_OK);
    until = mw_clock() + GRACE;
  }
  abandon(it);
  return status;
}

/* NVRTC replaces the handler of SIGINT, and may keep it. The signal goes to the handler that it was for. */
static mw_status run_and_wait(compilation *it, mw_error *err) {
  struct sigaction action;
  sigset_t interrupt, before;
  pthread_t thread;
  bool signalled = false;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  sigaction(SIGINT, NULL, &action);
  pthread_sigmask(SIG_BLOCK, &interrupt, &before);
  int signals = sigismember(&before, SIGINT) ? -1 : signalfd(-1, &interrupt, SFD_CLOEXEC | SFD_NONBLOCK);
  int failed = start(it, &thread);
  mw_status status = failed ? mw_fail(err, MW_NO_MEMORY, "no thread to compile on: %s", strerror(failed))
                            : await(it, thread, signals, &signalled);
  if (failed)
    release(it);
  else if (atomic_load(&it->orphan))
    pthread_detach(thread);
  else
    pthread_join(thread, NULL);
  if (signals >= 0) close(signals);
  sigaction(SIGINT, &action, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (signalled) raise(SIGINT);
  return status;
}

static mw_status explain(mw_status status, const char *name, mw_error *err) {
  if (status == MW_INTERRUPTED) return mw_fail(err, status, "interrupted while NVRTC compiled '%.128s'", name);
  if (status != MW_IO) return status;
  return mw_fail(err, status,
                 "NVRTC used more than %g s of processor time for '%.128s'; MOONWARP_COMPILE_SECONDS sets the limit",
                 mw_compile_seconds(), name);
}

mw_status cuda_program_compile(cuda_program *program, mw_argv *options, const char *name, unsigned *code,
                               mw_error *err) {
  const int done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (done < 0) return mw_fail(err, MW_IO, "no file to wait for NVRTC on: %s", strerror(errno));
  compilation *it = mw_calloc(1, sizeof *it);
  *it = (compilation){.program = *program, .options = *options, .done = done};
  atomic_init(&it->users, 2);
  *options = (mw_argv){0};
  mw_status status = run_and_wait(it, err);
  if (atomic_load(&it->orphan))
    *program = NULL;
  else if (status != MW_NO_MEMORY) {
    *code = it->code;
    if (it->code == 0) status = MW_OK;
  }
  release(it);
  return explain(status, name, err);
}
