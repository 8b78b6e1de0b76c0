/* SPDX-License-Identifier: MIT
 *
 * The words after bwrap. */
#include "core/host/sandbox.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "core/base/folder.h"
#include "core/host/filter.h"

enum { MOST_WORDS = 2048, INTERRUPTED = 128 + SIGINT };

typedef struct words {
  const char *list[MOST_WORDS + 1]; /* ends with NULL */
  size_t count;
} words;

static void add(words *to, const char *word) {
  if (to->count < MOST_WORDS) to->list[to->count++] = word;
}

static void add_all(words *to, const char *const *list) {
  for (; *list; list++) add(to, *list);
}

static void add_three(words *to, const char *option, const char *from, const char *at) {
  add(to, option);
  add(to, from);
  add(to, at);
}

/* An empty folder in memory. */
static void add_empty(words *to, const char *path, const char *size) {
  if (*size) {
    add(to, "--size");
    add(to, size);
  }
  add(to, "--tmpfs");
  add(to, path);
}

/* A session of its own keeps a signal to the sandbox's group inside. Without --as-pid-1, since the kernel keeps most
 * signals from the first process of a namespace. The machine's settings in /proc are read-only, since they are root's
 * to write, whatever its capabilities are; all of /proc cannot be: CUDA's driver writes to its own process there. */
static void add_namespaces(words *to) {
  static const char *const options[] = {"bwrap",
                                        "--die-with-parent",
                                        "--new-session",
                                        "--unshare-pid",
                                        "--unshare-ipc",
                                        "--unshare-net",
                                        "--cap-drop",
                                        "ALL",
                                        "--setenv",
                                        "TMPDIR",
                                        "/tmp",
                                        "--ro-bind",
                                        "/",
                                        "/",
                                        "--proc",
                                        "/proc",
                                        "--dev",
                                        "/dev",
                                        NULL};
  static const char *const settings[] = {"/proc/sys",  "/proc/sysrq-trigger", "/proc/irq",  "/proc/bus",   "/proc/fs",
                                         "/proc/mtrr", "/proc/acpi",          "/proc/scsi", "/proc/driver"};
  static const char *const keys[] = {"/proc/keys", "/proc/key-users"};          /* of all processes of the user */
  static const char *const of_root[] = {"--cap-add", "CAP_DAC_OVERRIDE", NULL}; /* files of others that root reads */
  add_all(to, options);
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
    add_three(to, "--ro-bind-try", settings[i], settings[i]);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (access(keys[i], F_OK) == 0) add_three(to, "--ro-bind", "/dev/null", keys[i]);
  if (geteuid() == 0) add_all(to, of_root);
}

static void add_gpus(words *to) {
  static glob_t found; /* its paths are used until exec */
  glob("/dev/nvidia*", 0, NULL, &found);
  glob("/dev/dxg", GLOB_APPEND, NULL, &found);
  for (size_t i = 0; i < found.gl_pathc; i++) add_three(to, "--dev-bind", found.gl_pathv[i], found.gl_pathv[i]);
  add(to, "--remount-ro");
  add(to, "/dev");
}

/* ---- the view -------------------------------------------------------------------------------------------------- */

static bool is_in(const char *path, const char *folder) {
  size_t length = strlen(folder);
  if (strcmp(folder, "/") == 0) return true;
  return strncmp(path, folder, length) == 0 && (path[length] == '/' || !path[length]);
}

/* Whether a folder holds one of those that are empty so far. */
static bool uncovers(const char *folder, const words *covers) {
  for (size_t i = 0; i < covers->count; i++)
    if (is_in(covers->list[i], folder)) return true;
  return false;
}

static void add_view(words *to, const char *const *view, const char *size) {
  static words covers, hidden;
  for (; view[0] && view[1]; view += 2) {
    if (strcmp(view[0], "write") == 0) mw_make_folders(view[1], MW_PRIVATE);
    if (strcmp(view[0], "private") == 0) continue;
    const char *path = realpath(view[1], NULL);
    bool hide = strcmp(view[0], "hide") == 0, read = strcmp(view[0], "read") == 0;
    if (!path || (read && uncovers(path, &covers))) continue;
    if (hide || strcmp(view[0], "scratch") == 0) {
      add_empty(to, path, size);
      add(&covers, path);
      if (hide) add(&hidden, path);
    } else
      add_three(to, read ? "--ro-bind" : "--bind", path, path);
  }
  for (size_t i = 0; i < hidden.count; i++) { /* now that what is bound in them has its place */
    add(to, "--remount-ro");
    add(to, hidden.list[i]);
  }
}

/* ---- besides what is seen --------------------------------------------------------------------------------------- */

static bool put(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  bool whole = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
  if (fd >= 0) close(fd);
  return whole;
}

/* A user namespace in which we are who we were. */
static bool own_users(void) {
  unsigned uid = geteuid(), gid = getegid();
  char users[64], groups[64];
  snprintf(users, sizeof users, "%u %u 1", uid, uid);
  snprintf(groups, sizeof groups, "%u %u 1", gid, gid);
  return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && put("/proc/self/setgroups", "deny") &&
         put("/proc/self/uid_map", users) && put("/proc/self/gid_map", groups);
}

/* bwrap's own mounts would follow the machine's: what is mounted later would be in the sandbox, and not read-only. */
static bool part_mounts(void) {
  if (unshare(CLONE_NEWNS) != 0 && !own_users()) return false;
  return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static bool is_private(const char *const *view) {
  for (; view[0] && view[1]; view += 2)
    if (strcmp(view[0], "private") == 0) return true;
  return false;
}

/* False if there ought to be a filter and is none. */
static bool add_filter(words *to) {
  static char number[16];
  int fd = filter_is_built() ? filter_open() : -1;
  snprintf(number, sizeof number, "%d", fd);
  if (fd >= 0) add(to, "--seccomp");
  if (fd >= 0) add(to, number);
  return fd >= 0 || !filter_is_built();
}

void sandbox_exec(const char *const *view, uint64_t bytes, const char *const *argv) {
  static words command;
  static char size[32];
  if (bytes) snprintf(size, sizeof size, "%llu", (unsigned long long)bytes);
  add_namespaces(&command);
  if (!add_filter(&command) || (is_private(view) && !part_mounts())) return;
  add_empty(&command, "/dev/shm", size);
  add_gpus(&command);
  add_view(&command, view, size);
  add(&command, "--");
  add_all(&command, argv);
  execvp(command.list[0], (char *const *)command.list);
}

int sandbox_signal(int exit_status) {
  int number = exit_status - 128;
  return number > 0 && number < NSIG && exit_status != INTERRUPTED ? number : 0;
}
