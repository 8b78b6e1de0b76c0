/* SPDX-License-Identifier: MIT
 *
 * Files that must outlast a crash of the machine, and be whole for a reader on another one, or go on when the disk is
 * full. */
#include "core/host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Some file systems do not sync folders and say EINVAL: what is renamed there is on the disk without it. */
int host_sync(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  bool synced = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
  int reason = errno;
  if (fd >= 0) close(fd);
  if (synced) {
    lua_pushboolean(L, true);
    return 1;
  }
  lua_pushnil(L);
  lua_pushfstring(L, "%s: %s", path, strerror(reason));
  return 2;
}

/* Some file systems cannot keep room: what is written there may meet a full disk. */
static bool reserve(int fd, lua_Integer bytes) {
  struct stat now;
  if (fd < 0 || fstat(fd, &now) != 0) return false;
  if (bytes == 0) return ftruncate(fd, now.st_size) == 0;
  return fallocate(fd, FALLOC_FL_KEEP_SIZE, now.st_size, bytes) == 0 || errno == EOPNOTSUPP || errno == ENOSYS;
}

int host_reserve(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  bool reserved = reserve(fd, luaL_checkinteger(L, 2));
  int reason = errno;
  if (fd >= 0) close(fd);
  lua_pushboolean(L, reserved);
  if (reserved) return 1;
  lua_pushfstring(L, "%s: %s", path, strerror(reason));
  return 2;
}
