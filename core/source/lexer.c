/* SPDX-License-Identifier: MIT
 *
 * Tokens of C++ text; see lexer.h. */
#include "core/source/lexer.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

typedef struct reader {
  mw_tokens *out;
  const char *at;
  const char *shim;
  int line, file;
  bool space;        /* white space since the last token */
  bool fresh;        /* nothing but white space on this line so far */
  bool system;       /* the marker in force names a system header */
  int depth;         /* of shim headers entered; 0: outside of the shim */
  const char *chunk; /* where the current system chunk began; NULL: none */
} reader;

/* ---- the list -------------------------------------------------------------------------------------------------- */

/* The list ends with a token that is not counted. */
void mw_tokens_push(mw_tokens *list, const mw_token *token) {
  if (list->count + 1 >= list->room) {
    list->room = list->room ? list->room * 2 : 1024;
    list->at = mw_realloc(list->at, (size_t)list->room * sizeof *list->at);
  }
  mw_token *end = &list->at[list->count + 1];
  end[-1] = *token;
  end[-1].match = -1;
  *end = (mw_token){.kind = MW_TOKEN_END, .text = "", .line = token->line, .file = token->file, .match = -1};
  list->count++;
}

static void token_add(reader *in, mw_token_kind kind, const char *text, size_t size) {
  mw_token token = {.kind = kind, .size = (int)size, .text = text, .line = in->line, .file = in->file};
  token.space = in->space;
  mw_tokens_push(in->out, &token);
  in->space = false;
}

const char *mw_tokens_own(mw_tokens *list, char *text) {
  list->owned = mw_grow(list->owned, (size_t)list->nowned, sizeof *list->owned);
  return list->owned[list->nowned++] = text;
}

void mw_token_set(mw_tokens *list, int i, char *text) {
  list->at[i].text = mw_tokens_own(list, text);
  list->at[i].size = (int)strlen(text);
}

int mw_tokens_file(mw_tokens *list, const char *name, size_t size) {
  for (int i = 0; i < list->nfiles; i++)
    if (strlen(list->files[i]) == size && !memcmp(list->files[i], name, size)) return i;
  list->files = mw_realloc(list->files, (size_t)(list->nfiles + 1) * sizeof *list->files);
  list->files[list->nfiles] = mw_format("%.*s", (int)size, name);
  return list->nfiles++;
}

unsigned mw_hash(const mw_token *token) {
  unsigned hash = 2166136261u;
  for (int i = 0; i < token->size; i++) hash = (hash ^ (unsigned char)token->text[i]) * 16777619u;
  return hash;
}

bool mw_token_any(const mw_token *token, const char *const *texts) {
  for (; *texts; texts++)
    if (mw_token_is(token, *texts)) return true;
  return false;
}

int mw_find(const mw_tokens *list, int first, int last, const char *const *texts) {
  for (int i = first; i < last; i++)
    if (mw_token_any(&list->at[i], texts)) return i;
  return last;
}

bool mw_has(const mw_tokens *list, int first, int last, const char *text) {
  return mw_find(list, first, last, WORDS(text)) < last;
}

int mw_find_same(const mw_tokens *list, int first, int last, const mw_token *token) {
  while (first < last && !mw_same_text(&list->at[first], token)) first++;
  return first;
}

int mw_find_open(const mw_tokens *list, int first, int last, const char *const *texts) {
  for (int i = first; i < last; i++) {
    if (mw_token_any(&list->at[i], texts)) return i;
    if (list->at[i].match > i) i = list->at[i].match;
  }
  return last;
}

/* ---- where things end ------------------------------------------------------------------------------------------ */

static bool name_byte(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 128;
}

/* Of the backslash-newline at `at`; 0 if none. */
static size_t splice_length(const char *at) {
  if (*at != '\\') return 0;
  return at[1] == '\n' ? 2 : at[1] == '\r' && at[2] == '\n' ? 3 : 0;
}

