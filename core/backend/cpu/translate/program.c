/* SPDX-License-Identifier: MIT
 *
 * The life of a program: copied from a source, found in the cache or preprocessed and analysed, freed. What the cache
 * keeps is what cpu_program_kernels and cpu_program_has_variables answer, so that a hit starts no process. */
#include "core/backend/cpu/translate/translate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/home.h"
#include "core/compile/excerpt.h"
#include "core/compile/front.h"
#include "core/source/declarator.h"

/* ---- life ------------------------------------------------------------------------------------------------------ */

/* As a line marker can hold it: the name comes back in all that the compiler says. */
static void name_clean(char *at) {
  for (; *at; at++) {
    if (*at == '"') *at = '\'';
    if (*at == '\\') *at = '/';
    if ((unsigned char)*at < ' ') *at = ' ';
  }
}

static cpu_program *program_copy(const mw_source *source, bool checked) {
  cpu_program *program = mw_calloc(1, sizeof *program);
  mw_source meant = *source;
  meant.max_registers = 0;
  meant.ptxas = NULL;
  program->source = mw_source_copy(&meant);
  program->checked = checked;
  name_clean((char *)program->source.name);
  return program;
}

/* Of what is read of the tokens. */
static void readings_free(cpu_program *program) {
  cpu_routines_free(program);
  for (int i = 0; i < program->nfunctions; i++) {
    mw_free(program->functions[i].formals);
    mw_free(program->functions[i].calls);
    mw_free(program->functions[i].split);
    if (program->functions[i].tree) mw_body_free(program->functions[i].tree);
    mw_free(program->functions[i].tree);
  }
  mw_free(program->hidden.all.calls);
  mw_free(program->functions);
  mw_free(program->items);
  mw_free(program->variables);
  mw_free(program->names.at);
  mw_free(program->aliases.at);
  mw_free(program->globals.at);
  mw_free(program->groups);
  memset((char *)program + offsetof(cpu_program, items), 0, sizeof *program - offsetof(cpu_program, items));
}

static void analysis_free(cpu_program *program) {
  readings_free(program);
  mw_tokens_free(&program->tokens);
  memset((char *)program + offsetof(cpu_program, analysed), 0, sizeof *program - offsetof(cpu_program, analysed));
}

void cpu_program_free(cpu_program *program) {
  if (!program) return;
  analysis_free(program);
  mw_free(program->declared);
  mw_front_free(program->front);
  mw_refusals_free(&program->refused);
  mw_free(program->device_code);
  mw_error_clear(&program->barred);
  mw_source_free(&program->source);
  mw_free(program);
}

/* ---- the key --------------------------------------------------------------------------------------------------- */

static mw_status program_key(cpu_program *program, mw_error *error) {
  char identity[2048];
  mw_text stamp = {0};
  cpu_toolchain_identity(identity, sizeof identity);
  cpu_generator_stamp(&stamp);
  mw_cache_keymaker *maker = mw_cache_key_begin("cpu program");
  int abi = MW_ABI_VERSION;
  mw_cache_key_add(maker, "abi", &abi, sizeof abi);
  mw_cache_key_text(maker, "stamp", stamp.at);
  mw_cache_key_text(maker, "compiler", identity);
  mw_cache_key_add(maker, "checked", &program->checked, sizeof program->checked);
  mw_source source = program->source;
  source.templates = NULL; /* of a unit's key */
  mw_status status = mw_source_hash(&source, maker, &program->cacheable, error);
  program->key = mw_cache_key_end(maker);
  mw_free(stamp.at);
  program->cacheable &= !source.no_cache;
  return status;
}

/* ---- what is kept of an analysis ------------------------------------------------------------------------------- */

/* The entry: has_variables, how many kernels, the kernels, those that are refused. */
typedef struct analysis {
  int has_variables, ndeclared;
} analysis;

