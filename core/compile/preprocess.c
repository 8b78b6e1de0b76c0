/* SPDX-License-Identifier: MIT
 *
 * Directives and files; see preprocess.h. The text between two directives is cut into tokens, which macro.c expands; a
 * call of a macro does not go on past a directive. */
#include "core/compile/preprocess.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/source/macro.h"

enum { MOST_DEPTH = 100, MOST_FILES = 4096, MOST_NESTED = 256, MOST_BYTES = 64 << 20, PATH_SIZE = 4096 };

typedef struct once {
  dev_t device;
  ino_t inode;
} once;

typedef struct reader {
  const mw_source *source;
  const mw_dialect *dialect;
  mw_preprocessed *out;
  mw_macros *macros;
  mw_macros *named, *constants; /* those that are replaced in the text: the same, or all but the constants */
  mw_tokens declared;           /* the constants */
  once *once;                   /* files with #pragma once */
  int nonce, depth, files;
  bool quiet; /* in a header of the device: only its macros are read */
} reader;

/* One #if: whether its branch in force is read, whether one was, and whether the text around it is. */
typedef struct branch {
  bool active, taken, outer, last; /* last: after its #else */
  int line;
} branch;

typedef struct file {
  const char *folder; /* NULL: none */
  int index, line;
  once id;
  branch nested[MOST_NESTED];
  int depth;
} file;

static void text_read(reader *, file *, const char *text);

/* ---- including ------------------------------------------------------------------------------------------------- */

static bool is_file(const char *folder, const char *name, char *path, struct stat *st) {
  const int length = *name == '/' ? snprintf(path, PATH_SIZE, "%s", name)
                                  : snprintf(path, PATH_SIZE, "%s%s%s", folder, *folder ? "/" : "", name);
  return length < PATH_SIZE && stat(path, st) == 0 && S_ISREG(st->st_mode);
}

/* Looks for the user's own header: "x" next to the file that includes it and in the source's folder, before the device's;
 * after them both forms in all folders. */
static bool header_find(const reader *in, const file *from, const char *name, bool quoted, char *path,
                        struct stat *st) {
  if (*name == '/') return is_file("", name, path, st);
  if (quoted && from->folder && is_file(from->folder, name, path, st)) return true;
  if (quoted && in->source->folder && is_file(in->source->folder, name, path, st)) return true;
  if (in->dialect->has_header(name)) return false;
  if (in->source->folder && is_file(in->source->folder, name, path, st)) return true;
  for (const char *const *folder = in->source->includes; folder && *folder; folder++)
    if (is_file(*folder, name, path, st)) return true;
  return false;
}

static bool host_has(const reader *in, const char *name) {
  char path[PATH_SIZE];
  struct stat st;
  bool found = false;
  for (const char *at = in->dialect->folders; at && *at && *at != '\n' && !found; at += strcspn(at, "\n") + 1) {
    char *folder = mw_format("%.*s", (int)strcspn(at, "\n"), at);
    found = is_file(folder, name, path, &st);
    mw_free(folder);
  }
  return found;
}

static bool is_seen(const reader *in, const struct stat *st) {
  for (int i = 0; i < in->nonce; i++)
    if (in->once[i].inode == st->st_ino && in->once[i].device == st->st_dev) return true;
  return false;
}

static void file_read(reader *in, const char *path, const struct stat *st) {
  char *text = mw_file_read(path, MOST_BYTES, NULL);
  if (!text) return;
  char *folder = mw_strdup(path), *slash = strrchr(folder, '/');
  if (slash) *slash = 0;
  file *it = mw_calloc(1, sizeof *it);
  *it = (file){.folder = slash ? folder : "", .id = {st->st_dev, st->st_ino}};
  it->index = mw_tokens_file(&in->out->tokens, path, strlen(path));
  mw_tokens_own(&in->out->tokens, text);
  in->depth++;
  in->files++;
  text_read(in, it, strncmp(text, "\xef\xbb\xbf", 3) ? text : text + 3); /* the mark that some editors put in front */
  in->depth--;
  mw_free(it);
  mw_free(folder);
}

static void chunk_put(reader *in, const file *from, mw_token_kind kind, const char *text) {
  if (in->quiet) return;
  const char *copy = mw_tokens_own(&in->out->tokens, mw_strdup(text));
  const mw_token token = {
      .kind = kind, .text = copy, .size = (int)strlen(text), .line = from->line, .file = from->index};
  mw_tokens_push(&in->out->tokens, &token);
}

