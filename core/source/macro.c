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
  cpu_token name;
  cpu_token *tokens; /* the parameters, then the body */
  int nparams, nbody;
  bool function, variadic, busy;
} macro;

struct cpu_macros {
  macro *buckets[BUCKETS];
  cpu_tokens *texts;
  long long counter; /* __COUNTER__ */
  int made;          /* tokens of the expansion under way: a bound on what grows without end */
};

/* ---- the table ------------------------------------------------------------------------------------------------- */

static macro **place(const cpu_macros *macros, const cpu_token *name) {
  macro **at = (macro **)&macros->buckets[cpu_hash(name) % BUCKETS];
  while (*at && !cpu_same_text(&(*at)->name, name)) at = &(*at)->next;
  return at;
}

cpu_macros *cpu_macros_new(cpu_tokens *texts) {
  cpu_macros *macros = mw_calloc(1, sizeof *macros);
  macros->texts = texts;
  return macros;
}

void cpu_macro_undefine(cpu_macros *macros, const cpu_token *name) {
  macro **at = place(macros, name), *gone = *at;
  if (!gone) return;
  *at = gone->next;
  mw_free(gone->tokens);
  mw_free(gone);
}

void cpu_macros_free(cpu_macros *macros) {
  for (int i = 0; i < BUCKETS; i++)
    while (macros->buckets[i]) cpu_macro_undefine(macros, &macros->buckets[i]->name);
  mw_free(macros);
}

static bool is_builtin(const cpu_token *name) {
  return cpu_token_any(name, WORDS("__LINE__", "__FILE__", "__COUNTER__"));
}

bool cpu_macro_defined(const cpu_macros *macros, const cpu_token *name) {
  return *place(macros, name) || is_builtin(name) || cpu_token_is(name, "__has_include");
}

/* At the ( after the name; parameters go to the macro's tokens. Returns what is after the ); -1: no such list. */
static int parameters_read(macro *out, const cpu_tokens *tokens, int i, int last) {
  static const cpu_token rest = {.kind = CPU_NAME, .text = "__VA_ARGS__", .size = 11};
  for (i++; i < last && out->nparams < MOST_PARAMETERS; i++) {
    const cpu_token *at = &tokens->at[i];
    if (cpu_token_is(at, ")")) return i + 1;
    if (cpu_token_is(at, "...")) {
      /* gcc's args... is one parameter, the last */
      const bool named = out->nparams && tokens->at[i - 1].kind == CPU_NAME;
      if (!named) out->tokens[out->nparams++] = rest;
      out->variadic = true;
    } else if (at->kind == CPU_NAME) {
      out->tokens[out->nparams++] = *at;
    }
  }
  return -1;
}

bool cpu_macro_define(cpu_macros *macros, const cpu_tokens *tokens, int first, int last) {
  if (first >= last || tokens->at[first].kind != CPU_NAME) return false;
  macro *made = mw_calloc(1, sizeof *made);
  int body = first + 1;
  made->name = tokens->at[first];
  made->tokens = mw_malloc((size_t)(last - first + 1) * sizeof *made->tokens);
  made->function = body < last && cpu_token_is(&tokens->at[body], "(") && !tokens->at[body].space;
  if (made->function) body = parameters_read(made, tokens, body, last);
  if (body < 0) {
    mw_free(made->tokens);
    mw_free(made);
    return false;
  }
  made->nbody = last - body;
  memcpy(made->tokens + made->nparams, tokens->at + body, (size_t)made->nbody * sizeof *made->tokens);
  cpu_macro_undefine(macros, &made->name);
  *place(macros, &made->name) = made;
  return true;
}

/* ---- the stack of lists ---------------------------------------------------------------------------------------- */

typedef struct context {
  struct context *below;
  const cpu_token *at, *end;
  macro *busy;     /* whose expansion this is; NULL: the text, or an argument */
  cpu_tokens made; /* what holds the tokens; empty: another's */
} context;

typedef struct expander {
  cpu_macros *macros;
  context *top;
  int depth;
} expander;

static void expand_into(cpu_macros *, const cpu_token *at, const cpu_token *end, cpu_tokens *out, int depth);

