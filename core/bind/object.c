/* SPDX-License-Identifier: MIT
 *
 * The userdata behind every object of the library. It is made closed, gets its metatable, and only then acquires its
 * resource, so an error in between finds a consistent object (the order of the Lua io library). Closing by hand,
 * by a <close> variable and by the collector all end in the same release, which runs once. */
#include "core/bind/bind.h"

#include <string.h>

/* Metatables live in the registry under the class's address: no other library can take the name. */
static void push_metatable(lua_State *L, const bind_class *class) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, class);
}

int bind_methods(lua_State *L, const bind_class *class) {
  push_metatable(L, class);
  lua_getfield(L, -1, "methods");
  lua_remove(L, -2);
  return 1;
}

/* A script may clear package.loaded and require us again: objects made before keep the one metatable. */
static bool is_registered(lua_State *L, const bind_class *class) {
  push_metatable(L, class);
  bool known = lua_istable(L, -1);
  lua_pop(L, 1);
  return known;
}

static int refuse_object(lua_State *L, const bind_class *class, const char *method) {
  bool named = luaL_getmetafield(L, 1, "__name") == LUA_TSTRING;
  const char *got = named ? lua_tostring(L, -1) : luaL_typename(L, 1);
  return bind_fail(L, MW_INVALID,
                   "bad argument #1 to '%s' (%s expected, got %s; methods take a colon, as in %s:%s(...))", method,
                   class->name, got, class->name, method);
}

/* What stands in a method table for every method. Upvalues: the class, the method's name, the method itself, the most
 * arguments it takes. Called with a dot instead of a colon a method has no object, or takes its argument for one. */
static int call_method(lua_State *L) {
  const bind_class *class = lua_touserdata(L, lua_upvalueindex(1));
  int most = (int)lua_tointeger(L, lua_upvalueindex(4));
  if (!bind_test(L, 1, class)) refuse_object(L, class, lua_tostring(L, lua_upvalueindex(METHOD_NAME)));
  bool closed = !((bind_object *)lua_touserdata(L, 1))->open; /* which the method says */
  if (most != ANY_COUNT && !closed)
    check_count(L, lua_tostring(L, lua_upvalueindex(METHOD_NAME)), most, lua_gettop(L) - 1);
  return lua_tocfunction(L, lua_upvalueindex(3))(L);
}

void bind_add_methods(lua_State *L, const bind_class *class, const bind_method *methods) {
  for (; methods->name; methods++) {
    lua_pushlightuserdata(L, (void *)(uintptr_t) class);
    lua_pushstring(L, methods->name);
    lua_pushcfunction(L, methods->call);
    lua_pushinteger(L, methods->most);
    lua_pushcclosure(L, call_method, 4);
    lua_setfield(L, -2, methods->name);
  }
}

/* The method close, of every class. */
static int close_object(lua_State *L) {
  bind_object *object = lua_touserdata(L, 1);
  if (!object->open) return bind_fail(L, MW_INVALID, "attempt to use a closed %s", object->class->name);
  bind_release(L, object);
  return 0;
}

static const bind_method closing[] = {{"close", close_object, 0}, {NULL, NULL, 0}};

static int object_tostring(lua_State *L) {
  bind_object *object = lua_touserdata(L, 1);
  if (object->open)
    object->class->describe(L, object);
  else
    lua_pushfstring(L, "%s (closed)", object->class->name);
  return 1;
}

static const bind_method writing[] = {{"__tostring", object_tostring, ANY_COUNT}, {NULL, NULL, 0}};

int bind_refuse_field(lua_State *L) {
  const bind_class *class = ((bind_object *)lua_touserdata(L, 1))->class;
  return bind_fail(L, MW_INVALID, "no field of %s %s can be set, got '%s'",
                   strchr("aeiou", class->name[0]) ? "an" : "a", class->name, luaL_tolstring(L, 2, NULL));
}

void bind_register(lua_State *L, bind_class *class) {
  if (is_registered(L, class)) return;
  lua_newtable(L);
  lua_pushstring(L, class->name);
  lua_setfield(L, -2, "__name");
  lua_pushstring(L, class->name);
  lua_setfield(L, -2, "__metatable");
  lua_pushcfunction(L, bind_collect);
  lua_setfield(L, -2, "__gc");
  lua_pushcfunction(L, bind_collect);
  lua_setfield(L, -2, "__close");
  lua_pushcfunction(L, bind_refuse_field);
  lua_setfield(L, -2, "__newindex");
  bind_add_methods(L, class, writing);
  lua_newtable(L);
  bind_add_methods(L, class, class->methods);
  bind_add_methods(L, class, closing);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "methods");
  lua_setfield(L, -2, "__index");
  if (class->metamethods) luaL_setfuncs(L, class->metamethods, 0);
  lua_rawsetp(L, LUA_REGISTRYINDEX, class);
}

void *bind_new(lua_State *L, bind_class *class, size_t size, int uservalues) {
  bind_object *object = lua_newuserdatauv(L, size, uservalues);
  memset(object, 0, size);
  object->class = class;
  push_metatable(L, class);
  lua_setmetatable(L, -2);
  return object;
}

void bind_opened(void *object) {
  bind_object *self = object;
  self->open = true;
  self->class->live++;
}

/* A class pointer as the first word marks our own userdata: cheaper on the hot path than comparing metatables. Lua
 * aligns and sizes every full userdata of another library that is large enough to be asked, so the read is safe, and
 * no other library stores the address of our class there. */
void *bind_test(lua_State *L, int index, const bind_class *class) {
  bind_object *object = lua_touserdata(L, index);
  if (!object || lua_type(L, index) != LUA_TUSERDATA || lua_rawlen(L, index) < sizeof *object) return NULL;
  return object->class == class ? object : NULL;
}

void *bind_check(lua_State *L, int index, const bind_class *class) {
  bind_object *object = bind_test(L, index, class);
  if (object && object->open) return object;
  if (object) bind_argument(L, index, "attempt to use a closed %s", class->name);
  bind_argument_type(L, index, class->name);
  return NULL;
}

void *bind_self(lua_State *L, int index, const bind_class *class) {
  void *object = bind_test(L, index, class);
  if (!object) bind_argument_type(L, index, class->name);
  return object;
}

void bind_release(lua_State *L, void *userdata) {
  bind_object *object = userdata;
  if (!object->open) return;
  object->open = false;
  object->class->live--;
  object->class->release(L, object);
}

/* __gc is one function for every class, so it must know its own from any other userdata. */
static bool is_own(lua_State *L, int index) {
  bind_object *object = lua_touserdata(L, index);
  if (lua_type(L, index) != LUA_TUSERDATA || lua_rawlen(L, index) < sizeof *object) return false;
  if (!lua_getmetatable(L, index)) return false;
  push_metatable(L, object->class);
  bool own = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return own;
}

int bind_collect(lua_State *L) {
  if (is_own(L, 1)) bind_release(L, lua_touserdata(L, 1));
  return 0;
}
