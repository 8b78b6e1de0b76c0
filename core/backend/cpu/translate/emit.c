/* SPDX-License-Identifier: MIT
 *
 * The generated C++ of a unit: the user's text with CUDA's qualifiers rewritten, split kernels in their split form,
 * and the table that abi.h describes. Lines stay the user's by line markers. shim/entry.h holds the C++ that the
 * table is made of. */
#include <string.h>

#include "core/backend/cpu/check/mark/mark.h"
#include "core/backend/cpu/translate/translate.h"

/* ---- items ----------------------------------------------------------------------------------------------------- */

static const char *function_macro(const cpu_program *program, const cpu_function *function) {
  if (cpu_function_is_member(program, function)) return " MW_MEMBER ";
  const bool is_static = !function->declared_within;
  if (function->kernel) return is_static ? " MW_KERNEL " : " MW_EXTERN_KERNEL ";
  if (function->recursive) return is_static ? " MW_RECURSIVE " : " MW_MEMBER ";
  return is_static ? " MW_HELPER " : " MW_EXTERN_HELPER ";
}

/* The loop over the threads, as mw_order of shim/entry.h or as its macro. The compiler is told of ordered ones by their
 * name (compiler.c). */
static const char *loop_name(const cpu_function *function, bool macro) {
  if (function->rereads && function->ordered)
    return macro ? "MW_INDEX_LOOP /* MW_ORDERED_LOOP */" : "mw_reread /* MW_ORDERED_LOOP */";
  if (function->rereads) return macro ? "MW_INDEX_LOOP" : "mw_reread";
  if (function->ordered) return macro ? "MW_ORDERED_LOOP" : "mw_ordered /* MW_ORDERED_LOOP */";
  return macro ? "MW_FREE_LOOP" : "mw_free";
}

/* The compiler warns of the text as it was written (see reading_put), not of what is made of it. */
static void split_put(const cpu_function *function, mw_text *out) {
  mw_text_put(out, "\nMW_UNREAD_BEGIN\n");
  const bool loops = function->ordered || function->rereads;
  if (loops) mw_text_format(out, "#undef MW_VECTOR_LOOP\n#define MW_VECTOR_LOOP %s\n", loop_name(function, true));
  mw_text_put(out, function->split);
  if (loops) mw_text_put(out, "\n#undef MW_VECTOR_LOOP\n#define MW_VECTOR_LOOP MW_FREE_LOOP\n");
  mw_text_put(out, "\nMW_UNREAD_END\n");
  out->file = 0;
}

/* As it was written. */
static void whole_put(const cpu_program *program, const cpu_function *function, mw_text *out) {
  const mw_tokens *tokens = &program->tokens;
  mw_text_range(out, tokens, function->head_first, function->head_last);
  mw_text_put(out, function_macro(program, function));
  int body = function->body < 0 ? function->last : function->body + 1;
  cpu_emit_declaration(program, out, function->first, body);
  if (function->body < 0) return;
  cpu_emit_shared(program, function, out, tokens, (mw_span){body, function->last});
  cpu_emit_tokens(tokens, out, body, function->last, cpu_placed);
}

static void declaration_put(const cpu_program *program, const cpu_function *function, mw_text *out) {
  mw_text_range(out, &program->tokens, function->head_first, function->head_last);
  mw_text_put(out, function_macro(program, function));
  cpu_emit_declaration(program, out, function->first, function->body < 0 ? function->last - 1 : function->body);
  mw_text_put(out, ";");
}

/* A function of which the unit needs a declaration only, if that. Next to split forms the compiler reads it whole, for
 * its warnings, and makes no code of it; arguments of templates may name a helper. */
static void reading_put(const cpu_attempt *attempt, const cpu_function *function, mw_text *out) {
  const cpu_program *program = attempt->program;
  if (function->body >= 0 && cpu_attempt_has_split(attempt))
    whole_put(program, function, out);
  else if (function->kernel ||
           (function->body >= 0 && function->name >= 0 && !cpu_function_is_member(program, function)))
    declaration_put(program, function, out);
}

