/* SPDX-License-Identifier: MIT
 *
 * Check mode, clang++: accesses for which its thread sanitizer calls no hook, of 3, 5, 6, 7, 9 ... bytes. Bit-fields have
 * them, and structures that are passed by value. The calls are added to its LLVM text:
 *
 *   %7 = load i24, i24* %6, align 1, !dbg !12
 *
 *   call void bitcast (void (i8*, i64, i32)* @mw_check_bytes to void (i24*, i64, i32)*)(i24* %6, i64 3, i32 0), !dbg !12
 *   %7 = load i24, i24* %6, align 1, !dbg !12
 *
 * And one is taken out: to write a bit-field it loads what is next to it, which need not hold a value. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend/cpu/check/mark/mark.h"

typedef struct access { /* load i24, i24* %6, align 1   store volatile i24 %9, ptr %6, align 1 */
  long bytes;
  bool stores, is_volatile;
  const char *pointer; /* i24* %6 */
  int size;            /* of its text */
} access;

static const char *find(const char *line, const char *end, const char *text) {
  return memmem(line, (size_t)(end - line), text, strlen(text));
}

/* False: the line is no access of an integer. */
static bool access_read(const char *line, const char *end, access *out) {
  const char *load = find(line, end, " = load "), *last;
  out->stores = !strncmp(line, "  store ", 8);
  if (!out->stores && !load) return false;
  const char *at = out->stores ? line + 8 : load + 8;
  out->is_volatile = !strncmp(at, "volatile ", 9);
  if (out->is_volatile) at += 9;
  if (*at != 'i' || !isdigit((unsigned char)at[1]) || !(out->pointer = find(at, end, ", "))) return false;
  out->bytes = (atol(at + 1) + 7) / 8;
  out->pointer += 2;
  if (!(last = find(out->pointer, end, ", align "))) return false;
  out->size = (int)(last - out->pointer);
  return true;
}

static bool is_hooked(const access *it) {
  return it->bytes <= 16 && !(it->bytes & (it->bytes - 1));
}

/* Is the load of a bit-field for the sake of those next to it alone? The part that is kept goes into a store to the
 * same place, in the same block of instructions. */
static bool is_for_store(const char *line, const char *end, const access *it) {
  const char *name = line + 2;
  const int size = (int)strcspn(name, " ");
  access other;
  if (it->stores || strncmp(name, "%bf.load", 8)) return false;
  for (line = end + 1; !strncmp(line, "  ", 2); line = end + 1) {
    end = line + strcspn(line, "\n");
    const char *use = memmem(line, (size_t)(end - line), name, (size_t)size);
    const bool used = use && !isalnum((unsigned char)use[size]) && use[size] != '.';
    if (used && !find(line, end, " = and ") && !find(line, end, " = or ")) return false;
    if (access_read(line, end, &other) && other.stores && other.size == it->size &&
        !memcmp(other.pointer, it->pointer, (size_t)it->size))
      return true;
  }
  return false;
}

static void call_put(mw_text *out, const char *line, const char *end, const access *it) {
  const int type = (int)strcspn(it->pointer, " ");
  const char *place = find(line, end, ", !dbg !");
  mw_text_put(out, "  call void ");
  if (strncmp(it->pointer, "ptr", 3))
    mw_text_format(out, "bitcast (void (i8*, i64, i32)* @mw_check_bytes to void (%.*s, i64, i32)*)", type, it->pointer);
  else
    mw_text_put(out, "@mw_check_bytes");
  mw_text_format(out, "(%.*s, i64 %ld, i32 %d)", it->size, it->pointer, it->bytes, it->stores + 2 * it->is_volatile);
  if (place) mw_text_format(out, "%.*s", 8 + (int)strspn(place + 8, "0123456789"), place);
  mw_text_put(out, "\n");
}

char *cpu_accesses_call(const char *text) {
  mw_text out = {0};
  size_t call = 0; /* where the line in front begins, if it is the call of a hook */
  for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
    access it;
    end = line + strcspn(line, "\n");
    const bool is_access = access_read(line, end, &it);
    if (is_access && is_for_store(line, end, &it))
      out.size = call ? call : out.size;
    else if (is_access && !is_hooked(&it))
      call_put(&out, line, end, &it);
    call = find(line, end, "call void @__tsan_") ? out.size : 0;
    mw_text_add(&out, line, (size_t)(end - line));
    mw_text_put(&out, "\n");
  }
  if (strstr(out.at, "@mw_check_bytes"))
    mw_text_format(&out, "declare void @mw_check_bytes(%s, i64, i32)\n",
                   strstr(out.at, "@mw_check_bytes(") ? "ptr" : "i8*");
  return out.at;
}

bool cpu_accesses_differ(const cpu_program *program) {
  static const char *const small[] = {"char", "short", "bool",  "half", "float16",
                                      "fp8",  "int8",  "int16", "byte", "packed"};
  const mw_token *at = program->tokens.at;
  for (int i = 1, questions = 0; i < program->tokens.count; i++) {
    questions += mw_token_is(&at[i], "?");
    if (mw_token_is(&at[i], ":") && questions-- <= 0 && at[i - 1].kind == MW_TOKEN_NAME) return true;
    for (size_t k = 0; at[i].kind == MW_TOKEN_NAME && k < sizeof small / sizeof *small; k++)
      if (memmem(at[i].text, (size_t)at[i].size, small[k], strlen(small[k]))) return true;
  }
  return false;
}
