/* SPDX-License-Identifier: MIT
 *
 * OS threads: starting, waiting, the clock, the floating-point mode. */
#include "core/backend/cpu/run/machine.h"

#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

enum { THREAD_STACK = 8 << 20 };

__thread cpu_worker *cpu_current __attribute__((tls_model("initial-exec")));

#if defined(__x86_64__)
enum { DEFAULT_MODE = 0x1f80, STATUS_FLAGS = 0x3f };

bool cpu_float_enter(cpu_float_mode *before) {
  *before = _mm_getcsr();
  if ((*before & ~(unsigned)STATUS_FLAGS) == DEFAULT_MODE) return false;
  _mm_setcsr(DEFAULT_MODE);
  return true;
}

void cpu_float_leave(const cpu_float_mode *before) {
  _mm_setcsr(*before);
}
#else
bool cpu_float_enter(cpu_float_mode *before) {
  fegetenv(before);
  fesetenv(FE_DFL_ENV);
  return true;
}

void cpu_float_leave(const cpu_float_mode *before) {
  fesetenv(before);
}
#endif

size_t cpu_page_bytes(void) {
  return (size_t)sysconf(_SC_PAGESIZE);
}

void cpu_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  __asm__ volatile("" ::: "memory");
#endif
}

void cpu_wait_briefly(pthread_cond_t *cond, pthread_mutex_t *lock, double seconds) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  long long nanoseconds = until.tv_nsec + (long long)(seconds * 1e9);
  until.tv_sec += nanoseconds / 1000000000;
  until.tv_nsec = nanoseconds % 1000000000;
  pthread_cond_clockwait(cond, lock, CLOCK_MONOTONIC, &until);
}

int cpu_thread_abort_signal(void) {
  return SIGRTMIN + 5;
}

int cpu_thread_start(pthread_t *thread, void *(*run)(void *), void *argument) {
  sigset_t all, before;
  pthread_attr_t attributes;
  sigfillset(&all);
  const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, cpu_thread_abort_signal()};
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&all, faults[i]);
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, THREAD_STACK); /* reserved, not used */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int failed = pthread_create(thread, &attributes, run, argument);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return failed;
}
