/* SPDX-License-Identifier: MIT
 *
 * CUDA's built-in names, and names of moonwarp's own that stand for them. A new one with a meaning is a word or a
 * line here, and the code of its meaning. Of atomic operations the beginning of the name tells (cpu/program/others.c). */
#include "core/source/builtin.h"

static const cpu_builtin table[] = {
    {WORDS("threadIdx"), CPU_COORDINATE, {0}},
    {WORDS("blockIdx", "blockDim", "gridDim"), CPU_COORDINATE | CPU_OF_BLOCK, {0}},

    {WORDS("__syncthreads"), CPU_BARRIER | CPU_CUT, {0}},
    {WORDS("__syncthreads_count"), CPU_BARRIER | CPU_EXCHANGE, {CPU_COUNT_OF_BLOCK, 0, 1, 1}},
    {WORDS("__syncthreads_and"), CPU_BARRIER | CPU_EXCHANGE, {CPU_ALL_OF_BLOCK, 0, 1, 1}},
    {WORDS("__syncthreads_or"), CPU_BARRIER | CPU_EXCHANGE, {CPU_ANY_OF_BLOCK, 0, 1, 1}},
    {WORDS("__barrier_sync", "__barrier_sync_count"), CPU_BARRIER, {0}},

    {WORDS("__syncwarp"), CPU_WARP | CPU_CUT | CPU_FENCE, {0}},
    {WORDS("mw_meet"), CPU_WARP | CPU_CUT, {0}}, /* of cpu/program/lockstep.c */
    {WORDS("__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"),
     CPU_WARP | CPU_EXCHANGE,
     {CPU_SHUFFLE, 1, 3, 4}},
    {WORDS("__ballot_sync", "__any_sync", "__all_sync"), CPU_WARP | CPU_EXCHANGE, {CPU_VOTE, 1, 2, 2}},
    {WORDS("__activemask"), CPU_WARP | CPU_EXCHANGE, {CPU_VOTE, -1, 0, 0}},
    {WORDS("__match_any_sync", "__reduce_add_sync", "__reduce_min_sync", "__reduce_max_sync", "__reduce_and_sync",
           "__reduce_or_sync", "__reduce_xor_sync"),
     CPU_WARP | CPU_EXCHANGE,
     {CPU_VALUES, 1, 2, 2}},
    {WORDS("__match_all_sync"), CPU_WARP | CPU_EXCHANGE, {CPU_VALUES, 1, 3, 3}},

    {WORDS("cooperative_groups", "thread_block", "this_thread_block", "tiled_partition", "thread_block_tile",
           "this_grid", "grid_group", "coalesced_threads", "coalesced_group", "thread_group", "labeled_partition",
           "binary_partition", "cub", "wmma", "thread_scope_block"),
     CPU_GROUP,
     {0}},
    {WORDS("sync", "shfl", "shfl_up", "shfl_down", "shfl_xor", "any", "all", "ballot", "match_any", "match_all"),
     CPU_GROUP_MEMBER,
     {0}},

    {WORDS("__threadfence", "__threadfence_block", "__threadfence_system", "__nanosleep", "__atomic_signal_fence"),
     CPU_FENCE,
     {0}},
    {WORDS("__ldcg", "__ldcv", "__ldca", "__ldlu"), CPU_FRESH, {0}},
    {WORDS("atomicCAS", "atomicExch", "__nv_atomic_compare_exchange_n", "__nv_atomic_exchange_n"), CPU_LOCK, {0}},

    {WORDS("min", "max", "abs", "fminf", "fmaxf", "fmin", "fmax", "__ffs", "__clz", "__popc", "mw_given"),
     CPU_PURE | CPU_CHEAP,
     {0}},
    {WORDS("sqrtf", "sqrt", "rsqrtf", "expf", "exp", "logf", "log", "log2f", "log2", "powf", "pow", "sinf", "cosf",
           "ceilf", "ceil", "floorf", "floor", "fabsf", "fabs", "__brev", "__ldg", "mw_highest_bit", "mw_register"),
     CPU_PURE,
     {0}},
    {WORDS("tex1Dfetch", "tex1D", "tex2D", "tex3D", "tex1DLayered", "tex2DLayered", "texCubemap", "tex2Dgather"),
     CPU_PURE,
     {0}},
};

const cpu_builtin *cpu_builtin_of(const cpu_token *token, unsigned kinds) {
  for (const cpu_builtin *it = table; token->kind == CPU_NAME && it < table + sizeof table / sizeof *table; it++)
    if (it->kinds & kinds && cpu_token_any(token, it->names)) return it;
  return NULL;
}

bool cpu_is_builtin(const cpu_token *token, unsigned kinds) {
  return cpu_builtin_of(token, kinds) != NULL;
}