/* Headers of the system are not looked for; these are. */
static bool is_own(const char *name, bool quoted) {
  const char *type = strrchr(name, '.');
  return quoted || (type && (!strcmp(type, ".cuh") || !strcmp(type, ".hpp")));
}

static void header_leave(reader *in, const file *from, const char *name, bool quoted) {
  mw_preprocessed *out = in->out;
  if (in->quiet) return;
  out->left = mw_grow(out->left, (size_t)out->nleft, sizeof *out->left);
  out->left[out->nleft++] =
      (mw_left_header){mw_strdup(name), from->line, from->index, is_own(name, quoted), host_has(in, name)};
}

/* Types that a host library gives to device code. */
static const char *host_types(const char *name) {
  static const char fourier[] =
      "typedef float cufftReal; typedef double cufftDoubleReal; "
      "typedef float2 cuFloatComplex, cuComplex, cufftComplex; typedef double2 cuDoubleComplex, cufftDoubleComplex;";
  return strcmp(name, "cufft.h") && strcmp(name, "cufftXt.h") ? NULL : fourier;
}

static void include(reader *, const file *from, const char *name, bool quoted);

/* Host libraries whose headers bring in those of the numbers of 16 bits. */
static bool has_halves(const char *name) {
  for (const char *const *library = WORDS("cublas", "cudnn", "cusolver", "cusparse"); *library; library++)
    if (strncmp(name, *library, strlen(*library)) == 0) return true;
  return false;
}

static void host_header_leave(reader *in, const file *from, const char *name, bool quoted) {
  if (host_types(name)) chunk_put(in, from, MW_TOKEN_CHUNK, host_types(name));
  if (has_halves(name)) {
    include(in, from, "cuda_fp16.h", false);
    include(in, from, "cuda_bf16.h", false);
  }
  header_leave(in, from, name, quoted);
}

/* A header of the device, as its dialect wants it. */
static void header_keep(reader *in, const file *from, const char *name) {
  char path[PATH_SIZE];
  struct stat st;
  const char *folder = in->dialect->folder;
  const char *instead = in->dialect->instead_of ? in->dialect->instead_of(name) : NULL;
  const bool marked = folder && is_file(folder, name, path, &st), whole = in->dialect->folders != NULL;
  if (marked && whole && is_seen(in, &st)) return;
  char *line = instead           ? mw_strdup(instead)
               : marked && whole ? mw_format("\n#include \"%s\"\n", path)
               : marked          ? mw_format("# 1 \"%s\" 1\n# 1 \"%s\" 2", path, in->source->name)
                                 : mw_format("#include <%s>", name);
  chunk_put(in, from, MW_TOKEN_CHUNK, line);
  mw_free(line);
  if (!marked || in->depth >= MOST_DEPTH || in->files >= MOST_FILES) return;
  const bool quiet = in->quiet;
  in->quiet = true;
  file_read(in, path, &st);
  in->quiet = quiet;
}

static void include(reader *in, const file *from, const char *name, bool quoted) {
  char path[PATH_SIZE];
  struct stat st;
  const bool own = header_find(in, from, name, quoted, path, &st);
  if (own && (in->depth == MOST_DEPTH || in->files == MOST_FILES)) {
    mw_tokens_wrong(&in->out->tokens, "an #include that never ends: a file includes itself", '#', from->line,
                    from->index);
  } else if (own) {
    if (!is_seen(in, &st)) file_read(in, path, &st);
  } else if (in->dialect->has_header(name)) {
    header_keep(in, from, name);
  } else if (in->dialect->folders) {
    char *line = mw_format(quoted ? "#include \"%s\"\n" : "#include <%s>\n", name);
    chunk_put(in, from, MW_TOKEN_CHUNK, line);
    mw_free(line);
    header_leave(in, from, name, quoted);
  } else {
    host_header_leave(in, from, name, quoted);
  }
}

/* After the word: "x", <x> or what macros make one of these of. */
static void include_read(reader *in, const file *from, const mw_tokens *line, int first) {
  mw_tokens expanded = {0};
  mw_text name = {0};
  mw_macros_expand(in->macros, line, first, line->count, &expanded);
  const bool quoted = expanded.count && expanded.at[0].kind == MW_TOKEN_STRING && expanded.at[0].size > 2;
  if (quoted)
    mw_text_add(&name, expanded.at[0].text + 1, (size_t)expanded.at[0].size - 2);
  else
    mw_text_plain(&name, &expanded, 1, mw_find(&expanded, 0, expanded.count, WORDS(">")));
  if (name.at) include(in, from, name.at, quoted);
  mw_free(name.at);
  mw_tokens_free(&expanded);
}

