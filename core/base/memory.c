/* SPDX-License-Identifier: MIT
 *
 * Counted host memory. The count lets a test assert that the hot path allocates nothing. */
#include "core/base/memory.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_uint_fast64_t calls;

uint64_t mw_allocations(void) {
  return atomic_load_explicit(&calls, memory_order_relaxed);
}

static void *counted(void *block, size_t bytes) {
  atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
  if (block) return block;
  fprintf(stderr, "moonwarp: the system has no memory left (%zu bytes wanted)\n", bytes);
  abort();
}

void *mw_malloc(size_t bytes) {
  return counted(malloc(bytes ? bytes : 1), bytes);
}

void *mw_calloc(size_t count, size_t bytes) {
  return counted(calloc(count ? count : 1, bytes ? bytes : 1), bytes);
}

void *mw_realloc(void *block, size_t bytes) {
  return counted(realloc(block, bytes ? bytes : 1), bytes);
}

char *mw_strdup(const char *text) {
  return strcpy(mw_malloc(strlen(text) + 1), text);
}

char *mw_vformat(const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  char *text = mw_malloc((size_t)length + 1);
  vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return text;
}

char *mw_format(const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text = mw_vformat(format, args);
  va_end(args);
  return text;
}

void mw_free(void *block) {
  free(block);
}

void *mw_grow(void *array, size_t count, size_t item) {
  return count & (count - 1) ? array : mw_realloc(array, (count ? 2 * count : 1) * item);
}

void mw_list_add(char *list, size_t size, const char *separator, const char *format, ...) {
  size_t used = strlen(list);
  if (used) used += (size_t)snprintf(list + used, size - used, "%s", separator);
  if (used >= size) return;
  va_list args;
  va_start(args, format);
  vsnprintf(list + used, size - used, format, args);
  va_end(args);
}

const char *mw_bytes_text(char out[32], double bytes) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 6; unit++) bytes /= 1024;
  snprintf(out, 32, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
  return out;
}
