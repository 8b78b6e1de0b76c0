/* SPDX-License-Identifier: MIT
 *
 * Filling and clearing an mw_error. */
#include "core/base/error.h"
#include "core/base/memory.h"

#include <stdarg.h>
#include <stdio.h>

mw_status mw_fail(mw_error *err, mw_status status, const char *format, ...) {
  if (!err) return status;
  va_list args;
  va_start(args, format);
  vsnprintf(err->text, sizeof err->text, format, args);
  va_end(args);
  err->status = status;
  err->place = err->words = 0;
  err->generated = false;
  return status;
}

void mw_error_log(mw_error *err, char *log) {
  mw_free(err ? err->log : log);
  if (err) err->log = log;
}

void mw_error_clear(mw_error *err) {
  mw_free(err->log);
  err->log = NULL;
  err->text[0] = '\0';
  err->status = MW_OK;
  err->place = err->words = 0;
  err->generated = false;
}
