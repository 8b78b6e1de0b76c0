/* SPDX-License-Identifier: MIT
 *
 * Which functions reach barriers, warp operations and thread indices, and through which calls; and what the CPU device
 * does not have, rejected by name. Calls are found by name: every function of that name counts, so that overloads and
 * members err on the safe side. */
#include <stdio.h>
#include <string.h>

#include "core/backend/cpu/program/program.h"
#include "core/backend/reject.h"
#include "core/compile/excerpt.h"

/* Where a file says using namespace cub. */
static const char *const *const collectives =
    WORDS("BlockReduce", "BlockScan", "BlockLoad", "BlockStore", "BlockExchange", "BlockAdjacentDifference",
          "WarpReduce", "WarpScan");

/* ---- calls ----------------------------------------------------------------------------------------------------- */

void cpu_call_note(cpu_function *function, int callee) {
  for (int i = 0; i < function->ncalls; i++)
    if (function->calls[i] == callee) return;
  function->calls = mw_realloc(function->calls, (size_t)(function->ncalls + 1) * sizeof *function->calls);
  function->calls[function->ncalls++] = callee;
}

/* Is it a function of cooperative groups, whatever functions of that name the program has: tile.all(x),
 * cg::reduce(...)? */
static bool is_of_groups(const cpu_program *program, int i) {
  const mw_token *at = program->tokens.at;
  if (i < 2 || !mw_token_is(&at[i - 1], "::")) return cpu_is_group_call(program, i);
  if (mw_token_is(&at[i - 2], "cooperative_groups")) return true;
  for (int k = 0; k + 3 < i; k++)
    if (mw_token_is(&at[k], "namespace") && mw_same_text(&at[k + 1], &at[i - 2]) && mw_token_is(&at[k + 2], "="))
      return mw_token_is(&at[k + 3], "cooperative_groups");
  return false;
}

/* What a function names is what it may call; obj.sync() counts as a use of the class that defines sync. Kernels are
 * left out: no device code calls them. */
void cpu_names_take(cpu_program *program, cpu_function *function, int first, int last) {
  const mw_token *at = program->tokens.at;
  for (int i = first; i < last; i++) {
    if (at[i].kind != MW_TOKEN_NAME || i == function->name) continue;
    if (mw_token_is(&at[i], "friend")) { /* without a body it calls nothing */
      const mw_declaration it = mw_declaration_read(&program->tokens, i, last);
      if (it.body < 0) i = it.last - 1;
      continue;
    }
    if (function->own_barrier < 0 && cpu_is_meeting(program, i)) function->own_barrier = i;
    function->reaches_thread |= mw_token_is(&at[i], "threadIdx");
    function->loops |= mw_token_any(&at[i], WORDS("for", "while", "do", "goto"));
    if (cpu_is_formal(program, function, &at[i]) && !mw_is_member(&program->tokens, i)) continue;
    for (int k = -1; (k = cpu_callee_next(program, &program->tokens, i, k)) >= 0;) {
      const cpu_function *callee = &program->functions[k];
      if (callee->body >= 0 && !callee->kernel && i != callee->name &&
          !(callee == function && is_of_groups(program, i)))
        cpu_call_note(function, k);
    }
  }
  if (function->barrier < 0) function->barrier = function->own_barrier;
  function->reaches_thread |= function->own_barrier >= 0;
}

static void body_read(cpu_program *program, cpu_function *function) {
  for (int i = function->open; i < function->body && !function->is_class; i++)
    if (function->own_barrier < 0 && mw_is_builtin(&program->tokens.at[i], MW_CUDA_GROUP)) function->own_barrier = i;
  const int first =
      function->is_class ? function->body : function->first; /* default arguments, and the result's type */
  cpu_names_take(program, function, first, function->last);
}

/* A name that stands for groups makes what uses it use groups. */
static void alias_spread(cpu_program *program, const mw_token *alias) {
  for (cpu_function *it = program->functions; it < program->functions + program->nfunctions; it++) {
    const int used = it->body < 0 ? it->last : mw_find_same(&program->tokens, it->body, it->last, alias);
    if (used == it->last || it->own_barrier >= 0) continue;
    it->own_barrier = it->barrier = used;
    it->reaches_thread = true;
  }
}

