/* SPDX-License-Identifier: MIT
 *
 * Modules: a .cu source compiled for one device. Options become an mw_source; every string it points to stays on the
 * Lua stack or in the option table until the compiler returns. */
#include "core/base/file.h"
#include "core/base/home.h"
#include "core/base/memory.h"
#include "core/bind/bind.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void module_release(void *object) {
  mw_module_release(((bind_module *)object)->module);
}

static mw_module *self_module(lua_State *L) {
  check_still_open(L);
  return ((bind_module *)lua_touserdata(L, 1))->module;
}

/* ---- reading options ------------------------------------------------------------------------------------------- */

/* A NULL-terminated array of the strings in option `name`; the array itself is pushed and stays on the stack. */
static const char **string_list(lua_State *L, const char *name) {
  if (!option_push(L, 2, name)) return NULL;
  if (!lua_istable(L, -1))
    bind_fail(L, MW_INVALID, "option '%s' is a list of strings, got %s", name, luaL_typename(L, -1));
  int length = (int)lua_rawlen(L, -1);
  const char **list = lua_newuserdatauv(L, (size_t)(length + 1) * sizeof *list, 0);
  for (int i = 0; i < length; i++) {
    if (lua_rawgeti(L, -2, i + 1) != LUA_TSTRING)
      bind_fail(L, MW_INVALID, "option '%s' is a list of strings, item %d is a %s", name, i + 1, luaL_typename(L, -1));
    list[i] = lua_tostring(L, -1);
    lua_pop(L, 1);
  }
  list[length] = NULL;
  return list;
}

/* One entry of 'defines', key below value on top: pushes "NAME=VALUE" or "NAME"; nothing if it is switched off. */
static bool push_define(lua_State *L) {
  bool named = lua_type(L, -2) == LUA_TSTRING, flag = lua_isboolean(L, -1), text = lua_isstring(L, -1);
  if (!(named ? flag || text : text))
    bind_fail(L, MW_INVALID, "option 'defines' holds NAME = value or \"NAME=value\", got a %s", luaL_typename(L, -1));
  if (flag && !lua_toboolean(L, -1)) return false;
  lua_pushvalue(L, named ? -2 : -1);
  if (!named || flag) return true;
  lua_pushliteral(L, "=");
  lua_pushvalue(L, -3);
  lua_concat(L, 3);
  return true;
}

/* NAME, NAME=value or NAME(x)=value: anything else would reach the compiler as something other than a macro. Of a value
 * of several lines it would take the first, and a \ at the end would take in the next macro. */
static void check_macro(lua_State *L, int index) {
  size_t size;
  const char *define = lua_tolstring(L, index, &size);
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
  size_t length = strspn(define, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
  if (length == 0 || !strchr(letters, define[0]) || (define[length] && !strchr("=(", define[length])))
    bind_fail(L, MW_INVALID, "option 'defines': '%s' does not begin with the name of a macro", define);
  if (strlen(define) != size || strpbrk(define, "\n\r") || define[size - 1] == '\\')
    bind_fail(L, MW_INVALID, "option 'defines': macro '%s' is more than one line, ends with a \\ or has a NUL",
              lua_pushlstring(L, define, strcspn(define, "=")));
}

/* Turns {N = 3, FLAG = true, "A=1"} into {"A=1", "N=3", "FLAG"}, in any order. */
static void normalise_defines(lua_State *L) {
  if (!option_push(L, 2, "defines")) return;
  if (!lua_istable(L, -1)) bind_fail(L, MW_INVALID, "option 'defines' is a table, got %s", luaL_typename(L, -1));
  int source = lua_gettop(L), count = 0;
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, source); lua_pop(L, 1))
    if (push_define(L)) {
      check_macro(L, -1); /* a number in the list becomes its text */
      lua_rawseti(L, source + 1, ++count);
    }
  lua_setfield(L, 2, "defines");
  lua_pop(L, 1);
}

/* Far beyond any source: /dev/zero, or a wrong file of data, would fill the memory. */
enum { MOST_SOURCE = 64 << 20 };

static bool try_read(lua_State *L, const char *path) {
  struct stat st;
  size_t size;
  char *text = mw_file_read(path, MOST_SOURCE, &size);
  if (!text && errno == EFBIG)
    bind_fail(L, MW_IO, "the kernel file '%s' has more than %d MiB, which is not a source", path, MOST_SOURCE >> 20);
  if (!text && errno == EINVAL && stat(path, &st) == 0) /* a pipe would be waited for, and a device may have no end */
    bind_fail(L, MW_IO, "the kernel file '%s' is a %s, not a file", path,
              S_ISDIR(st.st_mode) ? "folder" : "pipe or a device");
  if (!text) return false;
  lua_pushlstring(L, text, size);
  mw_free(text);
  return true;
}