void cpu_program_keep(const cpu_program *program) {
  const analysis head = {program->has_variables, program->ndeclared};
  mw_text entry = {0};
  mw_text_add(&entry, (const char *)&head, sizeof head);
  mw_text_add(&entry, (const char *)program->declared, (size_t)program->ndeclared * sizeof *program->declared);
  if (program->refused.size) mw_text_add(&entry, program->refused.at, program->refused.size);
  if (program->cacheable) mw_cache_put(&program->key, entry.at, entry.size);
  mw_free(entry.at);
}

static bool analysis_read(cpu_program *program, const char *bytes, size_t size) {
  analysis head;
  if (size < sizeof head) return false;
  memcpy(&head, bytes, sizeof head);
  bytes += sizeof head, size -= sizeof head;
  const size_t kernels = head.ndeclared < 0 ? SIZE_MAX : (size_t)head.ndeclared * sizeof *program->declared;
  if (kernels > size) return false;
  program->has_variables = head.has_variables;
  program->ndeclared = head.ndeclared;
  program->declared = mw_malloc(kernels + 1);
  memcpy(program->declared, bytes, kernels);
  return mw_refusals_copy(&program->refused, bytes + kernels, size - kernels);
}

static bool analysis_recall(cpu_program *program) {
  char *bytes;
  size_t size;
  if (!mw_cache_get(&program->key, (void **)&bytes, &size)) return false;
  const bool fits = analysis_read(program, bytes, size);
  mw_free(bytes);
  return fits;
}

/* ---- device code only ------------------------------------------------------------------------------------------ */

/* Is it in the shim, and does it reject itself by an #error? */
static bool shim_file(const char *name, bool rejects) {
  char *path = mw_format("%s/%s", mw_shim_folder(), name);
  char *text = mw_file_read(path, 1 << 20, NULL);
  const bool is = text && !strstr(text, "\n#error \"<") == !rejects;
  mw_free(text);
  mw_free(path);
  return is;
}

static bool shim_has(const char *name) {
  return shim_file(name, false);
}

static bool shim_rejects(const char *name) {
  return shim_file(name, true);
}

/* Asked of a name that the shim does not declare. */
static const char *lacks(const char *name) {
  static const char *const begins[] = {
      "curand", "__nv_", "bmma", "cuda::", "nvcuda::", "cub::", "cooperative_groups::"};
  if (!strcmp(name, "thrust") || !strncmp(name, "thrust::", strlen("thrust::")))
    return "kernels have only complex.h, device_ptr.h, functional.h and random.h of Thrust";
  char *whole = mw_format("%s::", name);
  bool of_cuda = false;
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) of_cuda |= !strncmp(whole, begins[i], strlen(begins[i]));
  mw_free(whole);
  return of_cuda ? "the CPU device does not have it: use the CUDA device" : NULL;
}

typedef struct reading {
  char *macros; /* of the compiler, and its folders (macros.c) */
  mw_dialect dialect;
} reading;

static mw_status reading_begin(const cpu_program *program, reading *out, mw_error *error) {
  cpu_toolchain tools;
  const char *standard = program->source.standard ? program->source.standard : "c++17";
  *out = (reading){0};
  mw_status status = cpu_toolchain_find(&tools, error);
  if (!status) status = cpu_macros_find(&tools, standard, &out->macros, error);
  if (!status)
    out->dialect = (mw_dialect){
        .macros = cpu_macros_of(out->macros), .has_header = shim_has, .lacks = lacks, .folder = mw_shim_folder()};
  return status;
}

static mw_front *front_read(const cpu_program *program, mw_error *error) {
  reading it;
  mw_front *front = reading_begin(program, &it, error) ? NULL : mw_front_read(&program->source, &it.dialect, error);
  mw_free(it.macros);
  return front;
}

static void device_code_renew(cpu_program *program) {
  analysis_free(program);
  mw_free(program->device_code);
  program->device_code = mw_front_text(program->front);
}