bool cpu_is_group(const cpu_program *program, const mw_token *token) {
  for (int i = 0; i < program->ngroups; i++)
    if (mw_same_text(&program->groups[i], token)) return true;
  return mw_is_builtin(token, MW_CUDA_GROUP) && !mw_token_is(token, "cooperative_groups");
}

static void alias_add(cpu_program *program, const mw_token *alias) {
  if (cpu_is_group(program, alias)) return;
  program->groups = mw_grow(program->groups, (size_t)program->ngroups, sizeof *program->groups);
  program->groups[program->ngroups++] = *alias;
  alias_spread(program, alias);
}

/* The name that a declaration, tokens i ... end-1, gives to what it says; NULL: none. */
static const mw_token *alias_of(const mw_token *at, int i, int end) {
  const bool is_using = mw_token_is(&at[i], "using"), has_value = mw_token_is(&at[i + 2], "=");
  if (mw_token_any(&at[i], WORDS("namespace", "using")) && has_value) return &at[i + 1];
  if (mw_token_any(&at[i], WORDS("typedef")) || (is_using && !mw_token_is(&at[i + 1], "namespace")))
    return at[end - 1].kind == MW_TOKEN_NAME ? &at[end - 1] : NULL;
  for (int k = i + 1; mw_token_is(&at[i], "constexpr") && k + 1 < end; k++)
    if (at[k].kind == MW_TOKEN_NAME && mw_token_is(&at[k + 1], "=")) return &at[k];
  return NULL;
}

/* namespace cg = cooperative_groups; using namespace cub; typedef cub::BlockReduce<int, 64> sums; using sums = ...;
 * constexpr auto scope = cuda::thread_scope_block; and further names of what such a name stands for. */
static void aliases_read(cpu_program *program) {
  const mw_token *at = program->tokens.at;
  for (int i = 0; i + 3 < program->tokens.count; i++) {
    if (!mw_token_any(&at[i], WORDS("namespace", "using", "typedef", "constexpr"))) continue;
    const int end = mw_find(&program->tokens, i, program->tokens.count, WORDS(";", "{"));
    const mw_token *alias = alias_of(at, i, end);
    for (int k = i + 1; alias && k < end; k++) {
      if (cpu_is_group(program, &at[k]) && &at[k] != alias) alias_add(program, alias);
      if (mw_token_is(&at[k], "cooperative_groups")) alias_spread(program, alias);
    }
    if (mw_token_is(&at[i], "using") && mw_token_is(&at[i + 1], "namespace") && mw_token_is(&at[i + 2], "cub"))
      for (const char *const *word = collectives; *word; word++)
        alias_add(program, &(mw_token){.kind = MW_TOKEN_NAME, .text = *word, .size = (int)strlen(*word)});
  }
}

void cpu_reach_take(cpu_function *caller, const cpu_function *callee) {
  if (caller->barrier < 0) caller->barrier = callee->barrier;
  if (caller->wait < 0) caller->wait = callee->wait;
  if (caller->by_parameter < 0) caller->by_parameter = callee->by_parameter;
  caller->counted |= callee->counted;
  caller->loops |= callee->loops;
  caller->reaches_thread |= callee->reaches_thread;
}

static int facts(const cpu_function *it) {
  return (it->barrier >= 0) + (it->wait >= 0) + (it->by_parameter >= 0) + it->counted + it->loops + it->reaches_thread;
}

bool cpu_calls_take(const cpu_program *program, cpu_function *caller) {
  const int before = facts(caller);
  for (int k = 0; k < caller->ncalls; k++) cpu_reach_take(caller, &program->functions[caller->calls[k]]);
  return facts(caller) > before;
}

/* Barriers and thread indices travel from callee to caller until nothing changes. */
static void reach_spread(cpu_program *program) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < program->nfunctions; i++) changed |= cpu_calls_take(program, &program->functions[i]);
  }
}

