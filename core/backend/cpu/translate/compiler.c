/* SPDX-License-Identifier: MIT
 *
 * How the C++ compiler is called, and what it says. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend/cpu/check/mark/mark.h"
#include "core/backend/cpu/translate/translate.h"
#include "core/base/file.h"
#include "core/base/home.h"
#include "core/compile/cache.h"
#include "core/compile/excerpt.h"
#include "core/compile/limits.h"
#include "core/compile/process.h"
#include "core/compile/scratch.h"
#include "core/compile/warnings.h"
#include "core/source/lexer.h"

/* ---- messages -------------------------------------------------------------------------------------------------- */

/* A line that only shows the shim, the generator's own lines, a generated function, an option of the compiler or the
 * stack of one that crashed says nothing to the user. */
static bool line_is_noise(const char *line, size_t size, const char *shim) {
  return line[strspn(line, " ")] == '#' || (shim && *shim && memmem(line, size, shim, strlen(shim))) ||
         !strncmp(line, "moonwarp:", 9) || memmem(line, size, "In file included from <stdin>", 29) ||
         memmem(line, size, "/moonwarp.h", 11) || memmem(line, size, "In function '", 13) ||
         memmem(line, size, " note: use -f", 13);
}

static bool is_kernel(const cpu_program *program, const char *name, int size) {
  const mw_token word = {.kind = MW_TOKEN_NAME, .text = name, .size = size};
  for (int k = -1; (k = cpu_function_next(program, &word, k)) >= 0;)
    if (program->functions[k].kernel) return true;
  return false;
}

/* A line, with k_mw of the generated function of kernel k as k. */
static void names_put(const cpu_program *program, mw_text *out, const char *line, const char *end) {
  static const char letters[] = "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (int size; line < end; line += size) {
    const int word = (int)strspn(line, letters), bare = word - (int)strlen("_mw");
    const bool generated = bare > 0 && !strncmp(line + bare, "_mw", 3) && is_kernel(program, line, bare);
    size = word ? word : 1;
    mw_text_add(out, line, (size_t)cpu_known_size(line, generated ? bare : size));
  }
}

/* A line, of which a function's own message is left if it has one: "call to 'f' declared with attribute error: ...". */
static void message_put(const cpu_program *program, mw_text *out, const char *line, const char *end) {
  static const char *const marks[] = {"declared with 'error' attribute: ", "declared with attribute error: "};
  const char *call = memmem(line, (size_t)(end - line), "call to ", 8), *own = NULL;
  for (int i = 0; call && !own && i < 2; i++) {
    own = memmem(call, (size_t)(end - call), marks[i], strlen(marks[i]));
    if (own) own += strlen(marks[i]);
  }
  if (own) mw_text_add(out, line, (size_t)(call - line));
  names_put(program, out, own ? own : line, end);
}

/* The compiler's log without lines about the shim, and without the source lines quoted below them; and its NUL. */
static void log_clean(const cpu_program *program, mw_text *out, const char *log) {
  const char *shim = mw_shim_folder();
  bool noise = false;
  while (*log) {
    size_t size = strcspn(log, "\n");
    if ((*log != ' ' && *log != '\t') || log[strspn(log, " ")] == '#') noise = line_is_noise(log, size, shim);
    if (!noise) message_put(program, out, log, log + size);
    if (!noise) mw_text_put(out, "\n");
    log += size + (log[size] == '\n');
  }
  mw_text_add(out, "", 1);
}

/* The log with the source line below each error, and without notes about generated text. */
static char *log_quote(const mw_source *source, const char *log) {
  mw_text out = {0};
  for (const char *next; *log; log = next) {
    const char *end = log + strcspn(log, "\n");
    next = end + (*end == '\n');
    if (memmem(log, (size_t)(end - log), " note: ", 7) && !mw_excerpt_fits(source, log)) continue;
    mw_excerpt_place(&out, log);
    if (memmem(log, (size_t)(end - log), " error: ", 8)) mw_excerpt_error(&out, source, log);
  }
  return out.at ? out.at : mw_strdup("");
}