/* Past the comment or line splice at `at`; `at` if none. A spliced // comment goes on in the next line. */
static const char *comment_end(const char *at) {
  if (at[0] == '/' && at[1] == '*') {
    const char *end = strstr(at + 2, "*/");
    return end ? end + 2 : at + strlen(at);
  }
  if (at[0] != '/' || at[1] != '/') return at + splice_length(at);
  for (size_t splice; *at && *at != '\n'; at += splice ? splice : 1) splice = splice_length(at);
  return at;
}

static const char *blank_end(const char *at) {
  for (;;) {
    const char *end = isspace((unsigned char)*at) ? at + 1 : comment_end(at);
    if (end == at) return at;
    at = end;
  }
}

static const char *number_end(const char *at) {
  for (;; at++) {
    if ((*at == '+' || *at == '-') && strchr("eEpP", at[-1])) continue;
    if (*at == '\'' && name_byte(at[1])) continue;
    if (!name_byte(*at) && *at != '.') return at;
  }
}

static const char *quoted_end(const char *at) {
  char quote = *at++;
  for (; *at && *at != quote && *at != '\n'; at++) {
    const size_t splice = splice_length(at);
    if (splice)
      at += splice - 1;
    else if (*at == '\\' && at[1])
      at++;
  }
  return *at == quote ? at + 1 : at;
}

/* R"tag( ... )tag" */
static const char *raw_end(const char *at) {
  const char *open = strchr(at, '(');
  if (!open || open - at > 17) return quoted_end(at);
  char close[24];
  snprintf(close, sizeof close, ")%.*s\"", (int)(open - at - 1), at + 1);
  const char *end = strstr(open, close);
  return end ? end + strlen(close) : at + strlen(at);
}

static const char *punct_end(const char *at) {
  static const char *const longer[] = {
      "<<<", "<<=", ">>=", "...", "->*", "::", "->", "++", "--", "<<", "<=", ">=", "==", "!=", "&&",
      "||",  "+=",  "-=",  "*=",  "/=",  "%=", "&=", "|=", "^=", "<%", "%>", "<:", ":>", "%:", NULL};
  const bool single = !at[1] || !strchr("<>=.*:-+&|%", at[1]) || !strncmp(at, "<::", 3);
  for (int i = 0; !single && longer[i]; i++)
    if (!strncmp(at, longer[i], strlen(longer[i]))) return at + strlen(longer[i]);
  return at + 1; /* ">>" stays two tokens: it may close two template lists */
}

static const char *name_end(const char *at) {
  const char *end = at;
  while (name_byte(*end)) end++;
  if (*end == '"' && end[-1] == 'R' && end - at <= 3) return raw_end(end);
  if ((*end == '"' || *end == '\'') && end - at <= 2 && strchr("uULR8", end[-1])) return quoted_end(end);
  return end;
}

static const char *token_end(const char *at, mw_token_kind *kind) {
  const char *end;
  *kind = MW_TOKEN_PUNCT;
  if (isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1])))
    *kind = MW_TOKEN_NUMBER, end = number_end(at + 1);
  else if (name_byte(*at))
    end = name_end(at), *kind = end[-1] == '"' || end[-1] == '\'' ? MW_TOKEN_STRING : MW_TOKEN_NAME;
  else if (*at == '"' || *at == '\'')
    *kind = MW_TOKEN_STRING, end = quoted_end(at);
  else
    end = punct_end(at);
  return end;
}

/* Of the line, and of those that splices and comments join to it. */
static const char *directive_end(const char *at) {
  mw_token_kind kind;
  while (*at && *at != '\n') {
    const char *end = isspace((unsigned char)*at) ? at + 1 : comment_end(at);
    at = end > at ? end : token_end(at, &kind);
  }
  return at;
}

int mw_newlines(const char *at, const char *end) {
  int count = 0;
  while ((at = memchr(at, '\n', (size_t)(end - at)))) count++, at++;
  return count;
}

/* # or the digraph for it */
static bool is_hash(const char *at) {
  return *at == '#' || (at[0] == '%' && at[1] == ':');
}

