/* SPDX-License-Identifier: MIT
 *
 * One declaration, and the parameters of a function; see declaration.h. */
#include "core/source/declaration.h"

#include <string.h>

#include "core/base/memory.h"
#include "core/source/declarator.h"

static const char *const *const attributes = WORDS(
    "__attribute__", "__attribute", "__launch_bounds__", "__align__", "__builtin_align__", "alignas", "decltype",
    "__declspec", "noexcept", "__maxnreg__", "__cluster_dims__", "__block_size__", "explicit", "requires", "throw");

bool cpu_is_attribute(const cpu_token *token) {
  return cpu_token_any(token, attributes);
}

cpu_token cpu_bare_name(const char *kernel) {
  int length = (int)strcspn(kernel, "<"), start;
  while (length && kernel[length - 1] == ' ') length--;
  for (start = length; start && !strchr(": ", kernel[start - 1]); start--) {
  }
  return (cpu_token){.kind = CPU_NAME, .text = kernel + start, .size = length - start};
}

/* ---- declarations ---------------------------------------------------------------------------------------------- */

static void word_note(cpu_declaration *out, const cpu_token *token) {
  if (token->kind != CPU_NAME) return;
  out->is_kernel |= cpu_token_is(token, "__global__");
  out->is_device |= cpu_token_is(token, "__device__");
  out->is_constant |= cpu_token_is(token, "__constant__");
  out->is_managed |= cpu_token_is(token, "__managed__");
  out->is_shared |= cpu_token_is(token, "__shared__");
  out->is_constexpr |= cpu_token_is(token, "constexpr");
  out->is_const |= out->is_constexpr || cpu_token_is(token, "const");
  out->is_extern |= cpu_token_is(token, "extern");
  out->is_class |= cpu_token_any(token, WORDS("struct", "class", "union", "enum"));
}

/* Past template <...>, or the word that an explicit instantiation begins with. */
static int header_end(const cpu_tokens *tokens, int i, int end, cpu_declaration *out) {
  out->is_template = true;
  if (i + 1 < end && cpu_token_is(&tokens->at[i + 1], "<")) return cpu_angle_end(tokens, i + 1, end);
  out->is_instance = true;
  return i + 1;
}

/* At the word: the ( of the parameters of operator+, operator(), operator bool. */
static int operator_open(const cpu_tokens *tokens, int i, int end) {
  const cpu_token *at = tokens->at;
  const bool call = i + 2 < end && cpu_token_is(&at[i + 1], "(") && cpu_token_is(&at[i + 2], ")");
  return cpu_find(tokens, call ? i + 3 : i + 1, end, WORDS("(", ";"));
}

/* Past a bracket's partner; past the bracket itself where it has none. */
static int group_end(const cpu_token *at, int i) {
  return at[i].match > i ? at[i].match + 1 : i + 1;
}

/* From where the declaration's own words begin to what ends them: { ; = , [ or the : in front of what a constructor
 * sets. `word` is the name that a parenthesis would belong to: scale of scale<float>(. */
static int words_read(const cpu_tokens *tokens, int i, int end, cpu_declaration *out) {
  const cpu_token *at = tokens->at;
  bool result = false; /* after -> */
  for (int word = -1; i < end; i++) {
    word_note(out, &at[i]);
    if (cpu_token_is(&at[i], "[") && i + 1 < end && cpu_token_is(&at[i + 1], "[")) { /* [[attribute]] */
      i = group_end(at, i) - 1;
    } else if (cpu_token_any(&at[i], WORDS("=", "[", ";", "{", ",")) || (out->open >= 0 && cpu_token_is(&at[i], ":"))) {
      break;
    } else if (cpu_token_is(&at[i], "template") && !cpu_is_member(tokens, i)) {
      i = header_end(tokens, i, end, out) - 1;
    } else if (cpu_token_is(&at[i], "operator")) {
      word = i;
      i = operator_open(tokens, i, end) - 1;
    } else if (at[i].kind == CPU_NAME) {
      word = i;
    } else if (cpu_token_is(&at[i], "<")) {
      i = cpu_angle_end(tokens, i, end) - 1;
    } else {
      bool function = cpu_token_is(&at[i], "(") && at[i].match > i && word >= 0 && !result;
      if (function && !cpu_is_attribute(&at[word])) {
        out->name = word;
        out->open = i;
        out->close = at[i].match;
      }
      result |= out->open >= 0 && cpu_token_is(&at[i], "->");
      word = -1;
      i = group_end(at, i) - 1;
    }
  }
  return i;
}

/* From the : on, past a(1), b{2}; returns the { of the body. */
static int constructor_body(const cpu_token *at, int i, int end) {
  while (i < end && !cpu_token_is(&at[i], ";") && !(cpu_token_is(&at[i], "{") && at[i - 1].kind != CPU_NAME))
    i = group_end(at, i);
  return i;
}