/* A field of what the session knows of the running script (lua/moonwarp/session.lua); NULL: it is no string. */
static const char *script_field(lua_State *L, const char *name) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, "moonwarp.session") != LUA_TTABLE || lua_getfield(L, -1, "current") != LUA_TTABLE ||
      lua_getfield(L, -1, "options") != LUA_TTABLE || lua_getfield(L, -1, name) != LUA_TSTRING)
    return NULL;
  return lua_tostring(L, -1);
}

/* The path of a file next to a script. */
static const char *beside(lua_State *L, const char *script, const char *file) {
  const char *slash = script ? strrchr(script, '/') : NULL;
  if (!slash) return file;
  lua_pushlstring(L, script, (size_t)(slash + 1 - script));
  return lua_pushfstring(L, "%s%s", lua_tostring(L, -1), file);
}

/* Notes a name and what it stands for in a table of moonwarp.core. */
static void note(lua_State *L, const char *table, const char *name, const char *value) {
  const int top = lua_gettop(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, "moonwarp.core") == LUA_TTABLE && lua_getfield(L, -1, table) == LUA_TTABLE)
    set_string(L, name, value);
  lua_settop(L, top);
}

/* Where a kernel file is looked for: as given, next to the script, and in kernels/. A script of moonwarp's own, and one
 * that is run again, mean what is next to them, whatever the working folder holds; and moonwarp/ is in kernels/. */
static void list_places(lua_State *L, const char *file, const char *places[3]) {
  const char *home = mw_home(), *script = script_field(L, "script");
  const bool shipped = script && strncmp(script, home, strlen(home)) == 0 && script[strlen(home)] == '/';
  const char *near = beside(L, script, file), *own = lua_pushfstring(L, "%s/kernels/%s", home, file);
  const char *const orders[3][3] = {{file, near, own}, {near, own, file}, {own, file, near}};
  const bool is_library = strncmp(file, "moonwarp/", strlen("moonwarp/")) == 0;
  memcpy(places, orders[is_library ? 2 : shipped || script_field(L, "rerun_of")], sizeof orders[0]);
}

/* Leaves path and text on the stack. */
static void read_source(lua_State *L, const char *file, const char **path, const char **text) {
  const char *places[3] = {file};
  if (file[0] != '/') list_places(L, file, places);
  for (int i = 0; i < 3; i++) {
    if (!places[i] || !try_read(L, places[i])) continue;
    *path = places[i];
    *text = lua_tostring(L, -1);
    note(L, "files", file, places[i]); /* a run keeps a copy of it */
    return;
  }
  bind_fail(L, MW_IO,
            "cannot read the kernel file '%s': looked in the working folder, beside the script and in %s/kernels", file,
            mw_home());
}

/* Editors on Windows put a byte order mark in front. After the line marker that names the source it would be no mark
 * any more but a part of the first word. */
static const char *skip_mark(const char *text) {
  static const char mark[] = "\xef\xbb\xbf";
  return strncmp(text, mark, sizeof mark - 1) == 0 ? text + sizeof mark - 1 : text;
}

/* Compilers would read a text with a zero byte up to there. */
static void check_zero(lua_State *L, const char *text, size_t size, const char *name) {
  const char *zero = memchr(text, '\0', size);
  if (!zero) return;
  int line = 1;
  for (const char *at = text; at < zero; at++) line += *at == '\n';
  bind_fail(L, MW_COMPILE, "%s:%d: there is a zero byte, which no source has", name, line);
}

/* Whether it is compiled already: by one of these options. */
static bool has_code(lua_State *L) {
  static const char *const forms[] = {"cubin", "ptx", "fatbin", NULL};
  const char *given = NULL;
  for (int i = 0; forms[i]; i++) {
    if (!option_push(L, 2, forms[i])) continue;
    lua_pop(L, 1);
    if (given)
      bind_fail(L, MW_INVALID, "a module is loaded from one of 'cubin', 'ptx' and 'fatbin', got '%s' and '%s'", given,
                forms[i]);
    given = forms[i];
  }
  return given;
}