/* Whether the fast flavor defines a kernel as a function of one thread. */
static bool is_loop(const cpu_attempt *attempt, const cpu_function *function) {
  return !function->special && cpu_attempt_has(attempt, function) && !function->split;
}

/* In the fast flavor a kernel is declared, for the sake of its type, and defined under the name k_mw: as a function of
 * one thread that takes its coordinates as parameters (thread-local variables would keep loops from being vectorised),
 * or as what split.c makes of it: a function of a row of threads, or of a block where there are barriers. A kernel that
 * only fibers run is only declared. */
static void kernel_put(const cpu_attempt *attempt, const cpu_function *function, mw_text *out) {
  const cpu_program *program = attempt->program;
  const mw_tokens *tokens = &program->tokens;
  if (!is_loop(attempt, function)) {
    reading_put(attempt, function, out);
    if (function->split && cpu_attempt_has(attempt, function)) split_put(function, out);
    return;
  }
  declaration_put(program, function, out);
  mw_text_range(out, tokens, function->head_first, function->head_last);
  mw_text_put(out, " MW_KERNEL ");
  cpu_emit_declaration(program, out, function->first, function->name + 1);
  mw_text_put(out, "_mw(MW_COORDINATES");
  if (function->nformals) mw_text_put(out, ", ");
  if (function->nformals) cpu_emit_declaration(program, out, function->open + 1, function->close);
  mw_text_put(out, ") {");
  cpu_emit_shared(program, function, out, tokens, (mw_span){function->body + 1, function->last});
  out->indexed = true;
  cpu_emit_tokens(tokens, out, function->body + 1, function->last, cpu_placed);
  out->indexed = false;
}

static void function_put(const cpu_attempt *attempt, const cpu_function *function, mw_text *out) {
  const cpu_program *program = attempt->program;
  const bool fast = attempt->flavor == CPU_FAST;
  if (function->is_class) {
    cpu_emit_tokens(&program->tokens, out, function->head_first, function->last, cpu_placed);
    return;
  }
  cpu_shared_size_put(program, function, out);
  if (fast && function->kernel && !function->special)
    kernel_put(attempt, function, out);
  else if (fast && function->barrier >= 0)
    reading_put(attempt, function, out);
  else
    whole_put(program, function, out);
}

static void variable_put(const cpu_program *program, const cpu_item *item, mw_text *out) {
  const mw_token *at = program->tokens.at;
  int first = item->first;
  if (mw_token_is(&at[first], "template")) {
    int end = mw_angle_end(&program->tokens, first + 1, item->last);
    mw_text_range(out, &program->tokens, first, end);
    first = end;
  }
  for (int i = first; i < item->last; i++)
    if (mw_token_is(&at[i], "extern")) return;
  const bool is_initialised = mw_find_open(&program->tokens, first, item->last, WORDS("=")) < item->last;
  const bool is_constexpr = mw_has(&program->tokens, first, item->last, "constexpr");
  mw_text_put(out, is_constexpr ? " static " : is_initialised ? " MW_INITIALISED " : " MW_UNINITIALISED ");
  cpu_emit_declaration(program, out, first, item->last);
}

/* The items in the source's order; each that is a function or class stands for the next of the functions. */
static void items_put(const cpu_attempt *attempt, mw_text *out) {
  const cpu_program *program = attempt->program;
  const cpu_function *function = program->functions;
  for (int i = 0; i < program->nitems; i++) {
    const cpu_item *item = &program->items[i];
    if (item->kind == CPU_ITEM_TEXT)
      cpu_emit_tokens(&program->tokens, out, item->first, item->last, cpu_tls_shared);
    else if (item->kind == CPU_ITEM_FUNCTION)
      function_put(attempt, function++, out);
    else if (item->kind == CPU_ITEM_VARIABLE)
      variable_put(program, item, out);
    else if (item->kind == CPU_ITEM_SHARED)
      cpu_emit_place(program, out, item);
  }
}

/* ---- the table ------------------------------------------------------------------------------------------------- */

