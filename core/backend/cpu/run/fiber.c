/* SPDX-License-Identifier: MIT
 *
 * The switch saves what the ABI calls callee-saved, swaps stack pointers and returns on the other stack; floating-point
 * control words are the worker's and the same for all its fibers. It takes a few ns. */
#include "core/backend/cpu/run/fiber.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define MW_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MW_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define MW_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MW_TSAN 1
#endif
#endif

#ifdef MW_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define ASAN_CLEAN(low, bytes) __asan_unpoison_memory_region(low, bytes) /* frames that were abandoned there */
static __thread volatile sig_atomic_t between;
#define ASAN_LEAVE(from, to)                                                                                           \
  (between = 1, __sanitizer_start_switch_fiber(&(from)->fake_stack, (to)->stack.low, (to)->stack.bytes))
#define ASAN_ARRIVE(fiber) (__sanitizer_finish_switch_fiber((fiber)->fake_stack, NULL, NULL), between = 0)
#else
#define ASAN_CLEAN(low, bytes) ((void)(low), (void)(bytes))
#define ASAN_LEAVE(from, to)   ((void)(from), (void)(to))
#define ASAN_ARRIVE(fiber)     ((void)(fiber))
#endif
#ifdef MW_TSAN
#include <sanitizer/tsan_interface.h>
#define TSAN_SWITCH(to) __tsan_switch_to_fiber((to)->sanitizer, 0)
#else
#define TSAN_SWITCH(to) ((void)(to))
#endif

enum { COLOURS = 20 };

/* ---- the switch ------------------------------------------------------------------------------------------------ */

void cpu_fiber_swap(void **old, void *next); /* where to keep the old stack pointer, the new stack pointer */
void cpu_fiber_begin(void);

#if defined(__x86_64__)

/* A new fiber's stack is laid out as if it had stopped in cpu_fiber_swap: r15 r14 r13 r12 rbx rbp, return address; r12
 * carries the argument, r13 the entry. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl cpu_fiber_swap\n.hidden cpu_fiber_swap\n.type cpu_fiber_swap, @function\n"
        "cpu_fiber_swap:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  ret\n"
        ".size cpu_fiber_swap, . - cpu_fiber_swap\n"
        ".globl cpu_fiber_begin\n.hidden cpu_fiber_begin\n.type cpu_fiber_begin, @function\n"
        "cpu_fiber_begin:\n"
        "  movq %r12, %rdi\n"
        "  xorl %ebp, %ebp\n"
        "  callq *%r13\n"
        "  ud2\n"
        ".size cpu_fiber_begin, . - cpu_fiber_begin\n");

static void lay_out(cpu_fiber *fiber, char *top, void (*entry)(void *), void *argument) {
  void **sp = (void **)top - 9; /* six registers, the return address, two words: begin's call wants 16-byte alignment */
  memset(sp, 0, 9 * sizeof *sp);
  sp[2] = (void *)entry;
  sp[3] = argument;
  sp[6] = (void *)cpu_fiber_begin;
  fiber->stopped = sp;
}

#elif defined(__aarch64__)

__asm__(".text\n"
        ".p2align 4\n"
        ".globl cpu_fiber_swap\n.hidden cpu_fiber_swap\n.type cpu_fiber_swap, %function\n"
        "cpu_fiber_swap:\n"
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
        "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
        "  mov x2, sp\n  str x2, [x0]\n  mov sp, x1\n"
        "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
        "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n"
        "  ret\n"
        ".size cpu_fiber_swap, . - cpu_fiber_swap\n"
        ".globl cpu_fiber_begin\n.hidden cpu_fiber_begin\n.type cpu_fiber_begin, %function\n"
        "cpu_fiber_begin:\n"
        "  mov x0, x19\n"
        "  blr x20\n"
        "  brk #1\n"
        ".size cpu_fiber_begin, . - cpu_fiber_begin\n");

static void lay_out(cpu_fiber *fiber, char *top, void (*entry)(void *), void *argument) {
  void **sp = (void **)top - 20;
  memset(sp, 0, 20 * sizeof *sp);
  sp[0] = argument;
  sp[1] = (void *)entry;
  sp[11] = (void *)cpu_fiber_begin;
  fiber->stopped = sp;
}

#else
#error "fibers need a switch for this processor: x86-64 and aarch64 have one"
#endif

/* ---- fibers ---------------------------------------------------------------------------------------------------- */

void cpu_fiber_make(cpu_fiber *fiber, cpu_stack stack, unsigned colour, void (*entry)(void *), void *argument) {
  cpu_fiber_drop(fiber);
  fiber->stack = stack;
  ASAN_CLEAN(stack.low, stack.bytes);
  lay_out(fiber, stack.low + stack.bytes - colour % COLOURS * CPU_FIBER_COLOUR, entry, argument);
#ifdef MW_TSAN
  fiber->sanitizer = __tsan_create_fiber(0);
#endif
}

void cpu_fiber_drop(cpu_fiber *fiber) {
#ifdef MW_TSAN
  if (fiber->sanitizer) __tsan_destroy_fiber(fiber->sanitizer);
  fiber->sanitizer = NULL;
#endif
  fiber->fake_stack = NULL;
  fiber->stopped = NULL;
}

void cpu_fiber_home(cpu_fiber *fiber) {
#ifdef MW_TSAN
  fiber->sanitizer = __tsan_get_current_fiber();
#endif
#ifdef MW_ASAN
  if (!fiber->stack.low) {
    pthread_attr_t attributes;
    void *low = NULL;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &fiber->stack.bytes);
    pthread_attr_destroy(&attributes);
    fiber->stack.low = low;
  }
#endif
  (void)fiber;
}

void cpu_fiber_switch(cpu_fiber *from, cpu_fiber *to) {
  ASAN_LEAVE(from, to);
  TSAN_SWITCH(to);
  cpu_fiber_swap(&from->stopped, to->stopped);
  ASAN_ARRIVE(from);
}

void cpu_fiber_started(cpu_fiber *fiber) {
  ASAN_ARRIVE(fiber);
}

bool cpu_fiber_between(void) {
#ifdef MW_ASAN
  return between;
#else
  return false;
#endif
}

void cpu_fiber_escape(cpu_fiber *home) {
#ifdef MW_ASAN
  __sanitizer_start_switch_fiber(NULL, home->stack.low, home->stack.bytes);
#endif
  TSAN_SWITCH(home);
  (void)home;
}

void cpu_fiber_escaped(cpu_fiber *home) {
  ASAN_ARRIVE(home);
}
