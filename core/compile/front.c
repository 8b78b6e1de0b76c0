/* SPDX-License-Identifier: MIT
 *
 * Which declarations device code needs, and their text; see front.h. Starting from the kernels and device variables,
 * whatever a kept declaration names is kept too: overloads, specialisations and members go by one name. */
#include "core/compile/front.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/compile/excerpt.h"
#include "core/source/outline.h"

struct mw_front {
  const char *(*lacks)(const char *name);
  const char *constant; /* what stands for const in front of a number with a fraction */
  cpu_preprocessed source;
  cpu_outline outline;
};

/* ---- what is kept ---------------------------------------------------------------------------------------------- */

typedef struct selection {
  cpu_outline *outline;
  int *list, count; /* entries whose names are to be followed */
} selection;

static void keep(selection *in, int index) {
  cpu_entry *entry = &in->outline->entries[index];
  if (entry->kept) return;
  entry->kept = true;
  in->list[in->count++] = index;
  if (entry->region >= 0) keep(in, entry->region);
}

/* Where device code names it. */
static bool is_needed(const cpu_entry *entry) {
  return entry->worth == CPU_WORTH_DEVICE || (entry->worth == CPU_WORTH_ROOT && !entry->is_kernel && !entry->refused);
}

static void named_keep(selection *in, const cpu_token *name) {
  const cpu_outline *outline = in->outline;
  for (int i = cpu_outline_find(outline, name); i >= 0; i = outline->names[i].next)
    if (is_needed(&outline->entries[outline->names[i].entry]) &&
        cpu_same_text(&outline->tokens->at[outline->names[i].token], name))
      keep(in, outline->names[i].entry);
}

static void follow(selection *in, const cpu_entry *entry) {
  const cpu_outline *outline = in->outline;
  const cpu_token *at = outline->tokens->at;
  for (int i = entry->first; i < entry->last; i++) {
    if (at[i].kind != CPU_NAME || outline->fate[i]) continue;
    if (i > entry->first && cpu_token_any(&at[i - 1], WORDS(".", "->"))) continue;
    named_keep(in, &at[i]);
  }
}

/* Of an instance: is the template that it is of among what is kept? */
static bool is_kept(const cpu_outline *outline, const cpu_token *name) {
  for (int i = cpu_outline_find(outline, name); i >= 0; i = outline->names[i].next)
    if (outline->entries[outline->names[i].entry].kept &&
        cpu_same_text(&outline->tokens->at[outline->names[i].token], name))
      return true;
  return false;
}

/* cub of #include <cub/block/block_scan.cuh>, std of <cuda/std/limits>; a header without a folder has no such word. */
static cpu_token chunk_folder(const cpu_token *chunk) {
  static const char cuda[] = "<cuda/";
  const char *open = memchr(chunk->text, '<', (size_t)chunk->size);
  if (open && strncmp(open, "<cuda/std/", 10) == 0) open += sizeof cuda - 2;
  const char *end = open ? strpbrk(open + 1, "/>") : NULL;
  if (!end || *end == '>') return (cpu_token){.text = ""};
  return (cpu_token){.kind = CPU_NAME, .text = open + 1, .size = (int)(end - open - 1)};
}

static bool is_mentioned(const cpu_outline *outline, const cpu_token *word) {
  for (int i = 0; i < outline->nentries; i++) {
    const cpu_entry *entry = &outline->entries[i];
    if (entry->kept && cpu_find_same(outline->tokens, entry->first, entry->last, word) < entry->last) return true;
  }
  return false;
}

/* The headers of a library are read only where device code names it: they take seconds. */
static void chunks_keep(selection *in) {
  const cpu_outline *outline = in->outline;
  for (int i = 0; i < outline->nentries; i++) {
    if (outline->entries[i].worth != CPU_WORTH_TEXT) continue;
    const cpu_token *token = &outline->tokens->at[outline->entries[i].first];
    const cpu_token folder = token->kind == CPU_CHUNK ? chunk_folder(token) : (cpu_token){.text = ""};
    if (!folder.size || is_mentioned(outline, &folder)) keep(in, i);
  }
}

