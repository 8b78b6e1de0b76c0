/* SPDX-License-Identifier: MIT
 *
 * The table of macros and their expansion; see macro.h. Tokens come from a stack of lists: the text at the bottom, on
 * it what each macro under way became. A macro is not expanded again while its list is on the stack, and a name of it
 * that is met there is never expanded later. */
#include "core/source/macro.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

enum { BUCKETS = 4096, MOST_PARAMETERS = 128, MOST_DEPTH = 200, MOST_TOKENS = 1 << 22 };

typedef struct macro {
  struct macro *next; /* of its bucket */
  mw_token name;
  mw_token *tokens; /* the parameters, then the body */
  int nparams, nbody;
  bool function, variadic, busy;
} macro;

struct mw_macros {
  macro *buckets[BUCKETS];
  mw_tokens *texts;
  long long counter; /* __COUNTER__ */
  int made;          /* tokens of the expansion under way: a bound on what grows without end */
};

/* ---- the table ------------------------------------------------------------------------------------------------- */

static macro **place(const mw_macros *macros, const mw_token *name) {
  macro **at = (macro **)&macros->buckets[mw_hash(name) % BUCKETS];
  while (*at && !mw_same_text(&(*at)->name, name)) at = &(*at)->next;
  return at;
}

mw_macros *mw_macros_new(mw_tokens *texts) {
  mw_macros *macros = mw_calloc(1, sizeof *macros);
  macros->texts = texts;
  return macros;
}

void mw_macro_undefine(mw_macros *macros, const mw_token *name) {
  macro **at = place(macros, name), *gone = *at;
  if (!gone) return;
  *at = gone->next;
  mw_free(gone->tokens);
  mw_free(gone);
}

void mw_macros_free(mw_macros *macros) {
  for (int i = 0; i < BUCKETS; i++)
    while (macros->buckets[i]) mw_macro_undefine(macros, &macros->buckets[i]->name);
  mw_free(macros);
}

static bool is_builtin(const mw_token *name) {
  return mw_token_any(name, WORDS("__LINE__", "__FILE__", "__COUNTER__"));
}

bool mw_macro_defined(const mw_macros *macros, const mw_token *name) {
  return *place(macros, name) || is_builtin(name) || mw_token_is(name, "__has_include");
}

/* At the ( after the name; parameters go to the macro's tokens. Returns what is after the ); -1: no such list. */
static int parameters_read(macro *out, const mw_tokens *tokens, int i, int last) {
  static const mw_token rest = {.kind = MW_TOKEN_NAME, .text = "__VA_ARGS__", .size = 11};
  for (i++; i < last && out->nparams < MOST_PARAMETERS; i++) {
    const mw_token *at = &tokens->at[i];
    if (mw_token_is(at, ")")) return i + 1;
    if (mw_token_is(at, "...")) {
      /* gcc's args... is one parameter, the last */
      const bool named = out->nparams && tokens->at[i - 1].kind == MW_TOKEN_NAME;
      if (!named) out->tokens[out->nparams++] = rest;
      out->variadic = true;
    } else if (at->kind == MW_TOKEN_NAME) {
      out->tokens[out->nparams++] = *at;
    }
  }
  return -1;
}

bool mw_macro_define(mw_macros *macros, const mw_tokens *tokens, int first, int last) {
  if (first >= last || tokens->at[first].kind != MW_TOKEN_NAME) return false;
  macro *made = mw_calloc(1, sizeof *made);
  int body = first + 1;
  made->name = tokens->at[first];
  made->tokens = mw_malloc((size_t)(last - first + 1) * sizeof *made->tokens);
  made->function = body < last && mw_token_is(&tokens->at[body], "(") && !tokens->at[body].space;
  if (made->function) body = parameters_read(made, tokens, body, last);
  if (body < 0) {
    mw_free(made->tokens);
    mw_free(made);
    return false;
  }
  made->nbody = last - body;
  memcpy(made->tokens + made->nparams, tokens->at + body, (size_t)made->nbody * sizeof *made->tokens);
  mw_macro_undefine(macros, &made->name);
  *place(macros, &made->name) = made;
  return true;
}

/* ---- the stack of lists ---------------------------------------------------------------------------------------- */

typedef struct context {
  struct context *below;
  const mw_token *at, *end;
  macro *busy;    /* whose expansion this is; NULL: the text, or an argument */
  mw_tokens made; /* what holds the tokens; empty: another's */
} context;

