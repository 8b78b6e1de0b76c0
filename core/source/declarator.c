/* SPDX-License-Identifier: MIT
 *
 * Declarations of variables, and calls, as tokens; see declarator.h. */
#include "core/source/declarator.h"

#include <string.h>

#include "core/base/memory.h"

int mw_attribute_end(const mw_tokens *tokens, int i) {
  const mw_token *at = tokens->at;
  const bool is = i + 1 < tokens->count && mw_token_is(&at[i], "[") && mw_token_is(&at[i + 1], "[");
  return is && at[i].match > i ? at[i].match + 1 : i;
}

/* ---- names and calls ------------------------------------------------------------------------------------------- */

bool mw_is_member(const mw_tokens *tokens, int i) {
  i -= i > 0 && mw_token_is(&tokens->at[i - 1], "template");
  return i > 0 && mw_token_any(&tokens->at[i - 1], WORDS(".", "->", "::"));
}

bool mw_ends_operand(const mw_token *token) {
  if (token->kind == MW_TOKEN_NAME) return !mw_token_any(token, WORDS("return", "case", "else"));
  return token->kind == MW_TOKEN_NUMBER || token->kind == MW_TOKEN_STRING || mw_token_any(token, WORDS(")", "]"));
}

int mw_lambda_open(const mw_tokens *tokens, int i) {
  const mw_token *at = tokens->at;
  if (!mw_token_is(&at[i], "[") || at[i].match < i || mw_attribute_end(tokens, i) > i) return 0;
  if (i && (mw_ends_operand(&at[i - 1]) || mw_token_is(&at[i - 1], ">"))) return 0;
  const int past = at[i].match + 1;
  if (at[past].kind != MW_TOKEN_NAME && !mw_token_any(&at[past], WORDS("(", "{", "<"))) return 0;
  const int open = mw_find_open(tokens, past, tokens->count, WORDS("{", "=", ";", ")")); /* { [2] = { 1 } } */
  return mw_token_is(&at[open], "{") ? open : 0;
}

bool mw_is_assignment(const mw_token *token) {
  return token->kind == MW_TOKEN_PUNCT &&
         mw_token_any(token, WORDS("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"));
}

int mw_find_use(const mw_tokens *tokens, int first, int last, const mw_token *name) {
  int i = mw_find_same(tokens, first, last, name);
  while (i < last && mw_is_member(tokens, i)) i = mw_find_same(tokens, i + 1, last, name);
  return i;
}

int mw_angle_end(const mw_tokens *tokens, int open, int last) {
  int depth = 0;
  for (int i = open; i < last; i++) {
    const mw_token *token = &tokens->at[i];
    if (token->match > i) {
      if (token->text[0] == '{') break;
      i = token->match;
    } else if (mw_token_is(token, "<"))
      depth++;
    else if (mw_token_is(token, ">") && --depth == 0)
      return i + 1;
    else if (mw_token_is(token, ";"))
      break;
  }
  return open + 1;
}

int mw_call_open(const mw_tokens *tokens, int name) {
  int open = name + 1;
  if (mw_token_is(&tokens->at[open], "<")) open = mw_angle_end(tokens, open, tokens->count);
  if (open == name + 2) return -1; /* k < (16 / x) */
  return mw_token_is(&tokens->at[open], "(") ? open : -1;
}

int mw_arguments(const mw_tokens *tokens, int open, mw_span out[], int most) {
  int count = 0, close = tokens->at[open].match, begin = open + 1;
  if (begin == close) return 0;
  for (int i = begin; i <= close; i++) {
    if (i < close && tokens->at[i].match > i) i = tokens->at[i].match;
    if (i < close && !mw_token_is(&tokens->at[i], ",")) continue;
    if (count == most) return -1;
    out[count++] = (mw_span){begin, i};
    begin = i + 1;
  }
  return count;
}

int mw_enclosing(const mw_tokens *tokens, int least, int i) {
  const mw_token *at = tokens->at;
  for (i--; i >= least; i--) {
    if (at[i].match > i) return i;
    if (at[i].match >= 0) i = at[i].match;
  }
  return -1;
}

int mw_begin_after(const mw_tokens *tokens, int first, int i, const char *const *texts) {
  const mw_token *at = tokens->at;
  while (i > first && at[i - 1].kind != MW_TOKEN_CHUNK && at[i - 1].kind != MW_TOKEN_PRAGMA &&
         !mw_token_any(&at[i - 1], texts))
    i = at[i - 1].match >= 0 && at[i - 1].match < i ? at[i - 1].match : i - 1;
  return i;
}

/* ---- shared memory --------------------------------------------------------------------------------------------- */

