/* SPDX-License-Identifier: MIT
 *
 * The prepared launch, and the hot path: go(args...) writes each argument into the launch's own argument block and
 * makes one call of the backend. Nothing is allocated, no string is made, no table is read. */
#include "core/bind/bind.h"

#include <string.h>

static void launch_release(void *object) {
  mw_module_release(((bind_launch *)object)->launch.kernel->module);
}

static void opened(bind_launch *self) {
  mw_module_retain(self->launch.kernel->module);
  bind_opened(self, self->launch.kernel->module->device);
}

enum { ARGUMENT_ALIGN = 16 }; /* of the vector types with the widest alignment; Lua aligns a userdata to 8 */

/* Of the kernel at 1; the argument block lies after the struct, in the same userdata. Still closed: checks may
 * follow. */
static bind_launch *push(lua_State *L) {
  bind_kernel *kernel = lua_touserdata(L, 1);
  size_t bytes = sizeof(bind_launch) + ARGUMENT_ALIGN - 1 + argument_bytes(kernel->kernel);
  bind_launch *self = bind_new(L, &launch_class, bytes, 2);
  size_t past = (uintptr_t)(self + 1) % ARGUMENT_ALIGN;
  self->launch.kernel = kernel->kernel;
  self->launch.carveout = MW_CARVEOUT_ANY;
  argument_place(&self->launch, (char *)(self + 1) + (ARGUMENT_ALIGN - past) % ARGUMENT_ALIGN);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  return self;
}

/* ---- limits ---------------------------------------------------------------------------------------------------- */

static void check_axis(lua_State *L, const bind_launch *self, const char *what, const uint32_t got[3],
                       const int most[3]) {
  const mw_kernel *kernel = self->launch.kernel;
  const char *id = kernel->module->device->info.id;
  for (int axis = 0; axis < 3; axis++)
    if (got[axis] > (uint32_t)most[axis])
      bind_fail(L, MW_INVALID, "kernel '%s': %s.%c is %I, %s allows %d at most", kernel->name, what, "xyz"[axis],
                (LUAI_UACINT)got[axis], id, most[axis]);
}

static void check_threads(lua_State *L, const bind_launch *self) {
  const mw_kernel *kernel = self->launch.kernel;
  const mw_device_info *info = &kernel->module->device->info;
  const uint32_t *b = self->launch.block;
  uint64_t threads = (uint64_t)b[0] * b[1] * b[2];
  if (threads > (uint64_t)info->max_threads_per_block)
    bind_fail(L, MW_INVALID, "kernel '%s': block %dx%dx%d has %I threads, %s allows %d", kernel->name, (int)b[0],
              (int)b[1], (int)b[2], (LUAI_UACINT)threads, info->id, info->max_threads_per_block);
  if (kernel->max_threads > 0 && threads > (uint64_t)kernel->max_threads)
    bind_fail(L, MW_INVALID,
              "kernel '%s': block %dx%dx%d has %I threads, this kernel allows %d (registers or __launch_bounds__)",
              kernel->name, (int)b[0], (int)b[1], (int)b[2], (LUAI_UACINT)threads, kernel->max_threads);
}

static void check_limits(lua_State *L, const bind_launch *self) {
  const mw_kernel *kernel = self->launch.kernel;
  const mw_device_info *info = &kernel->module->device->info;
  size_t most =
      info->shared_per_block_optin > info->shared_per_block ? info->shared_per_block_optin : info->shared_per_block;
  check_axis(L, self, "grid", self->launch.grid, info->max_grid);
  check_axis(L, self, "block", self->launch.block, info->max_block);
  check_threads(L, self);
  if (self->launch.shared + kernel->shared_bytes > most)
    bind_fail(L, MW_INVALID, "kernel '%s': %I bytes of dynamic and %I of static shared memory, %s allows %I together",
              kernel->name, (LUAI_UACINT)self->launch.shared, (LUAI_UACINT)kernel->shared_bytes, info->id,
              (LUAI_UACINT)most);
  if (self->launch.cooperative && !info->cooperative)
    bind_fail(L, MW_UNSUPPORTED, "kernel '%s': %s cannot launch cooperatively", kernel->name, info->id);
}

static int launch_profile(lua_State *L);

/* ---- making ---------------------------------------------------------------------------------------------------- */

static void read_dims_option(lua_State *L, const mw_kernel *kernel, const char *name, uint32_t out[3]) {
  if (!option_push(L, 2, name)) bind_fail(L, MW_INVALID, "prepare needs '%s': " DIMS, name);
  lua_replace(L, 3);
  check_dims(L, 3, 2, kernel->name, name, out);
}

