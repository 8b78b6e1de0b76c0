/* SPDX-License-Identifier: MIT
 *
 * Units: found in the cache or translated (attempt.c), then loaded from memory, each load on its own, so that two
 * modules of one source never share variables. */
#include "core/backend/cpu/translate/unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/backend/cpu/translate/translate.h"
#include "core/base/file.h"
#include "core/base/home.h"

/* ---- instances asked for --------------------------------------------------------------------------------------- */

/* Text that can stand as template arguments and no more. */
static bool arguments_fit(const char *asked) {
  int depth = 0;
  const char *at = strchr(asked, '<');
  for (; at && *at; at++) {
    if (strchr(";{}\"\\#\n\r", *at)) return false;
    depth += *at == '<';
    depth -= *at == '>';
    if (depth == 0) return at[1] == 0;
  }
  return false;
}

static mw_status instance_allow(const cpu_program *program, const char *asked, mw_error *error) {
  char *why = program->checked ? cpu_allowed_name(asked) : NULL;
  mw_status status = why ? mw_fail(error, MW_UNSUPPORTED, "instance '%s': %s", asked, why) : MW_OK;
  mw_free(why);
  return status;
}

static mw_status instance_check(const cpu_program *program, const char *asked, mw_error *error) {
  const mw_token bare = mw_bare_name(asked);
  mw_status status = mw_refusals_check(&program->refused, asked, error);
  bool known = false;
  if (status) return status;
  for (int i = 0; i < program->ndeclared; i++) {
    if (!mw_token_is(&bare, program->declared[i].name)) continue;
    known = true;
    if (!program->declared[i].is_template) continue;
    if (arguments_fit(asked)) return instance_allow(program, asked, error);
    return mw_fail(error, MW_INVALID, "'%s' does not name an instance of the template '%.*s'; write '%.*s<...>'", asked,
                   TEXT(&bare), TEXT(&bare));
  }
  const char *front = known ? "kernel" : "there is no kernel template", *end = known ? " is not a template" : "";
  return mw_fail(error, MW_INVALID, "%s '%.*s' in '%s'%s", front, TEXT(&bare), program->source.name, end);
}

/* The source's own list, then the templates given; NULL-terminated, released by mw_free. */
static const char **asked_list(const cpu_program *program, const char *const *templates) {
  int own = 0, more = 0;
  while (program->source.templates[own]) own++;
  while (templates && templates[more]) more++;
  const char **list = mw_calloc((size_t)(own + more + 1), sizeof *list);
  for (int i = 0; i < own; i++) list[i] = program->source.templates[i];
  for (int i = 0; i < more; i++) list[own + i] = templates[i];
  return list;
}

static mw_cache_key unit_key(const cpu_program *program, cpu_flavor flavor, const char *const *asked) {
  mw_cache_keymaker *maker = mw_cache_key_begin("cpu unit");
  mw_cache_key_add(maker, "program", &program->key, sizeof program->key);
  mw_cache_key_add(maker, "flavor", &flavor, sizeof flavor);
  for (; *asked; asked++) mw_cache_key_text(maker, "template", *asked);
  return mw_cache_key_end(maker);
}

/* ---- the shared object ----------------------------------------------------------------------------------------- */

/* The leak check reads all that a loaded object could write to. */
#if defined(__SANITIZE_ADDRESS__)
enum { GUARD_ACCESS = PROT_READ };
#else
enum { GUARD_ACCESS = PROT_NONE };
#endif

/* As far as it is whole pages. */
static bool guard_forbid(const mw_unit_table *table) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)table->guard;
  const uintptr_t low = (from + page - 1) / page * page, high = (from + table->guard_bytes) / page * page;
  return mprotect((void *)low, high - low, GUARD_ACCESS) == 0;
}

static mw_status object_load(const mw_text *object, cpu_unit *unit, const char *name, mw_error *error) {
  char path[64];
  unit->log = mw_strdup(object->at);
  const size_t length = strlen(object->at) + 1;
  unit->fd = memfd_create("moonwarp unit", MFD_CLOEXEC);
  if (unit->fd < 0 || !mw_file_write_fd(unit->fd, object->at + length, object->size - length))
    return mw_fail(error, MW_IO, "no memory file for the code of '%s': %s", name, strerror(errno));
  snprintf(path, sizeof path, "/proc/self/fd/%d", unit->fd);
  unit->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!unit->handle) return mw_fail(error, MW_COMPILE, "the compiled code of '%s' does not load: %s", name, dlerror());
  unit->table = dlsym(unit->handle, "mw_unit_table");
  if (!unit->table || unit->table->abi != MW_ABI_VERSION)
    return mw_fail(error, MW_COMPILE, "the compiled code of '%s' is of another version of moonwarp", name);
  if (!guard_forbid(unit->table))
    return mw_fail(error, MW_NO_MEMORY, "no guard for the device variables of '%s': %s", name, strerror(errno));
  return MW_OK;
}

static int by_name(const void *one, const void *other) {
  return strcmp(((const cpu_code *)one)->name, ((const cpu_code *)other)->name);
}

