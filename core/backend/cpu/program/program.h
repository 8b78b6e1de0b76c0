/* SPDX-License-Identifier: MIT
 *
 * A .cu source after preprocessing: its functions, its variables, how they reach barriers, and how a body's tokens
 * become C++. What the splitter (../split) cuts and the generator (../translate) writes stands on this.
 *
 * Everything refers to tokens by index, so nothing here owns text but the token list. */
#ifndef MW_CPU_PROGRAM_H
#define MW_CPU_PROGRAM_H

#include "core/backend/backend.h"
#include "core/compile/refusals.h"
#include "core/compile/source.h"
#include "core/source/body.h"
#include "core/source/builtin.h"
#include "core/source/declaration.h"
#include "core/source/declarator.h"

/* Why a token is not one that check mode takes (allowed.c). */
typedef enum cpu_barred {
  CPU_FREE,
  CPU_BARRED_ATTRIBUTE,
  CPU_BARRED_PRAGMA,
  CPU_BARRED_BUILTIN,
  CPU_BARRED_NAME,
  CPU_BARRED_TYPE,
  CPU_BARRED_HEADER,
  CPU_BARRED_DISGUISE,
} cpu_barred;

typedef enum cpu_mark { /* of a token */
  CPU_YIELDS = 1,  /* a condition begins here that waits for another thread (spin_wait.c) */
  CPU_COUNTED = 2, /* a loop begins here, the rounds of which are counted, in a condition ... */
  CPU_COUNTS = 4,  /* ... that begins here */
  CPU_WEAK = 8,    /* a "volatile" that check mode leaves out (ptx.c) */
  CPU_BARRED = 16, /* times a cpu_barred */
} cpu_mark;

static inline cpu_barred cpu_barred_of(const mw_token *token) {
  return (cpu_barred)(token->marks / CPU_BARRED);
}
static inline void cpu_bar(mw_token *token, cpu_barred why) {
  token->marks = (unsigned char)(token->marks % CPU_BARRED + CPU_BARRED * why);
}

typedef struct cpu_function {
  int         name;                                   /* token; a class is a function that holds all its members */
  bool        kernel, is_template, special, is_class; /* special: template <> */
  int         head_first, head_last;                  /* template header; equal: none */
  int         first, open, close;                     /* declaration, ( and ) of the parameters */
  int         body, last;                             /* { or -1: a prototype; one past } or ; */
  mw_formal *formals;
  int         nformals;
  int         max_threads;
  int         barrier;              /* token of the first barrier or warp operation it reaches; -1: none */
  int         own_barrier;          /* the first in its own body; -1: none */
  int         wait;                 /* token of its first loop that waits for another thread (spin_wait.c); -1: none */
  bool        counted;              /* it or what it calls has a loop that may wait (spin_wait.c) */
  bool        loops;                /* it or what it calls has a loop */
  int         by_parameter;         /* token of its first call of a parameter that may reach a barrier; -1: none */
  bool        reaches_thread;       /* it or what it calls reads threadIdx */
  bool        recursive, overloaded;
  bool        declared_within;      /* in a class or a body, too */
  enum { CPU_NOT_READ, CPU_IS_PURE, CPU_HAS_EFFECTS } pure; /* once it is asked for (pure.c) */
  mw_body    *tree;                 /* of its body, once it is asked for (cpu_function_tree); NULL */
  int        *calls, ncalls;        /* functions named in the body */
  const char *scope;                /* "ns::" or "" */
  const char *engine, *engine_why;  /* kernels only; owned by the program */
  char       *split;                /* generated block function where engine is "split"; owned */
  bool        strict;               /* what would be asked of the compiler is unknown (../split/known.c) */
  bool        ordered;              /* thread loops keep each thread's own order (../split/dependence.c) */
  bool        rereads;              /* and what functions that it calls read of ::threadIdx may be loaded again */
} cpu_function;

typedef enum cpu_item_kind {
  CPU_ITEM_TEXT,     /* passed on */
  CPU_ITEM_FUNCTION, /* kernel, device function, class */
  CPU_ITEM_VARIABLE, /* __device__ or __constant__ */
  CPU_ITEM_SHARED,   /* __shared__ outside of functions */
  CPU_ITEM_HOST,     /* left out: host code */
} cpu_item_kind;

