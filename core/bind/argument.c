/* SPDX-License-Identifier: MIT
 *
 * One argument of a launch, checked and converted by the kernel's own parameter type. The good path makes no Lua
 * string and allocates nothing; the text of a complaint is built only when there is one. */
#include "core/bind/bind.h"

#include <string.h>

#include "core/source/declared.h"

enum { MOST_MEMBERS = 64 }; /* of a struct that is given as a table */

/* ---- the block ------------------------------------------------------------------------------------------------- */

/* The pointers of params lie after the arguments. */
static size_t pointers_at(const mw_kernel *kernel) {
  return (kernel->args_bytes + 15) / 16 * 16;
}

size_t argument_bytes(const mw_kernel *kernel) {
  return pointers_at(kernel) + (size_t)kernel->nparams * sizeof(void *);
}

void argument_place(mw_launch *launch, void *block) {
  const mw_kernel *kernel = launch->kernel;
  launch->args = block;
  launch->params = (void **)((char *)block + pointers_at(kernel));
  for (int i = 0; i < kernel->nparams; i++) launch->params[i] = (char *)block + kernel->params[i].offset;
}

/* ---- complaints ------------------------------------------------------------------------------------------------ */

/* kernel 'saxpy', parameter 2 'x' is const float *: <what> */
static int reject(lua_State *L, const bind_launch *self, int parameter, const char *what) {
  check_still_open(L); /* what says what came may be a __tostring of the script's */
  const mw_kernel *kernel = self->launch.kernel;
  const mw_param *p = &kernel->params[parameter];
  return bind_fail(L, MW_INVALID,
                   p->name[0] ? "kernel '%s', parameter %d '%s' is %s: %s" : "kernel '%s', parameter %d%s is %s: %s",
                   kernel->name, parameter + 1, p->name, p->type, what);
}

/* ---- arrays ---------------------------------------------------------------------------------------------------- */

/* Pinned memory is every device's of the same backend, other memory only where the hardware reaches it. */
static bool reachable(const bind_array *a, mw_device *device) {
  const mw_buffer *buffer = a->buffer;
  if (buffer->device->backend != device->backend) return false;
  if (buffer->space == MW_SPACE_PINNED) return true;
  if (buffer->space == MW_SPACE_PAGEABLE && !device->info.pageable_access) return false;
  return buffer->device == device || device->backend->reaches(device, buffer->device);
}

static uintptr_t address_of(const bind_array *a) {
  return (uintptr_t)a->buffer->address + a->offset;
}

static bool dtype_fits(const mw_param *p, const bind_array *a) {
  if (p->dtype == MW_VOID || p->dtype == MW_STRUCT) return true;
  if (p->dtype == MW_POINTER) return a->dtype == MW_U64;
  if (p->dtype == MW_BOOL) return a->dtype == MW_U8;
  if (p->dtype != a->dtype) return false;
  if (p->lanes < 2) return true;
  size_t width = mw_dtype_size(p->dtype) * p->lanes;
  size_t align = p->lanes == 3 ? mw_dtype_size(p->dtype) : width > 16 ? 16 : width;
  return a->count % p->lanes == 0 && address_of(a) % align == 0;
}

/* Why the parameter cannot take the array; NULL: it can. */
static const char *array_problem(lua_State *L, mw_device *device, const mw_param *p, const bind_array *a) {
  if (!a->object.open) return "the array is closed";
  bool reached = reachable(a, device), writable = !a->readonly || p->is_const;
  if (reached && writable && dtype_fits(p, a)) return NULL;
  char text[256];
  array_format(a, text, sizeof text);
  if (!reached && a->buffer->device != device)
    return lua_pushfstring(L, "%s is not on %s; make it there, or copy it with copy()", text, device->info.id);
  if (!reached)
    return lua_pushfstring(L,
                           "%s is pageable host memory, which kernels on %s do not reach; use pinned, managed or "
                           "device memory",
                           text, device->info.id);
  if (!writable) return lua_pushfstring(L, "%s is a read-only view and the parameter is not const", text);
  if (p->lanes > 1 && p->dtype == a->dtype)
    return lua_pushfstring(L, "%s does not divide into whole, aligned vectors of %d", text, p->lanes);
  return lua_pushfstring(L, "an array of %s expected, got %s",
                         p->dtype == MW_POINTER ? "u64 (addresses)" : mw_dtype_name(p->dtype), text);
}

