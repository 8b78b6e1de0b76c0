-- SPDX-License-Identifier: MIT
--
-- mw.tune: the best variant of a kernel over a space of parameters, and mw.tuned: what was found before.
--   mw.tune { space = { bx = { 32, 64, 128 }, by = { 1, 2, 4, 8 } }, output = B, check = expected,
--             launch = function(v) return k:prepare { grid = ..., block = { v.bx, v.by } } ... end }
-- tune/tuner.lua has the order of things, docs/tuning.md the use.

local failure = require "moonwarp.base.failure"
local jobs = require "moonwarp.tune.job"
local lists = require "moonwarp.base.lists"
local remark = require "moonwarp.results.remark"
local schema = require "moonwarp.base.schema"
local store = require "moonwarp.tune.store"
local variant = require "moonwarp.tune.variant"

local tune = {}

local SPEC <const> = lists.merged(jobs.SPEC, { compile = "function", launch = "function", output = "array table",
  check = "any", bytes = "number function", flops = "number function", device = "device", kernel = "string",
  size = "number table" })

local SIDES <const> = lists.set { "number", "string", "boolean" }

-- A size as the file of best values has it: sides by name; a whole number is one, however it is written.
local function size_of(who, size)
  local sides = {}
  for name, value in pairs(type(size) == "table" and size or { n = size }) do
    local is_number = type(value) == "number"
    if type(name) ~= "string" or not SIDES[type(value)] or is_number and value - value ~= 0 then
      failure.invalid("%s: a size is a number or its sides by name, as in { nx = 1024, ny = 1024 }, got %s = %s", who,
        tostring(name), value ~= value and "nan" or is_number and value or schema.kind(value))
    end
    sides[name] = is_number and math.tointeger(value) or value
  end
  if next(sides) == nil then failure.invalid("%s: a size has one side at least, as in { n = 1024 }", who) end
  return sides
end

local function check_spec(spec)
  if not spec.launch then
    failure.invalid("mw.tune: needs 'launch', a function of a variant that returns one that launches it")
  end
  if spec.check ~= nil and not spec.output then
    failure.invalid "mw.tune: a 'check' needs 'output', what a variant writes: it is filled with NaN before it runs"
  end
  if spec.check ~= nil and lists.find(lists.of(spec.output), function(one) return rawequal(one, spec.check) end) then
    failure.invalid "mw.tune: 'check' is 'output' itself, which is always equal; give what is right, from another way"
  end
  if (spec.kernel == nil) ~= (spec.size == nil) then
    failure.invalid "mw.tune: 'kernel' and 'size' go together: the best values are kept for both"
  end
  if lists.has_hole(lists.of(spec.output)) then
    failure.invalid "mw.tune: option 'output' has a hole: one of its elements is nil"
  end
  for _, array in ipairs(lists.of(spec.output)) do
    if schema.kind(array) ~= "array" then
      failure.invalid("mw.tune: option 'output' must be an array or a list of arrays, got %s", schema.kind(array))
    end
  end
end

-- A number, or that of a variant.
local function amount_of(name, given, all)
  if type(given) == "function" then return jobs.number_of("mw.tune", name, given, all, 0) end
  return given and function() return given end
end

--- Tunes: tries variants of a space, each verified before it counts, and names the best with all that tie with it.
---@param session table
---@param spec table      see docs/api/measuring.md
---@return table result   of tune/tuner.lua
function tune.run(session, spec)
  spec = schema.options("mw.tune", spec, SPEC)
  check_spec(spec)
  if (session.options.tune or {}).rung then
    failure.raise_as("usage", "option '--rung' is for studies; the script tunes with mw.tune, which has no rungs")
  end
  local output = lists.of(spec.output)[1]
  local device = spec.device or output and output:device() or session:device()
  if not device then failure.invalid "mw.tune: no device is open; open one with mw.device()" end
  local size = spec.kernel and size_of("mw.tune", spec.size)
  local job = jobs.new("mw.tune", session, device, spec)
  local all = job.space
  function job.make(i)
    return variant.make(spec, all.variants[i], device, job.ahead)
  end
  local quiet = variant.quiet(session)
  function job.verify(i, go, look) return variant.verify(spec, all.variants[i], go, device, quiet, look) end
  job.modules = spec.compile and function(i) return { variant.module_options(spec, all.variants[i]) } end or nil
  job.bytes, job.flops = amount_of("bytes", spec.bytes, all), amount_of("flops", spec.flops, all)
  job.kernel, job.size = spec.kernel, size
  return jobs.run(session, job)
end

local function size_text(size)
  return table.concat(lists.map(lists.keys(size), function(name) return ("%s = %s"):format(name, size[name]) end), ", ")
end

--- The best values that a tuning has found for a kernel on the device: those of the nearest size, which is said.
---@param session table
---@param kernel string         "stencil.cu:diffusion", as mw.tune was given it
---@param size number|table     as mw.tune was given it
---@param options table?        device, objective ("t"), quiet
---@return table? values        by name; nil if none
---@return table|string entry   of tune/store.lua; without values why not
function tune.tuned(session, kernel, size, options)
  options = schema.options("mw.tuned", options, { device = "device", objective = "string", quiet = "boolean" })
  if type(kernel) ~= "string" then
    failure.invalid("mw.tuned: a kernel is its file and its name, as in \"stencil.cu:diffusion\", got %s",
      schema.kind(kernel))
  end
  local device = options.device or session:device()
  if not device then failure.invalid "mw.tuned: no device is open; open one with mw.device()" end
  local wanted = size_of("mw.tuned", size)
  local entry, reason = store.nearest { kernel = kernel, source = store.source("mw.tuned", session, kernel),
                                        device = device:name(), size = wanted, objective = options.objective or "t" }
  if not entry then return nil, reason end
  if size_text(entry.size) ~= size_text(wanted) and not options.quiet then
    remark.say(session, "%s has not been tuned for %s: its values are those for %s.", kernel, size_text(wanted),
      size_text(entry.size))
  end
  return lists.merged(entry.values), entry
end

return tune
