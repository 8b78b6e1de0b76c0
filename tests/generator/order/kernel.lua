-- SPDX-License-Identifier: MIT
--
-- Random kernels whose threads exchange values through shared and global memory: a list of steps that all threads take,
-- with the barriers that CUDA's memory model wants between them and no more, and mutants of it, which may lack one.
-- A kernel is a table:
--
--   { threads = 64, wide = 32, blocks = 2, memories = { name = { name, type, size, shared } }, steps = { step, ... } }
--
-- A step is { op, ... }:
--   fill    each thread sets its elements of a shared array      memory, add
--   put     memory[index] = v + add                              memory, index, member, guard, add
--   get     v = v * 5 + memory[index]                            memory, index, member, guard
--   add     atomicAdd(&memory[index], t + add)                   memory, index, guard
--   bump    the same without atomicity: only in mutants
--   lanes   v += __shfl_xor_sync(...) or another collective      how, mask
--   sync    __syncthreads(), or of the warp __syncwarp()         warp
--   loop    k from 0 to count - 1                                count, steps
-- An index is { form, c, by, next }: see races.index; next: of the next block's part. A guard is { "below", c },
-- { "even" } or { "one", c }.

local races = require "tests.generator.order.races"

local M = {}

local TYPES <const> = { "u8", "u16", "u32", "f64", "pair" }
local MEMBERS <const> = { "a", "b", "d" } -- of a pair: unsigned, unsigned short, double

