/* SPDX-License-Identifier: MIT
 *
 * What each OS thread that runs blocks has of its own. Everything big is made at its first use, so that an idle device
 * stays small. */
#undef _FORTIFY_SOURCE /* its longjmp check refuses to leave a fiber */
#include "core/backend/cpu/worker.h"

#include "core/backend/cpu/away.h"
#include "core/backend/cpu/block.h"
#include "core/backend/cpu/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SIGNAL_STACK = 64 << 10, THREAD_STACK = 8 << 20, TEXT_MOST = 1 << 20 };

__thread cpu_worker *cpu_current __attribute__((tls_model("initial-exec")));

double cpu_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

cpu_worker *cpu_worker_make(cpu_device *device) {
  cpu_worker *worker = mw_calloc(1, sizeof *worker);
  worker->device = device;
  worker->signal_stack = mw_malloc(SIGNAL_STACK); /* here: on a busy machine its thread may begin late */
  return worker;
}

static size_t page_bytes(void) {
  return (size_t)sysconf(_SC_PAGESIZE);
}

static void shared_free(cpu_shared *shared) {
  if (shared->map) munmap(shared->map, shared->room + 2 * (size_t)CPU_SHARED_GUARD);
  *shared = (cpu_shared){0};
}

void cpu_worker_free(cpu_worker *worker) {
  if (!worker) return;
  if (worker->crew) cpu_crew_free(worker->crew);
  cpu_away_free(worker->away);
  shared_free(&worker->dynamic);
  shared_free(&worker->fixed);
  mw_free(worker->signal_stack);
  mw_free(worker->text);
  mw_free(worker);
}

static void make_timer(cpu_worker *worker) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = cpu_fault_abort_signal()};
#ifdef sigev_notify_thread_id
  event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
#else
  event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
#endif
  worker->has_timer = timer_create(CLOCK_MONOTONIC, &event, &worker->timer) == 0;
}

/* A fiber that overflows its stack has none left for a handler. A stack that is there already stays. */
static void lend_signal_stack(cpu_worker *worker) {
  stack_t now;
  if (sigaltstack(NULL, &now) || !(now.ss_flags & SS_DISABLE)) return;
  stack_t mine = {.ss_sp = worker->signal_stack, .ss_size = SIGNAL_STACK};
  worker->stack_lent = sigaltstack(&mine, NULL) == 0;
}

void cpu_worker_attach(cpu_worker *worker, bool with_timer) {
  worker->thread = pthread_self();
  lend_signal_stack(worker);
  if (with_timer) make_timer(worker);
  worker->attached = true;
}

void cpu_worker_detach(cpu_worker *worker) {
  if (!worker->attached) return;
  if (worker->stack_lent && pthread_equal(worker->thread, pthread_self())) {
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    worker->stack_lent = false;
  }
  if (worker->has_timer) timer_delete(worker->timer);
  worker->has_timer = worker->attached = false;
}

int cpu_thread_start(pthread_t *thread, void *(*run)(void *), void *argument) {
  sigset_t all, before;
  pthread_attr_t attributes;
  sigfillset(&all);
  const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, cpu_fault_abort_signal()};
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&all, faults[i]);
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, THREAD_STACK); /* reserved, not used */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int failed = pthread_create(thread, &attributes, run, argument);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return failed;
}

/* ---- running --------------------------------------------------------------------------------------------------- */

/* Opens the last bytes in front of the guard. NULL: the system gives no memory. */
static char *shared_memory(cpu_shared *shared, size_t bytes, size_t align) {
  const size_t page = page_bytes(), wanted = (bytes + align - 1) / align * align;
  const size_t open = (wanted + page - 1) / page * page;
  if (shared->bytes == bytes && shared->at) return shared->at;
  if (open > shared->room) {
    shared_free(shared);
    const size_t room = open > CPU_SHARED_MOST + page ? open : (CPU_SHARED_MOST / page + 1) * page;
    char *map =
        mmap(NULL, room + 2 * (size_t)CPU_SHARED_GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) return NULL;
    *shared = (cpu_shared){.map = map, .room = room};
  }
  char *low = shared->map + CPU_SHARED_GUARD, *end = low + shared->room;
  mprotect(low, shared->room - open, PROT_NONE);
  if (mprotect(end - open, open, PROT_READ | PROT_WRITE)) return NULL;
  shared->bytes = bytes;
  return shared->at = end - wanted;
}

