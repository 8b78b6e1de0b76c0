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
static const char *const storage[] = {"static", "inline", "__inline__", "__inline", "extern", "constinit", NULL};

/* Each worker thread runs one block at a time: what its threads share is the worker's own. */
static const char tls_kept[] = " MW_KEPT ";
const char cpu_tls_shared[] = " MW_SHARED ";
const char cpu_placed[] = " MW_PLACED ", cpu_placed_kept[] = " MW_PLACED_KEPT ";

/* #pragma unroll [n]: clang++ knows it, g++ wants GCC unroll and a number. */
static void pragma_put(mw_text *out, const mw_tokens *tokens, const mw_token *token) {
  const char *unroll = memmem(token->text, (size_t)token->size, "unroll", 6);
  if (!unroll) {
    mw_text_token(out, tokens, token);
    return;
  }
  const char *rest = unroll + 6 + strspn(unroll + 6, " (");
  const int digits = (int)strspn(rest, "0123456789");
  mw_text_put(out, "\n#if defined(__clang__)\n");
  mw_text_add(out, token->text, (size_t)token->size);
  mw_text_put(out, "\n#elif defined(__GNUC__)\n");
  if (digits && digits < 5) mw_text_format(out, "#pragma GCC unroll %.*s\n", digits, rest);
  mw_text_put(out, "#endif\n");
  out->file = 0;
}

/* extern __shared__ T name[]...; -> auto *const name = (T (*)...)mw_dynamic_shared(); Returns its end, or 0. */
static int extern_shared_put(const mw_tokens *tokens, mw_text *out, int i, int last) {
  const mw_token *at = tokens->at;
  const int end = mw_find_open(tokens, i, last, WORDS(";"));
  mw_declared it;
  if (end == last || !mw_declared_read(tokens, i, end, NULL, &it, 1) || !it.is_shared) return 0;
  const bool array = it.dims < it.dims_last;
  mw_text_range(out, tokens, i, i);
  mw_text_put(out, array ? " auto *const " : " auto &");
  mw_text_token(out, tokens, &at[it.name]);
  mw_text_put(out, array ? " = (" : " = *(");
  for (int k = i; k < it.name; k++) {
    if (mw_token_any(&at[k], WORDS("__align__", "alignas", "__attribute__")))
      k = at[k + 1].match;
    else if (!mw_token_any(&at[k], WORDS("extern", "__shared__", "__device__")))
      mw_text_token(out, tokens, &at[k]);
  }
  mw_text_put(out, " (*)");
  if (array) mw_text_range(out, tokens, at[it.dims].match + 1, end);
  mw_text_put(out, ")mw_dynamic_shared();");
  return end + 1;
}

/* The expression after `=` is sums and products of coordinates, variables and small numbers: returns its end, or 0. */
static int index_expression(const mw_tokens *tokens, int i, int last) {
  const mw_token *at = tokens->at;
  bool any = false;
  for (; i < last && !mw_token_any(&at[i], WORDS(";", ",")); i++) {
    if (mw_is_builtin(&at[i], MW_CUDA_COORDINATE) && mw_token_is(&at[i + 1], ".") && at[i + 2].kind == MW_TOKEN_NAME)
      i += 2, any = true;
    else if (at[i].kind == MW_TOKEN_NAME     ? mw_token_any(&at[i + 1], WORDS("(", "[", ".", "->", "::", "<"))
             : at[i].kind == MW_TOKEN_NUMBER ? strspn(at[i].text, "0123456789") < (size_t)at[i].size || at[i].size > 8
                                             : !(at[i].size == 1 && strchr("+-*()", at[i].text[0])))
      return 0;
  }
  return any ? i : 0;
}

/* int i = blockIdx.x * blockDim.x + threadIdx.x: the same 32 bits come out of signed arithmetic, which g++ can
 * vectorise where it cannot exclude that unsigned arithmetic wraps. Returns the end of what was written, or i. */
static int index_put(const mw_tokens *tokens, mw_text *out, int i, int last) {
  const mw_token *at = tokens->at;
  if (!mw_token_is(&at[i], "int") || (i && mw_token_any(&at[i - 1], WORDS("unsigned", "long", "short", "signed"))))
    return i;
  int name = i + 1;
  for (;;) {
    if (name + 2 >= last || at[name].kind != MW_TOKEN_NAME || !mw_token_is(&at[name + 1], "=")) return i;
    int end = index_expression(tokens, name + 2, last);
    if (!end) return i;
    mw_text_range(out, tokens, i, name + 2);
    for (int k = name + 2; k < end; k++) {
      if (mw_is_builtin(&at[k], MW_CUDA_COORDINATE)) mw_text_put(out, " (int)");
      mw_text_token(out, tokens, &at[k]);
    }
    i = end;
    if (end >= last || !mw_token_is(&at[end], ",")) return i;
    name = end + 1;
  }
}

