-- SPDX-License-Identifier: MIT
return {
  title = "launch",
  owner = "launch",
  self = "go",
  about = [[
A prepared launch with fixed kernel, grid, block, shared memory and stream; calling it with the kernel's arguments
launches. `k:prepare` makes it. The call writes the arguments into a block that the launch owns, and allocates nothing.]],
  setup = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"
local k = dev:module("triad.cu").triad
local n = 64
local B, A, C = dev:zeros("f64", n, n), dev:full(1, "f64", n, n), dev:full(2, "f64", n, n)
local go = k:prepare { grid = { n // 32, n // 4 }, block = { 32, 4 } }]],

  entries = {
    {
      name = "__call", forms = { "go(...)" },
      about = [[Queues the launch and returns. A later error of the kernel is raised by the next call that synchronises. On the
CPU device's default stream a launch is complete when it returns, so the error is raised at once.

On the CPU device an out-of-bounds access is an error that names kernel, block, thread, array and offset. If an array's size is
not a multiple of 4096 bytes, there is padding in front of it, and a few bytes behind it if it is not one of 16 (64 from 64 KiB
on). Only writes are found there; what a kernel reads there from an array of floats is NaN. Check mode finds reads as well.]],
      params = { { "...", "any", "the kernel's arguments; see the table in [kernel](kernel.md)" } },
      errors = {
        "kernel 'triad' takes 6 arguments, got 5: triad(double *B, ...)",
        "kernel 'triad', parameter 4 's' is double: a number, got string 'x'",
        "kernel 'triad', parameter 5 'nx' is int: an integer from -2147483648 to 2147483647, got 10000000000.0",
        "kernel 'triad', parameter 2 'A' is const double *: an array of f64 expected, got array<f32>[64 x 64] cpu",
        "kernel 'triad', parameter 1 'B' is double *: array<f64>[64 x 64] cuda:0 is not on cpu; make it there, or copy it with copy()",
        "kernel 'triad', parameter 1 'B' is double *: array<f64>[64 x 64] cpu is a read-only view and the parameter is not const",
        "kernel 'triad', parameter 1 'B' is double *: the array is closed",
        "kernel 'triad', parameter 1 'B' is double *: an array expected, got nil (mw.null is the null pointer)",
        "kernel 'triad' wrote outside every array: block (0,0,0), thread (5,0,0), just past the end of parameter 1 'B', an array of 8000 bytes (offset 8000; index 1000, it has 1000 elements); --check names the line",
        "attempt to launch a closed kernel", "attempt to launch on a closed stream",
      },
      meta = false, since = "0.1.0",
      example = [[
go(B, A, C, 10, n, n)
print(B:get(1, 1))                           --> 21.0
print(pcall(go, B, A, C, 10, n))             -- false: takes 6 arguments, got 5]],
    },
    {
      name = "grid", forms = { "go:grid()", "go:grid(dims)" },
      about = [[Returns the grid, or sets a new one. An error leaves the launch unchanged.]],
      params = { { "dims", "dims", "blocks", optional = true } },
      overloads = { "fun(self: moonwarp.launch): integer[]" },
      returns = { { "launch", "the launch itself; without an argument the grid as {x, y, z}" } },
      errors = { "as for `k:prepare`" }, since = "0.1.0",
      example = [[
go:grid { 1, 16 }
print(table.concat(go:grid(), "x")) --> 1x16x1]],
    },
    {
      name = "block", forms = { "go:block()", "go:block(dims)" },
      about = [[Returns the block, or sets a new one. An error leaves the launch unchanged.]],
      params = { { "dims", "dims", "threads per block", optional = true } },
      overloads = { "fun(self: moonwarp.launch): integer[]" },
      returns = { { "launch", "the launch itself; without an argument the block as {x, y, z}" } },
      errors = { "as for `k:prepare`" }, since = "0.1.0",
      example = [[print(table.concat(go:block(), "x")) --> 32x4x1]],
    },
    {
      name = "profile", forms = { "go:profile(...)" },
      about = [[Launches, waits, and returns what the launch asked of memory, on a device in check mode that counts; see
`k:profile`.]],
      params = { { "...", "any", "the kernel's arguments" } },
      returns = { { "counters", "" } },
      errors = { "as for `k:profile`", "as for calling the launch" }, since = "0.8.0",
    },
    { name = "kernel", forms = { "go:kernel()" }, about = [[The kernel that it launches.]],
      returns = { { "kernel", "" } },
      since = "0.1.0", example = [[print(go:kernel() == k) --> true]] },
    {
      name = "__tostring", forms = { "tostring(go)" }, about = [[Kernel, grid and block.]],
        returns = { { "string", "" } }, meta = false,
      since = "0.1.0", example = [[print(go) --> launch of 'triad': grid 2x16x1, block 32x4x1]],
    },
  },
}
