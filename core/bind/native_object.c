/* SPDX-License-Identifier: MIT
 *
 * What a library keeps: the handle that it has for a device, and objects of the script (plans, generators, prepared
 * matrices). Each is a frame, with what its calls have left there. */
#include <string.h>

#include "core/bind/native.h"

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void close_value(native_value *self) {
  mw_device *device = self->device;
  if (self->used_elsewhere) device->backend->synchronize(device, NULL);
  native_frame frame = {.variant = self->variant};
  memcpy(frame.words, self->words, sizeof frame.words);
  native_run_now(NATIVE_END, &frame, device, NULL);
  for (int i = 0; i < self->narrays; i++) mw_buffer_release(self->arrays[i].buffer);
  if (self->work) mw_buffer_release(self->work);
}

static void release_value(bind_counted *counted) {
  native_value *self = (native_value *)counted;
  mw_device *device = self->device;
  close_value(self);
  mw_free(self);
  mw_device_release(device);
}

static void close_handle(mw_attached *attached, mw_device *device) {
  (void)device;
  native_value *self = (native_value *)((char *)attached - offsetof(native_value, attached));
  close_value(self);
  mw_free(self->variant);
  mw_free(self);
}

static native_value *new_value(const native_frame *frame, mw_device *device) {
  native_value *self = mw_calloc(1, sizeof *self);
  self->device = device;
  self->variant = (native_variant *)frame->variant;
  memcpy(self->words, frame->words, (size_t)frame->variant->words * sizeof *self->words);
  return self;
}

/* ---- handles ----------------------------------------------------------------------------------------------------- */

native_value *native_handle(lua_State *L, mw_device *device, int key, int index) {
  for (mw_attached *a = device->attached; a; a = a->next)
    if (a->key == key) return (native_value *)((char *)a - offsetof(native_value, attached));
  lua_pushvalue(L, index);
  lua_call(L, 0, 1);
  lua_getfield(L, -1, "library");
  check_uncaptured(L, current_stream(L, device), lua_pushfstring(L, "call %s for the first time", lua_tostring(L, -1)));
  lua_pop(L, 2);
  native_variant *v = native_variant_read(L);
  lua_pop(L, 1);
  native_frame frame = {.variant = v};
  memcpy(frame.words, v->fixed, sizeof v->fixed);
  const mw_status status = native_run_now(NATIVE_MAKING, &frame, device, &bind_error);
  if (status != MW_OK) {
    mw_free(v);
    bind_raise(L);
  }
  native_value *self = new_value(&frame, device);
  self->attached = (mw_attached){device->attached, key, close_handle};
  device->attached = &self->attached;
  return self;
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

static void release_object(void *object) {
  bind_uncount(&((native_object *)object)->value->counted);
}

static void describe_object(lua_State *L, const void *object) {
  const native_value *value = ((const native_object *)object)->value;
  lua_pushfstring(L, "%s %s", value->variant->name, value->device->info.id);
}

/* plan(out, in) */
static int call_object(lua_State *L) {
  const native_object *self = bind_check(L, 1, &native_class);
  if (lua_getiuservalue(L, 1, 2) != LUA_TFUNCTION)
    return bind_fail(L, MW_INVALID, "a %s cannot be called: functions of %s take it", self->value->variant->name,
                     self->value->variant->library);
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}

static const bind_method methods[] = {{"device", object_device, 0}, {NULL, NULL, 0}};
static const luaL_Reg metamethods[] = {{"__call", call_object}, {NULL, NULL}};
bind_class native_class = {"library object", release_object, methods, describe_object, metamethods, 0};

static void keep_arrays(native_value *self, bind_array *const arrays[]) {
  const native_variant *v = self->variant;
  for (int i = 0; i < v->narrays; i++) {
    if (!v->arrays[i].keeps) continue;
    self->arrays[self->narrays++] = *arrays[i];
    mw_buffer_retain(arrays[i]->buffer);
  }
}

void native_make(lua_State *L, native_frame *frame, mw_device *device, bind_array *const arrays[]) {
  const native_variant *v = frame->variant;
  mw_buffer *work = NULL;
  native_object *self = bind_new(L, &native_class, sizeof *self, 2);
  for (int i = 0; i < v->narrays; i++) /* making it may have run a finalizer */
    if (!arrays[i]->object.open) bind_fail(L, MW_INVALID, "%s: attempt to use a closed array", v->name);
  mw_status status = v->sizes.count ? native_run_now(NATIVE_SIZES, frame, device, &bind_error) : MW_OK;
  const size_t bytes = (size_t)frame->words[SIZE].i * (size_t)v->unit;
  if (status == MW_OK && bytes)
    status = device->backend->alloc(device->main, bytes, MW_SPACE_WORK, MW_U8, &work, &bind_error);
  frame->words[WORK].p = work ? work->address : NULL;
  if (status == MW_OK) status = native_run_now(NATIVE_MAKING, frame, device, &bind_error);
  if (status != MW_OK) {
    native_run_now(NATIVE_FAILED, frame, device, NULL);
    if (work) mw_buffer_release(work);
    bind_raise(L);
  }
  self->value = new_value(frame, device);
  self->value->counted = (bind_counted){1, release_value};
  self->value->work = work;
  keep_arrays(self->value, arrays);
  mw_device_retain(device);
  bind_opened(self, device);
}
