/* SPDX-License-Identifier: MIT
 *
 * The two openers. moonwarp.core is the C half: functions, and the method tables of every class, which the Lua half
 * (lua/moonwarp/init.lua) completes. moonwarp is what scripts require: it makes our own Lua files findable (searcher.c)
 * and returns what init.lua returns, so `require "moonwarp"` works in the program and in a stock lua5.4 alike. */
#include "core/base/home.h"
#include "core/bind/bind.h"

#define MW_VERSION "0.10.0"

static void export_methods(lua_State *L) {
  lua_newtable(L);
  for (bind_class *const *class = bind_classes; *class; class ++) {
    bind_register(L, *class);
    bind_methods(L, *class);
    lua_setfield(L, -2, (*class)->name);
  }
  lua_setfield(L, -2, "methods");
}

/* Methods that other files than a class's own have for it. */
static void complete_classes(lua_State *L) {
  static const struct {
    const bind_class *class;
    const bind_method *methods;
  } more[] = {
      {&device_class, array_makers},   {&device_class, module_makers},     {&device_class, stream_makers},
      {&device_class, event_makers},   {&device_class, graph_makers},      {&array_class, array_transfers},
      {&array_class, array_pages},     {&device_class, finding_methods},   {&device_class, counter_methods},
      {&kernel_class, launch_makers},  {&kernel_class, occupancy_methods}, {&stream_class, event_stream_methods},
      {&device_class, image_makers},   {&texture_class, image_copies},     {&surface_class, image_copies},
      {&surface_class, surface_copies}};
  for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
    bind_methods(L, more[i].class);
    bind_add_methods(L, more[i].class, more[i].methods);
    lua_pop(L, 1);
  }
}

int luaopen_moonwarp_core(lua_State *L) {
  luaL_checkversion(L);
  allocator_install(L);
  bind_host_of(L);
  lua_newtable(L);
  export_methods(L);
  complete_classes(L);
  device_functions(L);
  luaL_setfuncs(L, finding_functions, 0);
  luaL_setfuncs(L, counter_functions, 0);
  luaL_setfuncs(L, allocator_functions, 0);
  luaL_setfuncs(L, compare_functions, 0);
  luaL_setfuncs(L, race_functions, 0);
  luaL_setfuncs(L, service_functions, 0);
  luaL_setfuncs(L, trace_functions, 0);
  luaL_setfuncs(L, native_functions, 0);
  mpi_functions(L);
  program_functions(L);
  lua_newtable(L);
  lua_setfield(L, -2, "files");
  lua_newtable(L);
  lua_setfield(L, -2, "texts");
  bind_result_methods(L);
  lua_setfield(L, -2, "result");
  lua_pushlightuserdata(L, NULL);
  lua_setfield(L, -2, "null");
  set_string(L, "version", MW_VERSION);
  return 1;
}

int luaopen_moonwarp(lua_State *L) {
  luaL_requiref(L, "moonwarp.core", luaopen_moonwarp_core, 0);
  bind_searcher_install(L);
  bind_libraries_open(L);
  lua_pushfstring(L, "%s/lua/moonwarp/init.lua", mw_home());
  if (luaL_loadfile(L, lua_tostring(L, -1)) != LUA_OK)
    return bind_fail(L, MW_INVALID,
                     "moonwarp's own Lua files are not where they should be (MOONWARP_HOME names the folder that "
                     "holds lua/): %s",
                     lua_tostring(L, -1));
  lua_pushliteral(L, "moonwarp");
  lua_call(L, 1, 1);
  return 1;
}
