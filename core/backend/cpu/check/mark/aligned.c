/* SPDX-License-Identifier: MIT
 *
 * Check mode: whole vectors and structures that a pointer points to. clang++ tests the alignment where a member is
 * accessed, but not where the whole is copied. So a dereferenced object becomes an mw_aligned (moonwarp/memory.h),
 * which does:
 *
 *   *(const float4 *)p                   *(mw_aligned<const float4>)p
 *   ((float4 *)p)[i]                     ((mw_aligned<float4>)p)[i]
 *   reinterpret_cast<float4 *>(p)[i]     mw_to<float4>(p)[i]
 *   v[i]   *v   *(v + i)                 mw_at(v)[i]   *mw_at(v)   *(mw_at(v) + i)
 *
 * v is a name that the same function declares as a pointer. What does not point to a class is the same by mw_at. And
 * the plain loads and stores of inline PTX are plain accesses. */
#include "core/backend/cpu/check/mark/mark.h"

#include <string.h>

typedef struct pass { /* over a function; the tokens are changed in place */
  mw_tokens *tokens;
  int first, last;
} pass;

/* A class, as far as its name says. */
static bool is_class_name(const mw_token *token) {
  return token->kind == MW_TOKEN_NAME &&
         !mw_token_any(token, WORDS("void", "bool", "char", "short", "int", "long", "unsigned", "signed", "float",
                                    "double", "auto", "const", "volatile", "return", "case", "else", "sizeof", "throw",
                                    "goto", "typename", "operator"));
}

/* The * of "const T *" or "T const *" that begins at i; -1: it is something else. */
static int star_of(const mw_tokens *tokens, int i, int last) {
  const mw_token *at = tokens->at;
  i += mw_token_is(&at[i], "const");
  if (i >= last || !is_class_name(&at[i])) return -1;
  i += 1 + mw_token_is(&at[i + 1], "const");
  return i < last && mw_token_is(&at[i], "*") ? i : -1;
}

/* ---- casts ----------------------------------------------------------------------------------------------------- */

/* ( T * ) at i, of which what it casts is dereferenced: by a * before it, or by [ ] after the brackets around it. */
static void cast(const pass *p, int i) {
  const mw_token *at = p->tokens->at;
  const int star = star_of(p->tokens, i + 1, p->last);
  if (star < 0 || at[i].match != star + 1 || i == p->first) return;
  const bool is_indexed = mw_token_is(&at[i - 1], "(") && mw_token_is(&at[at[i - 1].match + 1], "[");
  if (!is_indexed && !mw_token_is(&at[i - 1], "*")) return;
  mw_token_set(p->tokens, i, mw_strdup("(mw_aligned<"));
  mw_token_set(p->tokens, star, mw_strdup(">"));
}

/* reinterpret_cast<T *>(...) at i, with a * before it or [ ] after it. */
static void named_cast(const pass *p, int i) {
  const mw_token *at = p->tokens->at;
  const int star = star_of(p->tokens, i + 2, p->last);
  if (star < 0 || !mw_token_is(&at[star + 1], ">") || !mw_token_is(&at[star + 2], "(") || i == p->first) return;
  if (!mw_token_is(&at[i - 1], "*") && !mw_token_is(&at[at[star + 2].match + 1], "[")) return;
  if (mw_token_is(&at[i - 1], "&")) return;
  mw_token_set(p->tokens, i, mw_strdup("mw_to"));
  mw_token_set(p->tokens, star, mw_strdup(""));
}

/* ---- names ----------------------------------------------------------------------------------------------------- */

/* May a declaration begin at i: a statement of a block, a parameter, the head of a loop? In f(n * m) and {n * m} none does. */
static bool begins(const pass *p, int i) {
  const mw_token *at = p->tokens->at, *before = &at[i - 1];
  if (i == 0 || mw_token_any(before, WORDS(";", "}"))) return true;
  if (mw_token_is(before, "{")) return mw_token_any(before - 1, WORDS(")", "{", "}", ";", "else", "do", "const"));
  const int open = mw_token_any(before, WORDS("(", ",")) ? mw_enclosing(p->tokens, p->first, i) : -1;
  if (open < 2 || !mw_token_is(&at[open], "(")) return false;
  const mw_token *word = &at[open - 1], *after = &at[at[open].match + 1];
  const bool makes =
      mw_token_any(word - 1, WORDS("{", "}", ";", ":", "explicit", "__device__", "__host__", "constexpr"));
  return mw_token_is(word, "for") || (mw_token_is(after, ":") && makes) ||
         (!mw_token_any(word, WORDS("if", "while", "switch")) &&
          mw_token_any(after, WORDS("{", "const", "noexcept", "->", "mutable", "requires")));
}

