/* SPDX-License-Identifier: MIT
 *
 * Runs another program in its own process group, so that a terminal's Ctrl-C reaches only us and a compiler's
 * children die with it. Its input is a memory file: no pipe to feed while we drain its output. */
#include "core/compile/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/interrupt.h"
#include "core/base/memory.h"
#include "core/source/lexer.h"

extern char **environ;

enum { TICK_MS = 20, CHUNK = 16384 };

void mw_argv_add(mw_argv *argv, const char *format, ...) {
  va_list args;
  va_start(args, format);
  argv->at = mw_grow(argv->at, (size_t)argv->count + 1, sizeof *argv->at);
  argv->at[argv->count++] = mw_vformat(format, args);
  argv->at[argv->count] = NULL;
  va_end(args);
}

void mw_argv_add_words(mw_argv *list, const char *words) {
  char *all = mw_strdup(words), *rest = all;
  for (char *word; (word = strsep(&rest, " "));) mw_argv_add(list, "%s", word);
  mw_free(all);
}

void mw_argv_add_all(mw_argv *argv, const char *prefix, const char *const *list) {
  for (; list && *list; list++) mw_argv_add(argv, "%s%s", prefix, *list);
}

void mw_argv_free(mw_argv *argv) {
  for (int i = 0; i < argv->count; i++) mw_free((char *)argv->at[i]);
  mw_free(argv->at);
}

bool mw_process_find(const char *program, char *path, size_t size) {
  if (strchr(program, '/')) {
    int length = snprintf(path, size, "%s", program);
    return length > 0 && (size_t)length < size && access(path, X_OK) == 0;
  }
  const char *at = getenv("PATH");
  for (at = at ? at : "/usr/local/bin:/usr/bin:/bin"; *at; at += *at == ':') {
    int folder = (int)strcspn(at, ":");
    int length = snprintf(path, size, "%.*s/%s", folder ? folder : 1, folder ? at : ".", program);
    if ((size_t)length < size && access(path, X_OK) == 0) return true;
    at += folder;
  }
  return false;
}

/* ---- start ----------------------------------------------------------------------------------------------------- */

static int input_file(const char *input, size_t size) {
  if (!input) return open("/dev/null", O_RDONLY | O_CLOEXEC);
  int fd = memfd_create("moonwarp-input", MFD_CLOEXEC);
  if (fd >= 0 && !mw_file_write_fd(fd, input, size)) {
    close(fd);
    return -1;
  }
  if (fd >= 0) lseek(fd, 0, SEEK_SET);
  return fd;
}

/* Our environment with another TMPDIR and LC_ALL; released by mw_argv_free. */
static mw_argv environment(const mw_process *order) {
  mw_argv env = {0};
  for (char **at = environ; *at; at++) {
    if (order->folder && strncmp(*at, "TMPDIR=", 7) == 0) continue;
    if (order->locale && strncmp(*at, "LC_ALL=", 7) == 0) continue;
    mw_argv_add(&env, "%s", *at);
  }
  if (order->folder) mw_argv_add(&env, "TMPDIR=%s", order->folder);
  if (order->locale) mw_argv_add(&env, "LC_ALL=%s", order->locale);
  return env;
}

static void close_pair(int pair[2]) {
  if (pair[0] >= 0) close(pair[0]);
  if (pair[1] >= 0) close(pair[1]);
}

typedef struct running {
  pid_t pid;
  int ends[2]; /* of the pipes from its output and errors */
  int life;
  mw_text texts[2];
  const mw_process *order;
  double deadline; /* 0: none */
} running;

static mw_status start(running *run, mw_error *error) {
  const mw_process *order = run->order;
  char path[4096];
  if (!mw_process_find(order->argv[0], path, sizeof path))
    return mw_fail(error, MW_IO, "cannot run '%s': not found on the PATH", order->argv[0]);
  int out[2] = {-1, -1}, err[2] = {-1, -1};
  int in = input_file(order->input, order->input_size);
  int failed = in < 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0 ? errno : 0;
  if (!failed) {
    mw_argv env = environment(order);
    const mw_spawn_order spawn = {path, order->argv, env.at, in, out[1], err[1], order->limits};
    failed = mw_spawn(&spawn, &run->pid, &run->life);
    mw_argv_free(&env);
  }
  if (in >= 0) close(in);
  if (failed) {
    close_pair(out);
    close_pair(err);
    return mw_fail(error, MW_IO, "cannot run '%s': %s%s", path, strerror(failed),
                   failed == E2BIG ? "; use fewer or shorter include folders" : "");
  }
  close(out[1]);
  close(err[1]);
  run->ends[0] = out[0];
  run->ends[1] = err[0];
  run->deadline = order->seconds > 0 ? mw_clock() + order->seconds : 0;
  return MW_OK;
}

