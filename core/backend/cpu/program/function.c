/* SPDX-License-Identifier: MIT
 *
 * Functions by their names, and the names of CUDA's that make threads meet. */
#include <stdio.h>
#include <string.h>

#include "core/backend/cpu/program/program.h"

static const char *const *const barriers = WORDS("__syncthreads", "__syncthreads_count", "__syncthreads_and",
                                                 "__syncthreads_or", "__barrier_sync", "__barrier_sync_count");
static const char *const *const warp_operations =
    WORDS("__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync", "__ballot_sync", "__all_sync",
          "__any_sync", "__syncwarp", "__activemask", "__match_any_sync", "__match_all_sync", "__reduce_add_sync",
          "__reduce_min_sync", "__reduce_max_sync", "__reduce_and_sync", "__reduce_or_sync", "__reduce_xor_sync");
static const char *const *const groups =
    WORDS("cooperative_groups", "thread_block", "this_thread_block", "tiled_partition", "thread_block_tile",
          "this_grid", "grid_group", "coalesced_threads", "coalesced_group", "thread_group", "labeled_partition",
          "binary_partition", "cub", "wmma", "thread_scope_block");
bool cpu_is_barrier(const cpu_token *token) {
  return token->kind == CPU_NAME && cpu_token_any(token, barriers);
}

bool cpu_is_warp_operation(const cpu_token *token) {
  return token->kind == CPU_NAME && token->text[0] == '_' && cpu_token_any(token, warp_operations);
}

bool cpu_is_group(const cpu_token *token) {
  return token->kind == CPU_NAME && cpu_token_any(token, groups);
}

const char *cpu_where(const cpu_program *program, int token) {
  static __thread char text[512];
  const cpu_token *at = &program->tokens.at[token];
  const char *file = program->tokens.files[at->file], *slash = strrchr(file, '/');
  snprintf(text, sizeof text, "%s:%d", slash ? slash + 1 : file, at->line);
  return text;
}

bool cpu_function_named(const cpu_program *program, const cpu_function *function, const cpu_token *token) {
  return function->name >= 0 && cpu_same_text(&program->tokens.at[function->name], token);
}

bool cpu_is_generated(const cpu_token *token) {
  return token->size > 3 && !memcmp(token->text, "mw_", 3);
}

int cpu_callee_next(const cpu_program *program, const cpu_tokens *tokens, int i, int after) {
  const cpu_token *name = &tokens->at[i];
  const bool call = cpu_call_open(tokens, i) >= 0;
  for (int k = after + 1; name->kind == CPU_NAME && k < program->nfunctions; k++)
    if (cpu_function_named(program, &program->functions[k], name) ||
        (call && cpu_class_defines(program, &program->functions[k], name)))
      return k;
  return -1;
}

int cpu_function_next(const cpu_program *program, const cpu_token *token, int after) {
  for (int i = after + 1; token->kind == CPU_NAME && i < program->nfunctions; i++)
    if (cpu_function_named(program, &program->functions[i], token)) return i;
  return -1;
}

bool cpu_function_has(const cpu_program *program, const cpu_function *function, const char *word) {
  return cpu_has(&program->tokens, function->first, function->last, word);
}

bool cpu_class_defines(const cpu_program *program, const cpu_function *function, const cpu_token *name) {
  if (!function->is_class || function->body < 0) return false;
  const cpu_token *at = program->tokens.at;
  for (int i = function->body + 1; i < at[function->body].match; i++) {
    if (cpu_token_is(&at[i], "{")) i = at[i].match;
    if (at[i].kind == CPU_NAME && cpu_same_text(&at[i], name) && cpu_token_is(&at[i + 1], "(")) return true;
  }
  return false;
}

/* A parameter hides the function of its name. */
bool cpu_is_formal(const cpu_program *program, const cpu_function *function, const cpu_token *name) {
  for (int i = 0; i < function->nformals; i++) {
    int formal = function->formals[i].name;
    if (formal >= 0 && cpu_same_text(&program->tokens.at[formal], name)) return true;
  }
  return false;
}

/* tile.shfl_down(v, 1), where the program has cooperative groups. */
bool cpu_is_group_call(const cpu_program *program, int i) {
  const char *const *const members =
      WORDS("sync", "shfl", "shfl_up", "shfl_down", "shfl_xor", "any", "all", "ballot", "match_any", "match_all");
  const cpu_token *at = program->tokens.at;
  return i && cpu_token_is(&at[i - 1], ".") && cpu_token_is(&at[i + 1], "(") && cpu_token_any(&at[i], members) &&
         cpu_has(&program->tokens, 0, program->tokens.count, "cooperative_groups");
}

bool cpu_is_meeting(const cpu_program *program, int i) {
  const cpu_token *at = &program->tokens.at[i];
  return cpu_is_barrier(at) || cpu_is_warp_operation(at) || cpu_is_group(at) || cpu_is_group_call(program, i);
}