static void string_put(mw_text *out, const char *text) {
  mw_text_put(out, "\"");
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') mw_text_put(out, "\\");
    mw_text_add(out, text, 1);
  }
  mw_text_put(out, "\"");
}

static void param_names_put(const cpu_program *program, const cpu_function *function, mw_text *out) {
  for (int i = 0; i < function->nformals; i++) {
    int name = function->formals[i].name;
    mw_text_put(out, "\"");
    if (name >= 0) mw_text_plain(out, &program->tokens, name, name + 1);
    mw_text_put(out, "\", ");
  }
  mw_text_put(out, "\"\"");
}

typedef struct instance { /* a kernel, or a template with its arguments */
  const cpu_function *function;
  const char *name; /* as asked for */
  char *reference;  /* as C++ finds it from outside of every namespace */
  int index;
} instance;

/* The lines that only the kernel's own text can break are named after it in compiler messages. */
static void instance_params_put(const cpu_program *program, const instance *it, mw_text *out) {
  mw_text_format(out, "\n# 1 \"kernel '%s'\"\n", it->name);
  mw_text_format(out, "typedef mw_kernel_type<decltype(&%s)>::type mw_type_%d;\n# 1 \"moonwarp\"\n", it->reference,
                 it->index);
  mw_text_format(out, "static constexpr const char *mw_names_%d[] = {", it->index);
  param_names_put(program, it->function, out);
  mw_text_format(out, "};\nstatic constexpr auto mw_params_%d = mw_describe<mw_type_%d>(mw_names_%d);\n", it->index,
                 it->index, it->index);
}

/* "ns::scale<float>" -> ns::scale_mw<float>, for what is generated next to the kernel. */
static void reference_put(const instance *it, const char *suffix, mw_text *out) {
  int stem = (int)strcspn(it->reference, "<");
  mw_text_format(out, "%.*s%s%s", stem, it->reference, suffix, it->reference + stem);
}

static void run_put(const cpu_program *program, const instance *it, mw_text *out) {
  const bool block = it->function->split && it->function->barrier >= 0;
  mw_text_format(out, "%s<mw_type_%d, decltype(&", block ? "mw_split_run" : "mw_loop_run", it->index);
  reference_put(it, "_mw", out);
  mw_text_put(out, "), &");
  reference_put(it, "_mw", out);
  if (!block)
    mw_text_format(out, ", %d, %s, %s", cpu_calls_for_index(program, it->function), cpu_walk(program, it->function),
                   it->function->split ? "mw_free" : loop_name(it->function, false));
  mw_text_put(out, ">::run");
}

static void instance_entry_put(const cpu_attempt *attempt, const instance *it, mw_text *out) {
  const cpu_function *function = it->function;
  const cpu_flavor flavor = attempt->flavor;
  const bool fast = cpu_attempt_has(attempt, function);
  mw_text_put(out, "  {");
  string_put(out, it->name);
  mw_text_format(out, ", mw_params_%d.at, mw_params_%d.count, mw_params_%d.bytes, \"%s\", ", it->index, it->index,
                 it->index, fast ? function->engine : "fiber");
  string_put(out, function->engine_why);
  mw_text_format(out, ", %d, ", function->max_threads);
  cpu_shared_sum_put(attempt->program, function, it->reference, out);
  mw_text_put(out, ", ");
  if (fast)
    run_put(attempt->program, it, out);
  else
    mw_text_put(out, "nullptr");
  if (flavor != CPU_FAST)
    mw_text_format(out, ", mw_thread_run<mw_type_%d, &%s>::run", it->index, it->reference);
  else
    mw_text_put(out, ", nullptr");
  const bool waits = function->wait >= 0;
  const char *fibers = function->barrier >= 0 || waits || function->counted ? "1"
                       : flavor == CPU_COUNT && function->loops             ? "MW_FIBERS_TO_COUNT"
                                                                            : "0";
  mw_text_format(out, ", %s, %d},\n", fibers, waits);
}

