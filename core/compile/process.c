/* SPDX-License-Identifier: MIT
 *
 * Runs another program in its own process group, so that a terminal's Ctrl-C reaches only us and a compiler's
 * children die with it. Its input is a memory file: no pipe to feed while we drain its output. */
#include "core/compile/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/interrupt.h"
#include "core/base/memory.h"
#include "core/source/lexer.h"

extern char **environ;

enum { TICK_MS = 20, CHUNK = 16384, MOST_OUTPUT = 64 << 20 };

void mw_argv_add(mw_argv *argv, const char *format, ...) {
  va_list args;
  va_start(args, format);
  argv->at = mw_grow(argv->at, (size_t)argv->count + 1, sizeof *argv->at);
  argv->at[argv->count++] = mw_vformat(format, args);
  argv->at[argv->count] = NULL;
  va_end(args);
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

static int spawn(const char *path, const char *const *argv, int in, int out, int err, pid_t *pid) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGINT);
  sigaddset(&defaults, SIGPIPE);
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in, 0);
  posix_spawn_file_actions_adddup2(&files, out, 1);
  posix_spawn_file_actions_adddup2(&files, err, 2);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  int failed = posix_spawn(pid, path, &files, &attributes, (char *const *)argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return failed;
}

static void close_pair(int pair[2]) {
  if (pair[0] >= 0) close(pair[0]);
  if (pair[1] >= 0) close(pair[1]);
}

/* The read ends of the child's output and error pipes go to `ends`. */
static mw_status start(const char *const *argv, const char *input, size_t size, pid_t *pid, int ends[2],
                       mw_error *error) {
  char path[4096];
  if (!mw_process_find(argv[0], path, sizeof path))
    return mw_fail(error, MW_IO, "cannot run '%s': not found on the PATH", argv[0]);
  int out[2] = {-1, -1}, err[2] = {-1, -1};
  int in = input_file(input, size);
  int failed = in < 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0 ? errno : 0;
  if (!failed) failed = spawn(path, argv, in, out[1], err[1], pid);
  if (in >= 0) close(in);
  if (failed) {
    close_pair(out);
    close_pair(err);
    return mw_fail(error, MW_IO, "cannot run '%s': %s", path, strerror(failed));
  }
  close(out[1]);
  close(err[1]);
  ends[0] = out[0];
  ends[1] = err[0];
  return MW_OK;
}

/* ---- collect --------------------------------------------------------------------------------------------------- */

/* One read; false at the end of the file. */
static bool take(int fd, cpu_text *into) {
  char bytes[CHUNK];
  ssize_t got = read(fd, bytes, sizeof bytes);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  cpu_text_add(into, bytes, got > 0 ? (size_t)got : 0);
  return got > 0;
}

static mw_status give_up(const char *program, double deadline, double seconds, mw_error *error) {
  if (atomic_load(&mw_interrupted))
    return mw_fail(error, MW_INTERRUPTED, "interrupted while '%s' was running", program);
  if (deadline > 0 && mw_clock() >= deadline)
    return mw_fail(error, MW_INTERRUPTED, "'%s' did not finish within %g s", program, seconds);
  return MW_OK;
}

static mw_status collect(const char *program, int ends[2], cpu_text texts[2], double deadline, double seconds,
                         mw_error *error) {
  struct pollfd polls[2] = {{.fd = ends[0], .events = POLLIN}, {.fd = ends[1], .events = POLLIN}};
  while (polls[0].fd >= 0 || polls[1].fd >= 0) {
    mw_status status = give_up(program, deadline, seconds, error);
    if (status != MW_OK) return status;
    if (poll(polls, 2, TICK_MS) <= 0) continue;
    for (int i = 0; i < 2; i++)
      if (polls[i].fd >= 0 && polls[i].revents && !take(polls[i].fd, &texts[i])) polls[i].fd = -1; /* poll skips it */
    if (texts[0].size + texts[1].size > MOST_OUTPUT)
      return mw_fail(error, MW_IO, "'%s' writes more than %d MiB", program, MOST_OUTPUT >> 20);
  }
  return MW_OK;
}

/* Its output has ended; it normally exits at once, but may have closed its files and gone on. */
static mw_status await(const char *program, pid_t pid, int *how, double deadline, double seconds, mw_error *error) {
  for (int pause = 50;; pause = pause < 5000 ? 2 * pause : pause) {
    if (waitpid(pid, how, WNOHANG) == pid) return MW_OK;
    mw_status status = give_up(program, deadline, seconds, error);
    if (status != MW_OK) return status;
    usleep((useconds_t)pause);
  }
}

mw_status mw_process_run(const char *const *argv, const char *input, size_t input_size, double seconds,
                         mw_process_result *out, mw_error *error) {
  pid_t pid;
  int ends[2], how = 0;
  memset(out, 0, sizeof *out);
  mw_status status = start(argv, input, input_size, &pid, ends, error);
  if (status != MW_OK) return status;
  double deadline = seconds > 0 ? mw_clock() + seconds : 0;
  cpu_text texts[2] = {{0}, {0}};
  status = collect(argv[0], ends, texts, deadline, seconds, error);
  if (status == MW_OK) status = await(argv[0], pid, &how, deadline, seconds, error);
  if (status != MW_OK) {
    kill(-pid, SIGKILL);
    while (waitpid(pid, &how, 0) < 0 && errno == EINTR) {
    }
  }
  close_pair(ends);
  *out = (mw_process_result){.exit = WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how),
                             .out = texts[0].at,
                             .err = texts[1].at,
                             .out_size = texts[0].size,
                             .err_size = texts[1].size};
  if (status != MW_OK) mw_process_result_free(out);
  return status;
}

void mw_process_result_free(mw_process_result *result) {
  mw_free(result->out);
  mw_free(result->err);
  *result = (mw_process_result){0};
}
