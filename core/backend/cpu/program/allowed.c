/* SPDX-License-Identifier: MIT
 *
 * What check mode takes of a source that it judges. A compiler has many words that keep an access from being seen:
 *
 *   __attribute__((no_sanitize("thread")))   #pragma clang attribute push(...)   __builtin_ia32_maskstoreps256(...)
 *
 * So attributes, pragmas and built-in functions are lists of those that leave every access where it is. All others are
 * refused, and with them assembly, headers of the system, intrinsics and atomics of the host's compilers, types whose
 * accesses clang++ calls no hook for, questions whose answer is another in check mode, and the names of moonwarp and of
 * the hooks. Only code that is compiled counts: host code may have what it likes. What a macro stands for is there
 * already, and what moonwarp writes itself is not yet. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/backend/backend.h"
#include "core/backend/cpu/program/program.h"
#include "core/compile/excerpt.h"

/* ---- the lists ------------------------------------------------------------------------------------------------- */

/* Without the underscores around them, with "gnu::" or "clang::" in front or without. */
static const char *const *const attributes =
    WORDS("aligned", "always_inline", "cold", "deprecated", "fallthrough", "flatten", "format", "hot", "likely",
          "may_alias", "maybe_unused", "nodiscard", "noinline", "noreturn", "nothrow", "no_unique_address", "packed",
          "unlikely", "unused", "used", "warn_unused_result");

/* By their first word; where two words stand, by both. */
static const char *const *const pragmas =
    WORDS("unroll", "nounroll", "once", "pack", "omp", "acc", "message", "warning", "comment", "region", "endregion",
          "STDC", "GCC unroll", "GCC ivdep", "GCC diagnostic", "GCC warning", "clang diagnostic", "nv_suppress",
          "nv_diagnostic", "nv_diag_suppress", "nv_diag_default", "nv_diag_warning", "nv_diag_error", "nv_diag_once",
          "diag_suppress", "diag_default", "diag_warning", "diag_error", "nv_exec_check_disable", "hd_warning_disable");

/* After "__builtin_". Where another letter may follow: for float ("f"), for longer integers ("l", "ll"). */
static const char *const *const builtins =
    WORDS("LINE", "FILE", "FUNCTION", "COLUMN", "abort", "addressof", "align__", "alloca", "assume", "assume_aligned",
          "bit_cast", "bswap16", "bswap32", "bswap64", "debugtrap", "expect", "expect_with_probability",
          "is_constant_evaluated", "isfinite", "isgreater", "isgreaterequal", "isinf", "isinf_sign", "isless",
          "islessequal", "islessgreater", "isnan", "isnormal", "isunordered", "launder", "offsetof", "prefetch",
          "signbit", "trap", "unreachable", "types_compatible_p", "add_overflow", "mul_overflow", "sub_overflow",
          "va_arg", "va_copy", "va_end", "va_start", "bitreverse8", "bitreverse16", "bitreverse32", "bitreverse64");
static const char *const *const integer_builtins = WORDS("abs", "clrsb", "clz", "ctz", "ffs", "parity", "popcount");
static const char *const *const float_builtins =
    WORDS("acos", "asin", "atan", "atan2", "cbrt", "ceil", "copysign", "cos", "cosh", "erf", "erfc", "exp", "exp2",
          "expm1", "fabs", "floor", "fma", "fmax", "fmin", "fmod", "hypot", "huge_val", "inf", "ldexp", "log", "log10",
          "log1p", "log2", "nan", "nearbyint", "pow", "rint", "round", "sin", "sinh", "sqrt", "tan", "tanh", "trunc");

