/* SPDX-License-Identifier: MIT
 *
 * Puts the body of a __device__ function in place of a call, as C++ would compute it, if each of its names means the
 * same there: parameters become variables initialised by the arguments, references what they are bound to, its own
 * names get a suffix, its returns at the end set the result. Template parameters are deduced by the compiler, from a
 * declaration with the same header and a return type that names them.
 *
 *   __device__ int sum(int v, int &n) { __syncthreads(); int w = v + n; return w; }
 *   x = sum(t, m);    ->    { int mw_r3; { int v_mw3 = t; __syncthreads(); int w_mw3 = v_mw3 + m; mw_r3 = w_mw3; }
 *                             x = mw_given(mw_r3); } */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend/cpu/split/split.h"

enum { MOST_NAMES = 128 };

typedef struct expansion {
  cpu_splitter *in;
  const cpu_function *callee;
  cpu_splitter body; /* the callee's own body as a tree */
  int call;          /* its name, where it is called */
  const mw_token *like;
  int suffix;
  char tail[16];                     /* of generated names: which of several functions of one name */
  const mw_token *names[MOST_NAMES]; /* to rename */
  int nnames;
  mw_span arguments[MW_MOST_PARAMS];
  enum { COPIED, NAMED, POINTED } binding[MW_MOST_PARAMS];
  const mw_token *functions[16]; /* template parameters that are functions; the call names them one after the other */
  int nfunctions;
  mw_tokens *next; /* what is written */
} expansion;

static void reject(expansion *it, const char *why) {
  const mw_token *name = &it->in->program->tokens.at[it->callee->name];
  cpu_split_reject(it->in, it->call, "helper '%.*s' %s", TEXT(name), why);
}

static void name_add(expansion *it, const mw_token *name) {
  if (it->nnames < MOST_NAMES)
    it->names[it->nnames++] = name;
  else
    reject(it, "declares too many names");
}

static bool name_known(const expansion *it, const mw_token *name) {
  for (int i = 0; i < it->nnames; i++)
    if (mw_same_text(it->names[i], name)) return true;
  return false;
}

/* ---- what the callee names ------------------------------------------------------------------------------------- */

/* Its own shared memory is put elsewhere, and is known here under names with the suffix. */
static void type_names(expansion *it, int index) {
  const mw_tokens *work = &it->body.work;
  const cpu_node *node = &it->body.nodes[index];
  if (!mw_has(work, node->first, node->last, "__shared__")) {
    reject(it, "declares a type or a static variable");
    return;
  }
  if (mw_token_is(&work->at[node->first], "extern")) return;
  const char *why = cpu_static_shared_put(it->in, it->callee, &it->body, index);
  if (why) reject(it, why);
  for (int name = -1; (name = mw_variable_next(work, node->first, node->last, name)) >= 0;)
    name_add(it, &work->at[name]);
}

static void body_names(expansion *it) {
  const mw_body *tree = cpu_function_tree(it->in->program, it->callee);
  for (const mw_declared *own = tree->declared + 1; own < tree->declared + tree->ndeclared; own++) {
    if (own->spec > own->name) reject(it, "has a declaration that is not understood");
    if (!own->is_shared) name_add(it, &tree->tokens->at[own->name]);
  }
  for (int i = 0; i < it->body.nnodes; i++)
    if (it->body.nodes[i].kind == CPU_NODE_TYPE) type_names(it, i);
  for (int i = 0; i < it->callee->nformals; i++) {
    const int name = it->callee->formals[i].name;
    if (name < 0) continue;
    if (it->binding[i] != COPIED && name_known(it, &it->in->program->tokens.at[name]))
      reject(it, "declares a variable that hides a parameter");
    if (it->binding[i] == COPIED) name_add(it, &it->in->program->tokens.at[name]);
  }
}

/* ---- template parameters --------------------------------------------------------------------------------------- */

