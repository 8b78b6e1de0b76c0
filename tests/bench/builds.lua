-- SPDX-License-Identifier: MIT
--
-- This build over another one: the least times of the studies' launches on the CPU device, in processes that take
-- turns (lib/launches.lua). For kernels whose generated code a change of the translator has changed. A launch counts if
-- both builds have made it 45 times; a kernel's ratio is the geometric mean of its launches'. To reach: at most 1.10.
--
--   moonwarp run tests/bench/builds.lua [-p rounds=N] -- FOLDER OF THE OTHER [STUDY...]

local mw = require "moonwarp"
local core = require "moonwarp.core"
local path = require "moonwarp.base.path"

local rounds = mw.arg("rounds", 5, "processes of each build and study")
local seconds = mw.arg("seconds", 0.02, "least time of a measurement in a study")
local other, studies = arg[1], table.move(arg, 2, #arg, 1, {})

local MOST <const>, CALLS <const> = 1.10, 45
-- Those of kernels/ that launch outside of streams and graphs.
local STUDIES <const> = { "access", "balance", "cumsum", "divergence", "histogram", "laplace", "laplace3",
                          "memcopy", "nbody", "occupancy", "orbits", "pattern", "recurrence", "reduction", "scan",
                          "small-problems", "stencil", "transpose" }

-- found[key] = { engine =, calls =, seconds = } of a build, with what one more process says; false: it says nothing.
local function add(found, file)
  local is_any = false
  for line in io.lines(file) do
    local key, engine, calls, least = line:match "^(.*)\t(%a+)\t(%d+)\t([%d.]+)$"
    local one = found[key] or { calls = 0, seconds = math.huge }
    one.calls, least = one.calls + tonumber(calls), tonumber(least)
    if least < one.seconds then one.seconds, one.engine = least, engine end
    found[key] = one
    is_any = true
  end
  return is_any
end

local function run(home, study, found)
  local out <const>, folder <const> = os.tmpname(), os.tmpname()
  local script <const>, text <const> = core.home() .. "/tests/bench/lib/launches.lua",
    "rm %s && MOONWARP_HOME=%s %s run %s --device cpu --quiet -p seconds=%g --out %s -- %s %s >/dev/null 2>&1; rm -r %s"
  os.execute(text:format(folder, path.quote(home), path.quote(home .. "/build/moonwarp"), path.quote(script), seconds,
    folder, path.quote(("%s/experiments/%s.lua"):format(core.home(), study)), out, folder))
  if not add(found, out) then print(("  study %s launched nothing by %s"):format(study, home)) end
  os.remove(out)
end

-- Of each kernel: the sum of the logarithms of its launches' ratios, how many count, and the worst.
local function kernels_of(ours, theirs)
  local kernels = {}
  for key, one in pairs(ours) do
    local twin <const> = theirs[key]
    local name <const>, what <const> = key:match "^(.*)\t(.*)$"
    local kernel <const> = kernels[name] or { name = name:gsub("\t", " "), sum = 0, count = 0, worst = 0 }
    kernel.engine = kernel.engine or one.engine
    if twin and math.min(one.calls, twin.calls) >= CALLS then
      local ratio <const> = one.seconds / twin.seconds
      kernel.engine = twin.engine == one.engine and one.engine or twin.engine .. " -> " .. one.engine
      kernel.sum, kernel.count = kernel.sum + math.log(ratio), kernel.count + 1
      if ratio > kernel.worst then kernel.worst, kernel.what, kernel.seconds = ratio, what, twin.seconds end
    end
    kernels[name] = kernel
  end
  return kernels
end

local function show(kernels)
  local list, seldom = {}, {}
  for _, kernel in pairs(kernels) do
    kernel.ratio = math.exp(kernel.sum / math.max(kernel.count, 1))
    table.insert(kernel.count > 0 and list or seldom, kernel)
  end
  table.sort(list, function(a, b) return a.ratio > b.ratio end)
  for _, one in ipairs(list) do
    print(("  %-48s %-6s %3d launches   ratio %.3f   %-7s   worst %.3f of %8.1f us: %s"):format(one.name, one.engine,
      one.count, one.ratio, one.ratio <= MOST and "reached" or "missed", one.worst, one.seconds * 1e6, one.what))
  end
  for _, one in ipairs(seldom) do
    print(("  %-48s %-6s launched less than %d times"):format(one.name, one.engine, CALLS))
  end
end

if not other then return print "  left out: words after -- name the folder of another build" end
local ours, theirs = {}, {}
for _, study in ipairs(studies[1] and studies or STUDIES) do
  for _ = 1, rounds do
    run(core.home(), study, ours)
    run(other, study, theirs)
  end
end
print(("%s over %s, least of %d processes each; to reach: at most %.2f"):format(core.home(), other, rounds, MOST))
show(kernels_of(ours, theirs))
