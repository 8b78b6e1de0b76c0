/* SPDX-License-Identifier: MIT
 *
 * The CPU device through its table, with kernels compiled from source: blocks over the pool, memory and every kind of
 * fault. Needs a C++ compiler. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/backend/cpu/run/machine.h"
#include "core/backend/refs.h"
#include "core/base/interrupt.h"
#include "tests/c/cpu_bench.h"

static const char *const source_text =
    "#include <cassert>\n"
    "#include <cooperative_groups.h>\n"
    "#line 1\n"
    "__global__ void empty() {}\n"
    "__global__ void copy(double *B, const double *A, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) B[i] = A[i];\n"
    "}\n"
    "__global__ void add(int *x, int v) { x[blockIdx.x * blockDim.x + threadIdx.x] += v; }\n"
    "__global__ void forever(volatile int *x) { while (x[0] == 0) x[1] = 1; }\n"
    "__global__ void divide(int *x, int d) { if (threadIdx.x == 3 && blockIdx.x == 2) x[0] = x[1] / d; }\n"
    "__global__ void wild(double *B, long k) { if (threadIdx.x == 17 && blockIdx.x == 3) B[k] = 1; }\n"
    "__global__ void peek(double *B, const double *A, long k) { if (threadIdx.x == 5) B[0] = A[k]; }\n"
    "__global__ void say(int n) { printf(\"%d:%d;\", (int)blockIdx.x, n); }\n"
    "__global__ void reverse(int *x) {\n"
    "  __shared__ int tile[128];\n"
    "  tile[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x];\n"
    "  __syncthreads();\n"
    "  x[blockIdx.x * 128 + threadIdx.x] = tile[127 - threadIdx.x];\n"
    "}\n"
    "__global__ void claim(int *x) {\n"
    "  assert(x[blockIdx.x * blockDim.x + threadIdx.x] != 70);\n"
    "}\n"
    "__global__ void together(int *x, int n) {\n"
    "  auto grid = cooperative_groups::this_grid();\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  x[i] = i;\n"
    "  grid.sync();\n"
    "  int other = x[n - 1 - i];\n"
    "  grid.sync();\n"
    "  x[i] = other;\n"
    "}\n"
    "__global__ void uneven(int n) {\n"
    "  if ((int)threadIdx.x < n)\n"
    "    __syncthreads();\n"
    "  else\n"
    "    __syncthreads();\n"
    "}\n"
    "template <typename T> __global__ void scale(T *x, T a) { x[threadIdx.x] *= a; }\n" HOLD_SOURCE;

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

static void test_split_and_template(void **state) {
  (void)state;
  bench *b = begin(source_text);
  mw_buffer *x = array(b, 1000 * 128 * sizeof(int));
  int *values = x->address;
  for (int i = 0; i < 128000; i++) values[i] = i;
  arguments a = {0};
  push_array(&a, x);
  check(b, go(b, b->device->main, kernel(b, "reverse"), &a, 1000, 128));
  for (int i = 0; i < 128000; i++) assert_int_equal(values[i], i / 128 * 128 + 127 - i % 128);
  float *floats = x->address, two = 2;
  for (int i = 0; i < 32; i++) floats[i] = (float)i;
  push(&a, &two, sizeof two);
  check(b, go(b, b->device->main, kernel(b, "scale<float>"), &a, 1, 32));
  for (int i = 0; i < 32; i++) assert_true(floats[i] == (float)(2 * i));
  mw_kernel *k;
  expect(b, cpu->kernel(b->module, "scale", &k, &b->error), MW_INVALID,
         "is a template: name an instance, as in scale<float>");
  expect(b, cpu->kernel(b->module, "nope", &k, &b->error), MW_NOT_FOUND,
         "has no kernel 'nope'; it has: empty, copy, add");
  mw_buffer_release(x);
  end(b);
}

static void test_no_allocation(void **state) {
  (void)state;
  bench *b = begin(source_text);
  mw_stream *s = stream(b, true);
  mw_buffer *x = array(b, 256 * sizeof(int));
  mw_kernel *k = kernel(b, "add");
  arguments a = {0};
  push_array(&a, x), push_int(&a, 1);
  for (int i = 0; i < 300; i++) check(b, go(b, i % 2 ? s : b->device->main, k, &a, 4, 64));
  check(b, cpu->synchronize(b->device, &b->error));
  const uint64_t before = mw_allocations();
  for (int i = 0; i < 1000; i++) check(b, go(b, i % 2 ? s : b->device->main, k, &a, 4, 64));
  check(b, cpu->synchronize(b->device, &b->error));
  assert_int_equal(mw_allocations(), before);
  assert_int_equal(*(int *)x->address, 1300);
  cpu->stream_destroy(s);
  mw_buffer_release(x);
  end(b);
}

static void test_print(void **state) {
  (void)state;
  bench *b = begin(source_text);
  int ends[2], kept = dup(1);
  char text[64] = "";
  assert_int_equal(pipe(ends), 0);
  fflush(stdout);
  dup2(ends[1], 1);
  arguments a = {0};
  push_int(&a, 7);
  mw_status status = go(b, b->device->main, kernel(b, "say"), &a, 2, 1);
  fflush(stdout);
  dup2(kept, 1);
  close(ends[1]);
  close(kept);
  assert_true(read(ends[0], text, sizeof text - 1) > 0);
  close(ends[0]);
  check(b, status);
  assert_string_equal(text, "0:7;1:7;");
  end(b);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static void test_copy_and_fill(void **state) {
  (void)state;
  bench *b = begin(source_text);
  const size_t n = (48u << 20) + 13;
  mw_buffer *x = array(b, n), *y = array(b, n);
  const uint32_t word = 0x01020304;
  check(b, cpu->fill(b->device->main, (mw_place){.buffer = x, .offset = 4}, &word, 4, (n - 4) / 4, &b->error));
  assert_int_equal(((char *)x->address)[3], 0);
  check(b, cpu->copy(b->device->main, (mw_place){.buffer = y, .offset = 1}, (mw_place){.buffer = x}, n - 1, &b->error));
  assert_memory_equal((char *)y->address + 1, x->address, n - 1);
  assert_int_equal(*(uint32_t *)((char *)x->address + (n - 5) / 4 * 4), word);
  check(b,
        cpu->copy(b->device->main, (mw_place){.buffer = x, .offset = 8}, (mw_place){.buffer = x}, 1 << 20, &b->error));
  assert_int_equal(*(uint32_t *)((char *)x->address + 12), word);
  mw_buffer_release(x);
  mw_buffer_release(y);
  end(b);
}

static void test_out_of_memory(void **state) {
  (void)state;
  bench *b = begin(source_text);
  mw_buffer *x;
  expect(b, cpu->alloc(b->device->main, (size_t)1 << 50, MW_SPACE_DEVICE, MW_F64, &x, &b->error), MW_NO_MEMORY,
         "out of memory on cpu: wanted 1.0 PiB, free ");
  end(b);
}

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

/* ---- faults ---------------------------------------------------------------------------------------------------- */

