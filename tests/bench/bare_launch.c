/* SPDX-License-Identifier: MIT
 *
 * The floor for tests/bench/launch.lua: the same kernel launched by cuLaunchKernel from a C loop in the same process,
 * with nothing of moonwarp's in between. A Lua module of its own, so that the library carries no benchmark code. It
 * uses the context that moonwarp made current on this thread. */
#include <dlfcn.h>
#include <lauxlib.h>
#include <lua.h>
#include <stdint.h>
#include <time.h>

typedef int (*load_fn)(void **module, const void *image);
typedef int (*get_fn)(void **function, void *module, const char *name);
typedef int (*launch_fn)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                         unsigned shared, void *stream, void **params, void **extra);
typedef int (*sync_fn)(void);

static void *driver_symbol(lua_State *L, const char *name) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  void *symbol = library ? dlsym(library, name) : NULL;
  if (!symbol) luaL_error(L, "bare_launch: libcuda has no %s; open a CUDA device first", name);
  return symbol;
}

/* load(ptx, name) -> function handle, as light userdata */
static int bare_load(lua_State *L) {
  void *module = NULL, *function = NULL;
  int failed = ((load_fn)driver_symbol(L, "cuModuleLoadData"))(&module, luaL_checkstring(L, 1));
  if (!failed) failed = ((get_fn)driver_symbol(L, "cuModuleGetFunction"))(&function, module, luaL_checkstring(L, 2));
  if (failed) return luaL_error(L, "bare_launch: the driver says %d", failed);
  lua_pushlightuserdata(L, function);
  return 1;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* batch(function, launches, a, b, c) -> seconds a launch of kernel(double *a, double *b, double *c, int, float,
 * double) on the legacy default stream; synchronises outside the timed part. */
static int bare_batch(lua_State *L) {
  void *function = lua_touserdata(L, 1);
  int launches = (int)luaL_checkinteger(L, 2), n = 1024, failed = 0;
  uint64_t a = (uint64_t)luaL_checkinteger(L, 3), b = (uint64_t)luaL_checkinteger(L, 4);
  uint64_t c = (uint64_t)luaL_checkinteger(L, 5);
  float s = 1.5f;
  double t = 2.5;
  void *params[] = {&a, &b, &c, &n, &s, &t};
  launch_fn launch = (launch_fn)driver_symbol(L, "cuLaunchKernel");
  sync_fn synchronize = (sync_fn)driver_symbol(L, "cuCtxSynchronize");
  failed |= synchronize();
  double start = now();
  for (int i = 0; i < launches; i++) {
    n = i;
    failed |= launch(function, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
  }
  double seconds = now() - start;
  failed |= synchronize();
  if (failed) return luaL_error(L, "bare_launch: the driver says %d", failed);
  lua_pushnumber(L, seconds / launches);
  return 1;
}

int luaopen_bare_launch(lua_State *L);
int luaopen_bare_launch(lua_State *L) {
  static const luaL_Reg functions[] = {{"batch", bare_batch}, {"load", bare_load}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
