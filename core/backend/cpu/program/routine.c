/* SPDX-License-Identifier: MIT
 *
 * Everything in a program that has statements, each with its tree: functions, the methods of all classes, and blocks
 * that the tree around them does not have:
 *
 *   struct A { __device__ int next() { ... } };          next
 *   __device__ void f() { struct B { B() { ... } }; }     f, B
 *
 * Read once for a program, when the first analysis asks. */
#include "core/backend/cpu/program/program.h"

typedef struct reader {
  const cpu_program *program;
  const mw_token *at;
  cpu_routines *out;
  bool *taken; /* of each token: a statement or an operator of some tree stands there */
} reader;

/* Of what has no tree one is made. */
static void routine_add(reader *in, const cpu_function *like, int owner) {
  in->out->at = mw_grow(in->out->at, (size_t)in->out->count, sizeof *in->out->at);
  cpu_function *own = &in->out->at[in->out->count].function;
  in->out->at[in->out->count++] = (cpu_routine){*like, owner};
  if (like->tree) return;
  cpu_binder binder = {in->program, own};
  own->tree = mw_calloc(1, sizeof *own->tree);
  mw_body_read(own->tree, &in->program->tokens, like->body + 1, like->last - 1,
               &(mw_names){cpu_binder_meaning, &binder, false}, NULL);
}

/* Of a class whose { is at `open`, with what is in it. */
static void class_read(reader *in, const cpu_function *class, int owner, int open) {
  const mw_tokens *tokens = &in->program->tokens;
  mw_declaration it;
  in->out->classes = mw_grow(in->out->classes, (size_t)in->out->nclasses, sizeof *in->out->classes);
  in->out->classes[in->out->nclasses++] = open;
  for (int i = open + 1; i < in->at[open].match; i = it.last) {
    it = mw_declaration_read(tokens, i, in->at[open].match);
    cpu_function method = {.name = it.name, .head_first = class->head_first, .head_last = class->head_last};
    method.first = it.first, method.body = it.body, method.last = it.last;
    if (it.body >= 0 && it.open < 0) class_read(in, class, owner, it.body);
    if (it.open < 0 || it.body < 0 || owner < 0) continue;
    method.nformals = mw_formals_read(tokens, it.open, it.close, &method.formals);
    routine_add(in, &method, owner);
  }
}

/* Braces that are not understood, and those of classes. */
static void rest_read(reader *in, int routine) {
  const cpu_function like = in->out->at[routine].function;
  const int owner = in->out->at[routine].owner;
  const mw_body *tree = like.tree;
  for (int i = 0; i < tree->nstatements; i++) in->taken[tree->statements[i].first] = true;
  for (int i = 1; i < tree->nexprs; i++) in->taken[tree->exprs[i].op] |= tree->exprs[i].kind != MW_EXPR_UNKNOWN;
  for (int i = tree->first; i < tree->last; i++) {
    if (!mw_token_is(&in->at[i], "{") || in->taken[i]) continue;
    const int begin = mw_begin_after(&in->program->tokens, tree->first, i, WORDS(";", "{", "}"));
    cpu_function block = {.name = -1, .head_first = like.head_first, .head_last = like.head_last};
    block.first = block.body = i, block.last = in->at[i].match + 1;
    if (mw_class_braces(&in->program->tokens, begin, i + 1) == i)
      class_read(in, &like, owner, i);
    else
      routine_add(in, &block, owner);
    i = in->at[i].match;
  }
}

/* Classes that only a typedef gives a name have no methods that are called by it. */
const cpu_routines *cpu_routines_of(const cpu_program *program) {
  reader in = {.program = program, .at = program->tokens.at, .out = program->routines};
  if (in.out->read) return in.out;
  in.out->read = true;
  in.taken = mw_calloc((size_t)program->tokens.count + 1, sizeof *in.taken);
  for (const cpu_item *it = program->items; it < program->items + program->nitems; it++) {
    const int open = it->kind == CPU_ITEM_TEXT ? mw_class_braces(&program->tokens, it->first, it->last) : 0;
    if (open) class_read(&in, &(cpu_function){0}, -1, open);
  }
  for (int i = 0; i < program->nfunctions; i++) {
    const cpu_function *it = &program->functions[i];
    if (it->body >= 0 && it->is_class) class_read(&in, it, i, it->body);
    if (it->body < 0 || it->is_class) continue;
    cpu_function_tree(program, it);
    routine_add(&in, it, i);
  }
  for (int i = 0; i < in.out->count; i++) rest_read(&in, i);
  mw_free(in.taken);
  return in.out;
}

void cpu_routines_free(cpu_program *program) {
  cpu_routines *all = program->routines;
  for (int i = 0; all && i < all->count; i++) {
    const cpu_routine *it = &all->at[i];
    if (it->function.tree == program->functions[it->owner].tree) continue;
    mw_body_free(it->function.tree);
    mw_free(it->function.tree);
    mw_free(it->function.formals);
  }
  if (all) mw_free(all->at), mw_free(all->classes);
  mw_free(all);
}
