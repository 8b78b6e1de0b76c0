/* SPDX-License-Identifier: MIT
 *
 * The fiber engine on its own: switches and stacks, then the block scheduler with kernels written by hand in the form
 * that a unit has (abi.h). No compiler is needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/backend/cpu/objects.h"
#include "core/backend/refs.h"
#include "core/base/interrupt.h"

extern const mw_backend mw_cpu_backend;

/* ---- switches -------------------------------------------------------------------------------------------------- */

typedef struct walk {
  cpu_fiber home, there;
  int steps;
} walk;

static void walker(void *argument) {
  walk *w = argument;
  cpu_fiber_started(&w->there);
  for (;;) {
    w->steps++;
    cpu_fiber_switch(&w->there, &w->home);
  }
}

static void test_switch(void **state) {
  (void)state;
  cpu_slab slab = {0};
  walk w = {0};
  assert_int_equal(cpu_slab_make(&slab), 0);
  cpu_fiber_home(&w.home);
  cpu_fiber_make(&w.there, cpu_slab_stack(&slab, 3), 3, walker, &w);
  for (int i = 1; i <= 1000; i++) {
    cpu_fiber_switch(&w.home, &w.there);
    assert_int_equal(w.steps, i);
  }
  cpu_fiber_drop(&w.there);
  cpu_slab_free(&slab);
}

static void test_stack_size(void **state) {
  (void)state;
  assert_int_equal(cpu_stack_bytes(), 64 << 10);
  setenv("MOONWARP_CPU_STACK", "100000", 1);
  assert_true(cpu_stack_bytes() >= 100000 && cpu_stack_bytes() % 4096 == 0);
  setenv("MOONWARP_CPU_STACK", "1", 1);
  assert_int_equal(cpu_stack_bytes(), 16 << 10);
  unsetenv("MOONWARP_CPU_STACK");
}

/* ---- kernels by hand ------------------------------------------------------------------------------------------- */

typedef struct arguments {
  int *out;
  int n;
} arguments;

static __thread mw_thread *self;
static __thread int tile[1024];

static mw_thread **where_self(void) {
  return &self;
}
static void bind(const mw_runtime *runtime) {
  (void)runtime;
}

static int *out_of(const mw_grid *grid) {
  return ((const arguments *)grid->args)->out;
}

static unsigned threads_of(const mw_grid *grid) {
  return grid->block.x * grid->block.y * grid->block.z;
}

static int *slot_of(const mw_grid *grid) {
  return out_of(grid) + self->block_idx.x * threads_of(grid) + self->rank;
}

static void reverse_block(const mw_grid *grid) {
  unsigned n = threads_of(grid);
  tile[self->rank] = (int)(self->rank + 1000 * self->block_idx.x);
  cpu_runtime.barrier(MW_BARRIER_SYNC, 0, "reverse.cu", 3, 0);
  *slot_of(grid) = tile[n - 1 - self->rank];
  cpu_runtime.barrier(MW_BARRIER_SYNC, 0, "reverse.cu", 5, 0);
}

static void diverge(const mw_grid *grid) {
  if (self->rank < threads_of(grid) / 2)
    cpu_runtime.barrier(MW_BARRIER_SYNC, 0, "x.cu", 6, 0);
  else
    cpu_runtime.barrier(MW_BARRIER_SYNC, 0, "x.cu", 10, 0);
}

static void sync_grid(const mw_grid *grid) {
  (void)grid;
  cpu_runtime.grid_barrier("g.cu", 4);
}

static unsigned long long warp(enum mw_warp_op op, unsigned mask, unsigned long long value, int arg, int width) {
  const mw_warp_request request = {op, mask, value, 4, arg, width, NULL, "__warp", "w.cu", 7};
  return cpu_runtime.warp(&request);
}

static void foreign_mask(const mw_grid *grid) {
  (void)grid;
  warp(MW_WARP_SYNC, 1u, 0, 0, 32);
}

static void missing_lane(const mw_grid *grid) {
  (void)grid;
  if (self->rank != 3) warp(MW_WARP_SYNC, ~0u, 0, 0, 32);
  cpu_runtime.barrier(MW_BARRIER_SYNC, 0, "m.cu", 20, 0);
}

static void deep(const mw_grid *grid) {
  volatile char big[256 << 10];
  for (size_t i = sizeof big; i-- > 0;) big[i] = 1;
  cpu_runtime.barrier(MW_BARRIER_SYNC, 0, "d.cu", 1, 0);
  *slot_of(grid) = big[7];
}

static void spin(const mw_grid *grid) {
  volatile int *flag = out_of(grid);
  if (self->rank == 63) *flag = 1;
  while (!*flag) cpu_runtime.yield();
}

/* ---- running them ---------------------------------------------------------------------------------------------- */

typedef struct bench {
  mw_device *device;
  int *out;
  mw_error error;
} bench;

static mw_status run_grid(bench *b, void (*thread)(const mw_grid *), unsigned blocks, unsigned threads, bool together) {
  const mw_unit_kernel unit = {
      .name = "hand", .engine = "fiber", .engine_why = "", .max_threads = 1024, .thread = thread, .needs_fibers = 1};
  const mw_unit_table table = {MW_ABI_VERSION, &unit, 1, NULL, 0, bind, where_self, NULL, NULL, 0, NULL};
  const cpu_unit owner = {.table = &table, .flavor = CPU_FIBER};
  cpu_kernel kernel = {.base = {.name = "hand", .args_bytes = sizeof(arguments)}, .unit = &unit, .owner = &owner};
  arguments args = {b->out, 0};
  const mw_launch launch = {
      .kernel = &kernel.base, .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .cooperative = together, .args = &args};
  b->error.text[0] = '\0';
  return mw_cpu_backend.launch(b->device->main, &launch, &b->error);
}