/* ---- collect --------------------------------------------------------------------------------------------------- */

/* One read; false at the end of the file. */
static bool take(int fd, mw_text *into) {
  char bytes[CHUNK];
  ssize_t got = read(fd, bytes, sizeof bytes);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  mw_text_add(into, bytes, got > 0 ? (size_t)got : 0);
  return got > 0;
}

static mw_status give_up(const running *run, mw_error *error) {
  const mw_process *order = run->order;
  const char *program = order->argv[0], *hint = order->hint ? order->hint : "";
  char bytes[32];
  if (atomic_load(&mw_interrupted))
    return mw_fail(error, MW_INTERRUPTED, "interrupted while '%s' was running", program);
  if (run->deadline > 0 && mw_clock() >= run->deadline)
    return mw_fail(error, MW_IO, "'%s' did not finish within %g s%s", program, order->seconds, hint);
  for (int i = 0; order->output > 0 && i < 2; i++)
    if (run->texts[i].size > order->output)
      return mw_fail(error, MW_IO, "'%s' wrote more than %s%s", program, mw_bytes_text(bytes, (double)order->output),
                     i == 0 && order->hint ? ", which is not a source: look for a macro or an included file without end"
                                           : "");
  return MW_OK;
}

static mw_status collect(running *run, mw_error *error) {
  struct pollfd polls[2] = {{.fd = run->ends[0], .events = POLLIN}, {.fd = run->ends[1], .events = POLLIN}};
  while (polls[0].fd >= 0 || polls[1].fd >= 0) {
    mw_status status = give_up(run, error);
    if (status != MW_OK) return status;
    if (poll(polls, 2, TICK_MS) <= 0) continue;
    for (int i = 0; i < 2; i++)
      if (polls[i].fd >= 0 && polls[i].revents && !take(polls[i].fd, &run->texts[i]))
        polls[i].fd = -1; /* poll skips it */
  }
  return MW_OK;
}

static double processor_seconds(const struct rusage *used) {
  return (double)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) +
         1e-6 * (double)(used->ru_utime.tv_usec + used->ru_stime.tv_usec);
}

/* The limit is each process's own: of several, none may have reached it. */
static mw_status check_time(const running *run, int how, const struct rusage *used, mw_error *error) {
  const uint64_t limit = run->order->limits.seconds;
  const bool told = WIFSIGNALED(how) && WTERMSIG(how) == SIGXCPU;
  if (how == 0 || limit == 0 || (!told && processor_seconds(used) < (double)limit)) return MW_OK;
  return mw_fail(error, MW_IO, "'%s' used more than %llu s of processor time%s", run->order->argv[0],
                 (unsigned long long)limit, run->order->hint ? run->order->hint : "");
}

/* Its output has ended; it normally exits at once, but may have closed its files and gone on. */
static mw_status await(const running *run, int *how, mw_error *error) {
  struct rusage used;
  for (int pause = 50;; pause = pause < 5000 ? 2 * pause : pause) {
    if (wait4(run->pid, how, WNOHANG, &used) == run->pid) return check_time(run, *how, &used, error);
    mw_status status = give_up(run, error);
    if (status != MW_OK) {
      kill(-run->pid, SIGKILL);
      while (waitpid(run->pid, how, 0) < 0 && errno == EINTR) {
      }
      return status;
    }
    usleep((useconds_t)pause);
  }
}

mw_status mw_process_run(const mw_process *order, mw_process_result *out, mw_error *error) {
  running run = {.order = order};
  int how = 0;
  memset(out, 0, sizeof *out);
  mw_status status = start(&run, error);
  if (status != MW_OK) return status;
  status = collect(&run, error);
  if (status != MW_OK) kill(-run.pid, SIGKILL);
  mw_status after = await(&run, &how, status == MW_OK ? error : NULL);
  if (status == MW_OK) status = after;
  close(run.life);
  close_pair(run.ends);
  *out = (mw_process_result){.exit = WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how),
                             .out = run.texts[0].at,
                             .err = run.texts[1].at,
                             .out_size = run.texts[0].size,
                             .err_size = run.texts[1].size};
  if (status != MW_OK) mw_process_result_free(out);
  return status;
}

void mw_process_result_free(mw_process_result *result) {
  mw_free(result->out);
  mw_free(result->err);
  *result = (mw_process_result){0};
}
