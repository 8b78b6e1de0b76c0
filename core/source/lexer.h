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
 * from system headers becomes one MW_TOKEN_CHUNK token that is passed on untouched, and what comes from the shim's own
 * headers one that includes the header again. Brackets know their partners, so that a walk can step over anything
 * balanced. Texts point into the given text or into the list's own memory: both must outlive the tokens. */
#ifndef MW_SOURCE_LEXER_H
#define MW_SOURCE_LEXER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef enum mw_token_kind {
  MW_TOKEN_END,
  MW_TOKEN_NAME,
  MW_TOKEN_NUMBER,
  MW_TOKEN_STRING, /* and character constants */
  MW_TOKEN_PUNCT,
  MW_TOKEN_PRAGMA, /* a whole #pragma line */
  MW_TOKEN_CHUNK,  /* text from a system header */
} mw_token_kind;

typedef struct mw_token {
  mw_token_kind  kind;
  int            size;
  const char    *text;
  int            line, file; /* file: index into mw_tokens.files */
  int            match;      /* of ( [ { and their partners: index of the other one; else -1 */
  int            from;       /* its index in the list that it was copied from, for who reads both; 0: none */
  bool           space;      /* white space before it */
  bool           painted;    /* a macro's name that is not expanded any more: macro.c */
  unsigned char  marks;      /* bits of whoever reads the list; 0 at first */
} mw_token;

typedef struct mw_wrong { /* the first thing that does not match, or does not end */
  const char *what; /* "a bracket has no partner"; NULL: nothing */
  char        mark; /* the bracket, the quote, what the comment begins with */
  int         line, file;
} mw_wrong;

typedef struct mw_tokens {
  mw_token *at; /* at[count] is MW_TOKEN_END */
  int        count, room;
  char     **files;
  int        nfiles;
  bool       borrows; /* files are another list's */
  char     **owned; /* texts made here */
  int        nowned;
  mw_wrong   wrong;
} mw_tokens;

/* shim: folder whose headers are included again by the generated text; may be NULL. */
void mw_tokens_read(mw_tokens *, const char *text, const char *shim);
void mw_tokens_free(mw_tokens *);

/* An empty list for tokens of `from`: its files are the same, and must outlive it. */
mw_tokens mw_tokens_beside(const mw_tokens *from);
/* The index of a file's name in the list's files, where it is put. */
int mw_tokens_file(mw_tokens *, const char *name, size_t size);
/* Appends the tokens of text that holds no directives, from line `line` of the file on, up to `end`. */
void mw_tokens_lex(mw_tokens *, const char *at, const char *end, int line, int file);
/* Building a list: a copy of a token; the tokens of a text (copied), on the line of `like`; then the brackets. */
void mw_tokens_push(mw_tokens *, const mw_token *);
void mw_tokens_scan(mw_tokens *, const char *text, const mw_token *like);
void mw_tokens_match(mw_tokens *);
void mw_tokens_wrong(mw_tokens *, const char *what, char mark, int line, int file);
void mw_tokens_copy(mw_tokens *, const mw_tokens *from, int first, int last); /* tokens first ... last-1 */
void mw_tokens_format(mw_tokens *, const mw_token *like, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

typedef struct mw_span {
  int first, last;
} mw_span;

/* Writes tokens by a pattern: # stands for `number`, $0 ... $9 for ranges of `from`'s tokens. The rest is scanned on
 * the line of `like`: "if ( ! mw_c# ) { $0 }". */
void mw_tokens_build(mw_tokens *, const mw_tokens *from, const mw_token *like, int number, const char *pattern,
                      const mw_span *ranges);

/* Texts change their owner, so that tokens copied from one list outlive it. */
void mw_tokens_adopt(mw_tokens *, mw_tokens *from);
/* The tokens become those of a list that was made next to them, which is then empty; brackets are matched. */
void mw_tokens_become(mw_tokens *, mw_tokens *by);
/* The list takes the text and frees it; mw_token_set: as that of its token i. */
const char *mw_tokens_own(mw_tokens *, char *text);
void mw_token_set(mw_tokens *, int i, char *text);

int      mw_newlines(const char *at, const char *end);
unsigned mw_hash(const mw_token *); /* of its text: FNV-1a */
static inline bool mw_same_text(const mw_token *a, const mw_token *b) {
  return a->size == b->size && *a->text == *b->text && !memcmp(a->text, b->text, (size_t)a->size);
}
static inline bool mw_token_is(const mw_token *token, const char *text) {
  return *token->text == *text && !strncmp(token->text, text, (size_t)token->size) && !text[token->size];
}
bool mw_token_any(const mw_token *, const char *const *texts); /* NULL-terminated list */
/* The first token in first ... last-1 that is one of the texts, or `last`; mw_find_open: outside of brackets. */
int mw_find(const mw_tokens *, int first, int last, const char *const *texts);
int mw_find_open(const mw_tokens *, int first, int last, const char *const *texts);
bool mw_has(const mw_tokens *, int first, int last, const char *text); /* is it among them? */
int mw_find_same(const mw_tokens *, int first, int last, const mw_token *); /* of the same text, or `last` */

/* A list of words written where it is used: mw_token_any(token, WORDS("if", "for")). */
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
/* A token's text where a format has %.*s. */
#define TEXT(token) (token)->size, (token)->text

/* A growing text that knows which line of which file its end stands for. */
typedef struct mw_text {
  char  *at; /* NUL-terminated; NULL while empty */
  size_t size, room;
  int    line, file; /* file: index into mw_tokens.files plus 1; 0: none */
  bool   checked;    /* of the check flavor: shared memory has names */
  bool   indexed;    /* of a function that has threadIdx and the like as variables of its own */
} mw_text;

void mw_text_add(mw_text *, const char *bytes, size_t size);
void mw_text_put(mw_text *, const char *text);
void mw_text_format(mw_text *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void mw_text_vformat(mw_text *, const char *format, va_list) __attribute__((format(printf, 2, 0)));
/* One token, spaced as it was; line markers and new lines keep it on its own line of the user's file. */
void mw_text_token(mw_text *, const mw_tokens *, const mw_token *);
void mw_text_range(mw_text *, const mw_tokens *, int first, int last); /* tokens first ... last-1 */
/* The tokens in one line, without markers: for messages, names and types. */
void mw_text_plain(mw_text *, const mw_tokens *, int first, int last);

/* The next directive of text from `at` on, itself or a later one: from its # to *end, before the new line that
 * ends it; NULL: none. Its text without comments and joined lines. */
const char *mw_directive_next(const char *at, const char **end);
void mw_directive_text(mw_text *, const char *at, const char *end);

#endif
