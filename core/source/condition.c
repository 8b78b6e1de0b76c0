/* SPDX-License-Identifier: MIT
 *
 * The value of the expression after #if, of which body.h has the tree; see macro.h. */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/source/body.h"
#include "core/source/macro.h"

/* ---- operands -------------------------------------------------------------------------------------------------- */

static long long number_value(const mw_token *token) {
  char text[64];
  int size = 0;
  for (int i = 0; i < token->size && size < 63; i++)
    if (token->text[i] != '\'') text[size++] = token->text[i];
  text[size] = 0;
  const bool binary = text[0] == '0' && (text[1] == 'b' || text[1] == 'B');
  return (long long)strtoull(binary ? text + 2 : text, NULL, binary ? 2 : 0);
}

/* 'a' and '\n', as far as conditions have them. */
static long long character_value(const mw_token *token) {
  if (token->size < 3 || token->text[0] != '\'') return 0;
  if (token->text[1] != '\\') return token->text[1];
  const char *from = "n0trabfv", *to = "\n\0\t\r\a\b\f\v", *found = strchr(from, token->text[2]);
  return found ? to[found - from] : token->text[2];
}

/* ---- operators ------------------------------------------------------------------------------------------------- */

static long long unary(char op, long long a) {
  return op == '!' ? !a : op == '~' ? ~a : op == '-' ? (long long)(0 - (unsigned long long)a) : a;
}

/* two: of >> each > is a token. */
static long long binary(const char *op, bool two, long long a, long long b) {
  const unsigned long long x = (unsigned long long)a, y = (unsigned long long)b;
  switch (op[0]) {
  case '|':
    return two ? a || b : a | b;
  case '&':
    return two ? a && b : a & b;
  case '^':
    return a ^ b;
  case '=':
    return a == b;
  case '!':
    return a != b;
  case '<':
    return !two ? a < b : op[1] == '<' ? (long long)(x << (y & 63)) : a <= b;
  case '>':
    return !two ? a > b : op[1] == '=' ? a >= b : a >> (y & 63);
  case '+':
    return (long long)(x + y);
  case '-':
    return (long long)(x - y);
  case '*':
    return (long long)(x * y);
  case '/':
    return b == -1 ? (long long)(0 - x) : b ? a / b : 0;
  default:
    return b && b != -1 ? a % b : 0;
  }
}

/* By the values of the expressions before it, which are its parts. */
static long long value_of(const mw_body *in, const mw_expr *e, const long long *values) {
  const mw_token *op = &in->tokens->at[e->op];
  switch (e->kind) {
  case MW_EXPR_NUMBER:
    return op->kind == MW_TOKEN_STRING ? character_value(op) : number_value(op);
  case MW_EXPR_BRACKETS:
    return values[e->a];
  case MW_EXPR_UNARY:
    return unary(op->text[0], values[e->a]);
  case MW_EXPR_BINARY:
    return binary(op->text, op->size > 1 || in->exprs[e->b].first > e->op + 1, values[e->a], values[e->b]);
  case MW_EXPR_CONDITIONAL:
    return values[e->a] ? values[e->b] : values[e->c];
  default:
    return 0;
  }
}

static long long evaluate(const mw_tokens *tokens) {
  mw_body body;
  mw_body_read(&body, tokens, 0, tokens->count, &(mw_names){0}, NULL);
  long long *values = mw_calloc((size_t)body.nexprs, sizeof *values);
  for (int i = 1; i < body.nexprs; i++) values[i] = value_of(&body, &body.exprs[i], values);
  const long long value = values[body.statements[body.statements[0].child].test];
  mw_free(values);
  mw_body_free(&body);
  return value;
}

/* ---- the expression -------------------------------------------------------------------------------------------- */

static void answer_put(mw_tokens *out, const mw_token *like, bool answer) {
  mw_token token = *like;
  token.kind = MW_TOKEN_NUMBER;
  token.text = answer ? "1" : "0";
  token.size = 1;
  mw_tokens_push(out, &token);
}

/* At __has_include: ( "x" ) or ( < x . h > ); returns what is after it. */
static int include_asked(const mw_tokens *tokens, int i, int last, mw_tokens *out, mw_has_include *has, void *context) {
  const mw_token *at = tokens->at;
  const int close = mw_find(tokens, i, last, WORDS(")"));
  mw_text name = {0};
  const bool quoted = i + 2 < last && at[i + 2].kind == MW_TOKEN_STRING && at[i + 2].size > 2;
  if (quoted)
    mw_text_add(&name, at[i + 2].text + 1, (size_t)at[i + 2].size - 2);
  else
    for (int k = i + 3; k + 1 < close; k++) mw_text_add(&name, at[k].text, (size_t)at[k].size);
  answer_put(out, &at[i], name.at && has && has(context, name.at, quoted));
  mw_free(name.at);
  return close + 1;
}

/* `defined` and __has_include are answered before macros are expanded. */
static void asked_replace(mw_macros *macros, const mw_tokens *tokens, int first, int last, mw_tokens *out,
                          mw_has_include *has, void *context) {
  const mw_token *at = tokens->at;
  for (int i = first; i < last;) {
    const bool bracket = i + 2 < last && mw_token_is(&at[i + 1], "(");
    if (mw_token_is(&at[i], "defined") && i + 1 < last) {
      answer_put(out, &at[i], mw_macro_defined(macros, &at[i + 1 + bracket]));
      i += bracket ? 4 : 2;
    } else if (mw_token_any(&at[i], WORDS("__has_include", "__has_include_next")) && bracket) {
      i = include_asked(tokens, i, last, out, has, context);
    } else {
      mw_tokens_push(out, &at[i++]);
    }
  }
}

/* What is a name yet is no macro: 0, and so is a call of one. */
static void names_replace(mw_tokens *tokens, mw_tokens *out) {
  mw_tokens_match(tokens);
  for (int i = 0; i < tokens->count; i++) {
    const mw_token *token = &tokens->at[i];
    if (token->kind == MW_TOKEN_NAME)
      answer_put(out, token, mw_token_is(token, "true"));
    else
      mw_tokens_push(out, token);
    if (token->kind == MW_TOKEN_NAME && mw_token_is(token + 1, "(") && token[1].match > i) i = token[1].match;
  }
  mw_tokens_match(out);
}

long long mw_condition(mw_macros *macros, const mw_tokens *tokens, int first, int last, mw_has_include *has,
                       void *context) {
  mw_tokens asked = {0}, expanded = {0}, plain = {0};
  asked_replace(macros, tokens, first, last, &asked, has, context);
  mw_macros_expand(macros, &asked, 0, asked.count, &expanded);
  names_replace(&expanded, &plain);
  const long long value = plain.count && !plain.wrong.what ? evaluate(&plain) : 0;
  mw_tokens_free(&asked);
  mw_tokens_free(&expanded);
  mw_tokens_free(&plain);
  return value;
}
