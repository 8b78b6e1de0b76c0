-- SPDX-License-Identifier: MIT
--
-- The lines of a journal as one record. A line is { kind =, value = }; what each kind holds is in
-- docs/record.md.

local contest = require "moonwarp.measure.contest"
local json = require "moonwarp.base.json"
local lists = require "moonwarp.base.lists"
local stats = require "moonwarp.measure.stats"

local fold = {}

--- The schema's name; the number grows when a reader of the old one would be wrong.
fold.SCHEMA = "moonwarp-record/1"

--- The most bytes of a record or a journal that are read.
fold.MOST_BYTES = 16 << 20

--- The keys that lead in record.json.
fold.ORDER = { "schema", "study", "device", "device_name", "date", "status", "exit", "seconds" }

local LISTS = { record = "records", check = "checks", chart = "charts", table = "tables",
                remark = "remarks", picture = "pictures", source = "sources", failure = "failures",
                finding = "findings", warning = "warnings", counters = "counters" }

-- A chart or table drawn again by the same name is the same one, later. places: where a name is in a list.
local function add(list, value, places)
  local place = places[value.name] or #list + 1
  list[place], places[value.name or value] = value, place
end

-- ---- turns whose records never came ---------------------------------------------------------------

-- The samples of one contender's turns; the first of them has the record's fields.
local function add_slice(open, value)
  local contender = open.by_number[value.contender]
  if not contender then
    contender = { record = value.record, work = value.work, samples = {}, turns = {} }
    open.by_number[value.contender], open[#open + 1] = contender, contender
  end
  table.insert(contender.turns, #contender.samples + 1)
  table.move(value.samples, 1, #value.samples, #contender.samples + 1, contender.samples)
end

-- A record of what was measured until the run was killed.
local function unfinished_record(contender)
  local record, t = contender.record, stats.summary(contender.samples)
  t.samples, t.turns = contender.samples, contender.turns
  t.low, t.high = contest.interval(t)
  record.t, record.unfinished = t, true
  for rate, work in pairs(t.median > 0 and contender.work or {}) do record[rate] = work / t.median end
  return record
end

local OWN = { run = true, ["end"] = true } -- kinds with keys of the run itself

-- Adds a line to the lists, to the run's own keys, or to the turns that are open. Other kinds are of a later version.
local function add_line(lists_of, own, open, line)
  local list = LISTS[line.kind]
  if line.kind == "slice" then
    add_slice(open, line.value)
  elseif line.kind == "slices_dropped" then
    open.by_number[line.value.contender].is_settled = true
  elseif line.kind == "record" or line.kind == "check" then
    table.insert(lists_of[list], line.value)
    if line.contender then open.by_number[line.contender].is_settled = true end
  elseif list then
    add(lists_of[list], line.value, open.places[list])
  elseif OWN[line.kind] then
    for key, value in pairs(line.value) do own[key] = value end
  end
end

--- One record from the lines of a journal, in their order. Without an end it is "unfinished".
---@param lines table[]  in order (results/record_schema.lua)
---@return table
function fold.lines(lines)
  local own, open, lists_of = { status = "unfinished" }, { by_number = {}, places = {} }, {}
  for _, list in pairs(LISTS) do lists_of[list], open.places[list] = json.as_list {}, {} end
  for _, line in ipairs(lines) do add_line(lists_of, own, open, line) end
  for _, contender in ipairs(open) do
    if not contender.is_settled then table.insert(lists_of.records, unfinished_record(contender)) end
  end
  return lists.merged(own, lists_of)
end

return fold
