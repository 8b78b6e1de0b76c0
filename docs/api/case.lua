-- SPDX-License-Identifier: MIT
return {
  title = "case",
  owner = "case", self = "c", common = false,
  about = [[
A case of a [study](study.md): one size and type, with its arrays. Every function of a description gets it as `c`. Its arrays and
numbers have the names of the kernels' parameters, and a launch takes its arguments from the case: for the kernel
`triad(B, A, C, s, nx, ny)`, the case has `B`, `A`, `C`, `s`, `nx` and `ny`.]],
  setup = [[
local mw = require "moonwarp"

local study, p = mw.study {
  question = "an example", kernels = "triad.cu", output = "B",
  params = { { "n", 64, "points along each side", min = 1 } },
}
function study.arrays(c)
  local function array(seed) return c.dev:array(c.type, c.nx, c.ny):random(seed) end
  return { A = array(1), B = array(2), C = array(3), s = 2 }
end
local function with_case(body) -- as in every study: there are kernels while it runs
  study:finally(function()
    local c <close> = study:case { nx = p.n, ny = p.n }
    body(c)
  end)
  study:run()
end]],

  fields = {
    title = "fields", result = true,
    about = "In addition it has its sides, and the results of `study.arrays` and of its part's `arrays`, by name.",
    { "dev", "device", "" },
    { "gpu", "boolean", "whether the device is a GPU" },
    { "p", "table", "the parameters' values by name" },
    { "study", "study", "the study of this case" },
    { "sides", "table", "the sides as given" },
    { "type", "dtype", "the element type: of its sides, of the parameters `type` or `types`, else f64" },
    { "eps", "number", "the distance from 1 to the next number of the type; 0 for integers" },
    { "vector", "integer", "elements in an access of 16 bytes" },
  },

  classes = {
    case_launch = {
      about = "How a kernel is launched.",
      { "block", "dims", "threads per block", optional = false },
      { "grid", "dims", "blocks", optional = false },
      { "shared", "integer", "dynamic shared memory per block", unit = "bytes", default = "0" },
      { "cooperative", "boolean", "all blocks run at once", default = "false" },
      { "carveout", "integer", "as of `k:prepare`", unit = "per cent", default = "the driver's choice" },
      { "cache", [["none"|"shared"|"l1"|"equal"]], "as of `k:prepare`", default = [["none"]] },
      { "stream", "stream", "", default = "the default stream" },
      { "device", "string", "the id of another device, on which it runs and whose arrays its arguments are. Since 0.11.0" },
      { "file", "string", "the .cu file", default = "the study's `kernels`" },
      { "source", "string", "the source, instead of a file. Since 0.11.0" },
      { "fast_math", "boolean", "compiled with fast math", default = "false" },
      { "compile", "table", "options of `dev:module` for its kernels, as in `{ max_registers = 32 }`" },
    },
  },

  entries = {
    {
      name = "launch", forms = { "c:launch(kernel, { block =, grid =, ... }[, arguments])" },
      about = [[Prepares a launch whose arguments are found by name, in `arguments`, else in the case. If an argument is a
function, it is called at every launch, for example for a counter.]],
      params = { { "kernel", "string", [[its name; %s in it is the case's type in C++, as in "sum<%s>"]] },
                 { "how", "case_launch", "" },
                 { "arguments", "table", "by the names of the kernel's parameters", optional = true } },
      returns = { { "fun()?", "launches; nil if the device cannot", name = "go" },
                  { "string?", "why, as in \"704 blocks at once, the device holds 256\"", name = "reason" } },
      errors = { "kernel '<name>', parameter <i> '<name>': the case has no field of that name; it has <names>; give it with 'args'",
                 "kernel '<name>': arguments are a table by the parameters' names, as in { a = 2 }, got <type>",
                 "the study names no file of kernels; give it with 'kernels'" },
      since = "0.4.0",
      example = [[
with_case(function(c)
  local go = c:launch("triad", { block = { 32, 4 }, grid = { 2, 16 } }, { s = 0 })
  go()
  print(c.B:get(3, 4) == c.A:get(3, 4)) --> true
  print(c:launch("triad", { block = 4096, grid = 1 })) --> nil  blocks of 4096 threads, the kernel takes 1024
end)]],
    },
    {
      name = "launches", forms = { "c:launches{ { kernel, { block =, grid = }[, arguments] }, ... }" },
      about = [[Several launches, one after the other, as one function.]],
      params = { { "list", "table[]", "each as the arguments of `c:launch`, or a function" } },
      returns = { { "fun()?", "nil if the device cannot do one of them", name = "go" },
                  { "string?", "why", name = "reason" } }, since = "0.4.0",
      example = [[
with_case(function(c)
  local how = { block = { 32, 4 }, grid = { 2, 16 } }
  c:launches { { "triad", how, { s = 0 } }, { "triad", how } }()
  print(c.B:get(1, 1) == c.A:get(1, 1) + 2 * c.C:get(1, 1)) --> true
end)]],
    },
    {
      name = "variable", forms = { "c:variable(name[, { file =, fast_math = }])" },
      about = [[A `__device__` or `__constant__` variable of the study's kernels, as `mod:variable`. All kernels of a file
that the rungs name are in one module and share it.]],
      params = { { "name", "string", "" },
                 { "how", "table", "`file`, `source` and `fast_math`, as of a launch", optional = true } },
      returns = { { "array", "" } }, since = "0.8.0",
      errors = { "module '<name>' has no device variable '<variable>'; it has: <names>",
                 "kernel '<kernel>' is in no module yet, and another one would have device variables of its own; name it "
                   .. "in the rung's 'kernel'" },
    },
    {
      name = "with", forms = { "c:with{ name = value, ... }" },
      about = [[The same case with some fields changed: for launches whose arguments have other names, as with two arrays that
are read and written in turn.]],
      params = { { "more", "table", "" } }, returns = { { "case", "" } }, since = "0.4.0",
      example = [[
with_case(function(c)
  local back = c:with { A = c.B, B = c.A }
  print(back.A == c.B, back.C == c.C) --> true  true
end)]],
    },
    {
      name = "array", forms = { "c:array(nx[, ny[, nz[, nw]]])" },
      about = [[A new array of the case's type, closed with the case, as scratch memory for a rung.]],
      params = { { "...", "integer", "its shape" } }, returns = { { "array", "" } }, since = "0.4.0",
      example = [[
with_case(function(c)
  print(c:array(10):dtype()) --> f64
end)]],
    },
    {
      name = "full", forms = { "c:full(value, nx[, ny[, nz[, nw]]])" },
      about = [[The same, filled with a value.]],
      params = { { "value", "number", "" }, { "...", "integer", "its shape" } }, returns = { { "array", "" } },
      since = "0.4.0",
      example = [[
with_case(function(c)
  print(c:full(1, 10):get(3)) --> 1.0
end)]],
    },
    {
      name = "keep", forms = { "c:keep(object)" },
      about = [[Closes an array, a texture, a surface, a graph, a stream or an event with the case.]],
      params = { { "object", "array|texture|surface|graph|stream|event", "" } },
      returns = { { "array|texture|surface|graph|stream|event", "the same" } },
      since = "0.4.0",
      example = [[
with_case(function(c)
  print(#c:keep(c.dev:zeros("u32", 4))) --> 4
end)]],
    },
    {
      name = "stream", forms = { "c:stream()" },
      about = [[A blocking stream of the study, for rungs with `stream = true`, such as a copy that must not wait for its end. It is
closed with the run.]],
      returns = { { "stream", "the same stream at every call" } }, since = "0.4.0",
      example = [[
with_case(function(c)
  print(c:stream() == c:stream()) --> true
end)]],
    },
    {
      name = "kernel", forms = { "c:kernel(name[, how])" },
      about = [[A kernel of the study, for its attributes and its occupancy.]],
      params = { { "name", "string", "%s in it is the case's type in C++, as in \"sum<%s>\"" },
                 { "how", "table", "`file`, `source`, `fast_math`, `compile`, as of a launch", optional = true } },
      returns = { { "kernel", "" } }, since = "0.8.0",
      example = [[
with_case(function(c)
  print(c:kernel("triad"):attributes().max_threads >= 256) --> true
end)]],
    },
    {
      name = "per_cycle", forms = { "c:per_cycle(amount)" },
      about = [[The rate at which all multiprocessors do so much work in each cycle, at the clock of the device's properties: the
bound of a rung, for its `fields`.]],
      params = { { "amount", "number", "per cycle and multiprocessor, as in 128 bytes of shared memory" } },
      returns = { { "number?", "per second; nil on the CPU device" } }, since = "0.8.0",
      example = [[
with_case(function(c)
  print(c:per_cycle(128)) --> nil
end)]],
    },
    {
      name = "resident", forms = { "c:resident(kernel, threads[, shared[, how]])" },
      about = [[The number of blocks of a kernel that the device holds at once.]],
      params = { { "kernel", "string", "" }, { "threads", "integer", "per block" },
                 { "shared", "integer", "dynamic shared memory per block", unit = "bytes", default = "0", optional = true },
                 { "how", "table", "`file`, `source` and `fast_math`, as for a launch", optional = true } },
      returns = { { "integer", "" } }, since = "0.4.0",
      example = [[
with_case(function(c)
  print(c:resident("triad", 256) >= 1) --> true
end)]],
    },
    {
      name = "close", forms = { "c:close()", "local c <close> = study:case { ... }" },
      about = [[Closes the arrays of the case. The runner closes those that it makes.]], since = "0.4.0",
    },
  },
}
