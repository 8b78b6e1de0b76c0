-- SPDX-License-Identifier: MIT
--
-- Runs the pairs of tests/check/pairs.lua, and says of each whether the fault is found and the legal twin is clean:
--   moonwarp run tests/check/pairs_run.lua -- [strict] [normal] [path] [FILE or KERNEL]
-- With "normal" the legal twins run in normal mode instead, with the engine of the device's choice. With "path" the
-- files lie in folders of a temporary one whose names have 200 characters together, and findings are printed.

local mw = require "moonwarp"
local files = require "tests.check.pairs"

local words, only = {}, nil
for _, word in ipairs(arg) do
  if word == "strict" or word == "normal" or word == "path" then words[word] = true else only = word end
end

local dev = words.normal and mw.device "cpu" or mw.device("cpu", { check = words.strict and "strict" or true })

-- The text of one twin: lines marked as the other's are blank, so that line numbers stay.
local function twin_text(file, other)
  local lines = {}
  for line in io.lines("tests/check/pairs/" .. file .. ".cu") do
    lines[#lines + 1] = line:match("// " .. other .. "$") and "" or line
  end
  return table.concat(lines, "\n") .. "\n"
end

local function make(argument)
  if type(argument) == "table" then return dev:array(argument[1], table.move(argument, 2, #argument, 1, {})) end
  if type(argument) ~= "string" then return argument end
  local type_, count, fill = argument:match "^(%w+) (%d+) ?(%w*)$"
  count = math.tointeger(count)
  if fill == "" then return dev:zeros(type_, count) end
  if fill == "empty" then return dev:empty(type_, count) end
  local values = {}
  for i = 1, count do
    values[i] = fill == "ramp" and (i - 1) % 128 or fill == "down" and count - i or math.tointeger(fill)
  end
  return dev:array(type_, values)
end

local function launch(module, row)
  local options = row[6] or {}
  local arguments = {}
  for i, argument in ipairs(row[4]) do arguments[i] = make(argument) end
  local ok, message = pcall(function()
    module:kernel(row[1]):prepare { grid = row[2], block = row[3], shared = options.shared,
      cooperative = options.cooperative }(table.unpack(arguments))
    dev:synchronize()
  end)
  return ok, not ok and tostring(message) or nil, arguments
end

-- What the launch left in findings: errors and warnings, each as a list of "kind file:line ...".
local function told()
  local errors, warnings = {}, {}
  local list = mw.findings { expected = true }
  if words.path and #list > 0 then print(list) end
  for _, finding in ipairs(list) do
    local places = {}
    for _, party in ipairs(finding.parties) do places[#places + 1] = party.line end
    local text = finding.kind .. " @" .. table.concat(places, ",") .. " (" .. finding.remedy .. ")"
      .. (finding.remark and " [" .. finding.remark .. "]" or "")
    table.insert(finding.warning and warnings or errors, text)
  end
  return errors, warnings
end

local counts = { pairs = 0, missed = 0, ["false"] = 0, kind = 0, failed = 0 }

local function report(row, what, list, message)
  counts[what] = counts[what] + 1
  print(("  %-7s %-24s %s %s"):format(what:upper(), row[1], table.concat(list, " | "), message or ""))
end

local function judge_faulty(module, row)
  local _, message = launch(module, row)
  local errors, warnings = told()
  local weak = row[6] and row[6].strict and not words.strict
  local list = weak and warnings or errors
  if #list == 0 and not (weak and #errors > 0) then return report(row, "missed", warnings, message) end
  local all = table.concat(errors, "|") .. table.concat(warnings, "|")
  if not all:match(row[5]) then report(row, "kind", errors, message) end
  if row[6] and row[6].never and all:match(row[6].never) then report(row, "kind", errors, row[6].never) end
  if os.getenv "VERBOSE" then print("  found   " .. row[1], all, message or "") end
end

local function judge_legal(module, row)
  if words.strict and row[6] and row[6].exits then return end
  local ok, message = launch(module, row)
  local errors, warnings = told()
  if #errors > 0 then report(row, "false", errors, message)
  elseif not ok then report(row, "failed", warnings, message)
  elseif #warnings > 0 then print("  warns   " .. row[1], table.concat(warnings, " | ")) end
end

local function twin(name, other)
  local templates = {}
  for _, row in ipairs(files[name]) do
    if row[1]:match "<" then templates[#templates + 1] = row[1] end
  end
  if not words.path then return dev:module { source = twin_text(name, other), templates = templates } end
  local folder = os.getenv "TMPDIR" or "/tmp"
  folder = folder .. "/moonwarp-pairs/" .. ("a-folder/"):rep(20) .. (other == "legal" and "faulty" or "legal")
  os.execute("mkdir -p " .. folder)
  local file = folder .. "/" .. name .. ".cu"
  local out <close> = assert(io.open(file, "w"))
  out:write(twin_text(name, other))
  out:close()
  return dev:module { file = file, templates = templates }
end

local names = {}
for name in pairs(files) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  local rows = {}
  for _, row in ipairs(files[name]) do
    if not only or name == only or row[1] == only then rows[#rows + 1] = row end
  end
  if #rows > 0 then
    print(name .. ".cu")
    local legal = twin(name, "faulty")
    local faulty = not words.normal and twin(name, "legal")
    for _, row in ipairs(rows) do
      counts.pairs = counts.pairs + 1
      if faulty then judge_faulty(faulty, row) end
      judge_legal(legal, row)
    end
  end
end
print(("%d pairs: %d missed, %d false findings, %d of another kind, %d failed"):format(counts.pairs, counts.missed,
  counts["false"], counts.kind, counts.failed))