typedef struct expander {
  mw_macros *macros;
  context *top;
  int depth;
} expander;

static void expand_into(mw_macros *, const mw_token *at, const mw_token *end, mw_tokens *out, int depth);

/* made: the list that holds the tokens from now on. */
static void context_push(expander *in, mw_tokens made, const mw_token *at, const mw_token *end, macro *busy) {
  context *on = mw_calloc(1, sizeof *on);
  *on = (context){.below = in->top, .at = at, .end = end, .busy = busy, .made = made};
  if (busy) busy->busy = true;
  in->top = on;
}

static void context_pop(expander *in) {
  context *gone = in->top;
  in->top = gone->below;
  if (gone->busy) gone->busy->busy = false;
  mw_tokens_free(&gone->made);
  mw_free(gone);
}

/* The next token, which stays; NULL: the end. Lists that are used up go. */
static const mw_token *peek(expander *in) {
  while (in->top && in->top->at == in->top->end) {
    if (!in->top->below) return NULL;
    context_pop(in);
  }
  return in->top ? in->top->at : NULL;
}

/* ---- the arguments of a call ----------------------------------------------------------------------------------- */

typedef struct call {
  const macro *of;
  mw_token name;                 /* where it stands */
  mw_tokens tokens;              /* all arguments, as written */
  mw_span args[MOST_PARAMETERS]; /* in tokens */
  mw_tokens expanded[MOST_PARAMETERS];
  bool is_expanded[MOST_PARAMETERS];
  int nargs;
} call;

/* Past the ( that is next: reads up to its ). Returns false at the end of the text; then tokens has what was read. */
static bool call_read(expander *in, call *c) {
  const macro *of = c->of;
  int depth = 0, begin = 0;
  for (const mw_token *at; (at = peek(in));) {
    const bool open = mw_token_any(at, WORDS("(", "[", "{")), close = mw_token_any(at, WORDS(")", "]", "}"));
    const bool round = mw_token_any(at, WORDS("(", ")"));
    const bool last_one = of->variadic && c->nargs == of->nparams - 1;
    const bool end = depth == 1 && round && close;
    const bool comma = depth == 1 && mw_token_is(at, ",") && !last_one && c->nargs < MOST_PARAMETERS - 1;
    const mw_token token = *at;
    in->top->at++;
    depth += (round && open) - (round && close);
    if (end || comma) {
      c->args[c->nargs++] = (mw_span){begin, c->tokens.count};
      begin = c->tokens.count + 1;
    }
    mw_tokens_push(&c->tokens, &token);
    if (depth == 1 && c->tokens.count == 1) begin = 1; /* the ( itself */
    if (end) return true;
  }
  return false;
}

static void call_free(call *c) {
  for (int i = 0; i < MOST_PARAMETERS; i++)
    if (c->is_expanded[i]) mw_tokens_free(&c->expanded[i]);
  mw_tokens_free(&c->tokens);
  mw_free(c);
}

/* ---- the body -------------------------------------------------------------------------------------------------- */

/* Which parameter the token is; -1: none. */
static int parameter(const macro *of, const mw_token *token) {
  for (int i = 0; token->kind == MW_TOKEN_NAME && i < of->nparams; i++)
    if (mw_same_text(&of->tokens[i], token)) return i;
  return -1;
}

static mw_span argument(const call *c, int i) {
  return i < c->nargs ? c->args[i] : (mw_span){0, 0};
}

/* "x" of the argument x, with its quotes and backslashes escaped. */
static void stringify(const call *c, int i, mw_tokens *out, mw_tokens *texts) {
  const mw_span range = argument(c, i);
  mw_text plain = {0}, text = {0};
  mw_text_plain(&plain, &c->tokens, range.first, range.last);
  mw_text_put(&text, "\"");
  bool quoted = false;
  for (const char *at = plain.at ? plain.at : ""; *at; at++) {
    if (*at == '"' && (at == plain.at || at[-1] != '\\')) quoted = !quoted;
    if (*at == '"' || (*at == '\\' && quoted)) mw_text_put(&text, "\\");
    mw_text_add(&text, at, 1);
  }
  mw_text_put(&text, "\"");
  mw_free(plain.at);
  const mw_token made = {.kind = MW_TOKEN_STRING, .text = text.at, .size = (int)text.size, .space = true};
  mw_tokens_own(texts, text.at);
  mw_tokens_push(out, &made);
}

