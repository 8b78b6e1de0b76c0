-- SPDX-License-Identifier: MIT
--
-- Runs the pairs of tests/check/pairs.lua, and says of each whether the fault is found and the legal twin is clean:
--   moonwarp run tests/check/pairs_run.lua -- [strict] [normal] [path] [FILE or KERNEL]
-- With "normal" the legal twins run in normal mode instead, with the engine of the device's choice. With "path" the
-- files lie in folders of a temporary one whose names have 200 characters together, and findings are printed.

local mw = require "moonwarp"
local files = require "tests.check.pairs"
local twins = require "tests.check.twins"

local words, only = {}, nil
for _, word in ipairs(arg) do
  if word == "strict" or word == "normal" or word == "path" then words[word] = true else only = word end
end

local dev = words.normal and mw.device "cpu" or mw.device("cpu", { check = words.strict and "strict" or true })

local counts = { pairs = 0, missed = 0, ["false"] = 0, kind = 0, failed = 0 }

local function report(row, what, list, message)
  counts[what] = counts[what] + 1
  print(("  %-7s %-24s %s %s"):format(what:upper(), row[1], table.concat(list, " | "), message or ""))
end

-- Prints what is found where the path is long: printing is what is tried.
local function told()
  local errors, warnings, list = twins.told(dev)
  if words.path and #list > 0 then print(list) end
  return errors, warnings
end

local function judge_faulty(module, row)
  local _, message = twins.launch(dev, module, row)
  local errors, warnings = told()
  if not twins.is_found(row, words.strict, errors, warnings) then return report(row, "missed", warnings, message) end
  local other = twins.other_kind(row, errors, warnings)
  if other then report(row, "kind", { other }) end
  if os.getenv "VERBOSE" then
    print("  found   " .. row[1], table.concat(errors, "|") .. table.concat(warnings, "|"), message or "")
  end
end

local function judge_legal(module, row)
  if words.strict and row[6] and row[6].exits then return end
  local ok, message = twins.launch(dev, module, row)
  local errors, warnings = told()
  if #errors > 0 then report(row, "false", errors, message)
  elseif not ok then report(row, "failed", warnings, message)
  elseif #warnings > 0 then print("  warns   " .. row[1], table.concat(warnings, " | ")) end
end

local function twin(name, other)
  local templates = twins.templates(files[name])
  if not words.path then return dev:module { source = twins.text(name, other), templates = templates } end
  local folder = os.getenv "TMPDIR" or "/tmp"
  folder = folder .. "/moonwarp-pairs/" .. ("a-folder/"):rep(20) .. (other == "legal" and "faulty" or "legal")
  os.execute("mkdir -p " .. folder)
  local file = folder .. "/" .. name .. ".cu"
  local out <close> = assert(io.open(file, "w"))
  out:write(twins.text(name, other))
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
