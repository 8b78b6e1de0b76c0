/* SPDX-License-Identifier: MIT
 *
 * The CPU device through its table, with kernels compiled from source: blocks over the pool, streams, events, graphs,
 * memory and every kind of fault. Needs a C++ compiler. */
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

#include "core/backend/backend.h"
#include "core/backend/interrupt.h"

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
    "__global__ void busy(volatile int *x, int turns) {\n"
    "  int s = 0;\n"
    "  for (int i = 0; i < turns; i++) s += x[0];\n"
    "  x[1] = s;\n"
    "}\n"
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
    "template <typename T> __global__ void scale(T *x, T a) { x[threadIdx.x] *= a; }\n";

typedef struct bench {
  mw_device *device;
  mw_module *module;
  mw_error   error;
} bench;

static const mw_backend *const cpu = &mw_cpu_backend;

static void check(bench *b, mw_status status) {
  if (status != MW_OK) fprintf(stderr, "%s\n%s\n", b->error.text, b->error.log ? b->error.log : "");
  assert_int_equal(status, MW_OK);
}

static bench *begin(void) {
  bench *b = calloc(1, sizeof *b);
  const mw_source source = {.name = "test_grid.cu", .text = source_text};
  check(b, cpu->open("", &b->device, &b->error));
  check(b, cpu->compile(b->device, &source, &b->module, &b->error));
  return b;
}

static void end(bench *b) {
  cpu->unload(b->module);
  mw_device_release(b->device);
  mw_error_clear(&b->error);
  free(b);
}

static mw_kernel *kernel(bench *b, const char *name) {
  mw_kernel *k;
  check(b, cpu->kernel(b->module, name, &k, &b->error));
  return k;
}

static mw_buffer *array(bench *b, size_t bytes) {
  mw_buffer *buffer;
  check(b, cpu->alloc(b->device->main, bytes, MW_SPACE_DEVICE, &buffer, &b->error));
  memset(buffer->address, 0, bytes);
  return buffer;
}

typedef struct arguments {
  void  *params[8];
  char   block[128];
  size_t used;
} arguments;

static void push(arguments *a, const void *value, size_t bytes) {
  a->used = (a->used + bytes - 1) / bytes * bytes;
  memcpy(a->block + a->used, value, bytes);
  a->used += bytes;
}

static void push_array(arguments *a, mw_buffer *buffer) { push(a, &buffer->address, sizeof buffer->address); }
static void push_int(arguments *a, int value) { push(a, &value, sizeof value); }
static void push_long(arguments *a, long value) { push(a, &value, sizeof value); }

static mw_launch prepared(mw_kernel *k, arguments *a, unsigned grid, unsigned block) {
  return (mw_launch){.kernel = k, .grid = {grid, 1, 1}, .block = {block, 1, 1}, .args = a->block, .params = a->params};
}

static mw_status go(bench *b, mw_stream *stream, mw_kernel *k, arguments *a, unsigned grid, unsigned block) {
  const mw_launch launch = prepared(k, a, grid, block);
  return cpu->launch(stream, &launch, &b->error);
}

static mw_stream *stream(bench *b, bool blocking) {
  mw_stream *s;
  check(b, cpu->stream_create(b->device, blocking, 0, &s, &b->error));
  return s;
}