typedef struct cpu_item {
  cpu_item_kind kind;
  int           first, last; /* tokens, a template header included */
  const char   *scope;
} cpu_item;

typedef struct cpu_variable {
  int         name; /* token */
  const char *scope;
  bool        is_const;
} cpu_variable;

typedef struct cpu_named { /* a name, and the words of its type */
  int  name, first, last;
  bool far; /* a pointer or an array */
  int  next; /* of the same name; -1 */
} cpu_named;

typedef struct cpu_named_list {
  cpu_named *at;
  int        count;
} cpu_named_list;

typedef struct cpu_name { /* what the text says of a word, wherever it stands (names.c) */
  int  token, next;   /* its first; of the same hash: index + 1 */
  bool typed;         /* after the name of a type */
  bool bare, taken;   /* not called; nor as an argument of a template that is called */
  bool method;        /* of some class */
  bool is_volatile;   /* a variable outside of functions, or a member, once spin_wait.c has read them */
  enum { CPU_MEMBER_NOT_READ, CPU_MEMBER_SCALAR, CPU_MEMBER_ANY } member; /* of whatever class (write.c) */
  int  global, alias; /* the first of that name; -1 */
  bool read, reads;   /* its meaning is; is being */
  unsigned char passed[2]; /* 1 + what calls do to arguments; with types named (write.c); 0: not asked yet */
  mw_meaning meaning;
} cpu_name;

typedef struct cpu_routine { /* what has statements: a function, a method, a block that the tree around it does not have */
  cpu_function function; /* with its tree, and the head of its class's template */
  int owner;             /* of the program's functions: it, or what it stands in */
} cpu_routine;

typedef struct cpu_routines {
  bool read;
  cpu_routine *at;
  int count;
  int *classes, nclasses; /* the { of each class */
} cpu_routines;

enum { CPU_BUCKETS = 512 };

typedef struct cpu_names {
  cpu_name *at;
  int count, first[CPU_BUCKETS]; /* by hash: index + 1; 0 */
} cpu_names;

/* What happens to a variable where its name stands (write.c): nothing, it is assigned to, or what is not known. */
typedef enum cpu_write { CPU_READ, CPU_CHANGED, CPU_ESCAPED } cpu_write;
/* What counts: what it points to as well, or a pointer alone. */
typedef enum cpu_kind { CPU_VALUE, CPU_POINTER } cpu_kind;

/* What a class's constructors, operators and the like reach, and other functions that are called where their names do
 * not stand (hidden.c). */
typedef struct cpu_hidden {
  cpu_function all;       /* what they reach, as if they were one function */
  bool      has_elements; /* they have subscripts, -> or *, by which they may reach what is not their own */
  bool      references;   /* some reference type has another name */
  bool      makes;        /* there are constructors, which may keep the object's address */
  bool      shares;       /* some member is a reference, or mutable: it may change where the object is a constant */
  cpu_write operand; /* of a scalar next to an operator: some may take it by reference, or make a class of it */
} cpu_hidden;

/* What is before `analysed` is known without the preprocessor: from the source, or from the cache. */
typedef struct cpu_program {
  mw_cache_key  key;    /* of source, options, compiler, shim and this program itself */
  mw_source     source; /* its own copy */
  bool          cacheable;
  bool          checked; /* check mode judges it: what could hide an access is refused (allowed.c) */
  struct cpu_declared *declared; /* ../translate/unit.h */
  int           ndeclared;
  bool          has_variables;

  struct mw_front *front; /* its device code, which is compiled instead of it; NULL: the source as it is */
  char         *device_code;
  mw_refusals   refused; /* kernels that its text is without, because they do not compile */
  mw_error      barred;  /* what check mode has refused first (allowed.c); status 0: nothing */

  bool          analysed; /* what follows is filled */
  mw_tokens     tokens;
  mw_token      in_step; /* where lanes of a warp are first taken to run in step; size 0: nowhere (lockstep.c) */
  cpu_item     *items;
  int           nitems;
  cpu_function *functions;
  int           nfunctions;
  cpu_variable *variables;
  int           nvariables;
  cpu_names     names;
  cpu_named_list aliases, globals; /* other names of types, and variables and enumerators outside of functions */
  mw_token      *groups;           /* further names of what threads meet by, such as sums for cub::BlockReduce<int, 64> */
  int            ngroups;
  bool          operators;         /* some are declared */
  bool          opens;             /* a namespace such as std, whose functions may take references: swap(n, m) */
  cpu_hidden    hidden;
  cpu_routines  *routines; /* once they are asked for */
} cpu_program;