/* "x.cu:7:3: error: text" -> "x.cu:7: text" of the first error; where a header of the shim says it, the line that
 * includes that. The length of the place and its ": ". */
static int first_error(const char *log, char *out, size_t size) {
  static const char included[] = "In file included from ";
  const char *shim = mw_shim_folder(), *from = strstr(log, included);
  const char *at = strstr(log, "error: ");
  if (!at) {
    snprintf(out, size, "%.*s", (int)strcspn(log, "\n"), *log ? log : "the compiler gave no message");
    return 0;
  }
  const char *line = at;
  while (line > log && line[-1] != '\n') line--;
  if (from && from < line && *shim && !strncmp(line, shim, strlen(shim))) line = from + strlen(included);
  const char *colon = line;
  while (colon < at && !(colon[0] == ':' && colon[1] >= '0' && colon[1] <= '9')) colon++;
  int place = colon < at ? (int)(colon - line) + 1 + (int)strspn(colon + 1, "0123456789") : 0;
  at += strlen("error: ");
  snprintf(out, size, "%.*s%s%.*s", place, line, place ? ": " : "", (int)strcspn(at, "\n"), at);
  return place ? place + 2 : 0;
}

/* "x.cu:3: ..." about an initialiser that is code: names the first variable of that line. */
static void initialiser_explain(const cpu_program *program, char *first, size_t size) {
  if (!strstr(first, "constant initializer") && !strstr(first, "requires a global")) return;
  const int place = (int)strcspn(first, " "), line = atoi(strchr(first, ':') ? strchr(first, ':') + 1 : "");
  const mw_token *name = NULL;
  for (int i = 0; i < program->nvariables && !name; i++) {
    const mw_token *token = &program->tokens.at[program->variables[i].name];
    if (token->line == line) name = token;
  }
  char *which = name ? mw_format("variable '%.*s'", TEXT(name)) : mw_strdup("a variable");
  char *text = mw_format("%.*s %s is not initialised by a constant, and no code of a module runs while it loads: use "
                         "literals, constexpr functions and constructors, or set it in a kernel or by module:variable",
                         place, first, which);
  snprintf(first, size, "%s", text);
  mw_free(which);
  mw_free(text);
}

/* Of errors in generated code only: the first, at the kernel whose generated function the log names. */
static void kernel_blame(const cpu_program *program, const char *log, mw_text *out) {
  for (int i = 0; i < program->nfunctions; i++) {
    const mw_token *token = &program->tokens.at[program->functions[i].name];
    char *generated = mw_format("%.*s_mw", TEXT(token));
    const bool named = program->functions[i].kernel && strstr(log, generated);
    mw_free(generated);
    if (!named) continue;
    const char *text = strstr(log, "error: "), *file = program->tokens.files[token->file];
    out->size = 0;
    mw_text_format(out, "%s:%d: %.*s: kernel '%.*s'\n", file, token->line, (int)strcspn(text, "\n"), text,
                   cpu_known_size(token->text, token->size), token->text);
    return;
  }
}

static mw_status compile_failed(const cpu_program *program, const char *log, mw_error *error) {
  char first[700];
  mw_text clean = {0};
  log_clean(program, &clean, log);
  if (!strstr(clean.at, "error: ") && strstr(log, "error: ")) kernel_blame(program, log, &clean);
  const char *told = strstr(clean.at, "error: ") ? clean.at : log;
  const int place = first_error(told, first, sizeof first);
  initialiser_explain(program, first, sizeof first);
  mw_status status = mw_fail(error, MW_COMPILE, "compiling '%s' for the CPU device failed: %s%s", program->source.name,
                             first, mw_compile_hint(log));
  if (error) {
    const int front = (int)(strlen("compiling '' for the CPU device failed: ") + strlen(program->source.name));
    const bool whole = (size_t)(front + place) < sizeof error->text; /* a name may be long */
    error->place = whole ? front : 0;
    error->words = whole ? front + place : 0;
    error->generated = place > 0 && !strncmp(first, "<stdin>", strlen("<stdin>"));
  }
  mw_error_log(error, log_quote(&program->source, told));
  mw_free(clean.at);
  return status;
}

