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
  int end = i, shared = 0, bracket = 0;
  for (; end < last && !mw_token_is(&at[end], ";"); end++) {
    if (mw_token_is(&at[end], "__shared__")) shared = end;
    if (mw_token_is(&at[end], "[") && !bracket) bracket = end;
    if (at[end].match > end) end = at[end].match;
  }
  if (!shared || end >= last) return 0;
  int name = (bracket ? bracket : end) - 1;
  mw_text_range(out, tokens, i, i);
  mw_text_put(out, bracket ? " auto *const " : " auto &");
  mw_text_token(out, tokens, &at[name]);
  mw_text_put(out, bracket ? " = (" : " = *(");
  for (int k = i; k < name; k++) {
    if (mw_token_any(&at[k], WORDS("__align__", "alignas", "__attribute__")))
      k = at[k + 1].match;
    else if (!mw_token_any(&at[k], WORDS("extern", "__shared__", "__device__")))
      mw_text_token(out, tokens, &at[k]);
  }
  mw_text_put(out, " (*)");
  if (bracket) mw_text_range(out, tokens, at[bracket].match + 1, end);
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

/* The specifiers of the declaration that begins at i have __shared__ among them, and not extern. */
static bool declares_shared(const mw_tokens *tokens, int i, int last) {
  const mw_token *at = tokens->at;
  for (; i < last && (at[i].kind == MW_TOKEN_NAME || mw_token_is(&at[i], "::")); i++) {
    if (mw_token_any(&at[i], WORDS("__shared__", "extern"))) return mw_token_is(&at[i], "__shared__");
    if (mw_token_is(&at[i + 1], "<"))
      i = mw_angle_end(tokens, i + 1, last) - 1;
    else if (mw_token_is(&at[i + 1], "("))
      i = at[i + 1].match;
  }
  return false;
}

typedef struct placed {  /* a declaration of shared memory */
  int first, end, name;  /* its ; and the first name; -1: a form that is not understood */
  int class, class_last; /* tokens of a class that is declared with it; -1: none */
} placed;

/* The declaration that begins at i. */
static placed placed_read(const mw_tokens *tokens, int i, int last) {
  const mw_token *at = tokens->at;
  const char *const *const words = WORDS("struct", "class", "union", "enum");
  const int braces = mw_class_braces(tokens, i, last);
  placed it = {.first = i, .end = i, .name = -1, .class = braces ? mw_find(tokens, i, braces, words) : -1};
  it.class_last = at[braces].match + 1;
  for (; it.end < last && !mw_token_is(&at[it.end], ";"); it.end++) {
    if (mw_token_is(&at[it.end], "=") || (mw_token_is(&at[it.end], "{") && it.end != braces)) return it;
    if (mw_token_is(&at[it.end], ",") && mw_token_is(&at[it.end + 1], "(")) return it; /* int a[8], (b); */
    if (at[it.end].match > it.end) it.end = at[it.end].match;
  }
  if (it.end < last) it.name = mw_variable_next(tokens, i, it.end + 1, -1);
  return it;
}

static int name_next(const mw_tokens *tokens, const placed *it, int name) {
  return mw_variable_next(tokens, it->first, it->end + 1, name);
}

