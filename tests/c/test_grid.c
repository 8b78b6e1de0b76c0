/* SPDX-License-Identifier: MIT
 *
 * The CPU device through its table, with kernels compiled from source: blocks over the pool, what is freed under
 * work, interrupts. Needs a C++ compiler. Faults: tests/cpu/faults_spec.lua and regress/cpu_findings_spec.lua. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "core/backend/cpu/run/machine.h"
#include "core/backend/refs.h"
#include "core/base/interrupt.h"
#include "tests/c/cpu_bench.h"

static const char *const source_text =
    "#include <cooperative_groups.h>\n"
    "__global__ void empty() {}\n"
    "__global__ void add(int *x, int v) { x[blockIdx.x * blockDim.x + threadIdx.x] += v; }\n"
    "__global__ void forever(volatile int *x) { while (x[0] == 0) x[1] = 1; }\n"
    "__global__ void together(int *x, int n) {\n"
    "  auto grid = cooperative_groups::this_grid();\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  x[i] = i;\n"
    "  grid.sync();\n"
    "  int other = x[n - 1 - i];\n"
    "  grid.sync();\n"
    "  x[i] = other;\n"
    "}\n" HOLD_SOURCE;

/* ---- launches -------------------------------------------------------------------------------------------------- */

static void test_every_block_once(void **state) {
  (void)state;
  bench *b = begin(source_text);
  const unsigned grids[] = {1, 2, 3, 7, 64, 1000, 4097};
  mw_buffer *x = array(b, 4097 * 64 * sizeof(int));
  int *values = x->address, rounds = 0;
  for (int again = 0; again < 20; again++)
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
      arguments a = {0};
      push_array(&a, x), push_int(&a, 1);
      check(b, go(b, b->device->main, kernel(b, "add"), &a, grids[g], 64));
    }
  for (int g = 6; g >= 0; g--) {
    rounds += 20;
    for (unsigned i = g ? grids[g - 1] * 64 : 0; i < grids[g] * 64; i++) assert_int_equal(values[i], rounds);
  }
  mw_buffer_release(x);
  end(b);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static void test_free_in_order(void **state) {
  (void)state;
  bench *b = begin(source_text);
  mw_stream *s = stream(b, false);
  mw_buffer *x = array(b, 4096), *y = array(b, 4096), *z = array(b, 4096), *gate = array(b, 64);
  *(int *)x->address = 7;
  hold(b, s, gate, LOOKS);
  check(b, cpu->copy(s, (mw_place){.buffer = y}, (mw_place){.buffer = x}, 4096, &b->error));
  check(b, cpu->copy(s, (mw_place){.buffer = z}, (mw_place){.buffer = y}, 4096, &b->error));
  mw_buffer_release(x);
  mw_buffer_release(y);
  let_go(b, s, gate);
  assert_int_equal(*(int *)z->address, 7);
  mw_buffer_release(z);
  mw_buffer_release(gate);
  cpu->stream_destroy(s);
  end(b);
}

/* The threads of larger launches are still there when smaller ones run, and streams share them. */
static void test_cooperative_sizes(void **state) {
  (void)state;
  bench *b = begin(source_text);
  const unsigned grids[] = {2, 256, 3, 64, 1, 100};
  mw_stream *streams[] = {b->device->main, stream(b, false), stream(b, false)};
  enum { GRIDS = sizeof grids / sizeof *grids, STREAMS = sizeof streams / sizeof *streams };
  mw_buffer *x[GRIDS][STREAMS];
  for (int again = 0; again < 5; again++)
    for (int g = 0; g < GRIDS; g++)
      for (int s = STREAMS; s-- > 0;) {
        const int n = (int)grids[g] * 32;
        if (again == 0) x[g][s] = array(b, (size_t)n * sizeof(int));
        arguments a = {0};
        push_array(&a, x[g][s]), push_int(&a, n);
        mw_launch launch = prepared(kernel(b, "together"), &a, grids[g], 32);
        launch.cooperative = true;
        check(b, cpu->launch(streams[s], &launch, &b->error));
      }
  check(b, cpu->synchronize(b->device, &b->error));
  for (int g = 0; g < GRIDS; g++)
    for (int s = 0; s < STREAMS; s++) {
      const int n = (int)grids[g] * 32, *values = x[g][s]->address;
      for (int i = 0; i < n; i++) assert_int_equal(values[i], n - 1 - i);
      mw_buffer_release(x[g][s]);
    }
  cpu->stream_destroy(streams[1]);
  cpu->stream_destroy(streams[2]);
  end(b);
}

