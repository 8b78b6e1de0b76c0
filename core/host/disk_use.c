/* SPDX-License-Identifier: MIT
 *
 * By descriptors and not by paths: what is renamed meanwhile leads nowhere else. Links are not followed. */
#include "core/host/disk_use.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 512, FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

static bool enter(disk_use *use, int fd) {
  DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
  if (folder) use->open[use->depth++] = folder;
  if (!folder && fd >= 0) close(fd);
  return folder != NULL;
}

bool disk_use_begin(disk_use *use, const char *folder) {
  *use = (disk_use){0};
  return enter(use, open(folder, FOLDER));
}

/* A file with several names counts once in all: they are all in the folder, since no link leaves it. */
static void count(disk_use *use, int folder, const char *name) {
  struct stat found;
  if (fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) != 0) return;
  bool is_folder = S_ISDIR(found.st_mode);
  use->files++;
  use->bytes += (uint64_t)found.st_blocks * BLOCK / (is_folder || !found.st_nlink ? 1 : found.st_nlink);
  if (!is_folder) return;
  if (use->depth == DISK_USE_DEPTH)
    use->too_deep = true;
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
}
