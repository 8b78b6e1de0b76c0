/* SPDX-License-Identifier: MIT
 *
 * What the Lua half and the command line ask of the host: clock, cache, counters, the folder of our own files. */
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/folder.h"
#include "core/base/home.h"
#include "core/base/nvtx.h"
#include "core/bind/bind.h"
#include "core/compile/cache.h"
#include "core/compile/process.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* core.clock(): monotonic seconds. */
static int service_clock(lua_State *L) {
  lua_pushnumber(L, mw_clock());
  return 1;
}

/* core.home(): the folder with lua/, kernels/, experiments/ and plots/. */
static int service_home(lua_State *L) {
  lua_pushstring(L, mw_home());
  return 1;
}

/* core.make_folder(path): with its parents. Nil, or why it is not there or may not be written to. */
static int service_make_folder(lua_State *L) {
  const char *path = check_string(L, 1);
  if (!mw_make_folders(path, MW_SHARED))
    lua_pushstring(L, strerror(errno));
  else if (access(path, W_OK) != 0)
    lua_pushliteral(L, "it may not be written to");
  else
    luaL_pushfail(L);
  return 1;
}

/* core.is_writable(path). */
static int service_is_writable(lua_State *L) {
  lua_pushboolean(L, access(check_string(L, 1), W_OK) == 0);
  return 1;
}

/* core.read_plain(folder, name, most[, tail]): the text of a plain file below a folder, or no more than its end, and what
 * tells the folder from others; nil, why not, and the file's size where it is too large. */
static int service_read_plain(lua_State *L) {
  struct stat place, found;
  const size_t most = (size_t)luaL_checkinteger(L, 3);
  const int fd = mw_file_open_below(check_string(L, 1), check_string(L, 2), &place, &found);
  size_t size = fd >= 0 && (uint64_t)found.st_size < most ? (size_t)found.st_size : most;
  const bool is_large = fd >= 0 && size < (uint64_t)found.st_size && !lua_toboolean(L, 4);
  if (fd >= 0 && !is_large) lseek(fd, found.st_size - (off_t)size, SEEK_SET);
  char *text = fd >= 0 && !is_large ? mw_file_read_part(fd, size, &size) : NULL;
  if (fd >= 0) close(fd);
  if (!text) {
    luaL_pushfail(L);
    lua_pushstring(L, errno == EACCES || errno == EMFILE ? strerror(errno) : "is not a plain file");
    if (is_large) lua_pushinteger(L, found.st_size);
    return is_large ? 3 : 2;
  }
  lua_pushlstring(L, text, size);
  mw_free(text);
  lua_pushfstring(L, "%I:%I", (LUAI_UACINT)place.st_dev, (LUAI_UACINT)place.st_ino);
  return 2;
}

/* core.interrupted(): true after Ctrl-C; loops that may run long ask. */
static int service_interrupted(lua_State *L) {
  lua_pushboolean(L, atomic_load(&mw_interrupted));
  return 1;
}

static pthread_t limited; /* the thread in core.within */
static volatile sig_atomic_t is_late;

/* A hook of mw_interrupt may end a kernel that the thread runs itself. */
static void on_alarm(int number) {
  if (!pthread_equal(pthread_self(), limited)) {
    pthread_kill(limited, number);
    return;
  }
  is_late = true;
  mw_interrupt();
}

/* core.within(seconds, f, ...): calls f; whether it has ended in time. If not, its work on devices is ended as by Ctrl-C,
 * and its error is that of this. */
static int service_within(lua_State *L) {
  const double seconds = luaL_checknumber(L, 1);
  const time_t whole = (time_t)seconds;
  const struct itimerval limit = {.it_value = {whole, 1 + (suseconds_t)(1e6 * (seconds - (double)whole))}}, none = {0};
  struct sigaction action = {.sa_handler = on_alarm}, before;
  sigfillset(&action.sa_mask);
  limited = pthread_self();
  is_late = false;
  sigaction(SIGALRM, &action, &before);
  setitimer(ITIMER_REAL, &limit, NULL);
  const int status = lua_pcall(L, lua_gettop(L) - 2, 0, 0);
  setitimer(ITIMER_REAL, &none, NULL);
  sigaction(SIGALRM, &before, NULL);
  if (is_late)
    atomic_store(&mw_interrupted, false); /* not Ctrl-C, whose error the host still raises */
  else if (status != LUA_OK)
    return lua_error(L);
  lua_pushboolean(L, !is_late);
  return 1;
}