typedef struct asking {
  reader *in;
  const file *from;
} asking;

static bool header_exists(void *context, const char *name, bool quoted) {
  const asking *it = context;
  char path[PATH_SIZE];
  struct stat st;
  return it->in->dialect->has_header(name) || header_find(it->in, it->from, name, quoted, path, &st) ||
         host_has(it->in, name);
}

/* ---- conditions ------------------------------------------------------------------------------------------------ */

/* What is wrong in the user's own text, at the directive that is read. */
static void wrong(reader *in, const file *at, const char *what) {
  if (!in->quiet) mw_tokens_wrong(&in->out->tokens, what, '#', at->line, at->index);
}

static bool is_active(const file *at) {
  return !at->depth || at->nested[at->depth - 1].active;
}

static bool holds(reader *in, const file *at, const mw_tokens *line, int first) {
  asking it = {in, at};
  return mw_condition(in->macros, line, first, line->count, header_exists, &it) != 0;
}

static bool is_defined(const reader *in, const mw_tokens *line, int i) {
  return i < line->count && mw_macro_defined(in->macros, &line->at[i]);
}

static void branch_begin(reader *in, file *at, const mw_tokens *line, const mw_token *word) {
  const bool outer = is_active(at);
  bool active = false;
  if (at->depth == MOST_NESTED) {
    wrong(in, at, "too many #if in each other");
    return;
  }
  if (outer && mw_token_is(word, "if"))
    active = holds(in, at, line, 2);
  else if (outer)
    active = is_defined(in, line, 2) == mw_token_is(word, "ifdef");
  at->nested[at->depth++] = (branch){.active = active, .taken = active, .outer = outer, .line = at->line};
}

static void branch_change(reader *in, file *at, const mw_tokens *line, const mw_token *word) {
  branch *it = at->depth ? &at->nested[at->depth - 1] : NULL;
  if (!it || it->last) {
    wrong(in, at, "an #else or #elif without an #if before it");
    return;
  }
  const bool last = mw_token_is(word, "else");
  const bool open = it->outer && !it->taken;
  it->active = false;
  it->last = last;
  if (!open) return;
  if (last)
    it->active = true;
  else if (mw_token_is(word, "elif"))
    it->active = holds(in, at, line, 2);
  else
    it->active = is_defined(in, line, 2) == mw_token_is(word, "elifdef");
  it->taken = it->active;
}

/* ---- directives ------------------------------------------------------------------------------------------------ */

static void pragma_read(reader *in, const file *at, const mw_tokens *line, const char *text) {
  if (line->count > 2 && mw_token_is(&line->at[2], "once")) {
    in->once = mw_grow(in->once, (size_t)in->nonce, sizeof *in->once);
    in->once[in->nonce++] = at->id;
    return;
  }
  chunk_put(in, at, MW_TOKEN_PRAGMA, text);
}

/* #pragma unroll N: the number may be a macro. */
static void unroll_read(reader *in, const file *at, const mw_tokens *line) {
  mw_tokens expanded = {0};
  mw_text text = {0};
  mw_macros_expand(in->macros, line, 3, line->count, &expanded);
  mw_text_put(&text, "#pragma unroll ");
  mw_text_plain(&text, &expanded, 0, expanded.count);
  chunk_put(in, at, MW_TOKEN_PRAGMA, text.at);
  mw_free(text.at);
  mw_tokens_free(&expanded);
}

/* #line 5 "x.cu" or # 5 "x.cu": the next line's number, and its file's name. */
static void line_set(reader *in, file *at, const mw_tokens *line, int number) {
  const mw_token *name = &line->at[number + 1];
  if (number >= line->count || line->at[number].kind != MW_TOKEN_NUMBER) return;
  at->line = atoi(line->at[number].text) - 1;
  if (number + 1 < line->count && name->kind == MW_TOKEN_STRING && name->size > 2)
    at->index = mw_tokens_file(&in->out->tokens, name->text + 1, (size_t)name->size - 2);
}