/* Moves tokens i ... last-1 before token `to`. What they pass over may have brackets. */
static void move_front(mw_tokens *tokens, int to, int i, int last) {
  const int moved = last - i, passed = i - to;
  mw_token *at = tokens->at, *word = mw_malloc((size_t)moved * sizeof *word);
  memcpy(word, at + i, (size_t)moved * sizeof *word);
  memmove(at + to + moved, at + to, (size_t)passed * sizeof *at);
  memcpy(at + to, word, (size_t)moved * sizeof *word);
  for (int k = to; k < last; k++)
    if (at[k].match >= 0) at[k].match += k < to + moved ? -passed : moved;
  mw_free(word);
}

void mw_specifiers_order(mw_tokens *tokens) {
  const mw_token *at = tokens->at;
  for (int i = 0, last; i + 1 < tokens->count; i = last) {
    last = mw_attribute_end(tokens, i);
    const bool attribute = last > i;
    if (!attribute) last = i + 1;
    if (!attribute && !mw_token_is(&at[i], "__shared__")) continue;
    int first = mw_begin_after(tokens, 0, i,
                               attribute ? WORDS(";", "{", "}", ":", "(", ",", ">") : WORDS(";", "{", "}", ":", "("));
    while (!attribute && first < i && mw_token_any(&at[first], WORDS("extern", "static", "[")))
      first = at[first].match > first ? at[first].match + 1 : first + 1;
    const int external = attribute ? i : mw_find(tokens, first, tokens->count, WORDS("extern", ";"));
    if (mw_token_is(&at[external], "extern")) {
      i += external > i, last += external >= last;
      move_front(tokens, first++, external, external + 1);
    }
    if (first < i && (!attribute || mw_has(tokens, first, i, "__device__"))) move_front(tokens, first, i, last);
  }
}

int mw_class_braces(const mw_tokens *tokens, int first, int last) {
  const mw_token *at = tokens->at;
  bool found = false;
  for (int i = first; i < last && !mw_token_any(&at[i], WORDS("=", ";")); i++) {
    found |= mw_token_any(&at[i], WORDS("struct", "union", "class", "enum"));
    if (found && mw_token_is(&at[i], "{")) return at[i].match > i ? i : 0;
    if (mw_token_is(&at[i], "[") && !mw_token_is(&at[i + 1], "[")) return 0;
    if (at[i].match > i) i = at[i].match;
    if (mw_token_is(&at[i], "<")) i = mw_angle_end(tokens, i, last) - 1;
  }
  return 0;
}

int mw_enumerator_next(const mw_tokens *tokens, int open, int after) {
  const mw_token *at = tokens->at;
  for (int i = after + 1; i < at[open].match; i++) {
    if (at[i].kind == MW_TOKEN_NAME && mw_token_any(&at[i - 1], WORDS("{", ","))) return i;
    if (at[i].match > i) i = at[i].match;
  }
  return 0;
}

int mw_class_close(const mw_tokens *tokens, int i) {
  const mw_token *at = tokens->at;
  const int open = i + 1 + (at[i + 1].kind == MW_TOKEN_NAME);
  if (!mw_token_any(&at[i], WORDS("struct", "union", "class", "enum")) || !mw_token_is(&at[open], "{")) return -1;
  return !mw_token_any(&at[i - 1], WORDS(";", "{", "}")) || mw_token_is(&at[at[open].match + 1], ";") ? -1
                                                                                                      : at[open].match;
}

int mw_variable_next(const mw_tokens *tokens, int first, int last, int after) {
  const mw_token *at = tokens->at;
  const int braces = after < 0 ? mw_class_braces(tokens, first, last) : 0;
  bool open = after < 0;
  if (!open || braces) first = open ? at[braces].match : after;
  for (int i = first; i < last; i++) {
    if (mw_token_is(&at[i], "<")) i = mw_angle_end(tokens, i, last) - 1;
    if (open && i > first && mw_token_any(&at[i], WORDS("[", ";", ",", "=", "{")) && at[i - 1].kind == MW_TOKEN_NAME)
      return i - 1;
    open |= mw_token_is(&at[i], ",");
    if (at[i].match > i) i = at[i].match;
  }
  return -1;
}

int mw_variable_find(const mw_tokens *tokens, int first, int last, const mw_token *name) {
  int i = mw_variable_next(tokens, first, last, -1);
  while (i >= 0 && !mw_same_text(&tokens->at[i], name)) i = mw_variable_next(tokens, first, last, i);
  return i;
}

int mw_launch_end(const mw_tokens *tokens, int open, int last) {
  const mw_token *at = tokens->at;
  for (int i = open + 1; i < last; i++) {
    if (at[i].match > i && !mw_token_is(&at[i], "<")) i = at[i].match;
    if (mw_token_is(&at[i], ">") && i + 2 < last && mw_token_is(&at[i + 1], ">") && mw_token_is(&at[i + 2], ">") &&
        !at[i + 1].space && mw_token_is(&at[i + 3], "("))
      return i;
  }
  return last;
}
