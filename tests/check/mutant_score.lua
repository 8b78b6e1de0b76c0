-- SPDX-License-Identifier: MIT
--
-- How many mutants of the project's kernels check mode finds, and how many the studies' own check on odd sizes:
--
--   moonwarp run tests/check/mutant_score.lua [-- PART OF FILE]
--
-- PART OF: the mutants whose number modulo OF is PART, for several processes. FILE gets a line for each mutant; those
-- that it has are not run again. Default: all, mutants.txt. The table at the end is of the whole file.

local judge = require "tests.check.judge"
local mutants = require "tests.check.mutants"

local PART, OF, FILE = tonumber(arg[1]) or 0, tonumber(arg[2]) or 1, arg[3] or "mutants.txt"

local function folder()
  local pipe <close> = assert(io.popen "mktemp -d")
  return pipe:read "l"
end

local scratch = folder()
judge.open(scratch)

local function done()
  local set = {}
  local file = io.open(FILE)
  for line in file and file:lines() or function() end do set[tonumber(line:match "^%d+")] = line end
  if file then file:close() end
  return set
end

local function add(i, mutant, checked, own)
  local file <close> = assert(io.open(FILE, "a"))
  file:write(("%d\t%s\t%s:%d\t%s\t%s\t%s\n"):format(i, mutant.kind, mutant.file, mutant.line, checked, own,
    mutant.after:match "^%s*(.*)"))
end

local COLUMNS <const> = { "mutants", "check mode", "own check only", "equivalent", "neither" }

local function column(checked, own)
  if checked:match "^found" or checked == "fault" then return 2 end
  if own == "equivalent" then return 4 end
  return (own ~= "none" or checked ~= "none") and 3 or 5
end

local function summary()
  local kinds, rows = {}, {}
  for _, line in pairs(done()) do
    local kind, checked, own = line:match "^%d+\t([^\t]*)\t[^\t]*\t([^\t]*)\t([^\t]*)"
    if checked ~= "invalid" and own ~= "invalid" then
      if not rows[kind] then kinds[#kinds + 1], rows[kind] = kind, { 0, 0, 0, 0, 0 } end
      local row, at = rows[kind], column(checked, own)
      row[1], row[at] = row[1] + 1, row[at] + 1
    end
  end
  table.sort(kinds)
  print(("%-20s %8s %12s %15s %12s %8s"):format("kind", table.unpack(COLUMNS)))
  for _, kind in ipairs(kinds) do print(("%-20s %8d %12d %15d %12d %8d"):format(kind, table.unpack(rows[kind]))) end
end

local before = done()
for i, mutant in ipairs(mutants.list()) do
  if i % OF == PART and not before[i] then
    local checked, own = judge.check(mutant), judge.own(mutant)
    if checked == "none" and own == "none" and judge.is_equivalent(mutant) then own = "equivalent" end
    add(i, mutant, checked, own)
  end
end
os.execute("rm -rf " .. scratch)
summary()