/* How many arguments the call at token `i` passes to a function that a parameter stands for; -1: no such call. */
static int arguments_by_parameter(const cpu_program *program, const cpu_function *function, int i) {
  const mw_token *at = program->tokens.at;
  mw_span list[64];
  if (at[i].kind != MW_TOKEN_NAME || !mw_token_is(&at[i + 1], "(") || mw_is_member(&program->tokens, i)) return -1;
  if (!cpu_is_formal(program, function, &at[i]) && !cpu_is_template_value(program, function, &at[i])) return -1;
  return mw_arguments(&program->tokens, i + 1, list, 64);
}

/* A function without a barrier that calls what a parameter stands for may reach the barrier of each that takes as many
 * arguments. */
static void parameters_follow(cpu_program *program, cpu_function *function) {
  for (int i = function->body; i < function->last && function->by_parameter < 0; i++) {
    const int arguments = arguments_by_parameter(program, function, i);
    for (int k = 0; k < program->nfunctions && arguments >= 0; k++) {
      const cpu_function *callee = &program->functions[k];
      if (callee != function && callee->body >= 0 && !callee->kernel && !callee->is_class && !callee->special &&
          callee->barrier >= 0 && callee->nformals == arguments) {
        cpu_call_note(function, k);
        function->by_parameter = i;
      }
    }
  }
}

void cpu_called(const cpu_program *program, const cpu_function *from, bool *reached) {
  for (int i = 0; i < from->ncalls; i++) {
    int callee = from->calls[i];
    if (reached[callee]) continue;
    reached[callee] = true;
    cpu_called(program, &program->functions[callee], reached);
  }
}

bool cpu_calls_for_index(const cpu_program *program, const cpu_function *function) {
  if (program->hidden.all.reaches_thread) return true;
  for (int i = 0; i < function->ncalls; i++)
    if (program->functions[function->calls[i]].reaches_thread) return true;
  return false;
}

static void recursion_find(cpu_program *program) {
  bool *seen = mw_malloc((size_t)program->nfunctions + 1);
  for (int i = 0; i < program->nfunctions; i++) {
    cpu_function *function = &program->functions[i];
    memset(seen, 0, (size_t)program->nfunctions + 1);
    cpu_called(program, function, seen);
    function->recursive = seen[i];
    for (int k = 0; k < program->nfunctions; k++)
      if (k != i && function->name >= 0 && function->body >= 0 && program->functions[k].body >= 0 &&
          cpu_function_named(program, &program->functions[k], &program->tokens.at[function->name]))
        function->overloaded = true;
  }
  mw_free(seen);
}

/* ---- what is rejected ------------------------------------------------------------------------------------------ */

typedef struct rejection {
  const char *const *words;
  const char *next;    /* next: the token that must follow; NULL: any */
  const char *what;    /* NULL: cpu_ptx_unknown says it; after the word itself where it begins with a blank */
  const char *instead; /* NULL: the CUDA device has it */
} rejection;

static const char no_mip_map[] = "moonwarp makes none on any device: read the texture without a level";
static const char no_reference[] = "CUDA 12 removed them, so that no device takes them: pass the array and index it";

static const rejection rejections[] = {
    {WORDS("asm", "__asm__", "__asm"), NULL, NULL, NULL},
    {WORDS("tex1DLod", "tex2DLod", "tex3DLod", "tex1DLayeredLod", "tex2DLayeredLod", "texCubemapLod", "tex1DGrad",
           "tex2DGrad", "tex3DGrad", "tex1DLayeredGrad", "tex2DLayeredGrad", "texCubemapGrad"),
     NULL, "mip maps", no_mip_map},
    {WORDS("texCubemapLayered"), NULL, "layered cube maps", "moonwarp makes none on any device"},
    {WORDS("texture"), "<", "texture references (texture<>)", no_reference},
    {WORDS("surface"), "<", "surface references (surface<>)", no_reference},
    {WORDS("BlockDiscontinuity", "BlockHistogram", "BlockMergeSort", "BlockRadixSort", "BlockShuffle", "WarpExchange",
           "WarpMergeSort"),
     "<", " of CUB", NULL},
    {WORDS("<<<", "cudaLaunchDevice"), NULL, "launches from device code (dynamic parallelism)",
     "no device of moonwarp has them: launch from Lua"},
    {WORDS("this_cluster", "cluster_group", "__cluster_dims__"), NULL, "thread block clusters", NULL},
    {NULL, NULL, NULL, NULL},
};