/* ---- calls ----------------------------------------------------------------------------------------------------- */

/* Without source lines in messages: these are of generated text. */
static void standard_add(mw_argv *list, const cpu_program *program, const cpu_toolchain *tools) {
  mw_argv_add(list, "-std=%s", program->source.standard ? program->source.standard : "c++17");
  mw_argv_add(list, "%s", tools->clang ? "-fno-caret-diagnostics" : "-fno-diagnostics-show-caret");
  mw_argv_add(list, "-Wno-register"); /* as nvcc takes it */
}

/* Of what a compiler warns: mistakes, of which NVRTC warns too, and no questions of style. */
static const char warned[] =
    "-Wall -Wno-unused-function -Wno-unused-local-typedefs -Wno-unknown-pragmas -Wno-sign-compare -Wno-missing-braces "
    "-Wno-unused-but-set-variable -Wno-unused-but-set-parameter -Wno-misleading-indentation "
    "-Wno-error=narrowing";
/* int base; if (lane == 0) base = ...; base = __shfl_sync(...); is set in every lane whose value counts. */
static const char clang_warned[] = "-Wno-pass-failed -Wno-unused-const-variable -Wno-sometimes-uninitialized";
/* These it reports from its optimiser, which guesses. */
static const char gnu_warned[] =
    "-Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict "
    "-Wno-nonnull -Wno-volatile";

static mw_status scratch_make(mw_scratch *scratch, mw_error *error) {
  if (mw_scratch_make(scratch)) return MW_OK;
  return mw_fail(error, MW_IO, "%s: cannot make a folder for the compiler; set TMPDIR to one that can be written to",
                 scratch->path);
}

static mw_status run(const mw_argv *list, const char *input, const mw_scratch *scratch, mw_process_result *result,
                     mw_error *error) {
  mw_process process = {.argv = list->at,
                        .input = input,
                        .input_size = strlen(input),
                        .folder = scratch->temporary,
                        .locale = "C"}; /* what it says is read */
  mw_compile_limit(&process);
  return mw_process_run(&process, result, error);
}

/* Partial redundancy elimination makes one value of a loop's step and of an index i + 1, after which the loop has no
 * induction variable that the vectoriser knows. A loop that stays scalar is not reported to the user. Unrolled rounds of
 * a hash are expressions of thousands of terms, none of which is an index: above 128 they are left alone, which takes a
 * third off the time of compiling. LLVM unrolls a loop of unknown length to as many operations as a CPU's loop buffer
 * holds, which is 4096 for AMD's since Zen 3: with Intel's 50 a module compiles in half the time. */
static const char clang_only[] = "-O3 -fno-crash-diagnostics -mllvm -enable-pre=0 -fno-finite-loops "
                                 "-mllvm -scalar-evolution-huge-expr-threshold=128 -mllvm -unroll-partial-threshold=50";
/* For kernels whose records would be read out of order (../split/dependence.c). For others it takes up to 4 times as
 * long. */
static const char clang_ordered[] = "-mllvm -enable-interleaved-mem-accesses=false";

static const char gnu_only[] =
    "-O2 -ftree-vectorize -fvect-cost-model=dynamic -fno-finite-loops -fno-aggressive-loop-optimizations "
    "-fno-gnu-unique -fno-use-linker-plugin";

/* A loop over threads asks once how a texture reads (shim/moonwarp/texture.h): else a read takes 3 times as long. clang++
 * moves the question out of the loop without being told. */
static const char gnu_textures[] = "-funswitch-loops --param max-unswitch-insns=500";

