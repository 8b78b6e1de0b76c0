/* SPDX-License-Identifier: MIT
 *
 * Devices: finding and opening them, and what they say of themselves. A device opened twice is the same handle, kept
 * by id in a weak table; nothing is touched before the first mw.device(). */
#include "core/bind/bind.h"

#include <ctype.h>
#include <float.h>
#include <string.h>

static const char handles_key = 'd';

/* Leaves the open handle of that id on the stack, or nothing. */
static bool push_known(lua_State *L, const char *id) {
  bind_weak_table(L, &handles_key);
  lua_getfield(L, -1, id);
  lua_remove(L, -2);
  const bind_object *known = bind_test(L, -1, &device_class);
  if (known && known->open) return true;
  lua_pop(L, 1);
  return false;
}

/* The handle on top is the script's of its device from now on. */
static void make_known(lua_State *L) {
  const bind_object *handle = lua_touserdata(L, -1);
  bind_weak_table(L, &handles_key);
  lua_pushvalue(L, -2);
  lua_setfield(L, -2, handle->device->info.id);
  lua_pop(L, 1);
}

/* ---- a device in check mode stays open for what it has found, whatever becomes of the script's handle ---------- */

static const char kept_key = 'k';

void device_push_kept(lua_State *L) {
  bind_kept_table(L, &kept_key);
}

static mw_device *find_kept(lua_State *L, const char *id) {
  device_push_kept(L);
  lua_getfield(L, -1, id);
  const bind_object *kept = lua_touserdata(L, -1);
  lua_pop(L, 2);
  return kept && kept->open ? kept->device : NULL;
}

static void keep(lua_State *L, mw_device *device) {
  if (find_kept(L, device->info.id)) return;
  device_push_kept(L);
  bind_opened(bind_new(L, &device_class, sizeof(bind_object), 0), device);
  lua_setfield(L, -2, device->info.id);
  lua_pop(L, 1);
}

/* ---- of objects ------------------------------------------------------------------------------------------------- */

mw_device *self_device(lua_State *L) {
  check_still_open(L);
  bind_capture_of(L);
  return ((bind_object *)lua_touserdata(L, 1))->device;
}

int object_device(lua_State *L) {
  if (push_known(L, self_device(L)->info.id)) return 1;
  bind_object *handle = bind_new(L, &device_class, sizeof *handle, 0); /* the script has closed its own */
  bind_opened(handle, self_device(L));
  make_known(L);
  return 1;
}

/* ---- ids: NAME, NAME:N, NAME:0/2, NAME:sm_NN or NAME:check, as the backends have them -------------------------- */

/* The backend whose name the id begins with, NULL if none; which: what follows NAME:, NULL where nothing
 * does. */
static const mw_backend *find_backend(const char *id, const char **which) {
  size_t length = strcspn(id, ":");
  *which = id[length] ? id + length + 1 : NULL;
  for (const mw_backend *const *b = mw_backends; *b; b++)
    if (strlen((*b)->name) == length && memcmp((*b)->name, id, length) == 0) return *b;
  return NULL;
}

/* Pushes "cuda, cuda:N, cuda:sm_NN (offline) or cpu"; offline forms only where wanted. */
static void push_forms(lua_State *L, bool offline) {
  int top = lua_gettop(L), count;
  for (const mw_backend *const *b = mw_backends; *b; b++) {
    lua_pushstring(L, (*b)->name);
    if ((*b)->numbered) lua_pushfstring(L, "%s:N", (*b)->name);
    if ((*b)->offline && offline) lua_pushfstring(L, "%s:%sNN (offline)", (*b)->name, (*b)->offline);
  }
  count = lua_gettop(L) - top;
  lua_pushvalue(L, top + 1);
  for (int i = 2; i <= count; i++) {
    lua_pushfstring(L, "%s%s%s", lua_tostring(L, -1), i < count ? ", " : " or ", lua_tostring(L, top + i));
    lua_remove(L, -2);
  }
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
}

/* core.device_forms(): the forms of an id in words, without offline ones; then the backends' names, best first. */
static int device_forms(lua_State *L) {
  push_forms(L, false);
  lua_newtable(L);
  for (int i = 0; mw_backends[i]; i++) {
    lua_pushstring(L, mw_backends[i]->name);
    lua_rawseti(L, -2, i + 1);
  }
  return 2;
}

