/* SPDX-License-Identifier: MIT
 *
 * The words after bwrap. */
#include "core/host/sandbox.h"

#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/folder.h"

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
  static const char *const of_root[] = {"--cap-add", "CAP_DAC_OVERRIDE", NULL}; /* files of others that root reads */
  add_all(to, options);
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
    add_three(to, "--ro-bind-try", settings[i], settings[i]);
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

void sandbox_exec(const char *const *view, uint64_t bytes, const char *const *argv) {
  static words command;
  static char size[32];
  if (bytes) snprintf(size, sizeof size, "%llu", (unsigned long long)bytes);
  add_namespaces(&command);
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