/* For check mode: the members' names. */
static void names_put(const mw_tokens *tokens, mw_text *out, const placed *it) {
  const mw_token *at = tokens->at, *place = &at[it->name];
  mw_text_put(out, " static void mw_named(mw_u64 offset) {");
  for (int name = it->name; name >= 0; name = name_next(tokens, it, name))
    mw_text_format(out, " mw_name(offset, \"%.*s\", &mw_place_%.*s::mw_placed_%.*s);", TEXT(&at[name]), TEXT(place),
                   TEXT(&at[name]));
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
  for (int k = it->first, name = it->name, end; k <= it->end; k = end) {
    end = k + 1;
    if (k == it->class) {
      cpu_emit_tokens(tokens, out, k, end = it->class_last, "");
    } else if (k == name) {
      mw_text_format(out, " mw_type_%.*s", TEXT(&at[k]));
      name = name_next(tokens, it, name);
    } else if (k < it->name && mw_token_is(&at[k], "decltype")) {
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
  mw_text_format(out, " struct%smw_place_%.*s {", shared, TEXT(&at[it->name]));
  for (int name = it->name; name >= 0; name = name_next(tokens, it, name)) {
    const bool gap = out->checked && name > it->name; /* see entry.h */
    if (gap) mw_text_format(out, " char mw_gap_%.*s[128];", TEXT(&at[name]));
    for (int k = it->first; k < it->end; k = k == it->class ? it->class_last : k + 1)
      if (aligns(&at[k])) mw_text_range(out, tokens, k, aside_end(at, k));
    mw_text_format(out, " mw_type_%.*s mw_placed_%.*s;", TEXT(&at[name]), TEXT(&at[name]));
  }
  if (out->checked) names_put(tokens, out, it);
  mw_text_put(out, "};");
}

/* ... and a name. */
static void placed_name_put(const mw_tokens *tokens, mw_text *out, const placed *it, int i, const char *scope) {
  const mw_token *place = &tokens->at[it->name], *name = &tokens->at[i];
  mw_text_format(out, " auto &%.*s = mw_placed<%smw_place_%.*s>().mw_placed_%.*s; (void)&%.*s;", TEXT(name), scope,
                 TEXT(place), TEXT(name), TEXT(name));
}

/* Returns the declaration's end, or 0: a form that is not understood. */
static int placed_put(const mw_tokens *tokens, mw_text *out, int i, int last, const char *shared) {
  const placed it = placed_read(tokens, i, last);
  if (it.name < 0) return 0;
  place_put(tokens, out, &it, shared);
  for (int name = it.name; name >= 0; name = name_next(tokens, &it, name)) placed_name_put(tokens, out, &it, name, "");
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
    end = places && declares_shared(tokens, i, last) ? placed_put(tokens, out, i, last, shared) : 0;
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

/* The name that an extern __shared__ item declares. */
static int shared_name(const mw_tokens *tokens, const cpu_item *item) {
  for (int i = item->first; i + 1 < item->last; i++)
    if (mw_token_any(&tokens->at[i + 1], WORDS("[", ";"))) return i;
  return item->first;
}

static bool is_placed(const mw_tokens *tokens, const cpu_item *item) {
  return item->kind == CPU_ITEM_SHARED && declares_shared(tokens, item->first, item->last);
}

const mw_token *cpu_item_place(const cpu_program *program, const cpu_item *item) {
  if (!is_placed(&program->tokens, item)) return NULL;
  const placed it = placed_read(&program->tokens, item->first, item->last);
  return it.name < 0 ? NULL : &program->tokens.at[it.name];
}

void cpu_emit_place(const cpu_program *program, mw_text *out, const cpu_item *item) {
  if (!cpu_item_place(program, item)) return;
  const placed it = placed_read(&program->tokens, item->first, item->last);
  place_put(&program->tokens, out, &it, cpu_placed);
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
static void placed_names_put(const cpu_program *program, const cpu_function *function, mw_text *out,
                             const cpu_item *item, const mw_tokens *tokens, mw_span range) {
  const placed it = placed_read(&program->tokens, item->first, item->last);
  for (int i = it.name; i >= 0; i = name_next(&program->tokens, &it, i)) {
    const mw_token *name = &program->tokens.at[i];
    if (mw_find_use(tokens, range.first, range.last, name) < range.last && cpu_may_mean(program, function, item, name))
      placed_name_put(&program->tokens, out, &it, i, item->scope);
  }
}

void cpu_emit_shared(const cpu_program *program, const cpu_function *function, mw_text *out, const mw_tokens *tokens,
                     mw_span range) {
  for (int k = 0; k < program->nitems; k++) {
    const cpu_item *item = &program->items[k];
    if (item->kind != CPU_ITEM_SHARED) continue;
    const mw_token *name = &program->tokens.at[shared_name(&program->tokens, item)];
    if (is_placed(&program->tokens, item))
      placed_names_put(program, function, out, item, tokens, range);
    else if (mw_find_same(tokens, range.first, range.last, name) < range.last &&
             cpu_may_mean(program, function, item, name))
      cpu_emit_tokens(&program->tokens, out, item->first, item->last, cpu_tls_shared);
  }
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