/* What no name in device code begins with. */
static const struct barred_name {
  const char *const *begins;
  const char *what, *instead;
} barred_names[] = {
    {WORDS("mw_", "MW_"), "moonwarp's own", "give it another name"},
    {WORDS("__tsan_", "__ubsan_", "__sanitizer", "__real_", "__wrap_"), "of the hooks", "give it another name"},
    {WORDS("__SANITIZE", "__has_", "__is_identifier"), "another in check mode", "leave it out"},
    {WORDS("__atomic_", "__c11_atomic_", "__opencl_atomic_", "__scoped_atomic_", "__sync_", "_Atomic"),
     "of the host's compilers", "use CUDA's functions, such as atomicAdd"},
    {WORDS("_mm_", "_mm256_", "_mm512_"), "an x86 intrinsic", "use CUDA's functions"},
    {WORDS("__m64", "__m128", "__m256", "__m512"), "an x86 vector", "use CUDA's types"},
    {WORDS("__seg_"), "an address space of x86", "leave it out"},
    {WORDS("_BitInt", "_ExtInt", "__float80", "_Float64x"), "of a size that no GPU has", "use CUDA's types"},
    {WORDS("__declspec", "__pragma", "_Pragma"), "of a host's compiler", "use __attribute__ or #pragma"},
};

/* ---- words ----------------------------------------------------------------------------------------------------- */

static bool is_word(const char *at, int size, const char *const *words) {
  const mw_token word = {.kind = MW_TOKEN_NAME, .text = at, .size = size};
  return size > 0 && mw_token_any(&word, words);
}

/* Is it one of the words, with or without one of the endings? */
static bool is_family(const char *at, int size, const char *const *words, const char *const *endings) {
  if (is_word(at, size, words)) return true;
  for (; *endings; endings++) {
    const int more = (int)strlen(*endings);
    if (size > more && !memcmp(at + size - more, *endings, (size_t)more) && is_word(at, size - more, words))
      return true;
  }
  return false;
}

static bool begins(const mw_token *token, const char *with) {
  const size_t size = strlen(with);
  return (size_t)token->size >= size && !memcmp(token->text, with, size);
}

static const struct barred_name *barred_name(const mw_token *token) {
  for (size_t i = 0; i < sizeof barred_names / sizeof *barred_names; i++)
    for (const char *const *with = barred_names[i].begins; *with; with++)
      if (begins(token, *with)) return &barred_names[i];
  return NULL;
}

static bool is_barred_builtin(const mw_token *token) {
  static const char front[] = "__builtin_";
  const int length = (int)strlen(front);
  if (!begins(token, front)) return false;
  const char *at = token->text + length;
  const int size = token->size - length;
  return !is_word(at, size, builtins) && !is_family(at, size, integer_builtins, WORDS("l", "ll")) &&
         !is_family(at, size, float_builtins, WORDS("f"));
}

/* ---- attributes ------------------------------------------------------------------------------------------------ */

static bool is_allowed_attribute(const mw_token *token) {
  const char *at = token->text, *end = at + token->size;
  if (end - at > 4 && !memcmp(at, "__", 2) && !memcmp(end - 2, "__", 2)) at += 2, end -= 2;
  return is_word(at, (int)(end - at), attributes);
}

/* Bars the names of the attributes between the brackets at `open`: aligned(16), gnu::cold, using clang: noinline. */
static void attribute_list(mw_tokens *tokens, int open) {
  mw_token *at = tokens->at;
  for (int i = open + 1; i < at[open].match; i++) {
    const bool scope = mw_token_any(&at[i + 1], WORDS("::", ":"));
    if (at[i].kind == MW_TOKEN_NAME && !scope && !mw_token_is(&at[i], "using") && !is_allowed_attribute(&at[i]))
      cpu_bar(&at[i], CPU_BARRED_ATTRIBUTE);
    if (at[i].match > i) i = at[i].match;
  }
}

/* __attribute__((...)) or [[...]] at token i. */
static void attributes_bar(mw_tokens *tokens, int i) {
  const mw_token *at = tokens->at;
  const bool word = mw_token_any(&at[i], WORDS("__attribute__", "__attribute"));
  const int open = i + word;
  const char *bracket = word ? "(" : "[";
  if (mw_token_is(&at[open], bracket) && mw_token_is(&at[open + 1], bracket) && at[open + 1].match > open)
    attribute_list(tokens, open + 1);
}

