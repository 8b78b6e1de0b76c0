/* SPDX-License-Identifier: MIT
 *
 * Kernels that do not compile where others do: the errors of a log, the declarations that they are in, and the kernels
 * that need those; see front.h. */
#include "core/compile/front_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/compile/excerpt.h"

typedef struct complaint { /* an error of a log, about one entry */
  int entry;
  mw_status status;
  char *text, *log;
} complaint;

/* The kept declaration at a line of a file; -1 if none. */
static int entry_of(const mw_outline *outline, const mw_token *file, int number) {
  const mw_tokens *tokens = outline->tokens;
  for (int i = 0; i < outline->nentries; i++) {
    const mw_entry *entry = &outline->entries[i];
    if (!entry->kept || (entry->worth != MW_WORTH_ROOT && entry->worth != MW_WORTH_DEVICE)) continue;
    const mw_token *first = &tokens->at[entry->first], *last = &tokens->at[entry->last - 1];
    if (number >= first->line && number <= last->line && mw_token_is(file, tokens->files[first->file])) return i;
  }
  return -1;
}

/* That at the place which a line of a log names. */
static int entry_at(const mw_outline *outline, const char *line, int *number) {
  mw_token file;
  return mw_place_read(line, &file, number) ? entry_of(outline, &file, *number) : -1;
}

static const char *line_next(const char *at) {
  at += strcspn(at, "\n");
  return *at ? at + 1 : NULL;
}

static const char *error_of(const char *line) {
  const char *found = line ? strstr(line, "error: ") : NULL;
  return found && found < line + strcspn(line, "\n") ? found + strlen("error: ") : NULL;
}

/* The declaration that a line about an instance of a template names, with one of the words. NVRTC's lines have no place,
 * but end in "at line 7", of the error's own file, or "at line 7 of x.cuh". */
static int instance_at(const mw_outline *outline, const char *line, const mw_token *file) {
  const int size = (int)strcspn(line, "\n");
  const char *const at_line = memmem(line, (size_t)size, " at line ", 9);
  int number;
  if (!at_line) return entry_at(outline, line, &number);
  const char *name = at_line + 9 + strspn(at_line + 9, "0123456789") + 4; /* " of x.cuh" */
  const mw_token other = {.kind = MW_TOKEN_NAME, .text = name, .size = (int)(line + size - name)};
  return entry_of(outline, other.size > 0 ? &other : file, atoi(at_line + 9));
}

static bool line_has(const char *line, const char *words) {
  return memmem(line, strcspn(line, "\n"), words, strlen(words)) != NULL;
}

/* The declaration that asks for the instance in which the error at a line is; -1 if none. Compilers name the
 * instances from the inside to the outside: g++ before the error, others after it. */
static int requester_of(const mw_outline *outline, const char *before, const char *line, const char *end) {
  mw_token file = {.text = ""};
  int number, found = -1;
  mw_place_read(line, &file, &number);
  for (const char *at = before; at && at != end; at = line_next(at)) {
    const bool names = at < line ? line_has(at, "required from")
                                 : line_has(at, "requested here") || line_has(at, "instantiation of \"");
    const int entry = names ? instance_at(outline, at, &file) : -1;
    if (entry >= 0) found = entry;
  }
  return found;
}

/* About the error at a line. If that is in a header, a line near it tells which code of the file needs that: g++ says so
 * before it, from `before` on, others after it. */
static complaint complaint_read(const mw_front *front, const char *line, const char *before) {
  const char *text = error_of(line), *end = line_next(line);
  const mw_outline *outline = &front->outline;
  int number, found = entry_at(outline, line, &number);
  for (const char *at = before; found < 0 && at < line; at = line_next(at))
    if (line_has(at, "required from")) found = entry_at(outline, at, &number);
  for (; end && !error_of(end); end = line_next(end))
    if (found < 0) found = entry_at(outline, end, &number);
  if (found < 0) return (complaint){.entry = -1};
  const int requester = requester_of(outline, before, line, end);
  char message[700];
  const mw_tokens *tokens = outline->tokens;
  snprintf(message, sizeof message, "%s:%d: %.*s", tokens->files[tokens->at[outline->entries[found].first].file],
           number, (int)strcspn(text, "\n"), text);
  mw_status status = MW_OK; /* the compilation's */
  mw_front_explain(front, message, sizeof message, &status);
  const char *paragraph = strstr(line, "\n\n"); /* NVRTC ends an error with an empty line */
  if (paragraph && (!end || paragraph < end)) end = paragraph + 1;
  const int size = (int)(end ? end - line : (long)strlen(line));
  return (complaint){requester < 0 ? found : requester, status, mw_strdup(message), mw_format("%.*s", size, line)};
}

