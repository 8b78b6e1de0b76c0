/* SPDX-License-Identifier: MIT
 *
 * A body's tokens as C++: CUDA's qualifiers dropped, __shared__ and #pragma unroll as the shim and both compilers have
 * them, conditions that wait made to yield. */
#include <string.h>

#include "core/backend/cpu/program/program.h"

static const char *const *const dropped =
    WORDS("__global__", "__device__", "__host__", "__forceinline__", "__noinline__", "__constant__", "__managed__",
          "__grid_constant__", "__inline_hint__");
static const char *const *const dropped_calls = WORDS("__launch_bounds__", "__maxnreg__");
static const char *const storage[] = {"static", "inline", "__inline__", "__inline", "extern", NULL};
static const char *const coordinates[] = {"threadIdx", "blockIdx", "blockDim", "gridDim", NULL};

/* Each worker thread runs one block at a time: what its threads share is the worker's own. */
static const char tls_kept[] = " MW_KEPT ";
const char cpu_tls_shared[] = " MW_SHARED ";
const char cpu_placed[] = " MW_PLACED ", cpu_placed_kept[] = " MW_PLACED_KEPT ";

/* #pragma unroll [n]: clang++ knows it, g++ wants GCC unroll and a number. */
static void pragma_put(cpu_text *out, const cpu_tokens *tokens, const cpu_token *token) {
  const char *unroll = memmem(token->text, (size_t)token->size, "unroll", 6);
  if (!unroll) {
    cpu_text_token(out, tokens, token);
    return;
  }
  const char *rest = unroll + 6 + strspn(unroll + 6, " (");
  const int digits = (int)strspn(rest, "0123456789");
  cpu_text_put(out, "\n#if defined(__clang__)\n");
  cpu_text_add(out, token->text, (size_t)token->size);
  cpu_text_put(out, "\n#elif defined(__GNUC__)\n");
  if (digits && digits < 5) cpu_text_format(out, "#pragma GCC unroll %.*s\n", digits, rest);
  cpu_text_put(out, "#endif\n");
  out->file = 0;
}

/* extern __shared__ T name[]...; -> auto *const name = (T (*)...)mw_dynamic_shared(); Returns its end, or 0. */
static int extern_shared_put(const cpu_tokens *tokens, cpu_text *out, int i, int last) {
  const cpu_token *at = tokens->at;
  int end = i, shared = 0, bracket = 0;
  for (; end < last && !cpu_token_is(&at[end], ";"); end++) {
    if (cpu_token_is(&at[end], "__shared__")) shared = end;
    if (cpu_token_is(&at[end], "[") && !bracket) bracket = end;
    if (at[end].match > end) end = at[end].match;
  }
  if (!shared || end >= last) return 0;
  int name = (bracket ? bracket : end) - 1;
  cpu_text_range(out, tokens, i, i);
  cpu_text_put(out, bracket ? " auto *const " : " auto &");
  cpu_text_token(out, tokens, &at[name]);
  cpu_text_put(out, bracket ? " = (" : " = *(");
  for (int k = i; k < name; k++) {
    if (cpu_token_any(&at[k], WORDS("__align__", "alignas", "__attribute__")))
      k = at[k + 1].match;
    else if (!cpu_token_any(&at[k], WORDS("extern", "__shared__")))
      cpu_text_token(out, tokens, &at[k]);
  }
  cpu_text_put(out, " (*)");
  if (bracket) cpu_text_range(out, tokens, at[bracket].match + 1, end);
  cpu_text_put(out, ")mw_dynamic_shared();");
  return end + 1;
}

/* The expression after `=` is sums and products of coordinates, variables and small numbers: returns its end, or 0. */
static int index_expression(const cpu_tokens *tokens, int i, int last) {
  const cpu_token *at = tokens->at;
  bool any = false;
  for (; i < last && !cpu_token_any(&at[i], WORDS(";", ",")); i++) {
    if (at[i].kind == CPU_NAME && cpu_token_any(&at[i], coordinates) && cpu_token_is(&at[i + 1], "."))
      i += 2, any = true;
    else if (at[i].kind == CPU_NAME     ? cpu_token_any(&at[i + 1], WORDS("(", "[", ".", "->", "::", "<"))
             : at[i].kind == CPU_NUMBER ? strspn(at[i].text, "0123456789") < (size_t)at[i].size || at[i].size > 8
                                        : !(at[i].size == 1 && strchr("+-*()", at[i].text[0])))
      return 0;
  }
  return any ? i : 0;
}

/* int i = blockIdx.x * blockDim.x + threadIdx.x: the same 32 bits come out of signed arithmetic, which g++ can
 * vectorise where it cannot exclude that unsigned arithmetic wraps. Returns the end of what was written, or i. */
static int index_put(const cpu_tokens *tokens, cpu_text *out, int i, int last) {
  const cpu_token *at = tokens->at;
  if (!cpu_token_is(&at[i], "int") || (i && cpu_token_any(&at[i - 1], WORDS("unsigned", "long", "short", "signed"))))
    return i;
  int name = i + 1;
  for (;;) {
    if (name + 2 >= last || at[name].kind != CPU_NAME || !cpu_token_is(&at[name + 1], "=")) return i;
    int end = index_expression(tokens, name + 2, last);
    if (!end) return i;
    cpu_text_range(out, tokens, i, name + 2);
    for (int k = name + 2; k < end; k++) {
      if (at[k].kind == CPU_NAME && cpu_token_any(&at[k], coordinates)) cpu_text_put(out, " (int)");
      cpu_text_token(out, tokens, &at[k]);
    }
    i = end;
    if (end >= last || !cpu_token_is(&at[end], ",")) return i;
    name = end + 1;
  }
}

