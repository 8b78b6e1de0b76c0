/* SPDX-License-Identifier: MIT
 *
 * What a device in check mode has counted, as tables: by launch, and of each by line. */
#include "core/bind/bind.h"

#define C(name, kind, unit, title, doc) FIELD(mw_counters, name),
static const bind_field counter_fields[] = {MW_COUNTERS(C) LAST_FIELD};

typedef struct counter_name {
  const char *name, *unit, *title, *doc; /* unit, title: NULL if none */
  bool most;
} counter_name;

enum { SUM, MOST };
#define N(name, kind, unit, title, doc) {#name, unit, title, doc, kind == MOST},
static const counter_name names[] = {MW_COUNTERS(N)};

/* core.counter_names(): the counters in order, as { name =, unit =, title =, most =, doc = }. */
static int counter_names(lua_State *L) {
  const int count = sizeof names / sizeof *names;
  lua_createtable(L, count, 0);
  for (int i = 0; i < count; i++) {
    lua_newtable(L);
    set_string(L, "name", names[i].name);
    if (names[i].unit) set_string(L, "unit", names[i].unit);
    if (names[i].title) set_string(L, "title", names[i].title);
    if (names[i].most) {
      lua_pushboolean(L, 1);
      lua_setfield(L, -2, "most");
    }
    set_string(L, "doc", names[i].doc);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

static void push_line(lua_State *L, const mw_counter_line *line) {
  push_fields(L, counter_fields, &line->counters);
  set_string(L, "file", line->file);
  set_string(L, "text", line->text);
  lua_pushinteger(L, line->line);
  lua_setfield(L, -2, "line");
}

static void set_dims(lua_State *L, const char *name, const uint32_t dims[3]) {
  push_dims(L, dims);
  lua_setfield(L, -2, name);
}

static void set_size(lua_State *L, const char *name, size_t value) {
  lua_pushinteger(L, (lua_Integer)value);
  lua_setfield(L, -2, name);
}

static void push_launch_counters(lua_State *L, const mw_device *device, const mw_counter_launch *launch) {
  push_fields(L, counter_fields, &launch->counters);
  set_string(L, "kernel", launch->kernel);
  set_string(L, "device", device->info.id);
  set_string(L, "source", device->backend->name);
  set_size(L, "launch", launch->launch);
  set_size(L, "launches", launch->launches);
  set_size(L, "blocks", launch->blocks);
  set_size(L, "blocks_run", launch->blocks_run);
  set_dims(L, "grid", launch->grid);
  set_dims(L, "block", launch->block);
  lua_createtable(L, (int)launch->nlines, 0);
  for (size_t i = 0; i < launch->nlines; i++) {
    push_line(L, &launch->lines[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "lines");
}

/* Adds the launches of a device, from the first-th on, to the list on top of the stack. */
static void add_counters(lua_State *L, mw_device *device, lua_Integer first) {
  for (const mw_counter_launch *it = device->backend->counters(device, false); it; it = it->next) {
    if ((lua_Integer)it->launch < first) continue;
    push_launch_counters(L, device, it);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  }
}

/* dev:counters([first]): a list of what was counted, by launch; empty if the device does not count. */
static int device_counters(lua_State *L) {
  mw_device *device = self_device(L);
  const lua_Integer first = lua_isnoneornil(L, 2) ? 1 : check_integer(L, 2);
  lua_newtable(L);
  add_counters(L, device, first);
  return 1;
}

const bind_method counter_methods[] = {{"counters", device_counters, 1}, {NULL, NULL, 0}};

/* core.counters(): those of every device that this Lua state has had in check mode. */
static int all_counters(lua_State *L) {
  lua_settop(L, 0);
  lua_newtable(L);
  device_push_kept(L);
  for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) {
    const bind_object *kept = lua_touserdata(L, -1);
    if (!kept->open) continue; /* the state is being closed */
    lua_pushvalue(L, 1);
    add_counters(L, kept->device, 1);
    lua_pop(L, 1);
  }
  lua_settop(L, 1);
  return 1;
}

const luaL_Reg counter_functions[] = {{"counters", all_counters}, {"counter_names", counter_names}, {NULL, NULL}};

size_t counter_begin(lua_State *L, const char *kernel, mw_device *device) {
  if (!device->counters)
    bind_fail(L, MW_UNSUPPORTED,
              "kernel '%s': %s counts no accesses; mw.device(\"cpu\", { check = { counters = true } }) does, for "
              "modules that are compiled after it",
              kernel, device->info.id);
  const mw_counter_launch *last = device->backend->counters(device, true);
  return last ? last->launch : 0;
}

int counter_end(lua_State *L, const char *kernel, mw_device *device, size_t before) {
  bind_try(L, device->backend->synchronize(device, &bind_error));
  const mw_counter_launch *last = device->backend->counters(device, true);
  if (!last || last->launch == before)
    bind_fail(L, MW_INVALID,
              "kernel '%s' was compiled before %s began to count: call mw.device(\"cpu\", { check = { counters = true "
              "} }) before dev:module",
              kernel, device->info.id);
  push_launch_counters(L, device, last);
  return 1;
}
