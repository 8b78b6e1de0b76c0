/* SPDX-License-Identifier: MIT
 *
 * Whether the thread loops of a kernel may be called free of dependences. CUDA orders nothing between threads, so the
 * loops carry pragmas that say so (MW_VECTOR_LOOP in shim/entry.h). But both compilers' vectorisers then gather the
 * loads that lie side by side in records of one thread (m[1] and m[3] of m = a + 4 * t) at the first of them, and such
 * stores at the last, above and below what the same thread stores or loads in between. A kernel in which that could
 * happen has MW_ORDERED_LOOP.
 *
 * The loops set ::threadIdx, which the functions that they call read. As far as a compiler knows a store through a pointer
 * may be to it, so it is loaded again after one; and what a free loop loads from one place may be what another thread
 * has left there:
 *
 *   __device__ unsigned turn() { return threadIdx.x % 2; }     m[m[0]] = 7; x = m[turn()];
 *
 * A kernel in which that could happen has MW_INDEX_LOOP.
 *
 * Only accesses of a constant step of more than one element form such groups. Not so: subscripts that grow by one from
 * thread to thread, stay, or step by what is known only at run time. Whatever is not understood counts as a group. */
#include <stdlib.h>
#include <string.h>

#include "core/backend/cpu/program/growth.h"
#include "core/backend/cpu/split/split.h"

enum { MOST_NAMES = 200, MOST_ACCESSES = 300, MOST_DEPTH = 6 };

typedef struct access {
  const mw_token *base; /* the array's name; NULL: may be any */
  bool own;             /* an array of the block or thread: no other name overlaps it */
  bool restricted;      /* __restrict__ */
  bool store, grouped;
  enum { MEMORY, BARRIER, EXCHANGE, ATOMIC, INDEX } kind; /* EXCHANGE: of a warp; INDEX: ::threadIdx is read */
} access;

typedef struct reader {
  const cpu_program *program;
  const mw_tokens *tokens;
  const mw_token *at;
  const cpu_function *function;
  const mw_body *tree;
  mw_declared names[MOST_NAMES];
  int nnames, nformals;
  bool structs; /* variables of a class type live in arrays of one element per thread */
  struct reader *kernel;
  int depth;
  /* of the kernel's reader: */
  access list[MOST_ACCESSES], pending[16];
  int pending_at[16]; /* the token that is assigned to */
  int count, npending;
  bool unsure;
} reader;

/* ---- names ----------------------------------------------------------------------------------------------------- */

static void name_add(reader *in, const mw_declared *one) {
  in->names[in->nnames++] = *one;
  if (in->nnames == MOST_NAMES) in->kernel->unsure = true;
}

static void names_read(reader *in) {
  const cpu_function *function = in->function;
  cpu_binder binder = {in->program, function};
  mw_declared one;
  for (int i = 0; i < function->nformals && in->nnames < MOST_NAMES; i++) {
    const mw_formal *it = &function->formals[i];
    if (mw_declared_read(in->tokens, it->first, it->last, &(mw_names){cpu_binder_meaning, &binder, false}, &one, 1))
      name_add(in, &one);
  }
  in->nformals = in->nnames;
  for (int i = 1; i < in->tree->ndeclared && in->nnames < MOST_NAMES; i++) {
    const mw_declared *it = &in->tree->declared[i];
    if (it->spec <= it->name && !it->is_type && !mw_may_be_function(in->tree, i)) name_add(in, it);
  }
  for (int i = 1; i < in->tree->nstatements; i++) in->kernel->unsure |= in->tree->statements[i].wrong;
}

/* The one declaration of a name; -1: none, -2: several. */
static int name_find(const reader *in, int token) {
  int found = -1;
  for (int i = 0; i < in->nnames; i++)
    if (mw_same_text(&in->at[in->names[i].name], &in->at[token])) found = found == -1 ? i : -2;
  return found;
}

static bool is_pointer(const reader *in, const mw_declared *it) {
  return mw_has(in->tokens, it->first, it->name, "*");
}

