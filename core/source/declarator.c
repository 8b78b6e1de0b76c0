/* SPDX-License-Identifier: MIT
 *
 * Declarations of variables, and calls, as tokens; see declarator.h. */
#include "core/source/declarator.h"

#include <string.h>

#include "core/base/memory.h"

static const char *const *const type_words =
    WORDS("void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "auto", "const",
          "volatile", "constexpr", "register", "size_t");
static const char *const *const not_types = WORDS("return", "delete", "new", "throw", "goto", "case", "default", "else",
                                                  "sizeof", "break", "continue", "operator");

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

int cpu_statement_end(const cpu_tokens *tokens, int i, int last) {
  const cpu_token *at = tokens->at;
  while (i < last) {
    const bool attribute = cpu_token_is(&at[i], "[") && cpu_token_is(&at[i + 1], "[");
    if (!attribute && at[i].kind != CPU_PRAGMA &&
        !cpu_token_any(&at[i], WORDS("if", "for", "while", "switch", "else", "constexpr")))
      break;
    i = attribute ? at[i].match : i + 1;
    if (attribute || cpu_token_is(&at[i], "(")) i = at[i].match > i ? at[i].match + 1 : i + 1;
  }
  if (cpu_token_is(&at[i], "do")) i = cpu_statement_end(tokens, i + 1, last);
  i = cpu_token_is(&at[i], "{") ? at[i].match + 1 : cpu_find_open(tokens, i, last, WORDS(";")) + 1;
  return i < last && cpu_token_is(&at[i], "else") ? cpu_statement_end(tokens, i, last) : i;
}

bool cpu_loop_read(const cpu_tokens *tokens, int i, int last, cpu_loop *out) {
  const cpu_token *at = tokens->at;
  const bool is_do = cpu_token_is(&at[i], "do"), is_for = cpu_token_is(&at[i], "for");
  if (!is_do && !is_for && !cpu_token_is(&at[i], "while")) return false;
  const int open = is_do ? cpu_statement_end(tokens, i + 1, last) + 1 : i + 1;
  if (open >= last || !cpu_token_is(&at[open], "(")) return false;
  const int close = at[open].match, body = is_do ? i + 1 : close + 1;
  *out = (cpu_loop){i, is_do ? body : cpu_statement_end(tokens, body, last), open, open + 1, close, body};
  if (is_do) out->last = close + 1;
  if (!is_for) return true;
  out->test = cpu_find_open(tokens, open + 1, close, WORDS(";")) + 1;
  out->test_last = cpu_find_open(tokens, out->test, close, WORDS(";"));
  return out->test <= close;
}

/* ---- declarations ---------------------------------------------------------------------------------------------- */

/* Past the type: int, unsigned long, const T, ns::T<int>. Returns `first` where no type begins. */
static int type_end(const cpu_tokens *tokens, int first, int last) {
  const cpu_token *at = tokens->at;
  int i = first;
  bool named = false, word = false;
  while (i < last && at[i].kind == CPU_NAME) {
    bool keyword = cpu_token_any(&at[i], type_words);
    bool qualifier = cpu_token_any(&at[i], WORDS("const", "volatile", "constexpr", "register"));
    if (cpu_token_any(&at[i], WORDS("__align__", "alignas"))) {
      i = at[i + 1].match + 1;
      continue;
    }
    if (cpu_token_is(&at[i], "typename")) {
      i++;
      continue;
    }
    if (!keyword && (named || word || cpu_token_any(&at[i], not_types))) break;
    word |= keyword && !qualifier;
    named |= !keyword;
    i++;
    if (keyword) continue;
    if (i < last && cpu_token_is(&at[i], "<")) i = cpu_angle_end(tokens, i, last);
    if (i < last && cpu_token_is(&at[i], "::")) named = false, i++;
  }
  return named || word ? i : first;
}

static int pointer_end(const cpu_tokens *tokens, int i, int last) {
  const cpu_token *at = tokens->at;
  for (;;) {
    const bool member = i + 2 < last && cpu_token_is(&at[i + 1], "::") && cpu_token_is(&at[i + 2], "*"); /* P::* */
    if (!member &&
        !(i < last && cpu_token_any(&at[i], WORDS("*", "&", "const", "__restrict__", "__restrict", "volatile"))))
      return i;
    i += member ? 3 : 1;
  }
}

/* The , or ; after an initialiser. Commas of pair<K, V>(k, v) are passed over; in a = x < y, b = z > (w) there is an
 * =. */
static int initialiser_end(const cpu_tokens *tokens, int i, int last) {
  const cpu_token *at = tokens->at;
  for (; i < last && !cpu_token_any(&at[i], WORDS(",", ";")); i++) {
    const int open = at[i].kind == CPU_NAME && i + 1 < last ? cpu_call_open(tokens, i) : -1;
    if (open >= 0 && open < last && !cpu_has(tokens, i, open, "=")) i = open;
    if (at[i].match > i) i = at[i].match;
  }
  return i < last ? i : last;
}

/* One declarator from i on; returns its end, or 0 if it is not one. */
static int declarator_one(const cpu_tokens *tokens, int i, int last, cpu_declarator *out) {
  const cpu_token *at = tokens->at;
  const bool inner = cpu_token_is(&at[i], "(") && cpu_token_any(&at[i + 1], WORDS("*", "&"));
  out->first = i;
  i = pointer_end(tokens, i + inner, last);
  if (i >= last || at[i].kind != CPU_NAME) return 0;
  out->name = i++;
  if (inner && !(at[i].match == out->first && cpu_token_is(&at[++i], "["))) return 0;
  out->inner = inner && cpu_find(tokens, out->spec, out->spec_last, type_words) == out->spec_last;
  out->dims = i;
  while (i < last && cpu_token_is(&at[i], "[")) i = at[i].match + 1;
  if (inner) out->dims = i;
  out->dims_last = out->init = out->init_last = i;
  if (i < last && cpu_token_is(&at[i], "=")) {
    out->init = i + 1;
    out->init_last = i = initialiser_end(tokens, i + 1, last);
  } else if (i < last && cpu_token_is(&at[i], "{")) {
    out->braces = true;
    out->init = i;
    out->init_last = i = at[i].match + 1;
  } else if (i < last && cpu_token_is(&at[i], "(")) {
    out->parentheses = true;
    out->init = i;
    out->init_last = i = at[i].match + 1;
  }
  return i >= last || cpu_token_any(&at[i], WORDS(";", ",")) ? i : 0;
}

cpu_declarators cpu_declarators_read(const cpu_tokens *tokens, int first, int last) {
  const int spec_last = type_end(tokens, first, last);
  cpu_declarators out = {.count = 0, .plain = true};
  if (spec_last == first || spec_last >= last) return out;
  for (int i = spec_last; out.count < (int)(sizeof out.at / sizeof *out.at);) {
    cpu_declarator *one = &out.at[out.count++];
    *one = (cpu_declarator){.spec = first, .spec_last = spec_last};
    const int end = declarator_one(tokens, i, last, one);
    out.plain &= !one->inner && !one->parentheses;
    const bool goes_on = end && end < last && cpu_token_is(&tokens->at[end], ",");
    if (!end || (one->parentheses && !goes_on && out.count == 1)) break;
    if (!goes_on) return out;
    i = end + 1;
  }
  return (cpu_declarators){.count = 0};
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
