/* SPDX-License-Identifier: MIT
 *
 * From a kernel to a function that runs a whole block of threads, by the passes below:
 *
 *   __global__ void k(float *x) {                       static inline void k_mw(float *x) {
 *     __shared__ float s[64];                             float s[64];
 *     int t = threadIdx.x;                                for (threads) { int t = ...; s[t] = x[t]; }
 *     s[t] = x[t];                                  ->    for (threads) { int t = ...; x[t] = s[63 - t]; }
 *     __syncthreads();                                  }
 *     x[t] = s[63 - t];
 *   }
 *
 * A kernel without barriers becomes a function that runs a row of threads. The text is C++ over shim/split.h. */
#include "core/backend/cpu/split/split.h"

enum { NARROW_LABELS = 10000 }; /* the second text of a function begins to count here */

/* ---- the copy of the body -------------------------------------------------------------------------------------- */

static bool formal_changed(const cpu_splitter *in, const mw_formal *formal) {
  const mw_tokens *from = &in->program->tokens;
  if (formal->name < 0) return false;
  return cpu_written_in(in->program, from, in->kernel->body, in->kernel->last, &from->at[formal->name], CPU_POINTER);
}

/* A parameter that the kernel changes becomes a variable of the body:
 *   int n  ->  int mw_a_n; { int n = mw_a_n; */
static void body_copy(cpu_splitter *in) {
  const mw_tokens *from = &in->program->tokens;
  int open = in->kernel->body;
  in->work = mw_tokens_beside(from);
  mw_tokens_copy(&in->work, from, open, open + 1);
  for (int i = 0; i < in->kernel->nformals && !in->rejected; i++) {
    const mw_formal *formal = &in->kernel->formals[i];
    in->changed[i] = formal_changed(in, formal);
    if (!in->changed[i]) continue;
    const mw_token *name = &from->at[formal->name];
    const bool array = mw_token_is(&from->at[formal->name + 1], "["); /* a pointer to what follows the first bracket */
    if (formal->name != formal->last - 1 && !array)
      cpu_split_reject(in, 0, "parameter '%.*s' is changed, and of a type that is not understood", TEXT(name));
    mw_tokens_copy(&in->work, from, formal->first, array ? formal->name : formal->last);
    if (array) mw_tokens_format(&in->work, name, " ( * %.*s )", TEXT(name));
    if (array) mw_tokens_copy(&in->work, from, from->at[formal->name + 1].match + 1, formal->last);
    mw_tokens_format(&in->work, name, " = mw_a_%.*s ; ", TEXT(name));
  }
  cpu_work_add(in, open + 1, from->at[open].match + 1);
  mw_tokens_match(&in->work);
}

/* ---- the passes ------------------------------------------------------------------------------------------------ */

static const struct {
  cpu_pass *run;
  bool reorders; /* threads take turns inside of what one thread did at a stretch */
} passes[] = {
    {body_copy, false},         {cpu_inline, false}, {cpu_conditions, false},
    {cpu_strides, true},        {cpu_hoist, true},   {cpu_interchange, true},
    {cpu_bounds_checks, false}, {cpu_places, false}, {cpu_gather, true},
};

/* A thread that holds a lock must come to its end before the next one waits for it. */
static bool may_lock(const cpu_program *program) {
  int i = 0;
  while (i < program->names.count && !mw_is_builtin(&program->tokens.at[program->names.at[i].token], MW_CUDA_LOCK)) i++;
  return i < program->names.count || cpu_has_word(program, "volatile");
}

/* False: rejected. */
static bool body_make(cpu_splitter *in, bool reorder, mw_text *out, int first_label) {
  reorder = reorder && !may_lock(in->program);
  for (size_t i = 0; i < sizeof passes / sizeof *passes && !in->rejected; i++)
    if (reorder || !passes[i].reorders) passes[i].run(in);
  if (!in->rejected) cpu_body_put(in, out, first_label);
  return !in->rejected;
}

/* ---- the function ---------------------------------------------------------------------------------------------- */

