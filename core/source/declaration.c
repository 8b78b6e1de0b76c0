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

bool mw_is_attribute(const mw_token *token) {
  return mw_token_any(token, attributes);
}

mw_token mw_bare_name(const char *kernel) {
  int length = (int)strcspn(kernel, "<("), start;
  while (length && kernel[length - 1] == ' ') length--;
  for (start = length; start && !strchr(": ", kernel[start - 1]); start--) {
  }
  return (mw_token){.kind = MW_TOKEN_NAME, .text = kernel + start, .size = length - start};
}

/* ---- declarations ---------------------------------------------------------------------------------------------- */

static void word_note(mw_declaration *out, const mw_token *token) {
  if (token->kind != MW_TOKEN_NAME) return;
  out->is_kernel |= mw_token_is(token, "__global__");
  out->is_device |= mw_token_any(token, WORDS("__device__", "__constant__", "__managed__", "__shared__"));
  out->is_constant |= mw_token_is(token, "__constant__");
  out->is_shared |= mw_token_is(token, "__shared__");
  out->is_constexpr |= mw_token_any(token, WORDS("constexpr", "consteval"));
  out->is_const |= out->is_constexpr || mw_token_is(token, "const");
  out->is_extern |= mw_token_is(token, "extern");
  out->is_class |= mw_token_any(token, class_words);
  out->is_enum |= mw_token_is(token, "enum");
}

/* Past template <...>, or the word that an explicit instantiation begins with. */
static int header_end(const mw_tokens *tokens, int i, int end, mw_declaration *out) {
  out->is_template = true;
  if (i + 1 < end && mw_token_is(&tokens->at[i + 1], "<")) return mw_angle_end(tokens, i + 1, end);
  out->kind = MW_DECLARES_INSTANCE;
  return i + 1;
}

/* At the word: the ( of the parameters of operator+, operator(), operator bool. */
static int operator_open(const mw_tokens *tokens, int i, int end) {
  const mw_token *at = tokens->at;
  const bool call = i + 2 < end && mw_token_is(&at[i + 1], "(") && mw_token_is(&at[i + 2], ")");
  return mw_find(tokens, call ? i + 3 : i + 1, end, WORDS("(", ";"));
}

/* Past a bracket's partner; past the bracket itself where it has none. */
static int group_end(const mw_token *at, int i) {
  return at[i].match > i ? at[i].match + 1 : i + 1;
}

/* From where the declaration's own words begin to what ends them: { ; = , [ or the : before what a constructor
 * sets. `word` is the name that a parenthesis would belong to: scale of scale<float>(. */
static int words_read(const mw_tokens *tokens, int i, int end, mw_declaration *out) {
  const mw_token *at = tokens->at;
  bool result = false; /* after -> */
  for (int word = -1; i < end; i++) {
    word_note(out, &at[i]);
    const int past = mw_attribute_end(tokens, i);
    if (past > i) {
      i = past - 1;
    } else if (mw_token_any(&at[i], WORDS("=", "[", ";", "{", ",")) || (out->open >= 0 && mw_token_is(&at[i], ":"))) {
      break;
    } else if (mw_token_is(&at[i], "template") && !mw_is_member(tokens, i)) {
      i = header_end(tokens, i, end, out) - 1;
    } else if (mw_token_is(&at[i], "operator")) {
      word = i;
      i = operator_open(tokens, i, end) - 1;
    } else if (at[i].kind == MW_TOKEN_NAME) {
      word = i;
    } else if (mw_token_is(&at[i], "<")) {
      i = mw_angle_end(tokens, i, end) - 1;
    } else {
      bool function = mw_token_is(&at[i], "(") && at[i].match > i && word >= 0 && !result;
      if (function && !mw_is_attribute(&at[word])) {
        out->name = word;
        out->open = i;
        out->close = at[i].match;
      }
      result |= out->open >= 0 && mw_token_is(&at[i], "->");
      word = -1;
      i = group_end(at, i) - 1;
    }
  }
  return i;
}