/* Check mode: a call before each access (shim/check/hooks.cpp). Without vectors: clang++ 14 calls for the scalar rest of
 * a loop only. The read of a[i] += x is left out by clang++ unless it is told to keep it; its local-bounds, which
 * "bounds" brings along, would trap instead of calling. The index of an element that is itself a structure or an array
 * may be one too large for both: only g++'s object-size sees the access then. They call for no function of the C library
 * that they expand, such as memcpy and memcmp. */
static const char checked[] =
    "-O1 -fno-finite-loops -fno-builtin -fsanitize=thread,bounds,alignment,signed-integer-overflow";
static const char clang_checked[] =
    "-gline-tables-only -gdwarf-4 -fno-vectorize -fno-slp-vectorize -fno-sanitize=local-bounds "
    "-mllvm -tsan-instrument-read-before-write=1 -mllvm -tsan-distinguish-volatile=1";
static const char gnu_checked[] =
    "-fsanitize=object-size -g1 -fno-tree-vectorize -fno-gnu-unique -fno-use-linker-plugin "
    "--param tsan-distinguish-volatile=1";

/* Counters tell calls apart, and want one place in the code for one in the source: no code is made twice for the sake of
 * a branch or an iteration, nor is it joined where two branches end alike. */
static const char clang_no_counters[] = "-mllvm -tsan-instrument-func-entry-exit=0";
static const char clang_counters[] =
    "-Wno-dangling-else -fno-unroll-loops -mllvm -simplifycfg-merge-cond-stores=0 -mllvm -simplifycfg-sink-common=0 "
    "-mllvm -simplifycfg-hoist-common=0";
static const char gnu_no_counters[] = "--param tsan-instrument-func-entry-exit=0";
static const char gnu_counters[] = "-Wno-dangling-else -fno-unroll-loops -fno-thread-jumps -fno-tree-dominator-opts "
                                   "-fno-tree-phiprop -fno-ssa-phiopt -fno-tree-ch "
                                   "-fno-tree-sink -fno-if-conversion -fno-if-conversion2 -fno-crossjumping";

/* CUDA code hands over what only some lanes have set: if (lane == 0) base = atomicAdd(...); base = __shfl_sync(...).
 * Since version 14 clang++ takes an argument for defined, and so lane for 0. */
static const char *undefined_arguments(const cpu_toolchain *tools) {
  const int version = tools->clang ? atoi(tools->version + strlen("clang++ ")) : 0;
  if (version < 14) return "";
  return version == 14 ? "-disable-noundef-analysis" : "-no-enable-noundef-analysis";
}

/* Without -fwrapv: where a signed index might wrap, neighbours need not lie side by side, and memory is gathered (g++:
 * tiled N-body 10 times slower, shared-memory stencil 4 times; clang++: stencils by a fifth).
 * Large frames touch each of their pages, so that none jumps over the guard below a stack; a null pointer known to the
 * compiler is still followed, so that the fault can be told. Neither costs measurable time. Nor does it that loops are
 * not assumed to end (in CUDA while (flag == 0); may wait for ever), nor to end before they overrun an array (else g++
 * overruns it here and there, beyond what a canary sees). */
static void language_arguments(mw_argv *list, const cpu_program *program, const cpu_toolchain *tools) {
  const mw_source *source = &program->source;
  mw_argv_add(list, "%s", tools->path);
  standard_add(list, program, tools);
  mw_argv_add_words(
      list, "-x c++ -march=native -fPIC -fvisibility=hidden -fno-math-errno -fno-trapping-math "
            "-fno-strict-aliasing -fno-exceptions -fno-rtti -fno-asynchronous-unwind-tables -fstack-protector-strong "
            "-fno-delete-null-pointer-checks -pipe");
#if defined(__x86_64__)
  mw_argv_add_words(list, "-mprefer-vector-width=512 -fstack-clash-protection");
#endif
  mw_argv_add_words(list, source->no_contract ? "-ffp-contract=off -DMW_NO_CONTRACT=1" : "-ffp-contract=fast");
  if (source->fast_math) mw_argv_add(list, "-ffast-math");
  mw_argv_add(list, "-I%s", mw_shim_folder());
}