static bool is_number(const char *text) {
  return *text && !text[strspn(text, "0123456789")];
}

static bool is_offline(const mw_backend *b, const char *which) {
  const size_t prefix = b->offline ? strlen(b->offline) : 0;
  return prefix && which && !strncmp(which, b->offline, prefix) && isdigit((unsigned char)which[prefix]);
}

static bool is_word(const char *which, const char *word) {
  return which && word && !strcmp(which, word);
}

/* What follows the backend's word for check mode: "0/2" of "check:0/2"; else which. */
static const char *after_checks(const mw_backend *b, const char *which) {
  const size_t length = which && b->checks ? strlen(b->checks) : 0;
  return length && !strncmp(which, b->checks, length) && which[length] == ':' ? which + length + 1 : which;
}

static bool is_part(const mw_backend *b, const char *which) { /* "0/2" */
  const char *parts = b->parted && which ? strchr(which, '/') : NULL;
  return parts && parts > which && which + strspn(which, "0123456789") == parts && is_number(parts + 1);
}

static bool is_sized(const mw_backend *b, const char *which) {
  return b->sized && which && is_number(which) && *which != '0';
}

/* Whether nothing is timed on it: it is in check mode, or compares. */
static bool is_mode(const mw_backend *b, const char *which) {
  const char *part = after_checks(b, which);
  return is_word(which, b->checks) || is_word(which, b->compares) || (part != which && is_part(b, part));
}

static void set_id(lua_State *L, const char *field, const mw_backend *b, const char *word, const char *part) {
  if (!word) return;
  lua_pushfstring(L, "%s:%s%s%s", b->name, word, part ? ":" : "", part ? part : "");
  lua_setfield(L, -2, field);
}

/* core.device_word(word): what an id says, without opening anything: { id, backend, kind, offline, checked (nothing is
 * timed on it: it is in check mode or, as compared says, compares engines), checks, compares (the ids of its backend's
 * devices that do, or nil) }, where "cuda" has the id of the first device, "cuda:0"; nil where no backend has such
 * ids. */
static int device_word(lua_State *L) {
  const char *word = check_string(L, 1), *which;
  const mw_backend *b = find_backend(word, &which);
  const bool numbered = b && b->numbered && (!which || is_number(which));
  const bool offline = b && is_offline(b, which), checked = b && is_mode(b, which);
  if (!b || (which && !numbered && !offline && !checked && !is_sized(b, which) && !is_part(b, which))) {
    luaL_pushfail(L);
    return 1;
  }
  lua_createtable(L, 0, 8);
  lua_pushfstring(L, numbered && !which ? "%s:0" : "%s", word);
  lua_setfield(L, -2, "id");
  set_string(L, "backend", b->name);
  set_string(L, "kind", b->kind);
  lua_pushboolean(L, offline);
  lua_setfield(L, -2, "offline");
  lua_pushboolean(L, checked);
  lua_setfield(L, -2, "checked");
  lua_pushboolean(L, is_word(which, b->compares));
  lua_setfield(L, -2, "compared");
  const char *part = after_checks(b, which);
  set_id(L, "checks", b, b->checks, is_part(b, part) ? part : NULL);
  set_id(L, "compares", b, b->compares, NULL);
  return 1;
}

/* ---- opening --------------------------------------------------------------------------------------------------- */

static mw_device *open_named(lua_State *L, const char *id) {
  const char *which;
  mw_device *device = NULL;
  const mw_backend *backend = find_backend(id, &which);
  if (!backend) {
    push_forms(L, true);
    bind_fail(L, MW_NO_DEVICE, "no device '%s': %s expected", id, lua_tostring(L, -1));
  }
  bind_try(L, mw_device_open(backend, which ? which : "0", &device, &bind_error));
  return device;
}

/* The first backend that is usable, and has check mode if that is wanted; they are listed best first. */
static const char *best_backend(lua_State *L, bool check) {
  mw_probe probe = {.reason = "none has check mode"};
  for (const mw_backend *const *b = mw_backends; *b; b++) {
    if (check && !(*b)->checks) continue;
    (*b)->probe(&probe);
    if (probe.devices > 0) return (*b)->name;
  }
  bind_fail(L, MW_NO_DEVICE, "no usable device: %s", probe.reason);
  return NULL;
}