/* From the : on, past a(1), b{2}; returns the { of the body. */
static int constructor_body(const mw_token *at, int i, int end) {
  while (i < end && !mw_token_is(&at[i], ";") && !(mw_token_is(&at[i], "{") && at[i - 1].kind != MW_TOKEN_NAME))
    i = group_end(at, i);
  return i;
}

/* At the word: past requires (sizeof(T) > 2) && std::integral<T>, or past requires requires(T a) { a + 1; }. */
static int constraint_end(const mw_tokens *tokens, int i, int end) {
  const mw_token *at = tokens->at;
  do {
    i++;
    while (i + 1 < end && mw_token_is(&at[i + 1], "::")) i += 2;
    if (mw_token_is(&at[i], "requires")) i = mw_find(tokens, i, end - 1, WORDS("{"));
    i = group_end(at, i);
    if (i < end && mw_token_is(&at[i], "<")) i = mw_angle_end(tokens, i, end);
  } while (i + 1 < end && mw_token_any(&at[i], WORDS("&&", "||")));
  return i < end ? i : end;
}

int mw_class_name(const mw_tokens *tokens, int first, int last, int *end) {
  const mw_token *at = tokens->at;
  int i = mw_find(tokens, first, last, class_words) + 1, name = -1;
  while (i < last && (mw_is_attribute(&at[i]) || mw_token_any(&at[i], WORDS("[", "(", "class", "struct"))))
    i = group_end(at, i);
  for (; i < last && at[i].kind == MW_TOKEN_NAME; i++) {
    name = i++;
    if (mw_token_is(&at[i], "<")) i = mw_angle_end(tokens, i, last);
    if (!mw_token_is(&at[i], "::")) break;
  }
  *end = i;
  return name;
}

/* What is declared, if it is neither a function nor an instance, its name and body. */
static void kind_read(const mw_tokens *tokens, mw_declaration *out) {
  const mw_token *word = &tokens->at[out->begin];
  const int count = out->last - out->begin;
  if (count > 3 && mw_token_is(word + 2, "=") && mw_token_any(word, WORDS("using", "namespace", "concept"))) {
    out->kind = MW_DECLARES_ALIAS;
    out->name = out->begin + 1;
  } else if (count > 2 && mw_token_is(word, "using")) {
    out->kind = MW_DECLARES_USING;
    if (!mw_token_is(word + 1, "namespace")) out->name = out->last - 2;
  } else {
    int end;
    const int braces = mw_class_braces(tokens, out->begin, out->last);
    const int name = out->is_class ? mw_class_name(tokens, out->begin, out->last, &end) : -1;
    const bool class = out->is_class && !out->is_device && (braces || mw_token_any(&tokens->at[end], WORDS(";", ":")));
    out->kind = mw_token_is(word, "typedef") ? MW_DECLARES_TYPEDEF : class ? MW_DECLARES_CLASS : MW_DECLARES_VARIABLES;
    if (out->kind == MW_DECLARES_VARIABLES) return;
    out->name = name;
    if (braces) out->body = braces;
  }
}

/* Past template <...> requires ... [[...]]; */
static int headers_end(const mw_tokens *tokens, int i, int end, mw_declaration *out) {
  const mw_token *at = tokens->at;
  while (i < end && mw_token_is(&at[i], "template")) i = header_end(tokens, i, end, out);
  if (out->is_template && i + 1 < end && mw_token_is(&at[i], "requires")) i = constraint_end(tokens, i, end);
  while (out->is_template && i + 1 < end && mw_token_is(&at[i], "[") && mw_token_is(&at[i + 1], "["))
    i = group_end(at, i);
  return i;
}

