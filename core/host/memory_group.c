/* SPDX-License-Identifier: MIT
 *
 * In v1 a group may have processes and groups; ours is below our own. In v2 a group with processes has no groups that
 * count, so ours is next to our own. */
#include "core/host/memory_group.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char V1[] = "/sys/fs/cgroup/memory", V2[] = "/sys/fs/cgroup", PREFIX[] = "moonwarp-";

/* What is not given back when the system wants memory, with all groups below. */
static const char *const counted_v1[] = {"total_rss", "total_shmem", NULL};
static const char *const counted_v2[] = {
    "anon", "shmem", "kernel_stack", "pagetables", "percpu", "sock", "slab_unreclaimable", NULL,
};

static const char *const *counted;
static char group[PATH_MAX]; /* its folder; empty: none */

static bool read_text(const char *folder, const char *name, char *text, size_t size) {
  char path[PATH_MAX + 32];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t got = fd >= 0 ? read(fd, text, size - 1) : -1;
  if (fd >= 0) close(fd);
  text[got > 0 ? got : 0] = '\0';
  return got > 0;
}

/* The folder in which ours may be. "4:memory:/a/b" is of v1, "0::/a/b" of v2. */
static bool find_place(char *place, size_t size) {
  static char text[8192];
  if (!read_text("/proc/self", "cgroup", text, sizeof text)) return false;
  const char *first = strstr(text, ":memory:"), *other = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
  const char *at = first ? first + 8 : other ? strstr(other, "::") + 2 : NULL;
  if (!at || snprintf(place, size, "%s%.*s", first ? V1 : V2, (int)strcspn(at, "\n"), at) >= (int)size) return false;
  counted = first ? counted_v1 : counted_v2;
  char *last = strrchr(place, '/');
  if (!first && strlen(place) > sizeof V2) *last = '\0';
  return true;
}

/* Groups of supervisors that were killed. The kernel keeps those that are in use. */
static void sweep(const char *place) {
  DIR *folder = opendir(place);
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    if (strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1) != 0) continue;
    pid_t owner = atoi(entry->d_name + sizeof PREFIX - 1);
    if (owner > 0 && kill(owner, 0) != 0 && errno == ESRCH) unlinkat(dirfd(folder), entry->d_name, AT_REMOVEDIR);
  }
  if (folder) closedir(folder);
}

static bool write_text(const char *folder, const char *name, const char *text) {
  char path[PATH_MAX + 32];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  bool whole = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
  if (fd >= 0) close(fd);
  return whole;
}

/* In v2 the group above says whether memory is counted in those below. */
bool memory_group_open(void) {
  char place[PATH_MAX - 64], text[64];
  if (!find_place(place, sizeof place)) return false;
  snprintf(group, sizeof group, "%s/%s%d", place, PREFIX, (int)getpid());
  if (mkdir(group, 0755) != 0) {
    *group = '\0';
    return false;
  }
  sweep(place);
  if (read_text(group, "memory.stat", text, sizeof text)) return true;
  const bool more = write_text(place, "cgroup.subtree_control", "+memory");
  if (more && read_text(group, "memory.stat", text, sizeof text)) return true;
  memory_group_close();
  return false;
}

bool memory_group_enter(void) {
  return *group && write_text(group, "cgroup.procs", "0");
}

int host_counts_memory(lua_State *L) {
  lua_pushboolean(L, memory_group_open());
  memory_group_close();
  return 1;
}

static bool is_counted(const char *name, size_t length) {
  for (const char *const *one = counted; *one; one++)
    if (strlen(*one) == length && strncmp(*one, name, length) == 0) return true;
  return false;
}

uint64_t memory_group_bytes(void) {
  static char text[16384];
  uint64_t sum = 0;
  if (!*group || !read_text(group, "memory.stat", text, sizeof text)) return 0;
  for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
    size_t length = strcspn(line, " \n");
    if (is_counted(line, length)) sum += strtoull(line + length, NULL, 10);
  }
  return sum;
}

void memory_group_close(void) {
  if (*group) rmdir(group);
  *group = '\0';
}