static void kernels_put(const cpu_attempt *attempt, const instance *list, int count, mw_text *out) {
  for (int i = 0; i < count; i++) instance_params_put(attempt->program, &list[i], out);
  mw_text_put(out, "static const mw_unit_kernel mw_kernels[] = {\n");
  for (int i = 0; i < count; i++) instance_entry_put(attempt, &list[i], out);
  mw_text_put(out, "  {}};\n");
}

/* Warnings that only an instance shows; the entries of loops instantiate those. */
static void instances_read(const cpu_attempt *attempt, const instance *list, int count, mw_text *out) {
  mw_text_put(out, "static inline void mw_read() {\n");
  for (int i = 0; i < count; i++)
    if (list[i].function->is_template && !is_loop(attempt, list[i].function))
      mw_text_format(out, "  (void)&%s;\n", list[i].reference);
  mw_text_put(out, "}\n");
}

static void variable_table_put(const cpu_program *program, mw_text *out) {
  mw_text_put(out, "static const mw_unit_variable mw_variables[] = {\n");
  for (int i = 0; i < program->nvariables; i++) {
    const cpu_variable *variable = &program->variables[i];
    const mw_token *name = &program->tokens.at[variable->name];
    mw_text_format(out, "  mw_variable(\"%.*s\", %s%.*s, %d),\n", TEXT(name), variable->scope, TEXT(name),
                   variable->is_const);
  }
  mw_text_put(out, "  {}};\n");
}

/* ---- instances ------------------------------------------------------------------------------------------------- */

/* A kernel that the table lists: an instance of it, where it is a template. */
static bool is_listed(const cpu_function *function, bool is_template) {
  return function->kernel && function->body >= 0 && function->is_template == is_template && !function->special;
}

/* "ns::scale<float>" -> the template scale, referred to as ns::scale<float>. */
static bool instance_find(const cpu_program *program, const char *asked, instance *out) {
  const mw_token bare = mw_bare_name(asked);
  const char *arguments = asked + strcspn(asked, "<");
  for (int i = 0; i < program->nfunctions; i++) {
    const cpu_function *function = &program->functions[i];
    if (!is_listed(function, *arguments == '<') || !mw_same_text(&program->tokens.at[function->name], &bare)) continue;
    char *reference = mw_format("%s%.*s%s", function->scope, TEXT(&bare), arguments);
    *out = (instance){function, asked, reference, out->index};
    return true;
  }
  return false;
}

static bool instance_known(const instance *list, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (!strcmp(list[i].name, name)) return true;
  return false;
}

static int instances_plain(const cpu_program *program, instance *list) {
  int count = 0;
  for (int i = 0; i < program->nfunctions; i++) {
    const cpu_function *function = &program->functions[i];
    if (!is_listed(function, false)) continue;
    const mw_token *name = &program->tokens.at[function->name];
    list[count] =
        (instance){function, mw_format("%.*s", TEXT(name)), mw_format("%s%.*s", function->scope, TEXT(name)), count};
    count++;
  }
  return count;
}

/* Functions that few kernels name, by the beginnings of their names: a unit includes those that its text mentions,
 * since parsing all of them takes as long as compiling a small kernel. A beginning may match more; that costs time. */
static const struct header_group {
  const char *header, *begins[9];
} header_groups[] = {{"atomic", {"atomic", "__nv_atomic", "__NV_"}},
                     {"convert", {"__f", "__d", "__int", "__uint", "__ll", "__ull", "__long", "__hilo"}},
                     {"local", {"mw_fenced", "mw_unset"}},
                     {"packed", {"__v"}},
                     {"ptx", {"mw_register"}},
                     {"rounded", {"__f", "__d"}},
                     {"special", {"sinpi", "cospi", "sincospi", "norm", "rnorm", "rhypot", "erf", "cyl_"}},
                     {"std", {"std"}},
                     {"texture", {"tex1D", "tex2D", "tex3D", "texC", "surf", "cudaT", "cudaS", "cudaB"}}};

static bool is_mentioned(const struct header_group *group, const char *text) {
  static const char letters[] = "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (const char *word = text; *(word += strcspn(word, letters)); word += strspn(word, letters))
    for (const char *const *begin = group->begins; *begin; begin++)
      if (!strncmp(word, *begin, strlen(*begin))) return true;
  return false;
}