/* The parameters as declared, but groups by value: what makes a group stands for its variable. */
static void deducer_formals_put(const expansion *it, mw_text *out) {
  const mw_tokens *from = &it->in->program->tokens;
  int begin = it->callee->open + 1;
  for (int i = 0; i < it->callee->nformals; i++) {
    const mw_formal *formal = &it->callee->formals[i];
    const int sign = mw_find(from, formal->first, formal->last, WORDS("&"));
    if (sign == formal->last || !cpu_group_is(it->in, &it->arguments[i])) continue;
    mw_text_plain(out, from, begin, sign);
    mw_text_put(out, " ");
    begin = sign + 1;
  }
  mw_text_plain(out, from, begin, it->callee->close);
}

/* template <class T> mw_pack<mw_one<T>> mw_types_k_warp_sum(T v); once for each helper of the kernel k. */
static void deducer_put(expansion *it, const cpu_header *names) {
  mw_text text = {0}, *out = &it->in->prelude;
  const mw_token *name = &it->in->program->tokens.at[it->callee->name];
  mw_text_put(&text, "mw_pack<");
  for (int i = 0; i < names->count; i++) {
    mw_text_put(&text, i ? ", " : "");
    if (names->types[i])
      mw_text_format(&text, "mw_one<%.*s>", TEXT(names->names[i]));
    else
      mw_text_format(&text, "mw_constant<decltype(%.*s), %.*s>", TEXT(names->names[i]), TEXT(names->names[i]));
  }
  mw_text_format(&text, "> mw_types_%.*s_%.*s%s(", TEXT(cpu_kernel_name(it->in)), TEXT(name), it->tail);
  if (!out->at || !strstr(out->at, text.at)) {
    mw_text_plain(out, &it->in->program->tokens, it->callee->head_first, it->callee->head_last);
    mw_text_put(out, "\n");
    mw_text_put(out, text.at);
    deducer_formals_put(it, out);
    mw_text_put(out, ");\n");
  }
  mw_free(text.at);
}

/* <int> ( v , 1 ); of an overload in text that is a template: < int > ( mw_later < mw_any > ( v ) , ... ) */
static void deduced_put(expansion *it, int open) {
  const mw_tokens *work = &it->in->work;
  const mw_span all = {it->call + 1, work->at[open].match + 1}, explicit = {it->call + 1, open};
  if (!it->in->late || !it->callee->overloaded) {
    mw_tokens_build(it->next, work, it->like, 0, "$0 ) ; ", &all);
    return;
  }
  mw_tokens_copy(it->next, work, explicit.first, explicit.last);
  for (int i = 0; i < it->callee->nformals; i++)
    mw_tokens_build(it->next, work, it->like, 0, i ? " , mw_later < mw_any > ( $0 )" : " ( mw_later < mw_any > ( $0 )",
                    &it->arguments[i]);
  mw_tokens_scan(it->next, " ) ) ; ", it->like);
}

/* block_reduce<warp_sum>(v), of template <op_t op>: op becomes warp_sum. */
static bool functions_bind(expansion *it, const cpu_header *names) {
  const mw_tokens *work = &it->in->work;
  const int close = mw_call_open(work, it->call) - 1;
  if (close != it->call + 1 + 2 * names->count || !mw_token_is(&work->at[close], ">")) return false;
  for (int i = 0; i < names->count; i++)
    if (names->types[i] || cpu_function_next(it->in->program, &work->at[it->call + 2 + 2 * i], -1) < 0) return false;
  for (int i = 0; i < names->count; i++) it->functions[i] = names->names[i];
  it->nfunctions = names->count;
  return true;
}

static void template_put(expansion *it) {
  cpu_header names = {0};
  if (!cpu_header_read(it->in, it->callee, &names)) {
    reject(it, "has a template header that is not understood");
    return;
  }
  if (functions_bind(it, &names)) return;
  const mw_tokens *work = &it->in->work;
  deducer_put(it, &names);
  mw_tokens_format(it->next, it->like, "using mw_k%d = decltype ( mw_types_%.*s_%.*s%s ", it->suffix,
                   TEXT(cpu_kernel_name(it->in)), TEXT(&it->in->program->tokens.at[it->callee->name]), it->tail);
  deduced_put(it, mw_call_open(work, it->call));
  for (int i = 0; i < names.count; i++) {
    name_add(it, names.names[i]);
    mw_tokens_format(it->next, it->like, "%s %.*s_mw%d = %s mw_k%d :: template at < %d > :: %s ; ",
                     names.types[i] ? "using" : "constexpr auto", TEXT(names.names[i]), it->suffix,
                     names.types[i] ? "typename" : "", it->suffix, i, names.types[i] ? "type" : "value");
  }
}