/* # define N (4 * M): does it name a number, for the first time? Then it is declared. */
static bool constant_put(reader *in, const mw_tokens *line) {
  const mw_token *at = line->at, *name = &at[2];
  bool number = false;
  const bool known = mw_macro_defined(in->named, name) || mw_macro_defined(in->constants, name);
  if (line->count < 4 || known || (mw_token_is(&at[3], "(") && !at[3].space)) return false;
  for (int i = 3; i < line->count; i++) {
    const bool operand = at[i].kind == MW_TOKEN_NUMBER || mw_macro_defined(in->constants, &at[i]);
    if (!operand && !mw_token_any(&at[i], WORDS("+", "-", "*", "/", "(", ")", "<<"))) return false;
    number |= operand;
  }
  if (!number) return false;
  mw_macro_define(in->constants, line, 2, line->count);
  mw_tokens_build(&in->declared, line, name, 0, "const auto $0 = $1 ;", (mw_span[]){{2, 3}, {3, line->count}});
  return true;
}

static void define_read(reader *in, const file *at, const mw_tokens *line) {
  if (!mw_macro_define(in->macros, line, 2, line->count))
    wrong(in, at, "a #define without a name, or with parameters that are none");
  else if (in->named != in->macros && !constant_put(in, line))
    mw_macro_define(in->named, line, 2, line->count);
}

/* line: # define N 1; text: the same as it was written, but for comments. */
static void directive_read(reader *in, file *at, const mw_tokens *line, const char *text) {
  const mw_token *word = &line->at[1];
  if (line->count < 2) return;
  if (mw_token_any(word, WORDS("if", "ifdef", "ifndef")))
    branch_begin(in, at, line, word);
  else if (mw_token_any(word, WORDS("elif", "else", "elifdef", "elifndef")))
    branch_change(in, at, line, word);
  else if (mw_token_is(word, "endif") && !at->depth)
    wrong(in, at, "an #endif without an #if before it");
  else if (mw_token_is(word, "endif"))
    at->depth--;
  else if (!is_active(at))
    return;
  else if (mw_token_is(word, "define"))
    define_read(in, at, line);
  else if (mw_token_is(word, "undef") && line->count > 2)
    mw_macro_undefine(in->macros, &line->at[2]), mw_macro_undefine(in->named, &line->at[2]);
  else if (mw_token_any(word, WORDS("include", "include_next", "import")))
    include_read(in, at, line, 2);
  else if (mw_token_is(word, "pragma") && line->count > 3 && mw_token_is(&line->at[2], "unroll"))
    unroll_read(in, at, line);
  else if (mw_token_is(word, "pragma"))
    pragma_read(in, at, line, text);
  else if (mw_token_any(word, WORDS("error", "warning")))
    chunk_put(in, at, MW_TOKEN_PRAGMA, text);
  else if (mw_token_is(word, "line") || word->kind == MW_TOKEN_NUMBER)
    line_set(in, at, line, mw_token_is(word, "line") ? 2 : 1);
  else if (!mw_token_any(word, WORDS("undef", "ident", "sccs", "assert", "unassert")))
    wrong(in, at, "a directive that is none of C++");
}

static void directive_take(reader *in, file *at, const char *start, const char *end) {
  mw_text text = {0};
  mw_tokens line = {0};
  mw_directive_text(&text, start, end);
  const char *kept = mw_tokens_own(&in->out->tokens, text.at);
  mw_tokens_lex(&line, kept, kept + text.size, at->line, at->index);
  for (int i = 0; i < line.count; i++) line.at[i].line = at->line;
  directive_read(in, at, &line, kept);
  mw_tokens_adopt(&in->out->tokens, &line);
  mw_tokens_free(&line);
}

/* ---- text ------------------------------------------------------------------------------------------------------ */

/* _Pragma("unroll 4")  ->  #pragma unroll 4 */
static void pragmas_make(mw_tokens *out, int first) {
  int to = first;
  for (int i = first; i < out->count; i++) {
    mw_token *at = &out->at[i];
    out->at[to++] = *at;
    if (i + 3 >= out->count || !mw_token_is(at, "_Pragma") || at[2].kind != MW_TOKEN_STRING) continue;
    mw_text text = {0};
    mw_text_put(&text, "#pragma ");
    for (const char *c = strchr(at[2].text, '"') + 1; c < at[2].text + at[2].size - 1; c++)
      if (*c != '\\' || c[1] == '\\') mw_text_add(&text, c, 1);
    out->at[to - 1].kind = MW_TOKEN_PRAGMA;
    out->at[to - 1].text = mw_tokens_own(out, text.at);
    out->at[to - 1].size = (int)text.size;
    i += 3;
  }
  if (to < out->count) out->at[to] = out->at[out->count]; /* the end */
  out->count = to;
}