static mw_status run(bench *b, void (*thread)(const mw_grid *), unsigned blocks, unsigned threads) {
  return run_grid(b, thread, blocks, threads, false);
}

/* Opened in the test, not in a fixture: cmocka sets its own signal handlers between the two. */
static bench *begin(void) {
  bench *b = calloc(1, sizeof *b);
  b->out = calloc(1 << 20, sizeof *b->out);
  assert_int_equal(mw_device_open(&mw_cpu_backend, "0", &b->device, &b->error), MW_OK);
  return b;
}

static void end(bench *b) {
  mw_device_release(b->device);
  free(b->out);
  free(b);
}

static void check_barrier(bench *b) {
  const unsigned sizes[] = {1, 31, 32, 33, 256, 1000, 1024};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    const unsigned n = sizes[k];
    assert_int_equal(run(b, reverse_block, 50, n), MW_OK);
    for (unsigned i = 0; i < 50 * n; i++) assert_int_equal(b->out[i], n - 1 - i % n + 1000 * (i / n));
  }
}

static void test_barrier(void **state) {
  (void)state;
  bench *b = begin();
  check_barrier(b);
  end(b);
}

static void test_divergence(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(run(b, diverge, 4, 256), MW_FAULT);
  assert_non_null(strstr(b->error.text, "kernel 'hand', block (0,0,0): barrier divergence: thread (0,0,0) waits at "
                                        "x.cu:6 (__syncthreads) while thread (255,0,0) waits at x.cu:10 "
                                        "(__syncthreads)"));
  check_barrier(b);
  end(b);
}

static void test_warp_rules(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(run(b, foreign_mask, 1, 32), MW_FAULT);
  assert_non_null(strstr(b->error.text, "thread (1,0,0): __warp at w.cu:7: mask 0x00000001 does not name the calling "
                                        "lane 1"));
  assert_int_equal(run(b, missing_lane, 1, 32), MW_FAULT);
  assert_non_null(strstr(b->error.text, "thread (0,0,0) waits at w.cu:7 (__warp, mask 0xffffffff) while thread (3,0,0) "
                                        "waits at m.cu:20 (__syncthreads)"));
  end(b);
}

static void test_yield(void **state) {
  (void)state;
  bench *b = begin();
  b->out[0] = 0;
  assert_int_equal(run(b, spin, 1, 64), MW_OK);
  end(b);
}

static void test_stack_overflow(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(run(b, deep, 1, 32), MW_FAULT);
  assert_non_null(strstr(b->error.text, "overflowed a thread's stack"));
  check_barrier(b);
  end(b);
}

static void test_grid_sync(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(run_grid(b, sync_grid, 16, 64, true), MW_OK);
  assert_int_equal(run(b, sync_grid, 2, 64), MW_FAULT);
  assert_non_null(strstr(b->error.text, "outside a cooperative launch"));
  assert_int_equal(run_grid(b, sync_grid, 257, 32, true), MW_INVALID);
  assert_non_null(strstr(b->error.text, "too many blocks for a cooperative launch: 257"));
  end(b);
}

static void skip_grid_sync(const mw_grid *grid) {
  if (self->block_idx.x != 2) cpu_runtime.grid_barrier("g.cu", 4);
  (void)grid;
}

static void test_grid_divergence(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(run_grid(b, skip_grid_sync, 4, 32, true), MW_FAULT);
  assert_non_null(strstr(b->error.text, "grid barrier divergence: this block waits at g.cu:4"));
  end(b);
}

static void mark(const mw_grid *grid) {
  *out_of(grid) = 1;
}

/* It came after the grid had been looked at, and before its kernel could be left: that would run for ever now. */
static void test_interrupt_in_between(void **state) {
  (void)state;
  bench *b = begin();
  const mw_unit_kernel unit = {.name = "hand", .max_threads = 1, .thread = mark};
  const mw_unit_table table = {.self = where_self};
  arguments args = {b->out, 0};
  const mw_grid abi = {&args, {1, 1, 1}, {1, 1, 1}, 0};
  cpu_grid grid;
  cpu_worker *me = cpu_worker_here(((cpu_device *)b->device)->host);
  cpu_grid_begin(&grid, &abi, &unit, &table, 0);
  cpu_worker_enter(me, &grid);
  mw_interrupt();
  assert_false(cpu_worker_run(me, 0, 1));
  assert_int_equal(me->fault.kind, CPU_FAULT_ABORTED);
  assert_int_equal(*b->out, 0);
  atomic_store(&mw_interrupted, false);
  cpu_grid_begin(&grid, &abi, &unit, &table, 0);
  assert_true(cpu_worker_run(me, 0, 1));
  assert_int_equal(*b->out, 1);
  cpu_worker_leave(me);
  end(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_switch),          cmocka_unit_test(test_stack_size),
      cmocka_unit_test(test_barrier),         cmocka_unit_test(test_divergence),
      cmocka_unit_test(test_warp_rules),      cmocka_unit_test(test_yield),
      cmocka_unit_test(test_stack_overflow),  cmocka_unit_test(test_grid_sync),
      cmocka_unit_test(test_grid_divergence), cmocka_unit_test(test_interrupt_in_between),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