/* Device code, or a texture<...> outside of it, which kernels name. */
static bool is_checked(const cpu_program *program, const cpu_item *item) {
  if (item->kind != CPU_ITEM_HOST) return item->kind != CPU_ITEM_TEXT;
  const int first = item->first + mw_token_is(&program->tokens.at[item->first], "static");
  return mw_token_any(&program->tokens.at[first], WORDS("texture", "surface"));
}

/* A name that the source declares is its own. */
static char *name_wrong(const cpu_program *program, int *token) {
  const mw_token *at = &program->tokens.at[*token];
  const rejection *found = rejections;
  while (found->words && !(mw_token_any(at, found->words) && (!found->next || mw_token_is(at + 1, found->next))))
    found++;
  if (!found->words || cpu_function_next(program, at, -1) >= 0) return NULL;
  char *what = found->what ? mw_format("%.*s%s", *found->what == ' ' ? at->size : 0, at->text, found->what)
                           : cpu_ptx_unknown(&program->tokens, *token);
  char *why = mw_format("the CPU device has no %s; %s", what, found->instead ? found->instead : "use the CUDA device");
  mw_free(what);
  return why;
}

/* Errors in the declaration of shared memory at a token, which becomes that of the fault; NULL: nothing. */
static char *shared_wrong(const cpu_program *program, int *token) {
  int array = 0;
  const mw_body *tree =
      mw_token_is(&program->tokens.at[*token], "__shared__") ? cpu_tree_around(program, *token) : NULL;
  const int name = tree ? mw_shared_unsized(tree, *token, &array) : -1;
  if (name < 0) return NULL;
  *token = name;
  return mw_shared_unsized_text(&program->tokens, name, array);
}

/* new and delete, whether or not the optimiser would remove them; NULL: it is neither, or places, declares or deletes a
 * function. */
static char *allocation_wrong(const cpu_program *program, int *token) {
  const mw_token *at = &program->tokens.at[*token], *before = at - (*token > 0);
  const bool creates = mw_token_is(at, "new") && !mw_token_is(at + 1, "(");
  const bool deletes = mw_token_is(at, "delete") && !mw_token_is(before, "=");
  if ((!creates && !deletes) || mw_token_is(before, "operator")) return NULL;
  return mw_format("device code uses %.*s, which needs the CUDA device", TEXT(at));
}

/* uint3 blockIdx = threadIdx;  A variable of the name of CUDA's own would be taken for that. NULL if not. */
static char *coordinate_wrong(const cpu_program *program, int *token) {
  const mw_token *at = &program->tokens.at[*token];
  const bool coordinate = mw_is_builtin(at, MW_CUDA_COORDINATE);
  if (coordinate && *token && mw_token_is(at - 1, "::"))
    return mw_format("'%.*s' is written with a :: in front of it; leave that out", TEXT(at));
  const int type = *token - 1 - (*token > 1 && mw_token_any(at - 1, WORDS("&", "&&", "*", ">")));
  if (!coordinate || type < 0) return NULL;
  const mw_token *before = &program->tokens.at[type];
  if (!mw_token_is(before, "}") && (before->kind != MW_TOKEN_NAME || !mw_ends_operand(before))) return NULL;
  if (!mw_token_any(at + 1, WORDS("=", ";", ",", ")", "(", "{", "[", ":"))) return NULL;
  return mw_format("a variable is named '%.*s', as CUDA's own is; give it another name", TEXT(at));
}

/* The log has all of them, so that it is known which kernels are without. */
static mw_status program_check(const cpu_program *program, mw_error *error) {
  char *(*const checks[])(const cpu_program *, int *token) = {name_wrong, shared_wrong, allocation_wrong,
                                                              coordinate_wrong};
  mw_status status = MW_OK;
  mw_text log = {0};
  for (int k = 0; k < program->nitems; k++) {
    const cpu_item *item = &program->items[k];
    for (int i = item->first; is_checked(program, item) && i < item->last; i++) {
      char *why = NULL;
      int check = 0;
      while (check < 4 && !why) why = checks[check++](program, &i);
      if (!why) continue;
      const mw_status kind = checks[check - 1] == shared_wrong ? MW_COMPILE : MW_UNSUPPORTED;
      if (!log.at) status = mw_fail(error, kind, "%s: %s", cpu_where(program, i), why);
      mw_excerpt_say(&log, &program->source, &program->tokens, &program->tokens.at[i], why);
      mw_free(why);
      break;
    }
  }
  if (log.at) mw_error_log(error, log.at);
  return status;
}

