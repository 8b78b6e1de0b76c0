/* SPDX-License-Identifier: MIT
 *
 * A folder is locked while it is in use, and the system gives the lock back when its process dies, in whatever way:
 * so a folder that can be locked has no owner. Process numbers do not show that, since containers may share /tmp. */
#include "core/compile/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "moonwarp-unit-"
enum { RANDOM = 6, TRIES = 16 };

static const char *base_folder(void) {
  const char *base = getenv("TMPDIR");
  return base && *base ? base : "/tmp";
}

static bool is_ours(int parent, const char *name) {
  struct stat st;
  return strncmp(name, PREFIX, strlen(PREFIX)) == 0 && strlen(name) == strlen(PREFIX) + RANDOM &&
         fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/* What the compiler made: files, and no folders. */
static void empty(int parent) {
  int fd = openat(parent, MW_SCRATCH_TEMPORARY, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR *dir = fd < 0 ? NULL : fdopendir(fd);
  if (!dir) return;
  for (struct dirent *item; (item = readdir(dir));) unlinkat(fd, item->d_name, 0);
  closedir(dir);
  unlinkat(parent, MW_SCRATCH_TEMPORARY, AT_REMOVEDIR);
}

static void empty_scratch(int fd) {
  unlinkat(fd, MW_SCRATCH_FILE, 0);
  empty(fd);
}

/* Nothing but what we put there goes: a folder that holds more stays. */
static void remove_stale(int parent, const char *name) {
  int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
    empty_scratch(fd);
    unlinkat(parent, name, AT_REMOVEDIR);
  }
  close(fd);
}

static void clean(void) {
  DIR *dir = opendir(base_folder());
  if (!dir) return;
  for (struct dirent *item; (item = readdir(dir));)
    if (is_ours(dirfd(dir), item->d_name)) remove_stale(dirfd(dir), item->d_name);
  closedir(dir);
}

/* Another process may have taken the folder for a stale one before it was locked: then it is gone. Where the file
 * system knows no locks, stale folders stay. */
static bool lock(mw_scratch *scratch) {
  struct stat st;
  scratch->fd = open(scratch->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (scratch->fd < 0) return false;
  flock(scratch->fd, LOCK_EX);
  if (stat(scratch->path, &st) == 0) return true;
  close(scratch->fd);
  return false;
}

bool mw_scratch_make(mw_scratch *scratch) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, clean);
  for (int tries = 0; tries < TRIES; tries++) {
    snprintf(scratch->path, sizeof scratch->path, "%s/" PREFIX "XXXXXX", base_folder());
    if (!mkdtemp(scratch->path)) return false;
    if (lock(scratch)) {
      snprintf(scratch->temporary, sizeof scratch->temporary, "%s/" MW_SCRATCH_TEMPORARY, scratch->path);
      if (mkdir(scratch->temporary, 0700) == 0) return true;
      mw_scratch_drop(scratch);
      return false;
    }
    if (errno != ENOENT) break;
  }
  return false;
}

void mw_scratch_drop(mw_scratch *scratch) {
  empty_scratch(scratch->fd);
  rmdir(scratch->path);
  close(scratch->fd);
}
