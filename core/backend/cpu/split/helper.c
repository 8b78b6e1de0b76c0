/* SPDX-License-Identifier: MIT
 *
 * Puts the body of a __device__ function in place of a call, as C++ would compute it: parameters become variables
 * initialised by the arguments, its own names get a suffix, its returns at the end become assignments. Template
 * parameters are deduced by the compiler, from a declaration with the same header whose return type names them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend/backend.h"
#include "core/backend/cpu/split/split.h"

enum { MOST_NAMES = 128, MOST_SHARED = 16, MOST_OVERLOADS = 8 };

typedef struct expansion {
  cpu_splitter *in;
  const cpu_function *callee;
  cpu_splitter body; /* the callee's own body as a tree */
  int call;          /* its name, where it is called */
  const cpu_token *like;
  int suffix;
  char tail[16];                      /* of generated names: which of several functions of one name */
  const cpu_token *names[MOST_NAMES]; /* to rename */
  int nnames;
  cpu_range arguments[MW_MOST_PARAMS];
  enum { COPIED, NAMED, POINTED } binding[MW_MOST_PARAMS];
  const cpu_token *functions[16]; /* template parameters that are functions; the call names them one after the other */
  int nfunctions;
  cpu_tokens *next; /* what is written */
} expansion;

static void reject(expansion *it, const char *why) {
  const cpu_token *name = &it->in->program->tokens.at[it->callee->name];
  cpu_split_reject(it->in, it->call, "helper '%.*s' %s", TEXT(name), why);
}

static void name_add(expansion *it, const cpu_token *name) {
  if (it->nnames < MOST_NAMES)
    it->names[it->nnames++] = name;
  else
    reject(it, "declares too many names");
}

static bool name_known(const expansion *it, const cpu_token *name) {
  for (int i = 0; i < it->nnames; i++)
    if (cpu_same_text(it->names[i], name)) return true;
  return false;
}

/* ---- what the callee names ------------------------------------------------------------------------------------- */

static void declared_names(expansion *it, int first, int last) {
  cpu_declarator list[CPU_MOST_DECLARATORS];
  int count;
  if (cpu_declarator_read(&it->body.work, first, last, list, CPU_MOST_DECLARATORS, &count))
    for (int i = 0; i < count; i++) name_add(it, &it->body.work.at[list[i].name]);
}

static bool is_extern(const cpu_tokens *tokens, const cpu_node *node) {
  return cpu_token_is(&tokens->at[node->first], "extern");
}

/* Its own shared memory is put elsewhere, and is known here under names with the suffix. */
static void type_names(expansion *it, int index) {
  const cpu_tokens *work = &it->body.work;
  const cpu_node *node = &it->body.nodes[index];
  int names[MOST_SHARED];
  if (!cpu_has(work, node->first, node->last, "__shared__")) {
    reject(it, "declares a type or a static variable");
    return;
  }
  if (is_extern(work, node)) return;
  const char *why = cpu_static_shared_put(it->in, it->callee, &it->body, index);
  if (why) reject(it, why);
  int count = cpu_shared_names(work, node->first, node->last, names, MOST_SHARED);
  for (int i = 0; i < count; i++) name_add(it, &work->at[names[i]]);
}

static void body_names(expansion *it) {
  for (int i = 0; i < it->body.nnodes; i++) {
    const cpu_node *node = &it->body.nodes[i];
    if (node->kind == CPU_NODE_DECLARE) declared_names(it, node->first, node->last - 1);
    if (node->kind == CPU_NODE_FOR) declared_names(it, node->head, node->init_last);
    if (node->kind == CPU_NODE_TYPE) type_names(it, i);
  }
  for (int i = 0; i < it->callee->nformals; i++) {
    const int name = it->callee->formals[i].name;
    if (name < 0) continue;
    if (it->binding[i] != COPIED && name_known(it, &it->in->program->tokens.at[name]))
      reject(it, "declares a variable that hides a parameter");
    if (it->binding[i] == COPIED) name_add(it, &it->in->program->tokens.at[name]);
  }
}

/* ---- template parameters --------------------------------------------------------------------------------------- */

typedef struct header { /* template <class T, int N> */
  const cpu_token *names[16];
  bool types[16];
  int count;
} header;

