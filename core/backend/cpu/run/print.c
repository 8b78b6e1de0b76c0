/* SPDX-License-Identifier: MIT
 *
 * What kernels print. It is formatted into the worker's own buffer: a bad %s is then the kernel's fault and no lock
 * stays taken. The buffer goes to standard output when the worker leaves the grid, or when it is large. */
#include "core/backend/cpu/run/machine.h"

#include "core/base/memory.h"

#include <stdio.h>

enum { TEXT_MOST = 1 << 20 };

void cpu_print_flush(mw_text *text) {
  if (!text->used) return;
  fwrite(text->bytes, 1, text->used, stdout);
  fflush(stdout);
  text->used = 0;
}

static void make_room(mw_text *text, size_t more) {
  if (text->used > TEXT_MOST) cpu_print_flush(text);
  if (text->used + more <= text->size) return;
  text->size = (text->used + more) * 2;
  text->bytes = mw_realloc(text->bytes, text->size);
}

int cpu_print(cpu_worker *worker, const char *format, va_list args) {
  mw_text *text = &worker->text;
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (length < 0 || worker->mute) return length;
  worker->busy = 1;
  make_room(text, (size_t)length + 1);
  vsnprintf(text->bytes + text->used, (size_t)length + 1, format, args);
  text->used += (size_t)length;
  worker->busy = 0;
  return length;
}
