/* SPDX-License-Identifier: MIT
 *
 * What is compiled of a program, in which order, until the compiler takes it: right comes before fast, and a kernel
 * that compiles is not lost for one that does not. Of each of the source's texts (program.c):
 *
 *   kernels                                       where that does not compile
 *   all in the fast forms that engine.c chose     the next
 *   none in a fast form                           the source itself is wrong: its next text, or the error
 *   one in its fast form, for each of them        a slower form of that kernel, until one compiles
 *   all in the forms that they were left          the next
 *   none in a fast form                           the source's next text, or the error
 *
 * Other flavors have no fast forms; checked ones are tried with marks, then without. */
#include <stdio.h>
#include <string.h>

#include "core/backend/cpu/split/split.h"
#include "core/backend/cpu/translate/translate.h"

/* out: NULL reads what would be compiled and makes no code of it. */
static mw_status attempt_make(const cpu_attempt *attempt, mw_text *out, mw_error *error) {
  char *generated = cpu_emit(attempt);
  const mw_status status = cpu_compile(attempt, generated, out, error);
  mw_free(generated);
  return status;
}

/* ---- the form of a kernel -------------------------------------------------------------------------------------- */

/* The compiler's first message, shortened: without a place in the generated text, and of a failed assertion what it
 * says. */
static char *why_not(const mw_error *error, const char *form) {
  static const char failed[] = "static assertion failed: ";
  const char *text = error->text + (error->generated ? error->words : error->place);
  const char *assertion = strstr(text, failed), *old = assertion ? NULL : strstr(text, "static_assert failed");
  const char *quote = old ? strchr(old, '"') : NULL; /* as clang put it until 15 */
  if (assertion) text = assertion + strlen(failed);
  if (quote) text = quote + 1;
  return mw_format("its %s did not compile: %.*s", form, (int)strcspn(text, quote ? "\"\n" : "\n"), text);
}

/* Of a split form that does not compile: the same without what it asks of the compiler, whose answer was no (a T that is
 * a class). False: it has none. */
static bool form_ask_nothing(cpu_program *program, cpu_function *kernel) {
  char why[256], *split = NULL;
  if (kernel->split && !kernel->strict) {
    kernel->strict = true;
    split = cpu_split(program, kernel, why, sizeof why);
  }
  if (!split) return false;
  mw_free(kernel->split);
  kernel->split = split;
  return true;
}

static void form_give_up(cpu_program *program, cpu_function *kernel, const mw_error *error) {
  if (form_ask_nothing(program, kernel)) return;
  char *why = why_not(error, kernel->split ? "split form" : "loop");
  cpu_form_drop(program, kernel, why);
  mw_free(why);
}

/* Finds the fastest form of the kernel that compiles with the rest of the source. */
static void form_find(cpu_program *program, cpu_function *kernel, cpu_attempt attempt) {
  attempt.only = (int)(kernel - program->functions);
  mw_status status = cpu_is_fast(kernel) ? MW_COMPILE : MW_OK;
  while (status == MW_COMPILE && cpu_is_fast(kernel)) {
    mw_error error = {0};
    status = attempt_make(&attempt, NULL, &error);
    if (status == MW_COMPILE) form_give_up(program, kernel, &error);
    mw_error_clear(&error);
  }
}

/* Tries the source without fast forms, then each of them by itself, and gives up those that do not compile. An error:
 * what fibers run does not compile either, so the fault is the source's own. */
static mw_status forms_sift(cpu_program *program, cpu_attempt attempt, mw_error *error) {
  attempt.only = CPU_NO_FORM;
  mw_status status = attempt_make(&attempt, NULL, error);
  attempt.flavor = CPU_FIBER;
  if (!status) status = attempt_make(&attempt, NULL, error);
  attempt.flavor = CPU_FAST;
  for (int i = 0; i < program->nfunctions && !status; i++) form_find(program, &program->functions[i], attempt);
  return status;
}

/* Of two errors of one source that which tells of the user's lines. */
static void error_choose(mw_error *first, mw_error *second) {
  const bool generated = second->status == MW_COMPILE && second->generated;
  mw_error_clear(generated ? second : first);
  if (generated) *second = *first;
}

/* The error where a kernel's engine is not the one that was asked for. */
static mw_status engines_check(const cpu_program *program, mw_error *error) {
  const char *engine = program->source.engine;
  for (int i = 0; engine && strcmp(engine, "auto") && i < program->nfunctions; i++) {
    const cpu_function *kernel = &program->functions[i];
    if (kernel->engine && strcmp(kernel->engine, engine) != 0)
      return cpu_engine_refuse(program, kernel, engine, kernel->engine_why, error);
  }
  return MW_OK;
}

/* ---- the attempts ---------------------------------------------------------------------------------------------- */

/* Those of one text. An error that only shows when code is generated is not distinguished. */
static mw_status text_try(cpu_program *program, cpu_attempt *attempt, mw_text *out, mw_error *error) {
  mw_status status = attempt_make(attempt, out, error);
  if (status != MW_COMPILE || attempt->flavor == CPU_FIBER) return status;
  mw_error first = *error;
  *error = (mw_error){0};
  if (cpu_is_checked(attempt->flavor)) {
    attempt->unmarked = true;
    mw_error_clear(&first);
    return attempt_make(attempt, out, error);
  }
  status = forms_sift(program, *attempt, error);
  error_choose(&first, error);
  if (!status) status = engines_check(program, error);
  if (status) return status;
  status = attempt_make(attempt, out, error);
  if (status != MW_COMPILE) return status;
  mw_error_clear(error);
  cpu_engines_demote(program, "the fast forms of its source did not compile together");
  return attempt_make(attempt, out, error);
}

/* The compiler says which variable's initialiser is code; what it does not know keeps the first error. */
static void starter_find(const cpu_attempt *attempt, mw_error *error) {
  static const char strict[] = "#define MW_STRICT 1\n#pragma clang diagnostic error \"-Wglobal-constructors\"\n";
  mw_error found = {0};
  char *generated = cpu_emit(attempt), *text = mw_format("%s%s", strict, generated);
  if (cpu_compile(attempt, text, NULL, &found) == MW_COMPILE) {
    mw_error_clear(error);
    *error = found;
  } else
    mw_error_clear(&found);
  mw_free(text);
  mw_free(generated);
}

static mw_status text_translate(cpu_program *program, cpu_flavor flavor, const char *const *asked, mw_text *out,
                                mw_error *error) {
  cpu_attempt attempt = {.program = program, .flavor = flavor, .asked = asked, .only = CPU_ALL_FORMS};
  mw_free(out->at); /* of another text */
  *out = (mw_text){0};
  mw_status status = text_try(program, &attempt, out, error);
  if (status) return status;
  status = cpu_linkage_check(program, flavor, out, error);
  if (status == MW_COMPILE) starter_find(&attempt, error);
  return status;
}

mw_status cpu_translate(cpu_program *program, cpu_flavor flavor, const char *const *asked, mw_text *out,
                        mw_error *error) {
  mw_status status;
  *out = (mw_text){0};
  do {
    status = cpu_program_need(program, asked, error);
    if (status) return status;
    status = text_translate(program, flavor, asked, out, error);
  } while (status && cpu_program_next(program, error));
  return status;
}