static bool header_read(const cpu_splitter *in, const cpu_function *function, header *out) {
  const cpu_token *at = in->program->tokens.at;
  int first = function->head_first + 2, last = function->head_last - 1;
  for (int i = first, begin = first; i <= last; i++) {
    if (i < last && cpu_token_is(&at[i], "...")) return false;
    if (i < last && !cpu_token_is(&at[i], ",")) continue;
    int name = begin;
    while (name < i && !cpu_token_is(&at[name], "=")) name++;
    name--;
    if (out->count == 16 || name <= begin || at[name].kind != CPU_NAME) return false;
    out->types[out->count] = cpu_token_is(&at[begin], "class") || cpu_token_is(&at[begin], "typename");
    out->names[out->count++] = &at[name];
    begin = i + 1;
  }
  return out->count > 0;
}

/* The parameters as declared, but groups by value: what makes a group stands for its variable. */
static void deducer_formals_put(const expansion *it, cpu_text *out) {
  const cpu_tokens *from = &it->in->program->tokens;
  int begin = it->callee->open + 1;
  for (int i = 0; i < it->callee->nformals; i++) {
    const cpu_formal *formal = &it->callee->formals[i];
    const int sign = cpu_find(from, formal->first, formal->last, WORDS("&"));
    if (sign == formal->last || !cpu_group_is(it->in, &it->arguments[i])) continue;
    cpu_text_plain(out, from, begin, sign);
    cpu_text_put(out, " ");
    begin = sign + 1;
  }
  cpu_text_plain(out, from, begin, it->callee->close);
}

/* template <class T> mw_pack<mw_one<T>> mw_types_warp_sum(T v); once for each helper. */
static void deducer_put(expansion *it, const header *names) {
  cpu_text text = {0}, *out = &it->in->prelude;
  const cpu_token *name = &it->in->program->tokens.at[it->callee->name];
  cpu_text_put(&text, "mw_pack<");
  for (int i = 0; i < names->count; i++)
    cpu_text_format(&text, "%s%s<%.*s>", i ? ", " : "", names->types[i] ? "mw_one" : "mw_constant",
                    TEXT(names->names[i]));
  cpu_text_format(&text, "> mw_types_%.*s%s(", TEXT(name), it->tail);
  if (!out->at || !strstr(out->at, text.at)) {
    cpu_text_plain(out, &it->in->program->tokens, it->callee->head_first, it->callee->head_last);
    cpu_text_put(out, "\n");
    cpu_text_put(out, text.at);
    deducer_formals_put(it, out);
    cpu_text_put(out, ");\n");
  }
  mw_free(text.at);
}

/* block_reduce<warp_sum>(v), of template <op_t op>: op becomes warp_sum. */
static bool functions_bind(expansion *it, const header *names) {
  const cpu_tokens *work = &it->in->work;
  const int close = cpu_call_open(work, it->call) - 1;
  if (close != it->call + 1 + 2 * names->count || !cpu_token_is(&work->at[close], ">")) return false;
  for (int i = 0; i < names->count; i++)
    if (names->types[i] || cpu_function_next(it->in->program, &work->at[it->call + 2 + 2 * i], -1) < 0) return false;
  for (int i = 0; i < names->count; i++) it->functions[i] = names->names[i];
  it->nfunctions = names->count;
  return true;
}

static void template_put(expansion *it) {
  header names = {0};
  if (!header_read(it->in, it->callee, &names)) {
    reject(it, "has a template header that is not understood");
    return;
  }
  if (functions_bind(it, &names)) return;
  const cpu_tokens *work = &it->in->work;
  const cpu_range arguments = {it->call + 1, work->at[cpu_call_open(work, it->call)].match + 1};
  deducer_put(it, &names);
  cpu_tokens_format(it->next, it->like, "using mw_k%d = decltype ( mw_types_%.*s%s ", it->suffix,
                    TEXT(&it->in->program->tokens.at[it->callee->name]), it->tail);
  cpu_tokens_build(it->next, work, it->like, 0, "$0 ) ; ", &arguments);
  for (int i = 0; i < names.count; i++) {
    name_add(it, names.names[i]);
    cpu_tokens_format(it->next, it->like, "%s %.*s_mw%d = %s mw_k%d :: template at < %d > :: %s ; ",
                      names.types[i] ? "using" : "constexpr auto", TEXT(names.names[i]), it->suffix,
                      names.types[i] ? "typename" : "", it->suffix, i, names.types[i] ? "type" : "value");
  }
}