static const mw_tokens *expanded(expander *in, call *c, int i) {
  const mw_span range = argument(c, i);
  if (!c->is_expanded[i]) {
    c->is_expanded[i] = true;
    expand_into(in->macros, c->tokens.at + range.first, c->tokens.at + range.last, &c->expanded[i], in->depth + 1);
  }
  return &c->expanded[i];
}

/* Stands for an empty operand of ##, so that nothing is pasted to what is before it. */
static const mw_token empty = {.kind = MW_TOKEN_END, .text = "", .space = true};

/* Puts the next operand of ## to the end of what is there: its first token and the last one there become one. */
static void paste(mw_tokens *out, const mw_token *at, const mw_token *end, mw_tokens *texts) {
  if (at == end) return;
  if (!out->count || out->at[out->count - 1].kind == MW_TOKEN_END) {
    out->count -= out->count > 0;
    for (; at < end; at++) mw_tokens_push(out, at);
    return;
  }
  const mw_token left = out->at[out->count - 1];
  char *text = mw_format("%.*s%.*s", TEXT(&left), TEXT(at));
  const int before = --out->count;
  mw_tokens scanned = {0};
  mw_tokens_scan(&scanned, text, &left);
  for (int i = 0; i < scanned.count; i++) mw_tokens_push(out, &scanned.at[i]);
  mw_tokens_adopt(texts, &scanned);
  mw_tokens_free(&scanned);
  if (out->count > before) out->at[before].space = left.space;
  mw_free(text);
  for (at++; at < end; at++) mw_tokens_push(out, at);
}

/* , ## __VA_ARGS__ without such arguments: the comma goes. */
static bool drops_comma(const macro *of, const call *c, const mw_tokens *out, int param) {
  const mw_span range = argument(c, param);
  return of->variadic && param == of->nparams - 1 && range.first == range.last && out->count &&
         mw_token_is(&out->at[out->count - 1], ",");
}

/* One token of the body, or an operator with its operand; returns how many of the body's tokens were read. */
static int substitute_one(expander *in, call *c, const mw_token *at, const mw_token *end, mw_tokens *out) {
  const macro *of = c->of;
  mw_tokens *texts = in->macros->texts;
  const int next = of->function && at + 1 < end ? parameter(of, at + 1) : -1, param = parameter(of, at);
  if (of->function && mw_token_is(at, "#") && next >= 0) {
    stringify(c, next, out, texts);
    return 2;
  }
  if (mw_token_is(at, "#") && at + 1 < end && mw_token_is(at + 1, "#") && at + 2 < end) {
    const int operand = parameter(of, at + 2);
    const mw_span range = operand < 0 ? (mw_span){0, 0} : argument(c, operand);
    const bool comma = out->count && mw_token_is(&out->at[out->count - 1], ",");
    if (operand < 0)
      paste(out, at + 2, at + 3, texts);
    else if (drops_comma(of, c, out, operand))
      out->count--;
    else if (comma && of->variadic && operand == of->nparams - 1)
      mw_tokens_copy(out, expanded(in, c, operand), 0, expanded(in, c, operand)->count);
    else
      paste(out, c->tokens.at + range.first, c->tokens.at + range.last, texts);
    return 3;
  }
  const bool pasted = at + 2 < end && mw_token_is(at + 1, "#") && mw_token_is(at + 2, "#");
  const int begin = out->count;
  if (param < 0)
    mw_tokens_push(out, at);
  else if (pasted)
    mw_tokens_copy(out, &c->tokens, argument(c, param).first, argument(c, param).last);
  else
    mw_tokens_copy(out, expanded(in, c, param), 0, expanded(in, c, param)->count);
  if (out->count > begin)
    out->at[begin].space = at->space;
  else if (pasted)
    mw_tokens_push(out, &empty);
  return 1;
}

/* At __VA_OPT__: its parentheses' contents if there are such arguments; returns how many tokens were read. */
static int optional(expander *in, call *c, const mw_token *at, const mw_token *end, mw_tokens *out) {
  const mw_span rest = argument(c, c->of->nparams - 1);
  int depth = 0, count = 1;
  for (; at + count < end; count++) {
    depth += mw_token_is(at + count, "(") - mw_token_is(at + count, ")");
    if (depth == 0) break;
  }
  if (rest.first < rest.last)
    for (int i = 2; i < count;) i += substitute_one(in, c, at + i, at + count, out);
  return count + 1;
}

