-- SPDX-License-Identifier: MIT
--
-- What each benchmark and each kernel of stored runs has done in how much time: for explain, and for a roofline of a
-- run. A benchmark knows its launches (measure/trace.lua); those that ncu has counted have their counters. A kernel
-- that was counted and is of no benchmark has the time that ncu measured. A piece of work is
--   name      for people
--   t         seconds of a call
--   result    of mw.bench; nil: the time is ncu's
--   record    that has the result
--   launches  kernel, grid, block, shared, count, registers, blocks, occupancy, limit (measure/trace.lua); counted: the
--             counters of a launch by name, as ncu has them; requests: as check mode has them
--   copies    bytes by their way: to_device, to_host
--   bytes, flops  that the script declared
--   device    multiprocessors, clock_max, ... of the run's environment; device_name, is_gpu
--   ceilings  that are kept of the device, by name

local ceiling = require "moonwarp.measure.ceiling"
local core = require "moonwarp.core"
local counters = require "moonwarp.measure.counters"
local fields = require "moonwarp.results.fields"
local lists = require "moonwarp.base.lists"
local measurement = require "moonwarp.results.measurement"

local work = {}

-- ---- kernels ------------------------------------------------------------------------------------

local WORDS <const> = { ["true"] = "1", ["false"] = "0" }

-- A kernel's name as both moonwarp and ncu have it: "chains<float,8>".
local function plain(name)
  return (name:gsub("%s+", ""):gsub("[%w_]+", WORDS))
end

local function key_of(one, name)
  return table.concat({ name or plain(one.kernel), table.concat(one.grid, ","), table.concat(one.block, ",") }, "\0")
end

-- Constants of an enumeration have their names here and their numbers in ncu: then what precedes them has to do, where
-- only one kernel of that configuration has been counted.
local function key_of_base(one)
  return key_of(one, "*" .. plain(one.kernel):match "^[^<]*")
end

local function found_in(by_key, one)
  return by_key[key_of(one)] or by_key[key_of_base(one)] or nil
end

-- Ncu counts no kernels of the library.
local function is_own(one) return one.kernel:find "^moonwarp::" ~= nil end

-- The counters of a launch, the mean over those that ncu has counted.
local function per_launch(row)
  local values = {}
  for _, one in ipairs(counters.list) do
    local value = row[one.name]
    values[one.name] = value and (one.most and value or value / row.launches)
  end
  for _, figure in ipairs(counters.figures) do values[figure.name] = counters.value(values, figure.name) end
  return values
end

-- Launches of all runs that ncu has counted, or with another source a device in check mode; and by their
-- configuration.
local function counted_of(runs, source)
  local list, by_key = {}, {}
  for _, run in ipairs(runs) do
    for _, row in ipairs(run.counters or {}) do
      if row.source == source then
        local one = { kernel = row.kernel, grid = row.grid, block = row.block, count = 1, counted = per_launch(row),
                      registers = row.registers, varies = row.varies, run = run }
        local base = key_of_base(one)
        by_key[key_of(one)] = by_key[key_of(one)] or one
        by_key[base] = by_key[base] == nil and one or false
        list[#list + 1] = one
      end
    end
  end
  return list, by_key
end

-- ---- pieces of work -----------------------------------------------------------------------------

local function is_gpu(id)
  local word = core.device_word(id or "")
  return word ~= nil and word.kind == "gpu"
end

-- What is the same for all work of a run.
local function about(run)
  local device = (run.environment or {}).device
  return { device = type(device) == "table" and device or {}, device_name = run.device_name,
           is_gpu = is_gpu(run.device), run = run, ceilings = ceiling.kept(run.device_name) }
end

-- Operations that a study counts, in flop/s.
local function operations(record, result)
  if result.flops then return result.flops end
  for name, unit in pairs(type(record.units) == "table" and record.units or {}) do
    local rate = unit == "flop/s" and name ~= "bound" and fields.value(record, name)
    if type(rate) == "number" then return rate * result.median end
  end
end

local function of_benchmark(one, by_key, requests)
  local result = one.result
  local name = result.name or one.label
  local launches = (result.launches or result.copies) and lists.map(result.launches or {}, function(launch)
    local found, asked = found_in(by_key, launch), found_in(requests, launch)
    if found then found.is_used = true end
    return lists.merged(launch, { counted = found and found.counted, row = found, requests = asked and asked.counted })
  end)
  return { name = name, t = result.median, result = result, record = one.record, launches = launches,
           copies = result.copies or {}, bytes = result.bytes, flops = operations(one.record, result) }
end

--- The work of runs, the longest first.
---@param runs table[]   of store.read; counters may be in another than times
---@return table[] list
function work.of(runs)
  local counted, by_key = counted_of(runs, "ncu")
  local _, requests = counted_of(runs, "cpu") -- the kind of device
  local list, of = {}, {}
  for _, run in ipairs(runs) do
    of[run] = about(run)
    for _, one in ipairs(measurement.benchmarks(run)) do
      local is_main = not one.field:find " "
      if is_main and one.value > 0 then list[#list + 1] = lists.merged(of_benchmark(one, by_key, requests), of[run]) end
    end
  end
  for _, one in ipairs(counted) do
    if not one.is_used and (one.counted.duration or 0) > 0 then
      list[#list + 1] = lists.merged({ name = one.kernel, t = one.counted.duration, launches = { one }, copies = {} },
        of[one.run])
    end
  end
  table.sort(list, function(a, b)
    if a.t ~= b.t then return a.t > b.t end
    return a.name < b.name
  end)
  return list
end

-- ---- amounts ------------------------------------------------------------------------------------

--- A counter or a figure of a call: the sum over its launches; nil if one of them was not counted. Those of the
--- library's own kernels are not known, and left out.
---@param one table
---@param name string
---@return number?
function work.counted(one, name)
  if not one.launches or #one.launches == 0 then return nil end
  local sum, is_known = 0, false
  for _, launch in ipairs(one.launches) do
    local value = launch.counted and launch.counted[name]
    if not (value or is_own(launch)) then return nil end
    sum, is_known = sum + (value or 0) * launch.count, is_known or value ~= nil
  end
  return is_known and sum or nil
end

--- Bytes that the warps of a call ask for, by sectors, as check mode has counted them; nil if it has not.
---@param one table
---@return number?
function work.requested(one)
  local sum = 0
  for _, launch in ipairs(one.launches or {}) do
    local asked = launch.requests
    if not asked then return nil end
    sum = sum + counters.SECTOR * launch.count * (asked.load_sectors + asked.store_sectors)
  end
  return sum > 0 and sum or nil
end

--- Whether all launches of a call were counted by ncu.
---@param one table
---@return boolean
function work.is_counted(one)
  return work.counted(one, "instructions") ~= nil
end

return work
