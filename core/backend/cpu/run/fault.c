/* SPDX-License-Identifier: MIT
 *
 * Signal handlers. A fault on a thread that is inside a kernel is noted in its worker and left by longjmp; a fault
 * anywhere else is the previous handler's. Faults are handled with SA_NODEFER and an empty mask, so that nothing has to
 * be unblocked after the jump; the signal that ends a block is blocked meanwhile, and on_abort unblocks it. */
#undef _FORTIFY_SOURCE /* its longjmp check forbids leaving a fiber */
#include "core/backend/cpu/run/machine.h"

#include "core/base/interrupt.h"

#include <string.h>
#include <ucontext.h>

static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
enum { CAUGHT = sizeof caught / sizeof *caught };
enum { UNIT_REACH = 1 << 16 }; /* bytes before its variables that are the unit's own */
static const struct timespec GRACE = {.tv_nsec = 200000000}, AGAIN = {.tv_nsec = 50000000};

static struct sigaction previous[CAUGHT], previous_abort;
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static int installed;

atomic_uint cpu_interrupts;

/* ---- stopping a grid ------------------------------------------------------------------------------------------- */

void cpu_stop_begin(cpu_stop *stop) {
  atomic_init(&stop->why, CPU_GOING);
  stop->interrupts = atomic_load_explicit(&cpu_interrupts, memory_order_relaxed);
}

bool cpu_stopped(cpu_stop *stop) {
  if (atomic_load_explicit(&mw_interrupted, memory_order_relaxed) ||
      atomic_load_explicit(&cpu_interrupts, memory_order_relaxed) != stop->interrupts) {
    int going = CPU_GOING;
    atomic_compare_exchange_strong(&stop->why, &going, CPU_STOP_INTERRUPT);
  }
  return atomic_load_explicit(&stop->why, memory_order_relaxed) != CPU_GOING;
}

void cpu_stop_by(cpu_stop *stop, const cpu_fault *fault) {
  int going = CPU_GOING;
  if (fault->kind == CPU_FAULT_ABORTED) return;
  if (atomic_compare_exchange_strong(&stop->why, &going, CPU_STOP_FAULT)) stop->fault = *fault;
}

/* ---- leaving a kernel ------------------------------------------------------------------------------------------ */

void cpu_fault_leave(cpu_worker *worker) {
  worker->armed = 0; /* a signal on the way out finds nothing left to leave */
  if (worker->in_fibers || worker->kernel_stack.there) cpu_fiber_escape(&worker->home);
  _longjmp(worker->trap, 1);
}

/* ---- what the processor reports -------------------------------------------------------------------------------- */

static void note_direction(cpu_fault *fault, const ucontext_t *context) {
#if defined(__x86_64__)
  fault->direction_known = context->uc_mcontext.gregs[REG_TRAPNO] == 14;
  fault->write = context->uc_mcontext.gregs[REG_ERR] & 2;
#else
  (void)context;
  fault->direction_known = false;
#endif
}

static bool between(uintptr_t address, const char *low, size_t bytes) {
  return address - (uintptr_t)low < bytes;
}

static uintptr_t instruction(const ucontext_t *context) {
#if defined(__x86_64__)
  return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#else
  return context->uc_mcontext.pc;
#endif
}

static uintptr_t stack_pointer(const ucontext_t *context) {
#if defined(__x86_64__)
  return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#else
  return context->uc_mcontext.sp;
#endif
}

/* The guards below and above the stack that the kernel runs on. Below it is an overflow where the stack pointer has
 * come there as well; an index of some array can be anything. */
static bool beside_stack(const cpu_worker *worker, cpu_fault *fault, const ucontext_t *context) {
  if (!worker->in_fibers && !worker->kernel_stack.there) return false;
  const cpu_stack stack =
      worker->in_fibers ? cpu_fibers_lane(worker->fibers)->fiber.stack : worker->kernel_stack.fiber.stack;
  const uintptr_t low = (uintptr_t)stack.low, page = cpu_page_bytes();
  const bool at_end = stack_pointer(context) < low + page; /* a large frame goes on far below */
  if (between(fault->address, stack.low - stack.guard_below, stack.guard_below) && at_end) {
    fault->target = CPU_TARGET_UNDER;
    return true;
  }
  if (!between(fault->address, stack.low + stack.bytes, stack.guard_above)) return false;
  fault->target = CPU_TARGET_LOCAL;
  fault->base = low;
  fault->bytes = stack.bytes;
  return true;
}

static bool in_guards(const cpu_shared *shared, uintptr_t address) {
  const uintptr_t at = (uintptr_t)shared->at;
  if (!shared->map || !between(address, shared->map, shared->room + 2 * (size_t)CPU_SHARED_GUARD)) return false;
  return address < at || address >= at + shared->bytes;
}

static void beside_shared(const cpu_worker *worker, cpu_fault *fault) {
  const bool dynamic = in_guards(&worker->dynamic, fault->address);
  if (!dynamic && !in_guards(&worker->fixed, fault->address)) return;
  const cpu_shared *shared = dynamic ? &worker->dynamic : &worker->fixed;
  fault->target = dynamic ? CPU_TARGET_DYNAMIC : CPU_TARGET_STATIC;
  fault->base = (uintptr_t)shared->at;
  fault->bytes = shared->bytes;
}