/* ---- the body -------------------------------------------------------------------------------------------------- */

/* The parameter by reference that the name stands for; -1: none. */
static int reference_of(const expansion *it, const mw_tokens *from, int i) {
  const mw_token *at = it->in->program->tokens.at;
  if (from->at[i].kind != MW_TOKEN_NAME || mw_is_member(from, i)) return -1;
  for (int k = 0; k < it->callee->nformals; k++)
    if (it->binding[k] != COPIED && mw_same_text(&at[it->callee->formals[k].name], &from->at[i])) return k;
  return -1;
}

/* The token of the call that names the function which the template parameter stands for; -1: none. */
static int function_of(const expansion *it, const mw_tokens *from, int i) {
  for (int k = 0; k < it->nfunctions; k++)
    if (mw_same_text(it->functions[k], &from->at[i]) && !mw_is_member(from, i)) return it->call + 2 + 2 * k;
  return -1;
}

static void token_put(expansion *it, const mw_tokens *from, int i) {
  const mw_token *token = &from->at[i];
  const int formal = reference_of(it, from, i), function = function_of(it, from, i);
  if (function >= 0)
    mw_tokens_push(it->next, &it->in->work.at[function]);
  else if (formal >= 0 && it->binding[formal] == NAMED)
    mw_tokens_build(it->next, &it->in->work, token, 0, " $0", &it->arguments[formal]);
  else if (formal >= 0)
    mw_tokens_format(it->next, token, " ( * %.*s_mw%d )", TEXT(token), it->suffix);
  else if (token->kind == MW_TOKEN_NAME && !mw_is_member(from, i) && name_known(it, token))
    mw_tokens_format(it->next, token, " %.*s_mw%d", TEXT(token), it->suffix);
  else {
    mw_tokens_push(it->next, token);
    it->next->at[it->next->count - 1].from = 0; /* of the callee's */
  }
}

/* mw_kept auto & part_mw3 = mw_keep_k_3_12_part < T_mw3 > ( ) ; */
static void static_shared_call_put(expansion *it, int name) {
  const mw_token *variable = &it->body.work.at[name];
  mw_text text = {0};
  cpu_header names = {0};
  mw_text_format(&text, " mw_kept auto & %.*s_mw%d = ", TEXT(variable), it->suffix);
  cpu_static_shared_name(it->in, it->callee, &it->body, name, &text);
  if (it->callee->is_template && cpu_header_read(it->in, it->callee, &names))
    for (int i = 0; i < names.count; i++) {
      mw_text_put(&text, i ? " , " : " < ");
      if (it->nfunctions)
        mw_text_plain(&text, &it->in->work, it->call + 2 + 2 * i, it->call + 3 + 2 * i);
      else
        mw_text_format(&text, "%.*s_mw%d", TEXT(names.names[i]), it->suffix);
      if (i + 1 == names.count) mw_text_put(&text, " >");
    }
  mw_text_put(&text, " ( ) ; ");
  mw_tokens_scan(it->next, text.at, variable);
  mw_free(text.at);
}

/* At the first token of a declaration of shared memory: what stands for it. Returns where to go on. */
static int shared_put(expansion *it, int i) {
  const mw_tokens *work = &it->body.work;
  const cpu_node *node = &it->body.nodes[cpu_node_at(&it->body, i)];
  if (node->kind != CPU_NODE_TYPE || node->first != i || mw_token_is(&work->at[i], "extern")) return i;
  for (int name = -1; (name = mw_variable_next(work, node->first, node->last, name)) >= 0;)
    static_shared_call_put(it, name);
  return node->last;
}

/* The callee's own statements. */
static void statements_put(expansion *it, int first, int last) {
  for (int i = first; i < last;) {
    int end = shared_put(it, i);
    if (end == i) token_put(it, &it->body.work, end++);
    i = end;
  }
}