/* ---- the body -------------------------------------------------------------------------------------------------- */

/* The parameter by reference that the name stands for; -1: none. */
static int reference_of(const expansion *it, const cpu_tokens *from, int i) {
  const cpu_token *at = it->in->program->tokens.at;
  if (from->at[i].kind != CPU_NAME || cpu_is_member(from, i)) return -1;
  for (int k = 0; k < it->callee->nformals; k++)
    if (it->binding[k] != COPIED && cpu_same_text(&at[it->callee->formals[k].name], &from->at[i])) return k;
  return -1;
}

/* The token of the call that names the function which the template parameter stands for; -1: it is none. */
static int function_of(const expansion *it, const cpu_tokens *from, int i) {
  for (int k = 0; k < it->nfunctions; k++)
    if (cpu_same_text(it->functions[k], &from->at[i]) && !cpu_is_member(from, i)) return it->call + 2 + 2 * k;
  return -1;
}

static void token_put(expansion *it, const cpu_tokens *from, int i) {
  const cpu_token *token = &from->at[i];
  const int formal = reference_of(it, from, i), function = function_of(it, from, i);
  if (function >= 0)
    cpu_tokens_push(it->next, &it->in->work.at[function]);
  else if (formal >= 0 && it->binding[formal] == NAMED)
    cpu_tokens_build(it->next, &it->in->work, token, 0, " $0", &it->arguments[formal]);
  else if (formal >= 0)
    cpu_tokens_format(it->next, token, " ( * %.*s_mw%d )", TEXT(token), it->suffix);
  else if (token->kind == CPU_NAME && !cpu_is_member(from, i) && name_known(it, token))
    cpu_tokens_format(it->next, token, " %.*s_mw%d", TEXT(token), it->suffix);
  else
    cpu_tokens_push(it->next, token);
}

/* mw_kept auto & part_mw3 = mw_keep_k_block_sum_part < T_mw3 > ( ) ; */
static void static_shared_call_put(expansion *it, const cpu_token *variable) {
  cpu_text text = {0};
  header names = {0};
  cpu_text_format(&text, " mw_kept auto & %.*s_mw%d = ", TEXT(variable), it->suffix);
  cpu_static_shared_name(it->in, it->callee, variable, &text);
  if (it->callee->is_template && header_read(it->in, it->callee, &names))
    for (int i = 0; i < names.count; i++) {
      cpu_text_put(&text, i ? " , " : " < ");
      if (it->nfunctions)
        cpu_text_plain(&text, &it->in->work, it->call + 2 + 2 * i, it->call + 3 + 2 * i);
      else
        cpu_text_format(&text, "%.*s_mw%d", TEXT(names.names[i]), it->suffix);
      if (i + 1 == names.count) cpu_text_put(&text, " >");
    }
  cpu_text_put(&text, " ( ) ; ");
  cpu_tokens_scan(it->next, text.at, variable);
  mw_free(text.at);
}

/* At the first token of a declaration of shared memory: what stands for it. Returns where to go on. */
static int shared_put(expansion *it, int i) {
  const cpu_tokens *work = &it->body.work;
  for (int k = 0; k < it->body.nnodes; k++) {
    const cpu_node *node = &it->body.nodes[k];
    int names[MOST_SHARED];
    if (node->kind != CPU_NODE_TYPE || node->first != i || is_extern(work, node)) continue;
    int count = cpu_shared_names(work, node->first, node->last, names, MOST_SHARED);
    for (int n = 0; n < count; n++) static_shared_call_put(it, &work->at[names[n]]);
    return node->last;
  }
  return i;
}

/* The callee's own statements. */
static void statements_put(expansion *it, int first, int last) {
  for (int i = first; i < last;) {
    int end = shared_put(it, i);
    if (end == i) token_put(it, &it->body.work, end++);
    i = end;
  }
}

static bool is_reference(const expansion *it, const cpu_formal *formal) {
  const cpu_tokens *from = &it->in->program->tokens;
  return cpu_find(from, formal->first, formal->last, WORDS("&")) < formal->last;
}

/* T &v of a variable x: v becomes x; of an element x[i]: what a pointer to it points to. Through const T &v nothing
 * changes it, so a copy does, of any type but an array. */