/* The unit's variable with the lowest or the highest address. */
static const mw_unit_variable *outermost(const mw_unit_table *table, bool highest) {
  const mw_unit_variable *found = table->variables;
  for (unsigned i = 1; i < table->nvariables; i++)
    if ((table->variables[i].address > found->address) == highest) found = &table->variables[i];
  return found;
}

/* The guard after the variables of the unit that runs, or what the linker has put before them. Which variable the
 * index was of cannot be told: the outermost is the nearest. */
static bool beside_variables(const cpu_worker *worker, cpu_fault *fault) {
  const cpu_grid *grid = atomic_load(&worker->grid);
  const mw_unit_table *table = grid ? grid->table : NULL;
  if (!table || !table->nvariables) return false;
  const bool after = between(fault->address, table->guard, table->guard_bytes);
  const mw_unit_variable *variable = outermost(table, after);
  if (!after && !between(fault->address, (const char *)variable->address - UNIT_REACH, UNIT_REACH)) return false;
  fault->target = CPU_TARGET_VARIABLE;
  fault->base = (uintptr_t)variable->address;
  fault->bytes = variable->bytes;
  fault->variable = variable;
  return true;
}

/* The instruction itself could not be fetched, or a return found an address that none can have. */
static bool without_code(const cpu_fault *fault, const ucontext_t *context) {
  const uintptr_t at = instruction(context);
#if defined(__x86_64__)
  if (!fault->direction_known)
    return fault->signal == SIGSEGV && (*(const unsigned char *)at == 0xc3 || *(const unsigned char *)at == 0xc2);
#endif
  return fault->address == at;
}

static void note_target(cpu_worker *worker, const ucontext_t *context) {
  cpu_fault *fault = &worker->fault;
  fault->target = CPU_TARGET_ARRAY;
  fault->base = fault->bytes = 0;
  if (fault->signal != SIGSEGV && fault->signal != SIGBUS) return;
  if (without_code(fault, context))
    fault->target = CPU_TARGET_NO_CODE;
  else if (!beside_stack(worker, fault, context) && !beside_variables(worker, fault))
    beside_shared(worker, fault);
}

void cpu_fault_place(cpu_worker *worker) {
  cpu_fault *fault = &worker->fault;
  fault->block = *(volatile unsigned long long *)&worker->ctx.block;
  fault->blocks = *(volatile unsigned long long *)&worker->ctx.blocks;
  const mw_thread *thread = worker->in_fibers ? &cpu_fibers_lane(worker->fibers)->thread : worker->plain;
  fault->has_thread = thread != NULL;
  if (thread) fault->thread = thread->thread_idx;
}

static void note(cpu_worker *worker, int number, const siginfo_t *info, const ucontext_t *context) {
  cpu_fault *fault = &worker->fault;
  fault->kind = CPU_FAULT_SIGNAL;
  fault->signal = number;
  fault->code = info->si_code;
  fault->address = (uintptr_t)info->si_addr;
  fault->place = (const char *)instruction(context) + 1;
  note_direction(fault, context);
  note_target(worker, context);
  fault->on_fiber = worker->in_fibers;
  cpu_fault_place(worker);
}

/* Where the pattern has two unlike bytes, arrays begin and end at even addresses. memcmp is for the many bytes in front:
 * at the guard it is slow, where it loads past the end and suppresses the fault. */
uintptr_t cpu_redzone_written(const cpu_redzone *redzone) {
  const unsigned char pattern[] = {(unsigned char)redzone->pattern, (unsigned char)(redzone->pattern >> 8)};
  const unsigned char *start = redzone->start, *low = start - redzone->before;
  if (redzone->was) return memcmp(start, redzone->was, (size_t)(redzone->end - start)) ? (uintptr_t)start : 0;
  for (const unsigned char *at = redzone->end; at < redzone->end + redzone->after; at++)
    if (*at != pattern[(uintptr_t)at % 2]) return (uintptr_t)at;
  if (start - low > 2 && low[0] == pattern[(uintptr_t)low % 2] && low[1] == pattern[(uintptr_t)(low + 1) % 2] &&
      memcmp(low, low + 2, (size_t)(start - low) - 2) == 0)
    return 0;
  for (const unsigned char *at = start; at > low; at--)
    if (at[-1] != pattern[(uintptr_t)(at - 1) % 2]) return (uintptr_t)(at - 1);
  return 0;
}

/* Told as if the guard had caught it. */
void cpu_fault_check_redzone(cpu_worker *worker, const cpu_redzone *redzone) {
  const uintptr_t written = cpu_redzone_written(redzone);
  if (!written) return;
  worker->fault = (cpu_fault){
      .kind = CPU_FAULT_SIGNAL, .signal = SIGSEGV, .address = written, .write = true, .direction_known = true};
  cpu_fault_place(worker);
  cpu_fault_leave(worker);
}

