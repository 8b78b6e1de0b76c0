/* SPDX-License-Identifier: MIT
 *
 * Tables of answers (occupancy, attributes, properties, nodes): plain tables, with one metatable for all by which print
 * shows their fields and not their address. */
#include "core/bind/bind.h"

#include <string.h>

static const char result_key = 'r';

void bind_result_methods(lua_State *L) {
  bind_kept_table(L, &result_key);
}

void bind_result(lua_State *L) {
  bind_result_methods(L);
  lua_setmetatable(L, -2);
}

void push_dims(lua_State *L, const uint32_t dims[3]) {
  lua_createtable(L, 3, 0);
  for (int i = 0; i < 3; i++) {
    lua_pushinteger(L, dims[i]);
    lua_rawseti(L, -2, i + 1);
  }
}

/* False, and nothing pushed: unknown. */
static bool push_field(lua_State *L, const bind_field *field, const void *at) {
  bool known = true;
  if (field->kind == FIELD_BOOL)
    lua_pushboolean(L, *(const bool *)at);
  else if (field->kind == FIELD_INT && (known = *(const int *)at >= field->least))
    lua_pushinteger(L, *(const int *)at);
  else if (field->kind == FIELD_SIZE && (known = (double)*(const size_t *)at >= field->least))
    lua_pushinteger(L, (lua_Integer) * (const size_t *)at);
  else if (field->kind == FIELD_DIMS)
    push_dims(L, at);
  else if (field->kind == FIELD_STRING)
    lua_pushstring(L, *(const char *const *)at);
  else if (field->kind == FIELD_TEXT && (known = *(const char *)at))
    lua_pushstring(L, at);
  else if (field->kind == FIELD_NUMBER && (known = *(const double *)at >= field->least))
    lua_pushnumber(L, *(const double *)at);
  return known;
}

int push_field_of_method(lua_State *L, const bind_field *field, const void *from) {
  const char *name = bind_method_name(L);
  while (strcmp(field->name, name) != 0) field++;
  if (!push_field(L, field, (const char *)from + field->at)) luaL_pushfail(L);
  return 1;
}

void push_fields(lua_State *L, const bind_field *field, const void *from) {
  lua_newtable(L);
  for (; field->name; field++)
    if (push_field(L, field, (const char *)from + field->at)) lua_setfield(L, -2, field->name);
  bind_result(L);
}
