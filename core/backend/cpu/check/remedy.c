/* SPDX-License-Identifier: MIT
 *
 * What to do about a finding, where its kind alone does not tell. */
#include "core/backend/cpu/check/check.h"

#include <stdio.h>
#include <string.h>

const char cpu_in_flight[] = "nobody has waited for the copy";
const char cpu_volatile[] = "volatile orders nothing";

static bool are_of_one_block(const mw_party *parties) {
  return parties[0].block_known && parties[1].block_known &&
         !memcmp(parties[0].block, parties[1].block, sizeof parties[0].block);
}

static bool are_of_one_line(const mw_party *parties) {
  return parties[0].line == parties[1].line && !strcmp(parties[0].file, parties[1].file);
}

/* A write, and a read that should come after it; both plain. */
static bool is_handed_over(const mw_party *parties) {
  return parties[1].known && ((!strcmp(parties[0].verb, "read") && !strcmp(parties[1].verb, "write")) ||
                              (!strcmp(parties[0].verb, "write") && !strcmp(parties[1].verb, "read")));
}

/* A barrier stands between the lines of two accesses of a block, but one of the two threads did not reach it. NULL: none. */
static const char *of_missed(const cpu_checker *checker, cpu_noted *noted) {
  const mw_party *p = noted->base.parties;
  const mw_dim3 size = checker->grid->abi.block;
  for (const cpu_missed *it = checker->missed; it < checker->missed + checker->nmissed; it++)
    for (int i = 0; i < 2; i++) {
      const uint32_t *t = p[i].thread, rank = t[0] + size.x * (t[1] + size.y * t[2]);
      const bool between =
          (p[0].line <= it->line && it->line <= p[1].line) || (p[1].line <= it->line && it->line <= p[0].line);
      if (!between || strcmp(it->file, p[0].file) || memcmp(p[i].block, &it->block, sizeof p[i].block) ||
          !(it->lanes[rank / MW_CUDA_WARP] >> rank % MW_CUDA_WARP & 1))
        continue;
      snprintf(noted->advice, sizeof noted->advice,
               "let all threads of the block reach the barrier at %.80s:%d: thread (%u,%u,%u) did not", it->file,
               it->line, t[0], t[1], t[2]);
      return noted->advice;
    }
  return NULL;
}

static const char *of_shared(const cpu_noted *noted) {
  const mw_finding *finding = &noted->base;
  const char *memory = finding->object.kind;
  if (!strcmp(finding->remark, cpu_in_flight)) return "wait for the copy, then let a barrier follow";
  if (noted->scene.met_flag && is_handed_over(finding->parties))
    return "put __threadfence_block() before the flag is written and after it is seen";
  if (memory && !strcmp(memory, "dynamic shared") && !are_of_one_line(finding->parties))
    return "put __syncthreads() between the two accesses, or keep the arrays in dynamic shared memory apart";
  if (noted->scene.block_threads <= MW_CUDA_WARP) return "put __syncwarp() between the two accesses";
  return finding->remedy;
}

/* The writes of two blocks under a lock that lacks a fence, or after a flag that one waits for; volatile ones as well,
 * which somebody has taken for ordered. */
static bool are_behind_lock(const cpu_noted *noted) {
  const mw_party *parties = noted->base.parties;
  const bool by_lock = noted->scene.met_flag || noted->scene.has_lock || !strcmp(noted->base.remark, cpu_volatile);
  return noted->scene.met_block && by_lock && parties[1].known && !strcmp(parties[0].verb, "write") &&
         !strcmp(parties[1].verb, "write");
}

static const char *of_blocks(const cpu_noted *noted) {
  const mw_finding *finding = &noted->base;
  const bool by_flag = (noted->scene.met_block && is_handed_over(finding->parties)) || are_behind_lock(noted);
  if (noted->scene.is_narrow) return "give the atomic operation the device's scope";
  if (noted->scene.cooperative && by_flag)
    return "put __threadfence() before the atomic that tells of the write and after the one that sees it, or "
           "grid.sync() between the two accesses";
  if (by_flag)
    return "put __threadfence() before the atomic that tells of the write and after the one that sees it, or launch "
           "twice";
  if (noted->scene.cooperative && !are_of_one_line(finding->parties)) return "put grid.sync() between the two accesses";
  return finding->remedy;
}

static const char *of_global(const cpu_noted *noted) {
  const mw_finding *finding = &noted->base;
  if (!finding->parties[1].known && strstr(finding->remark, "overwritten")) return "wait for the copy before that";
  if (are_of_one_block(finding->parties)) {
    if (are_of_one_line(finding->parties)) return finding->remedy;
    return noted->scene.blocks == 1 ? "put __syncthreads() between the two accesses"
                                    : "put __syncthreads() between the two accesses, if no other block has the element";
  }
  return of_blocks(noted);
}

static const char *of_bounds(const cpu_noted *noted) {
  const mw_object *object = &noted->base.object;
  if (strstr(object->text, "closed array")) return "keep the array open while kernels use it";
  if (strstr(object->text, "null pointer")) return "pass an array";
  if (strstr(object->text, "dynamic shared memory"))
    return "launch it with more dynamic shared memory, or guard the access";
  if (strstr(object->text, "static shared memory") || strstr(object->text, "of shared variable"))
    return "keep the index below the bound";
  return noted->base.remedy;
}

static const char *of_uninitialised(const cpu_noted *noted) {
  const char *memory = noted->base.object.kind;
  return memory && !strcmp(memory, "local") ? "set it first, on every path" : noted->base.remedy;
}

const char *cpu_remedy_of(const cpu_checker *checker, cpu_noted *noted) {
  const bool is_race = noted->kind == CPU_FINDING_RACE_SHARED || noted->kind == CPU_FINDING_RACE_GLOBAL;
  const char *missed = is_race && are_of_one_block(noted->base.parties) ? of_missed(checker, noted) : NULL;
  if (missed) return missed;
  switch (noted->kind) {
  case CPU_FINDING_RACE_SHARED:
    return of_shared(noted);
  case CPU_FINDING_RACE_GLOBAL:
    return of_global(noted);
  case CPU_FINDING_UNINITIALISED:
    return of_uninitialised(noted);
  case CPU_FINDING_BOUNDS:
    return of_bounds(noted);
  default:
    return noted->base.remedy;
  }
}
