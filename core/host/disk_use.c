/* SPDX-License-Identifier: MIT
 *
 * By descriptors and not by paths: what is renamed meanwhile leads nowhere else. Links are not followed. */
#include "core/host/disk_use.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 512, FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

/* What was removed or replaced since it was met is no longer there; whatever else cannot be looked at counts. */
static void miss(disk_use *use) {
  if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP) use->unseen = true;
}

static void enter(disk_use *use, int fd) {
  DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
  if (folder)
    use->open[use->depth++] = folder;
  else
    miss(use);
  if (!folder && fd >= 0) close(fd);
}

bool disk_use_begin(disk_use *use, const char *folder) {
  *use = (disk_use){0};
  enter(use, open(folder, FOLDER));
  return use->depth > 0;
}

static int by_number(const void *left, const void *right) {
  return (left > right) - (left < right);
}

/* Whether it has been met by another of its names. A folder is on one disk, whose files their numbers tell apart. */
static bool is_known(disk_use *use, const struct stat *found) {
  const void *number = (const void *)(uintptr_t)found->st_ino;
  if (S_ISDIR(found->st_mode) || found->st_nlink < 2) return false;
  if (tfind(number, &use->linked, by_number)) return true;
  tsearch(number, &use->linked, by_number);
  return false;
}

static void drop(void *number) {
  (void)number;
}

/* A file counts once and whole, wherever its other names are. */
static void count(disk_use *use, int folder, const char *name) {
  struct stat found;
  if (fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) != 0) return miss(use);
  use->files++;
  if (!is_known(use, &found)) use->bytes += (uint64_t)found.st_blocks * BLOCK;
  if (!S_ISDIR(found.st_mode)) return;
  if (use->depth == DISK_USE_DEPTH)
    use->unseen = true;
  else
    enter(use, openat(folder, name, FOLDER));
}

bool disk_use_go_on(disk_use *use, int most) {
  for (int i = 0; i < most && use->depth > 0; i++) {
    DIR *folder = use->open[use->depth - 1];
    struct dirent *entry = readdir(folder);
    if (!entry) {
      closedir(folder);
      use->depth--;
    } else if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      count(use, dirfd(folder), entry->d_name);
  }
  return use->depth > 0;
}

void disk_use_end(disk_use *use) {
  while (use->depth > 0) closedir(use->open[--use->depth]);
  tdestroy(use->linked, drop);
  use->linked = NULL;
}
