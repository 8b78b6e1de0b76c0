/* SPDX-License-Identifier: MIT */
#include "core/runtime/host_text.h"

#include "core/base/memory.h"
#include "core/runtime/symbols.h"
#include "core/source/body.h"
#include "core/source/declaration.h"
#include "core/source/declarator.h"

typedef struct writer {
  const mw_tokens *tokens;
  mw_text out;
  runtime_text *about;
  int source;
} writer;

/* Words of CUDA's that a host compiler does not know. */
static bool is_qualifier(const mw_token *token) {
  return mw_token_any(token, WORDS("__global__", "__device__", "__host__", "__constant__", "__managed__", "__shared__",
                                   "__noinline__", "__grid_constant__", "__forceinline__", "__launch_bounds__",
                                   "__cluster_dims__", "__block_size__", "__maxnreg__", "__nv_pure__"));
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

/* The ( or < that a bracket at a token closes, from token `least` on; -1: none. */
static int opening(const mw_tokens *tokens, int least, int close) {
  if (tokens->at[close].match >= 0) return tokens->at[close].match;
  int depth = 0;
  for (int i = close; i >= least; i--) {
    const mw_token *token = &tokens->at[i];
    if (i < close && token->match >= 0 && token->match < i)
      i = token->match;
    else if (mw_token_is(token, ">"))
      depth++;
    else if (mw_token_is(token, "<") && --depth == 0)
      return i;
  }
  return -1;
}

/* Where the expression before the <<< at a token begins: a::f<int>, (*f), table[i], object->f. */
static int callee_begin(const mw_tokens *tokens, int least, int launch) {
  const mw_token *at = tokens->at;
  int i = launch - 1;
  for (;;) {
    while (i > least && mw_token_any(&at[i], WORDS(">", ")", "]"))) {
      const int open = opening(tokens, least, i);
      if (open < 0) return i;
      const bool is_call = open > least && at[open - 1].kind == MW_TOKEN_NAME && !mw_token_is(&at[open - 1], "return");
      if (mw_token_is(&at[i], ")") && !is_call) return open;
      i = open - 1;
    }
    if (i - 1 < least || !mw_token_any(&at[i - 1], WORDS("::", ".", "->"))) return i;
    if (i - 2 < least || !(at[i - 2].kind == MW_TOKEN_NAME || mw_token_any(&at[i - 2], WORDS(">", ")", "]"))))
      return i - 1;
    i -= 2;
  }
}

/* ---- a range of tokens ------------------------------------------------------------------------------------------ */

static void range_put(writer *w, int first, int last);

/* At a <<<, whose callee from `begin` on has been left out: returns the token after the launch. */
static int launch_put(writer *w, int begin, int launch, int end) {
  const mw_tokens *tokens = w->tokens;
  const int close = tokens->at[end + 3].match;
  mw_text_token(&w->out, tokens,
                &(mw_token){.kind = MW_TOKEN_PUNCT,
                            .text = "(",
                            .size = 1,
                            .space = true,
                            .line = tokens->at[begin].line,
                            .file = tokens->at[begin].file});
  mw_text_put(&w->out, "moonwarp_push(");
  range_put(w, launch + 1, end);
  mw_text_put(&w->out, "), ");
  range_put(w, begin, launch);
  range_put(w, end + 3, close + 1);
  mw_text_put(&w->out, ")");
  return close + 1;
}

/* The launch whose callee begins at a token: its <<<, and the first of its >>>. */
static bool launch_begins(const mw_tokens *tokens, int i, int last, int *launch, int *end) {
  const mw_token *at = tokens->at;
  if (at[i].kind != MW_TOKEN_NAME && !mw_token_any(&at[i], WORDS("(", "::"))) return false;
  for (int k = i + 1; k < last; k++) {
    if (mw_token_is(&at[k], "<<<")) {
      *launch = k;
      *end = mw_launch_end(tokens, k, last);
      return *end < last && callee_begin(tokens, i, k) == i;
    }
    if (mw_token_any(&at[k], WORDS(";", "{", "}", ","))) {
      const bool angle = mw_token_is(&at[k], ",");
      if (!angle) return false;
    }
    if (k - i > 64) return false;
  }
  return false;
}

static void range_put(writer *w, int first, int last) {
  const mw_tokens *tokens = w->tokens;
  for (int i = first, launch, end; i < last; i++) {
    const mw_token *token = &tokens->at[i];
    if (token->kind == MW_TOKEN_NAME && is_qualifier(token)) {
      if (mw_token_is(token, "__forceinline__")) mw_text_put(&w->out, " inline ");
      if (mw_is_attribute(token) && mw_token_is(token + 1, "(")) i = token[1].match;
    } else if (launch_begins(tokens, i, last, &launch, &end)) {
      i = launch_put(w, i, launch, end) - 1;
    } else {
      mw_text_token(&w->out, tokens, token);
    }
  }
}

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

/* The body that hands over the arguments: the address of each parameter. */
static void body_put(writer *w, const mw_formal *formals, int count) {
  mw_text_format(&w->out, " { static moonwarp_site " RUNTIME_SITE "%d; void *moonwarp_arguments[] = {", w->source);
  for (int i = 0; i < count; i++) {
    const mw_formal *formal = &formals[i];
    char *unnamed = mw_format("moonwarp_%d", i);
    const bool pack = mw_has(w->tokens, formal->first, formal->last, "...");
    mw_text_put(&w->out, "(void *)__builtin_addressof(");
    if (formal->name >= 0)
      mw_text_add(&w->out, w->tokens->at[formal->name].text, (size_t)w->tokens->at[formal->name].size);
    else
      mw_text_put(&w->out, unnamed);
    mw_text_put(&w->out, pack ? ")..., " : "), ");
    mw_free(unnamed);
  }
  mw_text_format(&w->out, "nullptr}; moonwarp_launch(&" RUNTIME_SITE "%d, moonwarp_arguments); }", w->source);
}

/* From the ( of the parameters to its ): one without a name is given one. */
static void formals_put(writer *w, const mw_declaration *it, const mw_formal *formals, int count) {
  int done = it->open;
  for (int i = 0; i < count; i++) {
    if (formals[i].name >= 0) continue;
    range_put(w, done, formals[i].last);
    mw_text_format(&w->out, " moonwarp_%d", i);
    done = formals[i].last;
  }
  range_put(w, done, it->close + 1);
}

static void kernel_put(writer *w, const mw_declaration *it) {
  mw_formal *formals;
  w->about->has_kernels |= it->body >= 0;
  w->about->has_templates |= it->is_template;
  if (it->body < 0) {
    range_put(w, it->first, it->last);
    return;
  }
  const int count = mw_formals_read(w->tokens, it->open, it->close, &formals);
  const bool is_c = it->is_extern && w->tokens->at[it->begin + 1].kind == MW_TOKEN_STRING; /* extern "C" */
  const int words = is_c ? it->begin + 2 : it->begin;
  range_put(w, it->first, words);
  mw_text_put(&w->out, " __attribute__((noinline, used)) "); /* its symbol tells the overloads of a name apart */
  range_put(w, words, it->open);
  formals_put(w, it, formals, count);
  body_put(w, formals, count);
  mw_free(formals);
}

/* ---- declarations ----------------------------------------------------------------------------------------------- */

/* A function of the device alone; the host has no use for it. */
static bool is_of_device(const writer *w, const mw_declaration *it) {
  const int end = it->body >= 0 ? it->body : it->last;
  return it->is_device && it->kind == MW_DECLARES_FUNCTION && !mw_has(w->tokens, it->first, end, "__host__");
}

static void declarations_put(writer *w, int first, int last);

static void inside_put(writer *w, const mw_declaration *it) {
  const int close = w->tokens->at[it->body].match;
  range_put(w, it->first, it->body + 1);
  declarations_put(w, it->body + 1, close);
  range_put(w, close, it->last);
}

/* Device variables without their values, which may be functions of the device; only the size of T x[] = {...} is one. */
static void variables_put(writer *w, const mw_declaration *it) {
  enum { MOST_DECLARED = 64 };
  mw_declared list[MOST_DECLARED];
  const mw_token *at = w->tokens->at;
  int done = it->first, type = it->begin;
  while (is_qualifier(&at[type]) || mw_token_is(&at[type], "static")) type++;
  const int count = mw_declared_read(w->tokens, type, it->last - 1, NULL, list, MOST_DECLARED);
  for (int i = 0; i < count; i++) {
    const mw_declared *d = &list[i];
    const bool sizes = d->dims < d->dims_last && mw_token_is(&at[d->dims + 1], "]");
    if (d->value >= d->value_last || sizes || !mw_token_is(&at[d->value - 1], "=")) continue;
    range_put(w, done, d->value - 1);
    done = d->value_last;
  }
  range_put(w, done, it->last);
}

static void declaration_put(writer *w, const mw_declaration *it) {
  const bool of_class = (it->kind == MW_DECLARES_CLASS || it->kind == MW_DECLARES_TYPEDEF) && !it->is_enum;
  const bool nests = it->body >= 0 && w->tokens->at[it->body].match > it->body;
  if (it->kind == MW_DECLARES_FUNCTION && it->is_kernel)
    kernel_put(w, it);
  else if (is_of_device(w, it) || (it->is_shared && it->kind == MW_DECLARES_VARIABLES))
    return;
  else if (it->kind == MW_DECLARES_VARIABLES && it->is_device && !it->is_const)
    variables_put(w, it);
  else if (nests && (it->kind == MW_DECLARES_REGION || of_class))
    inside_put(w, it);
  else
    range_put(w, it->first, it->last);
}

static void declarations_put(writer *w, int first, int last) {
  for (mw_declaration it; first < last; first = it.last) {
    it = mw_declaration_read(w->tokens, first, last);
    declaration_put(w, &it);
  }
}

runtime_text runtime_host_text(const char *preprocessed, int source) {
  mw_tokens tokens;
  runtime_text about = {0};
  mw_tokens_read(&tokens, preprocessed, NULL);
  writer w = {.tokens = &tokens, .about = &about, .source = source};
  declarations_put(&w, 0, tokens.count);
  mw_text_put(&w.out, "\n");
  mw_tokens_free(&tokens);
  about.text = w.out.at;
  return about;
}
