-- SPDX-License-Identifier: MIT
--
-- What a kernel of kernel.lua computes, and its races by CUDA's memory model, by taking its steps one after another for
-- all threads. Two accesses of one element by different threads race if one writes, not both are atomic, and no
-- barrier stands between them: of their block, or of their warp.

local M = {}

--- The element that thread t of a block addresses in round k of a loop.
---@param index table
---@param size integer      elements of the memory, of the block's part of a global one
---@param t integer
---@param k integer
---@return integer
function M.index(index, size, t, k)
  local c = index.c + k * index.by
  if index.form == "shift" then return (t + c) % size end
  if index.form == "odd" then return (t * 5 + c) % size end
  if index.form == "reverse" then return (255 - t + c) % size end
  if index.form == "xor" then return (t ~ c % 32) % size end
  if index.form == "half" then return (t // 2 + c) % size end
  return c % size -- "fixed"
end

local function takes_part(guard, t)
  if not guard then return true end
  if guard[1] == "below" then return t < guard[2] end
  if guard[1] == "even" then return t % 2 == 0 end
  return t == guard[2]
end

-- Calls visit(step, k) of each step in the order in which the threads take them.
local function unrolled(steps, visit, k)
  for _, step in ipairs(steps) do
    if step.op == "loop" then
      for round = 0, step.count - 1 do unrolled(step.steps, visit, round) end
    else
      visit(step, k or 0)
    end
  end
end

-- The element of a step's memory for a thread: a key that tells it from all others.
local function key_of(kernel, step, block, t, k)
  local memory = kernel.memories[step.memory]
  local i = M.index(step.index, memory.size, t, k)
  if step.memory == "total" then return "total", i end
  local of = step.index.next and (block + 1) % kernel.blocks or block
  return memory.name .. of .. (step.member or ""), i
end

local function each_access(kernel, step, k, visit)
  for block = 0, kernel.blocks - 1 do
    for t = 0, kernel.threads - 1 do
      if takes_part(step.guard, t) then visit(block, t, key_of(kernel, step, block, t, k)) end
    end
  end
end

-- A fill is of a shared array's elements t, t + threads, ..., member by member.
local function each_filled(kernel, step, visit)
  local memory = kernel.memories[step.memory]
  for block = 0, kernel.blocks - 1 do
    for i = 0, memory.size - 1 do
      for _, member in ipairs(memory.type == "pair" and { "a", "b", "d" } or { "" }) do
        visit(block, i % kernel.threads, memory.name .. block .. member, i)
      end
    end
  end
end

-- ---- races --------------------------------------------------------------------------------------

local function is_ordered(a, b)
  if a.block ~= b.block then return false end
  return a.t == b.t or a.barriers < b.barriers or (a.t // 32 == b.t // 32 and a.warps < b.warps)
end

local function is_race(a, b)
  return (a.writes or b.writes) and not (a.atomic and b.atomic) and (a.block ~= b.block or a.t ~= b.t)
    and not is_ordered(a, b)
end

--- The first race in the order of the steps, or nothing.
---@param kernel table
---@return table?   later: the step; same_warp; barrier_helps: one in front of it orders the two
function M.find(kernel)
  local cells, found = {}, nil
  local barriers, warps, number = 0, 0, 0
  unrolled(kernel.steps, function(step, k)
    number = number + 1
    if step.op == "sync" then
      warps = warps + 1
      if not step.warp then barriers = barriers + 1 end
    end
    if found or step.op == "sync" or step.op == "lanes" then return end
    local function visit(block, t, name, i)
      local one = { block = block, t = t, barriers = barriers, warps = warps, number = number,
        writes = step.op ~= "get", atomic = step.op == "add" }
      local cell = cells[name .. ":" .. i]
      if not cell then
        cell = {}
        cells[name .. ":" .. i] = cell
      end
      for _, other in ipairs(cell) do
        if not found and is_race(other, one) then
          found = { later = step, same_warp = other.block == block and other.t // 32 == t // 32,
            barrier_helps = other.block == block and other.number < number }
        end
      end
      cell[#cell + 1] = one
    end
    if step.op == "fill" then each_filled(kernel, step, visit) else each_access(kernel, step, k, visit) end
  end)
  return found
end

-- ---- values -------------------------------------------------------------------------------------

local MASKS <const> = { u8 = 0xff, u16 = 0xffff, u32 = 0xffffffff, f64 = 0xfffff }
local MEMBER_TYPES <const> = { a = "u32", b = "u16", d = "f64" }

local function mask_of(memory, member) return MASKS[member and MEMBER_TYPES[member] or memory.type] end

local function popcount(bits)
  local n = 0
  while bits ~= 0 do bits, n = bits & (bits - 1), n + 1 end
  return n
end

-- Of each lane's own value: what a collective gives it.
local function lanes(step, v, t)
  local warp = t // 32 * 32
  if step.how == "xor" then return v[t ~ step.mask] end
  if step.how == "down" then return t % 32 + step.mask < 32 and v[t + step.mask] or v[t] end
  local ballot = 0
  for lane = 0, 31 do ballot = ballot | (v[warp + lane] & 1) << lane end
  return popcount(ballot)
end

--- The values at the end of a kernel without races.
---@param kernel table
---@param initial fun(i: integer): integer   of element i of x, of a pair of its member a
---@return table   { v = { [block] = { [t] = value } }, cells = { ["total"] = { [i] = value }, ["x0"] = ... } }
function M.values(kernel, initial)
  local cells, v = {}, {}
  local function cell(name)
    cells[name] = cells[name] or setmetatable({}, { __index = function() return 0 end })
    return cells[name]
  end
  for block = 0, kernel.blocks - 1 do
    v[block] = {}
    for t = 0, kernel.threads - 1 do
      v[block][t] = block * 1000 + t
      for _, member in ipairs(kernel.memories.x.type == "pair" and { "a", "b", "d" } or { "" }) do
        cell("x" .. block .. member)[t] = initial(block * kernel.threads + t)
          & mask_of(kernel.memories.x, member ~= "" and member)
      end
    end
  end
  unrolled(kernel.steps, function(step, k)
    local memory = kernel.memories[step.memory]
    if step.op == "fill" then
      each_filled(kernel, step, function(_, _, name, i)
        local member = name:match "[abd]$"
        local mask = mask_of(memory, memory.type == "pair" and member)
        cell(name)[i] = step.memory == "count" and 0 or (i + step.add) & mask
      end)
    elseif step.op == "lanes" then
      for block = 0, kernel.blocks - 1 do
        local next = {}
        for t = 0, kernel.threads - 1 do next[t] = (v[block][t] + lanes(step, v[block], t)) & 0xffffffff end
        v[block] = next
      end
    elseif step.op ~= "sync" then
      each_access(kernel, step, k, function(block, t, name, i)
        local own, at = v[block], cell(name)
        if step.op == "put" then
          at[i] = (own[t] + step.add) & mask_of(memory, step.member)
        elseif step.op == "get" then
          own[t] = (own[t] * 5 + at[i]) & 0xffffffff
        else
          at[i] = (at[i] + t + step.add) & 0xffffffff
        end
      end)
    end
  end)
  return { v = v, cells = cells }
end

return M
