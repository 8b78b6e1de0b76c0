/* SPDX-License-Identifier: MIT
 *
 * Lua objects where Lua has no memory: each use of the binding is run once for every allocation of Lua's, which fails
 * with all after it. Nothing is left open then, and the device works. */
#include "core/bind/bind.h"
#include "tests/c/test.h"

#include <lualib.h>
#include <stdlib.h>

static long left = -1; /* allocations until they fail; negative: they do not */

static void *allocate(void *data, void *block, size_t old, size_t size) {
  (void)data;
  if (size == 0) {
    free(block);
    return NULL;
  }
  if (left >= 0 && (!block || size > old)) {
    if (left == 0) return NULL;
    left--;
  }
  return realloc(block, size);
}

/* What is open, and what counts the device. */
static int held(lua_State *L) {
  int held = capture_class.live;
  lua_gc(L, LUA_GCCOLLECT);
  lua_gc(L, LUA_GCCOLLECT);
  for (bind_class *const *class = bind_classes; *class; class ++) held += (*class)->live;
  lua_getglobal(L, "x");
  held += ((bind_array *)lua_touserdata(L, -1))->buffer->device->refs;
  lua_pop(L, 1);
  return held;
}

static void load(lua_State *L, const char *text) {
  if (luaL_loadstring(L, text) != LUA_OK) fail_msg("%s", lua_tostring(L, -1));
}

/* A state with core, dev, m (a module) and x (an array) as globals. */
static lua_State *new_state(void) {
  lua_State *L = lua_newstate(allocate, NULL);
  luaL_openlibs(L);
  luaL_requiref(L, "moonwarp.core", luaopen_moonwarp_core, 0);
  lua_setglobal(L, "core");
  load(L, "dev = core.device 'cpu'\n"
          "x = dev:zeros('i32', 4)\n"
          "m = dev:module { source = '__device__ int v; __global__ void f(int *a, int n) { if (n) a[0] += n; }' }\n");
  if (lua_pcall(L, 0, 0, 0) != LUA_OK) fail_msg("%s", luaL_tolstring(L, -1, NULL));
  return L;
}

/* Runs it with n allocations, or any number; whether they were too few. Another error is the test's. */
static bool fails_at(lua_State *L, const char *use, long n) {
  load(L, use);
  left = n;
  const int status = lua_pcall(L, 0, 0, 0);
  const bool spent = left == 0;
  left = -1;
  if (status != LUA_OK && !spent) fail_msg("%s: %s", use, luaL_tolstring(L, -1, NULL));
  lua_settop(L, 0);
  return spent;
}

static void check_use(lua_State *L, const char *use) {
  static const char works[] = "m.f:launch(1, 1, x, 1) x:set(1, x:get(1) - 1) assert(x:get(1) == 0)";
  fails_at(L, use, -1);
  fails_at(L, works, -1);
  const int before = held(L);
  for (long n = 0; fails_at(L, use, n); n++) {
    if (held(L) > before) fail_msg("allocation %ld of %s: %d are held, %d were", n, use, held(L), before);
    fails_at(L, works, -1);
  }
}

static void objects_are_released_without_memory(void **state) {
  static const char *const uses[] = {
      "dev:zeros('f32', 8):view(2, 3):reshape(3, 1):readonly()",
      "dev:array('f32', { { 1, 2 }, { 3, 4 } }):totable()",
      "dev:pinned('f32', ('x'):rep(64)):bytes()",
      "dev:managed('f32', 4):upload { 1, 2, 3, 4 }",
      "local s = dev:stream() s:wait(s:record()) dev:event():record(s)",
      "dev:stream():callback(function() end):synchronize() core.poll()",
      "dev:default_stream('per-thread'):record():query()",
      "m.f:prepare { grid = 1, block = { 1, 1 }, stream = dev:stream() }(x, 0)",
      "m.f:close() m.f:launch(1, 1, x, 0) return m.f:parameters(), m.f:signature(), tostring(m.f)",
      "m:variable('v'):get(1)",
      "local g = dev:capture(function() m.f:launch(1, 1, x, 0) dev:zeros('i32', 4) end) g:launch() g:nodes()",
      "local g = dev:capture(function() m.f:launch(1, 1, x, 0) end) g:update(1, x, 0) g:launch()",
      "dev:properties() dev:state() dev:findings() core.devices() tostring(dev)",
      "core.compare(x, x, 0, 0, 4)",
      "pcall(x.get, x, 9) pcall(dev.zeros, dev, 'f31', 4)",
      "x:device():close() dev = core.device 'cpu'",
  };
  (void)state;
  lua_State *L = new_state();
  for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) check_use(L, uses[i]);
  lua_close(L);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(objects_are_released_without_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
