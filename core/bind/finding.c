/* SPDX-License-Identifier: MIT
 *
 * What check mode has found on a device, as tables. */
#include "core/bind/bind.h"

#define P(member) FIELD(mw_party, member)
static const bind_field party_fields[] = {
    P(verb), P(file), P(text), FIELD_AS("bytes", mw_party, bytes, 1), FIELD_AS("line", mw_party, line, 1), LAST_FIELD};

#define F(member) FIELD(mw_finding, member)
static const bind_field finding_fields[] = {F(kind),     F(remedy), F(kernel), F(object), F(remark),
                                            F(intended), F(count),  F(launch), LAST_FIELD};

static void push_party(lua_State *L, const mw_party *party) {
  push_fields(L, party_fields, party);
  push_dims(L, party->thread);
  lua_setfield(L, -2, "thread");
  if (!party->block_known) return;
  push_dims(L, party->block);
  lua_setfield(L, -2, "block");
}

/* dev:findings(): a list of what check mode has found so far, in order; empty on a device that does not check. An
 * entry: kind, kernel, launch (from 1), object (what was accessed), remedy, remark, count, intended, and its parties, a
 * list of { verb, block, thread, bytes, file, line, text }. */
static int device_findings(lua_State *L) {
  mw_device *device = self_device(L);
  lua_newtable(L);
  lua_Integer n = 0;
  for (const mw_finding *finding = device->backend->findings(device); finding; finding = finding->next) {
    push_fields(L, finding_fields, finding);
    lua_newtable(L);
    for (int i = 0; i < 2 && finding->parties[i].known; i++) {
      push_party(L, &finding->parties[i]);
      lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "parties");
    lua_rawseti(L, -2, ++n);
  }
  return 1;
}

const bind_method finding_methods[] = {{"findings", device_findings, 0}, {NULL, NULL, 0}};
