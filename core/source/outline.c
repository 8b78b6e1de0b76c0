/* SPDX-License-Identifier: MIT
 *
 * The declarations outside of functions, and the members of classes; see outline.h. */
#include "core/source/outline.h"

#include <string.h>

#include "core/base/memory.h"
#include "core/source/declarator.h"

enum { BUCKETS = 4096 };

typedef struct walk {
  mw_outline *out;
  const mw_tokens *tokens;
  const mw_token *at;
} walk;

/* ---- names ----------------------------------------------------------------------------------------------------- */

int mw_outline_next(const mw_outline *outline, const mw_token *name, int after) {
  int i = after < 0 ? outline->buckets[mw_hash(name) % BUCKETS] : outline->names[after].next;
  while (i >= 0 && !mw_same_text(&outline->tokens->at[outline->names[i].token], name)) i = outline->names[i].next;
  return i;
}

/* token becomes a name of the newest entry. */
static void name_add(walk *in, int token) {
  mw_outline *out = in->out;
  int *first = &out->buckets[mw_hash(&in->at[token]) % BUCKETS];
  out->names = mw_grow(out->names, (size_t)out->nnames, sizeof *out->names);
  out->names[out->nnames] = (mw_entry_name){token, out->nentries - 1, *first};
  *first = out->nnames++;
}

/* op of typedef int (*op)(int);   f of typedef int f(int); */
static void function_type_add(walk *in, int first, int last) {
  const mw_token *at = in->at;
  const int open = mw_find(in->tokens, first, last, WORDS("("));
  if (open == last) return;
  if (at[at[open].match - 1].kind == MW_TOKEN_NAME) name_add(in, at[open].match - 1);
  if (mw_token_is(&at[last - 2], ")") && at[at[last - 2].match - 1].kind == MW_TOKEN_NAME)
    name_add(in, at[last - 2].match - 1);
}

/* The classes whose member a function is: A of A<T>::f. */
static void classes_add(walk *in, const mw_declaration *it) {
  const mw_token *at = in->at;
  int i = it->name;
  if (i > it->begin && mw_token_is(&at[i - 1], "~")) i--;
  while (i > it->begin + 1 && mw_token_is(&at[i - 1], "::")) {
    int depth = 0;
    for (i -= 2; i > it->begin; i--) {
      depth += mw_token_is(&at[i], ">") - mw_token_is(&at[i], "<");
      if (!depth && at[i].kind == MW_TOKEN_NAME) break;
    }
    if (at[i].kind == MW_TOKEN_NAME) name_add(in, i);
  }
}

static void names_add(walk *in, const mw_declaration *it) {
  const bool class = it->kind == MW_DECLARES_CLASS && it->body >= 0, type = it->kind == MW_DECLARES_TYPEDEF;
  if (it->name >= 0) name_add(in, it->name);
  if (it->open >= 0 && !type) classes_add(in, it);
  if ((class || type) && it->is_enum && it->body >= 0)
    for (int i = it->body; (i = mw_enumerator_next(in->tokens, it->body, i));) name_add(in, i);
  if (type) function_type_add(in, it->begin, it->last);
  if (!class && !type && it->kind != MW_DECLARES_VARIABLES) return;
  for (int i = -1; (i = mw_variable_next(in->tokens, it->begin, it->last, i)) >= 0;) name_add(in, i);
}

/* ---- tokens that go -------------------------------------------------------------------------------------------- */

static void fate_set(walk *in, int first, int last, int fate) {
  if (first < last) memset(in->out->fate + first, fate, (size_t)(last - first));
}

/* A constructor, a destructor, an operator or a virtual method counts for what the class is, so it stays declared; not
 * what allocates, which destructors would call. */
static bool is_special(const walk *in, const mw_declaration *it, int class) {
  const mw_token *name = &in->at[it->name];
  const bool allocates = mw_token_any(name + 1, WORDS("new", "delete"));
  return (class >= 0 && mw_same_text(name, &in->at[class])) || (mw_token_is(name, "operator") && !allocates) ||
         mw_has(in->tokens, it->begin, it->last, "virtual") ||
         mw_find_open(in->tokens, it->close, it->last, WORDS("override")) < it->last;
}

/* __host__ alone is an error for NVRTC, also where nvcc only warns of it: before a variable. */
static void host_strip(walk *in, const mw_declaration *it) {
  const int word = mw_find(in->tokens, it->begin, it->last, WORDS("__host__"));
  if (word < it->last) fate_set(in, word, word + 1, MW_FATE_GONE);
}

/* A method of the host: gone, or only declared. An empty constructor stays, since device code may run it. */
static void method_strip(walk *in, const mw_declaration *it, int class) {
  const int head = mw_find_open(in->tokens, it->close + 1, it->last, WORDS(":", "{", ";"));
  host_strip(in, it);
  if (mw_has(in->tokens, it->begin, it->open, "friend") || !is_special(in, it, class)) {
    fate_set(in, it->first, it->last, MW_FATE_GONE);
  } else if (it->body >= 0 && in->at[it->body].match > it->body + 1) {
    fate_set(in, head, it->last, MW_FATE_GONE);
    fate_set(in, head, head + 1, MW_FATE_SEMICOLON);
  }
}