static void test_out_of_bounds(void **state) {
  (void)state;
  bench *b = begin(source_text);
  mw_buffer *x = array(b, 8000), *y = array(b, 8000);
  arguments a = {0}, r = {0};
  push_array(&a, x), push_long(&a, 1000);
  expect(
      b, go(b, b->device->main, kernel(b, "wild"), &a, 8, 32), MW_FAULT,
      "kernel 'wild' wrote outside every array: block (3,0,0), thread (17,0,0), just past the end of parameter 1 'B', "
      "an array of 8000 bytes (offset 8000; index 1000, it has 1000 elements)");
  push_array(&r, y), push_array(&r, x), push_long(&r, -1000);
  expect(
      b, go(b, b->device->main, kernel(b, "peek"), &r, 1, 32), MW_FAULT,
      "kernel 'peek' read outside every array: block (0,0,0), thread (5,0,0), 8000 bytes before the start of parameter "
      "2 'A', an array of 8000 bytes (offset -8000; index -1000, it has 1000 elements)");
  arguments nothing = {0};
  const void *null = NULL;
  push(&nothing, &null, sizeof null), push_long(&nothing, 0);
  expect(b, go(b, b->device->main, kernel(b, "wild"), &nothing, 8, 32), MW_FAULT,
         "wrote through a null pointer: block (3,0,0)");
  mw_buffer_release(x);
  mw_buffer_release(y);
  end(b);
}