static void formal_put(const cpu_program *program, mw_text *out, const mw_formal *formal, bool changed) {
  int name = changed ? formal->name : formal->last;
  cpu_emit_declaration(program, out, formal->first, name);
  if (!changed) return;
  mw_text_put(out, " mw_a_");
  mw_text_plain(out, &program->tokens, name, name + 1);
  cpu_emit_declaration(program, out, name + 1, formal->last);
}

/* MW_SPLIT void k_mw(int *x, int mw_a_n) { */
static void signature_put(const cpu_splitter *in, mw_text *out, const char *suffix) {
  const cpu_function *kernel = in->kernel;
  const mw_tokens *tokens = &in->program->tokens;
  mw_text_put(out, " MW_SPLIT void ");
  mw_text_plain(out, tokens, kernel->name, kernel->name + 1);
  mw_text_format(out, "%s(%s", suffix, in->plain ? "MW_ROW_PARAMETERS" : "");
  if (in->plain && kernel->nformals) mw_text_put(out, ", ");
  for (int i = 0; i < kernel->nformals; i++) {
    if (i) mw_text_put(out, ", ");
    formal_put(in->program, out, &kernel->formals[i], in->changed[i]);
  }
  mw_text_put(out, ") {\n");
}

static void head_put(const cpu_splitter *in, mw_text *out) {
  mw_text_put(out, "\n");
  if (in->prelude.at) mw_text_put(out, in->prelude.at);
  mw_text_range(out, &in->program->tokens, in->kernel->head_first, in->kernel->head_last);
  if (in->late) mw_text_put(out, "template <class mw_any>");
  signature_put(in, out, in->late ? "_mw_late" : "_mw");
  mw_text_put(out, in->plain ? " MW_ROW_BLOCK\n" : " MW_BLOCK\n");
  out->file = 0;
  cpu_emit_shared(in->program, in->kernel, out, &in->work, (mw_span){0, in->work.count});
  mw_text_put(out, "\n");
}

/* MW_SPLIT void k_mw(int *x) { k_mw_late<void>(x); } */
static void late_put(const cpu_splitter *in, mw_text *out) {
  const cpu_function *kernel = in->kernel;
  const mw_token *at = in->program->tokens.at;
  signature_put(in, out, "_mw");
  mw_text_format(out, "  %.*s_mw_late<void>(", TEXT(cpu_kernel_name(in)));
  for (int i = 0; i < kernel->nformals; i++)
    mw_text_format(out, "%s%s%.*s", i ? ", " : "", in->changed[i] ? "mw_a_" : "", TEXT(&at[kernel->formals[i].name]));
  mw_text_put(out, ");\n}\n");
  out->file = 0;
}

/* With few threads side by side a lifted loop costs more than it saves (a block of 1 x 256 threads: up to 7 times). */
static void narrow_put(const cpu_splitter *wide, mw_text *out) {
  cpu_splitter in = {.program = wide->program, .kernel = wide->kernel, .why = wide->why, .why_size = wide->why_size};
  mw_text body = {0};
  in.plain = true;
  if (body_make(&in, false, &body, NARROW_LABELS)) mw_text_format(out, "if (mw_n < 8) {\n%s\nreturn;\n}\n", body.at);
  mw_free(body.at);
  cpu_splitter_free(&in);
}

static char *split_once(cpu_program *program, cpu_function *kernel, bool reorder, char *why, size_t why_size) {
  cpu_splitter in = {.program = program, .kernel = kernel, .why = why, .why_size = why_size};
  mw_text body = {0}, all = {0};
  in.plain = kernel->barrier < 0;
  if (body_make(&in, reorder, &body, 0)) {
    head_put(&in, &all);
    if (in.plain && cpu_has_interchanged(&in)) narrow_put(&in, &all);
    if (body.at) mw_text_put(&all, body.at);
    mw_text_put(&all, "\n}\n");
    if (in.late) late_put(&in, &all);
  }
  mw_free(body.at);
  cpu_splitter_free(&in);
  return all.at;
}

/* What is rejected with threads reordered may do without. */
char *cpu_split(cpu_program *program, cpu_function *kernel, char *why, size_t why_size) {
  char *text = split_once(program, kernel, true, why, why_size);
  return text ? text : split_once(program, kernel, false, why, why_size);
}
