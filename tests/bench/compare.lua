-- SPDX-License-Identifier: MIT
--
-- How often `moonwarp compare` says faster or slower of two runs of the same thing. Each run is a
-- process of its own (lib/same.lua), and is compared with the next one.

local mw = require "moonwarp"
local core = require "moonwarp.core"
local compare = require "moonwarp.results.compare"
local store = require "moonwarp.results.store"

local wanted = mw.arg("pairs", 50, "pairs of runs", { min = 1, max = 1000 })
local seconds = mw.arg("seconds", 0.1, "measured time a measurement", { min = 0, max = 60 })
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

local folder = first_line "mktemp -d"
local counts, total = { same = 0, faster = 0, slower = 0, changed = 0, unclear = 0 }, 0
local before = measure(folder, 0)
for i = 1, wanted do
  local after = measure(folder, i)
  for _, row in ipairs(compare.runs(before, after)) do
    counts[row.verdict], total = counts[row.verdict] + 1, total + 1
    if row.verdict == "faster" or row.verdict == "slower" then
      print(("  pair %d, %s: %s, %+.1f %%"):format(i, row.label, row.verdict, (row.ratio - 1) * 100))
    end
  end
  before = after
end
os.execute(("rm -rf '%s'"):format(folder))

local wrong = 100 * (counts.faster + counts.slower) / total
print(("%s: %d pairs of runs, %d verdicts: %d same, %d unclear, %d faster, %d slower"):format(device:name(),
  wanted, total, counts.same, counts.unclear, counts.faster, counts.slower))
print(("  faster or slower, of the same thing   %.2f %%   to reach: at most 2 %%   %s"):format(wrong,
  wrong <= 2 and "reached" or "missed"))
