-- SPDX-License-Identifier: MIT
return {
  title = "kernel",
  owner = "kernel",
  self = "k",
  about = [[
One `__global__` function. Launches check and convert their arguments by the types of its parameters:

| parameter | argument |
|---|---|
| `float x`, `int n`, `size_t n`, `__half h`, ... | a number; an integer type takes an integer in its range |
| `bool b` | true or false |
| `double *A` | an array of f64 on the same device, or `mw.null`; `const double *` also takes a read-only view |
| `void *p` | an array of any type |
| `float2 *v`, `int4 *v`, ... | an array of the component's type with a suitable length and address |
| `T **p` | an array of u64 that holds addresses |
| `float3 v`, `dim3 d`, ... | a table of as many numbers |
| an enumeration | a number |
| a struct by value | a table by its members, `{ n = 4, at = { 1, 2 } }`: all of them, numbers, arrays for pointers, tables for vectors and arrays. The source, not a header of it, tells the members. Or a string of exactly its size, which string.pack makes and which is faster |]],
  setup = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"
local k = dev:module("triad.cu").triad
local n = 64
local B, A, C = dev:zeros("f64", n, n), dev:full(1, "f64", n, n), dev:full(2, "f64", n, n)]],

  classes = {
    prepare_options = {
      about = "A launch without its arguments.",
      { "grid", "dims", "blocks", optional = false },
      { "block", "dims", "threads per block", optional = false },
      { "shared", "integer", "dynamic shared memory per block", unit = "bytes", default = "0" },
      { "stream", "stream", "where it is queued", default = "the default stream, or the capturing one" },
      { "cooperative", "boolean", "all blocks run at once and may synchronise (`this_grid().sync()`)", default = "false" },
      { "carveout", "integer", "shared memory's part of what it and the first-level cache share, as a hint; without effect on the CPU device",
        unit = "per cent", default = "the driver's choice" },
      { "cache", [["none"|"shared"|"l1"|"equal"]], "which of the two gets more, as a hint: CUDA's function cache configuration; without effect on the CPU device",
        default = [["none"]] },
    },
    kernel_attributes = {
      about = "Resources of the kernel, from the compiler.",
      result = true,
      { "registers", "integer", "per thread; 0 on the CPU device" },
      { "shared_bytes", "integer", "static shared memory per block", unit = "bytes" },
      { "local_bytes", "integer", "local memory per thread", unit = "bytes" },
      { "const_bytes", "integer", "constant memory", unit = "bytes" },
      { "max_threads", "integer", "threads in the largest possible block" },
      { "spill_stores", "integer", "registers that did not fit, stored to local memory: all such instructions in the code, as ptxas -v counts them",
        unit = "bytes", optional = true },
      { "spill_loads", "integer", "the same, loaded; both are absent on the CPU device, and if the driver assembled the code",
        unit = "bytes", optional = true },
    },
    occupancy_answer = {
      about = "How many blocks one multiprocessor holds at a time.",
      result = true,
      { "threads", "integer", "per block" },
      { "blocks", "integer", "resident on one multiprocessor" },
      { "occupancy", "number", "resident threads over the maximum, 0 to 1" },
      { "limit", "string", "what limits the number of blocks, in words" },
    },
    suggest_options = {
      about = "Constraints.",
      { "shared", "integer|fun(threads: integer): integer", "dynamic shared memory per block, or a function of the block's threads",
        unit = "bytes", default = "0" },
      { "max", "integer", "largest block", default = "what the kernel allows" },
    },
  },

  entries = {
    {
      name = "__call", forms = { "k(...)" },
      about = [[An error: a launch needs a grid and a block.]], meta = false, rejects = true,
      errors = { "kernel 'triad' needs a grid and a block: k:launch(grid, block, ...), or k:prepare{ grid =, block = }" },
      since = "0.1.0",
    },
    {
      name = "prepare", forms = { "k:prepare{ grid =, block =, shared = 0, stream =, cooperative = false, carveout =, cache = }" },
      about = [[Prepares a launch; only its arguments are missing. Calling the result is the fastest way to launch and allocates
nothing.]],
      params = { { "options", "prepare_options", "" } },
      returns = { { "launch", "called with the kernel's arguments" } },
      errors = {
        "prepare needs 'grid': an integer, {x, y, z} or {x =, y =, z =}",
        "kernel '<name>': grid.x is an integer of at least 1, got 2.5 (use // for whole blocks)",
        "kernel '<name>': grid.y is <n>, <id> allows <m> at most",
        "kernel '<name>': block 64x32x1 has 2048 threads, <id> allows 1024",
        "kernel '<name>': block 1024x1x1 has 1024 threads, this kernel allows 256 (registers or __launch_bounds__)",
        "kernel '<name>': <n> bytes of dynamic and <m> of static shared memory, <id> allows <k> together",
        "kernel '<name>': <id> cannot launch cooperatively",
        "option 'cache' is none, shared, l1 or equal, got '<text>'",
        "option 'carveout' is an integer from 0 to 100, got <value>",
        "a stream of <id> expected, got one of <id>",
      },
      since = "0.1.0",
      example = [[
local go = k:prepare { grid = { n // 32, n // 4 }, block = { 32, 4 } }
go(B, A, C, 10, n, n)
print(B:get(n, n)) --> 21.0]],
    },
    {
      name = "launch", forms = { "k:launch(grid, block, ...)" },
      about = [[Launches directly, on the default stream (or the capturing one), without dynamic shared memory.]],
      params = { { "grid", "dims", "blocks" }, { "block", "dims", "threads per block" },
        { "...", "any", "the kernel's arguments" } },
      errors = { "as for `prepare` and for calling a launch" }, since = "0.1.0",
      example = [[
k:launch({ 2, 64 }, 32, B, A, C, 10, n, n)
print(B:get(1, 1)) --> 21.0]],
    },
    {
      name = "profile", forms = { "k:profile(grid, block, ...)" },
      about = [[Launches as `launch` does, waits, and returns what the launch asked of memory. The device is one in check mode that
counts: `mw.device("cpu", { check = { counters = true } })`. `launch:profile` does the same with the other options of `prepare`.]],
      params = { { "grid", "dims", "blocks" }, { "block", "dims", "threads per block" },
        { "...", "any", "the kernel's arguments" } },
      returns = { { "counters", "" } },
      errors = {
        "as for `launch`",
        [[kernel 'triad': cpu counts no accesses; mw.device("cpu", { check = { counters = true } }) does, for modules that are compiled after it]],
        [[kernel 'triad' was compiled before cpu:check began to count: call mw.device("cpu", { check = { counters = true } }) before dev:module]],
      },
      since = "0.8.0",
      example = [[
local counting = mw.device("cpu", { check = { counters = true } })
local copy = counting:module { source = "__global__ void copy(float *y, const float *x) { y[threadIdx.x] = x[threadIdx.x]; }" }.copy
local counters = copy:profile(1, 64, counting:zeros("f32", 64), counting:zeros("f32", 64))
print(counters.load_requests, counters.load_sectors) --> 2 8]],
    },
    { name = "name", forms = { "k:name()" }, about = [[The name by which it was requested.]],
      returns = { { "string", [["memcopy", "scale<float>"]] } },
      since = "0.1.0" },
    {
      name = "signature", forms = { "k:signature()" },
        about = [[Name, types and parameter names, in C++ syntax.]],
      returns = { { "string", "" } }, since = "0.1.0",
      example = [[print(k:signature()) --> triad(double *B, const double *A, const double *C, double s, int nx, int ny)]],
    },
    {
      name = "parameters", forms = { "k:parameters()" },
      about = [[The names of its parameters, in order, "" for an unnamed one; and their types, as in `const f32*`, `f32x4` of a float4,
`bool`, `void*`, `pointer*` of a pointer to pointers, `struct`.]],
      returns = { { "string[]", "", name = "names" }, { "string[]", "", name = "types" } }, since = "0.4.0",
      example = [[
local names, types = k:parameters()
print(table.concat(names, " ")) --> B A C s nx ny
print(table.concat(types, ", ")) --> f64*, const f64*, const f64*, f64, i32, i32]],
    },
    {
      name = "attributes", forms = { "k:attributes()" }, about = [[Registers, memory and the largest block.]],
      returns = { { "kernel_attributes", "see below" } }, since = "0.1.0",
      example = [[print(k:attributes().max_threads) --> 1024]],
    },
    {
      name = "engine", forms = { "k:engine()" },
      about = [[The engine that runs the kernel, and why a faster one cannot. "cuda" on a GPU; "loop", "split" or "fiber" on the
CPU device.]],
      returns = { { "string", "", name = "engine" }, { "string", [["" if it is the fastest]], name = "why" } },
      since = "0.1.0",
      example = [[print((k:engine())) --> loop]],
    },
    {
      name = "occupancy", forms = { "k:occupancy(threads[, shared])" },
      about = [[The number of blocks of that size that one multiprocessor holds at a time, and what limits it.]],
      params = { { "threads", "integer", "per block" }, { "shared", "integer", "dynamic shared memory per block",
        unit = "bytes", default = "0", optional = true } },
      returns = { { "occupancy_answer", "see below" } },
      errors = { "1 to <n> threads per block expected, got <m>", "bytes of shared memory expected, at least 0" },
        since = "0.1.0",
      example = [[print(k:occupancy(256).threads) --> 256]],
    },
    {
      name = "suggest", forms = { "k:suggest{ shared = bytes | function(threads), max = }" },
      about = [[The block size, in whole warps, with the highest occupancy; the largest of several equal ones.]],
      params = { { "options", "suggest_options", "", optional = true } },
      returns = { { "occupancy_answer", "for that block size; 0 threads if none fits" } },
      errors = { "suggest: 'shared' is a number of bytes or a function of the block's threads that returns one" },
      source = "the rule of CUDA's cudaOccupancyMaxPotentialBlockSize",
      since = "0.1.0",
      example = [[print(k:suggest { max = 512 }.threads <= 512) --> true]],
    },
    { name = "options", forms = { "k:options()" }, about = [[The options of its module, as `dev:module` takes them.]],
      returns = { { "module_options", "" } }, since = "0.1.0" },
    { name = "device", forms = { "k:device()" }, about = [[The device that it runs on.]],
      returns = { { "device", "a handle of it" } },
      since = "0.1.0" },
    {
      name = "__tostring", forms = { "tostring(k)" }, about = [[Signature and device.]],
        returns = { { "string", "" } }, meta = false,
      since = "0.1.0",
    },
  },
}