/* Of a type that is read and written as one. */
static bool is_scalar(const reader *in, const mw_declared *it) {
  const cpu_knowledge type = cpu_type_knows(in->program, in->function, in->tokens, it->spec, it->spec_last);
  return type == CPU_ASKED || type == CPU_SCALAR; /* of a parameter of the template's nothing but the whole is used */
}

static bool is_changed(const reader *in, int name) {
  const mw_declared *it = &in->names[name];
  const int first = in->function->body + 1, last = in->function->last, after = it->name < first ? first : it->name + 1;
  const cpu_kind kind = CPU_POINTER;
  return cpu_written_in(in->program, in->tokens, first, it->name, &in->at[it->name], kind) ||
         cpu_written_in(in->program, in->tokens, after, last, &in->at[it->name], kind);
}

static bool is_cast(const reader *in, int open) {
  for (int i = open + 1; i < in->at[open].match; i++)
    if (!mw_token_any(&in->at[i], WORDS("int", "unsigned", "long", "size_t", "uint32_t", "int32_t", "uint64_t",
                                        "int64_t", "float", "double")))
      return false;
  return in->at[open].match > open + 1;
}

/* Subscripts [a][b] at token i: does the address grow by at most one element from thread to thread? */
static bool subscripts_flat(const reader *in, int i) {
  cpu_grower grower = cpu_function_grower(in->program, in->function);
  for (; mw_token_is(&in->at[i], "["); i = in->at[i].match + 1) {
    const int close = in->at[i].match, expr = mw_body_find(grower.body, i + 1, close);
    const cpu_growth found = cpu_growth_of(&grower, expr);
    const bool inner = !mw_token_is(&in->at[close + 1], "[");
    if (grower.body->exprs[expr].last != close || !found.known || labs(found.by) > inner) return false;
  }
  return !mw_token_is(&in->at[i], ".") && !mw_token_is(&in->at[i], "->");
}

/* ---- accesses -------------------------------------------------------------------------------------------------- */

static void access_add(reader *in, access one) {
  reader *kernel = in->kernel;
  if (in != kernel && one.kind == MEMORY) one = (access){.store = one.store, .grouped = true};
  if (kernel->count == MOST_ACCESSES)
    kernel->unsure = true;
  else
    kernel->list[kernel->count++] = one;
}

/* What is assigned to is stored after what stands to the right has been loaded. */
static void pending_add(reader *in, int i, access one) {
  in->pending_at[in->npending % 16] = i;
  if (in->npending == 16)
    in->kernel->unsure = true;
  else
    in->pending[in->npending++] = one;
}

/* Those after token i: the last ones. */
static void pending_flush(reader *in, int i) {
  int first = in->npending;
  while (first > 0 && in->pending_at[first - 1] > i) first--;
  for (int k = first; k < in->npending; k++) access_add(in, in->pending[k]);
  in->npending = first;
}

static bool ends_operand(const reader *in, int i) {
  return mw_ends_operand(&in->at[i]) && !(mw_token_is(&in->at[i], ")") && is_cast(in, in->at[i].match));
}

static bool is_unary(const reader *in, int i, const char *sign) {
  return mw_token_is(&in->at[i], sign) && !ends_operand(in, i - 1);
}

/* Past subscripts, members and closing brackets of what begins at `first`. */
static int chain_end(const reader *in, int first, int i) {
  for (;;) {
    if (mw_token_is(&in->at[i], "["))
      i = in->at[i].match + 1;
    else if (mw_token_is(&in->at[i], ".") || mw_token_is(&in->at[i], "->"))
      i += 2;
    else if (mw_token_is(&in->at[i], ")") && in->at[i].match == first - 1 && !ends_operand(in, first - 2))
      first--, i++;
    else
      return i;
  }
}

static void access_put(reader *in, int first, int after, access one) {
  int end = chain_end(in, first, after);
  const mw_token *next = &in->at[end];
  bool assigned = mw_token_is(next, "=");
  bool counted = mw_token_any(next, WORDS("++", "--")) || mw_token_any(&in->at[first - 1], WORDS("++", "--"));
  bool updated = mw_token_any(next, WORDS("+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="));
  bool address = is_unary(in, first - 1, "&");
  if (address) one.grouped = false;
  if (!assigned) access_add(in, one);
  one.store = true;
  if (counted || address) access_add(in, one);
  if (assigned || updated) pending_add(in, first, one);
}