/* made: the list that holds the tokens from now on. */
static void context_push(expander *in, cpu_tokens made, const cpu_token *at, const cpu_token *end, macro *busy) {
  context *on = mw_calloc(1, sizeof *on);
  *on = (context){.below = in->top, .at = at, .end = end, .busy = busy, .made = made};
  if (busy) busy->busy = true;
  in->top = on;
}

static void context_pop(expander *in) {
  context *gone = in->top;
  in->top = gone->below;
  if (gone->busy) gone->busy->busy = false;
  cpu_tokens_free(&gone->made);
  mw_free(gone);
}

/* The next token, which stays; NULL: the end. Lists that are used up go. */
static const cpu_token *peek(expander *in) {
  while (in->top && in->top->at == in->top->end) {
    if (!in->top->below) return NULL;
    context_pop(in);
  }
  return in->top ? in->top->at : NULL;
}

/* ---- the arguments of a call ----------------------------------------------------------------------------------- */

typedef struct call {
  const macro *of;
  cpu_token name;                  /* where it stands */
  cpu_tokens tokens;               /* all arguments, as written */
  cpu_range args[MOST_PARAMETERS]; /* in tokens */
  cpu_tokens expanded[MOST_PARAMETERS];
  bool is_expanded[MOST_PARAMETERS];
  int nargs;
} call;

/* Past the ( that is next: reads up to its ). Returns false at the end of the text; then tokens has what was read. */
static bool call_read(expander *in, call *c) {
  const macro *of = c->of;
  int depth = 0, begin = 0;
  for (const cpu_token *at; (at = peek(in));) {
    const bool open = cpu_token_any(at, WORDS("(", "[", "{")), close = cpu_token_any(at, WORDS(")", "]", "}"));
    const bool round = cpu_token_any(at, WORDS("(", ")"));
    const bool last_one = of->variadic && c->nargs == of->nparams - 1;
    const bool end = depth == 1 && round && close;
    const bool comma = depth == 1 && cpu_token_is(at, ",") && !last_one && c->nargs < MOST_PARAMETERS - 1;
    const cpu_token token = *at;
    in->top->at++;
    depth += (round && open) - (round && close);
    if (end || comma) {
      c->args[c->nargs++] = (cpu_range){begin, c->tokens.count};
      begin = c->tokens.count + 1;
    }
    cpu_tokens_push(&c->tokens, &token);
    if (depth == 1 && c->tokens.count == 1) begin = 1; /* the ( itself */
    if (end) return true;
  }
  return false;
}

static void call_free(call *c) {
  for (int i = 0; i < MOST_PARAMETERS; i++)
    if (c->is_expanded[i]) cpu_tokens_free(&c->expanded[i]);
  cpu_tokens_free(&c->tokens);
  mw_free(c);
}

/* ---- the body -------------------------------------------------------------------------------------------------- */

/* Which parameter the token is; -1: none. */
static int parameter(const macro *of, const cpu_token *token) {
  for (int i = 0; token->kind == CPU_NAME && i < of->nparams; i++)
    if (cpu_same_text(&of->tokens[i], token)) return i;
  return -1;
}

static cpu_range argument(const call *c, int i) {
  return i < c->nargs ? c->args[i] : (cpu_range){0, 0};
}

/* "x" of the argument x, with its quotes and backslashes escaped. */
static void stringify(const call *c, int i, cpu_tokens *out, cpu_tokens *texts) {
  const cpu_range range = argument(c, i);
  cpu_text plain = {0}, text = {0};
  cpu_text_plain(&plain, &c->tokens, range.first, range.last);
  cpu_text_put(&text, "\"");
  bool quoted = false;
  for (const char *at = plain.at ? plain.at : ""; *at; at++) {
    if (*at == '"' && (at == plain.at || at[-1] != '\\')) quoted = !quoted;
    if (*at == '"' || (*at == '\\' && quoted)) cpu_text_put(&text, "\\");
    cpu_text_add(&text, at, 1);
  }
  cpu_text_put(&text, "\"");
  mw_free(plain.at);
  const cpu_token made = {.kind = CPU_STRING, .text = text.at, .size = (int)text.size, .space = true};
  cpu_tokens_own(texts, text.at);
  cpu_tokens_push(out, &made);
}