enum { CPU_MOST_DECLARED = 16 }; /* variables of one declaration that are looked at */

/* Fills names, aliases, globals and operators (names.c). */
void cpu_names_read(cpu_program *);
/* What the text says of the word; NULL: it does not have it. */
cpu_name *cpu_name_find(const cpu_program *, const mw_token *);
bool cpu_has_word(const cpu_program *, const char *word); /* somewhere in the text */
/* For a body of `function`: what it means by a name that it does not declare. */
typedef struct cpu_binder {
  const cpu_program *program;
  const cpu_function *function; /* or NULL */
} cpu_binder;
mw_meaning cpu_binder_meaning(void *binder, const mw_token *name);
/* A function's body, over the program's own tokens; the function has one and is no class. */
mw_body *cpu_function_tree(const cpu_program *, const cpu_function *);
/* The innermost tree around a token; NULL: none (write.c). */
mw_body *cpu_tree_around(const cpu_program *, int token);
/* Everything that has statements (routine.c). */
const cpu_routines *cpu_routines_of(const cpu_program *);
void cpu_routines_free(cpu_program *);
/* What the words of a type, tokens first ... last-1, say of its operators, constructors and conversions. CPU_ASKED: the
 * compiler knows; the template parameters are those of `function`, or NULL. */
typedef enum cpu_knowledge { CPU_UNKNOWN, CPU_ASKED, CPU_KNOWN, CPU_SCALAR /* and no class */ } cpu_knowledge;
cpu_knowledge cpu_type_knows(const cpu_program *, const cpu_function *, const mw_tokens *, int first, int last);
/* Fills hidden, which needs what functions reach, and tells the kernels (hidden.c). */
void cpu_hidden_read(cpu_program *);

/* Where code counts on the lanes of a warp to run in step, makes them meet. True: the tokens are others now, and what
 * was read of them is not right any more (lockstep.c). */
bool cpu_lockstep_write(cpu_program *);
/* Loops that wait for what another thread writes (spin_wait.c). */
void cpu_spin_waits_find(cpu_program *);
/* Calls, barriers and recursion of the functions; rejects what the CPU device does not have (callgraph.c). */
mw_status cpu_callgraph_read(cpu_program *, mw_error *);

/* The first function called `token` that comes after the function of index `after` (-1: any); -1: none. */
int  cpu_function_next(const cpu_program *, const mw_token *token, int after);
/* The same of what the name at token i may call: where that is a call, of classes with such a method too. */
int  cpu_callee_next(const cpu_program *, const mw_tokens *, int i, int after);
bool cpu_function_named(const cpu_program *, const cpu_function *, const mw_token *token); /* is it called `token`? */
/* A member of a class that is defined outside of it, or a specialisation. */
bool cpu_function_is_member(const cpu_program *, const cpu_function *);
bool cpu_class_defines(const cpu_program *, const cpu_function *, const mw_token *name);    /* a method of that name? */
/* The name of the class's next method after token `after` (0: the first); 0: none, or it is no class. */
int cpu_method_next(const cpu_program *, const cpu_function *, int after);
/* The words before the parameter of that name of the function's template: int of template <int N>; last 0: none. */
mw_span cpu_template_words(const cpu_program *, const cpu_function *, const mw_token *name);
/* Is the name a parameter of the function's template, such as f of template <void (*f)(int)>? */
bool cpu_is_template_value(const cpu_program *, const cpu_function *, const mw_token *name);
void cpu_call_note(cpu_function *, int callee);
void cpu_reach_take(cpu_function *, const cpu_function *callee);
/* Takes what tokens first ... last-1 name, as what the function reaches; cpu_calls_take: and what they reach. False: that
 * is known. */
