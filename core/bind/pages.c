/* SPDX-License-Identifier: MIT
 *
 * Where the pages of an array are: managed arrays that are moved ahead of their use or have advice, and pageable ones
 * that are pinned where they are. */
#include "core/bind/bind.h"

#include <string.h>

typedef enum location { NOT_GIVEN, NOWHERE, DEVICE, HOST } location;

/* The value on top. */
static location read_location(lua_State *L) {
  const char *word = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
  return !strcmp(word, "device") ? DEVICE : !strcmp(word, "host") ? HOST : NOT_GIVEN;
}

/* The array at 1. */
static bind_array *check_managed(lua_State *L, const char *what) {
  bind_array *a = check_array(L, 1);
  char text[256];
  const mw_device_info *info = &a->buffer->device->info;
  array_format(a, text, sizeof text);
  if (a->buffer->space != MW_SPACE_MANAGED)
    bind_fail(L, MW_INVALID, "%s is not a managed array, which %s needs: dev:managed makes one", text, what);
  if (!info->concurrent_managed_access)
    bind_fail(L, MW_UNSUPPORTED,
              "%s has no concurrent managed access, which %s needs: its driver moves whole arrays at a launch",
              info->id, what);
  return a;
}

/* a:prefetch([to[, { stream = }]]): moves the pages to the device, or to the host, in order with the stream. */
static int array_prefetch(lua_State *L) {
  static const char *const names[] = {"stream", NULL};
  lua_settop(L, 3);
  check_options(L, 3, names);
  lua_pushvalue(L, 2);
  const location to = lua_isnil(L, 2) ? DEVICE : read_location(L);
  check_that(L, to != NOT_GIVEN, 2, "\"device\" or \"host\" expected, got %s", value_text(L, 2));
  bind_array *a = check_managed(L, "prefetch");
  mw_device *device = a->buffer->device;
  mw_stream *stream = option_push(L, 3, "stream") ? option_stream(L, device)->stream : current_stream(L, device);
  check_uncaptured(L, stream, "prefetch an array");
  bind_try(L, device->backend->prefetch(stream, array_place(a), array_bytes(a), to == HOST, &bind_error));
  stream->acted = true;
  mw_buffer_use(a->buffer, stream);
  lua_settop(L, 1);
  return 1;
}

/* A location of the advice, or false, which takes the advice back. */
static location option_location(lua_State *L, const char *name) {
  if (!option_push(L, 2, name)) return NOT_GIVEN;
  const location where = lua_isboolean(L, -1) && !lua_toboolean(L, -1) ? NOWHERE : read_location(L);
  if (where == NOT_GIVEN)
    bind_argument(L, 2, "option '%s' is \"device\", \"host\" or false, got %s", name, value_text(L, -1));
  lua_pop(L, 1);
  return where;
}

static void advise(lua_State *L, const bind_array *a, mw_advice advice, location where) {
  const mw_backend *backend = a->buffer->device->backend;
  const size_t bytes = array_bytes(a);
  if (where != NOT_GIVEN)
    bind_try(L, backend->advise(array_place(a), bytes, advice, where != NOWHERE, where == HOST, &bind_error));
  if (where == NOWHERE && advice == MW_ADVICE_ACCESSED_BY) /* by the device, and now by the host */
    bind_try(L, backend->advise(array_place(a), bytes, advice, false, true, &bind_error));
}

/* a:advise{ read_mostly =, preferred_location =, accessed_by = }: options that are not given keep their values. */
static int array_advise(lua_State *L) {
  static const char *const names[] = {"read_mostly", "preferred_location", "accessed_by", NULL};
  need_options(L, 2, names);
  location read_mostly = NOT_GIVEN;
  if (option_push(L, 2, "read_mostly")) read_mostly = option_boolean(L, 2, "read_mostly", false) ? DEVICE : NOWHERE;
  const location preferred = option_location(L, "preferred_location"), accessed = option_location(L, "accessed_by");
  const bind_array *a = check_managed(L, "advise");
  advise(L, a, MW_ADVICE_READ_MOSTLY, read_mostly);
  advise(L, a, MW_ADVICE_PREFERRED_LOCATION, preferred);
  advise(L, a, MW_ADVICE_ACCESSED_BY, accessed);
  lua_settop(L, 1);
  return 1;
}

/* a:register(): pins a pageable array where it is, with all its views, until it is freed. */
static int array_register(lua_State *L) {
  bind_array *a = check_array(L, 1);
  mw_device *device = a->buffer->device;
  char text[256];
  array_format(a, text, sizeof text);
  if (a->buffer->space != MW_SPACE_PAGEABLE)
    bind_fail(L, MW_INVALID, "%s is not a pageable array, which register needs: dev:pageable makes one", text);
  if (!device->info.host_register)
    bind_fail(L, MW_UNSUPPORTED, "%s cannot register host memory: dev:pinned makes an array that it reaches",
              device->info.id);
  check_uncaptured(L, current_stream(L, device), "register an array");
  bind_try(L, device->backend->pin(a->buffer, &bind_error));
  return 1;
}

const bind_method array_pages[] = {
    {"advise", array_advise, 1}, {"prefetch", array_prefetch, 2}, {"register", array_register, 0}, {NULL, NULL, 0}};