static int service_poll(lua_State *L) {
  check_count(L, "poll", 0, lua_gettop(L));
  lua_pushinteger(L, bind_poll(L));
  return 1;
}

bind_class *const bind_classes[] = {&array_class,  &device_class,  &event_class,   &graph_class,
                                    &kernel_class, &launch_class,  &module_class,  &native_class,
                                    &stream_class, &surface_class, &texture_class, NULL};

/* core.live(): how many objects of each class are open; a test that leaves one open fails. */
static int service_live(lua_State *L) {
  lua_newtable(L);
  for (bind_class *const *class = bind_classes; *class; class ++) {
    lua_pushinteger(L, (*class)->live);
    lua_setfield(L, -2, (*class)->name);
  }
  return 1;
}

/* core.type(v): "array", "closed array", ..., "error"; nil for other values. */
static int service_type(lua_State *L) {
  check_that(L, !lua_isnone(L, 1), 1, "value expected");
  check_count(L, "type", 1, lua_gettop(L));
  if (bind_is_error(L, 1)) {
    lua_pushliteral(L, "error");
    return 1;
  }
  for (bind_class *const *class = bind_classes; *class; class ++) {
    const bind_object *object = bind_test(L, 1, *class);
    if (!object) continue;
    lua_pushfstring(L, object->open ? "%s" : "closed %s", object->class->name);
    return 1;
  }
  luaL_pushfail(L);
  return 1;
}

static int service_cache_stat(lua_State *L) {
#define C(member) FIELD(mw_cache_stats, member)
  static const bind_field fields[] = {C(folder), C(problem), C(entries), C(bytes),
                                      C(bound),  C(hits),    C(misses),  LAST_FIELD};
  mw_cache_stats stats;
  mw_cache_stat(&stats);
  push_fields(L, fields, &stats);
  return 1;
}

static int service_cache_clear(lua_State *L) {
  mw_cache_stats stats;
  int removed = mw_cache_clear();
  if (removed >= 0) {
    lua_pushinteger(L, removed);
    return 1;
  }
  mw_cache_stat(&stats);
  luaL_pushfail(L);
  lua_pushstring(L, stats.problem);
  return 2;
}

/* core.compiler(): the C++ compiler that kernels need on the processor, or nil and what was looked for. */
static int service_compiler(lua_State *L) {
  mw_probe probe = {0};
  for (const mw_backend *const *b = mw_backends; *b; b++)
    if (strcmp((*b)->kind, "cpu") == 0) (*b)->probe(&probe);
  if (*probe.compiler) {
    lua_pushstring(L, probe.compiler);
    return 1;
  }
  luaL_pushfail(L);
  lua_pushstring(L, probe.reason);
  return 2;
}

/* core.misfit(dtype, value): why an element of that type cannot hold the value, or nil. */
static int service_misfit(lua_State *L) {
  char element[8];
  const char *problem = store_element(L, 2, check_dtype(L, 1), element);
  lua_pushstring(L, problem);
  return 1;
}

/* core.nearest(word, names): the nearest name of the list, or nil. */
static int service_nearest(lua_State *L) {
  const char *word = check_string(L, 1);
  check_type(L, 2, LUA_TTABLE);
  int count = (int)lua_rawlen(L, 2);
  const char **names = lua_newuserdatauv(L, (size_t)(count + 1) * sizeof *names, 0);
  for (int i = 0; i < count; i++, lua_pop(L, 1)) { /* the list holds the strings */
    lua_rawgeti(L, 2, i + 1);
    names[i] = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
  }
  names[count] = NULL;
  lua_pushstring(L, nearest_name(word, names));
  return 1;
}