/* What the kernel returns, in words; NULL: nothing, as it must be. */
static char *result_of(const cpu_program *program, const cpu_function *kernel) {
  const char *const *const words = WORDS("static", "inline", "__inline__", "__forceinline__", "__noinline__", "extern",
                                         "__global__", "__launch_bounds__", "__maxnreg__", "__attribute__", "template",
                                         "constexpr", "__block_size__", "__cluster_dims__");
  const mw_token *at = program->tokens.at;
  mw_text result = {0};
  for (int i = kernel->first; i < kernel->name; i++) {
    bool passed = mw_token_any(&at[i], words) || at[i].kind == MW_TOKEN_STRING || mw_token_is(&at[i], "[");
    if (passed && at[i + 1].match > i) i = at[i + 1].match;
    if (passed) continue;
    if (mw_token_is(&at[i], "auto") || mw_token_is(&at[i + 1], "::") || mw_token_is(&at[i], "::")) break;
    if (result.at && at[i].kind == MW_TOKEN_NAME) mw_text_put(&result, " ");
    mw_text_plain(&result, &program->tokens, i, i + 1);
  }
  if (result.at && strcmp(result.at, "void")) return result.at;
  mw_free(result.at);
  return NULL;
}

static mw_status kernel_check(const cpu_program *program, const cpu_function *kernel, mw_error *error) {
  const mw_token *name = &program->tokens.at[kernel->name];
  if (kernel->overloaded)
    return mw_fail(error, MW_UNSUPPORTED, "%s: there are two kernels named '%.*s'; give each its own name",
                   cpu_where(program, kernel->name), name->size, name->text);
  char *qualified = mw_format("%s%.*s", kernel->scope, TEXT(name));
  mw_status status = mw_check_kernel(program->source.name, qualified, kernel->nformals, 0, error);
  mw_free(qualified);
  char *result = status ? NULL : result_of(program, kernel);
  if (!result) return status;
  status = mw_fail(error, MW_COMPILE, "%s: kernel '%.*s' must return void, not %s", cpu_where(program, kernel->name),
                   name->size, name->text, result);
  mw_free(result);
  return status;
}

/* The log has all of them, as that of program_check. */
static mw_status kernels_check(const cpu_program *program, mw_error *error) {
  mw_status first = MW_OK;
  mw_text log = {0};
  for (int i = 0; i < program->nfunctions && first != MW_INVALID; i++) {
    const cpu_function *kernel = &program->functions[i];
    mw_error one = {0};
    if (!kernel->kernel || kernel->name < 0 || !kernel_check(program, kernel, &one)) continue;
    if (!first) first = mw_fail(error, one.status, "%s", one.text);
    const char *place = cpu_where(program, kernel->name);
    const bool placed = !strncmp(one.text, place, strlen(place));
    mw_excerpt_say(&log, &program->source, &program->tokens, &program->tokens.at[kernel->name],
                   one.text + (placed ? strlen(place) + 2 : 0));
  }
  if (first) mw_error_log(error, first == MW_INVALID ? NULL : log.at);
  if (!first || first == MW_INVALID) mw_free(log.at);
  return first;
}

mw_status cpu_callgraph_read(cpu_program *program, mw_error *error) {
  for (int i = 0; i < program->nfunctions; i++)
    if (program->functions[i].body >= 0) body_read(program, &program->functions[i]);
  aliases_read(program);
  reach_spread(program);
  for (int i = 0; i < program->nfunctions; i++)
    if (program->functions[i].body >= 0 && program->functions[i].barrier < 0)
      parameters_follow(program, &program->functions[i]);
  reach_spread(program);
  recursion_find(program);
  mw_status status = program_check(program, error);
  return status ? status : kernels_check(program, error);
}
