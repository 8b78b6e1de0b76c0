/* SPDX-License-Identifier: MIT
 *
 * What copies and ends objects on the host. A kernel's parameter is made on the host and is bits on the device, where
 * it is neither copied nor destroyed. So a copy constructor or destructor without __device__ never runs there, and the
 * compiler's own stands for it:
 *
 *   struct list { int *at; list(const list &o) : at(o.at) { count(at); } ~list() { cudaFree(at); } };
 *   struct list { int *at; list(const list &o) = default; ~list() = default; };
 *
 * Those with `virtual` stay, for the place that they have in a table. */
#include "core/backend/cpu/program/program.h"

#include "core/source/declaration.h"

typedef struct copies { /* the tokens up to `done` are in `next` */
  mw_tokens *tokens, next;
  int done;
} copies;

/* Is the only parameter another of the class: (const list &o)  (list<T> &&) */
static bool takes_one(const copies *in, const mw_declaration *it, const mw_token *class) {
  const int end = mw_find(in->tokens, it->open, it->close, WORDS("&", "&&"));
  bool same = false;
  for (int i = it->open; i < end; i++) same |= mw_same_text(&in->tokens->at[i], class);
  return same && end < it->close && mw_find_open(in->tokens, it->open + 1, it->close, WORDS(",")) == it->close;
}

/* class: its name, where the function is declared in it; else NULL, and the function's own says it, as in list::list. */
static bool is_of_host(const copies *in, const mw_declaration *it, const mw_token *class) {
  const mw_token *name = it->name < 0 ? NULL : &in->tokens->at[it->name];
  if (it->kind != MW_DECLARES_FUNCTION || !name || it->is_device || it->is_constexpr ||
      (class && !mw_same_text(name, class)) || mw_has(in->tokens, it->begin, it->last, "virtual") ||
      mw_find_open(in->tokens, it->close, it->last, WORDS("override", "=")) < it->last)
    return false;
  return mw_token_is(name - 1, "~") || ((class || mw_token_is(name - 1, "::")) && takes_one(in, it, name));
}

/* The end of its head: the : of what it initialises, its body, or the end of the declaration. */
static int head_end(const copies *in, const mw_declaration *it) {
  return mw_find_open(in->tokens, it->close + 1, it->body < 0 ? it->last - 1 : it->body, WORDS(":"));
}

static void put(copies *in, int first, int last, const char *text) {
  mw_tokens_copy(&in->next, in->tokens, in->done, first);
  mw_tokens_scan(&in->next, text, &in->tokens->at[first]);
  in->done = last;
}

static void scope_write(copies *in, int i, int last, const mw_token *class) {
  for (mw_declaration it; i < last; i = it.last) {
    it = mw_declaration_read(in->tokens, i, last);
    const bool is_class = it.kind == MW_DECLARES_CLASS || it.kind == MW_DECLARES_TYPEDEF;
    if (it.body >= 0 && (it.kind == MW_DECLARES_REGION || (is_class && !it.is_enum)))
      scope_write(in, it.body + 1, in->tokens->at[it.body].match,
                  is_class && it.name >= 0 ? &in->tokens->at[it.name] : NULL);
    else if (is_of_host(in, &it, class) && class)
      put(in, head_end(in, &it), it.last, "= default;");
    else if (is_of_host(in, &it, class))
      put(in, it.first, it.last, "");
  }
}

void cpu_copies_rewrite(mw_tokens *tokens) {
  copies in = {.tokens = tokens, .next = mw_tokens_beside(tokens)};
  scope_write(&in, 0, tokens->count, NULL);
  if (!in.done) return;
  mw_tokens_copy(&in.next, tokens, in.done, tokens->count);
  mw_tokens_become(tokens, &in.next);
}