/* __shared__ T a[32], b; by entry.h's MW_PLACED: tokens i ... end, of which `names` are declared. */
static void place_put(const cpu_tokens *tokens, cpu_text *out, int i, int end, const int *names, int count,
                      const char *shared) {
  const cpu_token *at = tokens->at, *place = &at[names[0]];
  cpu_text_format(out, " struct%smw_place_%.*s {", shared, TEXT(place));
  for (int k = i + 1, n = 0; k <= end; k++) {
    if (cpu_token_is(&at[k], "static")) continue;
    if (n < count && k == names[n]) {
      cpu_text_format(out, " mw_placed_%.*s", TEXT(&at[k]));
      n++;
    } else
      cpu_text_token(out, tokens, &at[k]);
  }
  cpu_text_put(out, "};");
  for (int n = 0; n < count; n++) {
    const cpu_token *name = &at[names[n]];
    cpu_text_format(out, " auto &%.*s = mw_placed<mw_place_%.*s>().mw_placed_%.*s; (void)&%.*s;", TEXT(name),
                    TEXT(place), TEXT(name), TEXT(name));
  }
}

/* Returns the declaration's end, or 0: a form that is not understood. */
static int placed_put(const cpu_tokens *tokens, cpu_text *out, int i, int last, const char *shared) {
  const cpu_token *at = tokens->at;
  const int braces = cpu_class_braces(tokens, i, last); /* of a class declared with it */
  int end = i;
  for (; end < last && !cpu_token_is(&at[end], ";"); end++) {
    if (cpu_token_is(&at[end], "=") || (cpu_token_is(&at[end], "{") && end != braces)) return 0;
    if (at[end].match > end) end = at[end].match;
  }
  if (end >= last) return 0;
  int *names = mw_malloc((size_t)(end + 1 - i) * sizeof *names);
  const int count = cpu_shared_names(tokens, i, end + 1, names, end + 1 - i);
  if (count) place_put(tokens, out, i, end, names, count, shared);
  mw_free(names);
  return count ? end + 1 : 0;
}

/* One token, or the construct that begins at it. Returns where to go on. */
static int token_put(const cpu_tokens *tokens, cpu_text *out, int i, int last, const char *shared) {
  const cpu_token *at = tokens->at;
  if (at[i].yields) cpu_text_put(out, cpu_token_is(&at[i], ";") ? " mw_yield(), true" : " mw_yield(), ");
  if (at[i].kind == CPU_PRAGMA) {
    pragma_put(out, tokens, &at[i]);
    return i + 1;
  }
  if (at[i].kind == CPU_NAME) {
    if (cpu_token_any(&at[i], dropped)) return i + 1;
    if (cpu_token_any(&at[i], dropped_calls) && cpu_token_is(&at[i + 1], "(")) return at[i + 1].match + 1;
    int end = cpu_token_is(&at[i], "extern") ? extern_shared_put(tokens, out, i, last) : 0;
    if (end) return end;
    if (cpu_token_is(&at[i], "static") && cpu_token_is(&at[i + 1], "__shared__")) return i + 1;
    if (cpu_token_is(&at[i], "__shared__")) {
      end = shared == cpu_placed || shared == cpu_placed_kept ? placed_put(tokens, out, i, last, shared) : 0;
      if (end) return end;
      cpu_text_put(out, shared == cpu_placed ? cpu_tls_shared : shared == cpu_placed_kept ? tls_kept : shared);
      return i + 1 + cpu_token_is(&at[i + 1], "static");
    }
    end = index_put(tokens, out, i, last);
    if (end > i) return end;
  }
  cpu_text_token(out, tokens, &at[i]);
  return i + 1;
}

void cpu_emit_tokens(const cpu_tokens *tokens, cpu_text *out, int first, int last, const char *shared) {
  for (int i = first; i < last;) i = token_put(tokens, out, i, last, shared);
}

/* The name that an extern __shared__ item declares. */
static int shared_name(const cpu_tokens *tokens, const cpu_item *item) {
  for (int i = item->first; i + 1 < item->last; i++)
    if (cpu_token_any(&tokens->at[i + 1], WORDS("[", ";"))) return i;
  return item->first;
}

void cpu_emit_shared(const cpu_program *program, cpu_text *out, const cpu_tokens *tokens, int first, int last) {
  for (int k = 0; k < program->nitems; k++) {
    const cpu_item *item = &program->items[k];
    if (item->kind != CPU_ITEM_SHARED) continue;
    const cpu_token *name = &program->tokens.at[shared_name(&program->tokens, item)];
    if (cpu_find_same(tokens, first, last, name) < last)
      cpu_emit_tokens(&program->tokens, out, item->first, item->last, cpu_tls_shared);
  }
}

/* Declaration tokens without storage class: the generator gives each function its own. */
void cpu_emit_declaration(const cpu_program *program, cpu_text *out, int first, int last) {
  const cpu_token *at = program->tokens.at;
  for (int i = first; i < last;) {
    if (at[i].kind == CPU_NAME && cpu_token_any(&at[i], storage)) {
      bool linkage = cpu_token_is(&at[i], "extern") && at[i + 1].kind == CPU_STRING;
      i += linkage ? 2 : 1;
    } else
      i = token_put(&program->tokens, out, i, last, cpu_tls_shared);
  }
}