static int binding_of(const expansion *it, const cpu_formal *formal, const cpu_range *argument) {
  const cpu_tokens *from = &it->in->program->tokens;
  const bool array = formal->name != formal->last - 1;
  const bool copied = cpu_token_is(&from->at[formal->first], "const") && !array;
  if (formal->name < 0 || !is_reference(it, formal) || copied || cpu_group_is(it->in, argument)) return COPIED;
  const bool name = argument->last == argument->first + 1 && it->in->work.at[argument->first].kind == CPU_NAME;
  return name ? NAMED : array ? COPIED : POINTED;
}

static void formals_bind(expansion *it) {
  const int open = cpu_call_open(&it->in->work, it->call);
  const int count = open < 0 ? -1 : cpu_arguments(&it->in->work, open, it->arguments, MW_MOST_PARAMS);
  if (count != it->callee->nformals) reject(it, "is not called with all its parameters");
  for (int i = 0; i < count && !it->in->rejected; i++)
    it->binding[i] = binding_of(it, &it->callee->formals[i], &it->arguments[i]);
}

/* T v = argument; T v[] becomes a pointer. */
static void formal_put(expansion *it, const cpu_formal *formal, const cpu_range *argument) {
  const cpu_tokens *from = &it->in->program->tokens;
  if (formal->name < 0) return;
  int stop = formal->name + 1;
  bool array = stop < formal->last && cpu_token_is(&from->at[stop], "[");
  if (stop < formal->last && !array) {
    reject(it, "has a parameter of a type that is not understood");
    return;
  }
  for (int i = formal->first; i < formal->name; i++)
    if (!cpu_token_any(&from->at[i], WORDS("&", "&&", "__restrict__", "__restrict"))) token_put(it, from, i);
  if (array) cpu_tokens_scan(it->next, " * ", it->like);
  token_put(it, from, formal->name);
  cpu_tokens_build(it->next, &it->in->work, it->like, 0, " = $0 ; ", argument);
}

/* auto *v = &(x[i]); */
static void pointer_put(expansion *it, const cpu_formal *formal, const cpu_range *argument) {
  const cpu_token *name = &it->in->program->tokens.at[formal->name];
  cpu_tokens_format(it->next, it->like, "auto * %.*s_mw%d = & ( ", TEXT(name), it->suffix);
  cpu_tokens_build(it->next, &it->in->work, it->like, 0, "$0 ) ; ", argument);
}

static void formals_put(expansion *it) {
  for (int i = 0; i < it->callee->nformals && !it->in->rejected; i++)
    if (it->binding[i] != NAMED)
      (it->binding[i] == POINTED ? pointer_put : formal_put)(it, &it->callee->formals[i], &it->arguments[i]);
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
  const cpu_tokens *work = &it->in->work;
  const cpu_node *statement = &it->in->nodes[node];
  const int end = work->at[cpu_call_open(work, it->call)].match + 1;
  return statement->first == it->call && end == statement->last - 1 && is_last(it->in, node);
}

/* Rejects a return in front of the body's end, but where the kernel may return in its place. */
static void returns_check(expansion *it, bool leaves) {
  const cpu_tokens *work = &it->body.work;
  int all = 0, known = 0;
  for (int i = 0; i < work->count; i++) all += cpu_token_is(&work->at[i], "return");
  for (int i = 0; i < it->body.nnodes; i++)
    known += it->body.nodes[i].kind == CPU_NODE_RETURN && (leaves || is_last(&it->body, i));
  if (all != known) reject(it, "returns from its middle");
}

/* return e;  ->  mw_r3 = e; */
static void body_put(expansion *it, bool value, bool leaves) {
  const cpu_tokens *work = &it->body.work;
  int from = 1;
  returns_check(it, leaves);
  for (int i = 0; i < it->body.nnodes && !it->in->rejected; i++) {
    const cpu_node *node = &it->body.nodes[i];
    if (node->kind != CPU_NODE_RETURN || (leaves && !is_last(&it->body, i))) continue;
    statements_put(it, from, node->first);
    from = node->first + 1;
    if (value) cpu_tokens_format(it->next, it->like, " mw_r%d = ", it->suffix);
  }
  if (!it->in->rejected) statements_put(it, from, work->count - 1);
}

