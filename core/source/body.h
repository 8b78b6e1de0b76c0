/* SPDX-License-Identifier: MIT
 *
 * A function's body, read once: statements, expressions by precedence, scopes, and what each name stands for.
 *
 *   for (int k = 0; k < n; k++) s += x[k];      a FOR: it declares k, its test is (k < n), its step (k ++), its child
 *                                               the expression (s += (x [] k)), where k is a local, n a parameter
 *
 * Nothing is guessed. What is not understood is MW_EXPR_UNKNOWN or MW_STATEMENT_UNKNOWN and covers its tokens: it may do
 * anything to each name in it. What the body does not declare itself, it asks its reader (mw_names). Indices instead of
 * pointers; 0 means none, and element 0 of each array is not used. */
#ifndef MW_SOURCE_BODY_H
#define MW_SOURCE_BODY_H

#include "core/source/lexer.h"

enum { MW_MOST_DEPTH = 256 }; /* of statements and operators: what compilers promise */

typedef enum mw_type_class {
  MW_TYPE_UNKNOWN, /* the compiler may tell: a template's T, a member */
  MW_TYPE_CLASS,   /* declared by words that say too little: it may have operators and conversions of its own */
  MW_TYPE_VECTOR,  /* float4: a class whose operators are the language's own */
  MW_TYPE_SCALAR,
} mw_type_class;

typedef struct mw_type {
  mw_type_class class;        /* of what is at the end of the pointers */
  signed char levels, arrays; /* float *x[2]: two levels of pointers and arrays, the outermost an array */
  bool reference;
  unsigned char volatiles;    /* bit k: what k levels are left of is volatile; int *volatile *p has bit 1 */
  bool wide;                  /* known to be an integer of 32 bits or more */
  bool half;                  /* known to be a __half or the like, which is a class for a CPU's compiler */
} mw_type;

typedef enum mw_binding {
  MW_NAME_UNKNOWN,
  MW_NAME_LOCAL,     /* declared in the body */
  MW_NAME_PARAMETER, /* of the function */
  MW_NAME_VARIABLE,  /* outside of functions */
  MW_NAME_CONSTANT,  /* an enumerator, a constant outside of functions, a value of the template */
  MW_NAME_FUNCTIONS, /* all of that name */
  MW_NAME_TYPE,
  MW_NAME_BUILTIN,   /* CUDA's */
} mw_binding;

typedef struct mw_meaning {
  mw_binding binding;
  mw_type type; /* of a variable; a TYPE itself; what a builtin gives */
} mw_meaning;

typedef struct mw_names { /* who knows what the body does not declare */
  mw_meaning (*meaning)(void *with, const mw_token *name);
  void *with;
  bool host; /* the body is of a host part: launches and new are understood; device code has neither */
} mw_names;

typedef enum mw_expr_kind {
  MW_EXPR_UNKNOWN,
  MW_EXPR_NUMBER,      /* and characters, true, false, nullptr */
  MW_EXPR_STRING,
  MW_EXPR_NAME,        /* op: its token; first < op: it is qualified; op + 1 < last: it has template arguments */
  MW_EXPR_MEMBER,      /* a . op */
  MW_EXPR_ARROW,       /* a -> op */
  MW_EXPR_INDEX,       /* a [ b ] */
  MW_EXPR_CALL,        /* a ( b, next of b, ... ) */
  MW_EXPR_CAST,        /* ( T ) a, static_cast < T > ( a ), T ( a, next of a, ... ): to `type` */
  MW_EXPR_BRACES,      /* { a, next of a, ... }, T { a, ... }: of `type` */
  MW_EXPR_BRACKETS,    /* ( a ) */
  MW_EXPR_UNARY,       /* op a */
  MW_EXPR_POSTFIX,     /* a ++ */
  MW_EXPR_BINARY,      /* a op b, and the comma */
  MW_EXPR_ASSIGN,      /* a op b: += */
  MW_EXPR_CONDITIONAL, /* a ? b : c */
  MW_EXPR_SIZEOF,      /* nothing in it is evaluated */
  MW_EXPR_LAMBDA,      /* [ ] ( T x ) { ... }, and GNU's ( { ... } ): op is the {, c the statement that it begins */
  MW_EXPR_LAUNCH,      /* a <<< b, next of b, ... >>>, of a host part: what is called is a CALL of it */
  MW_EXPR_NEW,         /* new T [ a ], new T ( a, next of a, ... ), of a host part: op is the bracket, or `last` */
} mw_expr_kind;

typedef struct mw_expr {
  mw_expr_kind kind;
  int first, last; /* tokens */
  int op;          /* token of the operator, or of the name */
  int a, b, c, next;
  mw_type type;
  mw_binding binding; /* of a name */
  int of;             /* of a local: its declaration */
} mw_expr;

/* A name that the body declares. Of const float *const x[4] = {1}, y;  spec is const float for both; ranges of tokens end
 * before their `last`. */
typedef struct mw_declared {
  int name;              /* token */
  int spec, spec_last;   /* const float */
  int first;             /* *const x: the * */
  int dims, dims_last;   /* [4]; equal: none. What is declared, without its value, ends at dims_last */
  int value, value_last; /* after the =, or with its brackets: (1), {1}; equal: none */
  int init;              /* the same as an expression; 0: none */
  int until;             /* token at which its scope ends */
  mw_type type;
  bool is_type, is_auto, is_static, is_shared;
} mw_declared;

