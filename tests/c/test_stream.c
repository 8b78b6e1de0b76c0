/* SPDX-License-Identifier: MIT
 *
 * The CPU device's streams and events through its table: overlap, order, errors told once, captures not joined back.
 * Needs a C++ compiler. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/backend/refs.h"
#include "tests/c/cpu_bench.h"

static const char *const source_text =
    "__global__ void empty() {}\n"
    "__global__ void add(int *x, int v) { x[blockIdx.x * blockDim.x + threadIdx.x] += v; }\n"
    "__global__ void divide(int *x, int d) { x[0] = x[1] / d; }\n" HOLD_SOURCE;

/* ---- streams and events ---------------------------------------------------------------------------------------- */

static void test_streams_overlap(void **state) {
  (void)state;
  bench *b = begin(source_text);
  mw_stream *s = stream(b, true), *t = stream(b, true);
  mw_buffer *x = array(b, 64), *gate = array(b, 64);
  arguments one = {0};
  push_array(&one, x), push_int(&one, 1);
  hold(b, s, gate, LOOKS);
  check(b, go(b, t, kernel(b, "add"), &one, 1, 1));
  check(b, cpu->stream_synchronize(t, &b->error));
  assert_int_equal(*(int *)x->address, 1);
  assert_int_equal(cpu->stream_query(s, &b->error), MW_NOT_READY);
  let_go(b, s, gate);
  cpu->stream_destroy(s);
  cpu->stream_destroy(t);
  mw_buffer_release(x);
  mw_buffer_release(gate);
  end(b);
}

static void note_call(void *data) {
  atomic_fetch_add((atomic_int *)data, 1);
}

static void test_order(void **state) {
  (void)state;
  bench *b = begin(source_text);
  mw_stream *s = stream(b, true), *t = stream(b, false);
  mw_buffer *x = array(b, 64 * sizeof(int)), *gate = array(b, 64);
  mw_event *e = event(b);
  atomic_int called = 0;
  arguments one = {0};
  push_array(&one, x), push_int(&one, 1);
  hold(b, s, gate, LOOKS);
  check(b, go(b, s, kernel(b, "add"), &one, 1, 1));
  check(b, cpu->stream_callback(s, (mw_callback){note_call, &called}, &b->error));
  check(b, cpu->event_record(e, s, &b->error));
  assert_int_equal(cpu->event_query(e, &b->error), MW_NOT_READY);
  check(b, cpu->stream_wait(t, e, &b->error));
  check(b, go(b, t, kernel(b, "add"), &one, 1, 1));
  assert_int_equal(cpu->stream_query(t, &b->error), MW_NOT_READY);
  assert_int_equal(*(int *)x->address, 0);
  let_go(b, s, gate);
  assert_int_equal(called, 1);
  check(b, cpu->stream_synchronize(t, &b->error));
  hold(b, s, gate, 10000000); /* gives up by itself: this thread is what waits for s, which is blocking */
  check(b, go(b, s, kernel(b, "add"), &one, 1, 1));
  check(b, go(b, b->device->main, kernel(b, "add"), &one, 1, 1));
  assert_int_equal(gate_of(gate)[1], 3);
  assert_int_equal(*(int *)x->address, 4);
  check(b, cpu->event_synchronize(e, &b->error));
  cpu->event_destroy(e);
  cpu->stream_destroy(s);
  cpu->stream_destroy(t);
  mw_buffer_release(x);
  mw_buffer_release(gate);
  end(b);
}

/* ---- graphs ---------------------------------------------------------------------------------------------------- */

static void test_unjoined(void **state) {
  (void)state;
  bench *b = begin(source_text);
  mw_stream *s = stream(b, true), *t = stream(b, true);
  mw_event *fork = event(b);
  mw_graph *g = NULL;
  arguments none = {0};
  check(b, cpu->capture_begin(s, &b->error));
  check(b, cpu->event_record(fork, s, &b->error));
  check(b, cpu->stream_wait(t, fork, &b->error));
  check(b, go(b, t, kernel(b, "empty"), &none, 1, 1));
  expect(b, cpu->capture_end(s, &g, &b->error), MW_INVALID, "was not joined back");
  check(b, cpu->synchronize(b->device, &b->error));
  cpu->event_destroy(fork);
  cpu->stream_destroy(s);
  cpu->stream_destroy(t);
  end(b);
}

/* ---- errors of asynchronous work ------------------------------------------------------------------------------- */

static void test_error_told_once(void **state) {
  (void)state;
  bench *b = begin(source_text);
  mw_stream *s = stream(b, true);
  mw_buffer *x = array(b, 64);
  arguments zero = {0}, one = {0};
  push_array(&zero, x), push_int(&zero, 0);
  push_array(&one, x), push_int(&one, 1);
  mw_status (*const ask[])(mw_stream *, mw_error *) = {cpu->stream_synchronize, cpu->stream_query};
  for (int i = 0; i < 2; i++) {
    check(b, go(b, s, kernel(b, "divide"), &zero, 1, 1));
    mw_status status = MW_NOT_READY;
    while (status == MW_NOT_READY) status = ask[i](s, &b->error);
    expect(b, status, MW_FAULT, "kernel 'divide' divided an integer by zero");
    check(b, cpu->stream_synchronize(s, &b->error));
  }
  check(b, go(b, s, kernel(b, "divide"), &zero, 1, 1));
  expect(b, cpu->synchronize(b->device, &b->error), MW_FAULT, "kernel 'divide' divided an integer by zero");
  check(b, go(b, s, kernel(b, "add"), &one, 1, 1));
  check(b, cpu->synchronize(b->device, &b->error));
  assert_int_equal(*(int *)x->address, 1);
  cpu->stream_destroy(s);
  mw_buffer_release(x);
  end(b);
}

/* A ring's worth of work many times over, on streams that wait for each other and are destroyed at once. */
static void test_many(void **state) {
  (void)state;
  bench *b = begin(source_text);
  mw_buffer *x = array(b, 64 * sizeof(int));
  mw_event *e = event(b);
  arguments one = {0};
  push_array(&one, x), push_int(&one, 1);
  for (int i = 0; i < 20; i++) {
    mw_stream *s = stream(b, i % 2);
    check(b, cpu->stream_wait(s, e, &b->error));
    for (int k = 0; k < 500; k++) check(b, go(b, s, kernel(b, "add"), &one, 1, 64));
    check(b, cpu->event_record(e, s, &b->error));
    cpu->stream_destroy(s);
  }
  check(b, cpu->event_synchronize(e, &b->error));
  for (int i = 0; i < 64; i++) assert_int_equal(((int *)x->address)[i], 10000);
  cpu->event_destroy(e);
  mw_buffer_release(x);
  end(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_streams_overlap), cmocka_unit_test(test_order), cmocka_unit_test(test_unjoined),
      cmocka_unit_test(test_error_told_once), cmocka_unit_test(test_many),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
