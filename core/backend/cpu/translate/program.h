/* SPDX-License-Identifier: MIT
 *
 * A .cu source after preprocessing: its functions, variables and how they reach barriers. The common ground of the
 * analysis here, of the splitter (../split), of the generator (emit.c) and of unit.c.
 *
 * Everything refers to tokens by index, so nothing here owns text but the token list. */
#ifndef MW_CPU_PROGRAM_H
#define MW_CPU_PROGRAM_H

#include "core/source/lexer.h"
#include "core/backend/cpu/translate/unit.h"
#include "core/compile/cache.h"

enum { CPU_MOST_PARAMS = 128 };

typedef struct cpu_formal { /* a parameter as declared */
  int first, last;          /* tokens of its declaration, default argument excluded */
  int name;                 /* token; -1: unnamed */
} cpu_formal;

typedef struct cpu_function {
  int         item;
  int         name;                 /* token; a class stands here as a function that holds all its members */
  bool        kernel, is_template, special, is_class; /* special: template <> */
  int         head_first, head_last; /* template header; equal: none */
  int         first, open, close;   /* declaration, ( and ) of the parameters */
  int         body, last;           /* { or -1: a prototype; one past } or ; */
  cpu_formal *formals;
  int         nformals;
  int         max_threads;
  int         barrier;              /* token of the first barrier or warp operation it reaches; -1: none */
  int         own_barrier;          /* the first in its own body; -1: none */
  int         wait;                 /* token of the first loop in it that waits for another thread (wait.c); -1: none */
  bool        reaches_thread;       /* it or what it calls reads threadIdx */
  bool        recursive, overloaded;
  int        *calls, ncalls;        /* functions named in the body */
  const char *scope;                /* "ns::" or "" */
  const char *engine, *engine_why;  /* kernels only; owned by the program */
  char       *split;                /* generated block function where engine is "split"; owned */
} cpu_function;

typedef enum cpu_item_kind {
  CPU_ITEM_TEXT,     /* passed on */
  CPU_ITEM_FUNCTION, /* kernel, device function, class */
  CPU_ITEM_VARIABLE, /* __device__ or __constant__ */
  CPU_ITEM_SHARED,   /* extern __shared__ outside of functions */
  CPU_ITEM_HOST,     /* left out: host code */
} cpu_item_kind;

typedef struct cpu_item {
  cpu_item_kind kind;
  int           first, last; /* tokens */
  int           function;    /* index, or -1 */
  const char   *scope;
} cpu_item;

typedef struct cpu_variable {
  int         name; /* token */
  const char *scope;
  bool        is_const;
} cpu_variable;

/* What cpu_program_parse finds out; serialised into the cache, so that a hit needs no preprocessor. */
struct cpu_program {
  mw_cache_key  key; /* of source, options, compiler, shim and this program itself */
  char         *name, *folder, *text, *standard, *engine;
  char        **includes, **defines, **templates; /* NULL-terminated */
  bool          fast_math, line_info, no_contract, no_cache;
  bool          cacheable;
  cpu_declared *declared;
  int           ndeclared;
  bool          has_variables;

  bool          analysed; /* what follows is filled */
  char         *preprocessed;
  cpu_tokens    tokens;
  cpu_item     *items;
  int           nitems;
  cpu_function *functions;
  int           nfunctions;
  cpu_variable *variables;
  int           nvariables;
  char        **strings; /* owned texts */
  int           nstrings;
};

/* Items, functions and variables of the tokens (declaration.c). */
void cpu_declarations_read(cpu_program *);
/* Loops that wait for what another thread writes (wait.c). */
void cpu_waits_find(cpu_program *);
/* Calls, barriers and recursion of the functions; refuses what the CPU device does not have (reach.c). */
mw_status cpu_reach(cpu_program *, mw_error *);

/* Items, functions and reachability from program->tokens. MW_UNSUPPORTED: names what the CPU device does not have. */
mw_status cpu_program_analyse(cpu_program *, mw_error *);
/* Preprocesses and analyses where that has not been done: a hit in the cache needs neither. */
mw_status   cpu_program_need(cpu_program *, mw_error *);
const char *cpu_program_string(cpu_program *, char *text); /* takes ownership */
/* The function called `token`; -1: none. */
int  cpu_function_find(const cpu_program *, const cpu_token *token);
bool cpu_function_has(const cpu_program *, const cpu_function *, const char *word); /* among the tokens of its body */

/* Is it a barrier or warp operation, by name? */
bool cpu_is_warp_operation(const cpu_token *);
bool cpu_is_barrier(const cpu_token *);
bool cpu_is_group(const cpu_token *); /* a name of cooperative groups */
/* "x.cu:12" of a token; a static buffer. */
const char *cpu_where(const cpu_program *, int token);

/* Index of the token after the > that closes the < at `open`; `open` + 1 where it closes nothing. */
int cpu_angle_end(const cpu_tokens *, int open, int last);

/* Sets engine and engine_why of every kernel (engine.c). */
mw_status cpu_engines_choose(cpu_program *, mw_error *);
void      cpu_engines_demote(cpu_program *, const char *why); /* every split kernel becomes a fiber kernel */
/* The split form of a kernel, taken out of it (NULL: it has none) and put back. Without it fibers or a loop run it. */
char     *cpu_split_take(cpu_function *);
void      cpu_split_give(cpu_function *, char *form);
void      cpu_split_fail(cpu_program *, cpu_function *, const char *why); /* it is not put back, for this reason */
/* The block function of a kernel, or NULL with the reason why it cannot be split (../split/split.c). */
char *cpu_split(cpu_program *, cpu_function *, char *why, size_t why_size);

/* Must the thread loops leave the order within a thread to the compiler's own analysis (../split/order.c)? */
bool cpu_needs_order(const cpu_program *, const cpu_function *kernel);

/* How the blocks of a barrier-free kernel may be walked: an mw_walk of shim/entry.h (walk.c). */
const char *cpu_walk(const cpu_program *, const cpu_function *);

/* The generated C++ (emit.c); asked: kernels to list, as asked for, NULL-terminated. */
char *cpu_emit(const cpu_program *, cpu_flavor, const char *const *asked);
/* Tokens of a body with CUDA's qualifiers and declarations rewritten; shared: what __shared__ becomes. */
extern const char cpu_placed[], cpu_placed_kept[]; /* shared: laid out by the linker, kept by each worker */
void cpu_emit_tokens(const cpu_tokens *, cpu_text *, int first, int last, const char *shared);
/* Local declarations of the extern __shared__ arrays that the tokens name. */
void cpu_emit_shared(const cpu_program *, cpu_text *, const cpu_tokens *, int first, int last);
/* A function that gives the size of a function's static shared memory: k_mw_shared (shared.c). */
void cpu_shared_size_put(const cpu_program *, const cpu_function *, cpu_text *);
/* Declaration tokens of a function without storage class. */
void cpu_emit_declaration(const cpu_program *, cpu_text *, int first, int last);

/* compiler.c */
typedef struct cpu_toolchain {
  char path[512];
  char version[128]; /* "clang++ 14.0.6" */
  bool clang;
} cpu_toolchain;

mw_status cpu_toolchain_find(cpu_toolchain *out, mw_error *);
void      cpu_toolchain_identity(char *out, size_t size); /* of every compiler in question and this CPU; no process */
mw_status cpu_preprocess(const cpu_program *, char **out, mw_error *);
/* bytes may be NULL: then the text is checked, and no code is made. */
mw_status cpu_compile(const cpu_program *, const char *generated, void **bytes, size_t *size, char **log, mw_error *);

#endif