/* "cuda" is "cuda:0" if that is open already. */
static bool push_opened(lua_State *L, const char *id) {
  if (push_known(L, id)) return true;
  return !strchr(id, ':') && push_known(L, lua_pushfstring(L, "%s:0", id));
}

/* The id of the same device in check mode. An architecture without a device runs nothing that could be checked. */
static const char *checking_id(lua_State *L, const char *id) {
  const char *which;
  const mw_backend *backend = find_backend(id, &which);
  if (!backend || is_offline(backend, which)) return id;
  if (!backend->checks)
    bind_fail(L, MW_UNSUPPORTED, "device '%s' has no check mode; use '%s' for it", id, best_backend(L, true));
  const char *part = after_checks(backend, which);
  if (is_part(backend, part)) return lua_pushfstring(L, "%s:%s:%s", backend->name, backend->checks, part);
  if (which && strcmp(which, "0") && !is_mode(backend, which) && !is_sized(backend, which)) {
    if (!backend->numbered) return id; /* there is no such device */
    bind_fail(L, MW_UNSUPPORTED,
              "device '%s': check mode is of the first device; set CUDA_VISIBLE_DEVICES=%s and use '%s'", id, which,
              backend->name);
  }
  return lua_pushfstring(L, "%s:%s", backend->name, backend->checks);
}

static lua_Integer mode_number(lua_State *L, const char *name) {
  lua_getfield(L, 2, name);
  const lua_Integer value = lua_isboolean(L, -1) ? lua_toboolean(L, -1) : luaL_optinteger(L, -1, 0);
  lua_pop(L, 1);
  return value;
}

static void set_mode(lua_State *L, mw_device *device) {
  const mw_check_mode mode = {.strict = mode_number(L, "strict"),
                              .seed = (uint64_t)mode_number(L, "seed"),
                              .orders = (uint64_t)mode_number(L, "schedule"),
                              .blocks = (uint64_t)mode_number(L, "blocks"),
                              .counters = mode_number(L, "counters")};
  if (device->info.checks) device->backend->check_mode(device, &mode);
}

/* Pushes the handle of a device. */
static mw_device *open_device(lua_State *L, const char *id) {
  if (push_opened(L, id)) return ((bind_object *)lua_touserdata(L, -1))->device;
  bind_object *handle = bind_new(L, &device_class, sizeof *handle, 0);
  mw_device *kept = find_kept(L, id), *device = kept ? kept : open_named(L, id);
  bind_opened(handle, device);
  if (!kept) mw_device_release(device);
  if (push_known(L, device->info.id)) { /* it was opened by another name before */
    bind_release(handle);
    return ((bind_object *)lua_touserdata(L, -1))->device;
  }
  make_known(L);
  if (device->info.checks || device->info.compares) keep(L, device);
  return device;
}

/* core.device(id, check): the handle of that device; without an id the best one there is; in check mode if check is
 * a table, as of measure/checking.lua. Raises with the reason. */
static int device_open(lua_State *L) {
  const bool check = lua_istable(L, 2);
  const char *id = lua_isnoneornil(L, 1) ? best_backend(L, check) : check_string(L, 1);
  if (check) id = checking_id(L, id);
  mw_device *device = open_device(L, id);
  if (check) set_mode(L, device);
  return 1;
}

/* core.device_share(word, which, of): the id for a process of several on a machine, from 0. Of a backend's name: the device
 * of that number, again the first after the last, or a part where the backend has parts; without a word that of the
 * best one there is. Another id stays as it is. */
static int device_share(lua_State *L) {
  const char *word = lua_isnil(L, 1) ? best_backend(L, false) : check_string(L, 1), *which;
  const mw_backend *b = find_backend(word, &which);
  const int own = (int)check_integer(L, 2), of = (int)check_integer(L, 3);
  const bool checks = b && is_word(which, b->checks);
  mw_probe probe = {0};
  if (b && b->numbered && !which) b->probe(&probe);
  if (probe.devices > 0)
    lua_pushfstring(L, "%s:%d", b->name, own % probe.devices);
  else if (b && b->parted && of > 1 && (!which || checks))
    lua_pushfstring(L, "%s:%s%s%d/%d", b->name, checks ? which : "", checks ? ":" : "", own, of);
  else
    lua_pushstring(L, word);
  return 1;
}