/* Does a declaration of static shared memory begin at i? The word comes first (mw_specifiers_order). */
static bool declares_shared(const mw_tokens *tokens, int i) {
  return mw_token_is(&tokens->at[i + mw_token_is(&tokens->at[i], "static")], "__shared__");
}

enum { MOST_PLACED = 64 };

typedef struct placed {  /* a declaration of shared memory */
  int first, end;        /* its ; */
  int class, class_last; /* tokens of a class that is declared with it; -1: none */
  int count;             /* 0: a form that is not understood */
  mw_declared at[MOST_PLACED];
} placed;

/* The declaration that begins at i. */
static void placed_read(const mw_tokens *tokens, int i, int last, placed *out) {
  const int braces = mw_class_braces(tokens, i, last);
  out->first = i;
  out->end = mw_find_open(tokens, i, last, WORDS(";"));
  out->class = braces ? mw_find(tokens, i, braces, WORDS("struct", "class", "union", "enum")) : -1;
  out->class_last = tokens->at[braces].match + 1;
  out->count = out->end < last ? mw_declared_read(tokens, i, out->end, NULL, out->at, MOST_PLACED) : 0;
  for (int k = 0; k < out->count; k++)
    if (out->at[k].value < out->at[k].value_last || out->at[k].first > out->at[k].name) out->count = 0;
}

static const mw_token *name_of(const mw_tokens *tokens, const placed *it, int k) {
  return &tokens->at[it->at[k].name];
}

/* For check mode: the members' names. */
static void names_put(const mw_tokens *tokens, mw_text *out, const placed *it) {
  const mw_token *place = name_of(tokens, it, 0);
  mw_text_put(out, " static void mw_named(mw_u64 offset) {");
  for (int k = 0; k < it->count; k++)
    mw_text_format(out, " mw_name(offset, \"%.*s\", &mw_place_%.*s::mw_placed_%.*s);", TEXT(name_of(tokens, it, k)),
                   TEXT(place), TEXT(name_of(tokens, it, k)));
  mw_text_put(out, " }");
}

static bool aligns(const mw_token *token) {
  return mw_token_any(token, WORDS("alignas", "__align__", "__attribute__"));
}

/* Past tokens that are no part of a type: static, __align__(16), [[attribute]]; i: it is one. */
static int aside_end(const mw_token *at, int i) {
  if (aligns(&at[i])) return at[i + 1].match + 1;
  if (mw_token_is(&at[i], "[") && mw_token_is(&at[i + 1], "[")) return at[i].match + 1;
  return i + mw_token_any(&at[i], WORDS("static", "__shared__", "__device__"));
}

/* __shared__ T a[32], b; by entry.h's MW_PLACED: the types, before a structure that may not use the function's own
 * objects, as in a[c.size()], and would hide a class that it declares. Shared variables are references by now. */
static void types_put(const mw_tokens *tokens, mw_text *out, const placed *it) {
  const mw_token *at = tokens->at;
  mw_text_put(out, " typedef ");
  for (int k = it->first, n = 0, end; k <= it->end; k = end) {
    end = k + 1;
    if (k == it->class) {
      cpu_emit_tokens(tokens, out, k, end = it->class_last, "");
    } else if (n < it->count && k == it->at[n].name) {
      mw_text_format(out, " mw_type_%.*s", TEXT(&at[k]));
      n++;
    } else if (!n && mw_token_is(&at[k], "decltype")) {
      end = at[k + 1].match + 1;
      mw_text_put(out, " mw_bare<");
      mw_text_range(out, tokens, k, end);
      mw_text_put(out, ">");
    } else if (aside_end(at, k) > k)
      end = aside_end(at, k);
    else
      mw_text_token(out, tokens, &at[k]);
  }
}

/* ... the structure, ... */
static void place_put(const mw_tokens *tokens, mw_text *out, const placed *it, const char *shared) {
  const mw_token *at = tokens->at;
  types_put(tokens, out, it);
  mw_text_format(out, " struct%smw_place_%.*s {", shared, TEXT(name_of(tokens, it, 0)));
  for (int n = 0; n < it->count; n++) {
    const mw_token *name = name_of(tokens, it, n);
    const bool gap = out->checked && n; /* see entry.h */
    if (gap) mw_text_format(out, " char mw_gap_%.*s[128];", TEXT(name));
    for (int k = it->first; k < it->end; k = k == it->class ? it->class_last : k + 1)
      if (aligns(&at[k])) mw_text_range(out, tokens, k, aside_end(at, k));
    mw_text_format(out, " mw_type_%.*s mw_placed_%.*s;", TEXT(name), TEXT(name));
  }
  if (out->checked) names_put(tokens, out, it);
  mw_text_put(out, "};");
}

