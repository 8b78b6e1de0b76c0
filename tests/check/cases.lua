-- SPDX-License-Identifier: MIT
--
-- Kernels under check mode, as data. A case: { kernel, grid, block, arguments, gives =, ... }; an argument is a number
-- or an array from `array`.

local mw = require "moonwarp"
local core = require "moonwarp.core"

local cases = {}

--- The device that checks.
---@return userdata
function cases.device() return mw.device "cpu:check" end

--- An array argument: without a value it holds none; "ramp": 0, 1, 2 and so on.
---@param dtype string
---@param n integer
---@param value number|"ramp"|nil
---@return table
function cases.array(dtype, n, value) return { dtype = dtype, n = n, value = value } end

--- A file of this folder, compiled.
---@param dev userdata
---@param file string
---@return userdata
function cases.module(dev, file) return dev:module { file = core.home() .. "/tests/check/" .. file } end

local function ramp(n)
  local list = {}
  for i = 1, n do list[i] = i - 1 end
  return list
end

local function made(dev, argument)
  if type(argument) ~= "table" then return argument end
  local a = dev:array(argument.dtype, argument.n)
  if argument.value == "ramp" then
    a:upload(ramp(argument.n))
  elseif argument.value then
    a:fill(argument.value)
  end
  return a
end

local function arguments(dev, case)
  local list = {}
  for i, argument in ipairs(case[4]) do list[i] = made(dev, argument) end
  return list
end

local function close(list)
  for _, argument in ipairs(list) do
    if type(argument) == "userdata" then argument:close() end
  end
end

local function launch(dev, module, case, list)
  local options = { grid = case[2], block = case[3], shared = case.shared, cooperative = case.cooperative }
  local kernel = module[case[1]]
  for _ = 1, case.launches or 1 do kernel:prepare(options)(table.unpack(list)) end
  dev:synchronize()
end

-- What is wrong with the results: gives = { { argument, index from 0, value }, ... }
local function wrong(case, list)
  for _, want in ipairs(case.gives or {}) do
    local value = list[want[1]]:get(want[2] + 1)
    if value ~= want[3] then
      return ("argument %d, element %d: %s, not %s"):format(want[1], want[2], value, want[3])
    end
  end
end

--- Runs a case. A case with `run` does what that function does with (dev, module, arguments).
---@param dev userdata
---@param module userdata
---@param case table
---@return table[] findings    what is new on the device
---@return string? problem     an error of the launch, or a wrong result
function cases.run(dev, module, case)
  local before = #dev:findings()
  local list = arguments(dev, case)
  local ok, message = pcall(case.run or launch, dev, module, case, list)
  local problem
  if ok then problem = wrong(case, list) else problem = tostring(message) end
  close(list)
  local findings = dev:findings()
  return table.move(findings, before + 1, #findings, 1, {}), problem
end

-- "// finding: a, b", "// error: a" and "// error: a // finding: b" of a file, by kernel:
-- { error =, lines = { [line] = { [kind] = true } } }
local function read_marks(path)
  local marks, kernel, line = {}, nil, 0
  for text in io.lines(path) do
    line = line + 1
    local name, kinds = text:match "^__global__ void ([%w_]+)%(", text:match "// finding: (.*)"
    local problem = text:match "// error: (.*) // finding: " or text:match "// error: (.*)"
    if name then
      kernel = { lines = {} }
      marks[name] = kernel
    end
    if (kinds or ""):find "bounds" then kernel.bounds = true end
    for kind in (kinds or ""):gmatch "[^, ][^,]*" do
      kernel.lines[line] = kernel.lines[line] or {}
      kernel.lines[line][kind] = true
    end
    if kernel then kernel.error = problem or kernel.error end
  end
  return marks
end

--- What is marked in a file of this folder, by kernel.
---@param file string
---@return table
function cases.marks(file) return read_marks(core.home() .. "/tests/check/" .. file) end

-- One without parties is marked anywhere in the kernel.
local function is_marked(finding, lines)
  if #finding.parties == 0 then
    for _, kinds in pairs(lines) do
      if kinds[finding.kind] then return true end
    end
  end
  for _, party in ipairs(finding.parties) do
    if lines[party.line] and lines[party.line][finding.kind] then return true end
  end
end

--- What does not come as marked: a list of texts, empty where all is well.
---@param marks table        of the kernel
---@param findings table[]
---@param problem string?
---@return string[]
function cases.differences(marks, findings, problem)
  local list = {}
  for _, finding in ipairs(findings) do
    if not is_marked(finding, marks.lines) then list[#list + 1] = "not marked: " .. cases.text(finding) end
  end
  local is_outside = marks.bounds and (problem or ""):find("outside", 1, true)
  if #findings == 0 and next(marks.lines) and not is_outside then
    list[#list + 1] = "not found" .. (problem and ", but: " .. problem or "")
  end
  if marks.error and not (problem or ""):find(marks.error, 1, true) then
    list[#list + 1] = "no error: " .. marks.error
  end
  return list
end

local function party_text(party)
  return ("%s at %s:%s: %s"):format(party.verb, party.file, party.line, party.text)
end

--- A finding in one line.
---@param finding table
---@return string
function cases.text(finding)
  local parties = {}
  for i, party in ipairs(finding.parties) do parties[i] = party_text(party) end
  return ("%s: %s (%s)"):format(finding.kind, finding.object, table.concat(parties, "; "))
end

return cases