/* In angles: in quotes the compiler would look into the working folder first, for a text that comes by a pipe. */
static void head_put(const cpu_program *program, cpu_flavor flavor, const char *body, mw_text *out) {
  if (flavor == CPU_FAST && program->operators) mw_text_put(out, "#define MW_OPERATORS 1\n");
  if (cpu_is_checked(flavor)) mw_text_put(out, "#define MW_CHECK 1\n");
  if (flavor == CPU_COUNT) mw_text_put(out, "#define MW_COUNT 1\n");
  mw_text_format(out, "#define %s 1\n#include <moonwarp.h>\n", flavor == CPU_FAST ? "MW_FAST" : "MW_FIBER");
  for (size_t i = 0; i < sizeof header_groups / sizeof *header_groups; i++)
    if (is_mentioned(&header_groups[i], body))
      mw_text_format(out, "#include <moonwarp/%s.h>\n", header_groups[i].header);
  mw_text_format(out, "#include <entry.h>\n%s", flavor == CPU_FAST ? "#include <split.h>\n" : "");
}

static void body_put(const cpu_attempt *attempt, const instance *list, int count, mw_text *out) {
  const cpu_program *program = attempt->program;
  items_put(attempt, out);
  mw_text_put(out, "\n# 1 \"moonwarp\"\n");
  kernels_put(attempt, list, count, out);
  if (cpu_attempt_has_split(attempt)) instances_read(attempt, list, count, out);
  variable_table_put(program, out);
  mw_text_format(out, "MW_TABLE(mw_kernels, %d, mw_variables, %d)\n", count, program->nvariables);
}

static void padding_put(const cpu_attempt *attempt, mw_text *out) {
  if (attempt->unmarked)
    mw_text_put(out, "MW_CHECK_PADDED(true)\n");
  else
    cpu_padding_put(attempt->program, out);
}

/* The tokens as check mode has them; the program's files must outlive them. */
static mw_tokens marked(const cpu_attempt *attempt) {
  const mw_tokens *from = &attempt->program->tokens;
  mw_tokens out = mw_tokens_beside(from);
  mw_tokens_copy(&out, from, 0, from->count);
  mw_tokens_match(&out);
  for (int i = 0; i < out.count; i++)
    if (out.at[i].marks & CPU_WEAK) out.at[i].size = 0; /* the plain accesses of inline PTX are plain */
  if (attempt->flavor == CPU_CHECK && !attempt->unmarked) cpu_locals_follow(attempt->program, &out);
  if (attempt->flavor == CPU_COUNT && !attempt->unmarked) cpu_loops_mark(attempt->program, &out);
  cpu_aligned_test(attempt->program, &out);
  return out;
}

char *cpu_emit(const cpu_attempt *attempt) {
  const cpu_program *program = attempt->program;
  const char *const *asked = attempt->asked;
  int wanted = 0;
  while (asked[wanted]) wanted++;
  instance *list = mw_calloc((size_t)(program->nfunctions + wanted + 1), sizeof *list);
  int plain = instances_plain(program, list), count = plain;
  for (int i = 0; i < wanted; i++) {
    list[count].index = count;
    if (!instance_known(list, count, asked[i]) && instance_find(program, asked[i], &list[count])) count++;
  }
  mw_text body = {.checked = cpu_is_checked(attempt->flavor)}, out = {0};
  cpu_program emitted = *program;
  cpu_attempt it = *attempt;
  it.program = &emitted;
  if (body.checked) emitted.tokens = marked(attempt);
  body_put(&it, list, count, &body);
  if (body.checked) padding_put(attempt, &body);
  if (body.checked) mw_tokens_free(&emitted.tokens);
  head_put(program, it.flavor, body.at, &out);
  mw_text_add(&out, body.at, body.size);
  mw_free(body.at);
  for (int i = 0; i < count; i++) {
    if (i < plain) mw_free((void *)list[i].name);
    mw_free(list[i].reference);
  }
  mw_free(list);
  return out.at;
}