static void store_array(lua_State *L, int index, const bind_launch *self, int parameter, void *at) {
  const mw_param *p = &self->launch.kernel->params[parameter];
  bind_array *a = bind_test(L, index, &array_class);
  if (!a) {
    if (lua_islightuserdata(L, index) && !lua_touserdata(L, index)) { /* mw.null */
      memset(at, 0, sizeof(void *));
      return;
    }
    const bind_object *other = lua_type(L, index) == LUA_TUSERDATA ? lua_touserdata(L, index) : NULL;
    reject(L, self, parameter,
           lua_pushfstring(L, "an array expected, got %s%s",
                           other ? luaL_tolstring(L, index, NULL) : luaL_typename(L, index),
                           lua_isnoneornil(L, index) ? " (mw.null is the null pointer)" : ""));
    return;
  }
  const char *problem = array_problem(L, self->launch.kernel->module->device, p, a);
  if (problem) reject(L, self, parameter, problem);
  mw_device *device = self->launch.kernel->module->device;
  if (a->buffer->device != device)
    buffer_use(L, a->buffer, self->stream ? self->stream->stream : current_stream(L, device));
  else if (self->stream)
    mw_buffer_use(a->buffer, self->stream->stream);
  uintptr_t address = address_of(a);
  memcpy(at, &address, sizeof address);
}

/* ---- textures and surfaces ------------------------------------------------------------------------------------- */