/* Does the source include what only host code can have? */
static bool leaves_host(const mw_preprocessed *read) {
  int i = 0;
  while (i < read->nleft && read->left[i].found && !shim_rejects(read->left[i].name)) i++;
  return i < read->nleft;
}

/* The source as it is, or its device code where it has headers of the host. */
static mw_status source_read(cpu_program *program, mw_error *error) {
  reading it;
  mw_preprocessed read = {0};
  mw_status status = reading_begin(program, &it, error);
  it.dialect.folders = it.macros;
  if (!status) mw_preprocess_source(&program->source, &it.dialect, &read);
  if (!status && leaves_host(&read)) {
    program->front = front_read(program, error);
    if (program->front)
      device_code_renew(program);
    else
      status = error->status;
  } else {
    program->tokens = read.tokens;
    read.tokens = (mw_tokens){0};
  }
  mw_preprocessed_free(&read);
  mw_free(it.macros);
  return status;
}

/* ---- analysis -------------------------------------------------------------------------------------------------- */

static void declared_add(cpu_program *program, const cpu_function *function) {
  cpu_declared *declared = &program->declared[program->ndeclared];
  const mw_token *name = &program->tokens.at[function->name];
  snprintf(declared->name, sizeof declared->name, "%.*s", TEXT(name));
  snprintf(declared->shown, sizeof declared->shown, "%.*s", cpu_known_size(name->text, name->size), name->text);
  snprintf(declared->scope, sizeof declared->scope, "%s", function->scope);
  snprintf(declared->engine_why, sizeof declared->engine_why, "%s", function->engine_why);
  declared->is_template = function->is_template;
  snprintf(declared->engine, sizeof declared->engine, "%s", function->engine);
  program->ndeclared++;
}

static void declared_fill(cpu_program *program) {
  mw_free(program->declared);
  program->declared = mw_calloc((size_t)program->nfunctions + 1, sizeof *program->declared);
  program->ndeclared = 0;
  for (int i = 0; i < program->nfunctions; i++) {
    const cpu_function *function = &program->functions[i];
    if (function->kernel && function->body >= 0 && !function->special) declared_add(program, function);
  }
  program->has_variables = program->nvariables > 0;
}

/* An #error in force. */
static mw_status errors_check(const cpu_program *program, mw_error *error) {
  for (int i = 0; i < program->tokens.count; i++) {
    const mw_token *token = &program->tokens.at[i];
    const char *at = token->text + 1 + strspn(token->text + 1, " \t");
    if (token->kind != MW_TOKEN_PRAGMA || strncmp(at, "error", 5) != 0) continue;
    const int words = (int)(token->text + token->size - at);
    mw_text log = {0};
    mw_excerpt_say(&log, &program->source, &program->tokens, token, "#error");
    const mw_status status = mw_fail(error, MW_COMPILE, "compiling '%s' for the CPU device failed: %s:%d: #%.*s",
                                     program->source.name, program->tokens.files[token->file], token->line, words, at);
    mw_error_log(error, log.at);
    return status;
  }
  return MW_OK;
}

static mw_status analyse(cpu_program *program, mw_error *error) {
  const mw_tokens *tokens = &program->tokens;
  const mw_wrong *wrong = &tokens->wrong;
  if (wrong->what)
    return mw_fail(error, MW_COMPILE, "compiling '%s' for the CPU device failed: %s:%d: %s", program->source.name,
                   tokens->files[wrong->file], wrong->line, wrong->what);
  mw_status status = errors_check(program, error);
  if (status) return status;
  if (program->checked) cpu_allowed_read(&program->tokens);
  mw_specifiers_order(&program->tokens);
  mw_templates_mark(&program->tokens);
  cpu_overloads_rename(&program->tokens);
  cpu_copies_rewrite(&program->tokens);
  cpu_ptx_rewrite(&program->tokens);
  cpu_declarations_read(program);
  cpu_names_read(program);
  if (cpu_lockstep_write(program)) {
    readings_free(program);
    cpu_declarations_read(program);
    cpu_names_read(program);
  }
  cpu_spin_waits_find(program);
  status = program->checked ? cpu_allowed_check(program, error) : MW_OK;
  if (!status) status = cpu_callgraph_read(program, error);
  if (!status) cpu_hidden_read(program);
  return status;
}