/* k:prepare{ grid =, block =, shared = 0, stream =, cooperative = false, carveout =, cache = }: a launch to be called with
 * the kernel's arguments, as often as wanted; the call allocates nothing. shared in bytes, carveout in per cent. */
static int kernel_prepare(lua_State *L) {
  static const char *const names[] = {"grid", "block", "shared", "stream", "cooperative", "carveout", "cache", NULL};
  static const char *const caches[] = {"none", "shared", "l1", "equal", NULL}; /* as mw_prefer has them */
  const mw_kernel *kernel = self_kernel(L);
  need_options(L, 2, names);
  lua_settop(L, 3);
  bind_launch *self = push(L);
  read_dims_option(L, kernel, "grid", self->launch.grid);
  read_dims_option(L, kernel, "block", self->launch.block);
  self->launch.shared = (size_t)option_integer(L, 2, "shared", 0, 0, 1 << 30);
  self->launch.cooperative = option_boolean(L, 2, "cooperative", false);
  self->launch.carveout = (int)option_integer(L, 2, "carveout", MW_CARVEOUT_ANY, 0, 100);
  self->launch.prefer = (mw_prefer)option_word(L, 2, "cache", caches);
  if (option_push(L, 2, "stream")) {
    self->stream = option_stream(L, kernel->module->device);
    lua_setiuservalue(L, 4, 2);
  }
  check_limits(L, self);
  opened(self);
  lua_settop(L, 4);
  return 1;
}

/* (kernel, grid, block, ...) becomes (launch, ...): on the current stream, without dynamic shared memory. The launch is
 * kept in user value 1 of the kernel. */
static void take_direct(lua_State *L) {
  const mw_kernel *kernel = self_kernel(L);
  uint32_t grid[3], block[3];
  check_dims(L, 2, 2, kernel->name, "grid", grid);
  check_dims(L, 3, 3, kernel->name, "block", block);
  lua_getiuservalue(L, 1, 1);
  bind_launch *self = bind_test(L, -1, &launch_class);
  if (!self || !self->object.open || self->launch.kernel != kernel) {
    lua_pop(L, 1);
    opened(self = push(L));
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, 1, 1);
  }
  memcpy(self->launch.grid, grid, sizeof grid);
  memcpy(self->launch.block, block, sizeof block);
  check_limits(L, self);
  lua_replace(L, 3);
  lua_remove(L, 2);
  lua_remove(L, 1);
}

/* k:launch(grid, block, ...): the direct form. */
static int kernel_launch(lua_State *L) {
  take_direct(L);
  lua_call(L, lua_gettop(L) - 1, 0);
  return 0;
}

/* k:profile(grid, block, ...): the same, and what it did. */
static int kernel_profile(lua_State *L) {
  take_direct(L);
  return launch_profile(L);
}

const bind_method launch_makers[] = {{"launch", kernel_launch, ANY_COUNT},
                                     {"prepare", kernel_prepare, 1},
                                     {"profile", kernel_profile, ANY_COUNT},
                                     {NULL, NULL, 0}};

/* ---- launching ------------------------------------------------------------------------------------------------- */

void launch_pack(lua_State *L, bind_launch *self, int first) {
  int wanted = self->launch.kernel->nparams, given = lua_gettop(L) - first + 1;
  if (given != wanted) {
    push_signature(L, self->launch.kernel);
    bind_fail(L, MW_INVALID, "kernel '%s' takes %d argument%s, got %d: %s", self->launch.kernel->name, wanted,
              wanted == 1 ? "" : "s", given, lua_tostring(L, -1));
  }
  for (int i = 0; i < wanted; i++) argument_store(L, first + i, self, i);
}

/* The stream is a user value, which keeps it; debug.setuservalue may have put something else there. */
static bool stream_is_open(lua_State *L, const bind_launch *self) {
  lua_getiuservalue(L, 1, 2);
  bool kept = lua_touserdata(L, -1) == self->stream;
  lua_pop(L, 1);
  return kept && self->stream->object.open;
}

static mw_stream *target_stream(const bind_launch *self, const bind_capture *capture) {
  mw_device *device = self->launch.kernel->module->device;
  if (self->stream) return self->stream->stream;
  return capture && capture->stream->device == device ? capture->stream : device->main;
}

/* The launch at 1. */
static bind_launch *check_launchable(lua_State *L) {
  bind_launch *self = bind_check(L, 1, &launch_class);
  if (self->launch.kernel->handles == 0) bind_fail(L, MW_INVALID, "attempt to launch a closed kernel");
  if (self->stream && !stream_is_open(L, self)) bind_fail(L, MW_INVALID, "attempt to launch on a closed stream");
  return self;
}

