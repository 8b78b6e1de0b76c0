/* SPDX-License-Identifier: MIT
 *
 * A trace: which launches and copies between memories a function makes. While a list is kept, each adds itself; at other
 * times it costs the test of a flag. */
#include "core/bind/bind.h"

bool bind_traces;

static const char list_key; /* its address is the list's key in the registry */

/* Adds the table on top of the stack to the list. */
static void add(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &list_key);
  lua_insert(L, -2);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  lua_pop(L, 1);
}

void trace_launch(lua_State *L, const mw_launch *launch, int index) {
#define N(member) FIELD(mw_launch, member)
  static const bind_field fields[] = {N(grid), N(block), N(shared), LAST_FIELD};
  push_fields(L, fields, launch);
  set_string(L, "name", launch->kernel->name);
  if (index != 0) {
    lua_getiuservalue(L, index, 1);
    lua_setfield(L, -2, "kernel");
  }
  add(L);
}

void trace_graph(lua_State *L, const bind_graph *graph) {
  for (int i = 0; i < graph->nnodes; i++) trace_launch(L, &graph->nodes[i], 0);
}

static bool is_host(const mw_buffer *buffer) {
  return buffer->space == MW_SPACE_PINNED || buffer->space == MW_SPACE_PAGEABLE;
}

void trace_copy(lua_State *L, const mw_buffer *to, const mw_buffer *from, size_t bytes) {
  if (is_host(to) == is_host(from)) return;
  lua_createtable(L, 0, 2);
  set_string(L, "copy", is_host(from) ? "to_device" : "to_host");
  lua_pushinteger(L, (lua_Integer)bytes);
  lua_setfield(L, -2, "bytes");
  add(L);
}

/* core.trace([list]): each launch adds { name =, kernel = (not of a graph), grid =, block =, shared = } to the list from
 * now on, each copy between host and device { copy = "to_device" or "to_host", bytes = }; without a list none does. */
static int trace(lua_State *L) {
  lua_settop(L, 1);
  if (!lua_isnil(L, 1)) luaL_checktype(L, 1, LUA_TTABLE);
  bind_traces = !lua_isnil(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &list_key);
  return 0;
}

const luaL_Reg trace_functions[] = {{"trace", trace}, {NULL, NULL}};