/* mw.devices(): one entry a device that can be opened, and one a backend that is not usable, with the reason. */
static int device_list(lua_State *L) {
  check_count(L, "devices", 0, lua_gettop(L));
  lua_newtable(L);
  for (const mw_backend *const *b = mw_backends; *b; b++) {
    mw_probe probe = {0};
    (*b)->probe(&probe);
    for (int i = 0; i < (probe.devices ? probe.devices : 1); i++) {
      lua_createtable(L, 0, 3);
      lua_pushfstring(L, probe.devices && (*b)->numbered ? "%s:%d" : "%s", (*b)->name, i);
      lua_setfield(L, -2, "id");
      lua_pushboolean(L, probe.devices > 0);
      lua_setfield(L, -2, "usable");
      set_string(L, "reason", probe.reason);
      bind_result(L);
      lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    }
  }
  bind_result(L);
  return 1;
}

mw_device *check_runs(lua_State *L, mw_device *device, const char *what) {
  if (device->info.offline)
    bind_fail(L, MW_UNSUPPORTED, "%s has no %s: it only compiles kernels and reports their occupancy", device->info.id,
              what);
  return device;
}

/* ---- what a device says of itself ------------------------------------------------------------------------------ */

#define P(member)           FIELD(mw_device_info, member)
#define KNOWN(name, member) FIELD_AS(name, mw_device_info, member, DBL_MIN)
static const bind_field properties[] = {P(id),
                                        P(name),
                                        P(arch),
                                        P(pci),
                                        P(uuid),
                                        P(driver),
                                        P(multiprocessors),
                                        P(warp_size),
                                        P(max_threads_per_block),
                                        P(max_threads_per_multiprocessor),
                                        P(max_blocks_per_multiprocessor),
                                        P(max_block),
                                        P(max_grid),
                                        P(shared_per_block),
                                        P(shared_per_block_optin),
                                        P(shared_per_multiprocessor),
                                        P(registers_per_block),
                                        P(registers_per_multiprocessor),
                                        P(constant_bytes),
                                        P(l2_bytes),
                                        P(cache_bytes),
                                        P(memory_total),
                                        KNOWN("bus_bits", bus_bits),
                                        KNOWN("clock", clock_hz),
                                        KNOWN("memory_clock", memory_clock_hz),
                                        KNOWN("peak_bandwidth", peak_bandwidth),
                                        P(async_engines),
                                        P(cooperative),
                                        P(managed),
                                        P(ecc),
                                        P(pageable_access),
                                        P(concurrent_managed_access),
                                        P(host_register),
                                        P(queue_gate),
                                        P(checks),
                                        P(offline),
                                        LAST_FIELD};

/* dev:properties(): a table; sizes in bytes, clocks in Hz, bandwidth in bytes per second; unknown ones are absent. */
static int device_properties(lua_State *L) {
  const mw_backend *backend = self_device(L)->backend;
  const mw_device_info info = self_device(L)->info;
  push_fields(L, properties, &info);
  set_string(L, "kind", backend->kind);
  if (info.compares) {
    lua_pushboolean(L, true);
    lua_setfield(L, -2, "checks");
  }
  if (info.capability_major) {
    lua_pushfstring(L, "%d.%d", info.capability_major, info.capability_minor);
    lua_setfield(L, -2, "compute_capability");
  }
  return 1;
}

/* MW_THROTTLE_POWER | MW_THROTTLE_HEAT -> { "power cap", "thermal" } */
static void set_reasons(lua_State *L, int throttle) {
  static const char *const words[] = {
      "idle",    "application clocks", "power cap",     "hardware slowdown", "sync boost",
      "thermal", "power brake",        "display clocks"};
  if (throttle < 0) return; /* unknown */
  lua_newtable(L);
  for (int bit = 0; bit < 8; bit++) {
    if (!(throttle & 1 << bit)) continue;
    lua_pushstring(L, words[bit]);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  }
  lua_setfield(L, -2, "reasons");
}

