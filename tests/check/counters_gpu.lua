-- SPDX-License-Identifier: MIT
--
-- Structural counters of a GPU by ncu against those of the CPU device: the kernels of tests/kernels/counters.cu, by
-- kernel and by line. `make check-gpu COUNTERS=1` runs it, as moonwarp run --counters tests/check/counters_gpu.lua.
-- Prints a table of the kernels, then what differs, and last "N passed, N failed": the figures that are equal, bank
-- conflicts and the passes that they are part of within 2 % of the requests to shared memory. Of the project's own
-- kernels (tests/counters_project.lua) it prints what differs: the compilers make other code of them.

local mw = require "moonwarp"

local cases = require "tests.counters_cases"
local core = require "moonwarp.core"
local counters = require "moonwarp.measure.counters"
local lists = require "moonwarp.base.lists"
local project = require "tests.counters_project"

local KERNELS <const> = core.home() .. "/tests/kernels/counters.cu"
local TOLERANCE <const> = 0.02
local MOST_SHOWN <const> = 60

local function start(device, module, case)
  local go = module:kernel(case.kernel):prepare { grid = case.grid, block = case.block, shared = case.shared }
  go(table.unpack(case.arguments(device)))
  device:synchronize()
end

local function launch_all(device)
  local module = device:module { file = KERNELS }
  for _, case in ipairs(cases) do start(device, module, case) end
  for _, case in ipairs(project) do
    local templates = case.kernel:find "<" and { case.kernel } or nil
    start(device, device:module { file = case.file, templates = templates }, case)
  end
end

local function launches_of(source)
  return lists.map(counters.all(), function(one) return one.source == source and one or nil end)
end

-- ---- figures ------------------------------------------------------------------------------------

-- How far apart two values of a counter may be.
local function margin(counted, name)
  local kind = name:match "^(shared_%a+)_conflicts$" or name:match "^(shared_%a+)_wavefronts$"
  return kind and TOLERANCE * (counted[kind .. "_requests"] or 0) or 0
end

-- Compares the counters that both know; calls note(name, cpu, gpu, is_equal).
local function compare(cpu, gpu, note)
  for _, one in ipairs(counters.counted) do
    local a, b = cpu[one.name], gpu[one.name]
    if a and b then note(one.name, a, b, math.abs(a - b) <= margin(cpu, one.name)) end
  end
end

-- The same of lines: what one device has and the other not is nothing there. By line ncu counts a request of warps
-- that skip an instruction by a predicate: unless they are asked for, requests are compared in total only.
local function compare_lines(cpu, gpu, note, with_requests)
  local by_line = {}
  for which, launch in ipairs { cpu, gpu } do
    for _, line in ipairs(launch.lines) do
      by_line[line.line] = by_line[line.line] or {}
      by_line[line.line][which] = line
    end
  end
  for _, number in ipairs(lists.keys(by_line)) do
    local a, b = by_line[number][1], by_line[number][2]
    for _, one in ipairs(counters.counted) do
      local name = one.name
      local have, other = a and a[name] or 0, b and b[name]
      if (other or have > 0) and gpu[name] and (with_requests or not name:find "requests$") then
        local apart = math.abs(have - (other or 0))
        note(("line %d, %s"):format(number, name), have, other or 0, apart <= margin(a or {}, name))
      end
    end
  end
end

-- ---- the comparison -----------------------------------------------------------------------------

local total = { equal = 0, other = 0 }
local by_kernel, differing = {}, {}

local function noter(case, part)
  local new = { kernel = case.kernel, launches = 0, totals = 0, lines = 0, equal = 0, is_divergent = case.is_divergent }
  local row = lists.entry(by_kernel, by_kernel, case.kernel, new)
  return function(name, cpu, gpu, is_equal)
    row[part] = row[part] + 1
    total[is_equal and "equal" or "other"] = total[is_equal and "equal" or "other"] + 1
    if is_equal then
      row.equal = row.equal + 1
    else
      differing[#differing + 1] = ("%-28s %-36s cpu %10d  ncu %10d"):format(case.name, name, cpu, gpu)
    end
  end, row
end

local function compare_case(case, cpu, gpu)
  local note, row = noter(case, "totals")
  row.launches = row.launches + 1
  if gpu.kernel ~= case.kernel then
    differing[#differing + 1] = ("%-28s is launch '%s' of ncu"):format(case.name, gpu.kernel)
    total.other = total.other + 1
    return
  end
  compare(cpu, gpu, note)
  if #gpu.lines > 0 then compare_lines(cpu, gpu, (noter(case, "lines"))) end
end

-- What the devices count of a kernel of the project, where it differs.
local function show_other(case, cpu, gpu)
  local lines = {}
  local function note(name, a, b, is_equal)
    if not is_equal then lines[#lines + 1] = ("  %-36s cpu %10d  ncu %10d"):format(name, a, b) end
  end
  compare(cpu, gpu, note)
  if #gpu.lines > 0 then compare_lines(cpu, gpu, note, true) end
  print(("%s %s%s"):format(case.file, case.kernel, #lines == 0 and ": equal" or ""))
  if #lines > 0 then print(table.concat(lines, "\n")) end
end

local function show(title, is_divergent)
  print(title)
  print(("%-24s %9s %9s %9s %7s"):format("kernel", "launches", "figures", "by line", "equal"))
  for _, row in ipairs(by_kernel) do
    if row.is_divergent == is_divergent then
      print(("%-24s %9d %9d %9d %7s"):format(row.kernel, row.launches, row.totals, row.lines,
        row.equal == row.totals + row.lines and "all" or row.equal))
    end
  end
end

local function show_all(gpu, with_lines)
  print(("structural counters of %s by ncu against the CPU device"):format(gpu:name()))
  show("", false)
  show("\nlanes that part and meet again", true)
  if not with_lines then print "\nby line: ncu has no lines" end
  if #differing > 0 then print "\nwhat differs" end
  for i = 1, math.min(#differing, MOST_SHOWN) do print(differing[i]) end
  if #differing > MOST_SHOWN then print(("and %d more"):format(#differing - MOST_SHOWN)) end
  print(("%d passed, %d failed"):format(total.equal, total.other))
end

local gpu = mw.device()
launch_all(gpu)
if gpu:properties().checks then return end -- under ncu

local by_ncu, count = launches_of "ncu", #cases + #project
if #by_ncu ~= count then error(("%d launches, of which ncu has counted %d"):format(count, #by_ncu)) end
launch_all(mw.device("cpu", { check = { counters = true } }))
local by_cpu = launches_of "cpu"
print "what compilers make of the project's kernels"
for i, case in ipairs(project) do show_other(case, by_cpu[#cases + i], by_ncu[#cases + i]) end
print()
for i, case in ipairs(cases) do compare_case(case, by_cpu[i], by_ncu[i]) end
show_all(gpu, lists.find(by_ncu, function(one) return #one.lines > 0 end))
if total.other > 0 then os.exit(3, true) end