static int complaints_read(const mw_front *front, const char *log, complaint **out) {
  int count = 0;
  const char *before = log;
  *out = NULL;
  for (const char *line = log; line; line = line_next(line)) {
    if (!error_of(line)) continue;
    const complaint one = complaint_read(front, line, before);
    before = line_next(line);
    if (one.entry < 0) continue;
    *out = mw_grow(*out, (size_t)count, sizeof one);
    (*out)[count++] = one;
  }
  return count;
}

/* The first of the complaints about what an entry needs; -1: none. Marks as kept what it needs. */
static int complaint_of(mw_outline *outline, int entry, const complaint *list, int count) {
  int found = 0;
  mw_front_keep_only(outline, entry);
  while (found < count && !outline->entries[list[found].entry].kept) found++;
  return found < count ? found : -1;
}

/* why: of each entry its complaint, or -1. Kernels or device variables leave, kernels stay, and what is asked for is not
 * among those that leave. */
static bool can_refuse(const mw_outline *outline, const int *why) {
  int leaving = 0, staying = 0;
  for (int i = 0; i < outline->nentries; i++) {
    const mw_entry *entry = &outline->entries[i];
    if (entry->worth != MW_WORTH_ROOT || entry->refused) continue;
    if (why[i] >= 0 && entry->is_kernel && entry->asked) return false;
    leaving += why[i] >= 0;
    staying += why[i] < 0 && entry->is_kernel;
  }
  return leaving && staying;
}

static void refuse(mw_outline *outline, int index, const complaint *why, mw_status status, const char *device,
                   mw_refusals *out) {
  mw_entry *entry = &outline->entries[index];
  const mw_refused what = !entry->is_kernel    ? MW_REFUSED_VARIABLE
                          : entry->is_template ? MW_REFUSED_TEMPLATE
                                               : MW_REFUSED_KERNEL;
  const char *noun = entry->is_kernel ? "kernel" : "variable";
  entry->refused = true;
  for (int i = 0; i < outline->nnames; i++) {
    if (outline->names[i].entry != index) continue;
    char *name = mw_format("%.*s", TEXT(&outline->tokens->at[outline->names[i].token]));
    char *text = mw_format("%s '%s' cannot be compiled for %s: %s", noun, name, device, why->text);
    mw_refusals_add(out, &(mw_refusal){name, what, why->status ? why->status : status, text, why->log});
    mw_free(text);
    mw_free(name);
  }
}

bool mw_front_refuse(mw_front *front, const mw_error *error, const char *device, mw_refusals *out) {
  mw_outline *outline = &front->outline;
  complaint *list;
  const int count = complaints_read(front, error->log, &list);
  if (!count) return false;
  int *why = mw_malloc((size_t)outline->nentries * sizeof *why);
  for (int i = 0; i < outline->nentries; i++) {
    const mw_entry *entry = &outline->entries[i];
    const bool root = entry->worth == MW_WORTH_ROOT && !entry->refused;
    why[i] = root ? complaint_of(outline, i, list, count) : -1;
  }
  const bool refused = can_refuse(outline, why);
  for (int i = 0; refused && i < outline->nentries; i++)
    if (why[i] >= 0) refuse(outline, i, &list[why[i]], error->status, device, out);
  mw_front_keep_again(outline);
  for (int i = 0; i < count; i++) mw_free(list[i].text), mw_free(list[i].log);
  mw_free(list);
  mw_free(why);
  return refused;
}