static void rest_keep(selection *in) {
  const cpu_outline *outline = in->outline;
  for (int i = 0; i < outline->nnames; i++) {
    const cpu_entry *entry = &outline->entries[outline->names[i].entry];
    if (entry->worth == CPU_WORTH_INSTANCE && is_kept(outline, &outline->tokens->at[outline->names[i].token]))
      keep(in, outline->names[i].entry);
  }
  for (int i = 0; i < outline->nentries; i++) {
    const cpu_entry *entry = &outline->entries[i];
    if (entry->worth == CPU_WORTH_USING && (entry->region < 0 || outline->entries[entry->region].kept)) keep(in, i);
  }
}

static selection selection_of(cpu_outline *outline) {
  return (selection){.outline = outline, .list = mw_malloc(((size_t)outline->nentries + 1) * sizeof(int))};
}

static void needed_keep(selection *in) {
  for (int done = 0; done < in->count; done++) follow(in, &in->outline->entries[in->list[done]]);
  rest_keep(in);
}

/* Keeps kernels, device variables and what is asked for, and what they need. */
static bool all_keep(cpu_outline *outline) {
  selection in = selection_of(outline);
  for (int i = 0; i < outline->nentries; i++) {
    const cpu_entry *entry = &outline->entries[i];
    if ((entry->worth == CPU_WORTH_ROOT && !entry->refused) || (entry->asked && is_needed(entry))) keep(&in, i);
  }
  needed_keep(&in);
  chunks_keep(&in);
  mw_free(in.list);
  return in.count > 0;
}

static void nothing_keep(cpu_outline *outline) {
  for (int i = 0; i < outline->nentries; i++) outline->entries[i].kept = false;
}

bool mw_front_keep(mw_front *front, const char *name) {
  cpu_outline *outline = &front->outline;
  cpu_tokens names = {0};
  cpu_tokens_scan(&names, name, &(cpu_token){.line = 1});
  for (int i = 0; i < names.count; i++)
    for (int k = cpu_outline_find(outline, &names.at[i]); k >= 0; k = outline->names[k].next)
      if (cpu_same_text(&outline->tokens->at[outline->names[k].token], &names.at[i]))
        outline->entries[outline->names[k].entry].asked = true;
  cpu_tokens_free(&names);
  return all_keep(outline);
}

static bool has_kernel(const cpu_outline *outline) {
  for (int i = 0; i < outline->nentries; i++)
    if (outline->entries[i].is_kernel && outline->entries[i].worth == CPU_WORTH_ROOT) return true;
  return false;
}

/* The user's own headers that were not found: at most three. */
static void missing_headers_add(const mw_front *front, char *message, size_t size) {
  const cpu_preprocessed *source = &front->source;
  int count = 0;
  for (int i = 0; i < source->nleft && count < 3; i++) {
    const cpu_left_header *header = &source->left[i];
    const size_t length = strlen(message);
    if (header->own)
      snprintf(message + length, size - length, "%s'%s' (%s:%d)",
               count++ ? ", " : "; not found, and left out: ", header->name, source->tokens.files[header->file],
               header->line);
  }
}

/* The error of a file that has no device code to read. */
static void unreadable_explain(const mw_front *front, const mw_source *source, mw_error *error) {
  const cpu_tokens *tokens = &front->source.tokens;
  const cpu_wrong *wrong = &tokens->wrong;
  if (!wrong->what) {
    mw_fail(error, MW_COMPILE, "compiling '%.128s' failed: there is no kernel, a __global__ function, in it",
            source->name);
    missing_headers_add(front, error->text, sizeof error->text);
    mw_error_log(error, NULL);
    return;
  }
  const char *file = tokens->files[wrong->file];
  const cpu_token mark = {.kind = CPU_PUNCT, .text = &wrong->mark, .size = 1};
  cpu_text log = {0};
  mw_fail(error, MW_COMPILE, "compiling '%.128s' failed: %s:%d: %s", source->name, file, wrong->line, wrong->what);
  missing_headers_add(front, error->text, sizeof error->text);
  cpu_text_format(&log, "%s:%d: error: %s\n", file, wrong->line, wrong->what);
  mw_excerpt_put(&log, source, file, wrong->line, &mark);
  mw_error_log(error, log.at);
}