/* The callee's return type; false: it has none. */
static bool result_put(expansion *it) {
  const char *const *const skipped = WORDS("__device__", "__host__", "static", "inline", "__forceinline__",
                                           "__inline__", "__noinline__", "constexpr", "const", "extern");
  const cpu_tokens *from = &it->in->program->tokens;
  const int begin = it->next->count;
  for (int i = it->callee->first; i < it->callee->name; i++) {
    if (cpu_token_is(&from->at[i], "__attribute__"))
      i = from->at[i + 1].match;
    else if (from->at[i].kind != CPU_STRING && !cpu_token_any(&from->at[i], skipped))
      token_put(it, from, i);
    if (cpu_token_any(&from->at[i], WORDS("auto", "&", "operator")))
      reject(it, "has a return type that is not understood");
  }
  bool none = it->next->count == begin + 1 && cpu_token_is(&it->next->at[begin], "void");
  if (none)
    it->next->count = begin;
  else
    cpu_tokens_format(it->next, it->like, " mw_r%d ; ", it->suffix);
  return !none;
}

static void expand(expansion *it, int node) {
  const cpu_tokens *work = &it->in->work;
  const cpu_node *statement = &it->in->nodes[node];
  const int open = cpu_call_open(work, it->call);
  bool wrap = statement->kind != CPU_NODE_DECLARE;
  if (wrap) cpu_tokens_scan(it->next, "{ ", it->like);
  formals_bind(it);
  if (it->in->rejected) return;
  if (it->callee->is_template) template_put(it);
  if (it->in->rejected) return;
  bool value = result_put(it);
  body_names(it);
  if (it->in->rejected) return;
  cpu_tokens_scan(it->next, "{ ", it->like);
  formals_put(it);
  if (it->in->rejected) return;
  body_put(it, value, !value && call_is_last(it, node));
  cpu_tokens_scan(it->next, " } ", it->like);
  cpu_tokens_copy(it->next, work, statement->first, it->call);
  if (value) cpu_tokens_format(it->next, it->like, " mw_r%d ", it->suffix);
  cpu_tokens_copy(it->next, work, work->at[open].match + 1, statement->last);
  if (wrap) cpu_tokens_scan(it->next, " }", it->like);
}

/* ---- functions of one name ------------------------------------------------------------------------------------- */

static const char overload[] = "mw_overload_"; /* and the function's index: of several with that name */

int cpu_overload_at(const cpu_splitter *in, int i) {
  const cpu_token *token = &in->work.at[i];
  const int size = (int)sizeof overload - 1;
  if (token->kind != CPU_NAME || token->size <= size || memcmp(token->text, overload, (size_t)size)) return -1;
  return (int)strtol(token->text + size, NULL, 10);
}

/* May it be called with so many arguments? */
static bool takes(const cpu_splitter *in, const cpu_function *function, int count) {
  const cpu_token *at = in->program->tokens.at;
  return count == function->nformals ||
         (count >= 0 && count < function->nformals && cpu_token_is(&at[function->formals[count].last], "="));
}

/* The functions of the name that take so many arguments. */
static int overloads_find(const cpu_splitter *in, const cpu_token *name, int count, int list[MOST_OVERLOADS]) {
  int found = 0;
  for (int k = -1; found < MOST_OVERLOADS && (k = cpu_function_next(in->program, name, k)) >= 0;) {
    const cpu_function *function = &in->program->functions[k];
    if (!function->kernel && function->body >= 0 && takes(in, function, count)) list[found++] = k;
  }
  return found;
}

/* f ( a )  ->  f ( a , 32 ), where that is the parameter's default. */
static void defaults_put(cpu_splitter *in, int node, int call, const cpu_function *callee, int count,
                         cpu_tokens *next) {
  const cpu_tokens *from = &in->program->tokens, *work = &in->work;
  const int close = work->at[cpu_call_open(work, call)].match;
  cpu_tokens_copy(next, work, in->nodes[node].first, close);
  for (int i = count; i < callee->nformals; i++) {
    const int begin = callee->formals[i].last + 1;
    if (i) cpu_tokens_scan(next, " , ", &work->at[call]);
    cpu_tokens_copy(next, from, begin, cpu_find_open(from, begin, callee->close, WORDS(",")));
  }
  cpu_tokens_copy(next, work, close, in->nodes[node].last);
}