/* Where the object begins whose member stands at i: v of v.u.p, w[0].p */
static int object_first(const reader *in, int i) {
  while (mw_is_member(in->tokens, i))
    for (i -= 2; in->at[i].match >= 0 && in->at[i].match < i;) i = in->at[i].match - 1;
  return i;
}

/* Does the name at i have more subscripts than the array, whose elements are pointers? */
static bool leaves_array(const reader *in, const mw_declared *it, int i) {
  int end = i + 1;
  for (int d = it->dims; d < it->dims_last && mw_token_is(&in->at[end], "["); d = in->at[d].match + 1)
    end = in->at[end].match + 1;
  return it->dims_last > it->dims && mw_token_is(&in->at[end], "[");
}

static void element_put(reader *in, int i, int name) {
  const mw_declared *it = name >= 0 ? &in->names[name] : NULL;
  access one = {.base = &in->at[i], .grouped = true};
  if (name == -2) one.base = NULL;
  if (it && leaves_array(in, it, i)) {
    one.base = NULL;
  } else if (it && it->is_shared) {
    one.own = true;
    one.grouped = !is_scalar(in, it) || !subscripts_flat(in, i + 1);
  } else if (it && name < in->nformals && !is_changed(in, name)) {
    one.restricted = mw_has(in->tokens, it->first, it->name, "__restrict__");
    one.grouped = !is_scalar(in, it) || !subscripts_flat(in, i + 1);
  } else if (it && it->dims_last > it->dims && !is_pointer(in, it))
    one.own = true;
  else if (it)
    one.base = NULL;
  access_put(in, i, i + 1, one);
}

/* Past an operand that begins at token i: p, (p + i), f(p), (float *)(p + i). */
static int operand_end(const reader *in, int i) {
  while (mw_token_any(&in->at[i], WORDS("*", "&", "++", "--")) ||
         (mw_token_is(&in->at[i], "(") && mw_token_is(&in->at[in->at[i].match - 1], "*")))
    i = mw_token_is(&in->at[i], "(") ? in->at[i].match + 1 : i + 1;
  if (mw_token_is(&in->at[i], "(")) return in->at[i].match + 1;
  const int open = in->at[i].kind == MW_TOKEN_NAME ? mw_call_open(in->tokens, i) : -1;
  return open >= 0 ? in->at[open].match + 1 : i + 1;
}

/* *p; *(p + i) */
static void target_put(reader *in, int star) {
  int name = in->at[star + 1].kind == MW_TOKEN_NAME ? name_find(in, star + 1) : -2;
  access one = {.grouped = true};
  if (name >= 0 && name < in->nformals && !is_changed(in, name)) {
    one.base = &in->at[star + 1];
    one.grouped = !is_scalar(in, &in->names[name]);
  }
  access_put(in, star, operand_end(in, star + 1), one);
}

/* ---- statements ------------------------------------------------------------------------------------------------ */

static void range_read(reader *in, int first, int last);

static void function_read(reader *in, const cpu_program *program, const cpu_function *function) {
  in->program = program, in->tokens = &program->tokens, in->at = program->tokens.at;
  in->function = function;
  in->tree = cpu_function_tree(program, function);
  names_read(in);
  range_read(in, function->body + 1, function->last);
  pending_flush(in, 0);
}

/* What follows in one round may be preceded by it in the next. The `while` of a do is no statement. */
static int loop_read(reader *in, int i) {
  const int statement = mw_statement_find(in->tree, i), end = statement ? in->tree->statements[statement].last : i + 1;
  if (in->depth > MOST_DEPTH) in->kernel->unsure = true;
  in->depth++;
  for (int round = 0; round < 2 && !in->kernel->unsure; round++) range_read(in, i + 1, end);
  in->depth--;
  return end;
}

