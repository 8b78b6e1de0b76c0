/* SPDX-License-Identifier: MIT
 *
 * Occupancy: how many blocks of a kernel one multiprocessor holds at a time, what limits them, and the block size that
 * fills it best. A kernel of an offline device answers the same questions. */
#include "core/bind/bind.h"

static mw_occupancy query(lua_State *L, mw_kernel *kernel, int threads, size_t shared) {
  mw_occupancy result = {.limit = MW_LIMIT_SHARED};
  if (shared + kernel->shared_bytes <= kernel->module->device->info.shared_per_block_optin)
    bind_try(L, kernel->module->device->backend->occupancy(kernel, threads, shared, &result, &bind_error));
  return result;
}

static void push_limit(lua_State *L, const mw_kernel *kernel, int threads, const mw_occupancy *o) {
  const mw_device_info *info = &kernel->module->device->info;
  if (o->limit == MW_LIMIT_SHARED && !o->shared_bytes)
    lua_pushliteral(L, "no block fits: shared memory");
  else if (o->limit == MW_LIMIT_SHARED)
    lua_pushfstring(L, "shared memory: %I bytes per block allow %d blocks", (LUAI_UACINT)o->shared_bytes, o->blocks);
  else if (o->limit == MW_LIMIT_REGISTERS)
    lua_pushfstring(L, "registers: %d per thread allow %d blocks", kernel->registers, o->blocks);
  else if (o->limit == MW_LIMIT_BLOCKS && info->max_blocks_per_multiprocessor == 1)
    lua_pushliteral(L, "a core runs one block at a time");
  else if (o->limit == MW_LIMIT_BLOCKS)
    lua_pushfstring(L, "blocks: a multiprocessor holds %d", info->max_blocks_per_multiprocessor);
  else if (threads > kernel->max_threads)
    lua_pushfstring(L, "threads: a block of this kernel has %d at most", kernel->max_threads);
  else
    lua_pushfstring(L, "threads: a multiprocessor holds %d, which is %d blocks of %d",
                    info->max_threads_per_multiprocessor, o->blocks, threads);
}

typedef struct answer {
  int threads, blocks;
  double occupancy;
} answer;

static void push_result(lua_State *L, const mw_kernel *kernel, int threads, const mw_occupancy *o) {
  static const bind_field fields[] = {FIELD(answer, threads), FIELD(answer, blocks), FIELD(answer, occupancy),
                                      LAST_FIELD};
  int most = kernel->module->device->info.max_threads_per_multiprocessor;
  int warp = kernel->module->device->info.warp_size;
  int resident = o->blocks * ((threads + warp - 1) / warp * warp);
  answer out = {threads, o->blocks, most > 0 ? (double)resident / most : 0};
  push_limit(L, kernel, threads, o);
  push_fields(L, fields, &out);
  lua_insert(L, -2);
  lua_setfield(L, -2, "limit");
}

/* k:occupancy(threads[, shared]): { threads, blocks (per multiprocessor), occupancy (resident threads over the most
 * possible, 0 to 1), limit (in words) }. shared: dynamic shared memory per block, bytes. */
static int kernel_occupancy(lua_State *L) {
  mw_kernel *kernel = self_kernel(L);
  const mw_device_info *info = &kernel->module->device->info;
  lua_Integer threads = check_integer(L, 2), shared = lua_isnoneornil(L, 3) ? 0 : check_integer(L, 3);
  check_that(L, threads >= 1 && threads <= info->max_threads_per_block, 2, "1 to %d threads per block expected, got %I",
             info->max_threads_per_block, (LUAI_UACINT)threads);
  check_that(L, shared >= 0, 3, "bytes of shared memory expected, at least 0");
  mw_occupancy result = query(L, kernel, (int)threads, (size_t)shared);
  push_result(L, kernel, (int)threads, &result);
  return 1;
}

/* Dynamic shared memory of a block of that many threads, from the option `shared`: a number or a function. */
static size_t shared_for(lua_State *L, int threads) {
  if (!option_push(L, 2, "shared")) return 0;
  if (lua_isfunction(L, -1)) {
    lua_pushinteger(L, threads);
    lua_call(L, 1, 1);
    check_still_open(L);
  }
  int exact = 0;
  lua_Integer bytes = lua_tointegerx(L, -1, &exact);
  if (!exact || bytes < 0)
    bind_fail(L, MW_INVALID,
              "suggest: 'shared' is a number of bytes or a function of the block's threads that returns one");
  lua_pop(L, 1);
  return (size_t)bytes;
}

/* k:suggest{ shared = bytes | function(threads), max = }: the block size of whole warps with the highest occupancy,
 * the largest such on a tie (the rule of CUDA's cudaOccupancyMaxPotentialBlockSize). */
static int kernel_suggest(lua_State *L) {
  static const char *const names[] = {"shared", "max", NULL};
  mw_kernel *kernel = self_kernel(L);
  const mw_device_info *info = &kernel->module->device->info;
  check_options(L, 2, names);
  lua_settop(L, 2);
  int most = kernel->max_threads > 0 ? kernel->max_threads : info->max_threads_per_block;
  most = (int)option_integer(L, 2, "max", most, 1, most);
  int best = 0;
  mw_occupancy result = {.limit = MW_LIMIT_SHARED};
  for (int threads = most; threads > 0; threads = (threads - 1) / info->warp_size * info->warp_size) {
    mw_occupancy one = query(L, kernel, threads, shared_for(L, threads));
    if (one.blocks * threads <= result.blocks * best) continue;
    best = threads;
    result = one;
  }
  push_result(L, kernel, best, &result);
  return 1;
}

const bind_method occupancy_methods[] = {
    {"occupancy", kernel_occupancy, 2}, {"suggest", kernel_suggest, 1}, {NULL, NULL, 0}};