/* What the option holds: a path has no line and no zero byte, and code has. */
static void locate_code(lua_State *L, const char *option, mw_form form, mw_source *source) {
  const char *path, *given = option_string(L, 2, option, NULL);
  if (!given) return;
  lua_getfield(L, 2, option);
  size_t size = lua_rawlen(L, -1);
  if (size == 0) bind_fail(L, MW_INVALID, "option '%s' is a path or the code itself, got an empty string", option);
  const bool is_code = memchr(given, '\n', size) || memchr(given, '\0', size);
  source->name = is_code ? option : given;
  source->code = given;
  if (!is_code) {
    read_source(L, given, &path, (const char **)&source->code);
    size = lua_rawlen(L, -1);
    if (size == 0) bind_fail(L, MW_INVALID, "option '%s': the file '%s' is empty", option, path);
  }
  source->form = form;
  source->code_bytes = size;
}

/* The source of code that is compiled already need not be there: it tells types and names of parameters. */
static void locate(lua_State *L, mw_source *source) {
  const char *file = option_string(L, 2, "file", NULL);
  source->text = option_string(L, 2, "source", NULL);
  if (source->form && !file && !source->text) {
    source->text = "";
    source->name = option_string(L, 2, "name", source->name);
    return;
  }
  if (!file == !source->text)
    bind_fail(L, MW_INVALID, "a module is made from either 'file' or 'source': give one of them");
  lua_getfield(L, 2, "source");
  size_t size = lua_rawlen(L, -1);
  lua_pop(L, 1);
  if (file) {
    const char *path = NULL;
    read_source(L, file, &path, &source->text);
    size = lua_rawlen(L, -1);
    const char *slash = strrchr(path, '/');
    source->folder = slash ? lua_pushlstring(L, path, (size_t)(slash - path + (slash == path))) : ".";
  }
  source->name = option_string(L, 2, "name", source->form ? source->name : file ? file : "source");
  check_zero(L, source->text, size, source->name);
  source->text = skip_mark(source->text);
  if (!file) note(L, "texts", source->name, source->text); /* of lines in findings and counters */
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The same, sorted: a cache key does not depend on the order of a Lua table. */
static const char *const *sorted_list(lua_State *L, const char *name) {
  const char **list = string_list(L, name);
  size_t count = 0;
  while (list && list[count]) count++;
  if (count) qsort(list, count, sizeof *list, compare_names);
  return list;
}

/* Makes a table of the module's own of the options at 2; a string is the file. */
static void copy_options(lua_State *L, const char *const names[]) {
  const bool is_file = lua_type(L, 2) == LUA_TSTRING;
  if (!is_file) need_options(L, 2, names);
  lua_newtable(L);
  if (is_file) {
    lua_pushvalue(L, 2);
    lua_setfield(L, -2, "file");
  } else {
    for (lua_pushnil(L); lua_next(L, 2);) {
      lua_pushvalue(L, -2);
      lua_insert(L, -2);
      lua_settable(L, -4); /* the key stays, for lua_next */
    }
  }
  lua_replace(L, 2);
}

/* Another word would be a file to ptxas. */
static const char *const *check_ptxas(lua_State *L) {
  const char **list = string_list(L, "ptxas");
  for (const char **word = list; word && *word; word++)
    if (**word != '-' || strpbrk(*word, " \t\n\r"))
      bind_fail(L, MW_INVALID, "option 'ptxas' is a list such as { \"-dlcm=cg\" }, one option each, got '%s'", *word);
  return list;
}

static mw_source check_source(lua_State *L) {
  static const char *const names[] = {"file",      "source",   "name",          "defines", "includes",  "std",
                                      "fast_math", "contract", "max_registers", "ptxas",   "line_info", "engine",
                                      "templates", "cache",    "warnings",      "cubin",   "ptx",       "fatbin",
                                      NULL};
  static const char *const code_names[] = {"cubin", "ptx", "fatbin", "file", "source", "name", "warnings", NULL};
  static const char *const engines[] = {"auto", "loop", "split", "fiber", NULL};
  copy_options(L, names);
  if (!lua_checkstack(L, 40)) bind_fail(L, MW_NO_MEMORY, "the stack has no room for a module's options");
  mw_source source = {0};
  if (has_code(L)) check_options(L, 2, code_names);
  locate_code(L, "cubin", MW_FORM_CUBIN, &source);
  locate_code(L, "ptx", MW_FORM_PTX, &source);
  locate_code(L, "fatbin", MW_FORM_FATBIN, &source);
  locate(L, &source);
  normalise_defines(L);
  source.defines = sorted_list(L, "defines");
  source.includes = string_list(L, "includes");
  source.templates = string_list(L, "templates");
  source.ptxas = check_ptxas(L);
  source.standard = option_string(L, 2, "std", NULL);
  source.fast_math = option_boolean(L, 2, "fast_math", false);
  source.line_info = option_boolean(L, 2, "line_info", false);
  source.no_contract = !option_boolean(L, 2, "contract", true);
  source.no_cache = !option_boolean(L, 2, "cache", true);
  source.max_registers = (int)option_integer(L, 2, "max_registers", 0, 0, 255);
  source.engine = engines[option_word(L, 2, "engine", engines)];
  return source;
}

/* dev:module(file) or dev:module{ file = | source = | cubin = | ptx = | fatbin =, ... }: compiles, finds in the cache, or
 * loads. A failure raises with the compiler's log. */
static int device_module(lua_State *L) {
  mw_source source = check_source(L);
  const bool warns = option_boolean(L, 2, "warnings", true);
  bind_module *self = bind_new(L, &module_class, sizeof *self, 2);
  lua_newtable(L);
  lua_setiuservalue(L, -2, 1); /* kernels made, by name */
  lua_pushvalue(L, 2);
  lua_setiuservalue(L, -2, 2); /* its options, to compile the same source for another device */
  mw_device *device = self_device(L);
  bind_try(L, device->backend->compile(device, &source, &self->module, &bind_error));
  mw_device_retain(device);
  atomic_store(&self->module->refs, 1);
  bind_opened(self, device);
  self->warns = warns;
  warnings_tell(L, self);
  return 1;
}

const bind_method module_makers[] = {{"module", device_module, 1}, {NULL, NULL, 0}};

/* ---- kernels and variables ------------------------------------------------------------------------------------- */

static int module_kernel(lua_State *L) {
  push_kernel(L, 1, check_string(L, 2));
  return 1;
}

static int module_kernels(lua_State *L) {
  const char *const *names;
  lua_newtable(L);
  for (int i = 0; (names = self_module(L)->kernel_names) && names[i]; i++) {
    lua_pushstring(L, names[i]);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* m.name: a method, else the kernel of that name. */
static int module_index(lua_State *L) {
  bind_object *self = bind_test(L, 1, &module_class);
  if (!self) return bind_argument_type(L, 1, "module");
  bind_methods(L, &module_class);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, -2) != LUA_TNIL) return 1;
  if (!self->open) return bind_fail(L, MW_INVALID, "attempt to use a closed module");
  if (lua_type(L, 2) != LUA_TSTRING)
    return bind_fail(L, MW_INVALID, "a kernel's name expected, got %s", luaL_typename(L, 2));
  push_kernel(L, 1, lua_tostring(L, 2));
  return 1;
}

/* m:variable(name): a __device__ or __constant__ variable as an array; shares the module's memory. */
static int module_variable(lua_State *L) {
  const char *name = check_string(L, 2);
  bind_array *variable = array_new(L);
  mw_module *module = self_module(L);
  check_runs(L, module->device, "variables");
  mw_buffer *buffer = NULL;
  mw_param type = {0};
  bind_try(L, module->device->backend->variable(module, name, &buffer, &type, &bind_error));
  mw_module_retain(module);
  buffer->owner = module;
  bool plain = (int)type.dtype < (int)MW_ARRAY_DTYPES && buffer->bytes % mw_dtype_size(type.dtype) == 0;
  mw_dtype dtype = plain ? type.dtype : MW_U8;
  lua_Integer count = (lua_Integer)(buffer->bytes / mw_dtype_size(dtype));
  array_open(variable, buffer, 0, dtype, 1, &count, false);
  return 1;
}

static int module_log(lua_State *L) {
  lua_pushstring(L, self_module(L)->log);
  return 1;
}

static int module_from_cache(lua_State *L) {
  lua_pushboolean(L, self_module(L)->from_cache);
  return 1;
}

/* m:ptx(), m:sass(), m:cpp(): the text that the method is named after. */
static int module_text(lua_State *L) {
  mw_module *module = self_module(L);
  const char *kind = bind_method_name(L);
  char *text = NULL;
  bind_try(L, module->device->backend->text(module, kind, &text, &bind_error));
  lua_pushstring(L, text);
  mw_free(text);
  return 1;
}

static void describe(lua_State *L, const void *object) {
  const bind_module *self = object;
  lua_pushfstring(L, "module '%s' %s", self->module->name, self->module->device->info.id);
}

static const bind_method methods[] = {
    {"cpp", module_text, 0},
    {"device", object_device, 0},
    {"from_cache", module_from_cache, 0},
    {"kernel", module_kernel, 1},
    {"kernels", module_kernels, 0},
    {"log", module_log, 0},
    {"options", object_options, 0},
    {"ptx", module_text, 0},
    {"sass", module_text, 0},
    {"variable", module_variable, 1},
    {NULL, NULL, 0},
};

static const luaL_Reg metamethods[] = {{"__index", module_index}, {NULL, NULL}};

bind_class module_class = {"module", module_release, methods, describe, metamethods, 0};