static void class_strip(walk *in, const mw_declaration *class) {
  const bool is_class = class->kind == MW_DECLARES_CLASS || class->kind == MW_DECLARES_TYPEDEF;
  if (!is_class || class->body < 0 || class->is_enum) return;
  mw_declaration it;
  for (int i = class->body + 1; i < in->at[class->body].match; i = it.last) {
    it = mw_declaration_read(in->tokens, i, in->at[class->body].match);
    if (it.kind == MW_DECLARES_FUNCTION && !it.is_device && !it.is_constexpr) method_strip(in, &it, class->name);
    class_strip(in, &it);
  }
}

/* const float half = 1.0f / two; */
static void constant_mark(walk *in, const mw_declaration *it) {
  const int value = mw_find(in->tokens, it->begin, it->last, WORDS("="));
  const int word = mw_find(in->tokens, it->begin, value, WORDS("const"));
  const bool number = mw_find(in->tokens, it->begin, value, WORDS("float", "double")) < value;
  const bool plain = mw_find(in->tokens, it->begin, value, WORDS("*", "&", "[", "(", "<", "volatile")) == value;
  if (value < it->last && word < value && number && plain && !it->is_constexpr)
    fate_set(in, word, word + 1, MW_FATE_CONST);
}

static void fates_set(walk *in, const mw_declaration *it) {
  if (it->kind == MW_DECLARES_VARIABLES) host_strip(in, it);
  if (it->kind == MW_DECLARES_VARIABLES && !it->is_device) constant_mark(in, it);
  class_strip(in, it);
}

/* ---- declarations ---------------------------------------------------------------------------------------------- */

static mw_worth worth_of(const walk *in, const mw_declaration *it) {
  const mw_token *word = &in->at[it->begin];
  const bool device = it->is_device || (it->open >= 0 && it->is_constexpr);
  const bool error = word->kind == MW_TOKEN_PRAGMA && memmem(word->text, (size_t)word->size, "error", 5);
  switch (it->kind) {
  case MW_DECLARES_NOTHING:
    return error || word->kind == MW_TOKEN_CHUNK ? MW_WORTH_TEXT : MW_WORTH_HOST;
  case MW_DECLARES_REGION:
    return MW_WORTH_REGION;
  case MW_DECLARES_INSTANCE:
    return it->open >= 0 ? MW_WORTH_INSTANCE : MW_WORTH_HOST;
  case MW_DECLARES_FUNCTION:
    if (it->is_kernel || (device && mw_token_is(&in->at[it->name], "operator"))) return MW_WORTH_ROOT;
    return device ? MW_WORTH_DEVICE : MW_WORTH_HOST;
  case MW_DECLARES_USING:
    if (it->name < 0) return MW_WORTH_USING;
    return mw_token_is(word + 1, "std") && it->name > it->begin + 1 ? MW_WORTH_HOST : MW_WORTH_DEVICE;
  case MW_DECLARES_VARIABLES:
    word += mw_token_is(word, "static");
    if (device) return MW_WORTH_ROOT;
    return it->is_const || mw_token_any(word, WORDS("texture", "surface")) ? MW_WORTH_DEVICE : MW_WORTH_HOST;
  default:
    return MW_WORTH_DEVICE;
  }
}

static void entry_add(walk *in, const mw_declaration *it, int region) {
  static const char *const whats[] = {[MW_DECLARES_INSTANCE] = "a function without __device__",
                                      [MW_DECLARES_FUNCTION] = "a function without __device__",
                                      [MW_DECLARES_VARIABLES] =
                                          "a variable of the host, neither __device__, __constant__ nor const"};
  const bool is_region = it->kind == MW_DECLARES_REGION;
  mw_outline *out = in->out;
  out->entries = mw_grow(out->entries, (size_t)out->nentries, sizeof *out->entries);
  out->entries[out->nentries++] = (mw_entry){.worth = worth_of(in, it),
                                             .first = it->first,
                                             .last = is_region ? it->body + 1 : it->last,
                                             .close = is_region ? it->last - 1 : -1,
                                             .region = region,
                                             .is_kernel = it->is_kernel && it->open >= 0,
                                             .is_template = it->is_template,
                                             .what = whats[it->kind] ? whats[it->kind] : ""};
}

static void scope_walk(walk *in, int i, int last, int region) {
  for (mw_declaration it; i < last; i = it.last) {
    it = mw_declaration_read(in->tokens, i, last);
    entry_add(in, &it, region);
    const mw_entry *entry = &in->out->entries[in->out->nentries - 1];
    if (it.kind != MW_DECLARES_USING || entry->worth != MW_WORTH_HOST) names_add(in, &it);
    fates_set(in, &it);
    if (it.kind == MW_DECLARES_REGION) scope_walk(in, it.body + 1, it.last - 1, in->out->nentries - 1);
  }
}

void mw_outline_read(const mw_tokens *tokens, mw_outline *out) {
  *out = (mw_outline){.tokens = tokens};
  out->buckets = mw_malloc(BUCKETS * sizeof *out->buckets);
  for (int i = 0; i < BUCKETS; i++) out->buckets[i] = -1;
  out->fate = mw_calloc((size_t)tokens->count + 1, 1);
  scope_walk(&(walk){.out = out, .tokens = tokens, .at = tokens->at}, 0, tokens->count, -1);
}

void mw_outline_free(mw_outline *outline) {
  mw_free(outline->entries);
  mw_free(outline->names);
  mw_free(outline->buckets);
  mw_free(outline->fate);
}