const char *mw_directive_next(const char *at, const char **end) {
  mw_token_kind kind;
  const char *hash = strpbrk(at, "#%"); /* what has none before it is not cut into tokens */
  for (bool fresh = true; hash; fresh = false) {
    const char *start = blank_end(at);
    fresh |= mw_newlines(at, start) > 0;
    if (is_hash(start) && fresh) {
      *end = directive_end(start);
      return start;
    }
    at = *start ? token_end(start, &kind) : start;
    if (hash < at) hash = strpbrk(at, "#%");
  }
  return NULL;
}

void mw_directive_text(mw_text *out, const char *at, const char *end) {
  mw_token_kind kind;
  while (at < end) {
    const char *next = blank_end(at);
    if (next > at)
      mw_text_put(out, " ");
    else
      mw_text_add(out, at, (size_t)((next = token_end(at, &kind)) - at));
    at = next;
  }
}

/* ---- line markers: # 12 "file" 1 3 ----------------------------------------------------------------------------- */

static const char *line_end(const char *at) {
  const char *end = strchr(at, '\n');
  return end ? end : at + strlen(at);
}

/* Nothing but line markers? */
static bool chunk_empty(const char *at, const char *end) {
  for (; at < end; at = line_end(at) + 1)
    if (*at != '#' && *at != '\n') return false;
  return true;
}

static void chunk_close(reader *in, const char *end) {
  if (in->chunk && !chunk_empty(in->chunk, end)) token_add(in, MW_TOKEN_CHUNK, in->chunk, (size_t)(end - in->chunk));
  in->chunk = NULL;
}

/* Keeps count of how deep in shim headers we are; the first one entered becomes an #include of itself. */
static void shim_track(reader *in, const char *name, size_t size, bool enter, bool leave) {
  if (in->depth) {
    in->depth += enter - leave;
    return;
  }
  size_t length = in->shim ? strlen(in->shim) : 0;
  if (!enter || !length || size <= length || strncmp(name, in->shim, length) || name[length] != '/') return;
  in->depth = 1;
  char *text = mw_format("\n#include \"%.*s\"\n", (int)size, name);
  token_add(in, MW_TOKEN_CHUNK, mw_tokens_own(in->out, text), strlen(text));
}

static void marker_apply(reader *in, const char *marker, long line, const char *name, size_t size, const char *flags,
                         const char *end) {
  const size_t length = (size_t)(end - flags);
  const bool system = memchr(flags, '3', length);
  if (!system || in->depth) chunk_close(in, marker);
  shim_track(in, name, size, memchr(flags, '1', length), memchr(flags, '2', length));
  in->system = system && !in->depth;
  if (in->system && !in->chunk) in->chunk = marker;
  in->line = (int)line - 1;
  if (!in->system && !in->depth) in->file = mw_tokens_file(in->out, name, size);
}

/* At a '#' that begins a line: a line marker, or a directive in force, which only text not yet preprocessed has. */
static const char *directive_read(reader *in) {
  const char *end = directive_end(in->at), *at = in->at + 1;
  while (*at == ' ' || *at == '\t') at++;
  if (isdigit((unsigned char)*at)) {
    char *after;
    long line = strtol(at, &after, 10);
    const char *open = memchr(after, '"', (size_t)(end - after));
    const char *close = open ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;
    if (close) marker_apply(in, in->at, line, open + 1, (size_t)(close - open - 1), close + 1, end);
  } else if ((!strncmp(at, "pragma", 6) || (in->shim && (!strncmp(at, "error", 5) || !strncmp(at, "warning", 7)))) &&
             !in->system && !in->depth) {
    token_add(in, MW_TOKEN_PRAGMA, in->at, (size_t)(end - in->at));
  }
  return end;
}

/* ---- tokens ---------------------------------------------------------------------------------------------------- */

void mw_tokens_wrong(mw_tokens *list, const char *what, char mark, int line, int file) {
  if (!list->wrong.what) list->wrong = (mw_wrong){what, mark, line, file};
}