static void helper_read(reader *in, const cpu_function *helper) {
  if (in->depth > MOST_DEPTH || helper->recursive) in->kernel->unsure = true;
  if (helper->body < 0 || helper->kernel || helper->is_class || in->kernel->unsure) return;
  reader *inner = mw_calloc(1, sizeof *inner);
  inner->kernel = in->kernel, inner->depth = in->depth + 1;
  function_read(inner, in->program, helper);
  mw_free(inner);
}

/* What methods do to memory is not followed: may those of this name have elements? functor: a variable is called. */
static bool method_has_elements(const reader *in, const mw_token *name, bool functor) {
  for (int i = 0; i < in->program->nfunctions; i++) {
    const cpu_function *class = &in->program->functions[i];
    bool called =
        functor ? cpu_function_has(in->program, class, "operator") : cpu_class_defines(in->program, class, name);
    const bool far = mw_find(in->tokens, class->first, class->last, WORDS("[", "->", "*", "&")) < class->last;
    if (class->is_class && called && far) return true;
  }
  return false;
}

/* Does a class have a method of this name, and read threadIdx in any? */
static bool method_reads_index(const reader *in, const mw_token *name, bool functor) {
  for (int i = 0; i < in->program->nfunctions; i++) {
    const cpu_function *class = &in->program->functions[i];
    if (class->is_class && class->reaches_thread && (functor || cpu_class_defines(in->program, class, name)))
      return true;
  }
  return false;
}

static bool may_point(const reader *in, const mw_token *name) {
  for (int i = 0; i < in->nnames; i++)
    if (mw_same_text(&in->at[in->names[i].name], name) &&
        (is_pointer(in, &in->names[i]) || in->names[i].dims_last > in->names[i].dims))
      return true;
  return false;
}

/* A call of what CUDA or the library has: may it write by an argument, memcpy(p + i, &q, 4), std::swap(a[i], q)? */
static bool call_writes(const reader *in, int i, int open) {
  if (mw_is_builtin(&in->at[i], MW_CUDA_PURE | MW_CUDA_FRESH | MW_CUDA_FENCE | MW_CUDA_BARRIER | MW_CUDA_WARP))
    return false;
  if (i > 1 && mw_token_is(&in->at[i - 1], "::") && mw_token_is(&in->at[i - 2], "std")) return true;
  for (int k = open + 1; k < in->at[open].match; k++)
    if (in->at[k].kind == MW_TOKEN_NAME && !mw_token_is(&in->at[k + 1], "[") && may_point(in, &in->at[k])) return true;
  return false;
}

/* Does a function of that name give a reference? */
static bool gives_reference(const reader *in, const mw_token *name) {
  const char *const *const words = WORDS("&", "&&", "decltype");
  int k = -1;
  while ((k = cpu_function_next(in->program, name, k)) >= 0) {
    const cpu_function *it = &in->program->functions[k];
    if (in->program->hidden.references || mw_find(in->tokens, it->first, it->name, words) < it->name) return true;
  }
  return false;
}

static int call_read(reader *in, int i) {
  int open = mw_call_open(in->tokens, i), close = in->at[open].match;
  if (mw_token_is(&in->at[i], "decltype")) in->kernel->unsure = true;     /* it may declare a reference */
  if (mw_token_any(&in->at[i], WORDS("sizeof", "alignof"))) return close; /* nothing in it is computed */
  bool functor = name_find(in, i) != -1, method = functor || mw_is_member(in->tokens, i);
  range_read(in, open + 1, close);
  if (functor || gives_reference(in, &in->at[i])) access_put(in, i, close + 1, (access){.grouped = true});
  if (in->at[i].size > 6 && !memcmp(in->at[i].text, "atomic", 6)) access_add(in, (access){.kind = ATOMIC});
  if (mw_is_builtin(&in->at[i], MW_CUDA_EXCHANGE)) access_add(in, (access){.kind = EXCHANGE});
  if (method && method_reads_index(in, &in->at[i], functor)) access_add(in, (access){.kind = INDEX});
  if (method && method_has_elements(in, &in->at[i], functor)) in->kernel->unsure = true;
  if (!method && cpu_function_next(in->program, &in->at[i], -1) < 0 && cpu_is_declared(in->program, &in->at[i]) &&
      !cpu_type_knows(in->program, in->function, in->tokens, i, open)) /* T(1) */
    in->kernel->unsure = true;
  int k = -1, found = 0;
  for (; !method && (k = cpu_function_next(in->program, &in->at[i], k)) >= 0; found++)
    helper_read(in, &in->program->functions[k]);
  if (!found && !functor && call_writes(in, i, open)) access_add(in, (access){.store = true, .grouped = true});
  return close;
}

