-- SPDX-License-Identifier: MIT
--
-- How often `moonwarp compare` says faster or slower of two runs of the same thing. Each run is a
-- process of its own (lib/same.lua), and is compared with the next one; -p runs=3 compares three runs with the next
-- three (--runs 3). -p planted=0.05 multiplies the second side's times by 1.05: how often is that found?

local mw = require "moonwarp"
local core = require "moonwarp.core"
local compare = require "moonwarp.results.compare"
local fields = require "moonwarp.results.fields"
local lists = require "moonwarp.base.lists"
local store = require "moonwarp.results.store"

local wanted = mw.arg("pairs", 50, "pairs of runs", { min = 1, max = 1000 })
local seconds = mw.arg("seconds", 0.1, "measured time a measurement", { min = 0, max = 60 })
local count = mw.arg("runs", 1, "runs of each side", { min = 1, max = 100 })
local planted = mw.arg("planted", 0.0, "share by which the second side is made slower", { min = 0, max = 1 })
local device = mw.device()

local function first_line(command)
  local pipe <close> = io.popen(command)
  return pipe:read "l"
end

local function program()
  for _, place in ipairs { "/build/moonwarp", "/bin/moonwarp" } do
    local file <close> = io.open(core.home() .. place)
    if file then return core.home() .. place end
  end
  error("the program is neither in build/ nor in bin/", 0)
end

local function measure(folder, number)
  local out = ("%s/%d"):format(folder, number)
  local command = "MOONWARP_HOME='%s' '%s' run '%s/tests/bench/lib/same.lua' --device %s --out '%s' --quiet "
    .. "-p seconds=%s </dev/null"
  assert(os.execute(command:format(core.home(), program(), core.home(), device:id(), out, seconds)))
  return assert(store.read(store.below(out)[1]))
end

-- The run anew, with times that are longer by what is planted.
local function slower(run)
  local copy = assert(store.read(run.folder))
  for _, record in ipairs(copy.records) do
    for _, value in pairs(record) do
      if fields.is_result(value) then
        for k, t in ipairs(value.samples) do value.samples[k] = t * (1 + planted) end
        for _, name in ipairs { "median", "low", "high" } do value[name] = value[name] * (1 + planted) end
      end
    end
  end
  return copy
end

-- The runs of a side.
local function side(folder, number)
  local list = {}
  for i = 1, count do list[i] = measure(folder, number * count + i) end
  return list
end

local folder = first_line "mktemp -d"
local counts, total = { same = 0, faster = 0, slower = 0, changed = 0, unclear = 0 }, 0
local before = side(folder, 0)
for i = 1, wanted do
  local after = side(folder, i)
  for _, row in ipairs(compare.several(before, lists.map(after, slower))) do
    counts[row.verdict], total = counts[row.verdict] + 1, total + 1
    if planted == 0 and (row.verdict == "faster" or row.verdict == "slower") then
      print(("  pair %d, %s: %s, %+.1f %%"):format(i, row.label, row.verdict, (row.ratio - 1) * 100))
    end
  end
  before = after
end
os.execute(("rm -rf '%s'"):format(folder))

print(("%s: %d pairs of %d, %d verdicts: %d same, %d unclear, %d faster, %d slower"):format(device:name(), wanted,
  count, total, counts.same, counts.unclear, counts.faster, counts.slower))
if planted > 0 then
  local found = 100 * counts.slower / total
  print(("  slower, of what is slower by %g %%   %.1f %%   to reach: at least 95 %%   %s"):format(100 * planted, found,
    found >= 95 and "reached" or "missed"))
else
  local wrong = 100 * (counts.faster + counts.slower) / total
  print(("  faster or slower, of the same thing   %.2f %%   to reach: at most 2 %%   %s"):format(wrong,
    wrong <= 2 and "reached" or "missed"))
end
