/* SPDX-License-Identifier: MIT
 *
 * Files read and written whole. */
#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "core/base/memory.h"

char *mw_file_read_part(int fd, size_t most, size_t *size) {
  size_t done = 0;
  char *bytes = mw_malloc(most + 1);
  for (ssize_t got = 1; done < most && got; done += (size_t)got) {
    while ((got = read(fd, bytes + done, most - done)) < 0 && errno == EINTR) {
    }
    if (got < 0) {
      mw_free(bytes);
      return NULL;
    }
  }
  bytes[done] = '\0';
  if (size) *size = done;
  return bytes;
}

char *mw_file_read_fd(int fd, size_t most, size_t *size) {
  struct stat st;
  if (fstat(fd, &st) != 0) return NULL;
  if (S_ISREG(st.st_mode) && (uint64_t)st.st_size <= most) return mw_file_read_part(fd, (size_t)st.st_size, size);
  errno = S_ISREG(st.st_mode) ? EFBIG : EINVAL;
  return NULL;
}

char *mw_file_read(const char *path, size_t most, size_t *size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return NULL;
  char *bytes = mw_file_read_fd(fd, most, size);
  close(fd);
  return bytes;
}

/* One name after the other, each of the folder that the last one led to: what is moved or replaced meanwhile leads
 * nowhere else. */
static int descend(int at, char *names) {
  enum { FOLDER = O_PATH | O_DIRECTORY, PLAIN = O_RDONLY | O_NONBLOCK | O_NOCTTY };
  for (char *name; at >= 0 && (name = strsep(&names, "/"));) {
    const int flags = (names ? FOLDER : PLAIN) | O_NOFOLLOW | O_CLOEXEC;
    const int next = strcmp(name, "..") ? openat(at, *name ? name : ".", flags) : -1;
    close(at);
    at = next;
  }
  return at;
}

int mw_file_open_below(const char *folder, const char *name, struct stat *place, struct stat *found) {
  errno = EINVAL;
  int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (at < 0 || fstat(at, place) != 0) return -1;
  char *names = mw_strdup(name);
  at = descend(at, names);
  mw_free(names);
  if (at < 0 || (fstat(at, found) == 0 && S_ISREG(found->st_mode))) return at;
  close(at);
  return -1;
}

bool mw_file_write_fd(int fd, const void *bytes, size_t size) {
  for (const char *at = bytes; size;) {
    ssize_t put = write(fd, at, size);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    at += put;
    size -= (size_t)put;
  }
  return true;
}