mw_front *mw_front_read(const mw_source *source, const mw_dialect *dialect, mw_error *error) {
  mw_front *front = mw_calloc(1, sizeof *front);
  const cpu_preprocessed *read = &front->source;
  front->lacks = dialect->lacks;
  front->constant = dialect->device_constants ? " constexpr" : " const";
  cpu_preprocess_source(source, dialect, &front->source);
  if (!read->tokens.wrong.what) cpu_outline_read(&read->tokens, &front->outline);
  if (read->tokens.wrong.what || !has_kernel(&front->outline)) {
    if (error && (read->tokens.wrong.what || read->nleft)) unreadable_explain(front, source, error);
    mw_front_free(front);
    return NULL;
  }
  mw_front_keep(front, "");
  for (const char *const *name = source->templates; name && *name; name++) mw_front_keep(front, *name);
  return front;
}

bool mw_front_leaves(const mw_front *front, bool (*is_one)(const char *header)) {
  const cpu_preprocessed *source = &front->source;
  int i = 0;
  while (i < source->nleft && !is_one(source->left[i].name)) i++;
  return i < source->nleft;
}

void mw_front_free(mw_front *front) {
  if (!front) return;
  cpu_outline_free(&front->outline);
  cpu_preprocessed_free(&front->source);
  mw_free(front);
}

/* ---- its text -------------------------------------------------------------------------------------------------- */

/* using namespace a::b; may name what only a host header declares, so that is declared in front of it. */
static void using_put(const cpu_outline *outline, const cpu_entry *entry, cpu_text *out) {
  const cpu_token *at = outline->tokens->at;
  int count = 0;
  for (int i = entry->first + 2; i < entry->last - 1 && entry->region < 0; i++)
    if (at[i].kind == CPU_NAME) {
      cpu_text_format(out, " namespace %.*s {", TEXT(&at[i]));
      count++;
    }
  while (count--) cpu_text_put(out, "}");
}

static void entry_put(const mw_front *front, const cpu_entry *entry, cpu_text *out) {
  const cpu_outline *outline = &front->outline;
  const cpu_tokens *tokens = outline->tokens;
  if (entry->worth == CPU_WORTH_USING) using_put(outline, entry, out);
  for (int i = entry->first; i < entry->last; i++) {
    if (outline->fate[i] == CPU_FATE_KEPT) cpu_text_token(out, tokens, &tokens->at[i]);
    if (outline->fate[i] == CPU_FATE_SEMICOLON) cpu_text_put(out, ";");
    if (outline->fate[i] == CPU_FATE_CONST) cpu_text_put(out, front->constant);
  }
}

/* Types of the host that structures of device code may hold. */
static const char prelude[] =
    "# 1 \"moonwarp\"\ntypedef unsigned int uint; typedef unsigned short ushort; typedef unsigned long ulong;\n"
    "typedef long ssize_t;\n"
    "typedef struct CUstream_st *cudaStream_t; typedef struct CUevent_st *cudaEvent_t;\n"
    "typedef struct _IO_FILE FILE; typedef unsigned long long CUtexObject, CUsurfObject;\n";