void launch_keep_arguments(lua_State *L, bind_graph *graph, const mw_kernel *kernel, int first) {
  for (int i = 0; i < kernel->nparams; i++) {
    mw_buffer *buffer = bind_buffer_of(L, first + i);
    if (buffer) graph_keep(graph, buffer);
  }
}

/* Notes the launch with its arguments in the graph that is captured. */
static void note(lua_State *L, bind_graph *graph, const bind_launch *self, int first) {
  const mw_kernel *kernel = self->launch.kernel;
  graph->nodes = mw_realloc(graph->nodes, (size_t)(graph->nnodes + 1) * sizeof *graph->nodes);
  mw_launch *node = &graph->nodes[graph->nnodes++];
  *node = self->launch;
  argument_place(node, mw_malloc(argument_bytes(kernel)));
  memcpy(node->args, self->launch.args, kernel->args_bytes);
  mw_module_retain(kernel->module);
  launch_keep_arguments(L, graph, kernel, first);
}

/* go(...): the launch is queued on its stream; what the kernel does wrong later is reported by the next call that
 * synchronises. */
static int launch_call(lua_State *L) {
  bind_launch *self = check_launchable(L);
  const bind_capture *capture = bind_capture_of(L);
  mw_stream *stream = target_stream(self, capture);
  if (!stream)
    return bind_fail(L, MW_UNSUPPORTED,
                     "kernel '%s': %s compiles kernels and reports their occupancy, it cannot run them",
                     self->launch.kernel->name, self->launch.kernel->module->device->info.id);
  launch_pack(L, self, 2);
  mw_status status = stream->device->backend->launch(stream, &self->launch, &bind_error);
  if (status != MW_OK) return bind_raise(L);
  stream->acted = true;
  if (stream->device->info.traces) race_launch(L, self->launch.kernel, stream, 2);
  if (bind_traces) trace_launch(L, &self->launch, 1);
  if (capture && stream->capturing) note(L, capture->graph, self, 2);
  return 0;
}

/* go:profile(...): launches, waits, and returns what the launch asked of memory. */
static int launch_profile(lua_State *L) {
  bind_launch *self = check_launchable(L);
  const char *name = self->launch.kernel->name;
  mw_device *device = self->launch.kernel->module->device;
  const bind_capture *capture = bind_capture_of(L);
  if (capture && capture->stream->device == device) check_uncaptured(L, capture->stream, "profile a kernel");
  launch_pack(L, self, 2); /* a mistake there is told first */
  const size_t before = counter_begin(L, name, device);
  launch_call(L);
  return counter_end(L, name, device, before);
}

/* go:grid([new]), go:block([new]). Sets new dimensions only when all limits hold; a rejected call does not change
 * the launch. */
static int launch_dims(lua_State *L) {
  const char *what = bind_method_name(L);
  bool grid = strcmp(what, "grid") == 0;
  bind_launch *self = lua_touserdata(L, 1);
  uint32_t *dims = grid ? self->launch.grid : self->launch.block, wanted[3];
  if (lua_gettop(L) < 2) {
    push_dims(L, dims);
    return 1;
  }
  check_dims(L, 2, 2, self->launch.kernel->name, what, wanted);
  bind_launch changed = *self;
  memcpy(grid ? changed.launch.grid : changed.launch.block, wanted, sizeof wanted);
  check_limits(L, &changed);
  memcpy(dims, wanted, sizeof wanted);
  lua_settop(L, 1);
  return 1;
}

static int launch_kernel(lua_State *L) {
  lua_getiuservalue(L, 1, 1);
  return 1;
}

static void describe(lua_State *L, const void *object) {
  const bind_launch *self = object;
  const uint32_t *g = self->launch.grid, *b = self->launch.block;
  lua_pushfstring(L, "launch of '%s': grid %dx%dx%d, block %dx%dx%d", self->launch.kernel->name, (int)g[0], (int)g[1],
                  (int)g[2], (int)b[0], (int)b[1], (int)b[2]);
}

static const bind_method methods[] = {{"block", launch_dims, 1},
                                      {"grid", launch_dims, 1},
                                      {"kernel", launch_kernel, 0},
                                      {"profile", launch_profile, ANY_COUNT},
                                      {NULL, NULL, 0}};

static const luaL_Reg metamethods[] = {{"__call", launch_call}, {NULL, NULL}};

bind_class launch_class = {"launch", launch_release, methods, describe, metamethods, 0};
