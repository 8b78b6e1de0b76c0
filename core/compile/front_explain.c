/* SPDX-License-Identifier: MIT
 *
 * What a compiler's message about device code does not say: why a name is not there, where a function is used that has
 * no body, which shared array has no constant size; see front.h. */
#include "core/compile/front_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/compile/excerpt.h"
#include "core/source/body.h"

void mw_front_missing_add(const mw_front *front, char *message, size_t size) {
  const mw_preprocessed *source = &front->source;
  int count = 0;
  for (int i = 0; i < source->nleft && count < 3; i++) {
    const mw_left_header *header = &source->left[i];
    const size_t length = strlen(message);
    if (header->own)
      snprintf(message + length, size - length, "%s'%s' (%s:%d)",
               count++ ? ", " : "; not found, and left out: ", header->name, source->tokens.files[header->file],
               header->line);
  }
}

/* The entry of that name, if none of them is kept; its token. */
static const mw_entry *left_out(const mw_outline *outline, const mw_token *name, int *token) {
  const mw_entry *found = NULL;
  for (int i = -1; (i = mw_outline_next(outline, name, i)) >= 0;) {
    const mw_entry *entry = &outline->entries[outline->names[i].entry];
    if (entry->kept) return NULL;
    found = entry;
    *token = outline->names[i].token;
  }
  return found;
}

/* Why no device knows a name that older files use; NULL: it is no such name. */
static const char *removed(const char *message, const mw_token *name) {
  if (mw_token_any(name, WORDS("texture", "surface", "textureReference", "surfaceReference")) ||
      strstr(message, ": texture is not a template") || strstr(message, ": surface is not a template"))
    return "CUDA 12 removed texture and surface references, so that no device takes them: pass the array and index it";
  if (mw_token_any(name, WORDS("__shfl", "__shfl_up", "__shfl_down", "__shfl_xor", "__any", "__all", "__ballot")))
    return "since CUDA 9 it ends in _sync and begins with a mask, as in __shfl_down_sync(0xffffffff, x, 1)";
  return NULL;
}

/* Does a compiler say that a name is not declared? */
static bool is_unknown(const char *message) {
  static const char *const words[] = {"unknown type name",
                                      "undeclared identifier",
                                      "no member named",
                                      "no template named",
                                      "no type named",
                                      "not declared",
                                      "not been declared",
                                      "does not name a",
                                      "is not a member of",
                                      "is undefined",
                                      "has no member",
                                      "is not a template",
                                      "class or namespace name",
                                      "declared void",
                                      "\"__global__\" does not apply"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strstr(message, words[i])) return true;
  return false;
}

/* Does the file declare the name, or a namespace of it? */
static bool is_own(const mw_outline *outline, const mw_token *name) {
  const mw_tokens *tokens = outline->tokens;
  if (mw_outline_next(outline, name, -1) >= 0) return true;
  for (int i = 1; (i = mw_find_same(tokens, i, tokens->count, name)) < tokens->count; i++)
    if (mw_token_is(&tokens->at[i - 1], "namespace")) return true;
  return false;
}

/* Why the device does not declare a name of CUDA's that a message quotes; NULL: it is no such name. */
static const char *lacking(const mw_front *front, const char *message, const mw_token *quoted) {
  if (!front->lacks || !is_unknown(message)) return NULL;
  char *name = mw_format("%.*s", TEXT(quoted));
  const mw_token first = {.kind = MW_TOKEN_NAME, .text = name, .size = (int)strcspn(name, ":")};
  const char *why = is_own(&front->outline, &first) ? NULL : front->lacks(name);
  mw_free(name);
  return why;
}

typedef struct function {
  const mw_tokens *tokens;
  mw_declaration it;
} function;

static mw_meaning formal_meaning(void *with, const mw_token *name) {
  const function *in = with;
  mw_formal *formals;
  const int count = mw_formals_read(in->tokens, in->it.open, in->it.close, &formals);
  int i = 0;
  while (i < count && !(formals[i].name >= 0 && mw_same_text(&in->tokens->at[formals[i].name], name))) i++;
  mw_free(formals);
  return (mw_meaning){.binding = i < count ? MW_NAME_PARAMETER : MW_NAME_UNKNOWN};
}