static bool is_cut(const reader *in, int i) {
  return mw_is_builtin(&in->at[i], MW_CUDA_CUT) && in->kernel == in &&
         mw_token_any(&in->at[i - 1], WORDS(";", "{", "}", ")"));
}

/* int &q; and of a type that may be another name of a reference's */
static bool is_reference(const reader *in, const mw_declared *it) {
  return mw_has(in->tokens, it->first, it->name, "&") || mw_has(in->tokens, it->first, it->name, "&&") ||
         (in->program->hidden.references && !is_scalar(in, it) && !is_pointer(in, it));
}

static void name_read(reader *in, int i) {
  int name = name_find(in, i);
  const mw_declared *it = name >= 0 ? &in->names[name] : NULL;
  const mw_token *next = &in->at[i + 1];
  if (it && it->name == i) {
    if (it->dims_last > it->dims && it->value_last > it->value)
      pending_add(in, i, (access){.base = &in->at[i], .own = true, .store = true, .grouped = true});
  } else if (is_unary(in, i - 1, "*"))
    ; /* seen at the star */
  else if (mw_token_is(next, "["))
    element_put(in, i, name);
  else if (mw_token_is(next, ".") && it && in->program->hidden.shares && !is_scalar(in, it))
    access_put(in, i, i + 1, (access){.grouped = true}); /* its member may be a reference */
  else if (mw_token_is(next, "->") || (it && is_reference(in, it) && (name >= in->nformals || in->kernel != in)))
    access_put(in, i, i + 1, (access){.grouped = true});
  else if (it && in->structs && name >= in->nformals && !is_scalar(in, it) && !is_pointer(in, it) &&
           !mw_token_is(&in->at[it->spec_last - 1], "auto"))
    access_put(in, i, i + 1, (access){.base = &in->at[i], .own = true, .grouped = true});
}

/* Is the member at i an array in every class that has it, and the object a variable of the thread's own? */
static bool is_own_array(const reader *in, int i) {
  const mw_token *at = in->at;
  const int name = name_find(in, object_first(in, i));
  const mw_declared *it = name >= 0 ? &in->names[name] : NULL;
  const bool further = mw_token_is(&at[at[i + 1].match + 1], "["); /* of pointers, perhaps */
  if (!it || further || is_pointer(in, it) || is_reference(in, it) || it->is_shared) return false;
  bool found = false;
  for (int k = 0; (k = mw_find_use(in->tokens, k, in->tokens->count, &at[i])) < in->tokens->count; k++) {
    const int open = mw_enclosing(in->tokens, 0, k);
    const int head = open < 0 ? 0 : mw_begin_after(in->tokens, 0, open, WORDS(";", "{", "}"));
    if (open < 0 || mw_class_braces(in->tokens, head, open + 1) != open) continue;
    if (!mw_token_is(&at[k + 1], "[") || mw_token_is(&at[k - 1], "*")) return false;
    found = true;
  }
  return found;
}

/* At a [: what a lambda does to memory is done where it is called, and auto &[u, v] = p gives other names to members. */
static bool is_elsewhere(const reader *in, int i) {
  const int open = mw_lambda_open(in->tokens, i);
  const bool binds = mw_token_is(&in->at[mw_token_any(&in->at[i - 1], WORDS("&", "&&")) ? i - 2 : i - 1], "auto");
  return binds ||
         (open && mw_find(in->tokens, open, in->at[open].match, WORDS("[", "->", "*", "&", "(")) < in->at[open].match);
}