/* T &v of a variable x, of exactly that type: v becomes x; of another object, or through const T &v: what a pointer to
 * it points to. A value is copied. */
static int binding_of(expansion *it, const mw_formal *formal, const mw_span *argument) {
  const mw_tokens *from = &it->in->program->tokens;
  const bool array = formal->name != formal->last - 1, group = cpu_group_is(it->in, argument);
  if (mw_find(from, formal->first, formal->last, WORDS("&&")) < formal->last)
    reject(it, "has a parameter by an rvalue reference");
  if (formal->name < 0 && argument->last > argument->first + 1) reject(it, "does not name a parameter");
  if (formal->name < 0 || !formal->reference || group) return COPIED;
  const bool name = argument->last == argument->first + 1 && it->in->work.at[argument->first].kind == MW_TOKEN_NAME;
  const bool constant = mw_has(from, formal->first, formal->name, "const"),
             given = mw_call_open(&it->in->work, it->call) > it->call + 1;
  const bool exact = !constant && !given && !mw_has(from, formal->first, formal->name, "volatile") &&
                     cpu_type_knows(it->in->program, it->callee, from, formal->first, formal->name - 1);
  if (array) return name ? NAMED : POINTED;
  if (!cpu_is_lasting(it->in, argument->first, argument->last) && constant) return COPIED;
  return name && exact ? NAMED : POINTED;
}

static void formals_bind(expansion *it) {
  const int open = mw_call_open(&it->in->work, it->call);
  const int count = open < 0 ? -1 : mw_arguments(&it->in->work, open, it->arguments, MW_MOST_PARAMS);
  if (count != it->callee->nformals) reject(it, "is not called with all its parameters");
  for (int i = 0; i < count && !it->in->rejected; i++)
    it->binding[i] = binding_of(it, &it->callee->formals[i], &it->arguments[i]);
}

static void words_put(expansion *it, const mw_formal *formal) {
  const mw_tokens *from = &it->in->program->tokens;
  for (int i = formal->first; i < formal->name; i++)
    if (!mw_token_any(&from->at[i], WORDS("&", "__restrict__", "__restrict"))) token_put(it, from, i);
}

/* What follows the name from a token on: ) [4] of T (*v)[4]. */
static void tail_put(expansion *it, const mw_formal *formal, int first) {
  for (int i = first; i < formal->last; i++) token_put(it, &it->in->program->tokens, i);
}

/* T v = argument; T v[] and T v[8][4] become pointers. */
static void formal_put(expansion *it, const mw_formal *formal, const mw_span *argument) {
  const mw_tokens *from = &it->in->program->tokens;
  if (formal->name < 0) return;
  const bool array = formal->name + 1 < formal->last && mw_token_is(&from->at[formal->name + 1], "[");
  const int first = array ? from->at[formal->name + 1].match + 1 : formal->name + 1;
  const bool rows = array && first < formal->last;
  words_put(it, formal);
  if (array) mw_tokens_scan(it->next, rows ? " ( * " : " * ", it->like);
  token_put(it, from, formal->name);
  if (rows) mw_tokens_scan(it->next, " ) ", it->like);
  tail_put(it, formal, first);
  mw_tokens_build(it->next, &it->in->work, it->like, 0, " = $0 ; ", argument);
}

/* const T &v  ->  const T * v_mw3 = __builtin_addressof ( x[i] ) ; */
static void pointer_put(expansion *it, const mw_formal *formal, const mw_span *argument) {
  words_put(it, formal);
  mw_tokens_format(it->next, it->like, " * %.*s_mw%d ", TEXT(&it->in->program->tokens.at[formal->name]), it->suffix);
  tail_put(it, formal, formal->name + 1);
  mw_tokens_build(it->next, &it->in->work, it->like, 0, " = __builtin_addressof ( $0 ) ; ", argument);
}

static void formals_put(expansion *it) {
  for (int i = 0; i < it->callee->nformals && !it->in->rejected; i++)
    if (it->binding[i] != NAMED)
      (it->binding[i] == POINTED ? pointer_put : formal_put)(it, &it->callee->formals[i], &it->arguments[i]);
}

/* ---- names that mean something else in the kernel --------------------------------------------------------------- */