static void on_sigint(int number) {
  (void)number;
  mw_interrupt();
}

typedef struct press {
  pthread_t target;
  volatile int *running; /* set by the kernel */
} press;

static void *press_when_running(void *argument) {
  const press *p = argument;
  const struct timespec nap = {.tv_nsec = 1000000};
  while (!*p->running) nanosleep(&nap, NULL);
  pthread_kill(p->target, SIGINT);
  return NULL;
}

static mw_status interrupted(bench *b, mw_stream *s, unsigned grid, bool cooperative) {
  mw_buffer *x = array(b, 64);
  press when = {pthread_self(), gate_of(x) + 1};
  pthread_t other;
  arguments a = {0};
  push_array(&a, x);
  pthread_create(&other, NULL, press_when_running, &when);
  mw_launch launch = prepared(kernel(b, "forever"), &a, grid, 32);
  launch.cooperative = cooperative;
  mw_status status = cpu->launch(s, &launch, &b->error);
  if (status == MW_OK) status = cpu->stream_synchronize(s, &b->error);
  pthread_join(other, NULL);
  atomic_store(&mw_interrupted, false);
  mw_buffer_release(x);
  return status;
}

static void test_interrupt(void **state) {
  (void)state;
  bench *b = begin(source_text);
  mw_stream *s = stream(b, true);
  struct sigaction mine = {.sa_handler = on_sigint}, before;
  sigaction(SIGINT, &mine, &before);
  expect(b, interrupted(b, b->device->main, 1, false), MW_INTERRUPTED, "interrupted");
  expect(b, interrupted(b, b->device->main, 8, false), MW_INTERRUPTED, "interrupted");
  expect(b, interrupted(b, s, 8, false), MW_INTERRUPTED, "interrupted");
  expect(b, interrupted(b, b->device->main, 8, true), MW_INTERRUPTED, "interrupted");
  expect(b, interrupted(b, s, 8, true), MW_INTERRUPTED, "interrupted");
  sigaction(SIGINT, &before, NULL);
  arguments none = {0};
  check(b, go(b, b->device->main, kernel(b, "empty"), &none, 64, 32));
  check(b, go(b, s, kernel(b, "empty"), &none, 64, 32));
  check(b, cpu->synchronize(b->device, &b->error));
  cpu->stream_destroy(s);
  end(b);
}

/* As a thread finds it that got no processor for a while: more signals than its signal stack has room for. */
static void on_late_sigint(int number) {
  on_sigint(number);
  for (int i = 0; i < 4096; i++) pthread_kill(pthread_self(), cpu_thread_abort_signal());
}

static void test_signals_that_piled_up(void **state) {
  (void)state;
  bench *b = begin(source_text);
  struct sigaction mine = {.sa_handler = on_late_sigint}, before;
  sigaddset(&mine.sa_mask, cpu_thread_abort_signal());
  sigaction(SIGINT, &mine, &before);
  expect(b, interrupted(b, b->device->main, 1, false), MW_INTERRUPTED, "interrupted");
  expect(b, interrupted(b, b->device->main, 8, false), MW_INTERRUPTED, "interrupted");
  sigaction(SIGINT, &before, NULL);
  end(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_block_once),      cmocka_unit_test(test_free_in_order),
      cmocka_unit_test(test_cooperative_sizes),     cmocka_unit_test(test_interrupt),
      cmocka_unit_test(test_signals_that_piled_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