/* form: further options, of what is made of what; "": code of C++. */
static void compile_arguments(mw_argv *list, const cpu_attempt *attempt, const cpu_toolchain *tools,
                              const char *generated, const char *form, const char *output, const char *hooks) {
  const cpu_flavor flavor = attempt->flavor;
  language_arguments(list, attempt->program, tools);
  if (attempt->program->source.line_info) mw_argv_add(list, "-g");
  mw_argv_add_words(list, warned);
  mw_argv_add_words(list, tools->clang ? clang_warned : gnu_warned);
  if (cpu_is_checked(flavor)) {
    mw_argv_add_words(list, checked);
    mw_argv_add_words(list, tools->clang ? clang_checked : gnu_checked);
    mw_argv_add_words(list, flavor == CPU_COUNT ? tools->clang ? clang_counters : gnu_counters
                            : tools->clang      ? clang_no_counters
                                                : gnu_no_counters);
  } else {
    mw_argv_add_words(list, tools->clang ? clang_only : gnu_only);
    if (!tools->clang && strstr(generated, "<moonwarp/texture.h>")) mw_argv_add_words(list, gnu_textures);
  }
  if (tools->clang && strstr(generated, "MW_ORDERED_LOOP")) mw_argv_add_words(list, clang_ordered);
  if (*undefined_arguments(tools)) {
    mw_argv_add(list, "-Xclang");
    mw_argv_add(list, "%s", undefined_arguments(tools));
  }
  mw_argv_add_words(list, form);
  if (output) mw_argv_add(list, "-o");
  mw_argv_add(list, "%s", output ? output : "-fsyntax-only");
  mw_argv_add(list, "-");
  if (hooks) {
    mw_argv_add_words(list, "-x none");
    mw_argv_add(list, "%s", hooks);
    mw_argv_add_words(list, cpu_check_linked);
  }
}

/* Ours, in a compiler's form, before the others. */
static char *step_warning(const cpu_program *program) {
  if (!program->in_step.size) return mw_strdup("");
  return mw_format("%s:%d:1: warning: lanes of a warp pass each other values through volatile memory alone, as if they "
                   "ran in step, which they need not since Volta: put __syncwarp() between the steps\n",
                   program->tokens.files[program->in_step.file], program->in_step.line);
}

/* The warnings of the source, and their NUL. */
static void warnings_put(const cpu_program *program, const char *log, mw_text *out) {
  char *own = step_warning(program), *all = mw_format("%s%s", own, log);
  char *found = mw_warnings_read(all, &program->source, mw_shim_folder());
  mw_text_add(out, found, strlen(found) + 1);
  mw_free(found);
  mw_free(all);
  mw_free(own);
}

/* Runs what makes code; its log is what the compiler says. */
static mw_status step_run(const cpu_program *program, const mw_argv *list, const char *input, const mw_scratch *scratch,
                          mw_text *log, mw_error *error) {
  mw_process_result result = {0};
  mw_status status = run(list, input, scratch, &result, error);
  if (status) return status;
  if (result.exit != 0)
    status = compile_failed(program, result.err, error);
  else if (log)
    warnings_put(program, result.err, log);
  mw_process_result_free(&result);
  return status;
}

/* The linker's own command after the compiler's; see linker.c. */
static mw_status link_apart(const cpu_program *program, mw_argv *compiler, mw_argv *linker, const char *generated,
                            const mw_scratch *scratch, mw_text *log, mw_error *error) {
  mw_argv_add(compiler, "-c");
  mw_status status = step_run(program, compiler, generated, scratch, log, error);
  return status ? status : step_run(program, linker, "", scratch, NULL, error);
}

