/* SPDX-License-Identifier: MIT
 *
 * Filling and clearing an mw_error. */
#include "core/backend/backend.h"

#include <stdarg.h>
#include <stdio.h>

mw_status mw_fail(mw_error *err, mw_status status, const char *format, ...) {
  if (!err) return status;
  va_list args;
  va_start(args, format);
  vsnprintf(err->text, sizeof err->text, format, args);
  va_end(args);
  err->status = status;
  return status;
}

const char *mw_bytes_text(char out[32], double bytes) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 6; unit++) bytes /= 1024;
  snprintf(out, 32, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
  return out;
}

void mw_error_clear(mw_error *err) {
  mw_free(err->log);
  err->log = NULL;
  err->text[0] = '\0';
  err->status = MW_OK;
}