/* Is there one meaning of the name for both, and was it declared before the helper? */
static bool means_the_same(const expansion *it, const mw_token *name) {
  const cpu_program *program = it->in->program;
  int meanings = 0;
  for (int k = -1; (k = cpu_function_next(program, name, k)) >= 0;) {
    meanings++;
    if (program->functions[k].name > it->callee->last && meanings > 1) return false;
  }
  for (int i = 0; i < program->globals.count; i++)
    meanings += mw_same_text(&program->tokens.at[program->globals.at[i].name], name);
  for (int i = 0; i < program->aliases.count; i++) /* classes are among the functions */
    meanings += mw_same_text(&program->tokens.at[program->aliases.at[i].name], name) &&
                !mw_token_any(&program->tokens.at[program->aliases.at[i].first], WORDS("struct", "class", "union"));
  return !cpu_kernel_declares(it->in, name) && (meanings < 2 || !strcmp(it->callee->scope, it->in->kernel->scope));
}

static void names_range_check(expansion *it, const mw_tokens *from, int first, int last) {
  for (int i = first; i < last && !it->in->rejected; i++) {
    const mw_token *name = &from->at[i];
    if (name->kind != MW_TOKEN_NAME || mw_is_member(from, i) || name_known(it, name) ||
        reference_of(it, from, i) >= 0 || function_of(it, from, i) >= 0 || means_the_same(it, name))
      continue;
    char *why = mw_format("names '%.*s', which may be another in the kernel", TEXT(name));
    reject(it, why);
    mw_free(why);
  }
}

static void names_check(expansion *it) {
  names_range_check(it, &it->in->program->tokens, it->callee->first, it->callee->name);
  names_range_check(it, &it->in->program->tokens, it->callee->open, it->callee->close);
  names_range_check(it, &it->body.work, 0, it->body.work.count);
}

/* Does the body end with the statement, in whichever branch of its last `if`? */
static bool is_last(const cpu_splitter *in, int node) {
  for (int up = in->nodes[node].parent; up >= 0; node = up, up = in->nodes[node].parent) {
    const cpu_node_kind kind = in->nodes[up].kind;
    if (in->nodes[node].next >= 0 || (kind != CPU_NODE_BLOCK && kind != CPU_NODE_IF)) return false;
  }
  return true;
}

/* Is the call the end of the kernel? Then a thread that returns from the helper is done. */
static bool call_is_last(const expansion *it, int node) {
  const mw_tokens *work = &it->in->work;
  const cpu_node *statement = &it->in->nodes[node];
  const int end = work->at[mw_call_open(work, it->call)].match + 1;
  return statement->first == it->call && end == statement->last - 1 && is_last(it->in, node);
}

/* Rejects a return before the body's end, but where the kernel may return in its place. */
static void returns_check(expansion *it, bool leaves) {
  const mw_tokens *work = &it->body.work;
  int all = 0, known = 0;
  for (int i = 0; (i = cpu_return_find(work, i, work->count)) < work->count; i++) all++;
  for (int i = 0; i < it->body.nnodes; i++)
    known += it->body.nodes[i].kind == CPU_NODE_RETURN && (leaves || is_last(&it->body, i));
  if (all != known) reject(it, "returns from its middle");
}

/* return e;  ->  mw_r3 = e; */
static void body_put(expansion *it, bool value, bool leaves) {
  const mw_tokens *work = &it->body.work;
  int from = 1;
  returns_check(it, leaves);
  for (int i = 0; i < it->body.nnodes && !it->in->rejected; i++) {
    const cpu_node *node = &it->body.nodes[i];
    if (node->kind != CPU_NODE_RETURN || (leaves && !is_last(&it->body, i))) continue;
    statements_put(it, from, node->first);
    from = node->first + 1;
    if (value) mw_tokens_format(it->next, it->like, " mw_r%d = ", it->suffix);
  }
  if (!it->in->rejected) statements_put(it, from, work->count - 1);
}

