/* SPDX-License-Identifier: MIT
 *
 * What the tests of the CPU device share: a device with a module compiled from a test's own source, and short forms of
 * the table's calls. */
#ifndef CPU_BENCH_H
#define CPU_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend/refs.h"
#include "tests/c/test.h"

typedef struct bench {
  mw_device *device;
  mw_module *module;
  mw_error error;
} bench;

extern const mw_backend mw_cpu_backend;
static const mw_backend *const cpu = &mw_cpu_backend;

static inline void check(bench *b, mw_status status) {
  if (status != MW_OK) fprintf(stderr, "%s\n%s\n", b->error.text, b->error.log ? b->error.log : "");
  assert_int_equal(status, MW_OK);
}

static inline bench *begin(const char *text) {
  bench *b = calloc(1, sizeof *b);
  const mw_source source = {.name = "test_grid.cu", .text = text};
  check(b, mw_device_open(cpu, "0", &b->device, &b->error));
  check(b, cpu->compile(b->device, &source, &b->module, &b->error));
  return b;
}

static inline void end(bench *b) {
  cpu->unload(b->module);
  mw_device_release(b->device);
  mw_error_clear(&b->error);
  free(b);
}

static inline mw_kernel *kernel(bench *b, const char *name) {
  mw_kernel *k;
  check(b, cpu->kernel(b->module, name, &k, &b->error));
  return k;
}

static inline mw_buffer *array(bench *b, size_t bytes) {
  mw_buffer *buffer;
  check(b, cpu->alloc(b->device->main, bytes, MW_SPACE_DEVICE, MW_F64, &buffer, &b->error));
  memset(buffer->address, 0, bytes);
  return buffer;
}

typedef struct arguments {
  void *params[8];
  char block[128];
  size_t used;
} arguments;

static inline void push(arguments *a, const void *value, size_t bytes) {
  a->used = (a->used + bytes - 1) / bytes * bytes;
  memcpy(a->block + a->used, value, bytes);
  a->used += bytes;
}

static inline void push_array(arguments *a, mw_buffer *buffer) {
  push(a, &buffer->address, sizeof buffer->address);
}
static inline void push_int(arguments *a, int value) {
  push(a, &value, sizeof value);
}
static inline void push_long(arguments *a, long value) {
  push(a, &value, sizeof value);
}

static inline mw_launch prepared(mw_kernel *k, arguments *a, unsigned grid, unsigned block) {
  return (mw_launch){.kernel = k, .grid = {grid, 1, 1}, .block = {block, 1, 1}, .args = a->block, .params = a->params};
}

static inline mw_status go(bench *b, mw_stream *stream, mw_kernel *k, arguments *a, unsigned grid, unsigned block) {
  const mw_launch launch = prepared(k, a, grid, block);
  return cpu->launch(stream, &launch, &b->error);
}

static inline mw_stream *stream(bench *b, bool blocking) {
  mw_stream *s;
  check(b, cpu->stream_create(b->device, blocking, 0, &s, &b->error));
  return s;
}

static inline mw_event *event(bench *b) {
  mw_event *e;
  check(b, cpu->event_create(b->device, true, &e, &b->error));
  return e;
}

static inline void expect(bench *b, mw_status got, mw_status wanted, const char *words) {
  if (!strstr(b->error.text, words)) fprintf(stderr, "wanted: %s\ngot:    %s\n", words, b->error.text);
  assert_int_equal(got, wanted);
  assert_non_null(strstr(b->error.text, words));
}

/* A kernel that holds its stream until gate[0] is set, or for that many looks at it, so that nothing waits for ever;
 * gate[1] is 1 once it has begun, 2 when it was let go, 3 when it gave up. */
#define HOLD_SOURCE                                                                                                    \
  "__global__ void hold(volatile int *gate, long looks) {\n"                                                           \
  "  gate[1] = 1;\n"                                                                                                   \
  "  while (gate[0] == 0 && looks-- > 0) {}\n"                                                                         \
  "  gate[1] = gate[0] ? 2 : 3;\n"                                                                                     \
  "}\n"
static const long LOOKS = 50000000000; /* about a minute */

static inline volatile int *gate_of(const mw_buffer *x) {
  return x->address;
}

static inline void hold(bench *b, mw_stream *s, mw_buffer *gate, long looks) {
  arguments a = {0};
  gate_of(gate)[0] = gate_of(gate)[1] = 0;
  push_array(&a, gate), push_long(&a, looks);
  check(b, go(b, s, kernel(b, "hold"), &a, 1, 1));
}

static inline void let_go(bench *b, mw_stream *s, mw_buffer *gate) {
  gate_of(gate)[0] = 1;
  check(b, cpu->stream_synchronize(s, &b->error));
  assert_int_equal(gate_of(gate)[1], 2);
}

#endif