void cpu_names_take(cpu_program *, cpu_function *, int first, int last);
bool cpu_calls_take(const cpu_program *, cpu_function *);
/* Marks what the function calls, directly or not, in an array of one element per function. */
void cpu_called(const cpu_program *, const cpu_function *, bool *reached);
/* Does a function that it calls read threadIdx? Then the loop over the threads must set it. */
bool cpu_calls_for_index(const cpu_program *, const cpu_function *);
/* Does it compute its value from its arguments and what they point to, and change nothing (pure.c)? */
bool cpu_function_is_pure(const cpu_program *, const cpu_function *);
const mw_formal *cpu_formal_find(const cpu_program *, const cpu_function *, const mw_token *name); /* NULL: it has none */
bool cpu_is_formal(const cpu_program *, const cpu_function *, const mw_token *name); /* one of its parameters? */
extern const char *const cpu_function_names[]; /* __func__ and the like: what gives the name of the function around it */
bool cpu_function_has(const cpu_program *, const cpu_function *, const char *word); /* among the tokens of its body */

/* Does the function get or make a group there, or meet others? */
bool cpu_is_meeting(const cpu_program *, int i);
bool cpu_is_group(const cpu_program *, const mw_token *); /* a name of what threads meet by; not cooperative_groups */
bool cpu_is_group_call(const cpu_program *, int i); /* tile.shfl_down(v, 1), where the program has cooperative groups */
/* Makes C++ of the asm statements whose PTX is known; what is in the one at token i that is not, for a message, which
 * the caller frees (ptx.c). */
void  cpu_ptx_rewrite(mw_tokens *);
char *cpu_ptx_unknown(const mw_tokens *, int i);
/* Gives kernels that C++ tells apart by their parameters names of their own; of such a name what users know (overloads.c). */
void cpu_overloads_rename(mw_tokens *);
int  cpu_known_size(const char *name, int size);
/* The host's copy constructors and destructors become the compiler's own (copies.c). */
void  cpu_copies_rewrite(mw_tokens *);
/* Marks what check mode does not take, before any text of moonwarp's own is among the tokens (allowed.c); then refuses
 * it in what is compiled. */
void      cpu_allowed_read(mw_tokens *);
mw_status cpu_allowed_check(cpu_program *, mw_error *);
/* Why check mode does not take the template arguments of an instance, which the caller frees; NULL: it does. */
char *cpu_allowed_name(const char *asked);
const char *cpu_where(const cpu_program *, int token); /* "x.cu:12" of a token; a static buffer */

void cpu_uses_read(const cpu_program *, mw_body *); /* the body keeps them */
cpu_write cpu_use_at(const mw_body *, int token, cpu_kind);
/* Has the lambda nothing of its own but references to variables? */
bool cpu_refers_alone(const mw_body *, const mw_expr *lambda);
/* Does any use of the name in tokens first ... last-1 change it, or let it escape? */
bool cpu_is_written(const mw_body *, int first, int last, const mw_token *name);
/* In a function of the program's: tokens are its own. */
cpu_write cpu_write_at(const cpu_program *, const mw_tokens *, int i, cpu_kind);
bool cpu_written_in(const cpu_program *, const mw_tokens *, int first, int last, const mw_token *name, cpu_kind);
bool cpu_is_generated(const mw_token *);                          /* mw_x */
bool cpu_is_renamed(const mw_token *);                            /* x_mw3: a helper's own name */
bool cpu_is_object(const cpu_program *, const mw_token *name);    /* may it be another than its functions? */
bool cpu_is_declared(const cpu_program *, const mw_token *name); /* may the program give the name a meaning of its own? */

/* Tokens of a body as C++ (body.c): CUDA's qualifiers and declarations rewritten; shared: what __shared__ becomes. */
extern const char cpu_tls_shared[];                /* the worker's own, laid out by the compiler */
extern const char cpu_placed[], cpu_placed_kept[]; /* laid out by the linker, kept by each worker */
void cpu_emit_tokens(const mw_tokens *, mw_text *, int first, int last, const char *shared);
/* Of an item that is static shared memory: the structure that places it, and the variable by which that is called; else
 * nothing, and NULL. */
const mw_token *cpu_item_place(const cpu_program *, const cpu_item *);
void cpu_emit_place(const cpu_program *, mw_text *, const cpu_item *);
/* May the function mean the item's variable by that name? It may declare the name itself. */
bool cpu_may_mean(const cpu_program *, const cpu_function *, const cpu_item *, const mw_token *name);
/* Local declarations, for the function, of the shared variables of items that the tokens name. */
void cpu_emit_shared(const cpu_program *, const cpu_function *, mw_text *, const mw_tokens *, mw_span);
/* Declaration tokens of a function without storage class. */
void cpu_emit_declaration(const cpu_program *, mw_text *, int first, int last);

#endif