/* Of template <> int sum<int>(int v): the arguments of the template that it is for, <int>. */
static cpu_range special_arguments(const cpu_function *function) {
  return (cpu_range){function->name + 1, function->open};
}

static bool any_special(const cpu_splitter *in, const int *list, int count) {
  for (int i = 0; i < count; i++)
    if (in->program->functions[list[i]].special) return true;
  return false;
}

/* Can the compiler be asked which of them a call means? Specialisations are chosen after their template, which has to be
 * the only one. */
static bool are_choosable(const cpu_splitter *in, const int *list, int count) {
  int templates = 0;
  bool named = true;
  for (int i = 0; i < count; i++) {
    const cpu_function *function = &in->program->functions[list[i]];
    const cpu_range arguments = special_arguments(function);
    if (function->is_class) return false;
    templates += function->is_template;
    named &= !function->special || arguments.first < arguments.last;
  }
  return !any_special(in, list, count) || (templates == 1 && named);
}

/* template <class T> constexpr int mw_special_k_f = 4; template <> constexpr int mw_special_k_f<int> = 5; */
static void specials_put(const cpu_splitter *in, const cpu_token *name, const int *list, int count, cpu_text *out) {
  const cpu_tokens *from = &in->program->tokens;
  for (int i = 0; i < count; i++) {
    const cpu_function *function = &in->program->functions[list[i]];
    const cpu_range arguments = special_arguments(function);
    if (!function->is_template && !function->special) continue;
    cpu_text_plain(out, from, function->head_first, function->head_last);
    cpu_text_format(out, " constexpr int mw_special_%.*s_%.*s", TEXT(&from->at[in->kernel->name]), TEXT(name));
    cpu_text_plain(out, from, arguments.first, function->special ? arguments.last : arguments.first);
    cpu_text_format(out, " = %d;\n", list[i]);
  }
}

/* The number of a function of the list, as a constant: that of a template with specialisations depends on its arguments. */
static void number_put(const cpu_splitter *in, const cpu_token *name, int index, bool special, cpu_text *out) {
  const cpu_function *function = &in->program->functions[index];
  header names = {0};
  if (!special || !function->is_template || !header_read(in, function, &names)) {
    cpu_text_format(out, "%d", index);
    return;
  }
  cpu_text_format(out, "mw_special_%.*s_%.*s", TEXT(&in->program->tokens.at[in->kernel->name]), TEXT(name));
  for (int i = 0; i < names.count; i++) cpu_text_format(out, "%s%.*s", i ? ", " : "<", TEXT(names.names[i]));
  cpu_text_put(out, ">");
}

/* mw_constant<3> mw_which_f(float v); for each: the compiler's own choice. */
static void choosers_put(cpu_splitter *in, const cpu_token *name, const int *list, int count) {
  cpu_text text = {0}, *out = &in->prelude;
  const bool special = any_special(in, list, count);
  for (int i = 0; i < count; i++) {
    const cpu_function *function = &in->program->functions[list[i]];
    if (function->special) continue;
    text.size = 0;
    cpu_text_put(&text, "mw_constant<");
    number_put(in, name, list[i], special, &text);
    cpu_text_format(&text, "> mw_which_%.*s(", TEXT(name));
    if (out->at && strstr(out->at, text.at)) continue;
    if (special && function->is_template) specials_put(in, name, list, count, out);
    cpu_text_plain(out, &in->program->tokens, function->head_first, function->head_last);
    cpu_text_put(out, "\n");
    cpu_text_put(out, text.at);
    cpu_text_plain(out, &in->program->tokens, function->open + 1, function->close);
    cpu_text_put(out, ");\n");
  }
  mw_free(text.at);
}

/* x = f ( v ) ;  ->
 * using mw_w3 = decltype ( mw_which_f ( v ) ) ; using mw_T3 = mw_plain < decltype ( f ( v ) ) > ; mw_T3 mw_r3 ;
 * if constexpr ( mw_w3 :: value == 5 ) mw_r3 = mw_overload_5 ( v ) ; else ... x = mw_r3 ;
 * In a template only the text of the one that is called has to compile. */
