-- SPDX-License-Identifier: MIT
--
-- What a function launches and copies: a benchmark keeps it of its first call, so that its result says which kernels
-- the time is of, and how many of their blocks a multiprocessor holds.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"

local trace = {}

local MOST <const> = 32 -- different launches that are kept

--- Begins to note launches and copies in a list; the value that is returned ends it when it is closed.
---@param list table
---@return table
function trace.into(list)
  core.trace(list)
  return setmetatable({}, { __close = function() core.trace() end })
end

-- What the device knows of a kernel: registers of a thread; blocks a multiprocessor holds, the share of its threads,
-- and what limits them.
local function held(one)
  if not one.kernel then return {} end
  local threads = one.block[1] * one.block[2] * one.block[3]
  local done, found = failure.catch(function() return one.kernel:occupancy(threads, one.shared) end)
  return { registers = one.kernel:attributes().registers, blocks = done and found.blocks or nil,
           occupancy = done and found.occupancy or nil, limit = done and found.limit or nil }
end

local function key_of(one)
  return table.concat({ one.name, one.shared, table.concat(one.grid, ","), table.concat(one.block, ",") }, "\0")
end

--- What was noted, the same launches together.
---@param list table[]
---@return table[] launches  kernel (its name), grid, block, shared (B), count, and where the device knows them
---                          registers, blocks (of a multiprocessor), occupancy, limit
---@return table copies      bytes by their way, to_device and to_host
function trace.summary(list)
  local launches, copies, by_key = {}, {}, {}
  for _, one in ipairs(list) do
    if one.copy then
      copies[one.copy] = (copies[one.copy] or 0) + one.bytes
    elseif by_key[key_of(one)] or #launches < MOST then
      local entry = lists.entry(launches, by_key, key_of(one), { kernel = one.name, grid = one.grid,
        block = one.block, shared = one.shared, count = 0, of = one })
      entry.count = entry.count + 1
    end
  end
  return lists.map(launches, function(entry)
    local of = entry.of
    entry.of = nil
    return lists.merged(entry, held(of))
  end), copies
end

return trace