/* By way of LLVM's text, where calls of hooks are added that the compiler leaves out. */
static mw_status hooked_run(const cpu_attempt *attempt, const cpu_toolchain *tools, const char *generated,
                            const mw_scratch *scratch, const char *output, const char *hooks, mw_text *log,
                            mw_error *error) {
  static const char to_text[] = "-S -emit-llvm -fno-discard-value-names",
                    of_text[] = "-x ir -w -Xclang -disable-llvm-passes";
  const cpu_program *program = attempt->program;
  char *path = mw_format("%s/" MW_SCRATCH_FILE ".ll", scratch->temporary), *read = NULL;
  mw_argv list = {0}, code = {0};
  compile_arguments(&list, attempt, tools, generated, to_text, path, NULL);
  compile_arguments(&code, attempt, tools, generated, of_text, output, hooks);
  mw_argv_add_words(&code, cpu_libraries);
  mw_status status = step_run(program, &list, generated, scratch, log, error);
  if (!status && !(read = mw_file_read(path, SIZE_MAX, NULL)))
    status = mw_fail(error, MW_IO, "%s: the compiler wrote nothing there", path);
  char *text = read ? cpu_accesses_call(read) : NULL;
  if (!status) status = step_run(program, &code, text, scratch, NULL, error);
  mw_free(text);
  mw_free(read);
  mw_free(path);
  mw_argv_free(&list);
  mw_argv_free(&code);
  return status;
}

/* output: where the shared object goes; NULL: the text is only checked. log: gets the warnings and their NUL. */
static mw_status compiler_run(const cpu_attempt *attempt, const char *generated, const mw_scratch *scratch,
                              const char *output, mw_text *log, mw_error *error) {
  const cpu_program *program = attempt->program;
  cpu_toolchain tools;
  mw_argv list = {0}, linker = {0};
  mw_status status = cpu_toolchain_find(&tools, error);
  if (status) return status;
  char *hooks = cpu_is_checked(attempt->flavor) && output ? mw_format("%s/hooks.o", scratch->temporary) : NULL;
  if (hooks) status = cpu_hooks_write(&tools, attempt->flavor, hooks, error);
  char *object = mw_format("%s/" MW_SCRATCH_FILE ".o", scratch->temporary);
  const bool apart = output && tools.clang && !hooks && cpu_linker_find(&tools, object, output, &linker);
  compile_arguments(&list, attempt, &tools, generated, "", apart ? object : output, hooks);
  if (output && !apart) mw_argv_add_words(&list, cpu_libraries);
  if (!status && hooks && tools.clang && cpu_accesses_differ(program))
    status = hooked_run(attempt, &tools, generated, scratch, output, hooks, log, error);
  else if (apart)
    status = link_apart(program, &list, &linker, generated, scratch, log, error);
  else if (!status)
    status = step_run(program, &list, generated, scratch, output ? log : NULL, error);
  mw_free(object);
  mw_free(hooks);
  mw_argv_free(&linker);
  mw_argv_free(&list);
  return status;
}

/* A compiler may return 0 although the disk was full; the loader would read past the end of what it wrote. */
static mw_status object_read(const char *path, mw_text *object, mw_error *error) {
  size_t size = 0;
  char *bytes = mw_file_read(path, SIZE_MAX, &size);
  mw_status status = MW_OK;
  if (!bytes)
    status = mw_fail(error, MW_IO, "%s: the compiler wrote nothing there", path);
  else if (!cpu_object_is_whole(bytes, size))
    status = mw_fail(error, MW_IO, "%s: the compiler wrote no whole module there; is the disk full?", path);
  else
    mw_text_add(object, bytes, size);
  mw_free(bytes);
  return status;
}

mw_status cpu_compile(const cpu_attempt *attempt, const char *generated, mw_text *object, mw_error *error) {
  mw_scratch scratch;
  mw_status status = scratch_make(&scratch, error);
  if (status) return status;
  char *output = object ? mw_format("%s/" MW_SCRATCH_FILE, scratch.path) : NULL;
  status = compiler_run(attempt, generated, &scratch, output, object, error);
  if (output && !status) status = object_read(output, object, error);
  mw_free(output);
  mw_scratch_drop(&scratch);
  return status;
}
