/* SPDX-License-Identifier: MIT
 *
 * Kernels: what the compiler says of them, and making prepared launches. A kernel counts its module, so it works on
 * after the script has closed the module's own handle. */
#include "core/base/file.h"
#include "core/bind/bind.h"
#include "core/compile/beside.h"
#include "core/compile/limits.h"

#include <stdio.h>
#include <string.h>

mw_kernel *self_kernel(lua_State *L) {
  check_still_open(L);
  return ((bind_kernel *)lua_touserdata(L, 1))->kernel;
}

static void kernel_release(void *object) {
  mw_kernel *kernel = ((bind_kernel *)object)->kernel;
  kernel->handles--;
  mw_module_release(kernel->module);
}

/* Appends "; did you mean 'scale'?" */
static void add_nearest(const mw_module *module, const char *name) {
  const char *near = nearest_name(name, module->kernel_names);
  size_t used = strlen(bind_error.text);
  if (near) snprintf(bind_error.text + used, sizeof bind_error.text - used, "; did you mean '%.200s'?", near);
}

/* The path that the option `file` of the options at the index was read from (module.c notes it); NULL: there is none. */
static const char *path_of(lua_State *L, int options) {
  if (lua_type(L, options) != LUA_TTABLE || lua_getfield(L, options, "file") != LUA_TSTRING) return NULL;
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, "moonwarp.core");
  lua_getfield(L, -1, "files");
  lua_pushvalue(L, -4);
  return lua_gettable(L, -2) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
}

/* The folder of a module's file; NULL: it is made of something else. */
static const char *folder_of(lua_State *L, int module_index) {
  lua_getiuservalue(L, module_index, 2);
  const char *path = path_of(L, lua_gettop(L)), *slash = path ? strrchr(path, '/') : NULL;
  return slash ? lua_pushlstring(L, path, (size_t)(slash - path + 1)) : path ? "." : NULL;
}

static const char sources_key = 's';

const char *kernel_source(lua_State *L, const mw_kernel *kernel) {
  bind_weak_table(L, &sources_key);
  if (lua_rawgetp(L, -1, kernel) != LUA_TUSERDATA) return NULL;
  lua_getiuservalue(L, -1, 2);
  if (lua_getfield(L, -1, "source") == LUA_TSTRING) return lua_tostring(L, -1);
  const char *path = path_of(L, lua_gettop(L) - 1);
  char *text = path ? mw_file_read(path, MW_SOURCE_MOST, NULL) : NULL;
  const char *kept = text ? lua_pushstring(L, text) : NULL;
  mw_free(text);
  return kept;
}

/* Kernels are made once per module and name: user value 1 of the module holds them. */
void push_kernel(lua_State *L, int module_index, const char *name) {
  bind_module *owner = lua_touserdata(L, module_index);
  mw_module *module = owner->module;
  lua_getiuservalue(L, module_index, 1);
  lua_getfield(L, -1, name);
  const bind_object *made = bind_test(L, -1, &kernel_class);
  if (made && made->open) {
    lua_remove(L, -2);
    return;
  }
  lua_pop(L, 1);
  bind_kernel *self = bind_new(L, &kernel_class, sizeof *self, 2);
  mw_status status = module->device->backend->kernel(module, name, &self->kernel, &bind_error);
  if (status == MW_NOT_FOUND) add_nearest(module, name);
  if (status == MW_NOT_FOUND && !(module->kernel_names && *module->kernel_names)) {
    const char *folder = folder_of(L, module_index);
    if (folder) mw_beside_tell(folder, &bind_error);
  }
  bind_try(L, status);
  mw_module_retain(module);
  self->kernel->handles++;
  bind_opened(self, module->device);
  lua_getiuservalue(L, module_index, 2);
  lua_setiuservalue(L, -2, 2); /* the source's options: mw.occupancy compiles it for other architectures */
  bind_weak_table(L, &sources_key);
  lua_pushvalue(L, -2);
  lua_rawsetp(L, -2, self->kernel);
  lua_pop(L, 1);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, name);
  lua_remove(L, -2);
  warnings_tell(L, owner);
}

static size_t most_in_signature(const mw_kernel *kernel) {
  size_t most = strlen(kernel->name) + sizeof "()";
  for (int i = 0; i < kernel->nparams; i++)
    most += strlen(kernel->params[i].type) + strlen(kernel->params[i].name) + sizeof ",  ";
  return most;
}

