/* SPDX-License-Identifier: MIT
 *
 * Declarations, and the parameters of a function; see declaration.h. */
#include "core/source/declaration.h"

#include <string.h>

#include "core/base/memory.h"
#include "core/source/declarator.h"

static const char *const *const attributes =
    WORDS("__attribute__", "__attribute", "__launch_bounds__", "__align__", "__builtin_align__", "alignas", "decltype",
          "__declspec", "noexcept", "__maxnreg__", "__cluster_dims__", "__block_size__", "explicit", "requires",
          "throw", "__typeof__", "typeof");

static const char *const *const class_words = WORDS("struct", "class", "union", "enum");

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
  out->is_device |= cpu_token_any(token, WORDS("__device__", "__constant__", "__managed__", "__shared__"));
  out->is_constant |= cpu_token_is(token, "__constant__");
  out->is_shared |= cpu_token_is(token, "__shared__");
  out->is_constexpr |= cpu_token_any(token, WORDS("constexpr", "consteval"));
  out->is_const |= out->is_constexpr || cpu_token_is(token, "const");
  out->is_extern |= cpu_token_is(token, "extern");
  out->is_class |= cpu_token_any(token, class_words);
  out->is_enum |= cpu_token_is(token, "enum");
}

/* Past template <...>, or the word that an explicit instantiation begins with. */
static int header_end(const cpu_tokens *tokens, int i, int end, cpu_declaration *out) {
  out->is_template = true;
  if (i + 1 < end && cpu_token_is(&tokens->at[i + 1], "<")) return cpu_angle_end(tokens, i + 1, end);
  out->kind = CPU_DECLARES_INSTANCE;
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

/* From where the declaration's own words begin to what ends them: { ; = , [ or the : before what a constructor
 * sets. `word` is the name that a parenthesis would belong to: scale of scale<float>(. */
static int words_read(const cpu_tokens *tokens, int i, int end, cpu_declaration *out) {
  const cpu_token *at = tokens->at;
  bool result = false; /* after -> */
  for (int word = -1; i < end; i++) {
    word_note(out, &at[i]);
    const int past = cpu_attribute_end(tokens, i);
    if (past > i) {
      i = past - 1;
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

int cpu_class_name(const cpu_tokens *tokens, int first, int last, int *end) {
  const cpu_token *at = tokens->at;
  int i = cpu_find(tokens, first, last, class_words) + 1, name = -1;
  while (i < last && (cpu_is_attribute(&at[i]) || cpu_token_any(&at[i], WORDS("[", "(", "class", "struct"))))
    i = group_end(at, i);
  for (; i < last && at[i].kind == CPU_NAME; i++) {
    name = i++;
    if (cpu_token_is(&at[i], "<")) i = cpu_angle_end(tokens, i, last);
    if (!cpu_token_is(&at[i], "::")) break;
  }
  *end = i;
  return name;
}

/* What is declared, if it is neither a function nor an instance, its name and body. */
static void kind_read(const cpu_tokens *tokens, cpu_declaration *out) {
  const cpu_token *word = &tokens->at[out->begin];
  const int count = out->last - out->begin;
  if (count > 3 && cpu_token_is(word + 2, "=") && cpu_token_any(word, WORDS("using", "namespace", "concept"))) {
    out->kind = CPU_DECLARES_ALIAS;
    out->name = out->begin + 1;
  } else if (count > 2 && cpu_token_is(word, "using")) {
    out->kind = CPU_DECLARES_USING;
    if (!cpu_token_is(word + 1, "namespace")) out->name = out->last - 2;
  } else {
    int end;
    const int braces = cpu_class_braces(tokens, out->begin, out->last);
    const int name = out->is_class ? cpu_class_name(tokens, out->begin, out->last, &end) : -1;
    const bool class = out->is_class && !out->is_device && (braces || cpu_token_any(&tokens->at[end], WORDS(";", ":")));
    out->kind = cpu_token_is(word, "typedef") ? CPU_DECLARES_TYPEDEF
                : class                       ? CPU_DECLARES_CLASS
                                              : CPU_DECLARES_VARIABLES;
    if (out->kind == CPU_DECLARES_VARIABLES) return;
    out->name = name;
    if (braces) out->body = braces;
  }
}

/* Past template <...> requires ... [[...]]; */
static int headers_end(const cpu_tokens *tokens, int i, int end, cpu_declaration *out) {
  const cpu_token *at = tokens->at;
  while (i < end && cpu_token_is(&at[i], "template")) i = header_end(tokens, i, end, out);
  if (out->is_template && i + 1 < end && cpu_token_is(&at[i], "requires")) i = constraint_end(tokens, i, end);
  while (out->is_template && i + 1 < end && cpu_token_is(&at[i], "[") && cpu_token_is(&at[i + 1], "["))
    i = group_end(at, i);
  return i;
}

static void words_and_body_read(const cpu_tokens *tokens, int end, cpu_declaration *out) {
  const cpu_token *at = tokens->at;
  out->begin = headers_end(tokens, out->first, end, out);
  int tail = words_read(tokens, out->begin, end, out);
  if (cpu_token_is(&at[out->begin], "typedef")) out->open = -1; /* typedef int (*op)(int); */
  if (out->open >= 0 && tail < end && cpu_token_is(&at[tail], ":")) tail = constructor_body(at, tail, end);
  if (out->open >= 0 && tail + 2 < end && cpu_token_is(&at[tail], "=") &&
      cpu_token_any(&at[tail + 1], WORDS("default", "delete"))) {
    out->is_constexpr |= cpu_token_is(&at[tail + 1], "default"); /* where it can be */
    tail += 2;
  }
  if (out->open >= 0 && tail < end && cpu_token_is(&at[tail], "{")) out->body = tail;
  if (out->body >= 0 || (out->open >= 0 && tail < end && cpu_token_is(&at[tail], ";"))) {
    out->last = group_end(at, tail);
  } else {
    out->name = out->open = out->close = -1;
    out->last = cpu_find_open(tokens, out->first, end, WORDS(";")) + 1;
    if (out->last > end) out->last = end;
  }
  if (out->last < out->begin) out->last = out->begin; /* no C++: a ; in the header */
  if (out->kind == CPU_DECLARES_INSTANCE) return;
  if (out->open >= 0)
    out->kind = CPU_DECLARES_FUNCTION;
  else
    kind_read(tokens, out);
}

/* Past what declares nothing; i: that is no such thing. */
static int nothing_end(const cpu_token *at, int i) {
  if (cpu_token_any(&at[i], WORDS("public", "private", "protected")) && cpu_token_is(&at[i + 1], ":")) return i + 2;
  const bool nothing = at[i].kind == CPU_CHUNK || at[i].kind == CPU_PRAGMA || cpu_token_is(&at[i], ";");
  return nothing || at[i].match >= 0 ? group_end(at, i) : i;
}

/* The { of namespace a::b {, inline namespace a {, extern "C" {; -1: that is no such thing. */
static int region_open(const cpu_tokens *tokens, int i, int end) {
  const cpu_token *at = &tokens->at[i];
  if (cpu_token_is(at, "extern")) return at[1].kind == CPU_STRING && cpu_token_is(&at[2], "{") ? i + 2 : -1;
  if (!cpu_token_is(&at[cpu_token_is(at, "inline")], "namespace")) return -1;
  i = cpu_find(tokens, i, end, WORDS("{", ";"));
  return i < end && cpu_token_is(&tokens->at[i], "{") ? i : -1;
}

cpu_declaration cpu_declaration_read(const cpu_tokens *tokens, int first, int end) {
  cpu_declaration out = {.first = first, .begin = first, .name = -1, .open = -1, .close = -1, .body = -1};
  out.last = nothing_end(tokens->at, first);
  if (out.last > first) return out;
  out.body = region_open(tokens, first, end);
  if (out.body >= 0) {
    out.kind = CPU_DECLARES_REGION;
    out.last = group_end(tokens->at, out.body);
  } else {
    words_and_body_read(tokens, end, &out);
  }
  return out;
}

/* ---- templates of functions ------------------------------------------------------------------------------------ */

static bool declares_template(const cpu_tokens *tokens, const cpu_token *name) {
  for (int i = 0; (i = cpu_find(tokens, i, tokens->count, WORDS("template"))) < tokens->count; i++) {
    const cpu_declaration it = cpu_declaration_read(tokens, i, tokens->count);
    if (it.kind == CPU_DECLARES_FUNCTION && cpu_same_text(&tokens->at[it.name], name)) return true;
  }
  return false;
}

/* Is one called at i, as a member: . f < 4 > ( */
static bool calls_template(const cpu_tokens *tokens, int i) {
  const cpu_token *at = tokens->at;
  if (!cpu_token_any(&at[i], WORDS(".", "->")) || at[i + 1].kind != CPU_NAME || !cpu_token_is(&at[i + 2], "<"))
    return false;
  return cpu_token_is(&at[cpu_angle_end(tokens, i + 2, tokens->count)], "(") && declares_template(tokens, &at[i + 1]);
}

void cpu_templates_mark(cpu_tokens *tokens) {
  cpu_tokens next = cpu_tokens_beside(tokens);
  int done = 0;
  for (int i = 0; i < tokens->count; i++) {
    if (!calls_template(tokens, i)) continue;
    tokens->at[i + 1].space = true;
    cpu_tokens_copy(&next, tokens, done, i + 1);
    cpu_tokens_scan(&next, "template", &tokens->at[i]);
    done = i + 1;
  }
  if (!done) return;
  cpu_tokens_copy(&next, tokens, done, tokens->count);
  cpu_tokens_become(tokens, &next);
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
  int count = 0, first = open + 1, stop = -1; /* stop: the = of a default argument, or an attribute after the name */
  *out = NULL;
  if (first >= close || (first + 1 == close && cpu_token_is(&at[first], "void"))) return 0;
  for (int i = first; i <= close; i++) {
    const int past = cpu_attribute_end(tokens, i);
    if (past > i) {
      *(i == first ? &first : &stop) = i == first ? past : i;
      i = past - 1;
    } else if (i < close && cpu_token_is(&at[i], "<"))
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
