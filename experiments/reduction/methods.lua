-- SPDX-License-Identifier: MIT
--
-- The ladder: how a sum is made within a block, how the blocks' parts are joined over the grid, and
-- what the kernels of one element type share. A chunk that is called with the study's settings and
-- returns what the measurements use of it.
--
-- A method is { name, op, fixed, chain, run(count) }, the result in set.out; chain is the longest row
-- of additions behind it, and fixed promises the same bits every time.

local mw = require "moonwarp"

local study = ...
local dev, gpu, n, block = study.dev, study.gpu, study.n, study.block
local types, operations, arrays = study.types, study.operations, study.arrays
local multiprocessors, ceil_div = study.multiprocessors, study.ceil_div

local C_TYPE = { f32 = "float", f64 = "double" }
local OPERATION = { sum = "SUM", min = "MIN", max = "MAX", length = "LENGTH" }

-- ---- the rungs ----------------------------------------------------------------------------------

-- Their numbers are those of the parameter.
local LADDER = { "reduce_tree", "reduce_strided", "reduce_dynamic", "reduce_down", "reduce_butterfly",
                 "reduce_shuffle", "host", "second launch", "atomic", "compare and swap", "lock",
                 "last block", "16 bytes, last block" }
local TREES, METHODS = table.move(LADDER, 1, 6, 1, {}), table.move(LADDER, 7, 12, 1, {})
local FEW_METHODS = { "second launch" }
local ONCE = LADDER[13]
local KERNELS = { -- templates of reduce.cu
  ["host"] = { "parts" }, ["second launch"] = { "parts" }, ["atomic"] = { "begin", "atomic" },
  ["compare and swap"] = { "begin", "cas" }, ["lock"] = { "begin", "lock" }, ["last block"] = { "last" },
}

local numbers, wanted = {}, {}
for number, name in ipairs(LADDER) do numbers[name] = number end
for _, number in ipairs(study.rungs) do
  wanted[LADDER[number]] = true
  if number <= #TREES then wanted[LADDER[1]] = true end -- with which the others are compared
end

