/* SPDX-License-Identifier: MIT
 *
 * Declarations of variables, and calls, as tokens; see declarator.h. */
#include "core/source/declarator.h"

#include <string.h>

#include "core/base/memory.h"

int cpu_attribute_end(const cpu_tokens *tokens, int i) {
  const cpu_token *at = tokens->at;
  const bool is = i + 1 < tokens->count && cpu_token_is(&at[i], "[") && cpu_token_is(&at[i + 1], "[");
  return is && at[i].match > i ? at[i].match + 1 : i;
}

/* ---- names and calls ------------------------------------------------------------------------------------------- */

bool cpu_is_member(const cpu_tokens *tokens, int i) {
  i -= i > 0 && cpu_token_is(&tokens->at[i - 1], "template");
  return i > 0 && cpu_token_any(&tokens->at[i - 1], WORDS(".", "->", "::"));
}

bool cpu_ends_operand(const cpu_token *token) {
  if (token->kind == CPU_NAME) return !cpu_token_any(token, WORDS("return", "case", "else"));
  return token->kind == CPU_NUMBER || token->kind == CPU_STRING || cpu_token_any(token, WORDS(")", "]"));
}

int cpu_lambda_open(const cpu_tokens *tokens, int i) {
  const cpu_token *at = tokens->at;
  if (!cpu_token_is(&at[i], "[") || at[i].match < i || cpu_attribute_end(tokens, i) > i) return 0;
  if (i && (cpu_ends_operand(&at[i - 1]) || cpu_token_is(&at[i - 1], ">"))) return 0;
  const int past = at[i].match + 1;
  if (at[past].kind != CPU_NAME && !cpu_token_any(&at[past], WORDS("(", "{", "<"))) return 0;
  const int open = cpu_find_open(tokens, past, tokens->count, WORDS("{", "=", ";", ")")); /* { [2] = { 1 } } */
  return cpu_token_is(&at[open], "{") ? open : 0;
}

bool cpu_is_assignment(const cpu_token *token) {
  return token->kind == CPU_PUNCT &&
         cpu_token_any(token, WORDS("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"));
}

int cpu_find_use(const cpu_tokens *tokens, int first, int last, const cpu_token *name) {
  int i = cpu_find_same(tokens, first, last, name);
  while (i < last && cpu_is_member(tokens, i)) i = cpu_find_same(tokens, i + 1, last, name);
  return i;
}

int cpu_angle_end(const cpu_tokens *tokens, int open, int last) {
  int depth = 0;
  for (int i = open; i < last; i++) {
    const cpu_token *token = &tokens->at[i];
    if (token->match > i) {
      if (token->text[0] == '{') break;
      i = token->match;
    } else if (cpu_token_is(token, "<"))
      depth++;
    else if (cpu_token_is(token, ">") && --depth == 0)
      return i + 1;
    else if (cpu_token_is(token, ";"))
      break;
  }
  return open + 1;
}

int cpu_call_open(const cpu_tokens *tokens, int name) {
  int open = name + 1;
  if (cpu_token_is(&tokens->at[open], "<")) open = cpu_angle_end(tokens, open, tokens->count);
  if (open == name + 2) return -1; /* k < (16 / x) */
  return cpu_token_is(&tokens->at[open], "(") ? open : -1;
}

int cpu_arguments(const cpu_tokens *tokens, int open, cpu_range out[], int most) {
  int count = 0, close = tokens->at[open].match, begin = open + 1;
  if (begin == close) return 0;
  for (int i = begin; i <= close; i++) {
    if (i < close && tokens->at[i].match > i) i = tokens->at[i].match;
    if (i < close && !cpu_token_is(&tokens->at[i], ",")) continue;
    if (count == most) return -1;
    out[count++] = (cpu_range){begin, i};
    begin = i + 1;
  }
  return count;
}

int cpu_enclosing(const cpu_tokens *tokens, int least, int i) {
  const cpu_token *at = tokens->at;
  for (i--; i >= least; i--) {
    if (at[i].match > i) return i;
    if (at[i].match >= 0) i = at[i].match;
  }
  return -1;
}