static void bracket_wrong(mw_tokens *list, const mw_token *bracket) {
  mw_tokens_wrong(list, "a bracket has no partner", bracket->text[0], bracket->line, bracket->file);
}

/* C++ has words for some operators: n bitand 3, not x. White space keeps the sign from its neighbours, as in 7 bitand&x. */
static void name_add(reader *in, const char *text, size_t size) {
  static const char *const words[][2] = {{"and", "&&"},   {"or", "||"},     {"not", "!"},    {"xor", "^"},
                                         {"bitand", "&"}, {"bitor", "|"},   {"compl", "~"},  {"and_eq", "&="},
                                         {"or_eq", "|="}, {"xor_eq", "^="}, {"not_eq", "!="}};
  const mw_token name = {.text = text, .size = (int)size};
  size_t i = 0;
  while (i < sizeof words / sizeof *words && !mw_token_is(&name, words[i][0])) i++;
  const bool found = i < sizeof words / sizeof *words;
  in->space |= found;
  token_add(in, found ? MW_TOKEN_PUNCT : MW_TOKEN_NAME, found ? words[i][1] : text, found ? strlen(words[i][1]) : size);
  in->space = found;
}

/* A name cut by line splices, put together: __glo\<new line>bal__. Returns its end. */
static const char *name_join(reader *in, const char *at) {
  mw_text joined = {0};
  for (size_t splice = 1; splice;) {
    const char *end = name_end(at);
    mw_text_add(&joined, at, (size_t)(end - at));
    splice = splice_length(end);
    if (!name_byte(end[splice])) splice = 0;
    at = end + splice;
  }
  name_add(in, mw_tokens_own(in->out, joined.at), joined.size);
  return at;
}

/* <% %> <: :> %: are other spellings of { } [ ] #. */
static const char *digraph_meaning(const char *at) {
  if (*at == '%') return at[1] == ':' ? "#" : "}";
  return *at == ':' ? "]" : at[1] == '%' ? "{" : "[";
}

static const char *token_read(reader *in) {
  mw_token_kind kind;
  const char *at = in->at, *end = token_end(at, &kind);
  if (in->system || in->depth) return end;
  size_t splice = kind == MW_TOKEN_NAME ? splice_length(end) : 0;
  if (splice && name_byte(end[splice])) return name_join(in, at);
  if (mw_token_any(&(mw_token){.text = at, .size = (int)(end - at)}, WORDS("<%", "%>", "<:", ":>", "%:")))
    token_add(in, kind, digraph_meaning(at), 1);
  else if (kind == MW_TOKEN_NAME)
    name_add(in, at, (size_t)(end - at));
  else
    token_add(in, kind, at, (size_t)(end - at));
  if (kind == MW_TOKEN_STRING && (end - at < 2 || (end[-1] != '"' && end[-1] != '\'')))
    mw_tokens_wrong(in->out, "a quote is not closed", *strpbrk(at, "\"'"), in->line, in->file);
  return end;
}

/* The opening bracket of a closing one; 0: not a closing bracket. */
static char partner(char close) {
  return close == ')' ? '(' : close == ']' ? '[' : close == '}' ? '{' : 0;
}

/* Text with both branches of an #if in it need not be balanced: a brace closes what is still open in it, and a
 * bracket that closes nothing stays unpaired. */
void mw_tokens_match(mw_tokens *list) {
  int *open = mw_malloc((size_t)(list->count + 1) * sizeof *open), top = 0;
  for (int i = 0; i < list->count; i++) list->at[i].match = -1;
  for (int i = 0; i < list->count; i++) {
    mw_token *token = &list->at[i];
    if (token->kind != MW_TOKEN_PUNCT || token->size != 1) continue;
    if (strchr("([{", token->text[0])) open[top++] = i;
    const char want = partner(token->text[0]);
    if (!want) continue;
    const mw_token *last = top ? &list->at[open[top - 1]] : NULL;
    if (!last || last->text[0] != want) bracket_wrong(list, last && last->text[0] != '{' ? last : token);
    while (top && list->at[open[top - 1]].text[0] != want && (want == '{' || list->at[open[top - 1]].text[0] != '{'))
      top--;
    if (!top || list->at[open[top - 1]].text[0] != want) continue;
    token->match = open[--top];
    list->at[token->match].match = i;
  }
  if (top) bracket_wrong(list, &list->at[open[top - 1]]);
  mw_free(open);
}

