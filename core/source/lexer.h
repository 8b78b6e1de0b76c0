/* SPDX-License-Identifier: MIT
 *
 * C++ text as a list of tokens, as it was written or after preprocessing. Everything that reads C++ reads these:
 *
 *   __global__ void f(int n)  // half         __global__ | void | f | ( | int | n | )
 *   "a // b" R"x(")x" 1'000                   "a // b" | R"x(")x" | 1'000
 *
 * Comments and joined lines are white space, so no reader after this one sees them; a name cut by a joined line is
 * one token. Directives are left out, each branch of an #if is read: text that is not preprocessed need not be
 * balanced. In preprocessed text line markers become the line and file of each token; what comes
 * from system headers becomes one CPU_CHUNK token that is passed on untouched, and what comes from the shim's own
 * headers one that includes the header again. Brackets know their partners, so that a walk can step over anything
 * balanced. Texts point into the given text or into the list's own memory: both must outlive the tokens. */
#ifndef MW_SOURCE_LEXER_H
#define MW_SOURCE_LEXER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef enum cpu_token_kind {
  CPU_END,
  CPU_NAME,
  CPU_NUMBER,
  CPU_STRING, /* and character constants */
  CPU_PUNCT,
  CPU_PRAGMA, /* a whole #pragma line */
  CPU_CHUNK,  /* text from a system header */
} cpu_token_kind;

typedef struct cpu_token {
  cpu_token_kind kind;
  int            size;
  const char    *text;
  int            line, file; /* file: index into cpu_tokens.files */
  int            match;      /* of ( [ { and their partners: index of the other one; else -1 */
  bool           space;      /* white space before it */
  bool           painted;    /* a macro's name that is not expanded any more: macro.c */
  unsigned char  marks;      /* bits of whoever reads the list; 0 at first */
} cpu_token;

typedef struct cpu_wrong { /* the first thing that does not match, or does not end */
  const char *what; /* "a bracket has no partner"; NULL: nothing */
  char        mark; /* the bracket, the quote, what the comment begins with */
  int         line, file;
} cpu_wrong;

typedef struct cpu_tokens {
  cpu_token *at; /* at[count] is CPU_END */
  int        count, room;
  char     **files;
  int        nfiles;
  bool       borrows; /* files are another list's */
  char     **owned; /* texts made here */
  int        nowned;
  cpu_wrong  wrong;
} cpu_tokens;

/* shim: folder whose headers are included again by the generated text; may be NULL. */
void cpu_tokens_read(cpu_tokens *, const char *text, const char *shim);
void cpu_tokens_free(cpu_tokens *);

/* An empty list for tokens of `from`: its files are the same, and must outlive it. */
cpu_tokens cpu_tokens_beside(const cpu_tokens *from);
/* The index of a file's name in the list's files, where it is put. */
int cpu_tokens_file(cpu_tokens *, const char *name, size_t size);
/* Appends the tokens of text that holds no directives, from line `line` of the file on, up to `end`. */
void cpu_tokens_lex(cpu_tokens *, const char *at, const char *end, int line, int file);
/* Building a list: a copy of a token; the tokens of a text (copied), on the line of `like`; then the brackets. */
void cpu_tokens_push(cpu_tokens *, const cpu_token *);
void cpu_tokens_scan(cpu_tokens *, const char *text, const cpu_token *like);
void cpu_tokens_match(cpu_tokens *);
void cpu_tokens_wrong(cpu_tokens *, const char *what, char mark, int line, int file);
void cpu_tokens_copy(cpu_tokens *, const cpu_tokens *from, int first, int last); /* tokens first ... last-1 */
void cpu_tokens_format(cpu_tokens *, const cpu_token *like, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

typedef struct cpu_range {
  int first, last;
} cpu_range;

/* Writes tokens by a pattern: # stands for `number`, $0 ... $9 for ranges of `from`'s tokens. The rest is scanned on
 * the line of `like`: "if ( ! mw_c# ) { $0 }". */
void cpu_tokens_build(cpu_tokens *, const cpu_tokens *from, const cpu_token *like, int number, const char *pattern,
                      const cpu_range *ranges);

/* Texts change their owner, so that tokens copied from one list outlive it. */
void cpu_tokens_adopt(cpu_tokens *, cpu_tokens *from);
/* The tokens become those of a list that was made next to them, which is then empty; brackets are matched. */
void cpu_tokens_become(cpu_tokens *, cpu_tokens *by);
/* The list takes the text and frees it; cpu_token_set: as that of its token i. */
const char *cpu_tokens_own(cpu_tokens *, char *text);
void cpu_token_set(cpu_tokens *, int i, char *text);

int      cpu_newlines(const char *at, const char *end);
unsigned cpu_hash(const cpu_token *); /* of its text: FNV-1a */
static inline bool cpu_same_text(const cpu_token *a, const cpu_token *b) {
  return a->size == b->size && *a->text == *b->text && !memcmp(a->text, b->text, (size_t)a->size);
}
static inline bool cpu_token_is(const cpu_token *token, const char *text) {
  return *token->text == *text && !strncmp(token->text, text, (size_t)token->size) && !text[token->size];
}
bool cpu_token_any(const cpu_token *, const char *const *texts); /* NULL-terminated list */
/* The first token in first ... last-1 that is one of the texts, or `last`; cpu_find_open: outside of brackets. */
int cpu_find(const cpu_tokens *, int first, int last, const char *const *texts);
int cpu_find_open(const cpu_tokens *, int first, int last, const char *const *texts);
bool cpu_has(const cpu_tokens *, int first, int last, const char *text); /* is it among them? */
int cpu_find_same(const cpu_tokens *, int first, int last, const cpu_token *); /* of the same text, or `last` */

/* A list of words written where it is used: cpu_token_any(token, WORDS("if", "for")). */
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
/* A token's text where a format has %.*s. */
#define TEXT(token) (token)->size, (token)->text

/* A growing text that knows which line of which file its end stands for. */
typedef struct cpu_text {
  char  *at; /* NUL-terminated; NULL while empty */
  size_t size, room;
  int    line, file; /* file: index into cpu_tokens.files plus 1; 0: none */
  bool   checked;    /* of the check flavor: shared memory has names */
  bool   indexed;    /* of a function that has threadIdx and the like as variables of its own */
} cpu_text;

void cpu_text_add(cpu_text *, const char *bytes, size_t size);
void cpu_text_put(cpu_text *, const char *text);
void cpu_text_format(cpu_text *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cpu_text_vformat(cpu_text *, const char *format, va_list) __attribute__((format(printf, 2, 0)));
/* One token, spaced as it was; line markers and new lines keep it on its own line of the user's file. */
void cpu_text_token(cpu_text *, const cpu_tokens *, const cpu_token *);
void cpu_text_range(cpu_text *, const cpu_tokens *, int first, int last); /* tokens first ... last-1 */
/* The tokens in one line, without markers: for messages, names and types. */
void cpu_text_plain(cpu_text *, const cpu_tokens *, int first, int last);

/* The next directive of text from `at` on, itself or a later one: from its # to *end, before the new line that
 * ends it; NULL: none. Its text without comments and joined lines. */
const char *cpu_directive_next(const char *at, const char **end);
void cpu_directive_text(cpu_text *, const char *at, const char *end);

#endif