static void test_redzone(void **state) {
  (void)state;
  bench *b = begin(source_text);
  mw_buffer *x = array(b, 8 * 1001);
  arguments a = {0};
  push_array(&a, x), push_long(&a, 1001);
  expect(b, go(b, b->device->main, kernel(b, "wild"), &a, 8, 32), MW_FAULT,
         "kernel 'wild' wrote outside every array: block (3,0,0), thread (17,0,0), just past the end of parameter 1 "
         "'B', an array of 8008 bytes (offset 8008; index 1001, it has 1001 elements)");
  arguments before = {0};
  push_array(&before, x), push_long(&before, -64);
  expect(b, go(b, b->device->main, kernel(b, "wild"), &before, 8, 32), MW_FAULT,
         "kernel 'wild' wrote outside every array: block (3,0,0), thread (17,0,0), 512 bytes before the start of "
         "parameter 1 'B', an array of 8008 bytes (offset -512; index -64, it has 1001 elements)");
  mw_buffer_release(x);
  end(b);
}

static void test_division(void **state) {
  (void)state;
  bench *b = begin(source_text);
  mw_stream *s = stream(b, true);
  mw_buffer *x = array(b, 64);
  arguments a = {0}, one = {0};
  push_array(&a, x), push_int(&a, 0);
  push_array(&one, x), push_int(&one, 1);
  check(b, go(b, s, kernel(b, "divide"), &a, 4, 32));
  expect(b, cpu->stream_synchronize(s, &b->error), MW_FAULT,
         "kernel 'divide' divided an integer by zero (or the least integer by -1): block (2,0,0), thread (3,0,0)");
  check(b, cpu->stream_synchronize(s, &b->error)); /* told once */
  check(b, go(b, s, kernel(b, "add"), &one, 1, 1));
  check(b, cpu->synchronize(b->device, &b->error));
  assert_int_equal(*(int *)x->address, 1);
  cpu->stream_destroy(s);
  mw_buffer_release(x);
  end(b);
}

static void test_assert(void **state) {
  (void)state;
  bench *b = begin(source_text);
  mw_buffer *x = array(b, 128 * sizeof(int));
  for (int i = 0; i < 128; i++) ((int *)x->address)[i] = i;
  arguments a = {0};
  push_array(&a, x);
  expect(b, go(b, b->device->main, kernel(b, "claim"), &a, 4, 32), MW_FAULT,
         "kernel 'claim': block (2,0,0), thread (6,0,0): ");
  assert_non_null(strstr(b->error.text, "test_grid.cu:"));
  mw_buffer_release(x);
  end(b);
}

static void test_cooperative(void **state) {
  (void)state;
  bench *b = begin(source_text);
  mw_buffer *x = array(b, 16 * 64 * sizeof(int));
  int *values = x->address;
  arguments a = {0};
  push_array(&a, x), push_int(&a, 16 * 64);
  mw_launch launch = prepared(kernel(b, "together"), &a, 16, 64);
  launch.cooperative = true;
  for (int again = 0; again < 10; again++) {
    check(b, cpu->launch(b->device->main, &launch, &b->error));
    for (int i = 0; i < 16 * 64; i++) assert_int_equal(values[i], 16 * 64 - 1 - i);
  }
  launch.cooperative = false;
  expect(b, cpu->launch(b->device->main, &launch, &b->error), MW_FAULT, "outside a cooperative launch");
  mw_buffer_release(x);
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

static void test_divergent_source(void **state) {
  (void)state;
  bench *b = begin(source_text);
  arguments a = {0};
  push_int(&a, 32);
  expect(b, go(b, b->device->main, kernel(b, "uneven"), &a, 1, 64), MW_FAULT,
         "barrier divergence: thread (0,0,0) waits at test_grid.cu:");
  expect(b, go(b, b->device->main, kernel(b, "uneven"), &a, 1, 64), MW_FAULT,
         "while thread (63,0,0) waits at test_grid.cu:");
  a = (arguments){0};
  push_int(&a, 64);
  check(b, go(b, b->device->main, kernel(b, "uneven"), &a, 100, 64));
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
      cmocka_unit_test(test_every_block_once),
      cmocka_unit_test(test_split_and_template),
      cmocka_unit_test(test_no_allocation),
      cmocka_unit_test(test_print),
      cmocka_unit_test(test_copy_and_fill),
      cmocka_unit_test(test_out_of_memory),
      cmocka_unit_test(test_free_in_order),
      cmocka_unit_test(test_out_of_bounds),
      cmocka_unit_test(test_redzone),
      cmocka_unit_test(test_division),
      cmocka_unit_test(test_assert),
      cmocka_unit_test(test_cooperative),
      cmocka_unit_test(test_cooperative_sizes),
      cmocka_unit_test(test_divergent_source),
      cmocka_unit_test(test_interrupt),
      cmocka_unit_test(test_signals_that_piled_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
