/* SPDX-License-Identifier: MIT
 *
 * Files read and written whole. */
#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/memory.h"

char *mw_file_read_fd(int fd, size_t most, size_t *size) {
  struct stat st;
  if (fstat(fd, &st) != 0) return NULL;
  if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > most) {
    errno = S_ISREG(st.st_mode) ? EFBIG : EINVAL;
    return NULL;
  }
  size_t done = 0, whole = (size_t)st.st_size;
  char *bytes = mw_malloc(whole + 1);
  for (ssize_t got = 1; done < whole && got; done += (size_t)got) {
    while ((got = read(fd, bytes + done, whole - done)) < 0 && errno == EINTR) {
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

char *mw_file_read(const char *path, size_t most, size_t *size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return NULL;
  char *bytes = mw_file_read_fd(fd, most, size);
  close(fd);
  return bytes;
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