/* One text: what its functions do, then the forms of its kernels. */
static mw_status text_read(cpu_program *program, mw_error *error) {
  mw_status status = program->front ? MW_OK : source_read(program, error);
  if (program->front) mw_tokens_read(&program->tokens, program->device_code, mw_shim_folder());
  if (!status) status = analyse(program, error);
  if (!status) status = cpu_engines_choose(program, error);
  if (!status) declared_fill(program);
  program->analysed = !status;
  return status;
}

/* Further errors may come of parts that were left out for it. Our own messages say all. */
static void barred_tell(cpu_program *program, mw_error *error) {
  if (error->words) mw_front_explain(program->front, error->text, sizeof error->text, &error->status);
  if (!program->barred.status) return;
  mw_error_clear(error);
  *error = program->barred;
  program->barred = (mw_error){0};
}

bool cpu_program_next(cpu_program *program, mw_error *error) {
  if (error->status != MW_COMPILE && error->status != MW_UNSUPPORTED) return false;
  if (program->front) {
    if (!mw_front_refuse(program->front, error, "the CPU device", &program->refused)) {
      barred_tell(program, error);
      return false;
    }
  } else {
    program->front = front_read(program, error);
    if (!program->front) return false;
  }
  mw_error_clear(error);
  device_code_renew(program);
  return true;
}

static void instances_ask(cpu_program *program, const char *const *asked) {
  bool more = false;
  for (; program->front && *asked; asked++) more |= mw_front_keep(program->front, *asked);
  if (more) device_code_renew(program);
}

mw_status cpu_program_need(cpu_program *program, const char *const *asked, mw_error *error) {
  mw_status status;
  do {
    instances_ask(program, asked);
    status = program->analysed ? MW_OK : text_read(program, error);
  } while (status && cpu_program_next(program, error));
  return status;
}

static bool is_known(const char *word, const char *const *words) {
  while (word && *words && strcmp(word, *words)) words++;
  return !word || *words;
}

static mw_status options_check(const mw_source *source, mw_error *error) {
  static const char *const standards[] = {"c++14", "c++17", "c++20", NULL};
  static const char *const engines[] = {"auto", "loop", "split", "fiber", NULL};
  if (!is_known(source->standard, standards))
    return mw_fail(error, MW_INVALID, "the CPU device compiles c++14, c++17 or c++20, got '%s'", source->standard);
  if (!is_known(source->engine, engines))
    return mw_fail(error, MW_INVALID, "engine is \"auto\", \"loop\", \"split\" or \"fiber\", got '%s'", source->engine);
  if (!*mw_shim_folder())
    return mw_fail(error, MW_NO_DEVICE,
                   "the CPU device's own headers were not found; set MOONWARP_HOME to moonwarp's folder");
  return MW_OK;
}

mw_status cpu_program_parse(const mw_source *source, bool checked, cpu_program **out, mw_error *error) {
  mw_status status = options_check(source, error);
  if (status) return status;
  cpu_program *program = program_copy(source, checked);
  status = program_key(program, error);
  if (!status && (!program->cacheable || !analysis_recall(program))) {
    status = cpu_program_need(program, (const char *const[]){NULL}, error);
    if (!status) cpu_program_keep(program);
  }
  if (status)
    cpu_program_free(program);
  else
    *out = program;
  return status;
}

int cpu_program_kernels(const cpu_program *program, const cpu_declared **out) {
  *out = program->declared;
  return program->ndeclared;
}

const mw_source *cpu_program_options(const cpu_program *program) {
  return &program->source;
}

const mw_refusals *cpu_program_refused(const cpu_program *program) {
  return &program->refused;
}

bool cpu_program_has_variables(const cpu_program *program) {
  return program->has_variables;
}