/* The name that "T *__restrict__ name" at i declares; -1: none. */
static int declared(const pass *p, int i) {
  const mw_token *at = p->tokens->at;
  int name = star_of(p->tokens, i, p->last);
  if (name < 0 || !begins(p, i)) return -1;
  for (name++; mw_token_any(&at[name], WORDS("const", "__restrict__", "__restrict", "restrict"));) name++;
  return name < p->last && at[name].kind == MW_TOKEN_NAME ? name : -1;
}

static bool is_declared(const pass *p, const int *names, int count, const mw_token *token) {
  for (int n = 0; n < count; n++)
    if (mw_same_text(&p->tokens->at[names[n]], token)) return true;
  return false;
}

/* May what ends before the name at i be a type, so that the name is declared here? */
static bool follows_type(const mw_token *at, int i) {
  const mw_token *before = &at[i - 1];
  if (before->kind == MW_TOKEN_NAME) return mw_ends_operand(before);
  return mw_token_any(before, WORDS(">", ",", "*", "&", "&&")) ||
         (mw_token_is(before, ")") && mw_token_is(&at[before->match > 0 ? before->match - 1 : 0], "decltype"));
}

static bool is_indexed(const mw_token *at, int i) {
  const mw_token *end = &at[at[i + 1].match + 1];
  if (!mw_token_is(&at[i + 1], "[") || mw_token_any(end, WORDS(".", "->"))) return false; /* a member is tested */
  return mw_token_is(&at[i - 1], "*") ? !follows_type(at, i - 1) : mw_token_is(&at[i - 1], ",") || !follows_type(at, i);
}

/* *v, but not T (*v)[8]. */
static bool is_target(const mw_token *at, int i) {
  if (!mw_token_is(&at[i - 1], "*") || follows_type(at, i - 1)) return false;
  if (mw_token_any(&at[i + 1], WORDS("[", "(", ".", "->", "++", "--", "::"))) return false;
  return !(mw_token_is(&at[i + 1], ")") && mw_token_any(&at[i + 2], WORDS("[", "(")));
}

static bool is_sum(const mw_token *at, int i) { /* *(v + 1) */
  return mw_token_is(&at[i - 1], "(") && mw_token_is(&at[i - 2], "*") && mw_token_is(&at[i + 1], "+") &&
         mw_token_is(&at[at[i - 1].match], ")");
}

/* A name that is used at i, and what it points to with it. */
static void use(const pass *p, int i) {
  const mw_token *at = p->tokens->at;
  if (i < p->first + 2 || mw_token_any(&at[i - 1], WORDS(".", "->", "::"))) return;
  if (is_indexed(at, i) || is_target(at, i) || is_sum(at, i))
    mw_token_set(p->tokens, i, mw_format("mw_at(%.*s)", TEXT(&at[i])));
}

/* ---- functions ------------------------------------------------------------------------------------------------- */

static void pass_over(const pass *p) {
  const mw_token *at = p->tokens->at;
  int *names = mw_malloc((size_t)(p->last - p->first + 1) * sizeof *names), count = 0;
  for (int i = p->first; i < p->last; i++) {
    const int name = declared(p, i);
    if (name >= 0 && !is_declared(p, names, count, &at[name])) names[count++] = name;
  }
  for (int i = p->first; i < p->last; i++) {
    if (at[i].marks & CPU_WEAK)
      mw_token_set(p->tokens, i, mw_strdup(""));
    else if (mw_token_is(&at[i], "("))
      cast(p, i);
    else if (mw_token_is(&at[i], "reinterpret_cast"))
      named_cast(p, i);
    else if (at[i].kind == MW_TOKEN_NAME && is_declared(p, names, count, &at[i]))
      use(p, i);
  }
  mw_free(names);
}

mw_tokens cpu_aligned(const cpu_program *program) {
  mw_tokens tokens = mw_tokens_beside(&program->tokens);
  for (int i = 0; i < program->tokens.count; i++) {
    mw_tokens_push(&tokens, &program->tokens.at[i]);
    tokens.at[i].match = program->tokens.at[i].match;
  }
  for (int f = 0; f < program->nfunctions; f++) {
    const cpu_function *function = &program->functions[f];
    const int body = function->body;
    if (body < 0 || mw_find(&tokens, function->first, body, WORDS("constexpr", "consteval")) < body) continue;
    pass_over(&(pass){&tokens, function->first, function->last});
  }
  return tokens;
}
