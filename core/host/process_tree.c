/* SPDX-License-Identifier: MIT
 *
 * The processes below one. /proc is read as a whole: the list of children that some kernels keep is not on all of
 * them. That costs about a millisecond, so the supervisor asks only when a process may have begun. */
#include "core/host/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct link {
  pid_t pid, parent;
} link_t;

/* A file of /proc comes whole with one read. */
static bool read_text(const char *path, char *text, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t got = read(fd, text, size - 1);
  close(fd);
  text[got > 0 ? got : 0] = '\0';
  return got > 0;
}

/* Field 4 of stat; field 2, the name, is in parentheses and may hold any character. */
static pid_t parent_of(pid_t pid) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  if (!read_text(path, text, sizeof text)) return 0;
  const char *after = strrchr(text, ')');
  int parent = 0;
  return after && sscanf(after + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

/* Every process with its parent; the caller frees. */
static link_t *all_links(size_t *count) {
  DIR *folder = opendir("/proc");
  link_t *links = NULL;
  size_t room = *count = 0;
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    pid_t pid = atoi(entry->d_name);
    if (pid <= 0) continue;
    if (*count == room) {
      link_t *more = realloc(links, (room = 2 * room + 256) * sizeof *links);
      if (!more) break;
      links = more;
    }
    links[(*count)++] = (link_t){pid, parent_of(pid)};
  }
  if (folder) closedir(folder);
  return links;
}

static void add_children(process_tree *into, size_t most, const link_t *links, size_t count, pid_t of) {
  for (size_t i = 0; i < count && into->count < most; i++)
    if (links[i].parent == of) into->members[into->count++] = links[i].pid;
}

void process_tree_find(process_tree *into, pid_t above, size_t most) {
  size_t count;
  link_t *links = all_links(&count);
  into->count = 0;
  add_children(into, most, links, count, above);
  for (size_t next = 0; next < into->count; next++) add_children(into, most, links, count, into->members[next]);
  free(links);
}

void process_tree_children(process_tree *into, pid_t of) {
  size_t count;
  link_t *links = all_links(&count);
  into->count = 0;
  add_children(into, PROCESS_TREE_MOST, links, count, of);
  free(links);
}

static uint64_t resident(pid_t pid) {
  char path[64], text[256];
  unsigned long long pages = 0;
  snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
  if (!read_text(path, text, sizeof text) || sscanf(text, "%*u %llu", &pages) != 1) return 0;
  return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Pages that several processes have count by their share (Pss). Slow: the kernel walks the page tables. */
static uint64_t proportional(pid_t pid) {
  char path[64], text[2048];
  unsigned long long kilobytes = 0;
  snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
  const char *at = read_text(path, text, sizeof text) ? strstr(text, "\nPss:") : NULL;
  return at && sscanf(at, "\nPss: %llu", &kilobytes) == 1 ? (uint64_t)kilobytes << 10 : resident(pid);
}

uint64_t process_tree_memory(const process_tree *of) {
  static const uint64_t MUCH = 64 << 20;
  uint64_t sum = 0, shared = 0;
  for (size_t i = 0; i < of->count; i++) sum += resident(of->members[i]);
  if (of->count < 2 || sum < MUCH) return sum;
  for (size_t i = 0; i < of->count; i++) shared += proportional(of->members[i]);
  return shared;
}

void process_tree_kill(const process_tree *of, int signal_number) {
  for (size_t i = 0; i < of->count; i++) kill(of->members[i], signal_number);
}

/* "0.1 0.2 0.3 2/345 6789": runnable and all processes and threads, and the number given to the latest one. */
process_tree_census process_tree_count(void) {
  char text[128];
  unsigned long long alive = 0, births = 0;
  if (!read_text("/proc/loadavg", text, sizeof text)) return (process_tree_census){0};
  if (sscanf(text, "%*s %*s %*s %*u/%llu %llu", &alive, &births) != 2) return (process_tree_census){0};
  return (process_tree_census){alive, births};
}