static mw_event *event(bench *b) {
  mw_event *e;
  check(b, cpu->event_create(b->device, true, &e, &b->error));
  return e;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void expect(bench *b, mw_status got, mw_status wanted, const char *words) {
  if (!strstr(b->error.text, words)) fprintf(stderr, "wanted: %s\ngot:    %s\n", words, b->error.text);
  assert_int_equal(got, wanted);
  assert_non_null(strstr(b->error.text, words));
}

/* A launch of busy() that takes about the given time. */
static int turns_for(bench *b, mw_buffer *x, double seconds) {
  arguments a = {0};
  const int probe = 10000000;
  push_array(&a, x), push_int(&a, probe);
  double t = now();
  check(b, go(b, b->device->main, kernel(b, "busy"), &a, 1, 1));
  return (int)(probe * (seconds / (now() - t)));
}

/* ---- launches ------------------------------------------------------------------------------------------------------- */

static void test_every_block_once(void **state) {
  (void)state;
  bench *b = begin();
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
  bench *b = begin();
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
  expect(b, cpu->kernel(b->module, "scale", &k, &b->error), MW_INVALID, "is a template: name an instance, as in scale<float>");
  expect(b, cpu->kernel(b->module, "nope", &k, &b->error), MW_INVALID, "has no kernel 'nope'; it has: empty, copy, add");
  mw_buffer_release(x);
  end(b);
}

static void test_no_allocation(void **state) {
  (void)state;
  bench *b = begin();
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
  bench *b = begin();
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

/* ---- memory ------------------------------------------------------------------------------------------------------------ */

static void test_copy_and_fill(void **state) {
  (void)state;
  bench *b = begin();
  const size_t n = (48u << 20) + 13;
  mw_buffer *x = array(b, n), *y = array(b, n);
  const uint32_t word = 0x01020304;
  check(b, cpu->fill(b->device->main, (mw_place){.buffer = x, .offset = 4}, &word, 4, (n - 4) / 4, &b->error));
  assert_int_equal(((char *)x->address)[3], 0);
  check(b, cpu->copy(b->device->main, (mw_place){.buffer = y, .offset = 1}, (mw_place){.buffer = x}, n - 1, &b->error));
  assert_memory_equal((char *)y->address + 1, x->address, n - 1);
  assert_int_equal(*(uint32_t *)((char *)x->address + (n - 5) / 4 * 4), word);
  check(b, cpu->copy(b->device->main, (mw_place){.buffer = x, .offset = 8}, (mw_place){.buffer = x}, 1 << 20, &b->error));
  assert_int_equal(*(uint32_t *)((char *)x->address + 12), word);
  mw_buffer_release(x);
  mw_buffer_release(y);
  end(b);
}

static void test_out_of_memory(void **state) {
  (void)state;
  bench *b = begin();
  mw_buffer *x;
  expect(b, cpu->alloc(b->device->main, (size_t)1 << 50, MW_SPACE_DEVICE, &x, &b->error), MW_NO_MEMORY,
         "out of memory on cpu: wanted 1.05e+06 GiB, free ");
  end(b);
}

static void test_free_in_order(void **state) {
  (void)state;
  bench *b = begin();
  mw_stream *s = stream(b, false);
  mw_buffer *x = array(b, 4096), *y = array(b, 4096);
  size_t left, total, left_after;
  check(b, cpu->memory(b->device, &left, &total, &b->error));
  arguments a = {0};
  push_array(&a, x), push_int(&a, turns_for(b, x, 0.05));
  check(b, go(b, s, kernel(b, "busy"), &a, 1, 1));
  check(b, cpu->copy(s, (mw_place){.buffer = y}, (mw_place){.buffer = x}, 4096, &b->error));
  mw_buffer_release(x);
  mw_buffer_release(y);
  assert_int_equal(cpu->stream_query(s, &b->error), MW_NOT_READY);
  check(b, cpu->stream_synchronize(s, &b->error));
  check(b, cpu->memory(b->device, &left_after, &total, &b->error));
  cpu->stream_destroy(s);
  end(b);
}

/* ---- streams and events -------------------------------------------------------------------------------------------------- */

static void test_streams_overlap(void **state) {
  (void)state;
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2) skip();
  bench *b = begin();
  mw_stream *s[2] = {stream(b, true), stream(b, true)};
  mw_buffer *x[2] = {array(b, 64), array(b, 64)};
  mw_event *from[2] = {event(b), event(b)}, *to[2] = {event(b), event(b)};
  const int turns = turns_for(b, x[0], 0.1);
  for (int i = 0; i < 2; i++) {
    arguments a = {0};
    push_array(&a, x[i]), push_int(&a, turns);
    check(b, cpu->event_record(from[i], s[i], &b->error));
    check(b, go(b, s[i], kernel(b, "busy"), &a, 1, 1));
    check(b, cpu->event_record(to[i], s[i], &b->error));
  }
  check(b, cpu->synchronize(b->device, &b->error));
  double apart, first;
  check(b, cpu->event_elapsed(from[1], to[0], &apart, &b->error)); /* the second began before the first ended */
  check(b, cpu->event_elapsed(from[0], to[0], &first, &b->error));
  assert_true(apart > 0 && first > 0.02);
  for (int i = 0; i < 2; i++) {
    cpu->event_destroy(from[i]);
    cpu->event_destroy(to[i]);
    cpu->stream_destroy(s[i]);
    mw_buffer_release(x[i]);
  }
  end(b);
}

static void note_call(void *data) { atomic_fetch_add((atomic_int *)data, 1); }

static void test_order(void **state) {
  (void)state;
  bench *b = begin();
  mw_stream *s = stream(b, true), *t = stream(b, false);
  mw_buffer *x = array(b, 64 * sizeof(int)), *w = array(b, 64);
  mw_event *e = event(b);
  atomic_int called = 0;
  arguments slow = {0}, one = {0};
  push_array(&slow, w), push_int(&slow, turns_for(b, w, 0.05));
  push_array(&one, x), push_int(&one, 1);
  check(b, go(b, s, kernel(b, "busy"), &slow, 1, 1));
  check(b, go(b, s, kernel(b, "add"), &one, 1, 1));
  check(b, cpu->stream_callback(s, (mw_callback){note_call, &called}, &b->error));
  check(b, cpu->event_record(e, s, &b->error));
  assert_int_equal(cpu->event_query(e, &b->error), MW_NOT_READY);
  check(b, cpu->stream_wait(t, e, &b->error));
  check(b, go(b, t, kernel(b, "add"), &one, 1, 1));
  check(b, go(b, b->device->main, kernel(b, "add"), &one, 1, 1)); /* waits for s, which is blocking */
  assert_true(*(int *)x->address >= 2 && called == 1);
  check(b, cpu->stream_synchronize(t, &b->error));
  assert_int_equal(*(int *)x->address, 3);
  check(b, cpu->event_synchronize(e, &b->error));
  cpu->event_destroy(e);
  cpu->stream_destroy(s);
  cpu->stream_destroy(t);
  mw_buffer_release(x);
  mw_buffer_release(w);
  end(b);
}

static void test_event_errors(void **state) {
  (void)state;
  bench *b = begin();
  mw_event *e = event(b), *mute;
  double t;
  check(b, cpu->event_create(b->device, false, &mute, &b->error));
  expect(b, cpu->event_elapsed(e, e, &t, &b->error), MW_INVALID, "the earlier event has not been recorded");
  check(b, cpu->event_record(e, b->device->main, &b->error));
  expect(b, cpu->event_elapsed(e, mute, &t, &b->error), MW_INVALID, "the later event was made without timing");
  check(b, cpu->event_elapsed(e, e, &t, &b->error));
  assert_true(t == 0);
  cpu->event_destroy(e);
  cpu->event_destroy(mute);
  end(b);
}

/* ---- graphs ------------------------------------------------------------------------------------------------------------------ */

static mw_graph *captured(bench *b, mw_stream *s, mw_stream *t, mw_buffer *x, mw_buffer *y) {
  mw_event *fork = event(b), *join = event(b);
  mw_graph *g;
  arguments one = {0}, two = {0};
  push_array(&one, x), push_int(&one, 1);
  push_array(&two, y), push_int(&two, 2);
  check(b, cpu->capture_begin(s, &b->error));
  check(b, go(b, s, kernel(b, "add"), &one, 1, 16));
  check(b, cpu->event_record(fork, s, &b->error));
  check(b, cpu->stream_wait(t, fork, &b->error));
  check(b, go(b, t, kernel(b, "add"), &two, 1, 16));
  check(b, cpu->event_record(join, t, &b->error));
  check(b, go(b, s, kernel(b, "add"), &one, 1, 16));
  check(b, cpu->stream_wait(s, join, &b->error));
  check(b, cpu->copy(s, (mw_place){.buffer = y}, (mw_place){.buffer = x}, 4, &b->error));
  expect(b, cpu->stream_synchronize(s, &b->error), MW_INVALID, "being captured");
  expect(b, cpu->synchronize(b->device, &b->error), MW_INVALID, "being captured");
  char host[4];
  expect(b, cpu->copy(s, (mw_place){.host = host}, (mw_place){.buffer = x}, 4, &b->error), MW_INVALID, "being captured");
  check(b, cpu->capture_end(s, &g, &b->error));
  cpu->event_destroy(fork);
  cpu->event_destroy(join);
  return g;
}

static void test_graph(void **state) {
  (void)state;
  bench *b = begin();
  mw_stream *s = stream(b, true), *t = stream(b, true);
  mw_buffer *x = array(b, 64), *y = array(b, 64);
  mw_graph *g = captured(b, s, t, x, y);
  int *xs = x->address, *ys = y->address;
  assert_int_equal(xs[0], 0);
  assert_int_equal(g->nodes, 3);
  check(b, cpu->graph_launch(g, s, &b->error));
  check(b, cpu->graph_launch(g, b->device->main, &b->error));
  assert_int_equal(xs[15], 4);
  assert_int_equal(ys[15], 4);
  assert_int_equal(ys[0], 4);
  arguments ten = {0};
  push_array(&ten, y), push_int(&ten, 10);
  const mw_launch launch = prepared(kernel(b, "add"), &ten, 1, 8), wrong = prepared(kernel(b, "empty"), &ten, 1, 8);
  check(b, cpu->graph_update(g, 1, &launch, &b->error));
  check(b, cpu->graph_launch(g, b->device->main, &b->error));
  assert_int_equal(ys[7], 14);
  assert_int_equal(ys[8], 4);
  expect(b, cpu->graph_update(g, 3, &launch, &b->error), MW_INVALID, "has 3 kernel launches, there is no number 4");
  expect(b, cpu->graph_update(g, 0, &wrong, &b->error), MW_INVALID, "is of kernel 'add', not of 'empty'");
  char *dot;
  check(b, cpu->graph_dot(g, &dot, &b->error));
  assert_non_null(strstr(dot, "add\\ngrid 1 x 1 x 1, block 16 x 1 x 1"));
  assert_non_null(strstr(dot, "n1 -> n2"));
  assert_non_null(strstr(dot, "n2 -> n4"));
  assert_null(strstr(dot, "n2 -> n3"));
  mw_free(dot);
  cpu->graph_launch(g, s, &b->error);
  cpu->graph_destroy(g);
  cpu->stream_destroy(s);
  cpu->stream_destroy(t);
  mw_buffer_release(x);
  mw_buffer_release(y);
  end(b);
}

static void test_unjoined(void **state) {
  (void)state;
  bench *b = begin();
  mw_stream *s = stream(b, true), *t = stream(b, true);
  mw_event *fork = event(b);
  mw_graph *g = NULL;
  arguments none = {0};
  check(b, cpu->capture_begin(s, &b->error));
  expect(b, cpu->capture_begin(b->device->main, &b->error), MW_INVALID, "the default stream cannot be captured");
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

/* ---- faults --------------------------------------------------------------------------------------------------------------------- */

static void test_out_of_bounds(void **state) {
  (void)state;
  bench *b = begin();
  mw_buffer *x = array(b, 8000), *y = array(b, 8000);
  arguments a = {0}, r = {0};
  push_array(&a, x), push_long(&a, 1000);
  expect(b, go(b, b->device->main, kernel(b, "wild"), &a, 8, 32), MW_FAULT,
         "kernel 'wild' wrote outside every array: block (3,0,0), thread (17,0,0), just past the end of parameter 1 'B', "
         "an array of 8000 bytes (offset 8000; index 1000, it has 1000 of double *)");
  push_array(&r, y), push_array(&r, x), push_long(&r, -1000);
  expect(b, go(b, b->device->main, kernel(b, "peek"), &r, 1, 32), MW_FAULT,
         "kernel 'peek' read outside every array: block (0,0,0), thread (5,0,0), 8000 bytes before the start of parameter "
         "2 'A', an array of 8000 bytes (offset -8000; index -1000, it has 1000 of const double *)");
  arguments nothing = {0};
  const void *null = NULL;
  push(&nothing, &null, sizeof null), push_long(&nothing, 0);
  expect(b, go(b, b->device->main, kernel(b, "wild"), &nothing, 8, 32), MW_FAULT, "wrote through a null pointer: block (3,0,0)");
  mw_buffer_release(x);
  mw_buffer_release(y);
  end(b);
}

static void test_slack(void **state) {
  (void)state;
  bench *b = begin();
  mw_buffer *x = array(b, 8 * 1001);
  arguments a = {0};
  push_array(&a, x), push_long(&a, 1001);
  expect(b, go(b, b->device->main, kernel(b, "wild"), &a, 8, 32), MW_FAULT,
         "kernel 'wild' wrote outside every array: just past the end of parameter 1 'B', an array of 8008 bytes (offset 8008)");
  mw_buffer_release(x);
  end(b);
}

static void test_division(void **state) {
  (void)state;
  bench *b = begin();
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
  bench *b = begin();
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
  bench *b = begin();
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

static void test_divergent_source(void **state) {
  (void)state;
  bench *b = begin();
  arguments a = {0};
  push_int(&a, 32);
  expect(b, go(b, b->device->main, kernel(b, "uneven"), &a, 1, 64), MW_FAULT, "barrier divergence: thread (0,0,0) waits at test_grid.cu:");
  expect(b, go(b, b->device->main, kernel(b, "uneven"), &a, 1, 64), MW_FAULT, "while thread (63,0,0) waits at test_grid.cu:");
  a = (arguments){0};
  push_int(&a, 64);
  check(b, go(b, b->device->main, kernel(b, "uneven"), &a, 100, 64));
  end(b);
}

static void on_sigint(int number) {
  (void)number;
  mw_interrupt();
}

static void *press_later(void *target) {
  const struct timespec nap = {.tv_nsec = 100000000};
  nanosleep(&nap, NULL);
  pthread_kill(*(pthread_t *)target, SIGINT);
  return NULL;
}

static mw_status interrupted(bench *b, mw_stream *s, unsigned grid) {
  pthread_t me = pthread_self(), other;
  mw_buffer *x = array(b, 64);
  arguments a = {0};
  push_array(&a, x);
  pthread_create(&other, NULL, press_later, &me);
  mw_status status = go(b, s, kernel(b, "forever"), &a, grid, 32);
  if (status == MW_OK) status = cpu->stream_synchronize(s, &b->error);
  pthread_join(other, NULL);
  atomic_store(&mw_interrupted, false);
  mw_buffer_release(x);
  return status;
}

static void test_interrupt(void **state) {
  (void)state;
  bench *b = begin();
  mw_stream *s = stream(b, true);
  struct sigaction mine = {.sa_handler = on_sigint}, before;
  sigaction(SIGINT, &mine, &before);
  expect(b, interrupted(b, b->device->main, 1), MW_INTERRUPTED, "interrupted");
  expect(b, interrupted(b, b->device->main, 8), MW_INTERRUPTED, "interrupted");
  expect(b, interrupted(b, s, 8), MW_INTERRUPTED, "interrupted");
  sigaction(SIGINT, &before, NULL);
  arguments none = {0};
  check(b, go(b, b->device->main, kernel(b, "empty"), &none, 64, 32));
  check(b, go(b, s, kernel(b, "empty"), &none, 64, 32));
  check(b, cpu->synchronize(b->device, &b->error));
  cpu->stream_destroy(s);
  end(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_block_once), cmocka_unit_test(test_split_and_template),
      cmocka_unit_test(test_no_allocation),    cmocka_unit_test(test_print),
      cmocka_unit_test(test_copy_and_fill),    cmocka_unit_test(test_out_of_memory),
      cmocka_unit_test(test_free_in_order),    cmocka_unit_test(test_streams_overlap),
      cmocka_unit_test(test_order),            cmocka_unit_test(test_event_errors),
      cmocka_unit_test(test_graph),            cmocka_unit_test(test_unjoined),
      cmocka_unit_test(test_out_of_bounds),    cmocka_unit_test(test_slack),
      cmocka_unit_test(test_division),         cmocka_unit_test(test_assert), cmocka_unit_test(test_cooperative), cmocka_unit_test(test_divergent_source), cmocka_unit_test(test_interrupt),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