static void piece_read(reader *in, const file *at, const char *from, const char *end) {
  mw_tokens raw = {0};
  if (in->quiet || !is_active(at)) return;
  mw_tokens_lex(&raw, from, end, at->line, at->index);
  mw_tokens *out = &in->out->tokens;
  const int first = out->count;
  mw_macros_expand(in->named, &raw, 0, raw.count, out);
  pragmas_make(out, first);
  if (!out->wrong.what) out->wrong = raw.wrong;
  mw_tokens_adopt(out, &raw);
  mw_tokens_free(&raw);
}

static void text_read(reader *in, file *at, const char *text) {
  at->line = 1;
  for (const char *from = text, *end; from; from = end) {
    const char *start = mw_directive_next(from, &end), *stop = start ? start : from + strlen(from);
    piece_read(in, at, from, stop);
    at->line += mw_newlines(from, stop);
    if (!start) break;
    directive_take(in, at, start, end);
    at->line += mw_newlines(start, end);
  }
  if (at->depth) at->line = at->nested[at->depth - 1].line, wrong(in, at, "an #if without an #endif");
}

/* Lines of #define, and nothing else: there are hundreds, and no other directive has to be looked for. */
static void lines_define(reader *in, const file *at, const char *text) {
  mw_tokens all = {0};
  mw_tokens_lex(&all, text, text + strlen(text), 1, at->index);
  for (int i = 0, last; i < all.count; i = last) {
    for (last = i + 1; last < all.count && all.at[last].line == all.at[i].line;) last++;
    mw_macro_define(in->macros, &all, i + 2, last);
  }
  mw_tokens_adopt(&in->out->tokens, &all);
  mw_tokens_free(&all);
}

static void predefine(reader *in, file *at) {
  if (in->dialect->macros) lines_define(in, at, mw_tokens_own(&in->out->tokens, mw_strdup(in->dialect->macros)));
  for (const char *const *define = in->source->defines; define && *define; define++) {
    const int name = (int)strcspn(*define, "=\n");
    const char *value = (*define)[name] == '=' ? *define + name + 1 : "1";
    char *line = mw_format("#define %.*s %.*s", name, *define, (int)strcspn(value, "\n"), value);
    text_read(in, at, mw_tokens_own(&in->out->tokens, line));
  }
}

/* What nvcc includes by itself, and what other headers of the standard library bring in with them. */
static void common_headers_include(reader *in, const file *at) {
  for (const char *const *name = WORDS("stddef.h", "stdint.h", "limits.h", "float.h", "math.h", "algorithm", "limits",
                                       "type_traits", "utility");
       *name; name++)
    if (in->dialect->has_header(*name)) include(in, at, *name, false);
}

void mw_preprocess_source(const mw_source *source, const mw_dialect *dialect, mw_preprocessed *out) {
  *out = (mw_preprocessed){.nleft = 0};
  reader in = {.source = source, .dialect = dialect, .out = out};
  file *it = mw_calloc(1, sizeof *it);
  it->folder = source->folder;
  it->index = mw_tokens_file(&out->tokens, source->name, strlen(source->name));
  in.macros = in.named = mw_macros_new(&out->tokens);
  in.declared = mw_tokens_beside(&out->tokens);
  if (dialect->constants) in.named = mw_macros_new(&out->tokens), in.constants = mw_macros_new(&out->tokens);
  predefine(&in, it);
  if (!dialect->folders) common_headers_include(&in, it);
  text_read(&in, it, mw_tokens_own(&out->tokens, mw_strdup(source->text)));
  mw_macros_free(in.macros);
  if (in.constants) {
    mw_macros_free(in.named);
    mw_macros_free(in.constants);
    mw_tokens_copy(&in.declared, &out->tokens, 0, out->tokens.count);
    mw_tokens_become(&out->tokens, &in.declared);
  }
  mw_tokens_match(&out->tokens);
  mw_free(in.once);
  mw_free(it);
}

void mw_preprocessed_free(mw_preprocessed *out) {
  for (int i = 0; i < out->nleft; i++) mw_free(out->left[i].name);
  mw_free(out->left);
  mw_tokens_free(&out->tokens);
}