static const cpu_tokens *expanded(expander *in, call *c, int i) {
  const cpu_range range = argument(c, i);
  if (!c->is_expanded[i]) {
    c->is_expanded[i] = true;
    expand_into(in->macros, c->tokens.at + range.first, c->tokens.at + range.last, &c->expanded[i], in->depth + 1);
  }
  return &c->expanded[i];
}

/* Stands for an empty operand of ##, so that nothing is pasted to what is before it. */
static const cpu_token empty = {.kind = CPU_END, .text = "", .space = true};

/* Puts the next operand of ## to the end of what is there: its first token and the last one there become one. */
static void paste(cpu_tokens *out, const cpu_token *at, const cpu_token *end, cpu_tokens *texts) {
  if (at == end) return;
  if (!out->count || out->at[out->count - 1].kind == CPU_END) {
    out->count -= out->count > 0;
    for (; at < end; at++) cpu_tokens_push(out, at);
    return;
  }
  const cpu_token left = out->at[out->count - 1];
  char *text = mw_format("%.*s%.*s", TEXT(&left), TEXT(at));
  const int before = --out->count;
  cpu_tokens scanned = {0};
  cpu_tokens_scan(&scanned, text, &left);
  for (int i = 0; i < scanned.count; i++) cpu_tokens_push(out, &scanned.at[i]);
  cpu_tokens_adopt(texts, &scanned);
  cpu_tokens_free(&scanned);
  if (out->count > before) out->at[before].space = left.space;
  mw_free(text);
  for (at++; at < end; at++) cpu_tokens_push(out, at);
}

/* , ## __VA_ARGS__ without such arguments: the comma goes. */
static bool drops_comma(const macro *of, const call *c, const cpu_tokens *out, int param) {
  const cpu_range range = argument(c, param);
  return of->variadic && param == of->nparams - 1 && range.first == range.last && out->count &&
         cpu_token_is(&out->at[out->count - 1], ",");
}

/* One token of the body, or an operator with its operand; returns how many of the body's tokens were read. */
static int substitute_one(expander *in, call *c, const cpu_token *at, const cpu_token *end, cpu_tokens *out) {
  const macro *of = c->of;
  cpu_tokens *texts = in->macros->texts;
  const int next = of->function && at + 1 < end ? parameter(of, at + 1) : -1, param = parameter(of, at);
  if (of->function && cpu_token_is(at, "#") && next >= 0) {
    stringify(c, next, out, texts);
    return 2;
  }
  if (cpu_token_is(at, "#") && at + 1 < end && cpu_token_is(at + 1, "#") && at + 2 < end) {
    const int operand = parameter(of, at + 2);
    const cpu_range range = operand < 0 ? (cpu_range){0, 0} : argument(c, operand);
    const bool comma = out->count && cpu_token_is(&out->at[out->count - 1], ",");
    if (operand < 0)
      paste(out, at + 2, at + 3, texts);
    else if (drops_comma(of, c, out, operand))
      out->count--;
    else if (comma && of->variadic && operand == of->nparams - 1)
      cpu_tokens_copy(out, expanded(in, c, operand), 0, expanded(in, c, operand)->count);
    else
      paste(out, c->tokens.at + range.first, c->tokens.at + range.last, texts);
    return 3;
  }
  const bool pasted = at + 2 < end && cpu_token_is(at + 1, "#") && cpu_token_is(at + 2, "#");
  const int begin = out->count;
  if (param < 0)
    cpu_tokens_push(out, at);
  else if (pasted)
    cpu_tokens_copy(out, &c->tokens, argument(c, param).first, argument(c, param).last);
  else
    cpu_tokens_copy(out, expanded(in, c, param), 0, expanded(in, c, param)->count);
  if (out->count > begin)
    out->at[begin].space = at->space;
  else if (pasted)
    cpu_tokens_push(out, &empty);
  return 1;
}

/* At __VA_OPT__: its parentheses' contents if there are such arguments; returns how many tokens were read. */
static int optional(expander *in, call *c, const cpu_token *at, const cpu_token *end, cpu_tokens *out) {
  const cpu_range rest = argument(c, c->of->nparams - 1);
  int depth = 0, count = 1;
  for (; at + count < end; count++) {
    depth += cpu_token_is(at + count, "(") - cpu_token_is(at + count, ")");
    if (depth == 0) break;
  }
  if (rest.first < rest.last)
    for (int i = 2; i < count;) i += substitute_one(in, c, at + i, at + count, out);
  return count + 1;
}

