/* SPDX-License-Identifier: MIT
 *
 * What each OS thread that runs blocks owns. Everything big is made at its first use, so that an idle device
 * stays small. */
#undef _FORTIFY_SOURCE /* its longjmp check forbids leaving a fiber */
#include "core/backend/cpu/run/machine.h"

#include "core/base/memory.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

enum { SIGNAL_STACK = 64 << 10 };

/* ---- life ------------------------------------------------------------------------------------------------------ */

cpu_worker *cpu_worker_make(void) {
  cpu_worker *worker = mw_calloc(1, sizeof *worker);
  worker->signal_stack = mw_malloc(SIGNAL_STACK); /* here: on a busy machine its thread may begin late */
  return worker;
}

static void shared_free(cpu_shared *shared) {
  if (shared->map) munmap(shared->map, shared->room + 2 * (size_t)CPU_SHARED_GUARD);
  *shared = (cpu_shared){0};
}

void cpu_worker_free(cpu_worker *worker) {
  if (!worker) return;
  if (worker->fibers) cpu_fibers_free(worker->fibers);
  cpu_stack_free(&worker->kernel_stack);
  shared_free(&worker->dynamic);
  shared_free(&worker->fixed);
  mw_free(worker->signal_stack);
  mw_free(worker->text.bytes);
  mw_free(worker);
}

/* ---- its OS thread --------------------------------------------------------------------------------------------- */

/* A fiber that overflows its stack has none left for a handler. A stack that is there already stays. */
static void lend_signal_stack(cpu_worker *worker) {
  stack_t now;
  if (sigaltstack(NULL, &now) || !(now.ss_flags & SS_DISABLE)) return;
  stack_t mine = {.ss_sp = worker->signal_stack, .ss_size = SIGNAL_STACK};
  worker->stack_given = sigaltstack(&mine, NULL) == 0;
}

static void take_signal_stack(cpu_worker *worker) {
  const stack_t none = {.ss_flags = SS_DISABLE};
  if (worker->stack_given) sigaltstack(&none, NULL);
  worker->stack_given = false;
}

static void *thread_main(void *argument) {
  cpu_worker *worker = argument;
  lend_signal_stack(worker);
  worker->main(worker->owner, worker);
  take_signal_stack(worker);
  return NULL;
}

int cpu_worker_start(cpu_worker *worker, cpu_worker_main *run, void *owner) {
  worker->main = run;
  worker->owner = owner;
  return cpu_thread_start(&worker->thread, thread_main, worker);
}

void cpu_worker_join(cpu_worker *worker) {
  pthread_join(worker->thread, NULL);
}

/* For the script's own thread: no other thread watches the blocks it runs, so a timer ends them. */
static void make_timer(cpu_worker *worker) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = cpu_thread_abort_signal()};
  event.sigev_value.sival_ptr = worker;
  event._sigev_un._tid = (pid_t)syscall(SYS_gettid); /* sigev_notify_thread_id, which older C libraries do not name */
  worker->has_timer = timer_create(CLOCK_MONOTONIC, &event, &worker->timer) == 0;
}

/* Workers of scripts' threads. Of those of one thread one lends its signal stack, and another one goes on when it ends. */
static cpu_worker *attached;
static pthread_mutex_t attaching = PTHREAD_MUTEX_INITIALIZER;

static void attach(cpu_worker *worker) {
  pthread_mutex_lock(&attaching);
  lend_signal_stack(worker);
  worker->next_attached = attached;
  attached = worker;
  pthread_mutex_unlock(&attaching);
}

static void detach(cpu_worker *worker) {
  pthread_mutex_lock(&attaching);
  cpu_worker **at = &attached;
  while (*at != worker) at = &(*at)->next_attached;
  *at = worker->next_attached;
  if (pthread_equal(worker->thread, pthread_self())) take_signal_stack(worker);
  for (cpu_worker *other = attached; other; other = other->next_attached)
    if (pthread_equal(other->thread, pthread_self())) lend_signal_stack(other);
  pthread_mutex_unlock(&attaching);
}

/* A script may move to another thread (a coroutine library, a test): its worker moves along. */
cpu_worker *cpu_worker_here(cpu_worker *worker) {
  if (worker->attached && pthread_equal(worker->thread, pthread_self())) return worker;
  cpu_worker_detach(worker);
  worker->thread = pthread_self();
  worker->home = (cpu_fiber){0};
  attach(worker);
  make_timer(worker);
  worker->attached = true;
  return worker;
}

