/* SPDX-License-Identifier: MIT
 *
 * The links of /proc/PID/fd, which are read without asking a file system; only files without a name are. */
#include "core/host/held.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char MEMORY[] = "/memfd:", DELETED[] = " (deleted)";

enum { BLOCK = 512 }; /* bytes of st_blocks, whatever the file system's own are */

typedef struct file {
  dev_t device;
  ino_t number;
  uint64_t bytes;
  bool in_memory;
} file;

static struct {
  file *list;
  size_t count, room;
} files; /* kept from one look to the next */

static bool begins(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with) {
  size_t length = strlen(text), end = strlen(with);
  return length >= end && strcmp(text + length - end, with) == 0;
}

static void add(const struct stat *of, bool in_memory) {
  if (files.count == files.room) {
    file *more = realloc(files.list, (2 * files.room + 64) * sizeof *more);
    if (!more) return;
    files.list = more;
    files.room = 2 * files.room + 64;
  }
  files.list[files.count++] = (file){of->st_dev, of->st_ino, (uint64_t)of->st_blocks * BLOCK, in_memory};
}

static void add_those_of(pid_t pid, uint64_t *descriptors) {
  char path[64], target[4096];
  struct stat found;
  snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
  DIR *folder = opendir(path);
  for (struct dirent *entry; folder && *descriptors <= HELD_MOST && (entry = readdir(folder)); (*descriptors)++) {
    ssize_t length = readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    if (!ends(target, DELETED) || fstatat(dirfd(folder), entry->d_name, &found, 0) != 0) continue;
    if (S_ISREG(found.st_mode)) add(&found, begins(target, MEMORY));
  }
  if (folder) closedir(folder);
}

static int by_number(const void *left, const void *right) {
  const file *a = left, *b = right;
  if (a->device != b->device) return a->device < b->device ? -1 : 1;
  return a->number < b->number ? -1 : a->number > b->number;
}

held held_by(const process_tree *of, dev_t disk) {
  held sum = {0};
  files.count = 0;
  for (size_t i = 0; i < of->count; i++) add_those_of(of->members[i], &sum.descriptors);
  if (files.count) qsort(files.list, files.count, sizeof *files.list, by_number);
  for (size_t i = 0; i < files.count; i++) {
    const file *one = &files.list[i];
    if (i > 0 && by_number(one, one - 1) == 0) continue;
    if (one->in_memory) sum.memory += one->bytes;
    if (one->device == disk) sum.disk += one->bytes;
  }
  return sum;
}

/* A mapping's first line has its file: "7f00-7f10 rw-s 00000000 00:01 2057 /memfd:x (deleted)"; one of those below is
 * its share of what is resident: "Pss: 4 kB". */
static uint64_t mapped_by(pid_t pid) {
  char path[64], *line = NULL;
  size_t room = 0;
  uint64_t sum = 0;
  bool is_ours = false;
  unsigned long long kilobytes;
  snprintf(path, sizeof path, "/proc/%d/smaps", (int)pid);
  FILE *in = fopen(path, "re");
  while (in && getline(&line, &room, in) > 0) {
    if (sscanf(line, "Pss: %llu", &kilobytes) == 1)
      sum += is_ours ? (uint64_t)kilobytes << 10 : 0;
    else if (strchr("0123456789abcdef", *line))
      is_ours = strstr(line, MEMORY) != NULL;
  }
  if (in) fclose(in);
  free(line);
  return sum;
}

uint64_t held_mapped(const process_tree *of) {
  uint64_t sum = 0;
  for (size_t i = 0; i < of->count; i++) sum += mapped_by(of->members[i]);
  return sum;
}