/* In memory that is there before the kernel is looked at: asking for more may run a __gc that closes it. */
void push_signature(lua_State *L, const mw_kernel *kernel) {
  luaL_Buffer text;
  char *start = luaL_buffinitsize(L, &text, most_in_signature(kernel)), *at = start;
  check_still_open(L);
  const size_t word = strcspn(kernel->name, "<("); /* one of several is named by its whole signature */
  at = kernel->name[word] == '(' ? mempcpy(at, kernel->name, word) : stpcpy(at, kernel->name);
  at = stpcpy(at, "(");
  for (int i = 0; i < kernel->nparams; i++) {
    const mw_param *p = &kernel->params[i];
    size_t length = strlen(p->type);
    at = stpcpy(stpcpy(at, i ? ", " : ""), p->type);
    if (p->name[0] && length && p->type[length - 1] != '*') *at++ = ' ';
    at = stpcpy(at, p->name);
  }
  *at++ = ')';
  luaL_pushresultsize(&text, (size_t)(at - start));
}

static int kernel_name(lua_State *L) {
  lua_pushstring(L, self_kernel(L)->name);
  return 1;
}

static int kernel_signature(lua_State *L) {
  push_signature(L, self_kernel(L));
  return 1;
}

/* "const f32*", "u32x4", "bool" */
static void push_kind(lua_State *L, const mw_param *p) {
  const char *lanes[] = {"", "", "x2", "x3", "x4"};
  if (p->dtype == MW_TEXTURE || p->dtype == MW_SURFACE) {
    lua_pushstring(L, mw_dtype_name(p->dtype));
    return;
  }
  lua_pushfstring(L, "%s%s%s%s", p->is_const ? "const " : "", mw_dtype_name(p->dtype), lanes[p->lanes],
                  p->pointer ? "*" : "");
}

/* k:parameters(): the names of the parameters in their order, "" where the source gives none, and what they take. */
static int kernel_parameters(lua_State *L) {
  const int count = self_kernel(L)->nparams;
  lua_createtable(L, count, 0);
  lua_createtable(L, count, 0);
  for (int i = 0; i < count; i++) {
    lua_pushstring(L, self_kernel(L)->params[i].name);
    lua_rawseti(L, -3, i + 1);
    push_kind(L, &self_kernel(L)->params[i]);
    lua_rawseti(L, -2, i + 1);
  }
  return 2;
}

/* k:engine(): which engine runs it, and why not a faster one ("" if it is the fastest). */
static int kernel_engine(lua_State *L) {
  lua_pushstring(L, self_kernel(L)->engine);
  lua_pushstring(L, self_kernel(L)->engine_why);
  return 2;
}

/* k:attributes(): registers per thread, bytes of static shared memory per block, of local memory per thread, of
 * constant memory and of spilled registers, and the largest block it can run in. */
static int kernel_attributes(lua_State *L) {
#define A(member) FIELD(mw_kernel, member)
  static const bind_field fields[] = {A(registers),   A(shared_bytes), A(local_bytes), A(const_bytes),
                                      A(max_threads), A(spill_stores), A(spill_loads), LAST_FIELD};
  const mw_kernel kernel = *self_kernel(L);
  push_fields(L, fields, &kernel);
  return 1;
}

static void describe(lua_State *L, const void *object) {
  const bind_kernel *self = object;
  lua_pushliteral(L, "kernel ");
  push_signature(L, self->kernel);
  check_still_open(L);
  lua_pushfstring(L, " %s", self->kernel->module->device->info.id);
  lua_concat(L, 3);
}

static const bind_method methods[] = {
    {"attributes", kernel_attributes, 0}, {"device", object_device, 0},
    {"engine", kernel_engine, 0},         {"name", kernel_name, 0},
    {"options", object_options, 0},       {"parameters", kernel_parameters, 0},
    {"signature", kernel_signature, 0},   {NULL, NULL, 0},
};

/* k(...): what a launch looks like in other languages. */
static int kernel_call(lua_State *L) {
  return bind_fail(L, MW_INVALID,
                   "kernel '%s' needs a grid and a block: k:launch(grid, block, ...), or k:prepare{ grid =, block = }",
                   ((bind_kernel *)bind_check(L, 1, &kernel_class))->kernel->name);
}

static const luaL_Reg metamethods[] = {{"__call", kernel_call}, {NULL, NULL}};

bind_class kernel_class = {"kernel", kernel_release, methods, describe, metamethods, 0};
