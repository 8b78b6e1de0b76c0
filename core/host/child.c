/* SPDX-License-Identifier: MIT
 *
 * A child process and its supervisor: started with limits, polled without blocking, ended in order or at once. A child
 * that is collected or closed is killed, and so is every child when our process dies. */
#include "core/host/child.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/host/orphans.h"
#include "core/host/sandbox.h"
#include "core/host/supervisor.h"

#define CHILD "moonwarp.child"

enum { MOST_WORDS = 256, LOOKS = 10 };

/* A supervisor that does not move for so long, in as many looks, has been stopped. Looks count, since our own process
 * may have been stopped as well. */
static const double LOOK_SECONDS = 0.1, SILENT_SECONDS = 10, CLOSING_SECONDS = 1;

typedef struct child {
  pid_t supervisor;
  int control_fd; /* -1: it has reported, or was closed */
  _Atomic uint64_t *beat;
  uint64_t heard;
  double heard_at, looked_at;
  int looks; /* in vain */
  struct child *next;
} child;

static child *supervised; /* those that have a supervisor */

int host_program(lua_State *L) {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length < 0) return luaL_error(L, "the program's own path cannot be read: %s", strerror(errno));
  lua_pushlstring(L, path, (size_t)length);
  return 1;
}

/* ---- the order ------------------------------------------------------------------------------------------------- */

/* What is read stays alive in the table at index 1. */
static const char *text_field(lua_State *L, const char *name) {
  lua_getfield(L, 1, name);
  const char *text = luaL_optstring(L, -1, NULL);
  lua_pop(L, 1);
  return text;
}

static double number_field(lua_State *L, const char *name, double without) {
  lua_getfield(L, 1, name);
  double value = luaL_optnumber(L, -1, without);
  lua_pop(L, 1);
  return value > 0 ? value : 0;
}

