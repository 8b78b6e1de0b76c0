/* SPDX-License-Identifier: MIT
 *
 * What a device in check mode has counted, as tables: by launch, and of each by line. */
#include "core/bind/bind.h"

#define C(member) FIELD(mw_counts, member)
static const bind_field counts_fields[] = {C(load_requests),
                                           C(load_sectors),
                                           C(load_bytes),
                                           C(load_lane_bytes),
                                           C(store_requests),
                                           C(store_sectors),
                                           C(store_bytes),
                                           C(store_lane_bytes),
                                           C(shared_load_requests),
                                           C(shared_load_wavefronts),
                                           C(shared_load_conflicts),
                                           C(shared_store_requests),
                                           C(shared_store_wavefronts),
                                           C(shared_store_conflicts),
                                           C(atomic_requests),
                                           C(atomic_addresses),
                                           C(atomic_contention),
                                           C(shared_atomic_requests),
                                           C(shared_atomic_addresses),
                                           C(shared_atomic_contention),
                                           C(requests),
                                           C(lanes),
                                           C(barriers),
                                           LAST_FIELD};

static void push_line(lua_State *L, const mw_counted_line *line) {
  push_fields(L, counts_fields, &line->counts);
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

static void push_counted(lua_State *L, const mw_device *device, const mw_counted *counted) {
  push_fields(L, counts_fields, &counted->counts);
  set_string(L, "kernel", counted->kernel);
  set_string(L, "device", device->info.id);
  set_string(L, "source", device->backend->name);
  set_size(L, "launch", counted->launch);
  set_size(L, "launches", counted->launches);
  set_size(L, "blocks", counted->blocks);
  set_size(L, "blocks_run", counted->blocks_run);
  set_dims(L, "grid", counted->grid);
  set_dims(L, "block", counted->block);
  lua_createtable(L, (int)counted->nlines, 0);
  for (size_t i = 0; i < counted->nlines; i++) {
    push_line(L, &counted->lines[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "lines");
}

/* Adds the launches of a device, from the first-th on, to the list on top of the stack. */
static void add_counted(lua_State *L, mw_device *device, lua_Integer first) {
  for (const mw_counted *it = device->backend->counters(device, false); it; it = it->next) {
    if ((lua_Integer)it->launch < first) continue;
    push_counted(L, device, it);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  }
}

/* dev:counters([first]): a list of what was counted, by launch; empty if the device does not count. */
static int device_counters(lua_State *L) {
  mw_device *device = self_device(L);
  const lua_Integer first = lua_isnoneornil(L, 2) ? 1 : check_integer(L, 2);
  lua_newtable(L);
  add_counted(L, device, first);
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
    add_counted(L, kept->device, 1);
    lua_pop(L, 1);
  }
  lua_settop(L, 1);
  return 1;
}

const luaL_Reg counter_functions[] = {{"counters", all_counters}, {NULL, NULL}};

size_t counter_begin(lua_State *L, const char *kernel, mw_device *device) {
  if (!device->counts)
    bind_fail(L, MW_UNSUPPORTED,
              "kernel '%s': %s counts no accesses; mw.device(\"cpu\", { check = { counters = true } }) does, for "
              "modules that are compiled after it",
              kernel, device->info.id);
  const mw_counted *last = device->backend->counters(device, true);
  return last ? last->launch : 0;
}

int counter_end(lua_State *L, const char *kernel, mw_device *device, size_t before) {
  bind_try(L, device->backend->synchronize(device, &bind_error));
  const mw_counted *last = device->backend->counters(device, true);
  if (!last || last->launch == before)
    bind_fail(L, MW_INVALID,
              "kernel '%s' was compiled before %s began to count: call mw.device(\"cpu\", { check = { counters = true "
              "} }) before dev:module",
              kernel, device->info.id);
  push_counted(L, device, last);
  return 1;
}