/* The callee's return type; false: it has none. */
static bool result_put(expansion *it) {
  const char *const *const skipped = WORDS("__device__", "__host__", "static", "inline", "__forceinline__",
                                           "__inline__", "__noinline__", "constexpr", "const", "extern");
  const mw_tokens *from = &it->in->program->tokens;
  const int begin = it->next->count;
  bool known = true;
  for (int i = it->callee->first; i < it->callee->name && known; i++)
    known = mw_token_any(&from->at[i], skipped) || from->at[i].kind != MW_TOKEN_NAME ||
            cpu_type_knows(it->in->program, it->callee, from, i, i + 1) >= CPU_KNOWN;
  if (!known) mw_tokens_scan(it->next, "mw_result_of < ", it->like);
  for (int i = it->callee->first; i < it->callee->name; i++) {
    if (mw_token_is(&from->at[i], "__attribute__"))
      i = from->at[i + 1].match;
    else if (from->at[i].kind != MW_TOKEN_STRING && !mw_token_any(&from->at[i], skipped))
      token_put(it, from, i);
    const bool fixed = mw_token_is(&from->at[i], "const") &&
                       cpu_type_knows(it->in->program, it->callee, from, i, it->callee->name) < CPU_KNOWN;
    if (fixed || mw_token_any(&from->at[i], WORDS("auto", "&", "operator")))
      reject(it, "has a return type that is not understood");
  }
  bool none = it->next->count == begin + 1 && mw_token_is(&it->next->at[begin], "void");
  if (none)
    it->next->count = begin;
  else
    mw_tokens_format(it->next, it->like, known ? " mw_r%d ; " : " > mw_r%d ; ", it->suffix);
  return !none;
}

static void expand(expansion *it, int node) {
  const mw_tokens *work = &it->in->work;
  const cpu_node *statement = &it->in->nodes[node];
  const int open = mw_call_open(work, it->call);
  bool wrap = statement->kind != CPU_NODE_DECLARE;
  if (wrap) mw_tokens_scan(it->next, "{ ", it->like);
  formals_bind(it);
  if (it->in->rejected) return;
  if (it->callee->is_template) template_put(it);
  if (it->in->rejected) return;
  bool value = result_put(it);
  body_names(it);
  names_check(it);
  if (it->in->rejected) return;
  mw_tokens_scan(it->next, "{ ", it->like);
  formals_put(it);
  if (it->in->rejected) return;
  body_put(it, value, !value && call_is_last(it, node));
  mw_tokens_scan(it->next, " } ", it->like);
  mw_tokens_copy(it->next, work, statement->first, it->call);
  if (value) mw_tokens_format(it->next, it->like, " mw_given ( mw_r%d ) ", it->suffix);
  mw_tokens_copy(it->next, work, work->at[open].match + 1, statement->last);
  if (wrap) mw_tokens_scan(it->next, " }", it->like);
}

/* ---- the call --------------------------------------------------------------------------------------------------- */

void cpu_helper_expand(cpu_splitter *in, int node, int call, int callee, mw_tokens *next) {
  if (!mw_is_member(&in->work, call) && cpu_call_clear(in, node, call, &callee, next)) return;
  const cpu_function *function = &in->program->functions[callee];
  const mw_tokens *from = &in->program->tokens;
  expansion it = {.in = in, .callee = function, .call = call, .like = &in->work.at[call], .next = next};
  it.suffix = ++in->serial;
  const bool special = function->special && cpu_overload_at(in, call) < 0;
  if (function->is_class || function->body < 0 || special || mw_is_member(&in->work, call))
    reject(&it, "is a member, a specialisation, or without a body");
  else if (function->recursive && !function->overloaded) /* of an overload the name alone does not say */
    reject(&it, "calls itself");
  if (function->overloaded) snprintf(it.tail, sizeof it.tail, "_%d", callee);
  if (in->rejected) return;
  it.body = (cpu_splitter){.program = in->program, .kernel = in->kernel, .why = in->why, .why_size = in->why_size};
  it.body.work = mw_tokens_beside(from);
  cpu_work_add(&it.body, function->body, from->at[function->body].match + 1);
  mw_tokens_match(&it.body.work);
  cpu_tree_read(&it.body, function);
  if (it.body.rejected)
    in->rejected = true;
  else
    expand(&it, node);
  cpu_splitter_free(&it.body);
}