/* core.process(words, seconds): runs a program without input: its exit status (128 + signal when killed) and the
 * beginning of what it wrote to standard error; or nil and why it was not started or did not end. */
static int service_process(lua_State *L) {
  enum { MOST_WORDS = 4096, MOST_OUTPUT = 64 << 20 };
  mw_process_result result;
  check_type(L, 1, LUA_TTABLE);
  double seconds = luaL_checknumber(L, 2);
  int count = (int)lua_rawlen(L, 1);
  check_that(L, count > 0, 1, "a program's name and its arguments expected, got an empty table");
  const char **argv = lua_newuserdatauv(L, (size_t)(count + 1) * sizeof *argv, 0);
  for (int i = 0; i < count; i++, lua_pop(L, 1)) { /* the list holds the strings */
    lua_rawgeti(L, 1, i + 1);
    argv[i] = luaL_checkstring(L, -1);
  }
  argv[count] = NULL;
  const mw_process process = {.argv = argv, .seconds = seconds, .output = MOST_OUTPUT};
  if (mw_process_run(&process, &result, &bind_error) != MW_OK) {
    luaL_pushfail(L);
    lua_pushstring(L, bind_error.text);
    mw_error_clear(&bind_error);
    return 2;
  }
  lua_pushinteger(L, result.exit);
  luaL_Buffer words;
  size_t size = result.err_size < MOST_WORDS ? result.err_size : MOST_WORDS;
  memcpy(luaL_buffinitsize(L, &words, MOST_WORDS), result.err ? result.err : "", size);
  mw_process_result_free(&result);
  luaL_pushresultsize(&words, size);
  return 2;
}

/* core.range_push(name), core.range_pop(): a range of time for profilers. */
static int service_range_push(lua_State *L) {
  mw_range_push(check_string(L, 1));
  return 0;
}

static int service_range_pop(lua_State *L) {
  (void)L;
  mw_range_pop();
  return 0;
}

/* core.pause(seconds): does nothing for so long, at most a second; a signal ends it. */
static int service_pause(lua_State *L) {
  const double seconds = luaL_checknumber(L, 1);
  check_that(L, seconds >= 0 && seconds <= 1, 1, "seconds from 0 to 1 expected");
  const struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&time, NULL);
  return 0;
}

/* core.keep_mode(from, to): gives a file the permissions of another; nil, or why not. */
static int service_keep_mode(lua_State *L) {
  const char *from = check_string(L, 1), *to = check_string(L, 2);
  struct stat about;
  if (stat(from, &about) == 0 && chmod(to, about.st_mode & 07777) == 0) return 0;
  lua_pushfstring(L, "%s: %s", to, strerror(errno));
  return 1;
}

/* core.raise(status, text[, log]): the errors of the Lua half. */
static int service_raise(lua_State *L) {
  const char *status = check_string(L, 1);
  check_string(L, 2);
  lua_settop(L, 3);
  return bind_raise_text(L, status);
}

/* core.where(): "script.lua:12", the innermost line that is not the library's; nil if none. */
static int service_where(lua_State *L) {
  bind_where(L);
  return 1;
}

const luaL_Reg service_functions[] = {
    {"cache_clear", service_cache_clear},
    {"cache_stat", service_cache_stat},
    {"clear", array_clear},
    {"clock", service_clock},
    {"compiler", service_compiler},
    {"home", service_home},
    {"interrupted", service_interrupted},
    {"is_writable", service_is_writable},
    {"keep_mode", service_keep_mode},
    {"read_plain", service_read_plain},
    {"live", service_live},
    {"make_folder", service_make_folder},
    {"misfit", service_misfit},
    {"nearest", service_nearest},
    {"pause", service_pause},
    {"poll", service_poll},
    {"process", service_process},
    {"raise", service_raise},
    {"range_pop", service_range_pop},
    {"range_push", service_range_push},
    {"type", service_type},
    {"where", service_where},
    {"within", service_within},
    {NULL, NULL},
};