/* ... and a name. */
static void placed_name_put(const mw_tokens *tokens, mw_text *out, const placed *it, int k, const char *scope) {
  const mw_token *place = name_of(tokens, it, 0), *name = name_of(tokens, it, k);
  mw_text_format(out, " auto &%.*s = mw_placed<%smw_place_%.*s>().mw_placed_%.*s; (void)&%.*s;", TEXT(name), scope,
                 TEXT(place), TEXT(name), TEXT(name));
}

/* Returns the declaration's end, or 0: a form that is not understood. */
static int placed_put(const mw_tokens *tokens, mw_text *out, int i, int last, const char *shared) {
  placed it;
  placed_read(tokens, i, last, &it);
  if (!it.count) return 0;
  place_put(tokens, out, &it, shared);
  for (int k = 0; k < it.count; k++) placed_name_put(tokens, out, &it, k, "");
  return it.end + 1;
}

/* What the condition or the loop that begins at token i has in addition: spin_wait.c. */
static void round_put(const mw_tokens *tokens, mw_text *out, int i) {
  const mw_token *at = &tokens->at[i];
  const bool empty = mw_token_is(at, ";");
  if (at->marks & CPU_COUNTED) mw_text_put(out, " MW_COUNTED ");
  if (at->marks & CPU_COUNTS) mw_text_put(out, empty ? " mw_spin.next()" : " mw_spin.next(),");
  if (at->marks & CPU_YIELDS)
    mw_text_put(out, mw_token_is(at, ":") ? " : mw_yield();" : empty ? " mw_yield(), true" : " mw_yield(), ");
}

/* ---- lambdas --------------------------------------------------------------------------------------------------- */

/* Declared in the same text? */
static bool is_shared(const mw_tokens *tokens, const mw_token *name) {
  const char *const *const words = WORDS("__shared__", "mw_kept");
  for (int i = 0; name->kind == MW_TOKEN_NAME && (i = mw_find(tokens, i, tokens->count, words)) < tokens->count; i++)
    if (mw_variable_find(tokens, i, mw_find_open(tokens, i, tokens->count, WORDS(";")), name) >= 0) return true;
  return false;
}

/* CUDA's lambdas capture neither coordinates nor shared memory, which are no variables of the function. Here they are: [n]
 * that names both becomes [n, &s, threadIdx]. Returns the ], or i: nothing is added there. */
static int captures_put(const mw_tokens *tokens, mw_text *out, int i) {
  const mw_token *at = tokens->at;
  const int open = mw_lambda_open(tokens, i), close = at[i].match;
  const bool copies = mw_token_is(&at[i + 1], "="),
             all = mw_token_is(&at[i + 1], "&") && at[i + 2].kind != MW_TOKEN_NAME;
  const char *comma = close == i + 1 ? "" : ", ";
  if (!open || all) return i;
  mw_text_range(out, tokens, i, close);
  for (int k = open; k < at[open].match; k++) {
    const bool index = mw_is_builtin(&at[k], MW_CUDA_COORDINATE) || mw_token_is(&at[k], "mw_t");
    const bool shared = is_shared(tokens, &at[k]), named = shared || (out->indexed && !copies && index);
    if (!named || mw_is_member(tokens, k) || mw_find_use(tokens, open, k, &at[k]) < k) continue;
    mw_text_format(out, "%s%s%.*s", comma, shared ? "&" : "", TEXT(&at[k]));
    comma = ", ";
  }
  return close;
}

/* ---- tokens ---------------------------------------------------------------------------------------------------- */

