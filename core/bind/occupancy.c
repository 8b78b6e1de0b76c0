/* SPDX-License-Identifier: MIT
 *
 * Occupancy: how many blocks of a kernel one multiprocessor holds at a time, what limits them, and the block size that
 * fills it best. A kernel of an offline device answers the same questions for a GPU that is not there. */
#include "core/bind/bind.h"

#include <string.h>

static void query(lua_State *L, mw_kernel *kernel, int threads, size_t shared, int *blocks, char limit[256]) {
  mw_error err = {0};
  limit[0] = '\0';
  bind_try(L, kernel->module->device->backend->occupancy(kernel, threads, shared, blocks, limit, 256, &err), &err);
}

static void push_result(lua_State *L, const mw_kernel *kernel, int threads, int blocks, const char *limit) {
  int most = kernel->module->device->info.max_threads_per_multiprocessor;
  int warp = kernel->module->device->info.warp_size;
  int resident = blocks * ((threads + warp - 1) / warp * warp);
  lua_createtable(L, 0, 4);
  lua_pushinteger(L, threads);
  lua_setfield(L, -2, "threads");
  lua_pushinteger(L, blocks);
  lua_setfield(L, -2, "blocks");
  lua_pushnumber(L, most > 0 ? (double)resident / most : 0);
  lua_setfield(L, -2, "occupancy");
  lua_pushstring(L, limit);
  lua_setfield(L, -2, "limit");
  bind_result(L);
}

/* k:occupancy(threads[, shared]): { threads, blocks (a multiprocessor), occupancy (resident threads over the most
 * possible, 0 to 1), limit (in words) }. shared: dynamic shared memory a block, bytes. */
static int kernel_occupancy(lua_State *L) {
  mw_kernel *kernel = check_kernel(L, 1)->kernel;
  const mw_device_info *info = &kernel->module->device->info;
  lua_Integer threads = check_integer(L, 2), shared = lua_isnoneornil(L, 3) ? 0 : check_integer(L, 3);
  check_that(L, threads >= 1 && threads <= info->max_threads_per_block, 2, "1 to %d threads a block expected, got %I",
             info->max_threads_per_block, (LUAI_UACINT)threads);
  check_that(L, shared >= 0, 3, "bytes of shared memory expected, at least 0");
  int blocks = 0;
  char limit[256] = "no block fits: shared memory";
  if ((size_t)shared + kernel->shared_bytes <= info->shared_per_block_optin)
    query(L, kernel, (int)threads, (size_t)shared, &blocks, limit);
  push_result(L, kernel, (int)threads, blocks, limit);
  return 1;
}

/* Dynamic shared memory of a block of that many threads, from the option `shared`: a number or a function. */
static size_t shared_for(lua_State *L, int threads) {
  if (!option_push(L, 2, "shared")) return 0;
  if (lua_isfunction(L, -1)) {
    lua_pushinteger(L, threads);
    lua_call(L, 1, 1);
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
  mw_kernel *kernel = check_kernel(L, 1)->kernel;
  const mw_device_info *info = &kernel->module->device->info;
  if (!lua_isnoneornil(L, 2)) check_options(L, 2, names);
  lua_settop(L, 2);
  int most = kernel->max_threads > 0 ? kernel->max_threads : info->max_threads_per_block;
  most = (int)option_integer(L, 2, "max", most, 1, most);
  int best = 0, best_blocks = 0;
  char limit[256], best_limit[256] = "no block size fits: shared memory";
  for (int threads = most; threads > 0; threads = (threads - 1) / info->warp_size * info->warp_size) {
    int blocks = 0;
    size_t shared = shared_for(L, threads);
    if (shared + kernel->shared_bytes <= info->shared_per_block_optin)
      query(L, kernel, threads, shared, &blocks, limit);
    if (blocks * threads <= best_blocks * best) continue;
    best = threads;
    best_blocks = blocks;
    memcpy(best_limit, limit, sizeof limit);
  }
  push_result(L, kernel, best, best_blocks, best_limit);
  return 1;
}

const bind_method occupancy_methods[] = {
    {"occupancy", kernel_occupancy, 2}, {"suggest", kernel_suggest, 1}, {NULL, NULL, 0}};