typedef enum mw_statement_kind {
  MW_STATEMENT_UNKNOWN,
  MW_STATEMENT_EXPR,    /* test */
  MW_STATEMENT_DECLARE, /* ndeclared variables from `declared` on, among them those of lambdas after an = */
  MW_STATEMENT_TYPE,    /* using, typedef, a class, static_assert, an empty statement: computes nothing */
  MW_STATEMENT_BLOCK,
  MW_STATEMENT_IF,
  MW_STATEMENT_FOR,
  MW_STATEMENT_RANGE,   /* for (T x : test) */
  MW_STATEMENT_WHILE,
  MW_STATEMENT_DO,
  MW_STATEMENT_SWITCH,
  MW_STATEMENT_CASE,    /* and default */
  MW_STATEMENT_RETURN,
  MW_STATEMENT_BREAK,
  MW_STATEMENT_CONTINUE,
  MW_STATEMENT_LABEL, /* again: */
  MW_STATEMENT_GOTO,
  MW_STATEMENT_TRY,
} mw_statement_kind;

typedef struct mw_extent { /* how many there are of each */
  int statements, exprs, declared;
} mw_extent;

typedef struct mw_statement {
  mw_statement_kind kind;
  int first, last; /* tokens; ; and } included */
  int open, close; /* the parentheses of a for, if, switch, while or do */
  int init_last, test_last; /* the ; in them, of an if, while and switch one, of a for two; or `close` */
  int head;        /* statement in the parentheses of a for, if, switch or while: int k = 0; */
  int test, step;  /* expressions */
  int child, otherwise, next;
  bool wrong;              /* no statement of C++: a for without parentheses */
  int declared, ndeclared; /* UNKNOWN: `declared` is not 0 where it seems to declare variables */
  mw_extent begin, end;    /* before it and after it: all that is in it lies side by side */
} mw_statement;

typedef struct mw_body {
  const mw_tokens *tokens;
  mw_names names;
  int (*block)(struct mw_body *, int open); /* reads statements in braces */
  int first, last; /* tokens */
  mw_expr *exprs;
  mw_statement *statements;
  mw_declared *declared;
  int nexprs, nstatements, ndeclared;
  int *begins;  /* of each token from `first` on: the longest expression that begins there; 0 */
  int *bound;   /* of each token: the declaration of the body that the name stands for; 0 */
  int *stands;  /* of each token: the outermost statement of a block that begins there; 0 */
  unsigned char *uses; /* of each token: what its reader finds to happen to a variable there; NULL */
  int deep;     /* token of the first statement that nests too deeply; 0 */
  int taken;    /* statements that are those of `old` */
  int depth, until, nvisible; /* while it is read: of the scope */
  int *visible;
  int *hashed, *below; /* of each hash: the last that can be seen; of each of those: the one before it; 0 */
  unsigned hashes;
  const struct mw_body *old;
} mw_body;

/* Reads tokens first ... last-1, which stand between the braces of a body. `old`: NULL, or the body of which this is an
 * edited copy, where each token that is copied says where it stood (`from`). Statements without edits are taken from
 * there, unless they name a variable that is another now; the edits must not declare a type that they name. */
void mw_body_read(mw_body *, const mw_tokens *, int first, int last, const mw_names *, const mw_body *old);
void mw_body_free(mw_body *);
/* The variables of one declaration, tokens first ... last-1, the ; left out, into out; returns their count. 0: it
 * declares none, or more than `most`, or it is not understood; T x(1) may declare a function. names: NULL for none. */
int mw_declared_read(const mw_tokens *, int first, int last, const mw_names *, mw_declared *out, int most);
bool mw_may_be_function(const mw_body *, int declared); /* T x(1), alone; T (*x)(int) */
/* The first declaration whose name is not before token `first`; they stand in the order of the text. */
int mw_declared_from(const mw_body *, int first);
/* The statement of a block that begins at token `first`; 0: none. */
int mw_statement_find(const mw_body *, int first);
/* Does a return, break, continue or goto begin among tokens first ... last-1? */
bool mw_has_jump(const mw_body *, int first, int last);
/* The longest expression that begins at token `first` and ends by `last`; 0: none, or it is not understood. */
int mw_body_find(const mw_body *, int first, int last);

/* The name that makes the size of an array declared by the __shared__ at that token known only when the kernel runs, such
 * as a parameter, and the array's; -1 if none (shared_size.c). */
int mw_shared_unsized(const mw_body *, int shared, int *array);
/* What to say of it: "the size of the shared array 's' ...", freed by mw_free. */
char *mw_shared_unsized_text(const mw_tokens *, int name, int array);

/* Past * and & and the words between them, which the type takes. */
int mw_signs_end(const mw_tokens *, int i, int last, mw_type *);
/* The type that the words and signs in first ... last-1 give; of a class where they are not all of a type's. */
mw_type mw_type_read(const mw_tokens *, int first, int last, const mw_names *);
/* A scalar or a pointer: its operators and conversions are the language's own. */
static inline bool mw_type_is_plain(mw_type type) {
  return type.levels > 0 || type.class == MW_TYPE_SCALAR;
}
/* Of a copy: neither a reference nor itself volatile. */
static inline mw_type mw_type_value(mw_type type) {
  type.reference = false;
  if (type.levels < 8) type.volatiles &= (unsigned char)~(1u << type.levels);
  return type;
}
bool mw_is_plain_number(const mw_token *); /* 12u, 1.5e3f; 3_t may call a function of the program's */

#endif
