/* SPDX-License-Identifier: MIT
 *
 * Files that must outlast a crash of the machine, and be whole for a reader on another one. */
#include "core/host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
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