/* At the word: past requires (sizeof(T) > 2) && std::integral<T>, or past requires requires(T a) { a + 1; }. */
static int constraint_end(const cpu_tokens *tokens, int i, int end) {
  const cpu_token *at = tokens->at;
  do {
    i++;
    while (i + 1 < end && cpu_token_is(&at[i + 1], "::")) i += 2;
    if (cpu_token_is(&at[i], "requires")) i = cpu_find(tokens, i, end - 1, WORDS("{"));
    i = group_end(at, i);
    if (i < end && cpu_token_is(&at[i], "<")) i = cpu_angle_end(tokens, i, end);
  } while (i + 1 < end && cpu_token_any(&at[i], WORDS("&&", "||")));
  return i < end ? i : end;
}

cpu_declaration cpu_declaration_read(const cpu_tokens *tokens, int first, int end) {
  const cpu_token *at = tokens->at;
  cpu_declaration out = {.first = first, .begin = first, .name = -1, .open = -1, .close = -1, .body = -1};
  while (out.begin < end && cpu_token_is(&at[out.begin], "template"))
    out.begin = header_end(tokens, out.begin, end, &out);
  if (out.is_template && out.begin + 1 < end && cpu_token_is(&at[out.begin], "requires"))
    out.begin = constraint_end(tokens, out.begin, end);
  while (out.is_template && out.begin + 1 < end && cpu_token_is(&at[out.begin], "[") &&
         cpu_token_is(&at[out.begin + 1], "["))
    out.begin = group_end(at, out.begin);
  int tail = words_read(tokens, out.begin, end, &out);
  if (out.open >= 0 && tail < end && cpu_token_is(&at[tail], ":")) tail = constructor_body(at, tail, end);
  if (out.open >= 0 && tail < end && cpu_token_is(&at[tail], "{")) out.body = tail;
  if (out.body >= 0 || (out.open >= 0 && tail < end && cpu_token_is(&at[tail], ";"))) {
    out.last = group_end(at, tail);
  } else {
    out.name = out.open = out.close = -1;
    out.last = cpu_find_open(tokens, first, end, WORDS(";")) + 1;
    if (out.last > end) out.last = end;
  }
  if (out.last < out.begin) out.last = out.begin; /* no C++: a ; in the header */
  return out;
}

/* ---- parameters ------------------------------------------------------------------------------------------------ */

/* The declared name among tokens first ... last-1: the last word that is neither part of the type nor the type itself;
 * for a pointer to a function or an array, the word in the parentheses. */
static int formal_name(const cpu_tokens *tokens, int first, int last) {
  const char *const *const qualifiers =
      WORDS("const", "volatile", "struct", "class", "enum", "union", "typename", "register", "__restrict__",
            "__restrict", "restrict", "__grid_constant__");
  const char *const *const types = WORDS("void", "bool", "char", "short", "int", "long", "float", "double", "signed",
                                         "unsigned", "wchar_t", "char16_t", "char32_t", "auto");
  const cpu_token *at = tokens->at;
  int name = -1;
  bool typed = false;
  for (int i = first; i < last; i++) {
    bool member = i > first && cpu_token_is(&at[i - 1], "::");
    if (cpu_token_is(&at[i], "<")) {
      i = cpu_angle_end(tokens, i, last) - 1;
      typed = true;
    } else if (cpu_token_is(&at[i], "(") && typed && cpu_token_any(&at[i + 1], WORDS("*", "&"))) {
      return formal_name(tokens, i + 1, at[i].match < last ? at[i].match : last);
    } else if (at[i].kind == CPU_NAME && !cpu_token_any(&at[i], qualifiers)) {
      if (typed && !member && !cpu_token_any(&at[i], types) && !cpu_is_attribute(&at[i])) name = i;
      typed |= !cpu_is_attribute(&at[i]) || cpu_token_is(&at[i], "decltype");
    } else if (at[i].match > i) {
      i = at[i].match;
    } else if (at[i].kind == CPU_PUNCT && strchr("*&.", at[i].text[0])) {
      name = -1;
      typed = true;
    }
  }
  return name;
}

int cpu_formals_read(const cpu_tokens *tokens, int open, int close, cpu_formal **out) {
  const cpu_token *at = tokens->at;
  int count = 0, first = open + 1, stop = -1; /* stop: the = of a default argument */
  *out = NULL;
  if (first >= close || (first + 1 == close && cpu_token_is(&at[first], "void"))) return 0;
  for (int i = first; i <= close; i++) {
    if (i < close && cpu_token_is(&at[i], "<"))
      i = cpu_angle_end(tokens, i, close) - 1;
    else if (i < close && at[i].match > i)
      i = at[i].match;
    else if (stop < 0 && cpu_token_is(&at[i], "="))
      stop = i;
    else if (i == close || cpu_token_is(&at[i], ",")) {
      if (stop < 0) stop = i;
      *out = mw_realloc(*out, (size_t)(count + 1) * sizeof **out);
      const int name = formal_name(tokens, first, stop), last = name < 0 ? stop : name;
      const bool far = cpu_find(tokens, first, stop, WORDS("*", "[")) < stop;
      const bool reference = cpu_find(tokens, first, last, WORDS("&", "&&")) < last;
      (*out)[count++] = (cpu_formal){first, stop, name, last, far, reference};
      first = i + 1;
      stop = -1;
    }
  }
  return count;
}