void cpu_worker_detach(cpu_worker *worker) {
  if (!worker->attached) return;
  detach(worker);
  if (worker->has_timer) timer_delete(worker->timer);
  worker->has_timer = worker->attached = false;
}

void cpu_worker_evict(cpu_worker *const *workers, int count, const cpu_grid *grid) {
  for (int i = 0; i < count; i++)
    if (atomic_load(&workers[i]->grid) == grid) pthread_kill(workers[i]->thread, cpu_thread_abort_signal());
}

/* ---- running --------------------------------------------------------------------------------------------------- */

/* Opens the last bytes before the guard. NULL: the system gives no memory. */
static char *shared_memory(cpu_shared *shared, size_t bytes, size_t align) {
  const size_t page = cpu_page_bytes(), wanted = (bytes + align - 1) / align * align;
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

/* extern __shared__ memory is 16-byte aligned, as CUDA's is at least. A launch that asked for none has none, not that
 * of an earlier one. */
static void give_shared(cpu_worker *worker, const cpu_grid *grid) {
  const mw_shared_layout *fixed = grid->table ? grid->table->shared : NULL;
  const size_t bytes = grid->abi.dynamic_shared;
  worker->ctx.dynamic_shared = bytes ? shared_memory(&worker->dynamic, bytes, 16) : NULL;
  if (fixed && fixed->bytes)
    worker->ctx.static_shared = shared_memory(&worker->fixed, (size_t)fixed->bytes, (size_t)fixed->align);
}

void cpu_worker_enter(cpu_worker *worker, cpu_grid *grid) {
  worker->outer = cpu_current;
  worker->float_changed = cpu_float_enter(&worker->float_before);
  cpu_current = worker;
  atomic_store_explicit(&worker->grid, grid, memory_order_relaxed);
  cpu_fiber_home(&worker->home);
  if (!grid->unit) return;
  give_shared(worker, grid);
  if (grid->fibers && !worker->fibers) worker->fibers = cpu_fibers_make(worker);
}

void cpu_worker_leave(cpu_worker *worker) {
  cpu_print_flush(&worker->text);
  atomic_store_explicit(&worker->grid, NULL, memory_order_relaxed);
  cpu_current = worker->outer;
  if (worker->float_changed) cpu_float_leave(&worker->float_before);
}

/* A fault came back through the trap, perhaps from another stack. */
static void settle(cpu_worker *worker) {
  worker->armed = worker->busy = 0;
  worker->plain = NULL;
  if (worker->in_fibers || worker->kernel_stack.there) cpu_fiber_escaped(&worker->home);
  worker->in_fibers = worker->kernel_stack.there = false;
}

/* The frames that a fault has left are below this one. AddressSanitizer does not learn of it where the kernel's stack is
 * another one, and would take their marks for those of the functions that come next. */
static void forget_frames(void) {
#if defined(__SANITIZE_ADDRESS__)
  enum { FRAMES = 256 << 10 };
  __asan_unpoison_memory_region((char *)__builtin_frame_address(0) - FRAMES, FRAMES);
#endif
}

bool cpu_worker_run(cpu_worker *worker, unsigned long long first, unsigned long long last) {
  cpu_grid *grid = atomic_load_explicit(&worker->grid, memory_order_relaxed);
  worker->fault.kind = CPU_FAULT_NONE;
  if (_setjmp(worker->trap)) {
    forget_frames();
    settle(worker);
    return false;
  }
  worker->ctx.block = first; /* until the unit notes its own: a large frame overflows the stack before it does */
  worker->ctx.blocks = last - first;
  worker->first = first;
  worker->last = last;
  if (grid->on_kernel_stack && !cpu_stack_prepare(worker)) return false;
  worker->armed = 1;
  atomic_signal_fence(memory_order_seq_cst);
  if (cpu_stopped(&grid->stop)) /* a Ctrl-C from before found nothing armed to end */
    worker->fault.kind = CPU_FAULT_ABORTED;
  else if (grid->on_kernel_stack)
    cpu_stack_run(worker);
  else
    grid->run(grid, worker, first, last);
  atomic_signal_fence(memory_order_seq_cst);
  worker->armed = 0;
  return worker->fault.kind == CPU_FAULT_NONE;
}
