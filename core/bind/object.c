/* SPDX-License-Identifier: MIT
 *
 * The userdata of every object of the library. It is made closed, gets its metatable, and only then acquires its
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

static int reject_object(lua_State *L, const bind_class *class, const char *method) {
  bool named = luaL_getmetafield(L, 1, "__name") == LUA_TSTRING;
  const char *got = named ? lua_tostring(L, -1) : luaL_typename(L, 1);
  return bind_fail(L, MW_INVALID,
                   "bad argument #1 to '%s' (%s expected, got %s; methods take a colon, as in %s:%s(...))", method,
                   class->name, got, class->name, method);
}

/* The first upvalue of a method. The debug library gives a script all upvalues and lets it exchange them, so it is one
 * that can be known again, and no function that could be called without these checks. */
typedef struct method_entry {
  const void *mark;
  const bind_class *class;
  const bind_method *method;
} method_entry;

static const char method_mark[] = "moonwarp.method";

static const method_entry *running_entry(lua_State *L) {
  const int index = lua_upvalueindex(1);
  const method_entry *entry = lua_touserdata(L, index);
  if (lua_type(L, index) != LUA_TUSERDATA || lua_rawlen(L, index) != sizeof *entry || entry->mark != method_mark)
    bind_fail(L, MW_INVALID, "this method's upvalue has been replaced");
  return entry;
}

const char *bind_method_name(lua_State *L) {
  return running_entry(L)->method->name;
}

/* What stands in a method table for every method. Upvalues: its entry, its name. Called with a dot instead of a colon a
 * method has no object, or takes its argument for it. */
static int call_method(lua_State *L) {
  const method_entry *entry = running_entry(L);
  const bind_method *method = entry->method;
  if (!bind_test(L, 1, entry->class)) reject_object(L, entry->class, method->name);
  bind_check(L, 1, entry->class);
  if (method->most != ANY_COUNT) check_count(L, method->name, method->most, lua_gettop(L) - 1);
  return method->call(L);
}

void bind_add_methods(lua_State *L, const bind_class *class, const bind_method *methods) {
  for (; methods->name; methods++) {
    method_entry *entry = lua_newuserdatauv(L, sizeof *entry, 0);
    *entry = (method_entry){method_mark, class, methods};
    lua_pushstring(L, methods->name);
    lua_pushcclosure(L, call_method, 2);
    lua_setfield(L, -2, methods->name);
  }
}

/* The method close, of every class. */
static int close_object(lua_State *L) {
  bind_release(lua_touserdata(L, 1));
  return 0;
}

static const bind_method closing[] = {{"close", close_object, 0}, {NULL, NULL, 0}};

int object_options(lua_State *L) {
  lua_getiuservalue(L, 1, 2);
  return 1;
}

static int object_tostring(lua_State *L) {
  const bind_class *class = lua_touserdata(L, lua_upvalueindex(1));
  const bind_object *object = bind_test(L, 1, class);
  if (!object) return bind_argument_type(L, 1, class->name);
  if (object->open)
    class->describe(L, object);
  else
    lua_pushfstring(L, "%s (closed)", class->name);
  return 1;
}

static const char *article(const bind_class *class) {
  return strchr("aeiou", class->name[0]) ? "an" : "a";
}

int bind_reject_field(lua_State *L) {
  const bind_class *class = lua_touserdata(L, lua_upvalueindex(1));
  if (!bind_test(L, 1, class)) return bind_argument_type(L, 1, class->name);
  return bind_fail(L, MW_INVALID, "no field of %s %s can be set, got '%s'", article(class), class->name,
                   luaL_tolstring(L, 2, NULL));
}

/* "on " .. dev */
static int object_concat(lua_State *L) {
  const bind_class *class = lua_touserdata(L, lua_upvalueindex(1));
  return bind_fail(L, MW_INVALID, "%s %s is not a string: tostring() gives its text", article(class), class->name);
}

/* Of an object of any class: debug.setmetatable may have given it another one's metatable. */
static int collect(lua_State *L) {
  if (bind_is_object(L, 1)) bind_release(lua_touserdata(L, 1));
  return 0;
}

static void fill_metatable(lua_State *L, bind_class *class) {
  static const luaL_Reg metamethods[] = {{"__close", collect},
                                         {"__concat", object_concat},
                                         {"__gc", collect},
                                         {"__newindex", bind_reject_field},
                                         {"__tostring", object_tostring},
                                         {NULL, NULL}};
  lua_pushlightuserdata(L, class); /* debug.getmetatable lets a script call them with anything */
  luaL_setfuncs(L, metamethods, 1);
  set_string(L, "__name", class->name);
  set_string(L, "__metatable", class->name);
  lua_newtable(L);
  bind_add_methods(L, class, class->methods);
  bind_add_methods(L, class, closing);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "methods");
  lua_setfield(L, -2, "__index");
  if (!class->metamethods) return;
  lua_pushlightuserdata(L, class);
  luaL_setfuncs(L, class->metamethods, 1);
}

/* A script may clear package.loaded and require us again: objects made before keep the one metatable. */
void bind_register(lua_State *L, bind_class *class) {
  if (!bind_kept_table(L, class)) fill_metatable(L, class);
  lua_pop(L, 1);
}

void *bind_new(lua_State *L, bind_class *class, size_t size, int uservalues) {
  bind_object *object = lua_newuserdatauv(L, size, uservalues);
  memset(object, 0, size);
  object->class = class;
  check_still_open(L);
  push_metatable(L, class);
  lua_setmetatable(L, -2);
  return object;
}

void bind_opened(void *object, mw_device *device) {
  bind_object *self = object;
  mw_device_retain(device);
  self->device = device;
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

void *bind_check_on(lua_State *L, int index, const bind_class *class, const mw_device *device) {
  bind_object *object = bind_check(L, index, class);
  if (device && object->device != device)
    bind_argument(L, index, "%s %s of %s expected, got one of %s", article(class), class->name, device->info.id,
                  object->device->info.id);
  return object;
}

void bind_release(void *userdata) {
  bind_object *object = userdata;
  if (!object->open) return;
  object->open = false;
  object->class->live--;
  if (object->class->release) object->class->release(object);
  mw_device_release(object->device);
}