local function pick(random, list) return list[random(#list)] end

local INJECTIVE <const> = { "shift", "odd", "reverse", "xor" } -- where there is an element for each thread
local ANY <const> = { "shift", "odd", "reverse", "xor", "half", "fixed" }

local function index_of(random, forms, in_loop)
  return { form = pick(random, forms), c = random(0, 40), by = in_loop and random(0, 3) or 0, next = false }
end

local function guard_of(random, threads)
  local which = random(5)
  if which == 1 then return { "below", random(1, threads) } end
  if which == 2 then return { "even" } end
  return nil
end

local function member_of(random, memory) return memory.type == "pair" and pick(random, MEMBERS) or nil end

-- Atomics count in unsigned words, by any threads.
local function add_step(random, kernel, in_loop)
  local memory = pick(random, { "total", "count" })
  return { op = "add", memory = memory, index = index_of(random, ANY, in_loop), add = random(9),
    guard = guard_of(random, kernel.threads) }
end

local function access_step(random, kernel, in_loop)
  local names = { "x" }
  for _, memory in ipairs(kernel.list) do
    if memory.shared then names[#names + 1] = memory.name end
  end
  local memory = kernel.memories[pick(random, names)]
  local step = { op = pick(random, { "put", "get", "get" }), memory = memory.name, member = member_of(random, memory),
    guard = guard_of(random, kernel.threads), add = random(0, 99) }
  if memory.size < kernel.threads then step.op = "get" end
  step.index = index_of(random, step.op == "put" and INJECTIVE or ANY, in_loop)
  if step.op == "put" and random(5) == 1 then
    step.index.form, step.guard = "fixed", { "one", random(0, kernel.threads - 1) }
  end
  return step
end

local function step_of(random, kernel, in_loop)
  local which = random(12)
  if which == 1 then
    return { op = "lanes", how = pick(random, { "xor", "down", "ballot" }), mask = 1 << random(0, 4) }
  end
  if which <= 3 then return add_step(random, kernel, in_loop) end
  return access_step(random, kernel, in_loop)
end

local function steps_of(random, kernel)
  local steps = {}
  for _, memory in ipairs(kernel.list) do
    if memory.shared then steps[#steps + 1] = { op = "fill", memory = memory.name, add = random(0, 99) } end
  end
  for _ = 1, random(4, 9) do
    if random(4) == 1 then
      local inner = {}
      for i = 1, random(2, 4) do inner[i] = step_of(random, kernel, true) end
      steps[#steps + 1] = { op = "loop", count = random(2, 4), steps = inner }
    else
      steps[#steps + 1] = step_of(random, kernel, false)
    end
  end
  return steps
end

local function memory_add(kernel, name, type, size, shared)
  local memory = { name = name, type = type, size = size, shared = shared }
  kernel.memories[name] = memory
  kernel.list[#kernel.list + 1] = memory
end

-- Where `step` stands: the list, and its place in it.
local function place_of(steps, step)
  for i, one in ipairs(steps) do
    if one == step then return steps, i end
    if one.op == "loop" then
      local list, at = place_of(one.steps, step)
      if list then return list, at end
    end
  end
end

-- Puts a barrier in front of each step that needs one. A race that none can end: that step goes.
local function order(random, kernel)
  local race = races.find(kernel)
  while race do
    local list, at = place_of(kernel.steps, race.later)
    local warp = race.same_warp and random(2) == 1
    if race.barrier_helps then
      table.insert(list, at, { op = "sync", warp = warp })
    else
      table.remove(list, at)
    end
    race = races.find(kernel)
  end
end

--- A kernel without races.
---@param random fun(...): integer   as math.random
---@return table
function M.generate(random)
  local threads = pick(random, { 32, 64, 128 })
  local kernel = { threads = threads, wide = pick(random, { 16, 32, threads }), blocks = random(1, 3), memories = {},
    list = {} }
  for i = 1, random(2) do
    memory_add(kernel, "s" .. i, pick(random, TYPES), threads * pick(random, { 1, 2 }), true)
  end
  memory_add(kernel, "count", "u32", 8, true)
  memory_add(kernel, "x", pick(random, { "u32", "pair" }), threads, false) -- of a block
  memory_add(kernel, "total", "u32", 8, false) -- of all
  kernel.steps = steps_of(random, kernel)
  order(random, kernel)
  return kernel
end

-- ---- mutants ------------------------------------------------------------------------------------

local function copy(value)
  if type(value) ~= "table" then return value end
  local new = {}
  for key, one in pairs(value) do new[key] = copy(one) end
  return new
end

-- What may be done to a step: functions of (list, place, step).
local function changes_of(step)
  local list = {}
  local function change(name, fn) list[#list + 1] = { name = name, fn = fn } end
  if step.op == "sync" then
    change("barrier removed", function(steps, at) table.remove(steps, at) end)
    if not step.warp then change("barrier for a warp", function(_, _, it) it.warp = true end) end
  end
  if step.op == "add" then change("atomic made plain", function(_, _, it) it.op = "bump" end) end
  if step.guard then change("guard removed", function(_, _, it) it.guard = nil end) end
  if step.op == "put" then
    change("index moved", function(_, _, it) it.index.c = it.index.c + 1 end)
    change("index of two threads", function(_, _, it) it.index.form = "half" end)
  end
  if step.memory == "x" then change("part of the next block", function(_, _, it) it.index.next = true end) end
  return list
end

local function changes_in(steps, path, all)
  for i, step in ipairs(steps) do
    local here = { table.unpack(path) }
    here[#here + 1] = i
    for _, change in ipairs(changes_of(step)) do all[#all + 1] = { path = here, change = change } end
    if step.steps then changes_in(step.steps, here, all) end
  end
  return all
end

--- At most `most` mutants of a kernel, each with one change; name: what it is.
---@param random fun(...): integer
---@param kernel table
---@param most integer
---@return table[]
function M.mutants(random, kernel, most)
  local all, mutants = changes_in(kernel.steps, {}, {}), {}
  while #all > 0 and #mutants < most do
    local one = table.remove(all, random(#all))
    local mutant = copy(kernel)
    local steps = mutant.steps
    for i = 1, #one.path - 1 do steps = steps[one.path[i]].steps end
    local at = one.path[#one.path]
    mutant.name = one.change.name
    one.change.fn(steps, at, steps[at])
    mutants[#mutants + 1] = mutant
  end
  return mutants
end

return M
