-- SPDX-License-Identifier: MIT
local LISTS = { "...", "array[]", "arrays whose halos are exchanged, each a list with one for each part" }
local LAUNCH = { "launch", "fun(part, boxes, stream): function",
                 "gives a function that queues the cells of the boxes in the stream" }
local function arrays(name)
  return { name .. ": a list of arrays, one for each of <n> parts, is wanted, as grid:array makes it, got <value>",
           name .. ": an array of part <i>, on <id>, is wanted, got <value>",
           name .. ": part <i> has <shape> cells of <dtype> with its halo, got <array>: an array of another grid?",
           name .. ": the grid is closed" }
end
local function steps(name)
  local list = arrays(name)
  list[#list + 1] = name .. ": a function launch(part, boxes, stream) is wanted, got <value>"
  list[#list + 1] = name .. ": the function must return one that launches what it was given, got <value>"
  return list
end

return {
  title = "grid",
  owner = "grid", self = "grid", common = false,
  about = [[
Stencils over several devices: `mw.grid` divides a box of cells into parts, one for each device, or one for each rank of a communicator. Each
part has arrays with its own cells and a **halo** around them. Three calls make a solver of one device one of many: `mw.grid`, then
`grid:exchange(A)`, which fills halos with the neighbours' cells, or `grid:overlap(launch, A)`, which hides that behind the interior. The
model is that of ImplicitGlobalGrid.jl (S. Omlin and L. Raess).

- Cells, coordinates and ranks count from 0, as in kernels; x is the fastest in all of them. An array of a part has the shape
  `part.shape`: its cells and the halo on both sides. Cell 0 of the part is at `grid.halo`.
- Parts differ by one cell at most. There are as many along each dimension as `MPI_Dims_create` gives, the most along the last, where a
  face is one piece of memory; `dims` sets them. A dimension with the halo 0 is not divided, unless all are so.
- Halos at an end of the box that is not periodic belong to the script, as boundary values; `grid:array` makes all of them zeros.
- Dimensions are exchanged one after the other, so that edges and corners arrive, too.
- Work is in streams of the grid, which are in order with the default streams: a launch without a stream comes after the step
  before it, and before the next. What other streams do waits for all of `grid:streams()`, and these for it.
- A face that is one piece is copied. Others are stored into the neighbour's halo by a kernel, or, where a device does not reach
  the other's memory, packed, copied and unpacked. Between processes they are sent and received by the communicator.

In a step that overlaps, each part computes the cells that its neighbours need in an urgent stream, sends them, and computes the others
beside it. The function `launch` is called when the step is made: once with the boxes of the border, once with the box between. A kernel
must write another array than it reads, and read no cell farther away than the halo is wide.]],
  setup = [[
local mw = require "moonwarp"
local a, b = mw.device "cpu:0/2", mw.device "cpu:1/2"
local grid = mw.grid { 6, devices = { a, b } }
local A, B = grid:array "f64", grid:array "f64"
local source = "__global__ void mean(double *y, const double *x, int first, int n) {" ..
  "  int i = first + threadIdx.x; if (threadIdx.x < n) y[i] = (x[i - 1] + x[i + 1]) / 2; }"
local kernels = { [a] = a:module({ source = source }).mean, [b] = b:module({ source = source }).mean }
local function launch(part, boxes, stream)
  local go, x, y = kernels[part.device]:prepare { grid = 1, block = 32, stream = stream }, A[part.number], B[part.number]
  return function() for _, box in ipairs(boxes) do go(y, x, box.first[1], box.size[1]) end end
end
for i, part in ipairs(grid.parts) do for k = 1, part.size[1] do A[i]:set(k + 1, part.first[1] + k) end end]],
  fields = {
    title = "Fields",
    { "parts", "grid_part[]", "the parts of this process" },
    { "ranks", "integer", "parts in all" },
    { "dimensions", "integer", "1 to 3; the lists below have three numbers, of which the rest are 1 cell, or 0" },
    { "size", "integer[]", "cells" },
    { "dims", "integer[]", "parts along each dimension" },
    { "halo", "integer[]", "cells" },
    { "periodic", "boolean[]", "" },
  },
  classes = {
    grid_part = {
      about = "A part; lists have a number for each of x, y and z.", result = true,
      { "number", "integer", "its place in `grid.parts`, and in lists of arrays" },
      { "rank", "integer", "among all parts" },
      { "device", "device", "" },
      { "coords", "integer[]", "its place among the parts" },
      { "first", "integer[]", "its first cell" },
      { "size", "integer[]", "its cells" },
      { "shape", "integer[]", "of its arrays: cells and halos" },
      { "neighbours", "table[]", "for each dimension the ranks at the low and the high side, false for none" },
    },
    grid_box = {
      about = "Cells of a part's array.", result = true,
      { "first", "integer[]", "the first of them, in the array" },
      { "size", "integer[]", "how many" },
    },
    grid_options = {
      about = "A grid.",
      { "[1]", "integer", "cells along x" },
      { "[2]", "integer?", "along y" },
      { "[3]", "integer?", "along z" },
      { "devices", "device[]", "one for each part; a device may be named several times", default = "the device" },
      { "comm", "communicator", "in place of devices: a part for each of its ranks" },
      { "dims", "integer[]", "parts along each dimension; 0: chosen", default = "{ 0, 0, 0 }" },
      { "halo", "integer|integer[]", "cells, for all dimensions or each", default = "1" },
      { "periodic", "boolean|boolean[]", "whether the last cell's neighbour is the first", default = "false" },
      { "via", [["copies"|"comm"]], "how parts of one process exchange: by copies, or as between processes",
        default = [["copies"]] },
    },
  },
  entries = {
    {
      name = "array", forms = { "grid:array(dtype)" },
      about = [[An array for each part of this process, of zeros.]],
      params = { { "dtype", "dtype", "" } }, returns = { { "array[]", "by the parts' numbers", name = "arrays" } },
      errors = { [[array: an element type is wanted, as "f32", got <value>]], "array: the grid is closed" }, since = "0.11.0",
      example = [[
print(A[1], B[2]) --> array<f64>[5] cpu:0/2  array<f64>[5] cpu:1/2]],
    },
    {
      name = "exchange", forms = { "grid:exchange(...)" },
      about = [[Fills the halos of arrays with the neighbours' cells, and goes on: the copies are in order with the default streams.]],
      params = { LISTS }, returns = { { "grid", "the grid itself" } }, errors = arrays "exchange", since = "0.11.0",
      example = [[
grid:exchange(A)
print(A[1]:get(5), A[2]:get(1)) --> 4.0  3.0]],
    },
    {
      name = "step", forms = { "grid:step(launch, ...)" },
      about = [[A function that computes all cells of each part, then exchanges halos: what a step with overlap is compared with.]],
      params = { LAUNCH, LISTS }, returns = { { "function", "", name = "step" } }, errors = steps "step", since = "0.11.0",
    },
    {
      name = "overlap", forms = { "grid:overlap(launch, ...)" },
      about = [[A function that computes the cells which neighbours need, and exchanges them while it computes the others.]],
      params = { LAUNCH, LISTS }, returns = { { "function", "", name = "step" } }, errors = steps "overlap", since = "0.11.0",
      example = [[
grid:exchange(A)
local step = grid:overlap(launch, B) -- writes B, whose halos the next step reads
step()
print(B[1]:get(4), B[2]:get(1), B[2]:get(2)) --> 3.0  3.0  4.0]],
    },
    {
      name = "gather", forms = { "grid:gather(arrays)" },
      about = [[All cells, without halos, in one pageable array of the process with rank 0, for a picture or a check. Every process calls it.]],
      params = { { "arrays", "array[]", "one for each part" } },
      returns = { { "array?", "nil in the other processes", name = "whole" } }, errors = arrays "gather", since = "0.11.0",
      example = [[
print(table.concat(grid:gather(A):totable(), " ")) --> 1.0 2.0 3.0 4.0 5.0 6.0]],
    },
    {
      name = "local_range", forms = { "grid:local_range([number])" },
      about = [[The first and the last cell of a part, for each dimension.]],
      params = { { "number", "integer", "of the part", optional = true, default = "1" } },
      returns = { { "integer[]", "", name = "first" }, { "integer[]", "", name = "last" } }, since = "0.11.0",
      errors = { "local_range: a part from 1 to <n> is wanted, got <value>" },
      example = [[
local first, last = grid:local_range(2)
print(first[1], last[1]) --> 3  5]],
    },
    {
      name = "streams", forms = { "grid:streams()" },
      about = [[All streams of the grid, for what runs in others: it must wait for each of them, and each for it.]],
      returns = { { "stream[]", "" } }, errors = { "streams: the grid is closed" }, since = "0.11.0",
    },
    {
      name = "close", forms = { "grid:close()" },
      about = [[Closes its streams; what is queued still runs, and the arrays are left. Also at the end of the block by `<close>`.]],
      since = "0.11.0",
    },
  },
}
