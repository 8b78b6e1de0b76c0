/* SPDX-License-Identifier: MIT
 *
 * The supervisor of one process. It is the subreaper of everything below it, so whatever a process starts and leaves
 * stays within reach. When our end of the control socket closes, however we died, it kills them all. Group and session
 * do not hold them: a process may leave both. */
#include "core/host/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/host/disk_use.h"
#include "core/host/held.h"
#include "core/host/memory_group.h"
#include "core/host/process_tree.h"
#include "core/host/sandbox.h"

enum { TICK_MS = 50, CROWDED_MS = 5, MOST_REAPED = 64, CHUNK = 65536, ENTRIES = 64 };

static const double SCAN_SECONDS = 0.25; /* /proc is read that often at most, unless births are many */
static const uint64_t MANY_BIRTHS = 64;
static const double WALK_SECONDS = 5e-3, REST_SECONDS = 0.25; /* of a tick for the folder's files, and between walks */
static const double HELD_SHARE = 0.05;                        /* of the time, for descriptors at most */
static const double STUCK_SECONDS = 20; /* a process that a driver holds does not die of SIGKILL */

typedef enum phase { RUNNING, ASKED, TOLD, KILLED } phase;

static struct {
  const supervisor_order *order;
  pid_t pid, inner; /* in a sandbox: bwrap, and the first process inside, whose group the command is in */
  bool ended, crowded, apart, more_dead;
  phase phase;
  int output, log, sigchld_fd; /* files */
  double begun, phase_since, scanned, checked;
  uint64_t births, alive_before;
  process_tree below;
  held held;
  double held_next, walk_next;
  dev_t disk;
  disk_use walk;
  bool walking;
  int walks_over; /* the limit, one after the other */
  supervisor_report report;
} supervisor = {.output = -1, .log = -1, .sigchld_fd = -1};

const char *supervisor_reason_name(supervisor_reason reason) {
  static const char *const names[] = {NULL,   "time",  "memory",      "output",  "processes",
                                      "disk", "files", "interrupted", "orphaned"};
  return names[reason];
}

/* ---- start ----------------------------------------------------------------------------------------------------- */

/* Keeps the control socket and what is to be held, as small numbers; closes all else, so that no supervisor holds
 * another's. */
static int settle_files(const supervisor_order *order) {
  int kept[SUPERVISOR_HELD + 1] = {order->control_fd};
  memcpy(kept + 1, order->held, sizeof order->held);
  for (int i = 0; i <= SUPERVISOR_HELD; i++) /* first out of the way of each other */
    if (kept[i] >= 0) kept[i] = fcntl(kept[i], F_DUPFD_CLOEXEC, 64);
  int next = 3;
  for (int i = 0; i <= SUPERVISOR_HELD; i++)
    if (kept[i] >= 0) dup3(kept[i], next++, O_CLOEXEC);
  closefrom(next);
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < 3; fd++) dup2(nothing, fd);
  close(nothing);
  return 3;
}