static void words_and_body_read(const mw_tokens *tokens, int end, mw_declaration *out) {
  const mw_token *at = tokens->at;
  out->begin = headers_end(tokens, out->first, end, out);
  int tail = words_read(tokens, out->begin, end, out);
  if (mw_token_is(&at[out->begin], "typedef")) out->open = -1; /* typedef int (*op)(int); */
  if (out->open >= 0 && tail < end && mw_token_is(&at[tail], ":")) tail = constructor_body(at, tail, end);
  if (out->open >= 0 && tail + 2 < end && mw_token_is(&at[tail], "=") &&
      mw_token_any(&at[tail + 1], WORDS("default", "delete"))) {
    out->is_constexpr |= mw_token_is(&at[tail + 1], "default"); /* where it can be */
    tail += 2;
  }
  if (out->open >= 0 && tail < end && mw_token_is(&at[tail], "{")) out->body = tail;
  if (out->body >= 0 || (out->open >= 0 && tail < end && mw_token_is(&at[tail], ";"))) {
    out->last = group_end(at, tail);
  } else {
    out->name = out->open = out->close = -1;
    out->last = mw_find_open(tokens, out->first, end, WORDS(";")) + 1;
    if (out->last > end) out->last = end;
  }
  if (out->last < out->begin) out->last = out->begin; /* no C++: a ; in the header */
  if (out->kind == MW_DECLARES_INSTANCE) return;
  if (out->open >= 0)
    out->kind = MW_DECLARES_FUNCTION;
  else
    kind_read(tokens, out);
}

/* Past what declares nothing; i: that is no such thing. */
static int nothing_end(const mw_token *at, int i) {
  if (mw_token_any(&at[i], WORDS("public", "private", "protected")) && mw_token_is(&at[i + 1], ":")) return i + 2;
  const bool nothing = at[i].kind == MW_TOKEN_CHUNK || at[i].kind == MW_TOKEN_PRAGMA || mw_token_is(&at[i], ";");
  return nothing || at[i].match >= 0 ? group_end(at, i) : i;
}

/* The { of namespace a::b {, inline namespace a {, extern "C" {; -1: that is no such thing. */
static int region_open(const mw_tokens *tokens, int i, int end) {
  const mw_token *at = &tokens->at[i];
  if (mw_token_is(at, "extern")) return at[1].kind == MW_TOKEN_STRING && mw_token_is(&at[2], "{") ? i + 2 : -1;
  if (!mw_token_is(&at[mw_token_is(at, "inline")], "namespace")) return -1;
  i = mw_find(tokens, i, end, WORDS("{", ";"));
  return i < end && mw_token_is(&tokens->at[i], "{") ? i : -1;
}

mw_declaration mw_declaration_read(const mw_tokens *tokens, int first, int end) {
  mw_declaration out = {.first = first, .begin = first, .name = -1, .open = -1, .close = -1, .body = -1};
  out.last = nothing_end(tokens->at, first);
  if (out.last > first) return out;
  out.body = region_open(tokens, first, end);
  if (out.body >= 0) {
    out.kind = MW_DECLARES_REGION;
    out.last = group_end(tokens->at, out.body);
  } else {
    words_and_body_read(tokens, end, &out);
  }
  return out;
}

/* ---- templates of functions ------------------------------------------------------------------------------------ */

static bool declares_template(const mw_tokens *tokens, const mw_token *name) {
  for (int i = 0; (i = mw_find(tokens, i, tokens->count, WORDS("template"))) < tokens->count; i++) {
    const mw_declaration it = mw_declaration_read(tokens, i, tokens->count);
    if (it.kind == MW_DECLARES_FUNCTION && mw_same_text(&tokens->at[it.name], name)) return true;
  }
  return false;
}

/* Is one called at i, as a member: . f < 4 > ( */
static bool calls_template(const mw_tokens *tokens, int i) {
  const mw_token *at = tokens->at;
  if (!mw_token_any(&at[i], WORDS(".", "->")) || at[i + 1].kind != MW_TOKEN_NAME || !mw_token_is(&at[i + 2], "<"))
    return false;
  return mw_token_is(&at[mw_angle_end(tokens, i + 2, tokens->count)], "(") && declares_template(tokens, &at[i + 1]);
}

