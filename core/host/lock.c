/* SPDX-License-Identifier: MIT
 *
 * A lock between processes: flock on a private file, which the kernel gives back when the last process that holds the
 * descriptor is gone. A child's supervisor may also hold it. The file says who has it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/host/child.h"

#define LOCK "moonwarp.lock"

int *host_lock_file(lua_State *L, int index) {
  int *fd = luaL_checkudata(L, index, LOCK);
  if (*fd < 0) luaL_error(L, "the lock is closed");
  return fd;
}

static int lock_close(lua_State *L) {
  int *fd = luaL_checkudata(L, 1, LOCK);
  if (*fd >= 0) close(*fd);
  *fd = -1;
  return 0;
}

/* nil, the number of the process that has it, and true. */
static int push_busy(lua_State *L, int fd) {
  char text[32] = "";
  ssize_t got = pread(fd, text, sizeof text - 1, 0);
  close(fd);
  lua_pushnil(L);
  if (got > 0 && atoi(text) > 0)
    lua_pushfstring(L, "process %d has it", atoi(text));
  else
    lua_pushliteral(L, "another process has it");
  lua_pushboolean(L, 1);
  return 3;
}

static int push_failure(lua_State *L, const char *path, int fd) {
  lua_pushnil(L);
  lua_pushfstring(L, "%s: %s", path, strerror(errno));
  if (fd >= 0) close(fd);
  return 2;
}

static void sign(int fd) {
  char text[32];
  int length = snprintf(text, sizeof text, "%d\n", (int)getpid());
  if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)length, 0) < 0) errno = 0; /* only for people */
}

/* host.lock(path): a lock with close(), or nil, why not, and whether another process has it. Does not wait. */
int host_lock(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  int *self = lua_newuserdatauv(L, sizeof *self, 0);
  *self = -1;
  luaL_setmetatable(L, LOCK);
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return push_failure(L, path, fd);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) return errno == EWOULDBLOCK ? push_busy(L, fd) : push_failure(L, path, fd);
  sign(fd);
  *self = fd;
  return 1;
}

void host_lock_class(lua_State *L) {
  static const luaL_Reg methods[] = {
      {"close", lock_close}, {"__gc", lock_close}, {"__close", lock_close}, {NULL, NULL}};
  luaL_newmetatable(L, LOCK);
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}