bool cpu_shared_beside(const cpu_shared *shared, uintptr_t address) {
  const uintptr_t low = (uintptr_t)shared->map, at = (uintptr_t)shared->at;
  if (!shared->map || address - low >= shared->room + 2 * (size_t)CPU_SHARED_GUARD) return false;
  return address < at || address >= at + shared->bytes;
}

/* extern __shared__ memory is 16-byte aligned, as CUDA's is at least. A launch that asked for none has none, not that
 * of an earlier one. */
static void give_shared(cpu_worker *worker, const cpu_grid *grid) {
  const mw_shared_layout *fixed = grid->table ? grid->table->shared : NULL;
  const size_t bytes = grid->abi.dynamic_shared;
  worker->lent.dynamic_shared = bytes ? shared_memory(&worker->dynamic, bytes, 16) : NULL;
  if (fixed && fixed->bytes)
    worker->lent.static_shared = shared_memory(&worker->fixed, (size_t)fixed->bytes, (size_t)fixed->align);
}

void cpu_worker_enter(cpu_worker *worker, cpu_grid *grid) {
  atomic_store_explicit(&worker->grid, grid, memory_order_relaxed);
  if (!grid->unit) return;
  give_shared(worker, grid);
  if (grid->unit->thread && grid->unit->needs_fibers && !worker->crew) worker->crew = cpu_crew_make(worker);
}

static void write_out(cpu_worker *worker) {
  if (!worker->text_used) return;
  fwrite(worker->text, 1, worker->text_used, stdout);
  fflush(stdout);
  worker->text_used = 0;
}

void cpu_worker_leave(cpu_worker *worker) {
  write_out(worker);
  atomic_store_explicit(&worker->grid, NULL, memory_order_relaxed);
}

/* A fault came back through the trap, perhaps from a fiber. */
static void settle(cpu_worker *worker) {
  worker->armed = worker->busy = 0;
  worker->plain = NULL;
  if (worker->away && worker->away->there) cpu_away_left(worker->away);
  if (!worker->in_crew) return;
  cpu_fiber_escaped(&worker->crew->home);
  worker->crew->dirty = true;
  worker->in_crew = false;
}

/* Fibers have stacks of their own; copies and fills overrun nothing. */
static bool runs_away(const cpu_grid *grid) {
  return grid->unit && (grid->unit->run || !grid->unit->needs_fibers);
}

bool cpu_worker_run(cpu_worker *worker, cpu_grid *grid, unsigned long long first, unsigned long long last) {
  worker->fault.kind = CPU_FAULT_NONE;
  if (_setjmp(worker->trap)) {
    settle(worker);
    return false;
  }
  worker->lent.block = first; /* until the unit notes its own: a large frame overflows the stack before it does */
  worker->lent.blocks = last - first;
  worker->first = first;
  worker->last = last;
  const bool away = runs_away(grid);
  if (away && !cpu_away_prepare(worker)) return false;
  worker->armed = 1;
  atomic_signal_fence(memory_order_seq_cst);
  if (cpu_grid_stopped(grid)) /* a Ctrl-C from before found nothing armed to end */
    worker->fault.kind = CPU_FAULT_ABORTED;
  else if (away)
    cpu_away_run(worker, grid, first, last);
  else
    grid->run(grid, worker, first, last);
  atomic_signal_fence(memory_order_seq_cst);
  worker->armed = 0;
  return worker->fault.kind == CPU_FAULT_NONE;
}

/* ---- printing -------------------------------------------------------------------------------------------------- */

static void make_room(cpu_worker *worker, size_t more) {
  if (worker->text_used > TEXT_MOST) write_out(worker);
  if (worker->text_used + more <= worker->text_size) return;
  worker->text_size = (worker->text_used + more) * 2;
  worker->text = mw_realloc(worker->text, worker->text_size);
}

/* Formats into the worker's own buffer: a bad %s is then the kernel's fault and nobody's lock stays taken. */
int cpu_worker_print(cpu_worker *worker, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (length < 0 || worker->mute) return length;
  worker->busy = 1;
  make_room(worker, (size_t)length + 1);
  vsnprintf(worker->text + worker->text_used, (size_t)length + 1, format, args);
  worker->text_used += (size_t)length;
  worker->busy = 0;
  return length;
}