static void overloads_expand(cpu_splitter *in, int node, int call, const int *list, int count, cpu_tokens *next) {
  const cpu_tokens *work = &in->work;
  const cpu_node *statement = &in->nodes[node];
  const cpu_token *name = &work->at[call];
  const int end = work->at[cpu_call_open(work, call)].match + 1, number = ++in->serial;
  const cpu_range parts[] = {{call + 1, end}, {statement->first, call}, {end, statement->last}};
  const bool alone = statement->first == call && end == statement->last - 1;
  const bool wrap = statement->kind != CPU_NODE_DECLARE;
  choosers_put(in, name, list, count);
  cpu_tokens_format(next, name, "%s using mw_w%d = decltype ( mw_which_%.*s ", wrap ? "{" : "", number, TEXT(name));
  cpu_tokens_build(next, work, name, 0, "$0 ) ; ", parts);
  if (!alone) {
    cpu_tokens_format(next, name, "using mw_t%d = mw_plain < decltype ( %.*s ", number, TEXT(name));
    cpu_tokens_build(next, work, name, number, "$0 ) > ; mw_t# mw_r# ; ", parts);
  }
  for (int i = 0; i < count; i++) {
    cpu_tokens_format(next, name, "%s if constexpr ( mw_w%d :: value == %d ) { ", i ? " else" : "", number, list[i]);
    if (!alone) cpu_tokens_format(next, name, "mw_r%d = ", number);
    cpu_tokens_format(next, name, "%s%d ", overload, list[i]);
    cpu_tokens_build(next, work, name, 0, "$0 ; }", parts);
  }
  if (!alone) cpu_tokens_build(next, work, name, number, " $1 mw_r# $2", parts);
  if (wrap) cpu_tokens_scan(next, " }", name);
}

/* Done, where the call has to be made plainer first: by default arguments, or by the choice among several functions. */
static bool call_clear(cpu_splitter *in, int node, int call, int *callee, cpu_tokens *next) {
  const cpu_token *name = &in->work.at[call];
  const bool chosen = cpu_overload_at(in, call) >= 0;
  const int open = cpu_call_open(&in->work, call);
  cpu_range arguments[MW_MOST_PARAMS];
  int list[MOST_OVERLOADS] = {*callee};
  const int count = open < 0 ? -1 : cpu_arguments(&in->work, open, arguments, MW_MOST_PARAMS);
  const int found = chosen ? takes(in, &in->program->functions[*callee], count) : overloads_find(in, name, count, list);
  if (found < 1) return false;
  if (found > 1 && !are_choosable(in, list, found)) {
    cpu_split_reject(in, call, "which '%.*s' is called is not understood", TEXT(name));
    return true;
  }
  *callee = list[0];
  const cpu_function *function = &in->program->functions[*callee];
  if (found > 1)
    overloads_expand(in, node, call, list, found, next);
  else if (count < function->nformals)
    defaults_put(in, node, call, function, count, next);
  return found > 1 || count < function->nformals;
}

void cpu_helper_expand(cpu_splitter *in, int node, int call, int callee, cpu_tokens *next) {
  if (!cpu_is_member(&in->work, call) && call_clear(in, node, call, &callee, next)) return;
  const cpu_function *function = &in->program->functions[callee];
  const cpu_tokens *from = &in->program->tokens;
  expansion it = {.in = in, .callee = function, .call = call, .like = &in->work.at[call], .next = next};
  it.suffix = ++in->serial;
  const bool special = function->special && cpu_overload_at(in, call) < 0;
  if (function->is_class || function->body < 0 || special || cpu_is_member(&in->work, call))
    reject(&it, "is a member, a specialisation, or without a body");
  else if (function->recursive && !function->overloaded) /* of an overload the name alone does not say */
    reject(&it, "calls itself");
  if (function->overloaded) snprintf(it.tail, sizeof it.tail, "_%d", callee);
  if (in->rejected) return;
  it.body = (cpu_splitter){.program = in->program, .kernel = in->kernel, .why = in->why, .why_size = in->why_size};
  it.body.work = cpu_tokens_beside(from);
  cpu_tokens_copy(&it.body.work, from, function->body, from->at[function->body].match + 1);
  cpu_tokens_match(&it.body.work);
  cpu_tree_read(&it.body);
  if (it.body.rejected)
    in->rejected = true;
  else
    expand(&it, node);
  cpu_splitter_free(&it.body);
}