static void substitute(expander *in, call *c, mw_tokens *out) {
  const mw_token *at = c->of->tokens + c->of->nparams, *end = at + c->of->nbody;
  while (at < end && in->macros->made < MOST_TOKENS) {
    const bool opt = c->of->variadic && mw_token_is(at, "__VA_OPT__");
    at += opt ? optional(in, c, at, end, out) : substitute_one(in, c, at, end, out);
  }
  int count = 0;
  for (int i = 0; i < out->count; i++) {
    if (out->at[i].kind == MW_TOKEN_END) continue;
    out->at[count] = out->at[i];
    out->at[count].line = c->name.line;
    out->at[count++].file = c->name.file;
  }
  out->count = count;
  if (out->count) out->at[0].space = c->name.space;
  in->macros->made += out->count;
  if (in->macros->made >= MOST_TOKENS)
    mw_tokens_wrong(in->macros->texts, "a macro becomes more than 4194304 tokens", '(', c->name.line, c->name.file);
}

/* ---- expansion ------------------------------------------------------------------------------------------------- */

static void builtin_put(mw_macros *macros, const mw_token *name, mw_tokens *out) {
  mw_token token = *name;
  const bool string = mw_token_is(name, "__FILE__");
  char *text = string ? mw_format("\"%s\"", macros->texts->files[name->file])
                      : mw_format("%lld", mw_token_is(name, "__LINE__") ? name->line : macros->counter++);
  token.kind = string ? MW_TOKEN_STRING : MW_TOKEN_NUMBER;
  token.text = mw_tokens_own(macros->texts, text);
  token.size = (int)strlen(text);
  mw_tokens_push(out, &token);
}

/* A function's call, at the ( or not: what was read of one without an end is put back, after its name. */
static void call_expand(expander *in, macro *of, const mw_token *name, mw_tokens *out) {
  call *c = mw_calloc(1, sizeof *c);
  c->of = of;
  c->name = *name;
  const bool whole = !of->function || call_read(in, c);
  const int last = c->nargs ? c->args[0].last : 0,
            given = c->nargs == 1 && last == c->args[0].first ? of->nparams : c->nargs;
  if (whole && of->function && (of->variadic ? given < of->nparams - 1 : given != of->nparams))
    mw_tokens_wrong(in->macros->texts, "a macro is called with more or fewer arguments than it has", '(', name->line,
                    name->file);
  mw_tokens made = {0};
  if (whole) {
    substitute(in, c, &made);
  } else {
    mw_tokens_push(out, name);
    mw_tokens_copy(&made, &c->tokens, 0, c->tokens.count);
  }
  context_push(in, made, made.at, made.at + made.count, whole ? of : NULL);
  call_free(c);
}

static void token_expand(expander *in, mw_tokens *out) {
  mw_token token = *in->top->at++;
  macro *of = token.kind == MW_TOKEN_NAME && !token.painted ? *place(in->macros, &token) : NULL;
  if (token.kind == MW_TOKEN_NAME && !of && is_builtin(&token)) {
    builtin_put(in->macros, &token, out);
    return;
  }
  const bool possible = of && in->depth < MOST_DEPTH && in->macros->made < MOST_TOKENS;
  if (possible && of->busy) token.painted = true;
  const mw_token *next = possible && !of->busy && of->function ? peek(in) : NULL;
  if (!possible || of->busy || (of->function && (!next || !mw_token_is(next, "("))))
    mw_tokens_push(out, &token);
  else
    call_expand(in, of, &token, out);
}

static void expand_into(mw_macros *macros, const mw_token *at, const mw_token *end, mw_tokens *out, int depth) {
  expander in = {.macros = macros, .depth = depth};
  context_push(&in, (mw_tokens){0}, at, end, NULL);
  while (peek(&in)) token_expand(&in, out);
  while (in.top) context_pop(&in);
}

void mw_macros_expand(mw_macros *macros, const mw_tokens *tokens, int first, int last, mw_tokens *out) {
  macros->made = 0;
  expand_into(macros, tokens->at + first, tokens->at + last, out, 0);
}
