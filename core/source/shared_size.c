/* SPDX-License-Identifier: MIT
 *
 * Arrays in shared memory of which the size is known only when the kernel runs; see declarator.h. */
#include "core/source/builtin.h"
#include "core/source/declarator.h"

#include "core/base/memory.h"

enum { DEEPEST = 4 }; /* const int a = b; where b is another constant */

typedef struct function {
  const mw_tokens *tokens;
  int open, close; /* ( and ) of its parameters; -1: it has none */
  int body;        /* its { */
} function;

/* The function whose body holds token i. */
static function function_around(const mw_tokens *tokens, int i) {
  const mw_token *at = tokens->at;
  while ((i = mw_enclosing(tokens, 2, i)) > 0) {
    const int open = mw_token_is(&at[i], "{") && mw_token_is(&at[i - 1], ")") ? at[i - 1].match : 0;
    if (open && !mw_token_any(&at[open - 1], WORDS("if", "for", "while", "switch")))
      return (function){tokens, open, i - 1, i};
  }
  return (function){tokens, -1, -1, -1};
}

static bool is_parameter(const function *in, const mw_token *name) {
  for (int i = in->open + 1; i < in->close; i++)
    if (mw_same_text(&in->tokens->at[i], name) && mw_token_any(&in->tokens->at[i + 1], WORDS(",", ")", "=")))
      return true;
  return false;
}

/* Where the function declares the name before token `last`; -1: it does not. */
static int local_find(const function *in, const mw_token *name, int last) {
  const mw_token *at = in->tokens->at;
  for (int i = last - 1; i > in->body; i--)
    if (mw_same_text(&at[i], name) && at[i - 1].kind == MW_TOKEN_NAME &&
        mw_token_any(&at[i + 1], WORDS("=", ";", ",", "{")))
      return i;
  return -1;
}

static int varying(const function *in, int first, int last, int depth);

static bool local_varies(const function *in, int name, int depth) {
  const mw_token *at = in->tokens->at;
  int begin = name;
  while (!mw_token_any(&at[begin - 1], WORDS(";", "{", "}"))) begin--;
  if (mw_find(in->tokens, begin, name, WORDS("constexpr", "using", "typedef", "enum", "struct", "class", "union")) <
      name)
    return false;
  if (mw_find(in->tokens, begin, name, WORDS("const")) == name) return true;
  const int end = mw_find_open(in->tokens, name + 1, in->tokens->count, WORDS(";"));
  return depth < DEEPEST && varying(in, name + 1, end, depth + 1) >= 0;
}

/* The first name among tokens first ... last-1 that is no constant; -1 if none. */
static int varying(const function *in, int first, int last, int depth) {
  const mw_token *at = in->tokens->at;
  for (int i = first; i < last; i++) {
    if (at[i].kind != MW_TOKEN_NAME || mw_is_member(in->tokens, i) || mw_token_is(&at[i + 1], "::")) continue;
    if (mw_token_any(&at[i], WORDS("sizeof", "decltype", "alignof")))
      i = at[i + 1].match > i ? at[i + 1].match : i + 1;
    else if (mw_is_builtin(&at[i], MW_CUDA_COORDINATE) || is_parameter(in, &at[i]))
      return i;
    else {
      const int local = local_find(in, &at[i], first);
      if (local >= 0 && local_varies(in, local, depth)) return i;
    }
  }
  return -1;
}

int mw_shared_unsized(const mw_tokens *tokens, int shared, int *array) {
  const mw_token *at = tokens->at;
  if (mw_token_is(&at[shared - (shared > 0)], "extern") || mw_token_is(&at[shared + 1], "extern")) return -1;
  const function in = function_around(tokens, shared);
  const int end = mw_find_open(tokens, shared, tokens->count, WORDS(";", "="));
  for (int i = shared + 1; in.body >= 0 && i < end; i++) {
    if (at[i].kind == MW_TOKEN_NAME) *array = i;
    if (!mw_token_is(&at[i], "[") || at[i].match < i) continue;
    const int found = varying(&in, i + 1, at[i].match, 0);
    if (found >= 0) return found;
    i = at[i].match;
  }
  return -1;
}

char *mw_shared_unsized_text(const mw_tokens *tokens, int name, int array) {
  const mw_token *at = tokens->at;
  return mw_format(
      "the size of the shared array '%.*s' is not a constant, because '%.*s' is known only when the kernel runs; "
      "declare extern __shared__ and give prepare shared = bytes, or make it a macro or template parameter",
      TEXT(&at[array]), TEXT(&at[name]));
}