/* One token, or the construct that begins at it. Returns where to go on. */
static int token_put(const mw_tokens *tokens, mw_text *out, int i, int last, const char *shared) {
  const mw_token *at = tokens->at;
  if (mw_token_is(&at[i], "[")) i = captures_put(tokens, out, i);
  round_put(tokens, out, i);
  if ((at[i].marks & CPU_YIELDS) && mw_token_is(&at[i], ":")) return i + 1; /* of a label */
  if (at[i].kind == MW_TOKEN_PRAGMA) {
    pragma_put(out, tokens, &at[i]);
    return i + 1;
  }
  if (at[i].kind == MW_TOKEN_NAME) {
    if (mw_token_any(&at[i], dropped)) return i + 1;
    if (mw_token_any(&at[i], dropped_calls) && mw_token_is(&at[i + 1], "(")) return at[i + 1].match + 1;
    int end = mw_token_is(&at[i], "extern") ? extern_shared_put(tokens, out, i, last) : 0;
    if (end) return end;
    const bool places = shared == cpu_placed || shared == cpu_placed_kept;
    end = places && declares_shared(tokens, i) ? placed_put(tokens, out, i, last, shared) : 0;
    if (end) return end;
    if (mw_token_is(&at[i], "static") && mw_token_is(&at[i + 1], "__shared__")) return i + 1;
    if (mw_token_is(&at[i], "__shared__")) {
      const int from = i + 1;
      while (mw_token_is(&at[i + 1], "alignas")) i = at[i + 2].match; /* precedes the shim's attributes */
      for (int k = from; k <= i; k++) mw_text_token(out, tokens, &at[k]);
      mw_text_put(out, shared == cpu_placed ? cpu_tls_shared : shared == cpu_placed_kept ? tls_kept : shared);
      return i + 1 + mw_token_is(&at[i + 1], "static");
    }
    end = index_put(tokens, out, i, last);
    if (end > i) return end;
  }
  mw_text_token(out, tokens, &at[i]);
  return i + 1;
}

void cpu_emit_tokens(const mw_tokens *tokens, mw_text *out, int first, int last, const char *shared) {
  for (int i = first; i < last;) i = token_put(tokens, out, i, last, shared);
}

/* False: it is not placed. */
static bool item_read(const cpu_program *program, const cpu_item *item, placed *out) {
  out->count = 0;
  if (item->kind == CPU_ITEM_SHARED && declares_shared(&program->tokens, item->first))
    placed_read(&program->tokens, item->first, item->last, out);
  return out->count;
}

const mw_token *cpu_item_place(const cpu_program *program, const cpu_item *item) {
  placed it;
  return item_read(program, item, &it) ? name_of(&program->tokens, &it, 0) : NULL;
}

void cpu_emit_place(const cpu_program *program, mw_text *out, const cpu_item *item) {
  placed it;
  if (item_read(program, item, &it)) place_put(&program->tokens, out, &it, cpu_placed);
}

static bool uses_namespaces(const cpu_program *program, int last) {
  const mw_tokens *tokens = &program->tokens;
  for (int i = 0; (i = mw_find(tokens, i, last, WORDS("using"))) < last; i++)
    if (mw_token_is(&tokens->at[i + 1], "namespace")) return true;
  return false;
}

bool cpu_may_mean(const cpu_program *program, const cpu_function *function, const cpu_item *item,
                  const mw_token *name) {
  const mw_body *tree = cpu_function_tree(program, function);
  for (int i = 1; i < tree->ndeclared; i++) {
    const int declared = tree->declared[i].name;
    if (mw_same_text(&program->tokens.at[declared], name) &&
        mw_enclosing(&program->tokens, function->body, declared) == function->body)
      return false;
  }
  return item->last <= function->first && !cpu_is_formal(program, function, name) &&
         (!strncmp(function->scope, item->scope, strlen(item->scope)) || uses_namespaces(program, function->last));
}

/* Those of the item's variables that the tokens of a function name. */
static void item_names_put(const cpu_program *program, const cpu_function *function, mw_text *out, const cpu_item *item,
                           const mw_tokens *tokens, mw_span range) {
  const mw_tokens *own = &program->tokens;
  placed it;
  item_read(program, item, &it);
  for (int name = -1, k = 0; (name = mw_variable_next(own, item->first, item->last, name)) >= 0; k++) {
    const bool named = mw_find_use(tokens, range.first, range.last, &own->at[name]) < range.last;
    if (!named || !cpu_may_mean(program, function, item, &own->at[name])) continue;
    if (k < it.count) placed_name_put(own, out, &it, k, item->scope);
    if (!declares_shared(own, item->first)) {
      cpu_emit_tokens(own, out, item->first, item->last, cpu_tls_shared);
      return;
    }
  }
}

void cpu_emit_shared(const cpu_program *program, const cpu_function *function, mw_text *out, const mw_tokens *tokens,
                     mw_span range) {
  for (const cpu_item *item = program->items; item < program->items + program->nitems; item++)
    if (item->kind == CPU_ITEM_SHARED) item_names_put(program, function, out, item, tokens, range);
}

/* Declaration tokens without storage class: the generator gives each function its own. */
void cpu_emit_declaration(const cpu_program *program, mw_text *out, int first, int last) {
  const mw_token *at = program->tokens.at;
  for (int i = first; i < last;) {
    if (at[i].kind == MW_TOKEN_NAME && mw_token_any(&at[i], storage)) {
      bool linkage = mw_token_is(&at[i], "extern") && at[i + 1].kind == MW_TOKEN_STRING;
      i += linkage ? 2 : 1;
    } else
      i = token_put(&program->tokens, out, i, last, cpu_tls_shared);
  }
}