char *mw_front_text(const mw_front *front) {
  const cpu_outline *outline = &front->outline;
  cpu_text out = {0};
  cpu_text_put(&out, prelude);
  int *open = mw_malloc(((size_t)outline->nentries + 1) * sizeof *open), top = 0;
  for (int i = 0; i < outline->nentries; i++) {
    const cpu_entry *entry = &outline->entries[i];
    while (top && outline->entries[open[top - 1]].close < entry->first)
      cpu_text_token(&out, outline->tokens, &outline->tokens->at[outline->entries[open[--top]].close]);
    if (!entry->kept) continue;
    entry_put(front, entry, &out);
    if (entry->worth == CPU_WORTH_REGION) open[top++] = i;
  }
  while (top) cpu_text_token(&out, outline->tokens, &outline->tokens->at[outline->entries[open[--top]].close]);
  cpu_text_put(&out, "\n");
  mw_free(open);
  return out.at;
}

/* ---- what is not there ----------------------------------------------------------------------------------------- */

/* The entry of that name, if none of them is kept; its token. */
static const cpu_entry *left_out(const cpu_outline *outline, const cpu_token *name, int *token) {
  const cpu_entry *found = NULL;
  for (int i = cpu_outline_find(outline, name); i >= 0; i = outline->names[i].next) {
    const cpu_entry *entry = &outline->entries[outline->names[i].entry];
    if (!cpu_same_text(&outline->tokens->at[outline->names[i].token], name)) continue;
    if (entry->kept) return NULL;
    found = entry;
    *token = outline->names[i].token;
  }
  return found;
}