/* ---- handlers -------------------------------------------------------------------------------------------------- */

static void hand_on(int number, siginfo_t *info, void *context) {
  size_t i = 0;
  while (i < CAUGHT && caught[i] != number) i++;
  const struct sigaction *before = &previous[i];
  if (before->sa_flags & SA_SIGINFO)
    before->sa_sigaction(number, info, context);
  else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
    before->sa_handler(number);
  else {
    sigaction(number, before, NULL); /* returns to the same instruction, which now ends the process as usual ... */
    if (info->si_code <= 0) raise(number); /* ... unless somebody sent the signal: then there is none */
  }
}

static void on_fault(int number, siginfo_t *info, void *context) {
  cpu_worker *worker = cpu_current;
  bool ours = worker && worker->armed && info->si_code > 0; /* not by kill() */
  if (!ours) {
    hand_on(number, info, context);
    return;
  }
  worker->armed = 0; /* should noting it fault as well, the process ends and does not come back here for ever */
  note(worker, number, info, context);
  cpu_fault_leave(worker);
}

static void stop_timer(cpu_worker *worker) {
  const struct itimerspec never = {0};
  worker->watched = false;
  if (worker->has_timer) timer_settime(worker->timer, 0, &never, NULL);
}

/* For a handler that does not return: what has queued up meanwhile comes now, and finds nothing to leave. */
static void allow_abort(cpu_worker *worker) {
  sigset_t signals;
  worker->armed = 0;
  sigemptyset(&signals);
  sigaddset(&signals, cpu_thread_abort_signal());
  pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
}

enum { LOOKS = 10 }; /* in the time after which a kernel is named */

static void set_timer(cpu_worker *worker, double seconds) {
  const time_t whole = (time_t)seconds;
  const struct timespec period = {whole, 1 + (long)(1e9 * (seconds - (double)whole))};
  const struct itimerspec timer = {period, period};
  worker->watched = timer_settime(worker->timer, 0, &timer, NULL) == 0;
}

/* Between two looks the launch is the same one, or another; without one the next sets the timer again. */
static void look(cpu_worker *worker) {
  if (!worker->kernel) stop_timer(worker);
  worker->looks = worker->launches == worker->seen ? worker->looks + 1 : 0;
  worker->seen = worker->launches;
  if (worker->kernel && worker->looks == LOOKS) mw_say_waiting(worker->kernel, "is still running; Ctrl-C ends it");
}

void cpu_worker_launches(cpu_worker *worker, const char *kernel) {
  worker->kernel = kernel;
  if (!kernel) return;
  worker->launches++;
  if (worker->watched || !worker->has_timer) return;
  const double patience = mw_patience();
  worker->watched = true;
  if (patience > 0) set_timer(worker, patience / LOOKS);
}

/* Ends the block this thread is in, where its grid is stopped. The signal waits while it is handled: on a busy machine
 * so many queue up for a thread that its signal stack would not hold them one in the other. */
static void on_abort(int number, siginfo_t *info, void *context) {
  (void)number, (void)context;
  cpu_worker *worker = cpu_current, *timed = info->si_code == SI_TIMER ? info->si_value.sival_ptr : NULL;
  if (timed && timed->watched) look(timed);
  if (!worker || !worker->armed) {
    if (worker && !worker->watched) stop_timer(worker);
    return;
  }
  cpu_grid *grid = atomic_load(&worker->grid);
  if (worker->busy || cpu_fiber_between() || !grid || !cpu_stopped(&grid->stop)) return;
  stop_timer(worker);
  worker->fault.kind = CPU_FAULT_ABORTED;
  allow_abort(worker);
  cpu_fault_leave(worker);
}

/* Ctrl-C on the thread that runs a kernel itself: no other thread watches it, so a timer does. */
static void on_interrupt(void) {
  atomic_fetch_add(&cpu_interrupts, 1);
  cpu_worker *worker = cpu_current;
  if (!worker || !worker->armed || !worker->has_timer) return;
  const struct itimerspec soon = {.it_interval = AGAIN, .it_value = GRACE};
  worker->watched = false;
  timer_settime(worker->timer, 0, &soon, NULL);
}

/* ---- installation ---------------------------------------------------------------------------------------------- */

void cpu_fault_install(void) {
  pthread_mutex_lock(&counting);
  if (installed++ == 0) {
    struct sigaction mine = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    for (size_t i = 0; i < CAUGHT; i++) sigaction(caught[i], &mine, &previous[i]);
    mine.sa_sigaction = on_abort;
    mine.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigaction(cpu_thread_abort_signal(), &mine, &previous_abort);
    mw_interrupt_set_hook(on_interrupt);
  }
  pthread_mutex_unlock(&counting);
}

void cpu_fault_remove(void) {
  pthread_mutex_lock(&counting);
  if (--installed == 0) {
    mw_interrupt_set_hook(NULL);
    for (size_t i = 0; i < CAUGHT; i++) sigaction(caught[i], &previous[i], NULL);
    sigaction(cpu_thread_abort_signal(), &previous_abort, NULL);
  }
  pthread_mutex_unlock(&counting);
}
