/* SPDX-License-Identifier: MIT
 *
 * CUDA's built-in names, and names of moonwarp's own that stand for them. A new one with a meaning is a word or a
 * line here, and the code of its meaning. Of atomic operations the beginning of the name tells (cpu/program/spin_wait.c). */
#include "core/source/builtin.h"

#include <pthread.h>
#include <string.h>

static const mw_builtin table[] = {
    {WORDS("threadIdx"), MW_CUDA_COORDINATE, {0}},
    {WORDS("blockIdx", "blockDim", "gridDim"), MW_CUDA_COORDINATE | MW_CUDA_OF_BLOCK, {0}},

    {WORDS("__syncthreads"), MW_CUDA_BARRIER | MW_CUDA_CUT, {0}},
    {WORDS("__syncthreads_count"), MW_CUDA_BARRIER | MW_CUDA_EXCHANGE, {MW_CUDA_COUNT_OF_BLOCK, 0, 1, 1}},
    {WORDS("__syncthreads_and"), MW_CUDA_BARRIER | MW_CUDA_EXCHANGE, {MW_CUDA_ALL_OF_BLOCK, 0, 1, 1}},
    {WORDS("__syncthreads_or"), MW_CUDA_BARRIER | MW_CUDA_EXCHANGE, {MW_CUDA_ANY_OF_BLOCK, 0, 1, 1}},
    {WORDS("__barrier_sync", "__barrier_sync_count"), MW_CUDA_BARRIER, {0}},

    {WORDS("__syncwarp"), MW_CUDA_WARP | MW_CUDA_CUT | MW_CUDA_FENCE, {0}},
    {WORDS("mw_meet"), MW_CUDA_WARP | MW_CUDA_CUT, {0}}, /* of cpu/program/lockstep.c */
    {WORDS("__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"),
     MW_CUDA_WARP | MW_CUDA_EXCHANGE,
     {MW_CUDA_SHUFFLE, 1, 3, 4}},
    {WORDS("__ballot_sync", "__any_sync", "__all_sync"), MW_CUDA_WARP | MW_CUDA_EXCHANGE, {MW_CUDA_VOTE, 1, 2, 2}},
    {WORDS("__activemask"), MW_CUDA_WARP | MW_CUDA_EXCHANGE, {MW_CUDA_VOTE, -1, 0, 0}},
    {WORDS("__match_any_sync", "__reduce_add_sync", "__reduce_min_sync", "__reduce_max_sync", "__reduce_and_sync",
           "__reduce_or_sync", "__reduce_xor_sync"),
     MW_CUDA_WARP | MW_CUDA_EXCHANGE,
     {MW_CUDA_VALUES, 1, 2, 2}},
    {WORDS("__match_all_sync"), MW_CUDA_WARP | MW_CUDA_EXCHANGE, {MW_CUDA_VALUES, 1, 3, 3}},

    {WORDS("cooperative_groups", "thread_block", "this_thread_block", "tiled_partition", "thread_block_tile",
           "this_grid", "grid_group", "coalesced_threads", "coalesced_group", "thread_group", "labeled_partition",
           "binary_partition", "cub", "wmma", "thread_scope_block"),
     MW_CUDA_GROUP,
     {0}},
    {WORDS("sync", "shfl", "shfl_up", "shfl_down", "shfl_xor", "any", "all", "ballot", "match_any", "match_all"),
     MW_CUDA_GROUP_MEMBER,
     {0}},

    {WORDS("__threadfence", "__threadfence_block", "__threadfence_system", "__nanosleep", "__atomic_signal_fence"),
     MW_CUDA_FENCE,
     {0}},
    {WORDS("__ldcg", "__ldcv", "__ldca", "__ldlu"), MW_CUDA_FRESH, {0}},
    {WORDS("atomicCAS", "atomicExch", "__nv_atomic_compare_exchange_n", "__nv_atomic_exchange_n"), MW_CUDA_LOCK, {0}},

    {WORDS("min", "max", "abs", "fminf", "fmaxf", "fmin", "fmax", "__ffs", "__clz", "__popc", "mw_given"),
     MW_CUDA_PURE | MW_CUDA_CHEAP,
     {0}},
    {WORDS("sqrtf", "sqrt", "rsqrtf", "expf", "exp", "__expf", "logf", "log", "__logf", "log2f", "log2", "__log2f",
           "powf", "pow", "__powf", "sinf", "cosf", "ceilf", "ceil", "floorf", "floor", "roundf", "round", "fabsf",
           "fabs", "__brev", "__ldg", "mw_highest_bit", "mw_register"),
     MW_CUDA_PURE,
     {0}},
    {WORDS("tex1Dfetch", "tex1D", "tex2D", "tex3D", "tex1DLayered", "tex2DLayered", "texCubemap", "tex2Dgather"),
     MW_CUDA_PURE,
     {0}},
};

enum { SLOTS = 1024 };

static struct {
  const char *name;
  const mw_builtin *of;
} slots[SLOTS]; /* each name at its hash, or after it */

static void slots_fill(void) {
  for (const mw_builtin *it = table; it < table + sizeof table / sizeof *table; it++)
    for (const char *const *name = it->names; *name; name++) {
      unsigned i = mw_hash(&(mw_token){.text = *name, .size = (int)strlen(*name)}) % SLOTS;
      while (slots[i].name) i = (i + 1) % SLOTS;
      slots[i].name = *name, slots[i].of = it;
    }
}

const mw_builtin *mw_builtin_of(const mw_token *token, unsigned kinds) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (token->kind != MW_TOKEN_NAME) return NULL;
  pthread_once(&once, slots_fill);
  for (unsigned i = mw_hash(token) % SLOTS; slots[i].name; i = (i + 1) % SLOTS)
    if (slots[i].of->kinds & kinds && mw_token_is(token, slots[i].name)) return slots[i].of;
  return NULL;
}

bool mw_is_builtin(const mw_token *token, unsigned kinds) {
  return mw_builtin_of(token, kinds) != NULL;
}
