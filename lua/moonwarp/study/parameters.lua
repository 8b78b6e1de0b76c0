-- SPDX-License-Identifier: MIT
--
-- The parameters of a study, from a list in the order of the help:
--   { "n", 4096, "points along each side", gpu = 16384, min = 256 }
-- A default, gpu, min, max may be functions of the values before. The runner's parameters come
-- after: seconds, rungs and, if there are several, parts.

local arg = require "moonwarp.arg"
local case = require "moonwarp.study.case"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local schema = require "moonwarp.base.schema"

local parameters = {}

--- What a parameter may have after its name, default and help.
parameters.fields = { gpu = "any", min = "number function", max = "number function", choices = "table",
                      kind = "string", check = "function" }

local OWN = { seconds = true, rungs = true, parts = true }

--- What the runner writes into every record: a parameter or a side of such a name would be lost.
parameters.RECORDED = { "study", "group", "number", "rung", "bytes", "t", "share", "of_peak", "drift",
                        "series", "error", "error_rms", "joules", "power", "idle_power", "bound", "of_bound", "units",
                        "device", "device_name", "date", "params", "script", "moonwarp" }

--- Errors in a name that a description chooses for a field of its records; nil if nothing is.
---@param study table
---@param name string
---@return string?
function parameters.problem(study, name)
  if name ~= study.rate and not lists.has(parameters.RECORDED, name) then return nil end
  return ("records have a '%s' of their own; take another name"):format(name)
end

-- number: its place among the study's own.
local function read_one(study, spec, number)
  local name, default, help = table.unpack(type(spec) == "table" and spec or {}, 1, 3)
  if type(name) ~= "string" or default == nil or type(help) ~= "string" then
    failure.invalid('parameter %d must be { name, default, help, ... }, such as { "n", 1024, "elements" }', number)
  end
  if OWN[name] and number then failure.invalid("parameter '%s': the runner has one of that name", name) end
  local problem = parameters.problem(study, name)
  if problem then failure.invalid("parameter '%s': %s", name, problem) end
  if study.p[name] ~= nil then failure.invalid("parameter '%s': there is one of that name already", name) end
  schema.options(("parameter '%s'"):format(name), lists.named(spec), parameters.fields)
  local gpu = case.called(spec.gpu, study.p)
  default = case.called(default, study.p)
  if study.gpu and gpu ~= nil then default = gpu end
  local limits = { min = case.called(spec.min, study.p), max = case.called(spec.max, study.p), choices = spec.choices,
                   kind = spec.kind, check = spec.check }
  parameters.add(study, name, default, help, limits, gpu)
end

--- Declares a parameter and reads its value into study.p.
---@param study table
---@param name string
---@param default any
---@param help string
---@param limits table    as of mw.arg
---@param gpu any?        the default on a GPU
function parameters.add(study, name, default, help, limits, gpu)
  table.insert(study.params, { name = name, default = default, gpu = gpu, help = help, list = type(default) == "table",
                               min = limits.min, max = limits.max, choices = limits.choices })
  study.p[name] = arg.get(name, default, help, limits)
end

--- Reads the parameters of the head, and the runner's seconds; those not where nothing is timed: seconds = false.
---@param study table   with head, gpu; params and p are filled
function parameters.read(study)
  for i, spec in ipairs(study.head.params or {}) do read_one(study, spec, i) end
  local seconds = study.head.seconds
  if seconds == false then return end
  if seconds == nil then seconds = { 0.1, gpu = 0.2 } end
  if type(seconds) ~= "table" or type(seconds[1]) ~= "number" then
    failure.invalid("mw.study: option 'seconds' must be as { 0.1, gpu = 0.2 }, or false")
  end
  read_one(study, { "seconds", seconds[1], "least time of a measurement; three times that at most", gpu = seconds.gpu,
                    min = 0, max = 3600 })
end

return parameters