/* dev:state(): a table of the current readings: Hz, degrees Celsius, W, J, shares from 0 to 1. */
static int device_state(lua_State *L) {
#define S(name, member) FIELD_AS(name, mw_device_state, member, 0)
  static const bind_field fields[] = {S("clock", clock_hz),
                                      S("memory_clock", memory_clock_hz),
                                      S("clock_max", clock_max_hz),
                                      S("memory_clock_max", memory_clock_max_hz),
                                      S("temperature", temperature),
                                      S("power", power),
                                      S("power_limit", power_limit),
                                      S("energy", energy),
                                      S("utilisation", utilisation),
                                      S("load", load),
                                      S("governor", governor),
                                      S("driver", driver),
                                      LAST_FIELD};
  mw_device *device = self_device(L);
  mw_device_state now = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, .throttle = -1};
  device->backend->state(device, &now);
  push_fields(L, fields, &now);
  set_reasons(L, now.throttle);
  return 1;
}

static int device_kind(lua_State *L) {
  lua_pushstring(L, self_device(L)->backend->kind);
  return 1;
}

static int device_is_offline(lua_State *L) {
  lua_pushboolean(L, self_device(L)->info.offline);
  return 1;
}

/* dev:id(), dev:name(), dev:peak_bandwidth(). */
static int device_property(lua_State *L) {
  return push_field_of_method(L, properties, &self_device(L)->info);
}

static int device_memory(lua_State *L) {
  mw_device *device = check_runs(L, self_device(L), "memory");
  size_t available = 0, total = 0;
  bind_try(L, device->backend->memory(device, &available, &total, &bind_error));
  lua_pushinteger(L, (lua_Integer)available);
  lua_pushinteger(L, (lua_Integer)total);
  return 2;
}

void device_wait(lua_State *L, mw_device *device) {
  const bind_capture *capture = bind_capture_of(L);
  if (capture && capture->stream->device == device) check_uncaptured(L, capture->stream, "synchronize the device");
  bind_try(L, device->backend->synchronize(device, &bind_error));
  order_reached_device(device);
}

static int device_synchronize(lua_State *L) {
  device_wait(L, check_runs(L, self_device(L), "streams"));
  bind_poll(L);
  return 0;
}

/* dev:peers(): the other devices of its kind that can be opened, { id =, access =, atomics = } each: whether kernels
 * here reach the memory there by loads and stores, and by atomic operations. */
static int device_peers(lua_State *L) {
  static const bind_field fields[] = {FIELD(mw_peer, id), FIELD(mw_peer, access), FIELD(mw_peer, atomics), LAST_FIELD};
  mw_device *device = check_runs(L, self_device(L), "peers");
  mw_peer peer;
  lua_newtable(L);
  for (int i = 0; device->backend->peer(device, i, &peer); i++) {
    push_fields(L, fields, &peer);
    lua_rawseti(L, -2, i + 1);
  }
  bind_result(L);
  return 1;
}

static int device_priorities(lua_State *L) {
  mw_device *device = self_device(L);
  int least = 0, greatest = 0;
  device->backend->priorities(device, &least, &greatest);
  lua_pushinteger(L, least);
  lua_pushinteger(L, greatest);
  return 2;
}

static void describe(lua_State *L, const void *object) {
  const mw_device_info *info = &((const bind_object *)object)->device->info;
  lua_pushfstring(L, "device %s (%s)", info->id, info->name);
}

static const bind_method methods[] = {
    {"id", device_property, 0},   {"is_offline", device_is_offline, 0},   {"kind", device_kind, 0},
    {"memory", device_memory, 0}, {"name", device_property, 0},           {"peak_bandwidth", device_property, 0},
    {"peers", device_peers, 0},   {"priorities", device_priorities, 0},   {"properties", device_properties, 0},
    {"state", device_state, 0},   {"synchronize", device_synchronize, 0}, {NULL, NULL, 0},
};

bind_class device_class = {"device", NULL, methods, describe, NULL, 0};

static const luaL_Reg functions[] = {{"device", device_open},        {"device_forms", device_forms},
                                     {"device_share", device_share}, {"device_word", device_word},
                                     {"devices", device_list},       {NULL, NULL}};

void device_functions(lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