/* The shared array that the __shared__ at the token declares in a function, if its size is no constant; NULL. */
static char *unsized_at(const mw_outline *outline, int token) {
  const mw_entry *entry = outline->entries, *end = entry + outline->nentries;
  while (entry < end && entry->last <= token) entry++;
  if (entry == end) return NULL;
  function in = {outline->tokens, mw_declaration_read(outline->tokens, entry->first, entry->last)};
  if (in.it.kind != MW_DECLARES_FUNCTION || in.it.body < 0) return NULL;
  mw_body body;
  int array = 0;
  mw_body_read(&body, in.tokens, in.it.body + 1, in.it.last - 1, &(mw_names){formal_meaning, &in, false}, NULL);
  const int name = mw_shared_unsized(&body, token, &array);
  mw_body_free(&body);
  return name < 0 ? NULL : mw_shared_unsized_text(in.tokens, name, array);
}

/* Of a message about a constant: the shared array at its place whose size is none; NULL if none. */
static char *unsized_text(const mw_front *front, const char *message) {
  const mw_tokens *tokens = &front->source.tokens;
  const char *after = strstr(message, " failed: ");
  mw_token file;
  int number;
  if (!strstr(message, "constant") || !mw_place_read(after ? after + strlen(" failed: ") : message, &file, &number))
    return NULL;
  for (int i = 0; i < tokens->count; i++) {
    const mw_token *at = &tokens->at[i];
    if (at->line != number || !mw_token_is(at, "__shared__") || !mw_token_is(&file, tokens->files[at->file])) continue;
    char *text = unsized_at(&front->outline, i);
    if (text) return text;
  }
  return NULL;
}

void mw_front_explain(const mw_front *front, char *message, size_t size, mw_status *status) {
  const mw_outline *outline = &front->outline;
  const mw_tokens *tokens = outline->tokens;
  const size_t length = strlen(message);
  const mw_entry *entry = NULL;
  const char *why = NULL;
  int token = 0;
  char *unsized = unsized_text(front, message);
  if (unsized) snprintf(message + length, size - length, "; %s", unsized);
  mw_free(unsized);
  for (const char *at = message; at && !entry && !why; at = strpbrk(at + (at > message), "'\"")) {
    const mw_token name = {.kind = MW_TOKEN_NAME, .text = at + 1, .size = (int)strcspn(at + 1, "'\"")};
    entry = left_out(outline, &name, &token);
    why = removed(message, &name);
    if (why || entry || !(why = lacking(front, message, &name))) continue;
    *status = MW_UNSUPPORTED;
  }
  if (entry)
    snprintf(message + length, size - length, "; '%.*s' is left out: %s (%s:%d)", TEXT(&tokens->at[token]),
             *entry->what ? entry->what : "no kernel needs it", tokens->files[tokens->at[token].file],
             tokens->at[token].line);
  else if (why)
    snprintf(message + length, size - length, "; %s", why);
  else if (is_unknown(message)) /* one of them may declare the name */
    mw_front_missing_add(front, message, size);
}

static bool is_declared_at(const mw_outline *outline, int token) {
  for (int i = -1; (i = mw_outline_next(outline, &outline->tokens->at[token], i)) >= 0;)
    if (outline->names[i].token == token) return true;
  return false;
}

/* The first token of a kept declaration that names it and does not declare it; -1 if none. */
static int use_find(const mw_outline *outline, const mw_token *name) {
  const mw_tokens *tokens = outline->tokens;
  for (int i = 0; i < outline->nentries; i++) {
    const mw_entry *entry = &outline->entries[i];
    if (!entry->kept || entry->worth == MW_WORTH_REGION) continue;
    for (int k = entry->first; (k = mw_find_same(tokens, k, entry->last, name)) < entry->last; k++)
      if (!is_declared_at(outline, k)) return k;
  }
  return -1;
}

bool mw_front_undefined(const mw_front *front, const mw_source *source, const char *name, mw_error *error) {
  const mw_outline *outline = &front->outline;
  const mw_tokens *tokens = outline->tokens;
  const mw_token word = {.kind = MW_TOKEN_NAME, .text = name, .size = (int)strlen(name)};
  const int use = use_find(outline, &word);
  const int declared = mw_outline_next(outline, &word, -1);
  if (use < 0 || declared < 0) return false;
  const mw_token *first = &tokens->at[outline->names[declared].token];
  mw_text log = {0};
  char *why = mw_format("'%s' is declared (%s:%d) and not defined: no device code has its body", name,
                        tokens->files[first->file], first->line);
  mw_excerpt_say(&log, source, tokens, &tokens->at[use], why);
  mw_fail(error, MW_COMPILE, "compiling '%.128s' failed: %.*s", source->name, (int)strcspn(log.at, "\n"), log.at);
  mw_error_log(error, log.at);
  mw_free(why);
  return true;
}