void mw_tokens_read(mw_tokens *list, const char *text, const char *shim) {
  *list = (mw_tokens){0};
  reader in = {.out = list, .at = text, .shim = shim && *shim ? shim : NULL, .line = 1, .fresh = true};
  mw_tokens_file(list, "source", 6);
  for (const char *end; *in.at; in.at = end) {
    const bool skipped = in.system || in.depth;
    end = blank_end(in.at);
    if (end > in.at)
      in.space = true, in.fresh |= mw_newlines(in.at, end) > 0;
    else if (is_hash(in.at) && in.fresh)
      end = directive_read(&in);
    else
      in.fresh = false, end = skipped ? line_end(in.at) : token_read(&in);
    in.line += mw_newlines(in.at, end);
  }
  chunk_close(&in, in.at);
  token_add(&in, MW_TOKEN_END, "", 0);
  list->count--;
  mw_tokens_match(list);
}

mw_tokens mw_tokens_beside(const mw_tokens *from) {
  return (mw_tokens){.files = from->files, .nfiles = from->nfiles, .borrows = true};
}

void mw_tokens_scan(mw_tokens *list, const char *text, const mw_token *like) {
  const char *own = mw_tokens_own(list, mw_strdup(text));
  mw_tokens_lex(list, own, own + strlen(own), like->line, like->file);
}

/* The comment without an end in the white space from `at` to `end`; NULL if none. */
static const char *comment_open(const char *at, const char *end) {
  for (; at < end; at = isspace((unsigned char)*at) ? at + 1 : comment_end(at))
    if (at[0] == '/' && at[1] == '*' && !strstr(at + 2, "*/")) return at;
  return NULL;
}

void mw_tokens_lex(mw_tokens *list, const char *at, const char *end, int line, int file) {
  reader in = {.out = list, .at = at, .line = line, .file = file};
  while (in.at < end) {
    const char *next = blank_end(in.at);
    in.space |= next > in.at;
    const char *open = comment_open(in.at, next);
    if (open) mw_tokens_wrong(list, "a comment is not closed", '/', in.line + mw_newlines(in.at, open), file);
    next = next > in.at ? next : token_read(&in);
    in.line += mw_newlines(in.at, next);
    in.at = next;
  }
}

void mw_tokens_copy(mw_tokens *to, const mw_tokens *from, int first, int last) {
  for (int i = first; i < last; i++) mw_tokens_push(to, &from->at[i]);
}

void mw_tokens_format(mw_tokens *to, const mw_token *like, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text = mw_vformat(format, args);
  va_end(args);
  mw_tokens_scan(to, text, like);
  mw_free(text);
}

void mw_tokens_adopt(mw_tokens *list, mw_tokens *from) {
  for (int i = 0; i < from->nowned; i++) mw_tokens_own(list, from->owned[i]);
  from->nowned = 0;
}

void mw_tokens_become(mw_tokens *list, mw_tokens *by) {
  mw_tokens_match(by);
  mw_tokens_adopt(list, by);
  mw_free(list->at);
  list->at = by->at;
  list->count = by->count;
  list->room = by->room;
  mw_free(by->owned);
  *by = (mw_tokens){0};
}

