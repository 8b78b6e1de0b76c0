/* SPDX-License-Identifier: MIT
 *
 * Functions by their names, and where threads meet. */
#include <stdio.h>
#include <string.h>

#include "core/backend/cpu/program/program.h"

const char *const cpu_function_names[] = {"__func__", "__FUNCTION__", "__PRETTY_FUNCTION__", "__builtin_FUNCTION",
                                          NULL};

const char *cpu_where(const cpu_program *program, int token) {
  static __thread char text[512];
  const mw_token *at = &program->tokens.at[token];
  const char *file = program->tokens.files[at->file], *slash = strrchr(file, '/');
  snprintf(text, sizeof text, "%s:%d", slash ? slash + 1 : file, at->line);
  return text;
}

bool cpu_function_named(const cpu_program *program, const cpu_function *function, const mw_token *token) {
  return function->name >= 0 && mw_same_text(&program->tokens.at[function->name], token);
}

bool cpu_function_is_member(const cpu_program *program, const cpu_function *function) {
  int before = function->name - 1;
  if (before > 0 && mw_token_is(&program->tokens.at[before], "~")) before--;
  return function->special || (before >= 0 && mw_token_is(&program->tokens.at[before], "::"));
}

bool cpu_is_generated(const mw_token *token) {
  return token->size > 3 && !memcmp(token->text, "mw_", 3);
}

int cpu_callee_next(const cpu_program *program, const mw_tokens *tokens, int i, int after) {
  const mw_token *name = &tokens->at[i];
  const bool call = mw_call_open(tokens, i) >= 0;
  for (int k = after + 1; name->kind == MW_TOKEN_NAME && k < program->nfunctions; k++)
    if (cpu_function_named(program, &program->functions[k], name) ||
        (call && cpu_class_defines(program, &program->functions[k], name)))
      return k;
  return -1;
}

int cpu_function_next(const cpu_program *program, const mw_token *token, int after) {
  for (int i = after + 1; token->kind == MW_TOKEN_NAME && i < program->nfunctions; i++)
    if (cpu_function_named(program, &program->functions[i], token)) return i;
  return -1;
}

bool cpu_function_has(const cpu_program *program, const cpu_function *function, const char *word) {
  return mw_has(&program->tokens, function->first, function->last, word);
}

int cpu_method_next(const cpu_program *program, const cpu_function *class, int after) {
  const mw_token *at = program->tokens.at;
  if (!class->is_class || class->body < 0) return 0;
  for (int i = after ? after + 1 : class->body + 1; i < at[class->body].match; i++) {
    if (mw_token_is(&at[i], "{")) i = at[i].match;
    if (at[i].kind == MW_TOKEN_NAME && mw_token_is(&at[i + 1], "(")) return i;
  }
  return 0;
}

bool cpu_class_defines(const cpu_program *program, const cpu_function *function, const mw_token *name) {
  int i = cpu_method_next(program, function, 0);
  while (i && !mw_same_text(&program->tokens.at[i], name)) i = cpu_method_next(program, function, i);
  return i;
}

/* A parameter hides the function of its name. */
const mw_formal *cpu_formal_find(const cpu_program *program, const cpu_function *function, const mw_token *name) {
  const mw_formal *it = function->formals, *end = it + function->nformals;
  while (it < end && !(it->name >= 0 && mw_same_text(&program->tokens.at[it->name], name))) it++;
  return it < end ? it : NULL;
}

bool cpu_is_formal(const cpu_program *program, const cpu_function *function, const mw_token *name) {
  return cpu_formal_find(program, function, name) != NULL;
}

/* tile.shfl_down(v, 1), where the program has cooperative groups. */
bool cpu_is_group_call(const cpu_program *program, int i) {
  const mw_token *at = program->tokens.at;
  return i && mw_token_is(&at[i - 1], ".") && mw_token_is(&at[i + 1], "(") &&
         mw_is_builtin(&at[i], MW_CUDA_GROUP_MEMBER) &&
         mw_has(&program->tokens, 0, program->tokens.count, "cooperative_groups");
}

bool cpu_is_meeting(const cpu_program *program, int i) {
  return mw_is_builtin(&program->tokens.at[i], MW_CUDA_BARRIER | MW_CUDA_WARP | MW_CUDA_GROUP) ||
         cpu_is_group_call(program, i);
}
