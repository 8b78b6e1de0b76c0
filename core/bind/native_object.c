/* SPDX-License-Identifier: MIT
 *
 * What a library keeps: handles of devices, plans, generators. */
#include <string.h>

#include "core/bind/native.h"

/* ---- objects ----------------------------------------------------------------------------------------------------- */

typedef struct closing {
  const native_call *call;
  mw_word value;
} closing;

static mw_status run_close(const void *data, void *queue, mw_error *err) {
  const closing *c = data;
  mw_word words[2] = {[SELF] = c->value, [QUEUE] = {.p = queue}};
  return native_run(c->call, words, NULL, "close", err);
}

static void close_value(native_value *self, mw_device *device) {
  closing c = {&self->close, self->word};
  const mw_call call = {.name = "close", .run = run_close, .data = &c, .bytes = sizeof c};
  if (self->used_elsewhere) device->backend->synchronize(device, NULL);
  if (self->close.function) device->backend->call(device->main, &call, NULL);
  mw_free(self);
}

static void value_release(bind_counted *counted) {
  native_value *self = (native_value *)counted;
  mw_device *device = self->device;
  close_value(self, device);
  mw_device_release(device);
}

static void object_release(void *object) {
  bind_uncount(&((native_object *)object)->value->counted);
}

static native_value *value_of(mw_attached *attached) {
  return (native_value *)((char *)attached - offsetof(native_value, attached));
}

static void close_attached(mw_attached *attached, mw_device *device) {
  close_value(value_of(attached), device);
}

native_value *native_attached(const mw_device *device, int key) {
  for (mw_attached *a = device->attached; a; a = a->next)
    if (value_of(a)->key == key) return value_of(a);
  return NULL;
}

static void describe_object(lua_State *L, const void *object) {
  lua_pushfstring(L, "library object %s", ((const bind_object *)object)->device->info.id);
}

static const bind_method object_methods[] = {{"device", object_device, 0}, {NULL, NULL, 0}};
bind_class native_class = {"library object", object_release, object_methods, describe_object, NULL, 0};

typedef struct opening {
  const native_variant *variant;
  mw_word *words; /* what the calls find out stays there: a default stream runs them before it returns */
} opening;

static mw_status run_open(const void *data, void *queue, mw_error *err) {
  const opening *o = data;
  mw_status status = MW_OK;
  o->words[QUEUE].p = queue;
  for (int i = 0; i < o->variant->ncalls && status == MW_OK; i++)
    status = native_run(&o->variant->calls[i], o->words, o->variant->explain, o->variant->name, err);
  return status;
}

/* (description) at 3: { calls (the last two: close and follow) }; runs the first ones. */
static void open_value(lua_State *L, native_value *self, mw_device *device, int index) {
  lua_pushvalue(L, index);
  native_variant *v = native_read_variant(L);
  lua_getfield(L, -1, "close");
  if (lua_istable(L, -1)) native_read_call(L, &self->close);
  lua_pop(L, 1);
  lua_getfield(L, -1, "follow");
  if (lua_istable(L, -1)) native_read_call(L, &self->follow);
  lua_pop(L, 2);
  self->explain = v->explain;
  self->queue = self; /* none that there is */
  mw_word words[MOST_WORDS];
  opening made = {v, words};
  memcpy(words, v->fixed, sizeof words);
  const mw_call call = {.name = v->name, .run = run_open, .data = &made, .bytes = sizeof made};
  mw_status status = device->backend->call(device->main, &call, &bind_error);
  self->word = words[SELF];
  mw_free(v);
  bind_try(L, status);
}

/* core.library_handle(device, key, description) */
int native_handle_new(lua_State *L) {
  mw_device *device = lua_touserdata(L, 1);
  native_value *self = mw_calloc(1, sizeof *self);
  self->key = (int)check_integer(L, 2);
  open_value(L, self, device, 3);
  self->attached = (mw_attached){device->attached, close_attached};
  device->attached = &self->attached;
  return 0;
}

/* core.library_object(dev, description) */
int native_object_new(lua_State *L) {
  mw_device *device = self_device(L);
  lua_settop(L, 2);
  native_object *self = bind_new(L, &native_class, sizeof *self, 0);
  native_value *value = lua_newuserdatauv(L, sizeof *value, 0); /* Lua's, until it is there */
  memset(value, 0, sizeof *value);
  open_value(L, value, device, 2);
  lua_pop(L, 1);
  self->value = memcpy(mw_malloc(sizeof *value), value, sizeof *value);
  self->value->counted = (bind_counted){1, value_release};
  self->value->device = device;
  mw_device_retain(device);
  bind_opened(self, device);
  return 1;
}