/* Why no device knows a name that older files use; NULL: it is no such name. */
static const char *removed(const char *message, const cpu_token *name) {
  if (cpu_token_any(name, WORDS("texture", "surface", "textureReference", "surfaceReference")) ||
      strstr(message, ": texture is not a template") || strstr(message, ": surface is not a template"))
    return "CUDA 12 removed texture and surface references, so that no device takes them: pass the array and index it";
  if (cpu_token_any(name, WORDS("__shfl", "__shfl_up", "__shfl_down", "__shfl_xor", "__any", "__all", "__ballot")))
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
static bool is_own(const cpu_outline *outline, const cpu_token *name) {
  const cpu_tokens *tokens = outline->tokens;
  for (int i = cpu_outline_find(outline, name); i >= 0; i = outline->names[i].next)
    if (cpu_same_text(&tokens->at[outline->names[i].token], name)) return true;
  for (int i = 1; (i = cpu_find_same(tokens, i, tokens->count, name)) < tokens->count; i++)
    if (cpu_token_is(&tokens->at[i - 1], "namespace")) return true;
  return false;
}

/* Why the device does not declare a name of CUDA's that a message quotes; NULL: it is no such name. */
static const char *lacking(const mw_front *front, const char *message, const cpu_token *quoted) {
  if (!front->lacks || !is_unknown(message)) return NULL;
  char *name = mw_format("%.*s", TEXT(quoted));
  const cpu_token first = {.kind = CPU_NAME, .text = name, .size = (int)strcspn(name, ":")};
  const char *why = is_own(&front->outline, &first) ? NULL : front->lacks(name);
  mw_free(name);
  return why;
}

void mw_front_explain(const mw_front *front, char *message, size_t size, mw_status *status) {
  const cpu_outline *outline = &front->outline;
  const cpu_tokens *tokens = outline->tokens;
  const size_t length = strlen(message);
  const cpu_entry *entry = NULL;
  const char *why = NULL;
  int token = 0;
  if (strstr(message, " left out: ")) return;
  for (const char *at = message; at && !entry && !why; at = strpbrk(at + (at > message), "'\"")) {
    const cpu_token name = {.kind = CPU_NAME, .text = at + 1, .size = (int)strcspn(at + 1, "'\"")};
    entry = left_out(outline, &name, &token);
    why = removed(message, &name);
    if (why || entry || !(why = lacking(front, message, &name))) continue;
    *status = MW_UNSUPPORTED;
  }
  if (entry)
    snprintf(message + length, size - length, "; '%.*s' is left out: %s (%s:%d)", TEXT(&tokens->at[token]),
             *entry->what ? entry->what : "no kernel needs it", tokens->files[tokens->at[token].file],
             tokens->at[token].line);
  else if (why && !strstr(message, why))
    snprintf(message + length, size - length, "; %s", why);
  else if (!why && is_unknown(message)) /* one of them may declare the name */
    missing_headers_add(front, message, size);
}

static bool is_declared_at(const cpu_outline *outline, int token) {
  for (int i = cpu_outline_find(outline, &outline->tokens->at[token]); i >= 0; i = outline->names[i].next)
    if (outline->names[i].token == token) return true;
  return false;
}

/* The first token of a kept declaration that names it and does not declare it; -1: there is none. */
static int use_find(const cpu_outline *outline, const cpu_token *name) {
  const cpu_tokens *tokens = outline->tokens;
  for (int i = 0; i < outline->nentries; i++) {
    const cpu_entry *entry = &outline->entries[i];
    if (!entry->kept || entry->worth == CPU_WORTH_REGION) continue;
    for (int k = entry->first; (k = cpu_find_same(tokens, k, entry->last, name)) < entry->last; k++)
      if (!is_declared_at(outline, k)) return k;
  }
  return -1;
}

bool mw_front_undefined(const mw_front *front, const mw_source *source, const char *name, mw_error *error) {
  const cpu_outline *outline = &front->outline;
  const cpu_tokens *tokens = outline->tokens;
  const cpu_token word = {.kind = CPU_NAME, .text = name, .size = (int)strlen(name)};
  const int use = use_find(outline, &word);
  int declared = cpu_outline_find(outline, &word);
  while (declared >= 0 && !cpu_same_text(&tokens->at[outline->names[declared].token], &word))
    declared = outline->names[declared].next;
  if (use < 0 || declared < 0) return false;
  const cpu_token *at = &tokens->at[use], *first = &tokens->at[outline->names[declared].token];
  const char *file = tokens->files[at->file];
  cpu_text log = {0};
  cpu_text_format(&log, "%s:%d: error: '%s' is declared (%s:%d) and not defined: no device code has its body\n", file,
                  at->line, name, tokens->files[first->file], first->line);
  mw_fail(error, MW_COMPILE, "compiling '%.128s' failed: %.*s", source->name, (int)strcspn(log.at, "\n"), log.at);
  mw_excerpt_put(&log, source, file, at->line, &word);
  mw_error_log(error, log.at);
  return true;
}

/* ---- what does not compile ------------------------------------------------------------------------------------- */

typedef struct complaint { /* an error of a log, about one entry */
  int entry;
  mw_status status;
  char *text, *log;
} complaint;

/* The file and line that a line of a log begins with: "x.cu:12:3: ..." or "x.cu(12): ...". */
static bool place_read(const char *line, cpu_token *file, int *number) {
  const int size = (int)strcspn(line, "\n");
  for (int i = 0; i < size; i++) {
    const int digits = line[i] == ':' || line[i] == '(' ? (int)strspn(line + i + 1, "0123456789") : 0;
    const char *end = line + i + 1 + digits;
    if (!digits || (line[i] == '(' ? strncmp(end, "):", 2) : *end != ':')) continue;
    const int blanks = (int)strspn(line, " ");
    *file = (cpu_token){.kind = CPU_NAME, .text = line + blanks, .size = i - blanks};
    *number = atoi(line + i + 1);
    return true;
  }
  return false;
}

/* The kept declaration at a line of a file; -1: there is none. */
static int entry_of(const cpu_outline *outline, const cpu_token *file, int number) {
  const cpu_tokens *tokens = outline->tokens;
  for (int i = 0; i < outline->nentries; i++) {
    const cpu_entry *entry = &outline->entries[i];
    if (!entry->kept || (entry->worth != CPU_WORTH_ROOT && entry->worth != CPU_WORTH_DEVICE)) continue;
    const cpu_token *first = &tokens->at[entry->first], *last = &tokens->at[entry->last - 1];
    if (number >= first->line && number <= last->line && cpu_token_is(file, tokens->files[first->file])) return i;
  }
  return -1;
}

/* That at the place which a line of a log names. */
static int entry_at(const cpu_outline *outline, const char *line, int *number) {
  cpu_token file;
  return place_read(line, &file, number) ? entry_of(outline, &file, *number) : -1;
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
static int instance_at(const cpu_outline *outline, const char *line, const cpu_token *file) {
  const int size = (int)strcspn(line, "\n");
  const char *const at_line = memmem(line, (size_t)size, " at line ", 9);
  int number;
  if (!at_line) return entry_at(outline, line, &number);
  const char *name = at_line + 9 + strspn(at_line + 9, "0123456789") + 4; /* " of x.cuh" */
  const cpu_token other = {.kind = CPU_NAME, .text = name, .size = (int)(line + size - name)};
  return entry_of(outline, other.size > 0 ? &other : file, atoi(at_line + 9));
}

static bool line_has(const char *line, const char *words) {
  return memmem(line, strcspn(line, "\n"), words, strlen(words)) != NULL;
}

/* The declaration that asks for the instance in which the error at a line is; -1: there is none. Compilers name the
 * instances from the inside to the outside: g++ before the error, others after it. */
static int requester_of(const cpu_outline *outline, const char *before, const char *line, const char *end) {
  cpu_token file = {.text = ""};
  int number, found = -1;
  place_read(line, &file, &number);
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
  const cpu_outline *outline = &front->outline;
  int number, found = entry_at(outline, line, &number);
  for (const char *at = before; found < 0 && at < line; at = line_next(at))
    if (line_has(at, "required from")) found = entry_at(outline, at, &number);
  for (; end && !error_of(end); end = line_next(end))
    if (found < 0) found = entry_at(outline, end, &number);
  if (found < 0) return (complaint){.entry = -1};
  const int requester = requester_of(outline, before, line, end);
  char message[700];
  const cpu_tokens *tokens = outline->tokens;
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
static int complaint_of(cpu_outline *outline, int entry, const complaint *list, int count) {
  selection in = selection_of(outline);
  int found = 0;
  nothing_keep(outline);
  keep(&in, entry);
  needed_keep(&in);
  mw_free(in.list);
  while (found < count && !outline->entries[list[found].entry].kept) found++;
  return found < count ? found : -1;
}

/* why: of each entry its complaint, or -1. Kernels or device variables leave, kernels stay, and what is asked for is not
 * among those that leave. */
static bool can_refuse(const cpu_outline *outline, const int *why) {
  int leaving = 0, staying = 0;
  for (int i = 0; i < outline->nentries; i++) {
    const cpu_entry *entry = &outline->entries[i];
    if (entry->worth != CPU_WORTH_ROOT || entry->refused) continue;
    if (why[i] >= 0 && entry->is_kernel && entry->asked) return false;
    leaving += why[i] >= 0;
    staying += why[i] < 0 && entry->is_kernel;
  }
  return leaving && staying;
}

static void refuse(cpu_outline *outline, int index, const complaint *why, mw_status status, const char *device,
                   mw_refusals *out) {
  cpu_entry *entry = &outline->entries[index];
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
  cpu_outline *outline = &front->outline;
  complaint *list;
  const int count = complaints_read(front, error->log, &list);
  if (!count) return false;
  int *why = mw_malloc((size_t)outline->nentries * sizeof *why);
  for (int i = 0; i < outline->nentries; i++) {
    const cpu_entry *entry = &outline->entries[i];
    const bool root = entry->worth == CPU_WORTH_ROOT && !entry->refused;
    why[i] = root ? complaint_of(outline, i, list, count) : -1;
  }
  const bool refused = can_refuse(outline, why);
  for (int i = 0; refused && i < outline->nentries; i++)
    if (why[i] >= 0) refuse(outline, i, &list[why[i]], error->status, device, out);
  nothing_keep(outline);
  all_keep(outline);
  for (int i = 0; i < count; i++) mw_free(list[i].text), mw_free(list[i].log);
  mw_free(list);
  mw_free(why);
  return refused;
}