static void range_read(reader *in, int first, int last) {
  for (int i = first; i < last && !in->kernel->unsure; i++) {
    const mw_token *token = &in->at[i];
    if (mw_token_is(token, "[") && is_elsewhere(in, i)) in->kernel->unsure = true;
    if (mw_token_is(token, ";")) pending_flush(in, 0);
    if (mw_token_is(token, ")")) pending_flush(in, token->match); /* (a[i] = 3) */
    if (mw_token_is(token, ",")) pending_flush(in, mw_enclosing(in->tokens, in->function->body, i));
    if (is_unary(in, i, "*")) target_put(in, i);
    if (mw_token_is(token, "[") && mw_token_is(&in->at[i - 1], ")")) /* ((float4 *)p)[i] */
      access_put(in, in->at[i - 1].match, i, (access){.grouped = true});
    if (mw_token_is(token, "[") && mw_is_member(in->tokens, i - 1) && !is_own_array(in, i - 1)) /* v.p[i] */
      access_put(in, object_first(in, i - 1), i, (access){.grouped = true});
    if (token->kind != MW_TOKEN_NAME) continue;
    if (in->kernel != in && in->function->barrier < 0 && mw_token_is(token, "threadIdx")) /* others are unfolded */
      access_add(in, (access){.kind = INDEX});
    if (is_cut(in, i))
      access_add(in, (access){.kind = BARRIER});
    else if (mw_token_any(token, WORDS("for", "while", "do")))
      i = loop_read(in, i) - 1;
    else if (mw_ends_operand(token) && mw_call_open(in->tokens, i) >= 0) /* return (x); calls nothing */
      i = call_read(in, i);
    else if (!mw_is_member(in->tokens, i))
      name_read(in, i);
  }
}

/* ---- the answer ------------------------------------------------------------------------------------------------ */

static bool same(const access *a, const access *b) {
  return !a->base || !b->base || mw_same_text(a->base, b->base);
}

static bool overlaps(const access *a, const access *b) {
  return same(a, b) || !(a->own || b->own || a->restricted || b->restricted);
}

/* Loads of a group are done with the first, stores with the last: would one cross what must stay where it is? */
static bool crosses(const reader *in, int first, int last) {
  const access *moved = &in->list[in->list[first].store ? first : last];
  for (int i = first + 1; i < last; i++)
    if (in->list[i].kind == MEMORY && (moved->store || in->list[i].store) && overlaps(moved, &in->list[i])) return true;
  return false;
}

static bool group_crosses(const reader *in, int i) {
  const access *one = &in->list[i];
  for (int k = i + 1; one->grouped && k < in->count && in->list[k].kind != BARRIER; k++) {
    const access *other = &in->list[k];
    if (other->grouped && other->store == one->store && same(one, other) && crosses(in, i, k)) return true;
  }
  return false;
}

/* Is ::threadIdx read after a store, in one loop over the threads? Exchanges precedes their statements, and what
 * stores before one there is not split. */
static bool rereads_index(const reader *in) {
  bool stored = false;
  for (int i = 0; i < in->count; i++) {
    const access *it = &in->list[i];
    if (it->kind == INDEX && stored) return true;
    stored = it->kind != BARRIER && it->kind != EXCHANGE && (stored || it->store || it->kind == ATOMIC);
  }
  return false;
}

void cpu_dependences_find(const cpu_program *program, cpu_function *kernel) {
  reader *in = mw_calloc(1, sizeof *in);
  in->kernel = in;
  in->structs = kernel->split && strstr(kernel->split, "mw_private<");
  in->unsure = program->hidden.has_elements;
  function_read(in, program, kernel);
  kernel->ordered = in->unsure;
  for (int i = 0; i < in->count && !kernel->ordered; i++) kernel->ordered = group_crosses(in, i);
  kernel->rereads =
      cpu_calls_for_index(program, kernel) && (in->unsure || program->hidden.all.reaches_thread || rereads_index(in));
  mw_free(in);
}