/* The bytes of a loaded unit, which the caller frees, and where it was loaded; size 0: not known. */
static char *object_again(const cpu_unit *unit, size_t *size, uintptr_t *base) {
  struct stat info = {0};
  struct link_map *map = NULL;
  fstat(unit->fd, &info);
  char *bytes = mw_calloc((size_t)info.st_size + 1, 1);
  const bool whole = pread(unit->fd, bytes, (size_t)info.st_size, 0) == info.st_size;
  const bool found = whole && !dlinfo(unit->handle, RTLD_DI_LINKMAP, &map);
  *size = found ? (size_t)info.st_size : 0;
  *base = found ? map->l_addr : 0;
  return bytes;
}

cpu_code *cpu_unit_functions(const cpu_unit *unit, size_t *count, char **names) {
  uintptr_t base;
  size_t size;
  *count = 0;
  *names = object_again(unit, &size, &base);
  cpu_code *list = size ? cpu_object_functions(*names, size, count) : NULL;
  for (size_t i = 0; i < *count; i++) list[i].address += base;
  if (list) qsort(list, *count, sizeof *list, by_name);
  return list;
}

static bool is_in_table(const mw_unit_table *table, uintptr_t address) {
  for (unsigned i = 0; i < table->nvariables; i++)
    if (address - (uintptr_t)table->variables[i].address < table->variables[i].bytes) return true;
  return false;
}

cpu_place *cpu_unit_places(const cpu_unit *unit, size_t *count) {
  const mw_unit_table *table = unit->table;
  uintptr_t base;
  size_t size, nstatics = 0;
  char *bytes = object_again(unit, &size, &base);
  cpu_place *statics = size ? cpu_object_statics(bytes, size, &nstatics) : NULL;
  cpu_place *list = mw_calloc(table->nvariables + nstatics + 1, sizeof *list);
  for (*count = 0; *count < table->nvariables; ++*count)
    list[*count] = (cpu_place){(uintptr_t)table->variables[*count].address, (size_t)table->variables[*count].bytes};
  for (size_t i = 0; i < nstatics; i++)
    if (!is_in_table(table, statics[i].address + base))
      list[(*count)++] = (cpu_place){statics[i].address + base, statics[i].bytes};
  mw_free(statics);
  mw_free(bytes);
  return list;
}

/* ---- from a program -------------------------------------------------------------------------------------------- */

static mw_status object_get(cpu_program *program, const char *const *asked, mw_text *out, cpu_unit *unit,
                            mw_error *error) {
  mw_cache_key key = unit_key(program, unit->flavor, asked);
  if (program->cacheable && mw_cache_get(&key, (void **)&out->at, &out->size)) {
    unit->from_cache = memchr(out->at, 0, out->size) && !cpu_linkage_check(program, unit->flavor, out, NULL);
    if (unit->from_cache) return MW_OK;
    mw_free(out->at);
  }
  const size_t refused = program->refused.size;
  mw_status status = cpu_translate(program, unit->flavor, asked, out, error);
  if (!status && program->refused.size != refused) cpu_program_keep(program);
  if (!status && program->cacheable) mw_cache_put(&key, out->at, out->size);
  return status;
}

static mw_status unit_load(cpu_program *program, cpu_flavor flavor, const char *const *asked, cpu_unit **out,
                           mw_error *error) {
  for (int i = 0; asked[i]; i++) {
    mw_status status = instance_check(program, asked[i], error);
    if (status) return status;
  }
  cpu_unit *unit = mw_malloc(sizeof *unit);
  mw_text object = {0};
  *unit = (cpu_unit){.flavor = flavor, .fd = -1};
  mw_status status = object_get(program, asked, &object, unit, error);
  if (!status) status = object_load(&object, unit, program->source.name, error);
  mw_free(object.at);
  if (status)
    cpu_unit_free(unit);
  else
    *out = unit;
  return status;
}

mw_status cpu_unit_load(cpu_program *program, cpu_flavor flavor, const char *const *templates, cpu_unit **out,
                        mw_error *error) {
  static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER; /* the analysis is filled in at the first need */
  const char **asked = asked_list(program, templates);
  pthread_mutex_lock(&one);
  mw_status status = unit_load(program, flavor, asked, out, error);
  pthread_mutex_unlock(&one);
  mw_free(asked);
  return status;
}

void cpu_unit_free(cpu_unit *unit) {
  if (!unit) return;
  if (unit->handle) dlclose(unit->handle);
  if (unit->fd >= 0) close(unit->fd);
  mw_free(unit->log);
  mw_free(unit);
}

char *cpu_unit_source(cpu_program *program, cpu_flavor flavor, const char *const *templates) {
  const char **asked = asked_list(program, templates);
  mw_error error = {0};
  const cpu_attempt attempt = {program, flavor, asked, .only = CPU_ALL_FORMS};
  bool failed = cpu_program_need(program, asked, &error);
  char *text = failed ? mw_format("// %s\n", error.text) : cpu_emit(&attempt);
  mw_error_clear(&error);
  mw_free(asked);
  return text;
}
