/* SPDX-License-Identifier: MIT
 *
 * Which declarations device code needs, and their text; see front.h. Starting from the kernels and device variables,
 * whatever a kept declaration names is kept too: overloads, specialisations and members go by one name. */
#include "core/compile/front_parts.h"

#include <stdio.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/compile/beside.h"
#include "core/compile/excerpt.h"

/* ---- what is kept ---------------------------------------------------------------------------------------------- */

typedef struct selection {
  mw_outline *outline;
  int *list, count; /* entries whose names are to be followed */
} selection;

static void keep(selection *in, int index) {
  mw_entry *entry = &in->outline->entries[index];
  if (entry->kept) return;
  entry->kept = true;
  in->list[in->count++] = index;
  if (entry->region >= 0) keep(in, entry->region);
}

/* Where device code names it. */
static bool is_needed(const mw_entry *entry) {
  return entry->worth == MW_WORTH_DEVICE || (entry->worth == MW_WORTH_ROOT && !entry->is_kernel && !entry->refused);
}

static void named_keep(selection *in, const mw_token *name) {
  const mw_outline *outline = in->outline;
  for (int i = -1; (i = mw_outline_next(outline, name, i)) >= 0;)
    if (is_needed(&outline->entries[outline->names[i].entry])) keep(in, outline->names[i].entry);
}

static void follow(selection *in, const mw_entry *entry) {
  const mw_outline *outline = in->outline;
  const mw_token *at = outline->tokens->at;
  for (int i = entry->first; i < entry->last; i++) {
    if (at[i].kind != MW_TOKEN_NAME || outline->fate[i]) continue;
    if (i > entry->first && mw_token_any(&at[i - 1], WORDS(".", "->"))) continue;
    named_keep(in, &at[i]);
  }
}

/* Of an instance: is the template that it is of among what is kept? */
static bool is_kept(const mw_outline *outline, const mw_token *name) {
  for (int i = -1; (i = mw_outline_next(outline, name, i)) >= 0;)
    if (outline->entries[outline->names[i].entry].kept) return true;
  return false;
}

/* cub of #include <cub/block/block_scan.cuh>, std of <cuda/std/limits>; a header without a folder has no such word. */
static mw_token chunk_folder(const mw_token *chunk) {
  static const char cuda[] = "<cuda/";
  const char *open = memchr(chunk->text, '<', (size_t)chunk->size);
  if (open && strncmp(open, "<cuda/std/", 10) == 0) open += sizeof cuda - 2;
  const char *end = open ? strpbrk(open + 1, "/>") : NULL;
  if (!end || *end == '>') return (mw_token){.text = ""};
  return (mw_token){.kind = MW_TOKEN_NAME, .text = open + 1, .size = (int)(end - open - 1)};
}

static bool is_mentioned(const mw_outline *outline, const mw_token *word) {
  for (int i = 0; i < outline->nentries; i++) {
    const mw_entry *entry = &outline->entries[i];
    if (entry->kept && mw_find_same(outline->tokens, entry->first, entry->last, word) < entry->last) return true;
  }
  return false;
}

/* The headers of a library are read only where device code names it: they take seconds. */
static void chunks_keep(selection *in) {
  const mw_outline *outline = in->outline;
  for (int i = 0; i < outline->nentries; i++) {
    if (outline->entries[i].worth != MW_WORTH_TEXT) continue;
    const mw_token *token = &outline->tokens->at[outline->entries[i].first];
    const mw_token folder = token->kind == MW_TOKEN_CHUNK ? chunk_folder(token) : (mw_token){.text = ""};
    if (!folder.size || is_mentioned(outline, &folder)) keep(in, i);
  }
}

static void rest_keep(selection *in) {
  const mw_outline *outline = in->outline;
  for (int i = 0; i < outline->nnames; i++) {
    const mw_entry *entry = &outline->entries[outline->names[i].entry];
    if (i && outline->names[i - 1].entry == outline->names[i].entry) continue; /* no more than where it is */
    if (entry->worth == MW_WORTH_INSTANCE && is_kept(outline, &outline->tokens->at[outline->names[i].token]))
      keep(in, outline->names[i].entry);
  }
  for (int i = 0; i < outline->nentries; i++) {
    const mw_entry *entry = &outline->entries[i];
    if (entry->worth == MW_WORTH_USING && (entry->region < 0 || outline->entries[entry->region].kept)) keep(in, i);
  }
}

static selection selection_of(mw_outline *outline) {
  return (selection){.outline = outline, .list = mw_malloc(((size_t)outline->nentries + 1) * sizeof(int))};
}

static void needed_keep(selection *in) {
  for (int done = 0; done < in->count; done++) follow(in, &in->outline->entries[in->list[done]]);
  rest_keep(in);
}

/* Keeps kernels, device variables and what is asked for, and what they need. */
static bool all_keep(mw_outline *outline) {
  selection in = selection_of(outline);
  for (int i = 0; i < outline->nentries; i++) {
    const mw_entry *entry = &outline->entries[i];
    if ((entry->worth == MW_WORTH_ROOT && !entry->refused) || (entry->asked && is_needed(entry))) keep(&in, i);
  }
  needed_keep(&in);
  chunks_keep(&in);
  mw_free(in.list);
  return in.count > 0;
}

void mw_front_keep_only(mw_outline *outline, int entry) {
  selection in = selection_of(outline);
  for (int i = 0; i < outline->nentries; i++) outline->entries[i].kept = false;
  keep(&in, entry);
  needed_keep(&in);
  mw_free(in.list);
}

void mw_front_keep_again(mw_outline *outline) {
  for (int i = 0; i < outline->nentries; i++) outline->entries[i].kept = false;
  all_keep(outline);
}

