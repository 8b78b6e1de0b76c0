/* SPDX-License-Identifier: MIT
 *
 * A numerical library to call (tests/bind/library_calls_spec.lua), on the host's memory, which the fake driver's is. Its
 * handles and vectors are counted; what is alive at exit is told, and with MOCK_CUDA_TELL=1 so is each call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mock/mock.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

typedef struct handle {
  void *stream;
} handle;

typedef struct vector {
  int count;
  const float *values;
} vector;

enum { REFUSED = 7, UNLUCKY = 13 };

static int handles, vectors;

const char *mock_library_explain(int status) {
  return status == REFUSED ? "the number is unlucky" : "unknown";
}

static void __attribute__((destructor)) tell_leaks(void) {
  if (handles || vectors) fprintf(stderr, "mock library: leak: %d handles, %d vectors\n", handles, vectors);
}

int mock_library_create(handle **out) {
  *out = calloc(1, sizeof **out);
  handles++;
  mock_tell("create\n");
  return 0;
}

int mock_library_destroy(handle *self) {
  free(self);
  handles--;
  mock_tell("destroy\n");
  return 0;
}

int mock_library_stream(handle *self, void *stream) {
  mock_tell(stream ? "follow a stream\n" : "follow the default stream\n");
  self->stream = stream;
  return 0;
}

int mock_library_scale(handle *self, int count, const float *alpha, const float *x, const float *beta, float *y) {
  (void)self;
  for (int i = 0; i < count; i++) y[i] = *alpha * x[i] + (*beta != 0 ? *beta * y[i] : 0);
  mock_tell("scale %d\n", count);
  return 0;
}

float mock_library_dotf(int count, const float *x, const float *y) {
  float sum = 0;
  for (int i = 0; i < count; i++) sum += x[i] * y[i];
  return sum;
}

double mock_library_dot(int count, const double *x, const double *y) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += x[i] * y[i];
  return sum;
}

int mock_library_vector(vector **out, int count, const float *values) {
  *out = malloc(sizeof **out);
  **out = (vector){count, values};
  vectors++;
  return 0;
}

int mock_library_forget(vector *self) {
  free(self);
  vectors--;
  return 0;
}

int mock_library_room(handle *self, const vector *x, size_t *bytes) {
  (void)self;
  *bytes = (size_t)x->count * sizeof(float);
  return 0;
}

int mock_library_sum(handle *self, const vector *x, void *room, float *sum) {
  float *values = room;
  (void)self;
  if (x->count == UNLUCKY) return REFUSED;
  memcpy(values, x->values, (size_t)x->count * sizeof *values);
  *sum = 0;
  for (int i = 0; i < x->count; i++) *sum += values[i];
  return 0;
}

int mock_library_add(const vector *x, int way, int first, float *y) {
  for (int i = 0; i < x->count; i++) y[i] = (float)(way * (int)x->values[i] + first);
  return 0;
}