local function chosen(names)
  local list = {}
  for _, name in ipairs(names) do
    if wanted[name] then list[#list + 1] = name end
  end
  return list
end

-- ---- the kernels of one element type ------------------------------------------------------------

local function unroll(op) -- two arrays: half as many loads of each in flight
  return op == "length" and 2 or 4
end

local function once_name(dtype, op, threads)
  return ("reduce_once<%s,%s,%d,%d>"):format(C_TYPE[dtype], OPERATION[op], unroll(op), threads)
end

local function instance(kind, dtype, op)
  return ("reduce_%s<%s,%s>"):format(kind, C_TYPE[dtype], OPERATION[op])
end

-- Every operation by every method on a GPU and in the first type; in another one the sum alone.
local function in_full(dtype, op)
  return gpu or dtype == types[1] or op == "sum"
end

-- The methods that an operation is measured by.
local function names_of(dtype, op)
  return chosen(in_full(dtype, op) and METHODS or FEW_METHODS)
end

-- The sweeps are sums of the first type, whether or not that operation was asked for.
local function operations_of(dtype)
  local list, has_sum = table.move(operations, 1, #operations, 1, {}), false
  for _, op in ipairs(list) do has_sum = has_sum or op == "sum" end
  if dtype == types[1] and not has_sum then list[#list + 1] = "sum" end
  return list
end

-- All at once: one run of the compiler.
local function module_of(dtype)
  local names, seen = {}, {}
  local function add(name)
    if not seen[name] then names[#names + 1] = name end
    seen[name] = true
  end
  if wanted["second launch"] then add(instance("parts", dtype, "max")) end -- which joins the parts of "length"
  for _, op in ipairs(operations_of(dtype)) do
    for _, name in ipairs(names_of(dtype, op)) do
      for _, kind in ipairs(KERNELS[name]) do add(instance(kind, dtype, op)) end
    end
    if wanted[ONCE] and op ~= "sum" then add(once_name(dtype, op, 1024)) end
  end
  for _, threads in ipairs(wanted[ONCE] and { 128, 256, 512, 1024 } or {}) do add(once_name(dtype, "sum", threads)) end
  return dev:module { file = "reduce.cu", defines = { REAL = C_TYPE[dtype] }, templates = names }
end

-- What the measurements of one type share.
local function new_set(dtype)
  local set = arrays.of(dtype)
  set.dtype, set.code = dtype, module_of(dtype)
  set.out = dev:array(dtype, 1)
  local most = math.max(ceil_div(n, 32) + 8, 8 * study.blocks, 8 * study.blocks_once,
    study.counts[#study.counts] * multiprocessors)
  set.parts, set.others = dev:array(dtype, most), dev:array(dtype, most)
  set.flag = dev:zeros("u32", 1) -- a lock, or a ticket
  set.whole, set.awkward = arrays.references(set, n), arrays.references(set, arrays.awkward)
  return set
end

-- ---- within a block -----------------------------------------------------------------------------

-- More launches of v6 add `left` sums; two at most, since a block takes as many as it must.
local function further(set, left)
  local steps = {}
  local from, to = set.parts, set.others
  while left > 1 do
    local grid = left <= 4096 and 1 or math.min(multiprocessors * 8, ceil_div(left, 1024))
    local last = grid == 1 and set.out or to
    steps[#steps + 1] = { go = set.code.reduce_shuffle:prepare { grid = grid, block = 256 },
                          to = last, from = from, count = left,
                          chain = ceil_div(left, grid * 256) + 8 }
    from, to, left = to, from, grid
  end
  return steps
end

-- v1 to v6. sums_of: how many sums a block leaves.
local function within(set, kernel, threads, grid)
  local sums_of = (kernel == "reduce_down" or kernel == "reduce_butterfly") and threads // 32 or 1
  local steps = further(set, grid * sums_of)
  local shared = kernel == "reduce_dynamic" and threads * (set.dtype == "f32" and 4 or 8) or 0
  local go = set.code[kernel]:prepare { grid = grid, block = threads, shared = shared }
  local first = #steps == 0 and set.out or set.parts
  local chain = ceil_div(n, grid * threads) + 10
  for _, step in ipairs(steps) do chain = chain + step.chain end
  local function run(count)
    go(first, set.x, count)
    for _, step in ipairs(steps) do step.go(step.to, step.from, step.count) end
  end
  return { name = kernel, op = "sum", fixed = true, chain = chain, run = run }
end

-- ---- over the grid ------------------------------------------------------------------------------

local function joined(op, values)
  local result = values[1]
  for i = 2, #values do
    if op == "sum" then result = result + values[i]
    elseif op == "min" then result = math.min(result, values[i])
    else result = math.max(result, values[i]) end
  end
  return result
end

local build = {}

local function kernel_of(set, kind, op, grid)
  return set.code[instance(kind, set.dtype, op)]:prepare { grid = grid, block = block }
end

local function y_of(set, op)
  return op == "length" and set.y or mw.null
end

build["host"] = function(set, op, grid)
  local go, y = kernel_of(set, "parts", op, grid), y_of(set, op)
  local parts = set.parts:view(1, grid)
  return function(count)
    go(parts, set.x, y, count)
    set.out:set(1, joined(op, parts:totable()))
  end
end

build["second launch"] = function(set, op, grid)
  local go, y = kernel_of(set, "parts", op, grid), y_of(set, op)
  local join = kernel_of(set, "parts", op == "length" and "max" or op, 1)
  return function(count)
    go(set.parts, set.x, y, count)
    join(set.out, set.parts, mw.null, grid)
  end
end

-- Atomic and CAS: out begins as nothing.
local function direct(kind)
  return function(set, op, grid)
    local begin = set.code[instance("begin", set.dtype, op)]:prepare { grid = 1, block = 1 }
    local go, y = kernel_of(set, kind, op, grid), y_of(set, op)
    return function(count)
      begin(set.out)
      go(set.out, set.x, y, count)
    end
  end
end

build["atomic"], build["compare and swap"] = direct "atomic", direct "cas"

build["lock"] = function(set, op, grid)
  local begin = set.code[instance("begin", set.dtype, op)]:prepare { grid = 1, block = 1 }
  local go, y = kernel_of(set, "lock", op, grid), y_of(set, op)
  return function(count)
    begin(set.out)
    go(set.out, set.flag, set.x, y, count)
  end
end

build["last block"] = function(set, op, grid)
  local go, y = kernel_of(set, "last", op, grid), y_of(set, op)
  return function(count) go(set.out, set.parts, set.flag, set.x, y, count) end
end

local IN_ANY_ORDER = { ["atomic"] = true, ["compare and swap"] = true, ["lock"] = true }

local function method(set, name, op, grid)
  return { name = name, op = op, run = build[name](set, op, grid),
           chain = ceil_div(n, grid * block) + 10 + grid,
           fixed = op ~= "sum" or not IN_ANY_ORDER[name] }
end

local function once(set, op, threads, grid)
  local go = set.code[once_name(set.dtype, op, threads)]:prepare { grid = grid, block = threads }
  local y = y_of(set, op)
  return { name = ONCE, op = op, fixed = true,
           chain = ceil_div(n, grid * threads) + 20 + grid,
           run = function(count) go(set.out, set.parts, set.flag, set.x, y, count) end }
end

return { new_set = new_set, within = within, method = method, once = once, has_once = wanted[ONCE],
         chosen = chosen, trees = chosen(TREES), names = chosen(METHODS), names_of = names_of, numbers = numbers }