static void settle_signals(void) {
  static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU};
  sigset_t sigchld_fd;
  for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
  signal(SIGCHLD, SIG_DFL);
  sigemptyset(&sigchld_fd);
  sigaddset(&sigchld_fd, SIGCHLD);
  sigprocmask(SIG_SETMASK, &sigchld_fd, NULL);
  supervisor.sigchld_fd = signalfd(-1, &sigchld_fd, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void limit(int what, uint64_t value) {
  setrlimit(what, &(struct rlimit){.rlim_cur = (rlim_t)value, .rlim_max = (rlim_t)value});
}

static void default_signals(void) {
  sigset_t none;
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Whether a variable, "NAME=value", has one of these names. */
static bool has_name(const char *pair, const char *const *names) {
  for (; *names; names++) {
    size_t length = strcspn(*names, "*");
    if (strncmp(pair, *names, length) == 0 && ((*names)[length] || pair[length] == '=')) return true;
  }
  return false;
}

static void settle_environment(const supervisor_order *order) {
  char **to = environ;
  for (char **from = environ; order->pass && *from; from++)
    if (has_name(*from, order->pass)) *to++ = *from;
  if (order->pass) *to = NULL;
  for (const char *const *pair = order->env; *pair; pair++) putenv((char *)*pair);
}

/* In the new process: its own session (no terminal to read from; its share of the processor is then counted
 * apart from ours, however many it becomes), the limits, the streams, the program. */
static _Noreturn void become(const supervisor_order *order, pid_t parent, int output) {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* should the supervisor itself be killed */
  if (getppid() != parent) _exit(127);
  default_signals();
  limit(RLIMIT_CORE, 0);
  if (order->data) limit(RLIMIT_DATA, order->data);
  settle_environment(order);
  memory_group_enter();
  dup2(output, 1);
  dup2(output, 2);
  if (order->view)
    sandbox_exec(order->view, order->memory, order->argv);
  else
    execv(order->path, (char *const *)order->argv);
  dprintf(2, "cannot run '%s': %s\n", order->view ? "bwrap" : order->path, strerror(errno)); /* or what it needs */
  _exit(127);
}

static void start(const supervisor_order *order) {
  int ends[2];
  struct stat place = {0};
  if (pipe2(ends, O_CLOEXEC) != 0) _exit(1);
  if (order->log) supervisor.log = open(order->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (order->log && supervisor.log < 0) supervisor.report.log_error = errno;
  pid_t parent = getpid();
  if (order->memory && order->folder) memory_group_open();
  if (order->folder && stat(order->folder, &place) == 0) supervisor.disk = place.st_dev;
  supervisor.begun = supervisor.checked = mw_clock();
  supervisor.alive_before = process_tree_count().alive;
  supervisor.pid = fork();
  if (supervisor.pid < 0) _exit(1);
  if (supervisor.pid == 0) become(order, parent, ends[1]);
  close(ends[1]);
  supervisor.output = ends[0];
  fcntl(supervisor.output, F_SETFL, O_NONBLOCK);
}

/* ---- the end of it --------------------------------------------------------------------------------------------- */

/* The group of the command: outside a sandbox what we started leads it. */
static pid_t group(void) {
  static process_tree inside;
  if (!supervisor.order->view) return supervisor.pid;
  if (!supervisor.inner) {
    process_tree_find(&inside, supervisor.pid, 1);
    supervisor.inner = inside.count ? inside.members[0] : 0;
  }
  return supervisor.inner ? supervisor.inner : supervisor.pid;
}

static void signal_group(int number) {
  if (kill(-group(), number) != 0 && !supervisor.ended) kill(supervisor.pid, number); /* it is not a group yet */
}

static void enter(phase next) {
  static const int signals[] = {0, SIGINT, SIGTERM, SIGKILL};
  supervisor.phase = next;
  supervisor.phase_since = mw_clock();
  signal_group(signals[next]);
}

/* In order (SIGINT first, so that it can write its record) or at once. The first reason is the one that counts. */
static void stop(supervisor_reason reason, bool at_once) {
  if (supervisor.report.reason == SUPERVISOR_NONE) supervisor.report.reason = reason;
  if (at_once && supervisor.phase < KILLED)
    enter(KILLED);
  else if (supervisor.phase == RUNNING)
    enter(ASKED);
}

static void escalate(void) {
  bool late = mw_clock() - supervisor.phase_since >= supervisor.order->grace;
  if (late && (supervisor.phase == ASKED || supervisor.phase == TOLD)) enter(supervisor.phase + 1);
}

static void note_end(int how) {
  supervisor_report *report = &supervisor.report;
  supervisor.ended = true;
  report->seconds = mw_clock() - supervisor.begun;
  report->exit = WIFEXITED(how) ? WEXITSTATUS(how) : 0;
  report->signal = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
  if (!supervisor.order->view || !sandbox_signal(report->exit)) return;
  report->signal = sandbox_signal(report->exit);
  report->exit = 0;
}

static void note_peak(uint64_t bytes) {
  if (bytes > supervisor.report.peak) supervisor.report.peak = bytes;
}

/* False when no process is left to wait for. Takes a few at a time: where processes die as fast as they begin, the
 * limits must have their turn. */
static bool reap(void) {
  struct rusage used;
  int how;
  pid_t pid = 0;
  atomic_fetch_add(supervisor.order->beat, 1); /* whatever else is done, this is */
  for (int i = 0; i < MOST_REAPED && (pid = wait4(-1, &how, WNOHANG, &used)) > 0; i++) {
    note_peak((uint64_t)used.ru_maxrss << 10);
    if (pid == supervisor.pid) note_end(how);
  }
  supervisor.more_dead = pid > 0;
  return pid >= 0;
}

/* Every process below us has one of our children above it, so without children all are gone. */
static void kill_all(void) {
  double since = mw_clock();
  signal_group(SIGKILL);
  while (reap() && mw_clock() - since < STUCK_SECONDS) {
    if (supervisor.more_dead) continue;
    process_tree_find(&supervisor.below, getpid(), PROCESS_TREE_MOST);
    process_tree_kill(&supervisor.below, SIGKILL);
    usleep(1000);
  }
}

/* ---- limits ---------------------------------------------------------------------------------------------------- */

static void write_log(const char *bytes, size_t size) {
  while (size > 0 && supervisor.log >= 0) {
    ssize_t put = write(supervisor.log, bytes, size);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      supervisor.report.log_error = errno; /* a full disk costs the log, not the process */
      close(supervisor.log);
      supervisor.log = -1;
      return;
    }
    bytes += put;
    size -= (size_t)put;
  }
}

/* Takes what there is; what goes beyond the limit is read and forgotten, so that the writer does not hang. */
static void collect_output(void) {
  static char bytes[CHUNK];
  uint64_t most = supervisor.order->output ? supervisor.order->output : UINT64_MAX;
  ssize_t got = 0;
  for (int i = 0; i < 16 && supervisor.output >= 0 && (got = read(supervisor.output, bytes, sizeof bytes)) > 0; i++) {
    uint64_t room = most > supervisor.report.output ? most - supervisor.report.output : 0;
    write_log(bytes, (uint64_t)got < room ? (size_t)got : (size_t)room);
    supervisor.report.output += (uint64_t)got;
    if (supervisor.report.output > most) stop(SUPERVISOR_OUTPUT, false);
  }
  if (got == 0 && supervisor.output >= 0) { /* all writers have closed it */
    close(supervisor.output);
    supervisor.output = -1;
  }
}

/* One more than there may be is all that matters. */
static size_t most_processes(void) {
  uint64_t most = supervisor.order->processes;
  return most && most < PROCESS_TREE_MOST ? (size_t)most + 1 : PROCESS_TREE_MOST;
}

/* What multiplies would outrun the reading of /proc and take the processor it needs: it stands still meanwhile. */
static void look_at_rest(void) {
  signal_group(SIGSTOP);
  process_tree_find(&supervisor.below, getpid(), most_processes());
  if (supervisor.below.count < most_processes()) signal_group(SIGCONT);
}

/* Reads /proc only where a process may have begun. */
static void look_below(void) {
  process_tree_census count = process_tree_count();
  if (count.births == supervisor.births) return;
  supervisor.crowded = count.births - supervisor.births > MANY_BIRTHS;
  if (!supervisor.crowded && mw_clock() - supervisor.scanned < SCAN_SECONDS) return;
  bool too_many = supervisor.order->processes && count.alive > supervisor.alive_before + supervisor.order->processes;
  if (too_many && supervisor.crowded)
    look_at_rest();
  else
    process_tree_find(&supervisor.below, getpid(), most_processes());
  supervisor.births = count.births;
  supervisor.scanned = mw_clock();
}

/* ---- what is held in memory and on the disk ---------------------------------------------------------------------- */

static void look_at_held(void) {
  const supervisor_order *order = supervisor.order;
  double since = mw_clock();
  if (!(order->memory || order->folder) || since < supervisor.held_next) return;
  supervisor.held = held_by(&supervisor.below, supervisor.disk);
  supervisor.held_next = mw_clock() + (mw_clock() - since) / HELD_SHARE;
}

/* What is mapped of memory in files counts twice so far, which matters only at the limit. */
static uint64_t memory_held(void) {
  uint64_t resident = process_tree_memory(&supervisor.below), most = supervisor.order->memory;
  uint64_t counted = memory_group_bytes(), in_files = supervisor.held.memory;
  if (counted) return counted > resident ? counted : resident;
  if (!most || resident + in_files <= most) return resident;
  uint64_t mapped = held_mapped(&supervisor.below);
  return resident + (in_files > mapped ? in_files - mapped : 0);
}

/* The limit of the folder that a walk has met so far, if it has. */
static supervisor_reason disk_reason(void) {
  const supervisor_order *order = supervisor.order;
  if (order->disk && supervisor.walk.bytes + supervisor.held.disk > order->disk) return SUPERVISOR_DISK;
  if (order->files && supervisor.walk.files > order->files) return SUPERVISOR_FILES;
  return supervisor.walk.unseen || supervisor.held.descriptors > HELD_MOST ? SUPERVISOR_FILES : SUPERVISOR_NONE;
}

/* A part of a walk. A file that is moved may be met twice, so that a second walk has to find the same. */
static void look_at_disk(void) {
  double since = mw_clock();
  if (!supervisor.order->folder || since < supervisor.walk_next) return;
  if (!supervisor.walking) supervisor.walking = disk_use_begin(&supervisor.walk, supervisor.order->folder);
  bool more = supervisor.walking;
  while (more && disk_reason() == SUPERVISOR_NONE && mw_clock() - since < WALK_SECONDS)
    more = disk_use_go_on(&supervisor.walk, ENTRIES);
  supervisor_reason reason = disk_reason();
  if (more && reason == SUPERVISOR_NONE) return;
  disk_use_end(&supervisor.walk);
  supervisor.walking = false;
  supervisor.walks_over = reason == SUPERVISOR_NONE ? 0 : supervisor.walks_over + 1;
  supervisor.walk_next = mw_clock() + (reason == SUPERVISOR_NONE ? REST_SECONDS : 0);
  if (supervisor.walks_over > 1) stop(reason, true);
}

/* What it leaves, now that nothing of it is left to write. */
static void judge_disk(void) {
  disk_use_end(&supervisor.walk);
  if (!supervisor.order->folder || supervisor.report.reason != SUPERVISOR_NONE) return;
  supervisor.held = (held){0};
  disk_use_begin(&supervisor.walk, supervisor.order->folder);
  while (disk_reason() == SUPERVISOR_NONE && disk_use_go_on(&supervisor.walk, ENTRIES))
    atomic_fetch_add(supervisor.order->beat, 1);
  supervisor.report.reason = disk_reason();
  disk_use_end(&supervisor.walk);
}

/* Its own session, so that a signal to our parent's group does not reach us, and the scheduler counts us
 * apart. It costs a millisecond or two, which a process that has ended before the first tick need not pay; a
 * terminal's Ctrl-C is ignored from the start. */
static void stand_apart(void) {
  if (!supervisor.apart) setsid();
  supervisor.apart = true;
}

static void check_limits(void) {
  const supervisor_order *order = supervisor.order;
  supervisor.checked = mw_clock();
  stand_apart();
  if (order->seconds > 0 && mw_clock() - supervisor.begun >= order->seconds) stop(SUPERVISOR_TIME, false);
  look_below();
  if (order->processes && supervisor.below.count > order->processes) return stop(SUPERVISOR_PROCESSES, true);
  look_at_held();
  look_at_disk();
  uint64_t memory = memory_held();
  note_peak(memory);
  if (order->memory && memory > order->memory) stop(SUPERVISOR_MEMORY, true);
}

/* ---- the loop -------------------------------------------------------------------------------------------------- */

static void hear(int control_fd) {
  char word = 0;
  ssize_t got = recv(control_fd, &word, 1, MSG_DONTWAIT);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) stop(SUPERVISOR_ORPHANED, true);
  if (got == 1) stop(SUPERVISOR_INTERRUPTED, word == 'k');
}

static int pause_ms(void) {
  double left = supervisor.order->seconds > 0 ? supervisor.begun + supervisor.order->seconds - mw_clock() : TICK_MS;
  if (supervisor.crowded || supervisor.more_dead) return CROWDED_MS;
  return supervisor.phase != RUNNING || left * 1000 > TICK_MS ? TICK_MS : left > 0 ? (int)(left * 1000) + 1 : 1;
}

static bool is_stuck(void) {
  return supervisor.phase == KILLED && mw_clock() - supervisor.phase_since > STUCK_SECONDS;
}

static void watch(int control_fd) {
  struct signalfd_siginfo death;
  while (!supervisor.ended && !is_stuck()) {
    struct pollfd polls[3] = {
        {control_fd, POLLIN, 0}, {supervisor.output, POLLIN, 0}, {supervisor.sigchld_fd, POLLIN, 0}};
    int events = poll(polls, 3, pause_ms());
    if (events > 0 && polls[2].revents) read(supervisor.sigchld_fd, &death, sizeof death); /* signals do not queue */
    reap(); /* before the control socket: an end that came first counts, even if no one is left to read it */
    if (supervisor.ended) return;
    if (events > 0 && polls[0].revents) hear(control_fd);
    if (events > 0 && polls[1].revents) collect_output();
    if (mw_clock() - supervisor.checked >= 1e-3 * (supervisor.crowded ? CROWDED_MS : TICK_MS)) check_limits();
    escalate();
  }
}

/* How it ended, for a later reader: our own parent may be gone. */
static void leave_note(const char *path) {
  const supervisor_report *r = &supervisor.report;
  char part[4096], text[256];
  if (!path || r->reason == SUPERVISOR_ORPHANED) return;
  if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part) return;
  int length = snprintf(text, sizeof text, "exit %d\nsignal %d\nreason %s\nseconds %.6f\npeak %llu\noutput %llu\n",
                        r->exit, r->signal, r->reason ? supervisor_reason_name(r->reason) : "none", r->seconds,
                        (unsigned long long)r->peak, (unsigned long long)r->output);
  int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool whole = fd >= 0 && write(fd, text, (size_t)length) == length;
  if (fd >= 0) close(fd);
  if (!whole || rename(part, path) != 0) unlink(part);
}

void supervisor_run(const supervisor_order *order) {
  supervisor.order = order;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  int control_fd = settle_files(order);
  settle_signals();
  start(order);
  watch(control_fd);
  kill_all();
  memory_group_close();
  collect_output();
  judge_disk();
  if (!supervisor.ended) supervisor.report.signal = SIGKILL;
  leave_note(order->ended);
  send(control_fd, &supervisor.report, sizeof supervisor.report, MSG_NOSIGNAL);
  _exit(0);
}