bool mw_front_keep(mw_front *front, const char *name) {
  mw_outline *outline = &front->outline;
  mw_tokens names = {0};
  mw_tokens_scan(&names, name, &(mw_token){.line = 1});
  for (int i = 0; i < names.count; i++)
    for (int k = -1; (k = mw_outline_next(outline, &names.at[i], k)) >= 0;)
      outline->entries[outline->names[k].entry].asked = true;
  mw_tokens_free(&names);
  return all_keep(outline);
}

static bool has_kernel(const mw_outline *outline) {
  for (int i = 0; i < outline->nentries; i++)
    if (outline->entries[i].is_kernel && outline->entries[i].worth == MW_WORTH_ROOT) return true;
  return false;
}

/* The error of a file that has no device code to read. */
static void unreadable_explain(const mw_front *front, const mw_source *source, mw_error *error) {
  const mw_tokens *tokens = &front->source.tokens;
  const mw_wrong *wrong = &tokens->wrong;
  if (!wrong->what) {
    mw_fail(error, MW_COMPILE, "compiling '%.128s' failed: there is no kernel, a __global__ function, in it",
            source->name);
    if (source->folder) mw_beside_tell(source->folder, error);
    mw_front_missing_add(front, error->text, sizeof error->text);
    mw_error_log(error, NULL);
    return;
  }
  const mw_token mark = {.text = &wrong->mark, .size = 1, .line = wrong->line, .file = wrong->file};
  mw_text log = {0};
  mw_fail(error, MW_COMPILE, "compiling '%.128s' failed: %s:%d: %s", source->name, tokens->files[wrong->file],
          wrong->line, wrong->what);
  mw_front_missing_add(front, error->text, sizeof error->text);
  mw_excerpt_say(&log, source, tokens, &mark, wrong->what);
  mw_error_log(error, log.at);
}

mw_front *mw_front_read(const mw_source *source, const mw_dialect *dialect, mw_error *error) {
  mw_front *front = mw_calloc(1, sizeof *front);
  const mw_preprocessed *read = &front->source;
  front->lacks = dialect->lacks;
  front->declared = dialect->declared ? dialect->declared : "";
  front->constant = dialect->device_constants ? " constexpr" : " const";
  mw_preprocess_source(source, dialect, &front->source);
  if (!read->tokens.wrong.what) mw_outline_read(&read->tokens, &front->outline);
  if (read->tokens.wrong.what || !has_kernel(&front->outline)) {
    if (error && (read->tokens.wrong.what || read->nleft)) unreadable_explain(front, source, error);
    mw_front_free(front);
    return NULL;
  }
  mw_front_keep(front, "");
  for (const char *const *name = source->templates; name && *name; name++) mw_front_keep(front, *name);
  return front;
}

void mw_front_free(mw_front *front) {
  if (!front) return;
  mw_outline_free(&front->outline);
  mw_preprocessed_free(&front->source);
  mw_free(front);
}

/* ---- its text -------------------------------------------------------------------------------------------------- */

/* using namespace a::b; may name what only a host header declares, so that is declared before it. */
static void using_put(const mw_outline *outline, const mw_entry *entry, mw_text *out) {
  const mw_token *at = outline->tokens->at;
  int count = 0;
  for (int i = entry->first + 2; i < entry->last - 1 && entry->region < 0; i++)
    if (at[i].kind == MW_TOKEN_NAME) {
      mw_text_format(out, " namespace %.*s {", TEXT(&at[i]));
      count++;
    }
  while (count--) mw_text_put(out, "}");
}

static void entry_put(const mw_front *front, const mw_entry *entry, mw_text *out) {
  const mw_outline *outline = &front->outline;
  const mw_tokens *tokens = outline->tokens;
  if (entry->worth == MW_WORTH_USING) using_put(outline, entry, out);
  for (int i = entry->first; i < entry->last; i++) {
    if (outline->fate[i] == MW_FATE_KEPT) mw_text_token(out, tokens, &tokens->at[i]);
    if (outline->fate[i] == MW_FATE_SEMICOLON) mw_text_put(out, ";");
    if (outline->fate[i] == MW_FATE_CONST) mw_text_put(out, front->constant);
  }
}

/* Types of the host that structures of device code may hold. */
static const char prelude[] =
    "# 1 \"moonwarp\"\ntypedef unsigned int uint; typedef unsigned short ushort; typedef unsigned long ulong;\n"
    "typedef long ssize_t;\n"
    "typedef struct CUstream_st *cudaStream_t; typedef struct CUevent_st *cudaEvent_t;\n"
    "typedef struct _IO_FILE FILE; typedef unsigned long long CUtexObject, CUsurfObject;\n";

char *mw_front_text(const mw_front *front) {
  const mw_outline *outline = &front->outline;
  mw_text out = {0};
  mw_text_put(&out, prelude);
  mw_text_put(&out, front->declared);
  int *open = mw_malloc(((size_t)outline->nentries + 1) * sizeof *open), top = 0;
  for (int i = 0; i < outline->nentries; i++) {
    const mw_entry *entry = &outline->entries[i];
    while (top && outline->entries[open[top - 1]].close < entry->first)
      mw_text_token(&out, outline->tokens, &outline->tokens->at[outline->entries[open[--top]].close]);
    if (!entry->kept) continue;
    entry_put(front, entry, &out);
    if (entry->worth == MW_WORTH_REGION) open[top++] = i;
  }
  while (top) mw_text_token(&out, outline->tokens, &outline->tokens->at[outline->entries[open[--top]].close]);
  mw_text_put(&out, "\n");
  mw_free(open);
  return out.at;
}