int cpu_begin_after(const cpu_tokens *tokens, int first, int i, const char *const *texts) {
  const cpu_token *at = tokens->at;
  while (i > first && at[i - 1].kind != CPU_CHUNK && at[i - 1].kind != CPU_PRAGMA && !cpu_token_any(&at[i - 1], texts))
    i = at[i - 1].match >= 0 && at[i - 1].match < i ? at[i - 1].match : i - 1;
  return i;
}

/* ---- shared memory --------------------------------------------------------------------------------------------- */

/* Moves tokens i ... last-1 before token `to`. What they pass over may have brackets. */
static void move_front(cpu_tokens *tokens, int to, int i, int last) {
  const int moved = last - i, passed = i - to;
  cpu_token *at = tokens->at, *word = mw_malloc((size_t)moved * sizeof *word);
  memcpy(word, at + i, (size_t)moved * sizeof *word);
  memmove(at + to + moved, at + to, (size_t)passed * sizeof *at);
  memcpy(at + to, word, (size_t)moved * sizeof *word);
  for (int k = to; k < last; k++)
    if (at[k].match >= 0) at[k].match += k < to + moved ? -passed : moved;
  mw_free(word);
}

void cpu_specifiers_order(cpu_tokens *tokens) {
  const cpu_token *at = tokens->at;
  for (int i = 0, last; i + 1 < tokens->count; i = last) {
    last = cpu_attribute_end(tokens, i);
    const bool attribute = last > i;
    if (!attribute) last = i + 1;
    if (!attribute && !cpu_token_is(&at[i], "__shared__")) continue;
    int first = cpu_begin_after(tokens, 0, i,
                                attribute ? WORDS(";", "{", "}", ":", "(", ",", ">") : WORDS(";", "{", "}", ":", "("));
    while (!attribute && first < i && cpu_token_any(&at[first], WORDS("extern", "static", "[")))
      first = at[first].match > first ? at[first].match + 1 : first + 1;
    const int external = attribute ? i : cpu_find(tokens, first, i, WORDS("extern"));
    if (external < i) move_front(tokens, first++, external, external + 1);
    if (first < i && (!attribute || cpu_has(tokens, first, i, "__device__"))) move_front(tokens, first, i, last);
  }
}

int cpu_class_braces(const cpu_tokens *tokens, int first, int last) {
  const cpu_token *at = tokens->at;
  bool found = false;
  for (int i = first; i < last && !cpu_token_any(&at[i], WORDS("=", ";")); i++) {
    found |= cpu_token_any(&at[i], WORDS("struct", "union", "class", "enum"));
    if (found && cpu_token_is(&at[i], "{")) return at[i].match > i ? i : 0;
    if (cpu_token_is(&at[i], "[") && !cpu_token_is(&at[i + 1], "[")) return 0;
    if (at[i].match > i) i = at[i].match;
    if (cpu_token_is(&at[i], "<")) i = cpu_angle_end(tokens, i, last) - 1;
  }
  return 0;
}

int cpu_variable_next(const cpu_tokens *tokens, int first, int last, int after) {
  const cpu_token *at = tokens->at;
  const int braces = after < 0 ? cpu_class_braces(tokens, first, last) : 0;
  bool open = after < 0;
  if (!open || braces) first = open ? at[braces].match : after;
  for (int i = first; i < last; i++) {
    if (cpu_token_is(&at[i], "<")) i = cpu_angle_end(tokens, i, last) - 1;
    if (open && i > first && cpu_token_any(&at[i], WORDS("[", ";", ",", "=", "{")) && at[i - 1].kind == CPU_NAME)
      return i - 1;
    open |= cpu_token_is(&at[i], ",");
    if (at[i].match > i) i = at[i].match;
  }
  return -1;
}

int cpu_variable_find(const cpu_tokens *tokens, int first, int last, const cpu_token *name) {
  int i = cpu_variable_next(tokens, first, last, -1);
  while (i >= 0 && !cpu_same_text(&tokens->at[i], name)) i = cpu_variable_next(tokens, first, last, i);
  return i;
}
