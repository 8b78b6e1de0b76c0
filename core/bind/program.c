/* SPDX-License-Identifier: MIT
 *
 * Whole programs for lua/moonwarp/program.lua: the host part is compiled, then run with the modules that Lua made of the
 * kernels (core/runtime). A process has one program. */
#include "core/runtime/program.h"
#include "core/bind/bind.h"

static runtime_host *host;
static const void *object;
static size_t object_bytes;

/* core.program.compile{ files =, includes =, defines =, libraries = }: begins it. Which of the files have kernels, as a
 * list, and whether any of these are templates. */
static int program_compile(lua_State *L) {
  const runtime_order order = {bind_string_list(L, "files"), bind_string_list(L, "includes"),
                               bind_string_list(L, "defines"), bind_string_list(L, "libraries")};
  if (host || !order.files[0]) return bind_fail(L, MW_INVALID, "a process runs one program, of at least one file");
  runtime_crash_watch(order.files[0]);
  bind_try(L, runtime_host_begin(&order, &host, &bind_error));
  lua_newtable(L);
  for (int i = 0; order.files[i]; i++) {
    lua_pushboolean(L, runtime_host_has_kernels(host, i));
    lua_rawseti(L, -2, i + 1);
  }
  lua_pushboolean(L, runtime_host_has_templates(host));
  return 2;
}

/* core.program.instances(count): waits for the host part. The instances of kernels that it launches: a list of names for
 * each of the files. */
static int program_instances(lua_State *L) {
  const int count = (int)luaL_checkinteger(L, 1);
  bind_try(L, runtime_host_end(host, &object, &object_bytes, &bind_error));
  runtime_symbols_take(object, object_bytes);
  lua_newtable(L);
  for (int i = 0; i < count; i++) {
    const char **names = runtime_instances(i);
    lua_newtable(L);
    for (int k = 0; names[k]; k++) {
      lua_pushstring(L, names[k]);
      lua_rawseti(L, -2, k + 1);
    }
    lua_rawseti(L, -2, i + 1);
    mw_free(names);
  }
  return 1;
}

/* core.program.run(device, modules, words): runs main with the words, of which the first is the program's name, and ends
 * the process. modules: of each file a module or false. Returns never, raises where there is no main. */
static int program_run(lua_State *L) {
  const bind_object *device = bind_check(L, 1, &device_class);
  const int count = (int)lua_rawlen(L, 2), argc = (int)lua_rawlen(L, 3);
  mw_module **modules = mw_calloc((size_t)count + 1, sizeof *modules);
  char **argv = mw_calloc((size_t)argc + 1, sizeof *argv);
  for (int i = 0; i < count; i++) {
    lua_rawgeti(L, 2, i + 1);
    if (lua_toboolean(L, -1)) modules[i] = ((bind_module *)bind_check_on(L, -1, &module_class, device->device))->module;
    lua_pop(L, 1);
  }
  for (int i = 0; i < argc; i++) {
    lua_rawgeti(L, 3, i + 1);
    argv[i] = mw_strdup(lua_tostring(L, -1)); /* a program may write to its words */
    lua_pop(L, 1);
  }
  const mw_status status = runtime_run(device->device, modules, count, object, object_bytes, argc, argv, &bind_error);
  for (int i = 0; i < argc; i++) mw_free(argv[i]);
  mw_free(argv);
  bind_try(L, status);
  return 0;
}

void program_functions(lua_State *L) {
  static const luaL_Reg functions[] = {{"compile", program_compile},
                                       {"instances", program_instances},
                                       {"run", program_run},
                                       {"tree", bind_host_tree},
                                       {NULL, NULL}};
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "program");
}
