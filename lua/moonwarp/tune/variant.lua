-- SPDX-License-Identifier: MIT
--
-- The variants of mw.tune: made by the script's functions, and verified. What a variant's error ends is the variant; a
-- function that returns what it must not is the script's mistake and ends the tuning.

local core = require "moonwarp.core"
local check = require "moonwarp.measure.check"
local dtypes = require "moonwarp.base.dtypes"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local schema = require "moonwarp.base.schema"

local variant = {}

local FATAL <const> = lists.set { "interrupted", "lost" }

--- Calls a function whose errors are a variant's; not Ctrl-C, nor the loss of the device.
---@param fn function
---@param ... any
---@return boolean done
---@return any ...   what it returns; else the first line of the message
function variant.try(fn, ...)
  local done, first, second = failure.catch(fn, ...)
  if done then return true, first, second end
  if FATAL[failure.status(first)] then error(first, 0) end
  return false, failure.text(first)
end

--- A session in which errors are a variant's, and fails no check of the run.
---@param session table
---@return table
function variant.quiet(session)
  local function nothing() end
  return setmetatable({ note_check = nothing, fail_check = nothing }, { __index = session })
end

local function is_callable(value)
  return type(value) == "function" or core.type(value) == "launch"
end

-- ---- making -------------------------------------------------------------------------------------

--- The options of a variant's module; nil and why not.
---@param spec table   of mw.tune
---@param v table
---@return table?
---@return string? reason
function variant.module_options(spec, v)
  local done, options = variant.try(spec.compile, lists.merged(v))
  if not done then return nil, options end
  if type(options) == "table" then return options end
  failure.invalid("mw.tune: 'compile' must return the options of dev:module, as in { file = \"x.cu\", "
    .. "defines = { BX = v.bx } }, got %s", schema.kind(options))
end

--- A function that runs a variant once; nil and why not. What the script changes in v stays its own.
---@param spec table     of mw.tune
---@param v table
---@param device userdata
---@param ahead table?   of ahead.lua, which may be compiling its module
---@return function? go
---@return string? reason
function variant.make(spec, v, device, ahead)
  local done, module, go, reason
  if spec.compile then
    local options, problem = variant.module_options(spec, v)
    if not options then return nil, problem end
    if ahead then ahead:await(options) end
    done, module = variant.try(device.module, device, options)
    if not done then return nil, module end
  end
  done, go, reason = variant.try(spec.launch, lists.merged(v), module)
  if not done then return nil, go end
  if is_callable(go) or go == nil and type(reason) == "string" then return go, reason end
  failure.invalid("mw.tune: 'launch' must return a function that launches, or nil and why the device cannot, got %s",
    go == nil and "nothing" or schema.kind(go))
end

-- ---- verifying ----------------------------------------------------------------------------------

local POISON <const> = { { float = 0 / 0, share = 1 }, { float = -7125.0, share = 3 } }

-- An expected value may be NaN, or the largest number of a type, but not both of what two looks find there.
local function poison(array, look)
  local kind, one = dtypes[array:dtype()], POISON[(look - 1) % #POISON + 1]
  array:fill(kind.eps and one.float or ((1 << (8 * kind.size - 1)) - 1) // one.share)
end

local function run_once(outputs, device, go, look)
  for _, array in ipairs(outputs) do poison(array, look) end
  device:synchronize()
  go()
  device:synchronize()
end

-- What the check of a script compares with: reports of all comparisons.
local function looking(session)
  local reports = {}
  return reports, function(got, expected, options)
    local ok, report = check.run(session, got, expected, lists.merged(options or {}, { quiet = true }))
    reports[#reports + 1] = report
    return ok, report
  end
end

-- Compares as the script says: reports, and what its function returns; nil and why it fails.
local function compared(spec, v, session)
  local reports, look = looking(session)
  if type(spec.check) ~= "function" then
    look(lists.of(spec.output)[1], spec.check)
    return reports
  end
  local done, answer = variant.try(spec.check, lists.merged(v), look)
  if not done then return nil, answer end
  if #reports == 0 and type(answer) ~= "boolean" then
    failure.invalid("mw.tune: 'check' must compare by its second argument, as in function(v, look) look(B, expected) "
      .. "end, or return whether the variant is right")
  end
  return reports, answer
end

-- Of arrays; NaN is infinitely off.
local function largest_error(reports)
  local most
  for _, report in ipairs(reports) do
    local off = report.max_abs
    if off then most = math.max(most or 0.0, off == off and off or math.huge) end
  end
  return most
end

local function difference(report)
  if not report.wrong then return ("wrong: %s"):format(report.name) end
  return ("wrong: %d of %d elements differ, by up to %.3g"):format(report.wrong, report.count, report.max_abs)
end

--- Runs a variant on outputs that hold unexpected values, and compares.
---@param spec table     of mw.tune
---@param v table
---@param go function
---@param device userdata
---@param session table  in which a comparison fails no check of the run (variant.quiet)
---@param look integer   how often it has been looked at: what outputs hold changes from time to time
---@return string? wrong   why it is wrong
---@return number? error   the largest absolute error of what was compared
function variant.verify(spec, v, go, device, session, look)
  local done, problem = variant.try(run_once, lists.of(spec.output), device, go, look)
  if not done then return problem end
  if not spec.check then return nil end
  local reports, answer = compared(spec, v, session)
  if not reports then return answer end
  local wrong = lists.find(reports, function(report) return not report.ok end)
  if wrong then return difference(wrong) end
  return answer == false and "wrong: its check fails" or nil, largest_error(reports)
end

return variant
