/* SPDX-License-Identifier: MIT
 *
 * The coroutines that there are. Lua does not say which one runs, so Ctrl-C sets its hook in all of them; and it has no
 * list of them, but it informs its allocator when it makes a thread (the manual's lua_Alloc). A thread lies
 * LUA_EXTRASPACE after the start of its block. It is entered when Lua has set it up, before it can run:
 *
 *     the block of the thread, the thread's stack, what its first call needs (a thread without any has no call record)
 *                                                  ^ entered here, by the second allocation after its own
 *
 * and taken out before its block is freed. The signal's handler may read in between any two instructions of that: each
 * change is one store of a pointer. */
#include "core/host/host.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct table { /* by address; open addressing with linear probing */
  size_t room, used;   /* room is a power of two; used also counts slots given up */
  lua_State *slots[];
} table;

static struct {
  lua_Alloc allocate;
  void *data;
  size_t size; /* of a thread's block; 0: there was none yet */
  char *young; /* the block of the newest thread, until it is entered */
  int age;     /* allocations since then */
  _Atomic(table *) known;
} threads;

static char given_up_mark;
#define GIVEN_UP ((lua_State *)&given_up_mark)

/* The slot of the thread, else the one where it would go. */
static lua_State **slot_of(table *known, const lua_State *thread) {
  size_t at = (size_t)((uintptr_t)thread * UINT64_C(0x9E3779B97F4A7C15) >> 32);
  while (known->slots[at & (known->room - 1)] && known->slots[at & (known->room - 1)] != thread) at++;
  return &known->slots[at & (known->room - 1)];
}

/* A table without the slots given up, at most a quarter full; NULL: no memory. */
static table *rehashed(const table *old) {
  size_t count = 0, room = 16;
  for (size_t i = 0; old && i < old->room; i++) count += old->slots[i] && old->slots[i] != GIVEN_UP;
  while (room < 4 * count) room *= 2;
  table *new = calloc(1, sizeof *new + room * sizeof *new->slots);
  if (!new) return NULL;
  *new = (table){room, count};
  for (size_t i = 0; old && i < old->room; i++)
    if (old->slots[i] && old->slots[i] != GIVEN_UP) *slot_of(new, old->slots[i]) = old->slots[i];
  return new;
}

/* Without memory the thread stays unknown: Ctrl-C then waits until it yields. */
static void enter(lua_State *thread) {
  table *known = threads.known;
  if (!known || 2 * known->used >= known->room) {
    table *larger = rehashed(known);
    if (!larger) return;
    threads.known = larger;
    free(known);
    known = larger;
  }
  *slot_of(known, thread) = thread;
  known->used++;
}

static void forget(char *block) {
  lua_State *thread = (lua_State *)(block + LUA_EXTRASPACE);
  if (block == threads.young) threads.young = NULL;
  lua_State **slot = threads.known ? slot_of(threads.known, thread) : NULL;
  if (slot && *slot) *slot = GIVEN_UP;
}

static void *followed(void *data, void *block, size_t old, size_t size) {
  (void)data;
  if (threads.young && !block && size > 0 && ++threads.age == 2) {
    enter((lua_State *)(threads.young + LUA_EXTRASPACE));
    threads.young = NULL;
  }
  if (block && old == threads.size) forget(block);
  void *given = threads.allocate(threads.data, block, old, size);
  if (given && !block && old == LUA_TTHREAD) {
    threads.young = given;
    threads.age = 0;
    threads.size = size;
  }
  return given;
}

void host_coroutines_follow(lua_State *L) {
  threads.allocate = lua_getallocf(L, &threads.data);
  lua_setallocf(L, followed, NULL);
}

void host_coroutines_hook(lua_Hook hook, int mask, int count) {
  table *known = threads.known;
  for (size_t i = 0; known && i < known->room; i++)
    if (known->slots[i] && known->slots[i] != GIVEN_UP) lua_sethook(known->slots[i], hook, mask, count);
}