/* ---- pragmas --------------------------------------------------------------------------------------------------- */

static int word_size(const char *at, const char *end) {
  const char *from = at;
  while (at < end && (*at == '_' || isalnum((unsigned char)*at))) at++;
  return (int)(at - from);
}

/* The one or two words after "# pragma"; 0 if none, or more than one line. */
static int pragma_words(const mw_token *token, char *out, size_t room) {
  const char *end = token->text + token->size, *at = strstr(token->text, "pragma");
  const char *line = memchr(token->text, '\r', (size_t)token->size);
  if (!at || at >= end || (line && line + 1 < end)) return 0;
  at += strlen("pragma");
  at += strspn(at, " \t");
  const int first = word_size(at, end);
  const char *next = at + first + strspn(at + first, " \t");
  const bool named = is_word(at, first, WORDS("GCC", "clang"));
  return snprintf(out, room, "%.*s%s%.*s", first, at, named ? " " : "", named ? word_size(next, end) : 0, next);
}

/* #warning hides nothing. */
static bool is_barred_pragma(const mw_token *token) {
  char words[96];
  if (!strncmp(token->text + 1 + strspn(token->text + 1, " \t"), "warning", strlen("warning"))) return false;
  const int size = pragma_words(token, words, sizeof words);
  return size >= (int)sizeof words || !is_word(words, size, pragmas);
}

/* ---- types and characters -------------------------------------------------------------------------------------- */

/* The double of long double, in any order. */
static bool is_long_double(const mw_tokens *tokens, int i) {
  const char *const *const among = WORDS("const", "volatile", "static", "constexpr", "__restrict__");
  const mw_token *at = tokens->at;
  if (!mw_token_is(&at[i], "double")) return false;
  int before = i - 1, after = i + 1;
  while (before >= 0 && mw_token_any(&at[before], among)) before--;
  while (after < tokens->count && mw_token_any(&at[after], among)) after++;
  return (before >= 0 && mw_token_is(&at[before], "long")) || mw_token_is(&at[after], "long");
}

/* 1.5L */
static bool is_long_number(const mw_token *token) {
  const char *at = token->text, last = at[token->size - 1];
  const bool hex = token->size > 1 && (at[1] | 32) == 'x', point = memchr(at, '.', (size_t)token->size);
  const bool power = strcspn(at, hex ? "pP" : "eE") < (size_t)token->size;
  return (last | 32) == 'l' && (point || power);
}

/* A trigraph, or a \ outside of strings, which would join lines: the compiler reads other words than stand there. */
static bool is_disguise(const mw_tokens *tokens, int i) {
  const mw_token *at = &tokens->at[i];
  if (at->kind == MW_TOKEN_STRING) return memmem(at->text, (size_t)at->size, "?\?/", 3);
  return mw_token_is(at, "\\") || (mw_token_is(at, "?") && mw_token_is(at + 1, "?"));
}

/* ---- barring --------------------------------------------------------------------------------------------------- */

static cpu_barred barred(const mw_tokens *tokens, int i) {
  const mw_token *at = &tokens->at[i];
  if (at->kind == MW_TOKEN_PRAGMA) return is_barred_pragma(at) ? CPU_BARRED_PRAGMA : CPU_FREE;
  if (at->kind == MW_TOKEN_CHUNK) return at->text[0] == '#' ? CPU_BARRED_HEADER : CPU_FREE; /* else one of the shim's */
  if (at->kind == MW_TOKEN_NUMBER) return is_long_number(at) ? CPU_BARRED_TYPE : CPU_FREE;
  if (is_disguise(tokens, i)) return CPU_BARRED_DISGUISE;
  if (at->kind != MW_TOKEN_NAME) return CPU_FREE;
  if (is_barred_builtin(at)) return CPU_BARRED_BUILTIN;
  return is_long_double(tokens, i) ? CPU_BARRED_TYPE : barred_name(at) ? CPU_BARRED_NAME : CPU_FREE;
}

