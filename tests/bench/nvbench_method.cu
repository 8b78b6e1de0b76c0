// SPDX-License-Identifier: MIT
//
// Timing as nvbench does it, as a Lua module for nvbench.lua to compare mw.bench with. Written from the description of
// its measurements (NVIDIA, github.com/NVIDIA/nvbench, docs: "isolated" and "batch" times), against the CUDA runtime
// alone:
//   cold    one launch a sample: the L2 cache is overwritten, the stream synchronised, a blocking kernel queued, then
//           event, launch, event; the blocking kernel is let go and the stream synchronised
//   batch   a blocking kernel, an event, two launches, let go, the other launches, an event
// Arrays come as addresses; work goes to the default stream of the context that is current.

#include <cstdint>
#include <cuda_runtime.h>
extern "C" {
#include <lauxlib.h>
#include <lua.h>
}

#include "nvbench_kernels.cuh"

// ---- what is timed --------------------------------------------------------------------------------------------------

struct job { // { kernel, blocks, first, second, third, count }
  const char *kernel;
  unsigned blocks;
  void *a, *b, *c;
  unsigned long long count;
};

static void *field_address(lua_State *L, int index, const char *name) {
  lua_getfield(L, index, name);
  void *address = (void *)(uintptr_t)luaL_optinteger(L, -1, 0);
  lua_pop(L, 1);
  return address;
}

static long long field_integer(lua_State *L, int index, const char *name) {
  lua_getfield(L, index, name);
  long long value = luaL_checkinteger(L, -1);
  lua_pop(L, 1);
  return value;
}

static job check_job(lua_State *L, int index) {
  luaL_checktype(L, index, LUA_TTABLE);
  job j;
  lua_getfield(L, index, "kernel");
  j.kernel = luaL_checkstring(L, -1); // held by the table
  lua_pop(L, 1);
  j.a = field_address(L, index, "a");
  j.b = field_address(L, index, "b");
  j.c = field_address(L, index, "c");
  j.blocks = (unsigned)field_integer(L, index, "blocks");
  j.count = (unsigned long long)field_integer(L, index, "count");
  return j;
}

static void launch(const job &j) {
  if (j.kernel[0] == 'c' && j.kernel[1] == 'o')
    bench_copy<<<j.blocks, 256>>>((double2 *)j.a, (const double2 *)j.b, j.count);
  else if (j.kernel[0] == 't')
    bench_triad<<<j.blocks, 256>>>((double2 *)j.a, (const double2 *)j.b, (const double2 *)j.c, j.count);
  else
    bench_chains<<<j.blocks, 256>>>((float *)j.a, 1.0f, 1.0f, (int)j.count);
}

// ---- blocking, flushing, timing -------------------------------------------------------------------------------------

__global__ void wait_for(const volatile int *flag) {
  while (!*flag) {
  }
}

static volatile int *flag; // host memory that the device sees
static int *flag_on_device;
static void *flush_buffer;
static size_t flush_bytes;
static cudaEvent_t from, to;

static void check(lua_State *L, cudaError_t error) {
  if (error != cudaSuccess) luaL_error(L, "nvbench_method: %s", cudaGetErrorString(error));
}

static void open_once(lua_State *L) {
  int device = 0, l2 = 0;
  if (flag) return;
  check(L, cudaGetDevice(&device));
  check(L, cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device));
  flush_bytes = (size_t)l2;
  check(L, cudaMalloc(&flush_buffer, flush_bytes));
  check(L, cudaHostAlloc((void **)&flag, sizeof(int), cudaHostAllocMapped));
  check(L, cudaHostGetDevicePointer((void **)&flag_on_device, (void *)flag, 0));
  check(L, cudaEventCreate(&from));
  check(L, cudaEventCreate(&to));
}

static void block() {
  *flag = 0;
  wait_for<<<1, 1>>>(flag_on_device);
}

static void unblock() {
  *flag = 1;
}

static double elapsed(lua_State *L) {
  float milliseconds = 0;
  check(L, cudaStreamSynchronize(0));
  check(L, cudaEventElapsedTime(&milliseconds, from, to));
  return 1e-3 * milliseconds;
}

// ---- the module -----------------------------------------------------------------------------------------------------

// cold(job, samples): a list of seconds
static int cold(lua_State *L) {
  const job j = check_job(L, 1);
  const int samples = (int)luaL_checkinteger(L, 2);
  open_once(L);
  launch(j); // warm-up
  check(L, cudaDeviceSynchronize());
  lua_createtable(L, samples, 0);
  for (int i = 1; i <= samples; i++) {
    check(L, cudaMemsetAsync(flush_buffer, 0, flush_bytes));
    check(L, cudaStreamSynchronize(0));
    block();
    cudaEventRecord(from);
    launch(j);
    cudaEventRecord(to);
    unblock();
    lua_pushnumber(L, elapsed(L));
    lua_rawseti(L, -2, i);
  }
  return 1;
}

// batch(job, launches): seconds a launch
static int batch(lua_State *L) {
  const job j = check_job(L, 1);
  const int launches = (int)luaL_checkinteger(L, 2);
  open_once(L);
  launch(j); // warm-up
  check(L, cudaDeviceSynchronize());
  block();
  cudaEventRecord(from);
  for (int i = 0; i < launches; i++) {
    if (i == 2) unblock();
    launch(j);
  }
  cudaEventRecord(to);
  unblock();
  lua_pushnumber(L, elapsed(L) / launches);
  return 1;
}

extern "C" int luaopen_nvbench_method(lua_State *L) {
  static const luaL_Reg functions[] = {{"cold", cold}, {"batch", batch}, {nullptr, nullptr}};
  luaL_newlib(L, functions);
  return 1;
}
