/* SPDX-License-Identifier: MIT
 *
 * MPI for lua/moonwarp/mpi.lua: requests that the shim (core/mpi) begins and tests, on arrays in memory that MPI can
 * access, on strings and on buffers. A wait is a loop of tests, which Ctrl-C ends. */
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/interrupt.h"
#include "core/bind/bind.h"
#include "core/compile/mpicc.h"

#define REQUEST "moonwarp.mpi request"
#define BUFFER  "moonwarp.mpi buffer"

enum { OUT = 1, IN = 2 }; /* user values of a request */
enum { NAP_MICROSECONDS = 100 };

static const double SPIN_SECONDS = 5e-3; /* after that, a wait sleeps between tests */

typedef struct request {
  int id;
  double begun;
  mw_buffer *kept[2]; /* what MPI may still read and write; NULL: none */
} request;

static const mw_mpi_calls *mpi;
static const char pending_key = 'p'; /* requests whose memory MPI uses: not collected */

/* ---- begin and end ----------------------------------------------------------------------------------------------- */

static int raise_code(lua_State *L, int code) {
  char text[MW_MPI_TEXT];
  mpi->explain(code, text);
  return bind_fail(L, MW_DRIVER, "%s", text);
}

/* core.mpi.open(version): { rank, size, local_rank, local_size, takes_cuda, version } of this process. */
static int mpi_open(lua_State *L) {
#define F(member) FIELD(mw_mpi_place, member)
  static const bind_field fields[] = {F(rank),       F(size),    F(local_rank), F(local_size),
                                      F(takes_cuda), F(version), LAST_FIELD};
  mw_mpi_place place = {0};
  mpi = mw_mpicc_open(check_string(L, 1), &bind_error);
  if (!mpi) return bind_raise(L);
  const int code = mpi->open(&place);
  if (code) return raise_code(L, code);
  push_fields(L, fields, &place);
  return 1;
}

/* core.mpi.close(): the last call of MPI. */
static int mpi_close(lua_State *L) {
  (void)L;
  mpi->close();
  return 0;
}

/* core.mpi.abort(status): ends all ranks; does not return. */
static int mpi_abort(lua_State *L) {
  mpi->abort((int)check_integer(L, 1));
  _exit((int)check_integer(L, 1));
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* core.mpi.buffer(bytes[, text]): a buffer, with a copy of a text of that length. */
static int mpi_buffer(lua_State *L) {
  const size_t bytes = (size_t)check_integer(L, 1);
  char *to = lua_newuserdatauv(L, bytes + 1, 0);
  if (lua_type(L, 2) == LUA_TSTRING && lua_rawlen(L, 2) == bytes) memcpy(to, lua_tostring(L, 2), bytes);
  luaL_setmetatable(L, BUFFER);
  return 1;
}

/* core.mpi.text(buffer, bytes) */
static int mpi_text(lua_State *L) {
  lua_pushlstring(L, luaL_checkudata(L, 1, BUFFER), (size_t)check_integer(L, 2));
  return 1;
}

/* The address of an array, a buffer or a string; NULL for nil. */
static void *address_of(lua_State *L, int index, mw_buffer **kept) {
  *kept = NULL;
  if (lua_isnil(L, index)) return NULL;
  if (lua_type(L, index) == LUA_TSTRING) return (void *)(uintptr_t)lua_tostring(L, index);
  if (luaL_testudata(L, index, BUFFER)) return lua_touserdata(L, index);
  const bind_array *a = check_array(L, index);
  *kept = a->buffer;
  return (char *)a->buffer->address + a->offset;
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static void set_pending(lua_State *L, int index, bool pending) {
  bind_kept_table(L, &pending_key);
  lua_pushvalue(L, index);
  if (pending)
    lua_pushboolean(L, true);
  else
    lua_pushnil(L);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

/* core.mpi.post(kind, space, out, in, count, type, op, peer, tag): a request. */
static int mpi_post(lua_State *L) {
  static const char *const kinds[] = {"send",   "recv",       "broadcast",      "reduce",     "all_reduce",
                                      "gather", "all_gather", "reduce_scatter", "all_to_all", NULL};
  static const char *const spaces[] = {"arrays", "values", "gathered", "job", "groups", NULL};
  mw_dtype dtype = MW_U8;
  lua_settop(L, 9);
  request *self = lua_newuserdatauv(L, sizeof *self, 2);
  *self = (request){.id = -1, .begun = mw_clock()};
  luaL_setmetatable(L, REQUEST);
  for (int i = OUT; i <= IN; i++) {
    lua_pushvalue(L, 2 + i);
    lua_setiuservalue(L, -2, i);
  }
  set_pending(L, 10, true);
  mw_dtype_parse(luaL_optstring(L, 6, "u8"), &dtype);
  const mw_mpi_order order = {.kind = luaL_checkoption(L, 1, NULL, kinds),
                              .space = luaL_checkoption(L, 2, NULL, spaces),
                              .out = address_of(L, 3, &self->kept[0]),
                              .in = address_of(L, 4, &self->kept[1]),
                              .count = (size_t)check_integer(L, 5),
                              .size = mw_dtype_size(dtype),
                              .type = mw_dtype_name(dtype),
                              .op = luaL_optstring(L, 7, "sum"),
                              .peer = (int)luaL_optinteger(L, 8, 0),
                              .tag = (int)luaL_optinteger(L, 9, 0)};
  const int code = mpi->post(&order, &self->id);
  if (code) {
    set_pending(L, 10, false);
    return raise_code(L, code);
  }
  for (int i = 0; i < 2; i++)
    if (self->kept[i]) mw_buffer_retain(self->kept[i]);
  return 1;
}

static void settle(lua_State *L, request *self) {
  self->id = -1;
  for (int i = 0; i < 2; i++)
    if (self->kept[i]) mw_buffer_release(self->kept[i]);
  set_pending(L, 1, false);
}

/* core.mpi.test(request, seconds): the bytes received once it is done, or nil after that time or at Ctrl-C. */
static int mpi_test(lua_State *L) {
  request *self = luaL_checkudata(L, 1, REQUEST);
  const double seconds = luaL_checknumber(L, 2), began = mw_clock();
  int code = 0, done = self->id < 0;
  size_t bytes = 0;
  while (!done && !(code = mpi->test(self->id, &done, &bytes)) && !done) {
    const double now = mw_clock();
    if (now - began >= seconds || atomic_load(&mw_interrupted)) return 0;
    if (now - self->begun < SPIN_SECONDS)
      sched_yield();
    else
      usleep(NAP_MICROSECONDS);
  }
  if (self->id >= 0) settle(L, self);
  if (code) return raise_code(L, code);
  lua_pushinteger(L, (lua_Integer)bytes);
  return 1;
}

void mpi_functions(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"abort", mpi_abort}, {"buffer", mpi_buffer}, {"close", mpi_close}, {"open", mpi_open},
      {"post", mpi_post},   {"test", mpi_test},     {"text", mpi_text},   {NULL, NULL}};
  luaL_newmetatable(L, REQUEST);
  luaL_newmetatable(L, BUFFER);
  lua_pop(L, 2);
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "mpi");
}
