/* SPDX-License-Identifier: MIT
 *
 * The null backend: memory is host memory, copies and fills are done at once, kernels are declared and do nothing. It
 * counts the calls it gets, and asserts what backend.h says that the binding has checked: a broken promise ends the
 * process with the line here. A test's own registry lists it, so that it also proves that a backend is a folder and a
 * line. */
#ifndef TESTS_NULL_H
#define TESTS_NULL_H

#include <assert.h>
#include <string.h>

#include "core/backend/backend.h"

enum { MOST_BUFFERS = 4096 };

typedef struct null_device {
  mw_device base;
  mw_stream main, per_thread;
  int streams, events, graphs, modules; /* alive */
  bool capturing;
} null_device;

typedef struct null_buffer {
  mw_buffer base;
  const mw_stream *user; /* some stream other than its own that has used it */
} null_buffer;

extern null_buffer *null_buffers[MOST_BUFFERS]; /* alive */

null_device *null_device_of(const mw_device *);
null_buffer *null_add_buffer(mw_device *, mw_stream *, size_t bytes, mw_space);

/* A call of the entry of this name. */
void null_count(const char *name);
#define CALLED() null_count(__func__ + strlen("null_"))

/* ---- modules and kernels: module.c ----------------------------------------------------------------------------- */

mw_status null_compile(mw_device *device, const mw_source *source, mw_module **out, mw_error *err);
void null_unload(mw_module *base);
mw_status null_kernel_get(mw_module *base, const char *name, mw_kernel **out, mw_error *err);
mw_status null_variable(mw_module *base, const char *name, mw_buffer **out, mw_param *type, mw_error *err);
mw_status null_text(mw_module *module, const char *kind, char **out, mw_error *err);
mw_status null_occupancy(mw_kernel *kernel, int threads, size_t shared, mw_occupancy *out, mw_error *err);

#endif
