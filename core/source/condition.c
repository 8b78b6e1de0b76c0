/* SPDX-License-Identifier: MIT
 *
 * The value of the expression after #if; see macro.h. One function for each level of precedence would be a ladder of
 * ten: the binary operators are a table instead. */
#include "core/source/macro.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

typedef struct condition {
  const mw_token *at, *end;
  int depth;
} condition;

enum { MOST_DEPTH = 256 };

static long long read_choice(condition *in);

static bool take(condition *in, const char *text) {
  if (in->at >= in->end || !mw_token_is(in->at, text)) return false;
  in->at++;
  return true;
}

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

/* A name that is no macro is 0, and so is a call of one: __has_attribute(x). */
static long long name_value(condition *in, const mw_token *name) {
  if (take(in, "(")) {
    for (int depth = 1; in->at < in->end && depth; in->at++)
      depth += mw_token_is(in->at, "(") - mw_token_is(in->at, ")");
  }
  return mw_token_is(name, "true");
}

static long long read_unary(condition *in) {
  if (in->at >= in->end || ++in->depth > MOST_DEPTH) return 0;
  long long value;
  if (take(in, "!"))
    value = !read_unary(in);
  else if (take(in, "-"))
    value = (long long)(0 - (unsigned long long)read_unary(in));
  else if (take(in, "+"))
    value = read_unary(in);
  else if (take(in, "~"))
    value = ~read_unary(in);
  else if (take(in, "(")) {
    value = read_choice(in);
    take(in, ")");
  } else {
    const mw_token *token = in->at++;
    value = token->kind == MW_TOKEN_NUMBER   ? number_value(token)
            : token->kind == MW_TOKEN_STRING ? character_value(token)
                                             : name_value(in, token);
  }
  in->depth--;
  return value;
}

/* ---- operators ------------------------------------------------------------------------------------------------- */

static const struct operator{
  const char *text;
  int level;
}
operators[] = {{"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5}, {"==", 6}, {"!=", 6}, {"<", 7},  {">", 7},
               {"<=", 7}, {">=", 7}, {"<<", 8}, {">>", 8}, {"+", 9}, {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};

static long long apply(const char *op, long long a, long long b) {
  const unsigned long long x = (unsigned long long)a, y = (unsigned long long)b;
  switch (op[0]) {
  case '|':
    return op[1] ? a || b : a | b;
  case '&':
    return op[1] ? a && b : a & b;
  case '^':
    return a ^ b;
  case '=':
    return a == b;
  case '!':
    return a != b;
  case '<':
    return op[1] == '<' ? (long long)(x << (y & 63)) : op[1] ? a <= b : a < b;
  case '>':
    return op[1] == '>' ? a >> (y & 63) : op[1] ? a >= b : a > b;
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

/* The operator that is next, and how many tokens it is: >> is two. */
static const struct operator* operator_next(const condition *in, int *count) {
  *count = 1;
  if (in->at >= in->end) return NULL;
  const bool shift = in->at + 1 < in->end && mw_token_is(in->at, ">") && mw_token_is(in->at + 1, ">");
  if (shift) *count = 2;
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
    if (shift ? !strcmp(operators[i].text, ">>") : mw_token_is(in->at, operators[i].text)) return &operators[i];
  return NULL;
}

static long long read_binary(condition *in, int level) {
  long long value = read_unary(in);
  int count;
  for (const struct operator* op; (op = operator_next(in, &count)) && op->level >= level;) {
    in->at += count;
    value = apply(op->text, value, read_binary(in, op->level + 1));
  }
  return value;
}

static long long read_choice(condition *in) {
  long long value = read_binary(in, 1);
  if (++in->depth > MOST_DEPTH) return 0;
  if (take(in, "?")) {
    const long long yes = read_choice(in);
    take(in, ":");
    const long long no = read_choice(in);
    value = value ? yes : no;
  }
  in->depth--;
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

long long mw_condition(mw_macros *macros, const mw_tokens *tokens, int first, int last, mw_has_include *has,
                       void *context) {
  mw_tokens asked = {0}, expanded = {0};
  asked_replace(macros, tokens, first, last, &asked, has, context);
  mw_macros_expand(macros, &asked, 0, asked.count, &expanded);
  condition in = {.at = expanded.at, .end = expanded.at + expanded.count};
  const long long value = expanded.count ? read_choice(&in) : 0;
  mw_tokens_free(&asked);
  mw_tokens_free(&expanded);
  return value;
}
