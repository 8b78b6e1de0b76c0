-- SPDX-License-Identifier: MIT
return {
  title = "mesh",
  owner = "mesh", self = "m", common = false,
  about = [[
Loops over unstructured meshes: `require "moonwarp.mesh"`. A mesh has **sets** (cells, edges), **maps** from one set to another (the
two cells of an edge), and **dats**, data on a set. A loop over a set calls a function of the user's for each element, and says of
each argument how an element uses it: what it reads, writes or increments. The library writes the kernel. The model is that of OP2
(M. Giles, G. Mudalige, I. Reguly), and so are the names; the study [airfoil](../studies/airfoil.md) has its example.

Two elements may increment the same value: two edges of a cell. How these are kept apart is the option `by`:

| by | |
|---|---|
| "atomics" | an element per thread, atomic adds; the standard |
| "colours" | an element per thread; elements of one colour share nothing, a launch per colour |
| "owner" | a target per thread: it goes through its elements, so that each is computed by all of its targets. Sums have the same order in every run |
| "staged" | a block per mini-partition of `part` elements: what they read and increment is in shared memory. `blocks` keeps blocks apart, `threads` the threads of a block, each by "colours" or "atomics" |
| "staged", `blocks = "owner"` | a block per `part` targets, with all elements that lead to them. `threads` is "colours", "atomics", or "owner": a target per thread |

What these need, inverse maps, lists, colours, is the **plan** of a loop. It is made on the device, and loops with the same maps
share it. An order of the elements that keeps neighbours together makes plans and loops better.

- The user's functions are `__device__` functions. A parameter is a pointer to the element's own values, `const` if they are only
  read. Its type, `REAL` (the mesh's), `float`, `double`, `int` or `unsigned`, and its dimension, as in `const REAL q[4]`, are checked
  against the dat. Macros among the parameters are not read.
- An array of a dat holds one element after the other ("aos"), or all first values, then all second ones ("soa"), as an array of a
  map does with its columns. Elements count from 0.
- A loop increments through one map. What it reads it does not write, unless by "rw" without a map.
- By "owner" a function is also called where a target has fewer elements than others, with values of some element; what
  it computes then is left out.
- By "owner" a plan has places as differences from the target's number, in 16 bits if all fit (below 8192), else in 32. An order that
  keeps neighbours together halves what is read.
- A target of many thousand elements makes plans slow, for they are sorted by a thread each, and tables of "owner" have as many
  rows: "atomics" needs no plan.

A mesh is on one device. `mesh.partition` divides the numbers of a mesh for several, each of which gets a mesh of its own, and
`mesh.exchange` copies values between these. **Owner computes**: the elements of one set, the targets, have one owner each. Elements that
lead to targets of two parts are computed by both. A part also has copies of the targets that its elements read but another part owns.
Copies come after the part's own targets, so that a loop over the own ones takes the first `own` elements: a set of that size, with views of
the arrays as dats. What a loop adds to a copy is not used.]],
  setup = [[
local mw, mesh = require "moonwarp", require "moonwarp.mesh"
local dev = mw.device "cpu"
local m = mesh.new(dev, { kernels = [=[
  __device__ void spmv(const REAL A[1], const REAL u[1], REAL y[1]) { y[0] += A[0] * u[0]; }
  __device__ void double_up(REAL y[1], REAL sum[1]) { y[0] *= factor; sum[0] += y[0]; }
]=], constants = { factor = 2 } })
local rows, elements = m:set("rows", 2), m:set("elements", 3) -- ( 1 2 ) and ( 0 3 )
local ends = m:map("ends", elements, rows, 2, dev:array("i32", { 0, 0, 1,  0, 1, 1 }))
local A = m:dat("A", elements, 1, dev:array("f64", { 1, 2, 3 }))
local u, y = m:dat("u", rows, 1, dev:array("f64", { 10, 100 })), m:dat("y", rows, 1, dev:zeros("f64", 2))
local product = { { A, "read" }, { u, ends, 2, "read" }, { y, ends, 1, "inc" } }]],
  classes = {
    mesh_options = {
      about = "A mesh as a whole.",
      { "kernels", "string", "the functions that loops call, as text", default = '""' },
      { "type", [["f32"|"f64"]], "REAL in them", default = [["f64"]] },
      { "layout", [["aos"|"soa"]], "of dats with several values per element", default = [["aos"]] },
      { "constants", "table<string, number>", "named constants of type REAL", default = "{}" },
      { "contract", "boolean", "`a * b + c` may be rounded once, in what `m:compile` and `m:par_loop` compile", default = "true" },
    },
    loop_options = {
      about = "How a loop runs.",
      { "by", [["atomics"|"colours"|"owner"|"staged"]], "how increments are kept apart; a loop without increments through a " ..
        "map may be \"staged\"", default = [["atomics"]] },
      { "block", "integer", "threads per block, in whole warps", default = "128" },
      { "part", "integer", "of \"staged\": elements of a mini-partition, or targets that a block owns", default = "`block`" },
      { "blocks", [["colours"|"atomics"|"owner"]], "of \"staged\"", default = [["colours"]] },
      { "threads", [["colours"|"atomics"|"owner"]], "of \"staged\"", default = [["colours"]] },
      { "name", "string", "of the kernel", default = "the function's, and `_loop`" },
    },
    mesh_loop = {
      about = "A loop that is ready to be compiled.", result = true,
      { "name", "string", "of its kernel" },
      { "kernel", "string", "the text of its kernel" },
      { "source", "string", "the whole source" },
      { "launches", "table[]", "as `c:launches` of a study takes them: `{ name, { grid, block, shared, source }, arguments }`" },
      { "planning", "number", "what planning took", unit = "s" },
      { "options", "loop_options", "with the standard values" },
      { "plan", "table", "`colours` of the threads, `blocks`, `shared` bytes per block, `first`: where each launch begins; " ..
        "the rest is internal" },
      { "pattern", "table", "its arguments and maps" },
    },
    mesh_partition = {
      about = "What is divided.",
      { "sets", "table<string, integer>", "the sizes of sets" },
      { "target", "string", "the set whose elements have owners" },
      { "owners", "integer[]", "the part of each of them, from 1 on" },
      { "maps", "table<string, table>", "`{ from, to, numbers }`: names of sets, and elements from 0, one column after the other. " ..
        "Each leads to the targets, or from them or from a set that leads to them" },
    },
    mesh_part = {
      about = "A part.", result = true,
      { "sets", "table<string, integer[]>", "by name the elements that it has, by their numbers in the whole" },
      { "own", "integer", "how many of the targets it owns; they come first" },
      { "maps", "table<string, integer[]>", "by name the numbers for `m:map`" },
      { "copies", "table[]", "`part`, `first`, `count` of the targets after its own" },
    },
    mesh_set = { about = "A set of a mesh.", result = true, { "name", "string", "" },
                 { "n", "integer", "its elements" } },
    mesh_map = { about = "A map of a mesh.", result = true, { "name", "string", "" }, { "from", "mesh_set", "" },
                 { "to", "mesh_set", "" }, { "arity", "integer", "its columns" }, { "array", "array", "" } },
    mesh_dat = { about = "A dat or a global of a mesh.", result = true, { "name", "string", "" },
                 { "set", "mesh_set", "none of a global", optional = true },
                 { "dim", "integer", "values per element" }, { "type", "dtype", "" }, { "array", "array", "" } },
  },
  entries = {
    {
      name = "new", forms = { "mesh.new(dev[, options])" }, meta = false,
      about = [[A mesh on a device.]],
      params = { { "dev", "device", "" }, { "options", "mesh_options", "", optional = true } },
      returns = { { "mesh", "" } }, since = "0.11.0",
      errors = { "mesh.new: option 'layout' is aos, soa, got <value>", "mesh.new: option 'type' is f32, f64, got <value>",
                 "mesh.new: a constant's name is a word of letters and digits, got <value>",
                 "mesh.new: constant '<name>' must be a finite number, got <value>" },
    },
    {
      name = "set", forms = { "m:set(name, n)" }, about = [[A set of n elements.]],
      params = { { "name", "string", "a word; the names of sets, maps and dats of a mesh differ" },
                 { "n", "integer", "1 to 2^30 - 1" } },
      returns = { { "mesh_set", "" } }, since = "0.11.0",
      errors = { "set '<name>': the mesh has a <kind> of that name",
                 "set '<name>': its size must be an integer from 1 to <n>, got <value>" },
    },
    {
      name = "map", forms = { "m:map(name, from, to, arity, array)" },
      about = [[A map: each element of `from` leads to `arity` elements of `to`. The mesh keeps a copy.]],
      params = { { "name", "string", "" }, { "from", "mesh_set", "" }, { "to", "mesh_set", "" },
                 { "arity", "integer", "columns" },
                 { "array", "array", "of i32: elements of `to` from 0, one column after the other" } },
      returns = { { "mesh_map", "" } }, since = "0.11.0",
      errors = { "map '<name>' from '<set>' to '<set>': <k> columns of <n> need <m> elements, the array has <l>",
                 "map '<name>' from '<set>' to '<set>': the mesh is on <id>, the array on <id>",
                 "map '<name>' from '<set>' to '<set>' leads to element <i>: '<set>' has 0 to <n>" },
    },
    {
      name = "dat", forms = { "m:dat(name, set, dim, array)" },
      about = [[Data on a set: `dim` values per element.]],
      params = { { "name", "string", "" }, { "set", "mesh_set", "" }, { "dim", "integer", "" },
                 { "array", "array", "of f32, f64, i32 or u32, in the mesh's layout" } },
      returns = { { "mesh_dat", "" } }, since = "0.11.0",
      errors = { "dat '<name>' on '<set>': dimension <d> of <n> needs <m> elements, the array has <k>",
                 "dat '<name>' on '<set>': the mesh is on <id>, the array on <id>",
                 "dat '<name>': an array of f32, f64, i32 or u32 is wanted, got <type>" },
    },
    {
      name = "global", forms = { "m:global(name, dim, array)" },
      about = [[Values that belong to no set: what all elements read, or a sum over all elements ("inc"), which is added to what the
array holds.]],
      params = { { "name", "string", "" }, { "dim", "integer", "" }, { "array", "array", "of `dim` elements, of f32, f64, i32 or u32" } },
      returns = { { "mesh_dat", "" } }, since = "0.11.0",
      errors = { "global '<name>': dimension <d> needs <d> elements, the array has <n>",
                 "global '<name>': the mesh is on <id>, the array on <id>" },
    },
    {
      name = "par_loop", forms = { "m:par_loop(set, kernel, args[, options])" },
      about = [[Plans and compiles a loop, and returns a function that runs it. An argument is `{ dat, access }` of the element's own
values, `{ dat, map, column, access }` of those where a column of a map leads, from 1 on, or `{ global, access }`. The access is "read",
"write", "rw" or "inc"; through a map and of a global "read" or "inc". "inc" is a sum; for a least or greatest value write a
dat, and take `dev:min` or `dev:max` of its array. Before the function is called, what is written is empty and what is incremented is 0.]],
      params = { { "set", "mesh_set", "" }, { "kernel", "string", "the function of the mesh's `kernels`" },
                 { "args", "table[]", "in the order of its parameters" },
                 { "options", "loop_options", "", optional = true } },
      returns = { { "fun()", "runs the loop, in the default stream", name = "run" }, { "mesh_loop", "", name = "loop" } },
      since = "0.11.0",
      errors = {
        "par_loop: the mesh's kernels have no function '<kernel>'",
        "par_loop <kernel>: the function takes <n> arguments, got <m>",
        "par_loop <kernel>, argument <i> '<dat>': map '<map>' is from '<set>', the loop is over '<set>'",
        "par_loop <kernel>, argument <i> '<dat>': map '<map>' leads to '<set>', '<dat>' is on '<set>'",
        "par_loop <kernel>, argument <i> '<dat>': '<dat>' is on '<set>', the loop is over '<set>': give a map and its column",
        "par_loop <kernel>, argument <i> '<dat>': the column of map '<map>' must be an integer from 1 to <n>, got <value>",
        "par_loop <kernel>, argument <i> '<dat>': its access is read, write, inc, rw, got <value>",
        "par_loop <kernel>, argument <i> '<dat>': elements may share it, so that it is 'read' or 'inc', got '<access>'",
        "par_loop <kernel>, argument <i> '<dat>': the function takes <n> values, '<dat>' has <m>",
        "par_loop <kernel>, argument <i> '<dat>': the function's parameter is of type '<type>', '<dat>' is of <type>: write <type>",
        "par_loop <kernel>, argument <i> '<dat>': its access is 'read', the function's parameter is not const",
        "par_loop <kernel>, argument <i> '<dat>': its array is 'inc' here and 'read' by argument <k>, so that the order of the elements counts",
        "par_loop <kernel>, argument <i> '<dat>': its array is argument <k>'s, too: both must have the same dat",
        "par_loop <kernel>, argument <i>: the array of <kind> '<name>' is closed",
        "par_loop <kernel>: option 'name': the mesh's kernels have a function '<name>'",
        "par_loop <kernel>, argument <i>: a dat of the mesh is wanted, got <value>",
        "par_loop <kernel>, argument <i>: dat '<dat>' is of another mesh",
        "par_loop <kernel>, argument <i> '<dat>': increments go through one map, '<map>' or '<map>'",
        "par_loop <kernel>, argument <i> '<dat>': an element that two targets own is computed twice, so that it is not a sum here: take another way",
        "elements of a mini-partition need more than 64 colours: take threads = \"atomics\"",
        "a mini-partition has <n> elements of '<set>', at most 65534 fit: take a smaller 'part'",
      },
      source = "M. Giles, G. Mudalige, Z. Sharif, G. Markall, P. Kelly, Performance analysis and optimization of the OP2 framework " ..
        "on many-core architectures (2012): mini-partitions, colours",
      example = [[
local run, loop = m:par_loop(elements, "spmv", product, { by = "owner" })
run()
print(y.array:get(1), y.array:get(2)) --> 210.0  300.0
print(#loop.launches, loop.kernel:match "void ([%w_]+)") --> 1  spmv_loop
local sum = m:global("sum", 1, dev:zeros("f64", 1))
m:par_loop(rows, "double_up", { { y, "rw" }, { sum, "inc" } })()
print(sum.array:get(1)) --> 1020.0]],
    },
    {
      name = "loop", forms = { "m:loop(set, kernel, args[, options])" },
      about = [[The same without compiling: for `m:compile`, or for the launches of a study's rung.]],
      params = { { "set", "mesh_set", "" }, { "kernel", "string", "" }, { "args", "table[]", "" },
                 { "options", "loop_options", "", optional = true } },
      returns = { { "mesh_loop", "" } }, since = "0.11.0", errors = { "as for `par_loop`" },
      example = [[
local loop = m:loop(elements, "spmv", product, { by = "staged", name = "product" })
print(loop.name, loop.launches[1][2].block, loop.plan.blocks) --> product  128  1]],
    },
    {
      name = "join", forms = { "m:join(loops)" },
      about = [[Gives loops one source, which their launches then name: a study compiles all of them at once.]],
      params = { { "loops", "mesh_loop[]", "" } }, returns = { { "mesh_loop[]", "the same" } }, since = "0.11.0",
      errors = { "join: two loops are named '<name>': give one of them another 'name'",
                 "join: a list of loops is wanted, got <value>", "join: a loop of the mesh is wanted, got <value>",
                 "join: loop '<name>' is of another mesh" },
    },
    {
      name = "compile", forms = { "m:compile(loops)" },
      about = [[Compiles loops, all at once, and returns a function for each.]],
      params = { { "loops", "mesh_loop[]", "" } },
      returns = { { "fun()", "", name = "run" }, { "fun()?", "as many as there are loops", name = "..." } }, since = "0.11.0",
      errors = { "as for `join`" },
      example = [[
local clear = m:loop(rows, "double_up", { { y, "rw" }, { m:global("total", 1, dev:zeros("f64", 1)), "inc" } })
local first, second = m:compile { m:loop(elements, "spmv", product), clear }
first()
second()
print(y.array:get(1)) --> 420.0]],
    },
    {
      name = "partition", forms = { "mesh.partition(spec)" }, meta = false,
      about = [[Divides sets and maps for several devices.]],
      params = { { "spec", "mesh_partition", "" } }, returns = { { "mesh_part[]", "", name = "parts" } }, since = "0.11.0",
      errors = { "mesh.partition: '<set>' has <n> elements, got <m> owners", "mesh.partition: part <i> owns nothing",
                 "mesh.partition: an owner is a part from 1 on, got <value>",
                 "mesh.partition: map '<name>' leads to element <i>: '<set>' has 0 to <n>",
                 "mesh.partition: map '<name>': elements of '<set>' are divided by the targets '<set>' that they lead to, and "
                   .. "those of '<set>' by what leads to them" },
      example = [[
local parts = mesh.partition { sets = { cells = 4, edges = 3 }, target = "cells", owners = { 1, 1, 2, 2 },
                               maps = { sides = { "edges", "cells", { 0, 1, 2,  1, 2, 3 } } } }
print(table.concat(parts[1].sets.cells, " "), parts[1].own, #parts[1].sets.edges) --> 0 1 2  2  2]],
    },
    {
      name = "exchange", forms = { "mesh.exchange(parts, dats)" }, meta = false,
      about = [[A function that copies the values of a dat from the owners to the other parts. It is in order with the default streams. With
several values per element their layout is "aos".]],
      params = { { "parts", "mesh_part[]", "" }, { "dats", "mesh_dat[]", "of each part's mesh, on its targets" } },
      returns = { { "fun()", "", name = "exchange" } }, since = "0.11.0",
      errors = { "mesh.exchange: <n> dats, one for each part, are wanted, got <m>",
                 "mesh.exchange: a dat of part <i> is wanted, got <value>",
                 "mesh.exchange: dat '<dat>' of part <i>: <d> values of <type> per element in \"aos\" are wanted" },
      example = [[
local parts = mesh.partition { sets = { cells = 4, edges = 3 }, target = "cells", owners = { 1, 1, 2, 2 },
                               maps = { sides = { "edges", "cells", { 0, 1, 2,  1, 2, 3 } } } }
local dats = {}
for i, id in ipairs { "cpu:0/2", "cpu:1/2" } do
  local m, n = mesh.new(mw.device(id)), #parts[i].sets.cells
  dats[i] = m:dat("u", m:set("cells", n), 1, mw.device(id):full(i, "f64", n))
end
mesh.exchange(parts, dats)()
print(dats[1].array:get(3), dats[2].array:get(3)) --> 2.0  1.0]],
    },
  },
}