void cpu_allowed_read(mw_tokens *tokens) {
  for (int i = 0; i < tokens->count; i++)
    if (!cpu_barred_of(&tokens->at[i])) cpu_bar(&tokens->at[i], barred(tokens, i));
  for (int i = 0; i < tokens->count; i++) attributes_bar(tokens, i);
}

/* ---- messages -------------------------------------------------------------------------------------------------- */

/* #include <tuple> */
static char *header_why(const mw_token *token) {
  const char *name = token->text + strcspn(token->text, "\"<");
  return mw_format("check mode does not see into the system's header %.*s: device code does without it",
                   (int)strcspn(name, "\n"), name);
}

static char *why(const mw_token *token) {
  const struct barred_name *own;
  char words[96] = "";
  switch (cpu_barred_of(token)) {
  case CPU_BARRED_ATTRIBUTE:
    return mw_format("check mode does not know that the attribute '%.*s' hides no access: leave it out", TEXT(token));
  case CPU_BARRED_PRAGMA:
    pragma_words(token, words, sizeof words);
    return mw_format("check mode does not know that '#pragma %s' hides no access: leave it out", words);
  case CPU_BARRED_BUILTIN:
    return mw_format("check mode does not know that '%.*s' hides no access: use CUDA's functions", TEXT(token));
  case CPU_BARRED_NAME:
    own = barred_name(token);
    return mw_format("'%.*s' is %s, and check mode would not see what it does: %s", TEXT(token), own->what,
                     own->instead);
  case CPU_BARRED_TYPE:
    return mw_strdup("CUDA has no long double, and check mode does not see it: use double");
  case CPU_BARRED_HEADER:
    return header_why(token);
  case CPU_BARRED_DISGUISE:
    return mw_strdup("a trigraph or a stray '\\', which hides words from check mode: leave it out");
  case CPU_FREE:
    break;
  }
  return NULL;
}

char *cpu_allowed_name(const char *text) {
  mw_tokens tokens = {0};
  char *found = NULL;
  mw_tokens_lex(&tokens, text, text + strlen(text), 1, 0);
  mw_tokens_match(&tokens);
  cpu_allowed_read(&tokens);
  for (int i = 0; i < tokens.count && !found; i++) found = why(&tokens.at[i]);
  mw_tokens_free(&tokens);
  return found;
}

/* In functions only inline PTX is left by now (callgraph.c). */
static char *asm_why(const cpu_item *item, const mw_token *token) {
  const bool is_asm = token->kind == MW_TOKEN_NAME && mw_token_any(token, WORDS("asm", "__asm__", "__asm"));
  return is_asm && item->kind == CPU_ITEM_TEXT ? mw_strdup("check mode does not see into asm: leave it out") : NULL;
}

/* Host code may include what it likes: a header is no reason for errors without it. */
static void barred_keep(cpu_program *program, const mw_token *token, const mw_error *error) {
  if (program->barred.status || cpu_barred_of(token) == CPU_BARRED_HEADER) return;
  program->barred = *error;
  program->barred.log = error->log ? mw_strdup(error->log) : NULL;
}

mw_status cpu_allowed_check(cpu_program *program, mw_error *error) {
  mw_text log = {0};
  const mw_token *first = NULL;
  for (int k = 0; k < program->nitems; k++) {
    const cpu_item *item = &program->items[k];
    for (int i = item->first; item->kind != CPU_ITEM_HOST && i < item->last; i++) {
      char *found = why(&program->tokens.at[i]);
      if (!found) found = asm_why(item, &program->tokens.at[i]);
      if (!found) continue;
      if (!first) mw_fail(error, MW_UNSUPPORTED, "%s: %s", cpu_where(program, i), found);
      if (!first) first = &program->tokens.at[i];
      mw_excerpt_say(&log, &program->source, &program->tokens, &program->tokens.at[i], found);
      mw_free(found);
      break;
    }
  }
  if (!first) return MW_OK;
  mw_error_log(error, log.at);
  barred_keep(program, first, error);
  return MW_UNSUPPORTED;
}