static void store_image(lua_State *L, int index, const bind_launch *self, int parameter, void *at) {
  const mw_param *p = &self->launch.kernel->params[parameter];
  const mw_device *device = self->launch.kernel->module->device;
  const bind_class *class = p->dtype == MW_TEXTURE ? &texture_class : &surface_class;
  const bind_image *image = bind_test(L, index, class);
  if (!image || !image->object.open || image->object.device != device)
    reject(L, self, parameter,
           image && !image->object.open
               ? lua_pushfstring(L, "the %s is closed", class->name)
               : lua_pushfstring(L, "a %s of %s expected (dev:%s makes one), got %s", class->name, device->info.id,
                                 class->name, value_text(L, index)));
  if (self->stream) mw_buffer_use(image->buffer, self->stream->stream);
  memcpy(at, image->buffer->address, p->size);
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

static void store_vector(lua_State *L, int index, const bind_launch *self, int parameter, char *at) {
  const mw_param *p = &self->launch.kernel->params[parameter];
  int lanes = p->lanes;
  if (!lua_istable(L, index) || (int)lua_rawlen(L, index) != lanes)
    reject(L, self, parameter,
           lua_pushfstring(L, "a table of %d numbers expected, got %s", lanes, value_text(L, index)));
  for (int i = 0; i < p->lanes; i++, at += mw_dtype_size(p->dtype)) {
    lua_rawgeti(L, index, i + 1);
    const char *problem = store_element(L, lua_gettop(L), p->dtype, at);
    if (problem) reject(L, self, parameter, lua_pushfstring(L, "component %d: %s", i + 1, problem));
    lua_pop(L, 1);
  }
}

/* A number or an array of the device, or a table of as many numbers as a vector or an array of the struct has. */
static const char *store_member(lua_State *L, int index, const mw_param *p, char *at) {
  const size_t width = p->pointer || p->dtype == MW_POINTER ? sizeof(void *) : mw_dtype_size(p->dtype);
  const size_t count = p->size / width;
  if (width == sizeof(void *) && (p->pointer || p->dtype == MW_POINTER)) {
    const bind_array *a = bind_test(L, index, &array_class);
    const bool null = lua_islightuserdata(L, index) && !lua_touserdata(L, index);
    const uintptr_t address = a && a->object.open ? address_of(a) : 0;
    if (count != 1 || !(address || null)) return "an array expected (mw.null is the null pointer)";
    memcpy(at, &address, sizeof address);
    return NULL;
  }
  if (count == 1) return store_element(L, index, p->dtype, at);
  if (!lua_istable(L, index) || lua_rawlen(L, index) != count)
    return lua_pushfstring(L, "a table of %d numbers expected", (int)count);
  const char *problem = NULL;
  for (size_t i = 0; i < count && !problem; i++) {
    lua_rawgeti(L, index, (lua_Integer)i + 1);
    problem = store_element(L, lua_gettop(L), p->dtype, at + i * width);
    lua_pop(L, 1);
  }
  return problem;
}

/* A table by the names of the struct's members, which the kernel's source tells. */
static void store_members(lua_State *L, int index, const bind_launch *self, int parameter, char *at) {
  const mw_param *p = &self->launch.kernel->params[parameter];
  mw_param members[MOST_MEMBERS];
  uint32_t size = 0;
  const int top = lua_gettop(L);
  const char *text = kernel_source(L, self->launch.kernel);
  const int count = text ? mw_declared_fields(text, p->type, members, MOST_MEMBERS, &size) : -1;
  if (count < 0 || size != p->size)
    reject(L, self, parameter,
           "its members are not known from the source, so a string of bytes is wanted (string.pack)");
  int given = 0;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) given++;
  memset(at, 0, p->size);
  for (int i = 0; i < count; i++) {
    lua_getfield(L, index, members[i].name);
    const char *problem =
        lua_isnil(L, -1) ? "it is missing" : store_member(L, lua_gettop(L), &members[i], at + members[i].offset);
    if (problem) reject(L, self, parameter, lua_pushfstring(L, "member '%s': %s", members[i].name, problem));
    lua_pop(L, 1);
  }
  if (given > count)
    reject(L, self, parameter, lua_pushfstring(L, "the table has %d members, the struct %d", given, count));
  lua_settop(L, top);
}

static void store_struct(lua_State *L, int index, const bind_launch *self, int parameter, void *at) {
  const mw_param *p = &self->launch.kernel->params[parameter];
  if (lua_istable(L, index)) {
    store_members(L, index, self, parameter, at);
    return;
  }
  const char *bytes = lua_type(L, index) == LUA_TSTRING ? lua_tostring(L, index) : NULL;
  size_t length = bytes ? lua_rawlen(L, index) : 0;
  if (!bytes || length != p->size)
    reject(L, self, parameter,
           lua_pushfstring(L, "a table by the struct's members, or a string of %d bytes expected, got %s", (int)p->size,
                           bytes ? lua_pushfstring(L, "one of %d", (int)length) : luaL_typename(L, index)));
  memcpy(at, bytes, length);
}

void argument_store(lua_State *L, int index, const bind_launch *self, int parameter) {
  const mw_param *p = &self->launch.kernel->params[parameter];
  char *at = (char *)self->launch.args + p->offset;
  if (p->dtype == MW_TEXTURE || p->dtype == MW_SURFACE) {
    store_image(L, index, self, parameter, at);
  } else if (p->pointer) {
    store_array(L, index, self, parameter, at);
  } else if (p->dtype == MW_STRUCT) {
    store_struct(L, index, self, parameter, at);
  } else if (p->lanes > 1) {
    store_vector(L, index, self, parameter, at);
  } else {
    const char *problem = store_element(L, index, p->dtype, at);
    if (problem) reject(L, self, parameter, lua_pushfstring(L, "%s", problem));
  }
}
