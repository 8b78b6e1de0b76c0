/* SPDX-License-Identifier: MIT
 *
 * What check mode has found on a device, as tables. */
#include "core/bind/bind.h"

#define P(member) FIELD(mw_party, member)
static const bind_field party_fields[] = {
    P(verb), P(file), P(text), FIELD_AS("bytes", mw_party, bytes, 1), FIELD_AS("line", mw_party, line, 1), LAST_FIELD};

#define F(member) FIELD(mw_finding, member)
static const bind_field finding_fields[] = {
    F(kind),    F(remedy), F(kernel), FIELD_AS("object", mw_finding, object.text, 0), F(remark), F(intended),
    F(warning), F(count),  F(launch), FIELD_AS("seed", mw_finding, seed, 1),          LAST_FIELD};

static void push_party(lua_State *L, const mw_party *party) {
  push_fields(L, party_fields, party);
  if (party->host) return;
  push_dims(L, party->thread);
  lua_setfield(L, -2, "thread");
  if (!party->block_known) return;
  push_dims(L, party->block);
  lua_setfield(L, -2, "block");
}

/* finding.memory: what its text says, as data. */
static void push_memory(lua_State *L, const mw_object *object) {
  static const bind_field fields[] = {FIELD(mw_object, kind), FIELD(mw_object, name),
                                      FIELD_AS("parameter", mw_object, parameter, 1), LAST_FIELD};
  push_fields(L, fields, object);
  if (!object->indexed) return;
  lua_pushinteger(L, object->index);
  lua_setfield(L, -2, "index");
}

/* Adds what the device has found to the list on top of the stack. */
static void add_findings(lua_State *L, mw_device *device) {
  for (const mw_finding *finding = device->backend->findings(device); finding; finding = finding->next) {
    push_fields(L, finding_fields, finding);
    set_string(L, "device", device->info.id);
    if (finding->object.kind) {
      push_memory(L, &finding->object);
      lua_setfield(L, -2, "memory");
    }
    lua_newtable(L);
    for (int i = 0; i < 2 && finding->parties[i].known; i++) {
      push_party(L, &finding->parties[i]);
      lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "parties");
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  }
}

/* dev:findings(): a list of what check mode has found so far, in order, and after that the races between operations,
 * which a device that does not check has as well. An entry: kind, kernel, launch (from 1), object (what was
 * accessed), memory (the same as data), remedy, remark, count, intended, device (its id),
 * and its parties, a list of { verb, block, thread, bytes, file, line, text }. */
static int device_findings(lua_State *L) {
  lua_newtable(L);
  const char *id = lua_pushstring(L, self_device(L)->info.id);
  lua_insert(L, -2);
  add_findings(L, self_device(L));
  race_add_findings(L, id);
  return 1;
}

const bind_method finding_methods[] = {{"findings", device_findings, 0}, {NULL, NULL, 0}};

/* core.findings(): those of every device that this Lua state has had in check mode, and all races between operations.
 * */
static int all_findings(lua_State *L) {
  lua_settop(L, 0);
  lua_newtable(L);
  device_push_kept(L);
  for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) {
    const bind_object *kept = lua_touserdata(L, -1);
    if (!kept->open) continue; /* the state is being closed */
    lua_pushvalue(L, 1);
    add_findings(L, kept->device);
    lua_pop(L, 1);
  }
  lua_settop(L, 1);
  race_add_findings(L, NULL);
  return 1;
}

/* core.compared(): how many launches a device of this Lua state has compared, and how many not: { launches, fibers,
 * cooperative, formless }; nil if none compares. */
static int compared(lua_State *L) {
#define C(member) FIELD(mw_compared, member)
  static const bind_field fields[] = {C(launches), C(fibers), C(cooperative), C(formless), LAST_FIELD};
  lua_settop(L, 0);
  device_push_kept(L);
  for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
    const bind_object *kept = lua_touserdata(L, -1);
    if (!kept->open || !kept->device->info.compares) continue;
    const mw_compared compared_now = kept->device->compared;
    push_fields(L, fields, &compared_now);
    return 1;
  }
  luaL_pushfail(L);
  return 1;
}

const luaL_Reg finding_functions[] = {{"compared", compared}, {"findings", all_findings}, {NULL, NULL}};