static void substitute(expander *in, call *c, cpu_tokens *out) {
  const cpu_token *at = c->of->tokens + c->of->nparams, *end = at + c->of->nbody;
  while (at < end && in->macros->made < MOST_TOKENS) {
    const bool opt = c->of->variadic && cpu_token_is(at, "__VA_OPT__");
    at += opt ? optional(in, c, at, end, out) : substitute_one(in, c, at, end, out);
  }
  int count = 0;
  for (int i = 0; i < out->count; i++) {
    if (out->at[i].kind == CPU_END) continue;
    out->at[count] = out->at[i];
    out->at[count].line = c->name.line;
    out->at[count++].file = c->name.file;
  }
  out->count = count;
  if (out->count) out->at[0].space = c->name.space;
  in->macros->made += out->count;
  if (in->macros->made >= MOST_TOKENS)
    cpu_tokens_wrong(in->macros->texts, "a macro becomes more than 4194304 tokens", '(', c->name.line, c->name.file);
}

/* ---- expansion ------------------------------------------------------------------------------------------------- */

static void builtin_put(cpu_macros *macros, const cpu_token *name, cpu_tokens *out) {
  cpu_token token = *name;
  const bool string = cpu_token_is(name, "__FILE__");
  char *text = string ? mw_format("\"%s\"", macros->texts->files[name->file])
                      : mw_format("%lld", cpu_token_is(name, "__LINE__") ? name->line : macros->counter++);
  token.kind = string ? CPU_STRING : CPU_NUMBER;
  token.text = cpu_tokens_own(macros->texts, text);
  token.size = (int)strlen(text);
  cpu_tokens_push(out, &token);
}

/* A function's call, at the ( or not: what was read of one without an end is put back, after its name. */
static void call_expand(expander *in, macro *of, const cpu_token *name, cpu_tokens *out) {
  call *c = mw_calloc(1, sizeof *c);
  c->of = of;
  c->name = *name;
  const bool whole = !of->function || call_read(in, c);
  const int last = c->nargs ? c->args[0].last : 0,
            given = c->nargs == 1 && last == c->args[0].first ? of->nparams : c->nargs;
  if (whole && of->function && (of->variadic ? given < of->nparams - 1 : given != of->nparams))
    cpu_tokens_wrong(in->macros->texts, "a macro is called with more or fewer arguments than it has", '(', name->line,
                     name->file);
  cpu_tokens made = {0};
  if (whole) {
    substitute(in, c, &made);
  } else {
    cpu_tokens_push(out, name);
    cpu_tokens_copy(&made, &c->tokens, 0, c->tokens.count);
  }
  context_push(in, made, made.at, made.at + made.count, whole ? of : NULL);
  call_free(c);
}

static void token_expand(expander *in, cpu_tokens *out) {
  cpu_token token = *in->top->at++;
  macro *of = token.kind == CPU_NAME && !token.painted ? *place(in->macros, &token) : NULL;
  if (token.kind == CPU_NAME && !of && is_builtin(&token)) {
    builtin_put(in->macros, &token, out);
    return;
  }
  const bool possible = of && in->depth < MOST_DEPTH && in->macros->made < MOST_TOKENS;
  if (possible && of->busy) token.painted = true;
  const cpu_token *next = possible && !of->busy && of->function ? peek(in) : NULL;
  if (!possible || of->busy || (of->function && (!next || !cpu_token_is(next, "("))))
    cpu_tokens_push(out, &token);
  else
    call_expand(in, of, &token, out);
}

static void expand_into(cpu_macros *macros, const cpu_token *at, const cpu_token *end, cpu_tokens *out, int depth) {
  expander in = {.macros = macros, .depth = depth};
  context_push(&in, (cpu_tokens){0}, at, end, NULL);
  while (peek(&in)) token_expand(&in, out);
  while (in.top) context_pop(&in);
}

void cpu_macros_expand(cpu_macros *macros, const cpu_tokens *tokens, int first, int last, cpu_tokens *out) {
  macros->made = 0;
  expand_into(macros, tokens->at + first, tokens->at + last, out, 0);
}
