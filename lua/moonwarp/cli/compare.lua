-- SPDX-License-Identifier: MIT
--
-- moonwarp compare A B.

local exit = require "moonwarp.base.exit"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"
local runs = require "moonwarp.cli.runs"
local sheet = require "moonwarp.base.sheet"
local units = require "moonwarp.base.units"

local compare = { most = 2, least = 2, wants = "compare wants two runs; moonwarp compare --help says which" }

local function check_threshold(text)
  local value = tonumber((text:gsub("%%$", "")))
  if not value or value < 0 or value > 1000 then
    options.fail("option '--threshold' wants a percentage, as 2 or 2%%, got '%s'", text)
  end
  return value / 100
end

local function check_count(text)
  local value = math.tointeger(tonumber(text))
  if not value or value < 1 or value > 1000 then
    options.fail("option '--runs' wants a number of runs, as 3, got '%s'", text)
  end
  return value
end

compare.options = {
  { flag = "--runs", show = "N", value = "a number of runs", check = check_count,
    help = "the N newest runs of each side: what runs of one thing differ by is in the interval then" },
  { flag = "--threshold", show = "PERCENT", value = "a percentage", check = check_threshold,
    help = "the largest difference that counts as the same; else 2 on a GPU, 10 on the CPU device" },
  { flag = "--strict", help = "status 6 where something is unclear" },
  { flag = "--json", help = "the result as JSON" },
  { flag = "--all", help = "measurements that are the same, too" },
  runs.OUT,
}

compare.usage = [[
usage: moonwarp compare A B [options]

Judges every measurement of run B beside the same one of run A: same, faster, slower or unclear, with
a 95 % interval of the ratio. Of benchmarks it takes the samples, of values with an interval that; a
plain number with a unit is the same or changed. A and B are folders of runs, folders
with runs below them, or studies: the newest run is taken. One run doesn't know what the next run of
the same thing differs by; three of each side (--runs 3) do.]]

compare.example = [[
moonwarp run memcopy -p n=512 -p parts=ladder --out before
moonwarp run memcopy -p n=512 -p parts=ladder --out after
moonwarp compare before after --all]]

compare.notes = [[
exit status: 0 nothing is slower or missing in B, 5 something is, 6 with --strict: nothing is, but something is
unclear, 2 wrong use]]

local SIGNS = { same = "=", faster = "+", slower = "-", changed = "~", unclear = "?" }

local COLUMNS <const> = {
  { heading = "", cell = function(row) return SIGNS[row.verdict] end }, { heading = "measurement", cell = "label" },
  { heading = "A", number = true, cell = function(row) return units.format(row.a.value, row.a.unit) end },
  { heading = "B", number = true, cell = function(row) return units.format(row.b.value, row.b.unit) end },
  { heading = "B over A", number = true, cell = function(row) return row.ratio and units.change(row.ratio) or "-" end },
  { heading = "95 % interval", cell = function(row)
    return row.low and row.low ~= row.high and ("%8s to %8s"):format(units.change(row.low), units.change(row.high))
  end },
  { heading = "", cell = function(row) return row.why and ("%s: %s"):format(row.verdict, row.why) or row.verdict end },
}

local function print_rows(result, all)
  sheet.print(COLUMNS, lists.filter(result, function(row) return all or row.verdict ~= "same" end))
end

local function print_list(what, labels)
  if #labels > 0 then print(("%s: %s"):format(what, table.concat(labels, "; "))) end
end

local function percent(share)
  return units.digits(share * 100, 2) .. " %"
end

local function print_runs(name, list)
  for _, run in ipairs(list) do
    print(("%s  %s: %s"):format(name, run.folder, runs.label(run)))
    local caution = runs.caution(run)
    if caution then print("note: " .. caution) end
  end
end

local function print_text(before, after, result, everything)
  print_runs("A", before)
  print_runs("B", after)
  for _, run in ipairs(lists.append(lists.append({}, before), after)) do
    if run.device_name ~= before[1].device_name then
      print "note: these runs were measured on different devices"
      break
    end
  end
  if result.apart then print("no measurement is in both: " .. result.apart) end
  if result.apart and not everything then return end
  print_rows(result, everything)
  print_list("missing in B", result.missing)
  print_list("new in B", result.new)
  local counts = result.counts
  local within = percent(result.threshold)
  if result.floor > 0 then within = ("%s or %s"):format(within, units.format(result.floor, "s", 2)) end
  if result.single ~= result.threshold and lists.find(result, function(row) return row.is_single end) then
    within = ("%s, without samples %s"):format(within, percent(result.single))
  end
  print(("%d measurements: %d same (within %s), %d faster, %d slower, %d unclear%s"):format(#result,
    counts.same, within, counts.faster, counts.slower, counts.unclear,
    counts.changed > 0 and (", %d changed"):format(counts.changed) or ""))
end

local function as_json(before, after, result)
  local a, b, json = before[#before], after[#after], require "moonwarp.base.json"
  local rows = lists.map(result, function(row)
    return lists.merged(row, { a = row.a.value, b = row.b.value, unit = row.a.unit })
  end)
  return json.encode { a = a.folder, b = b.folder, threshold = result.threshold, measurements = json.as_list(rows),
    missing = json.as_list(result.missing), new = json.as_list(result.new), counts = result.counts,
    apart = result.apart }
end

--- The command.
---@param parsed table
---@return integer? status
function compare.run(parsed)
  local before, after = runs.newest(parsed[1], parsed.runs or 1), runs.newest(parsed[2], parsed.runs or 1)
  local a, b = before[#before], after[#after]
  if a.folder == b.folder then options.fail("'%s' and '%s' name the same run, %s", parsed[1], parsed[2], a.folder) end
  local result = require("moonwarp.results.compare").several(before, after, parsed.threshold)
  if #result + #result.missing == 0 then
    options.fail("%s has no measurements: its script records no result of mw.bench and no number with a unit", a.folder)
  end
  if #result == 0 then result.apart = require("moonwarp.results.difference").text(a, b) end
  if parsed.json then print(as_json(before, after, result)) else print_text(before, after, result, parsed.all) end
  if result.counts.slower > 0 or #result.missing > 0 then return exit.SLOWER end
  return parsed.strict and result.counts.unclear > 0 and exit.UNCLEAR or exit.OK
end

return compare
