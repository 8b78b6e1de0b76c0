/* SPDX-License-Identifier: MIT
 *
 * A source's copy and its cache key: its text, its options and every file it can include. */
#include "core/compile/source.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/source/includes.h"

enum { MOST_FOLDERS = 64 };

/* ---- copies ---------------------------------------------------------------------------------------------------- */

static char *text_copy(const char *text) {
  return text ? mw_strdup(text) : NULL;
}

static const char *const *list_copy(const char *const *list) {
  int count = 0;
  while (list && list[count]) count++;
  const char **copy = mw_calloc((size_t)count + 1, sizeof *copy);
  for (int i = 0; i < count; i++) copy[i] = mw_strdup(list[i]);
  return copy;
}

mw_source mw_source_copy(const mw_source *source) {
  mw_source copy = *source;
  copy.name = mw_strdup(source->name ? source->name : "source");
  copy.text = mw_strdup(source->text);
  copy.folder = text_copy(source->folder);
  copy.standard = text_copy(source->standard);
  copy.engine = text_copy(source->engine);
  copy.includes = list_copy(source->includes);
  copy.defines = list_copy(source->defines);
  copy.code = NULL;
  copy.code_bytes = 0;
  copy.templates = list_copy(source->templates);
  copy.ptxas = list_copy(source->ptxas);
  return copy;
}

void mw_source_free(mw_source *source) {
  const char *const texts[] = {source->name, source->text, source->folder, source->standard, source->engine};
  const char *const *const lists[] = {source->includes, source->defines, source->templates, source->ptxas};
  for (int i = 0; i < 5; i++) mw_free((char *)texts[i]);
  for (int i = 0; i < 4; i++) {
    for (int k = 0; lists[i] && lists[i][k]; k++) mw_free((char *)lists[i][k]);
    mw_free((char **)lists[i]);
  }
  *source = (mw_source){.name = NULL};
}

/* ---- the key --------------------------------------------------------------------------------------------------- */

static void add_list(mw_cache_keymaker *key, const char *label, const char *const *list) {
  for (; list && *list; list++) mw_cache_key_text(key, label, *list);
}

static void add_options(const mw_source *source, mw_cache_keymaker *key) {
  int numbers[] = {source->fast_math, source->line_info, source->no_contract, source->max_registers};
  mw_cache_key_text(key, "name", source->name); /* messages and line directives hold it */
  mw_cache_key_text(key, "folder", source->folder);
  mw_cache_key_text(key, "source", source->text);
  add_list(key, "folder", source->includes);
  add_list(key, "define", source->defines);
  add_list(key, "template", source->templates);
  add_list(key, "ptxas", source->ptxas);
  mw_cache_key_text(key, "standard", source->standard ? source->standard : "c++17");
  mw_cache_key_text(key, "engine", source->engine ? source->engine : "auto");
  mw_cache_key_add(key, "numbers", numbers, sizeof numbers);
}

typedef struct include_notes {
  mw_cache_keymaker *key;
  char *special; /* the first that is no file; NULL: none */
} include_notes;

static void note_include(void *context, const char *label, const char *text) {
  include_notes *notes = context;
  mw_cache_key_text(notes->key, label, text);
  if (!notes->special && strcmp(label, "special") == 0) notes->special = mw_strdup(text);
}

/* source->folder, source->includes, then what the host compiler takes from its environment. False: too many. */
static bool set_folders(const mw_source *source, char *environment, const char **folders) {
  int count = 0;
  if (source->folder) folders[count++] = source->folder;
  for (const char *const *at = source->includes; at && *at && count < MOST_FOLDERS; at++) folders[count++] = *at;
  for (char *folder; count < MOST_FOLDERS && (folder = strsep(&environment, ":"));)
    if (*folder) folders[count++] = folder;
  folders[count] = NULL;
  return count < MOST_FOLDERS;
}

mw_status mw_source_hash(const mw_source *source, mw_cache_keymaker *key, bool *complete, mw_error *error) {
  const char *folders[MOST_FOLDERS + 1], *path = getenv("CPATH"), *more = getenv("CPLUS_INCLUDE_PATH");
  include_notes notes = {.key = key};
  mw_status status = MW_OK;
  char *environment = mw_format("%s:%s", path ? path : "", more ? more : "");
  add_options(source, key);
  const bool all = set_folders(source, environment, folders);
  *complete = mw_includes_read(source->text, source->folder, folders, note_include, &notes) && all;
  if (notes.special)
    status = mw_fail(error, MW_IO, "'%s' includes '%s', which is a pipe or a device, not a file", source->name,
                     notes.special);
  mw_free(notes.special);
  mw_free(environment);
  return status;
}