/* Words of the list in a field, then NULL. False without that field. */
static bool list_field(lua_State *L, const char *name, const char **words) {
  int count = 0;
  bool present = lua_getfield(L, 1, name) != LUA_TNIL;
  if (present) {
    luaL_checktype(L, -1, LUA_TTABLE);
    while (count < MOST_WORDS && lua_rawgeti(L, -1, count + 1) == LUA_TSTRING) {
      words[count++] = lua_tostring(L, -1);
      lua_pop(L, 1);
    }
    if (count == MOST_WORDS) luaL_error(L, "spawn: '%s' has more than %d words", name, MOST_WORDS - 1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  words[count] = NULL;
  return present;
}

static void locks_field(lua_State *L, int held[SUPERVISOR_HELD]) {
  lua_getfield(L, 1, "held");
  for (int i = 0; i < SUPERVISOR_HELD; i++) {
    held[i] = -1;
    if (lua_istable(L, -1) && lua_rawgeti(L, -1, i + 1) != LUA_TNIL) held[i] = *host_lock_file(L, -1);
    if (lua_istable(L, -2)) lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

typedef struct order_words {
  const char *argv[MOST_WORDS], *pass[MOST_WORDS], *env[MOST_WORDS], *view[MOST_WORDS];
} order_words;

static void read_order(lua_State *L, supervisor_order *order, order_words *words) {
  luaL_checktype(L, 1, LUA_TTABLE);
  list_field(L, "argv", words->argv);
  list_field(L, "env", words->env);
  luaL_argcheck(L, words->argv[0], 1, "argv is empty");
  *order = (supervisor_order){.path = words->argv[0], .argv = words->argv, .env = words->env};
  if (list_field(L, "pass", words->pass)) order->pass = words->pass;
  if (list_field(L, "sandbox", words->view)) order->view = words->view;
  order->log = text_field(L, "log");
  order->ended = text_field(L, "ended");
  order->seconds = number_field(L, "seconds", 0);
  order->grace = number_field(L, "grace", 3);
  order->memory = (uint64_t)number_field(L, "memory", 0);
  order->data = (uint64_t)number_field(L, "data", 0);
  order->output = (uint64_t)number_field(L, "output", 0);
  order->processes = (uint64_t)number_field(L, "processes", 0);
  order->folder = text_field(L, "folder");
  order->disk = (uint64_t)number_field(L, "disk", 0);
  order->files = (uint64_t)number_field(L, "files", 0);
  if (order->view && order->processes) order->processes += SANDBOX_PROCESSES;
  locks_field(L, order->held);
}

/* ---- the supervisor -------------------------------------------------------------------------------------------- */

static bool is_supervisor(pid_t pid) {
  for (const child *one = supervised; one; one = one->next)
    if (one->supervisor == pid) return true;
  return false;
}

static void begin_supervisor(child *self, supervisor_order *order, int control_fd) {
  order->beat = self->beat;
  self->heard_at = self->looked_at = mw_clock();
  self->supervisor = fork();
  if (self->supervisor == 0) {
    close(self->control_fd);
    order->control_fd = control_fd;
    supervisor_run(order);
  }
  if (self->supervisor < 0) return;
  self->next = supervised;
  supervised = self;
}

static bool is_silent(child *self, double seconds) {
  uint64_t beat = atomic_load(self->beat);
  double now = mw_clock();
  if (beat != self->heard) {
    self->heard = beat;
    self->heard_at = self->looked_at = now;
    self->looks = 0;
  } else if (now - self->looked_at >= LOOK_SECONDS) {
    self->looked_at = now;
    self->looks++;
  }
  return self->looks >= LOOKS && now - self->heard_at >= seconds;
}

static void forget(child *self) {
  child **at = &supervised;
  while (*at && *at != self) at = &(*at)->next;
  if (*at) *at = self->next;
  munmap(self->beat, sizeof *self->beat);
}

/* Its control socket is closed, or it has reported: it ends, and by then nothing of the child is left. If someone
 * stopped or killed it, we end what it left. */
static void await_supervisor(child *self) {
  int how = 0;
  pid_t got;
  close(self->control_fd);
  self->control_fd = -1;
  while ((got = waitpid(self->supervisor, &how, WNOHANG)) == 0 || (got < 0 && errno == EINTR)) {
    if (is_silent(self, CLOSING_SECONDS)) kill(self->supervisor, SIGKILL);
    usleep(200);
  }
  forget(self);
  if (WIFSIGNALED(how)) orphans_end(is_supervisor);
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

static child *new_child(lua_State *L) {
  child *self = lua_newuserdatauv(L, sizeof *self, 0);
  *self = (child){.control_fd = -1};
  luaL_setmetatable(L, CHILD);
  return self;
}

static int fail_start(lua_State *L, int reason) {
  return luaL_error(L, "a process cannot be started: %s", strerror(reason));
}

/* host.spawn { argv = { path, ... }, pass = { "NAME", "NAME*": what it gets of our environment; else all },
 * env = { "NAME=value", or "NAME" to remove it }, log =, ended = (files), seconds =, grace =, memory =, data =,
 * output = (bytes), processes =, folder = (of which it may fill) disk = (bytes), files =, held = { locks }, sandbox = { view of sandbox.h } }: a child. Its input is empty. In
 * a sandbox an exit status above 128 counts as a signal, as a shell has it. */
int host_spawn(lua_State *L) {
  order_words words;
  supervisor_order order;
  int ends[2];
  read_order(L, &order, &words);
  signal(SIGPIPE, SIG_IGN); /* the reader of our output may leave: the children are worth more */
  orphans_adopt();
  child *self = new_child(L);
  void *beat = mmap(NULL, sizeof *self->beat, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (beat == MAP_FAILED) return fail_start(L, errno);
  self->beat = beat;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    int reason = errno;
    forget(self);
    return fail_start(L, reason);
  }
  self->control_fd = ends[0];
  begin_supervisor(self, &order, ends[1]);
  int reason = errno;
  close(ends[1]);
  if (self->supervisor > 0) return 1;
  close(ends[0]);
  self->control_fd = -1;
  forget(self);
  return fail_start(L, reason);
}

static child *check_child(lua_State *L) {
  return luaL_checkudata(L, 1, CHILD);
}

static void push_report(lua_State *L, const supervisor_report *r, bool lost) {
  lua_createtable(L, 0, 8);
  lua_pushboolean(L, lost);
  lua_setfield(L, -2, "lost");
  lua_pushinteger(L, r->exit);
  lua_setfield(L, -2, "exit");
  lua_pushinteger(L, r->signal);
  lua_setfield(L, -2, "signal");
  lua_pushstring(L, supervisor_reason_name(r->reason));
  lua_setfield(L, -2, "reason");
  lua_pushstring(L, r->log_error ? strerror(r->log_error) : NULL);
  lua_setfield(L, -2, "log_error");
  lua_pushinteger(L, (lua_Integer)r->peak);
  lua_setfield(L, -2, "peak");
  lua_pushinteger(L, (lua_Integer)r->output);
  lua_setfield(L, -2, "output");
  lua_pushnumber(L, r->seconds);
  lua_setfield(L, -2, "seconds");
}

/* child:poll(): nil while it runs, then once how it ended: { exit =, signal =, reason =, log_error =, peak =,
 * output =, seconds =, lost = }. lost: the supervisor was killed or stopped, and the child killed; nothing else is
 * known. */
static int child_poll(lua_State *L) {
  child *self = check_child(L);
  supervisor_report report = {.signal = SIGKILL};
  if (self->control_fd < 0) return 0;
  ssize_t got = recv(self->control_fd, &report, sizeof report, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    if (!is_silent(self, SILENT_SECONDS)) return 0;
    kill(self->supervisor, SIGKILL);
  }
  bool lost = got != (ssize_t)sizeof report;
  if (lost) report = (supervisor_report){.signal = SIGKILL};
  await_supervisor(self);
  push_report(L, &report, lost);
  return 1;
}

static int order_end(lua_State *L, const char *word) {
  child *self = check_child(L);
  if (self->control_fd >= 0) send(self->control_fd, word, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  return 0;
}

/* child:interrupt(): SIGINT, after its grace SIGTERM, then SIGKILL. */
static int child_interrupt(lua_State *L) {
  return order_end(L, "i");
}

/* child:kill(): at once, with all that is below it. */
static int child_kill(lua_State *L) {
  return order_end(L, "k");
}

/* The supervisor sees the control socket closed and kills what it keeps. */
static int child_close(lua_State *L) {
  child *self = check_child(L);
  if (self->control_fd >= 0) await_supervisor(self);
  return 0;
}

void host_child_class(lua_State *L) {
  static const luaL_Reg methods[] = {
      {"poll", child_poll},  {"interrupt", child_interrupt}, {"kill", child_kill}, {"close", child_close},
      {"__gc", child_close}, {"__close", child_close},       {NULL, NULL}};
  luaL_newmetatable(L, CHILD);
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}

/* host.wait(children, seconds): a list of children; returns when one of them has ended, after a signal, or after so
 * long. */
int host_wait(lua_State *L) {
  struct pollfd polls[MOST_WORDS];
  nfds_t count = 0;
  luaL_checktype(L, 1, LUA_TTABLE);
  double seconds = luaL_checknumber(L, 2);
  while (count < MOST_WORDS && lua_rawgeti(L, 1, (lua_Integer)count + 1) == LUA_TUSERDATA) {
    child *one = luaL_checkudata(L, -1, CHILD);
    polls[count++] = (struct pollfd){.fd = one->control_fd, .events = POLLIN};
    lua_pop(L, 1);
  }
  poll(polls, count, (int)(seconds * 1000));
  return 0;
}
