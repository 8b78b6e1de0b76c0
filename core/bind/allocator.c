/* SPDX-License-Identifier: MIT
 *
 * Counts the calls of the Lua allocator, in whichever host the library is loaded, so that a test can assert that a
 * launch allocates nothing. The state's own allocator keeps doing the work. */
#include "core/bind/bind.h"

#include <dlfcn.h>

typedef struct counter {
  lua_Alloc allocate;
  void *data;
  uint64_t calls;
} counter;

static const char counter_key = 'a';

static void *counted(void *data, void *block, size_t old, size_t size) {
  counter *c = data;
  if (size > 0) c->calls++;
  return c->allocate(c->data, block, old, size);
}

/* A stock lua5.4 unloads C modules before it frees its last objects, through our allocator: stay where we are. */
static void stay_loaded(void) {
  Dl_info self;
  if (dladdr(&counter_key, &self) && self.dli_fname) dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* The counter must outlive the state that allocates through it, so it is never freed: one small block a state. */
void allocator_install(lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &counter_key) == LUA_TNIL) {
    static counter first;
    stay_loaded();
    counter *c = first.allocate ? mw_calloc(1, sizeof *c) : &first;
    c->allocate = lua_getallocf(L, &c->data);
    lua_pushlightuserdata(L, c);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &counter_key);
    lua_setallocf(L, counted, c);
  }
  lua_pop(L, 1);
}

/* core.allocations(): calls of the Lua allocator and of the backends' allocator so far. */
static int allocations(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &counter_key);
  const counter *c = lua_touserdata(L, -1);
  lua_pushinteger(L, (lua_Integer)c->calls);
  lua_pushinteger(L, (lua_Integer)mw_allocations());
  return 2;
}

const luaL_Reg allocator_functions[] = {{"allocations", allocations}, {NULL, NULL}};
