-- SPDX-License-Identifier: MIT
--
-- What the benchmarks share: building what they compare against, timing two things in turn, and the
-- table of ratios. Depends on moonwarp.core.

local core = require "moonwarp.core"

local lab = {}

local folder = core.home() .. "/tests/bench"
local libraries = core.home() .. "/build/bench"

-- The file of a shared library, built where it is missing or old.
local function build(name)
  local file = ("%s/%s.so"):format(libraries, name)
  local pipe = io.popen(("make -s -C '%s' DIR='%s' '%s' 2>&1"):format(folder, libraries, file))
  local words = pipe:read "a"
  if pipe:close() then return file end
  return nil, (words:match "^[^\n]*")
end

-- The one that knows Lua: a bundle has it among its modules.
local function load_native()
  local opener = package.loadlib(core.home() .. "/lib/native.so", "luaopen_native")
  return (opener or assert(package.loadlib(assert(build "native"), "luaopen_native")))()
end

local native = load_native()

--- Sets a variable of the environment of this process.
---@param name string
---@param value string
function lab.setenv(name, value)
  native.setenv(name, value)
end

--- The native functions (native.h) of one of the libraries beside the benchmarks, built if need be.
---@param name string  "openmp", "opencl", "bare_launch", "cub", "nvbench_method"
---@return table? functions  by name
---@return string? reason
function lab.library(name)
  local file, reason = build(name)
  if not file then return nil, reason end
  return setmetatable({}, { __index = function(functions, symbol)
    functions[symbol] = native.find(file, symbol)
    return functions[symbol]
  end })
end

--- A file beside the benchmarks, as text.
---@param name string
---@return string
function lab.read(name)
  local file <close> = assert(io.open(folder .. "/" .. name))
  return file:read "a"
end

--- The median of a list.
---@param list number[]
---@return number
function lab.median(list)
  table.sort(list)
  local n = #list
  return (list[(n + 1) // 2] + list[n // 2 + 1]) / 2
end

-- Workers of a pool that has just finished still spin for a moment; the next contender waits for that.
local function settle()
  local until_time = core.clock() + 0.002
  repeat until core.clock() >= until_time
end

local function seconds_of(fn, batch)
  local start = core.clock()
  for _ = 1, batch do fn() end
  return (core.clock() - start) / batch
end

--- Times functions in turn, A B A B ..., so that a change of the machine's pace meets all of them.
---@param contenders function[]  each returns when its work is done
---@param rounds integer
---@param batch integer?         calls per sample
---@return number[] medians      seconds per call
function lab.alternate(contenders, rounds, batch)
  local samples = {}
  for i, fn in ipairs(contenders) do
    fn()
    samples[i] = {}
  end
  for round = 1, rounds do
    for i, fn in ipairs(contenders) do
      settle()
      samples[i][round] = seconds_of(fn, batch or 1)
    end
  end
  local medians = {}
  for i, list in ipairs(samples) do medians[i] = lab.median(list) end
  return medians
end

--- The same by the device's own clock, between two events on its default stream, where the work goes.
---@param device userdata
---@param contenders function[]  each queues its work
---@param rounds integer
---@return number[] medians      seconds per call
function lab.alternate_on(device, contenders, rounds)
  local from, to = device:event(), device:event()
  local medians = {}
  for i in ipairs(contenders) do medians[i] = {} end
  for round = 0, rounds do -- the first warms up
    for i, fn in ipairs(contenders) do
      from:record()
      fn()
      to:record()
      to:synchronize()
      if round > 0 then medians[i][round] = to:since(from) end
    end
  end
  for i, list in ipairs(medians) do medians[i] = lab.median(list) end
  return medians
end

local function time_text(seconds)
  for _, step in ipairs { { 1, "s" }, { 1e-3, "ms" }, { 1e-6, "us" } } do
    if seconds >= step[1] then return ("%.3f %s"):format(seconds / step[1], step[2]) end
  end
  return ("%.1f ns"):format(seconds * 1e9)
end

--- Prints one comparison: what, both times, their ratio and what is to be reached.
---@param row table  name, ours, other (seconds), other_name, ratio, most or least (of the ratio)
function lab.compare(row)
  local reached
  if row.most then reached = row.ratio <= row.most else reached = row.ratio >= row.least end
  print(("  %-34s %12s   %s %12s   ratio %7.3f   to reach: %s %.2f   %s"):format(row.name,
    time_text(row.ours), row.other_name, time_text(row.other), row.ratio,
    row.most and "at most" or "at least", row.most or row.least, reached and "reached" or "missed"))
end

--- Prints one measurement against an upper bound.
---@param name string
---@param value number
---@param bound number
---@param unit string   "s" or "MiB"
function lab.bound(name, value, bound, unit)
  local function text(v) return unit == "s" and time_text(v) or ("%.1f %s"):format(v, unit) end
  print(("  %-34s %12s   to reach: at most %s   %s"):format(name, text(value), text(bound),
    value <= bound and "reached" or "missed"))
end

--- Opens a device, or says why the benchmark is left out.
---@param mw table
---@param id string
---@return userdata?
function lab.device(mw, id)
  local ok, device = pcall(mw.device, id)
  if ok then return device end
  print(("  left out: %s"):format((tostring(device):gsub("^[^\n:]+:%d+: ", "", 1))))
  return nil
end

return lab