void mw_templates_mark(mw_tokens *tokens) {
  mw_tokens next = mw_tokens_beside(tokens);
  int done = 0;
  for (int i = 0; i < tokens->count; i++) {
    if (!calls_template(tokens, i)) continue;
    tokens->at[i + 1].space = true;
    mw_tokens_copy(&next, tokens, done, i + 1);
    mw_tokens_scan(&next, "template", &tokens->at[i]);
    done = i + 1;
  }
  if (!done) return;
  mw_tokens_copy(&next, tokens, done, tokens->count);
  mw_tokens_become(tokens, &next);
}

/* ---- parameters ------------------------------------------------------------------------------------------------ */

/* The declared name among tokens first ... last-1: the last word that is neither part of the type nor the type itself;
 * for a pointer to a function or an array, the word in the parentheses. */
static int formal_name(const mw_tokens *tokens, int first, int last) {
  const char *const *const qualifiers =
      WORDS("const", "volatile", "struct", "class", "enum", "union", "typename", "register", "__restrict__",
            "__restrict", "restrict", "__grid_constant__");
  const char *const *const types = WORDS("void", "bool", "char", "short", "int", "long", "float", "double", "signed",
                                         "unsigned", "wchar_t", "char16_t", "char32_t", "auto");
  const mw_token *at = tokens->at;
  int name = -1;
  bool typed = false;
  for (int i = first; i < last; i++) {
    bool member = i > first && mw_token_is(&at[i - 1], "::");
    if (mw_token_is(&at[i], "<")) {
      i = mw_angle_end(tokens, i, last) - 1;
      typed = true;
    } else if (mw_token_is(&at[i], "(") && typed && mw_token_any(&at[i + 1], WORDS("*", "&"))) {
      return formal_name(tokens, i + 1, at[i].match < last ? at[i].match : last);
    } else if (at[i].kind == MW_TOKEN_NAME && !mw_token_any(&at[i], qualifiers)) {
      if (typed && !member && !mw_token_any(&at[i], types) && !mw_is_attribute(&at[i])) name = i;
      typed |= !mw_is_attribute(&at[i]) || mw_token_is(&at[i], "decltype");
    } else if (at[i].match > i) {
      i = at[i].match;
    } else if (at[i].kind == MW_TOKEN_PUNCT && strchr("*&.", at[i].text[0])) {
      name = -1;
      typed = true;
    }
  }
  return name;
}

int mw_formals_read(const mw_tokens *tokens, int open, int close, mw_formal **out) {
  const mw_token *at = tokens->at;
  int count = 0, first = open + 1, stop = -1; /* stop: the = of a default argument, or an attribute after the name */
  *out = NULL;
  if (first >= close || (first + 1 == close && mw_token_is(&at[first], "void"))) return 0;
  for (int i = first; i <= close; i++) {
    const int past = mw_attribute_end(tokens, i);
    if (past > i) {
      *(i == first ? &first : &stop) = i == first ? past : i;
      i = past - 1;
    } else if (i < close && mw_token_is(&at[i], "<"))
      i = mw_angle_end(tokens, i, close) - 1;
    else if (i < close && at[i].match > i)
      i = at[i].match;
    else if (stop < 0 && mw_token_is(&at[i], "="))
      stop = i;
    else if (i == close || mw_token_is(&at[i], ",")) {
      if (stop < 0) stop = i;
      *out = mw_realloc(*out, (size_t)(count + 1) * sizeof **out);
      const int name = formal_name(tokens, first, stop), last = name < 0 ? stop : name;
      const bool far = mw_find(tokens, first, stop, WORDS("*", "[")) < stop;
      const bool reference = mw_find(tokens, first, last, WORDS("&", "&&")) < last;
      (*out)[count++] = (mw_formal){first, stop, name, last, far, reference};
      first = i + 1;
      stop = -1;
    }
  }
  return count;
}
