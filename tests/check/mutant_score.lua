-- SPDX-License-Identifier: MIT
--
-- How many mutants of the project's kernels check mode finds, and how many the studies' own check on odd sizes:
--
--   moonwarp run tests/check/mutant_score.lua [-- PART OF FILE both]
--
-- PART OF: the mutants whose number modulo OF is PART, for several processes. FILE gets a line for each mutant; those
-- that it has are not run again. Default: all, mutants.txt. The study checks where check mode finds nothing; both:
-- always. The table at the end is of the whole file. Outcomes: found (findings), wrong (the study's check), fault (an
-- error), hang, none, invalid.

local core = require "moonwarp.core"
local mutants = require "tests.check.mutants"

local PART, OF = tonumber(arg[1]) or 0, tonumber(arg[2]) or 1
local FILE, BOTH = arg[3] or "mutants.txt", arg[4] == "both"
local LIMIT <const> = 60 -- seconds a run
local home, program = core.home(), os.getenv "MOONWARP_PROGRAM" or "moonwarp"

local function write(path, text)
  local file <close> = assert(io.open(path, "wb"))
  file:write(text)
end

local function read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

local function folder()
  local pipe <close> = assert(io.popen "mktemp -d")
  return pipe:read "l"
end

local scratch = folder()

-- A run of a study on its odd cases with what lies in the scratch folder: what it printed, and its status.
local function run_study(study, params, device)
  write(scratch .. "/study.lua", 'require "tests.check.odd_only" ' .. read(home .. "/experiments/" .. study .. ".lua"))
  local pipe = assert(io.popen(("cd %s && MOONWARP_HOME=%s MOONWARP_DEVICE=%s MOONWARP_CACHE=%s/cache "
    .. "LUA_PATH='%s/?.lua;;' timeout -s KILL %d %s run study.lua --quiet --out %s/out %s 2>&1"):format(scratch, home,
    device, scratch, home, LIMIT, program, scratch, params)))
  local output = pipe:read "a"
  local _, _, status = pipe:close()
  return output, status
end

-- The same of each study that has kernels of the file.
local function run(entry, device, rung)
  local outputs, worst = {}, 0
  for study, params in pairs(entry.studies) do
    local output, status = run_study(study, params .. (rung and " -p rungs=" .. rung or ""), device)
    outputs[#outputs + 1] = output
    worst = math.max(worst, status)
  end
  return table.concat(outputs, "\n"), worst
end

local function put(entry, text)
  os.execute(("cp %s/kernels/*.cu %s/kernels/*.cuh %s"):format(home, home, scratch))
  if text then write(scratch .. "/" .. entry.file, text) end
end

local function findings(output)
  local set = {}
  for line in output:gmatch "finding\t([^\n]*)" do set[line] = true end
  return set
end

local known = {} -- findings in the kernels as they are, by file

local function known_of(entry)
  if not known[entry.file] then
    put(entry)
    known[entry.file] = findings((run(entry, "cpu:check")))
  end
  return known[entry.file]
end

local function new_kind(output, before)
  for line in pairs(findings(output)) do
    if not before[line] then return (line:match "^[^\t]*") end
  end
end

local function outcome(output, status, before)
  if status == 137 then return "hang" end
  if output:find("compiling '", 1, true) then return "invalid" end
  local kind = new_kind(output, before)
  if kind then return "found " .. kind end
  if output:find "\nerror\t" or output:find "^error\t" or status ~= 0 then return "fault" end
  return output:find "wrong\t" and (output:find("outside", 1, true) and "fault" or "wrong") or "none"
end

local function judge(mutant)
  local before = known_of(mutant.file)
  put(mutant.file, mutant.text)
  local output, status = run(mutant.file, "cpu:check", mutant.rung)
  local checked = outcome(output, status, before)
  if not BOTH and checked ~= "none" then return checked, "not run" end
  output, status = run(mutant.file, "cpu", mutant.rung)
  return checked, outcome(output, status, {})
end

local function done()
  local set = {}
  local file = io.open(FILE)
  for line in file and file:lines() or function() end do set[tonumber(line:match "^%d+")] = line end
  if file then file:close() end
  return set
end

local function add(i, mutant, checked, own)
  local file <close> = assert(io.open(FILE, "a"))
  file:write(("%d\t%s\t%s:%d\t%s\t%s\t%s\n"):format(i, mutant.kind, mutant.file.file, mutant.line, checked, own,
    mutant.after:match "^%s*(.*)"))
end

local COLUMNS <const> = { "mutants", "check mode", "own check only", "neither" }

local function column(checked, own)
  if checked:match "^found" or checked == "fault" then return 2 end
  return (own ~= "none" or checked ~= "none") and 3 or 4
end

local function summary()
  local kinds, rows = {}, {}
  for _, line in pairs(done()) do
    local kind, checked, own = line:match "^%d+\t([^\t]*)\t[^\t]*\t([^\t]*)\t([^\t]*)"
    if checked ~= "invalid" and own ~= "invalid" then
      if not rows[kind] then kinds[#kinds + 1], rows[kind] = kind, { 0, 0, 0, 0 } end
      local row, at = rows[kind], column(checked, own)
      row[1], row[at] = row[1] + 1, row[at] + 1
    end
  end
  table.sort(kinds)
  print(("%-20s %8s %12s %15s %8s"):format("kind", table.unpack(COLUMNS)))
  for _, kind in ipairs(kinds) do print(("%-20s %8d %12d %15d %8d"):format(kind, table.unpack(rows[kind]))) end
end

local before = done()
for i, mutant in ipairs(mutants.list()) do
  if i % OF == PART and not before[i] then add(i, mutant, judge(mutant)) end
end
os.execute("rm -rf " .. scratch)
summary()
