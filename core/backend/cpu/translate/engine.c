/* SPDX-License-Identifier: MIT
 *
 * Which engine runs each kernel, and why not a faster one: a loop where no barrier is reachable, the split form where
 * split.c can make one, fibers for everything else. A form that does not compile is given up later (attempt.c). */
#include <stdio.h>
#include <string.h>

#include "core/backend/cpu/split/split.h"
#include "core/backend/cpu/translate/translate.h"
#include "core/base/interrupt.h"

static void engine_set(cpu_program *program, cpu_function *kernel, const char *engine, const char *why) {
  kernel->engine = engine;
  kernel->engine_why = mw_tokens_own(&program->tokens, mw_strdup(why));
}

static const char *barrier_name(const cpu_program *program, const cpu_function *kernel) {
  static __thread char text[128];
  const mw_token *token = &program->tokens.at[kernel->barrier];
  if (mw_token_is(token, "mw_meet")) {
    snprintf(text, sizeof text, "counts on the lanes of a warp in step at %.80s", cpu_where(program, kernel->barrier));
    return text;
  }
  const char *verb = mw_is_builtin(token, MW_CUDA_BARRIER | MW_CUDA_WARP) ? "reaches" : "uses"; /* a group, CUB, wmma */
  snprintf(text, sizeof text, "%s %.*s at %.80s", verb, TEXT(token), cpu_where(program, kernel->barrier));
  return text;
}

/* Why only fibers can run it; NULL: nothing. */
static const char *needs_fibers(const cpu_program *program, const cpu_function *kernel) {
  static __thread char text[256];
  if (kernel->wait >= 0)
    snprintf(text, sizeof text, "the loop at %.80s waits for what another thread writes",
             cpu_where(program, kernel->wait));
  else if (kernel->by_parameter >= 0)
    snprintf(text, sizeof text, "what '%.*s' stands for at %.80s may reach a barrier",
             TEXT(&program->tokens.at[kernel->by_parameter]), cpu_where(program, kernel->by_parameter));
  else if (mw_find(&program->tokens, kernel->first, kernel->last, cpu_function_names) < kernel->last)
    return "it names __func__, and its loop has another name";
  else
    return NULL;
  return text;
}

mw_status cpu_engine_refuse(const cpu_program *program, const cpu_function *kernel, const char *engine, const char *why,
                            mw_error *error) {
  const mw_token *name = &program->tokens.at[kernel->name];
  return mw_fail(error, MW_UNSUPPORTED,
                 "kernel '%.*s' cannot run with engine '%s': %s; leave the engine to \"auto\" or ask for \"fiber\"",
                 cpu_known_size(name->text, name->size), name->text, engine, why);
}

/* forced: "loop", "split" or "fiber"; NULL: the fastest that can run it. */
static mw_status kernel_choose(cpu_program *program, cpu_function *kernel, const char *forced, mw_error *error) {
  char why[256] = "";
  const char *only_fibers = needs_fibers(program, kernel);
  const bool loop = forced && !strcmp(forced, "loop"), split = forced && !strcmp(forced, "split");
  if (forced && !loop && !split) {
    engine_set(program, kernel, "fiber", "engine = \"fiber\" was asked for");
  } else if (only_fibers) {
    if (forced) return cpu_engine_refuse(program, kernel, forced, only_fibers, error);
    engine_set(program, kernel, "fiber", only_fibers);
  } else if (loop && kernel->barrier >= 0) {
    return cpu_engine_refuse(program, kernel, "loop", barrier_name(program, kernel), error);
  } else {
    kernel->split = cpu_split(program, kernel, why, sizeof why);
    if (kernel->barrier < 0 && !split) /* without a split form there is a loop around the kernel as it is */
      engine_set(program, kernel, "loop", "");
    else if (kernel->split)
      engine_set(program, kernel, "split", split ? "engine = \"split\" was asked for" : barrier_name(program, kernel));
    else if (split)
      return cpu_engine_refuse(program, kernel, "split", why, error);
    else
      engine_set(program, kernel, "fiber", why);
  }
  return MW_OK;
}

mw_status cpu_engines_choose(cpu_program *program, mw_error *error) {
  const char *forced = program->source.engine && strcmp(program->source.engine, "auto") ? program->source.engine : NULL;
  for (int i = 0; i < program->nfunctions; i++) {
    cpu_function *kernel = &program->functions[i];
    if (!kernel->kernel || kernel->body < 0) continue;
    mw_status status = kernel_choose(program, kernel, forced, error);
    if (atomic_load(&mw_interrupted))
      return mw_fail(error, MW_INTERRUPTED, "interrupted while '%s' was translated", program->source.name);
    if (status) return status;
    cpu_dependences_find(program, kernel);
  }
  return MW_OK;
}

bool cpu_is_fast(const cpu_function *function) {
  return function->kernel && function->body >= 0 && function->engine && strcmp(function->engine, "fiber") != 0;
}

void cpu_form_drop(cpu_program *program, cpu_function *kernel, const char *why) {
  const bool loop = kernel->split && kernel->barrier < 0;
  mw_free(kernel->split);
  kernel->split = NULL;
  engine_set(program, kernel, loop ? "loop" : "fiber", why);
}

void cpu_engines_demote(cpu_program *program, const char *why) {
  for (int i = 0; i < program->nfunctions; i++)
    while (cpu_is_fast(&program->functions[i])) cpu_form_drop(program, &program->functions[i], why);
}

bool cpu_attempt_has(const cpu_attempt *attempt, const cpu_function *function) {
  const int index = (int)(function - attempt->program->functions);
  return attempt->flavor == CPU_FAST && (attempt->only == CPU_ALL_FORMS || attempt->only == index) &&
         cpu_is_fast(function);
}

bool cpu_attempt_has_split(const cpu_attempt *attempt) {
  for (int i = 0; i < attempt->program->nfunctions; i++) {
    const cpu_function *function = &attempt->program->functions[i];
    if (function->split && cpu_attempt_has(attempt, function)) return true;
  }
  return false;
}
