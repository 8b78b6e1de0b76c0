-- SPDX-License-Identifier: MIT
--
-- Structural counters of a GPU by ncu against those of the CPU device, by kernel and by line: of the kernels of
-- tests/kernels/counters.cu, where all figures are to be equal (tests/support/counters_compare.lua), and of some of the
-- project's own (tests/support/counters_project.lua), where each line that differs is to have its reason. `make
-- check-gpu COUNTERS=1` runs it, as moonwarp run --counters tests/check/counters_gpu.lua. Prints tables of the kernels,
-- what differs, and last "N passed, N failed".

local mw = require "moonwarp"

local cases = require "tests.support.counters_cases"
local compare = require "tests.support.counters_compare"
local core = require "moonwarp.core"
local counters = require "moonwarp.measure.counters"
local lists = require "moonwarp.base.lists"
local project = require "tests.support.counters_project"

local KERNELS <const> = core.home() .. "/tests/kernels/counters.cu"
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

local total = { passed = 0, failed = 0 }

local function tell(is_passed, count)
  local name = is_passed and "passed" or "failed"
  total[name] = total[name] + (count or 1)
end

-- ---- kernels whose figures are equal ------------------------------------------------------------

local by_kernel, wrong = {}, {}

local function add(row, part, figures, name)
  local differing = compare.differing(figures)
  row[part], row.equal = row[part] + #figures, row.equal + #figures - #differing
  for _, one in ipairs(differing) do
    local place = one.line and ("line %d, "):format(one.line) or ""
    wrong[#wrong + 1] = ("%-28s %-36s cpu %10d  ncu %10d"):format(name, place .. one.name, one.cpu, one.gpu)
  end
  tell(true, #figures - #differing)
  tell(false, #differing)
end

local function compare_case(case, cpu, gpu)
  local row = lists.entry(by_kernel, by_kernel, case.kernel, { kernel = case.kernel, launches = 0, totals = 0,
    lines = 0, equal = 0, is_divergent = case.is_divergent })
  row.launches = row.launches + 1
  if gpu.kernel ~= case.kernel then
    wrong[#wrong + 1] = ("%-28s is launch '%s' of ncu"):format(case.name, gpu.kernel)
    return tell(false)
  end
  add(row, "totals", compare.totals(cpu, gpu), case.name)
  add(row, "lines", compare.lines(cpu, gpu), case.name)
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

-- ---- the project's kernels ----------------------------------------------------------------------

-- The reason why a line differs; nil if none is known. The CPU device's compilers join accesses under line 0.
local function reason(case, line)
  return line.line == 0 and "accesses of several lines, which the CPU device's compiler has joined"
    or case.differs and case.differs[line.text]
end

local function show_figure(one)
  print(("    %-34s cpu %8d  ncu %8d"):format(one.name, one.cpu, one.gpu))
end

-- Prints the lines that differ; a total that differs though no line does has no reason.
local function show_lines(case, totals, lines)
  local last
  for _, one in ipairs(lines) do
    if one.line ~= last then
      local why = reason(case, one)
      print(("  line %d  %s\n    %s"):format(one.line, one.text or "", why or "NO REASON IS KNOWN"))
      tell(why ~= nil)
      last = one.line
    end
    show_figure(one)
  end
  if #lines > 0 then return end
  print "  no line differs"
  for _, one in ipairs(totals) do show_figure(one) end
  tell(false)
end

local function show_project(case, cpu, gpu)
  local all = lists.append(compare.totals(cpu, gpu), compare.lines(cpu, gpu))
  local totals, lines = compare.differing(compare.totals(cpu, gpu)), compare.differing(compare.lines(cpu, gpu))
  local count = #totals + #lines
  print(("%s %s: %s"):format(case.file, case.kernel, count == 0 and ("%d figures are equal"):format(#all)
    or ("%d of %d figures differ"):format(count, #all)))
  tell(true, #all - count)
  if count > 0 then show_lines(case, totals, lines) end
end

-- ---- the comparison -----------------------------------------------------------------------------

local gpu = mw.device()
launch_all(gpu)
if gpu:properties().checks then return end -- under ncu

local by_ncu, count = launches_of "ncu", #cases + #project
if #by_ncu ~= count then error(("%d launches, of which ncu has counted %d"):format(count, #by_ncu)) end
launch_all(mw.device("cpu", { check = { counters = true } }))
local by_cpu = launches_of "cpu"

print(("structural counters of %s by ncu against the CPU device"):format(gpu:name()))
for i, case in ipairs(cases) do compare_case(case, by_cpu[i], by_ncu[i]) end
show("", false)
show("\nlanes that part and meet again", true)
if #wrong > 0 then print "\nwhat differs" end
for i = 1, math.min(#wrong, MOST_SHOWN) do print(wrong[i]) end
if #wrong > MOST_SHOWN then print(("and %d more"):format(#wrong - MOST_SHOWN)) end
print "\nwhat compilers make of the project's kernels"
for i, case in ipairs(project) do show_project(case, by_cpu[#cases + i], by_ncu[#cases + i]) end
if not lists.find(by_ncu, function(one) return #one.lines > 0 end) then
  print "\nncu has no lines"
  tell(false)
end
print(("%d passed, %d failed"):format(total.passed, total.failed))
if total.failed > 0 then os.exit(3, true) end
