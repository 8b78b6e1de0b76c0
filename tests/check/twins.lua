-- SPDX-License-Identifier: MIT
--
-- The kernels of tests/check/pairs.lua: the text of a twin, a launch of it, and what check mode says of that.

local mw = require "moonwarp"
local core = require "moonwarp.core"

local twins = {}

--- The text of one twin of a file: lines marked as the other's are blank, so that line numbers stay.
---@param file string
---@param other "legal"|"faulty"
---@return string
function twins.text(file, other)
  local lines = {}
  for line in io.lines(core.home() .. "/tests/check/pairs/" .. file .. ".cu") do
    lines[#lines + 1] = line:match("// " .. other .. "$") and "" or line
  end
  return table.concat(lines, "\n") .. "\n"
end

--- The rows' names that are instances of templates.
---@param rows table[]
---@return string[]
function twins.templates(rows)
  local list = {}
  for _, row in ipairs(rows) do
    if row[1]:match "<" then list[#list + 1] = row[1] end
  end
  return list
end

local function values_of(count, fill)
  local values = {}
  for i = 1, count do
    values[i] = fill == "ramp" and (i - 1) % 128 or fill == "down" and count - i or math.tointeger(fill)
  end
  return values
end

local function made(dev, argument)
  if type(argument) == "table" then return dev:array(argument[1], table.move(argument, 2, #argument, 1, {})) end
  if type(argument) ~= "string" then return argument end
  local dtype, count, fill = argument:match "^(%w+) (%d+) ?(%w*)$"
  count = math.tointeger(count)
  if fill == "" then return dev:zeros(dtype, count) end
  if fill == "empty" then return dev:empty(dtype, count) end
  return dev:array(dtype, values_of(count, fill))
end

--- Runs a row's kernel.
---@param dev userdata
---@param module userdata
---@param row table
---@return boolean ok
---@return string? message
function twins.launch(dev, module, row)
  local options = row[6] or {}
  local arguments = {}
  for i, argument in ipairs(row[4]) do arguments[i] = made(dev, argument) end
  local ok, message = pcall(function()
    module:kernel(row[1]):prepare { grid = row[2], block = row[3], shared = options.shared,
      cooperative = options.cooperative }(table.unpack(arguments))
    dev:synchronize()
  end)
  for _, argument in ipairs(arguments) do
    if type(argument) == "userdata" then argument:close() end
  end
  return ok, not ok and tostring(message) or nil
end

local function text_of(finding)
  local places = {}
  for _, party in ipairs(finding.parties) do places[#places + 1] = party.line end
  return finding.kind .. " @" .. table.concat(places, ",") .. " (" .. finding.remedy .. ")"
    .. (finding.remark and " [" .. finding.remark .. "]" or "")
end

local counted = setmetatable({}, { __mode = "k" }) -- how many findings of a device have been told

--- What the device has found since the last call: errors and warnings, each as a list of "kind @lines (remedy)".
---@param dev userdata
---@return string[] errors
---@return string[] warnings
---@return table[] findings
function twins.told(dev)
  local errors, warnings = {}, {}
  local all = dev:findings()
  local list = table.move(all, (counted[dev] or 0) + 1, #all, 1, {})
  counted[dev] = #all
  mw.findings { expected = true }
  for _, finding in ipairs(list) do
    table.insert(finding.warning and warnings or errors, text_of(finding))
  end
  return errors, warnings, list
end

--- Whether the fault of a row is found, as it should be found by that device.
---@param row table
---@param strict boolean    the device is
---@param errors string[]
---@param warnings string[]
---@return boolean
function twins.is_found(row, strict, errors, warnings)
  return #errors > 0 or (not strict and row[6] and row[6].strict and #warnings > 0) or false
end

--- What is wrong with the finding of a fault: not of the row's kind, or it says what it must not. nil: nothing.
---@param row table
---@param errors string[]
---@param warnings string[]
---@return string?
function twins.other_kind(row, errors, warnings)
  local all = table.concat(errors, "|") .. table.concat(warnings, "|")
  local never = row[6] and row[6].never
  if not all:match(row[5]) or (never and all:match(never)) then return all end
end

return twins