void mw_tokens_build(mw_tokens *to, const mw_tokens *from, const mw_token *like, int number, const char *pattern,
                     const mw_span *ranges) {
  mw_text text = {0};
  for (const char *at = pattern; *at; at++) {
    if (*at == '#')
      mw_text_format(&text, "%d", number);
    else if (*at != '$')
      mw_text_add(&text, at, 1);
    if (text.size && (*at == '$' || !at[1])) {
      mw_tokens_scan(to, text.at, like);
      text.size = 0;
    }
    if (*at == '$') {
      const mw_span *range = &ranges[*++at - '0'];
      const int begin = to->count;
      mw_tokens_copy(to, from, range->first, range->last);
      if (to->count > begin && at - pattern > 1 && at[-2] == ' ') to->at[begin].space = true;
    }
  }
  mw_free(text.at);
}

void mw_tokens_free(mw_tokens *list) {
  for (int i = 0; i < list->nfiles && !list->borrows; i++) mw_free(list->files[i]);
  for (int i = 0; i < list->nowned; i++) mw_free(list->owned[i]);
  if (!list->borrows) mw_free(list->files);
  mw_free(list->owned);
  mw_free(list->at);
  *list = (mw_tokens){0};
}

/* ---- text ------------------------------------------------------------------------------------------------------ */

void mw_text_add(mw_text *text, const char *bytes, size_t size) {
  if (text->size + size + 1 > text->room) {
    text->room = (text->size + size + 1) * 2;
    text->at = mw_realloc(text->at, text->room);
  }
  memcpy(text->at + text->size, bytes, size);
  text->size += size;
  text->at[text->size] = 0;
}

void mw_text_put(mw_text *text, const char *bytes) {
  mw_text_add(text, bytes, strlen(bytes));
}

void mw_text_vformat(mw_text *text, const char *format, va_list args) {
  char bytes[256], *all = NULL;
  va_list again;
  va_copy(again, args);
  const int size = vsnprintf(bytes, sizeof bytes, format, args);
  if (size >= (int)sizeof bytes) all = mw_vformat(format, again);
  mw_text_add(text, all ? all : bytes, (size_t)size);
  mw_free(all);
  va_end(again);
}

void mw_text_format(mw_text *text, const char *format, ...) {
  va_list args;
  va_start(args, format);
  mw_text_vformat(text, format, args);
  va_end(args);
}

/* Moves the end of the text to the token's line: by new lines if it is near, else by a marker. */
static void text_locate(mw_text *text, const mw_tokens *list, const mw_token *token) {
  int ahead = token->line - text->line;
  if (text->file == token->file + 1 && ahead >= 0 && ahead < 6)
    while (ahead--) mw_text_put(text, "\n");
  else
    mw_text_format(text, "\n# %d \"%s\"\n", token->line, list->files[token->file]);
  text->file = token->file + 1;
  text->line = token->line;
}

/* Of extern "C"__global__: to nvcc the word is a macro, to others it would be a suffix of the string. */
static bool is_suffix(const mw_text *text, const mw_token *token) {
  return text->size && text->at[text->size - 1] == '"' && token->size > 2 && !memcmp(token->text, "__", 2);
}

void mw_text_token(mw_text *text, const mw_tokens *list, const mw_token *token) {
  const bool chunk = token->kind == MW_TOKEN_CHUNK, lines = chunk || token->kind == MW_TOKEN_PRAGMA;
  if (!chunk && (text->file != token->file + 1 || text->line != token->line)) text_locate(text, list, token);
  if (lines && !(text->size && text->at[text->size - 1] == '\n')) mw_text_put(text, "\n");
  if ((token->space || is_suffix(text, token)) && !chunk) mw_text_put(text, " ");
  mw_text_add(text, token->text, (size_t)token->size);
  if (lines) mw_text_put(text, "\n"), text->file = 0;
}

void mw_text_range(mw_text *text, const mw_tokens *list, int first, int last) {
  for (int i = first; i < last; i++) mw_text_token(text, list, &list->at[i]);
}

void mw_text_plain(mw_text *text, const mw_tokens *list, int first, int last) {
  for (int i = first; i < last; i++) {
    if (list->at[i].space && i > first) mw_text_put(text, " ");
    mw_text_add(text, list->at[i].text, (size_t)list->at[i].size);
  }
}
