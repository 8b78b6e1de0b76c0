-- SPDX-License-Identifier: MIT
--
-- The mistakes of a description that only the whole of it shows: names of rungs and answers that there
-- are not, columns that no record will have. What depends on a case is found on the odd sizes, before
-- anything is timed.

local blame = require "moonwarp.study.blame"
local counters = require "moonwarp.measure.counters"
local kinds = require "moonwarp.plot.kinds"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"
local parameters = require "moonwarp.study.parameters"

local validate = {}

local function check_names(entry, where, list, known)
  for _, name in ipairs(list) do
    if type(name) ~= "string" then
      blame.fail(entry, where, "the name of a rung or an answer is wanted, got %s", name)
    end
    blame.unknown(entry, where, "there is no rung or answer", name, known)
    if where and where ~= "rungs" and known[name].mistake then
      blame.fail(entry, where, "'%s' is a mistake, with which nothing is compared", name)
    end
  end
end

-- ---- answers and rungs ----------------------------------------------------------------------------

local function check_answers(study)
  for _, answer in ipairs(study.answer_list) do
    for _, needed in ipairs(answer.needs or {}) do
      blame.unknown(answer, "needs", "there is no rung", needed, study.rung_named)
      check_names(answer, "needs", { needed }, study.rung_named)
    end
    if not study.work and not answer.bytes then
      for _, rung in ipairs(study.rung_list) do
        if rung.answer == answer.name and not rung.bytes then
          blame.fail(answer, nil, "needs 'bytes', from which '%s' is made: names of arrays as \"A B\", or a function",
            study.rate)
        end
      end
    end
  end
end

-- ---- columns and charts ----------------------------------------------------------------------------

local OWN = lists.set(lists.append({ "type", "block", "threads" }, parameters.RECORDED))

-- The fields that the records of a part have; nil if functions add others.
local function fields_of(study, part)
  if part.derive or type(part.cases) == "function" then return nil end
  local known = lists.merged(lists.set(lists.keys(study.p)), lists.merged(OWN, { [study.rate] = true }))
  for _, name in ipairs { "bound", "of_bound", "error", "error_rms" } do known[name] = nil end
  for _, sides in ipairs(part.cases) do
    for name in pairs(sides) do known[name] = true end
  end
  for _, rung in ipairs(study.rung_list) do
    if part.bound or not part.rate and (rung.bound or study.head.bound) then
      known.bound, known.of_bound = true, true
    end
    if part.error or rung.measure then known.error, known.error_rms = true, true end
    if rung.observe or rung.sides or type(rung.fields) == "function" then return nil end
    for name in pairs(rung.fields or {}) do known[name] = true end
  end
  for _, source in ipairs(study.source_list) do
    if source.field then known[source.field] = true end
  end
  for _, name in ipairs(part.counters or study.head.counters or {}) do known[name] = true end
  return known
end

local function check_field(part, where, field, known)
  if type(field) ~= "string" then
    blame.fail(part, where, "a field's name or { name, title = ... } is wanted, got %s", type(field))
  end
  local first = field:match "^[^.]+"
  if known and not known[first] then
    blame.fail(part, where, "no record has a field '%s'; %s", field, nearest.hint(first, known))
  end
end

--- What a chart may have.
validate.chart = { kind = true, x = true, y = true, by = true, of = true, logx = true, logy = true, name = true,
                   title = true, xlabel = true, ylabel = true, points = true, lines = true, xmin = true, xmax = true,
                   ymin = true, ymax = true }

-- The kinds that show records.
local CHARTS <const> = lists.set(lists.map(kinds.all, function(kind) return kind.merge and kind.name end))

local function check_chart(part, i, spec, known)
  local where = ("chart %d"):format(i)
  if type(spec) ~= "table" then blame.fail(part, where, "a table is wanted, got %s", type(spec)) end
  for key in pairs(spec) do blame.unknown(part, where, "unknown option", key, validate.chart) end
  if spec.kind then blame.unknown(part, where .. ", kind", "there is no kind of chart", spec.kind, CHARTS) end
  if spec.kind == "ladder" then return end
  if not spec.x and (spec.kind or "plot") == "plot" then
    blame.fail(part, where, "needs 'x', a field, or kind = \"ladder\"")
  end
  for _, key in ipairs { "x", "y", "by" } do
    if spec[key] and type(spec[key]) ~= "function" then check_field(part, where .. ", " .. key, spec[key], known) end
  end
end

-- ---- parts ---------------------------------------------------------------------------------------

-- A rung, or "best" and an answer.
local function check_ratio_side(study, part, name)
  local answer = not study.rung_named[name] and name:match "^best (.+)$"
  if answer then return blame.unknown(part, "ratios", "there is no answer", answer, study.answer_named) end
  blame.unknown(part, "ratios", "there is no rung", name, study.rung_named)
  check_names(part, "ratios", { name }, study.rung_named)
end

local function check_ratios(study, part)
  for _, text in ipairs(part.ratios or {}) do
    local above, below = tostring(text):match "^(.-) / (.+)$"
    if not above then blame.fail(part, "ratios", "'%s' must be as \"naive / triad\"", tostring(text)) end
    check_ratio_side(study, part, above)
    check_ratio_side(study, part, below)
  end
end

local function check_part_rungs(study, part, known)
  if type(part.rungs) == "table" then return check_names(part, "rungs", part.rungs, known) end
  local any = lists.find(study.rung_list, function(rung) return not part.rungs or part.rungs(rung) end)
  if not any then blame.fail(part, "rungs", "none of the study's rungs is in it") end
end

local CHOICES = { blocks = { best = true }, rows = { best = true, all = true }, clock = { host = true, device = true } }

local function check_choices(part)
  for field, choices in pairs(CHOICES) do
    if part[field] then blame.unknown(part, field, "no such choice", part[field], choices) end
  end
end

-- The sides that cases of parts have; nil if a function gives them.
local function sides_of(parts)
  local sides = {}
  for _, part in ipairs(parts) do
    if type(part.cases) == "function" then return nil end
    for _, one in ipairs(part.cases or {}) do sides = lists.merged(sides, lists.set(lists.keys(one))) end
  end
  return sides
end

local function check_each(part)
  local sides = sides_of { part }
  if part.each and sides then blame.unknown(part, "each", "no case has a side", part.each, sides) end
end

-- { "sectors_per_request", at = { n = 4096 } }; parts: that it is about
local function check_counters(entry, parts)
  local given = entry.counters
  if not given then return end
  local names = lists.map(given, function(name) return name end)
  local is_small = type(given.at) == "table" or type(given.at) == "function"
  if #names == 0 or not is_small or #lists.keys(given) > #names + 1 then
    blame.fail(entry, "counters", "names, and the sides of a small case are wanted, as in "
      .. '{ "sectors_per_request", at = { n = 4096 } }')
  end
  for _, name in ipairs(names) do
    local problem = counters.problem(name)
    if problem then blame.fail(entry, "counters", "%s", problem) end
  end
  local sides = type(given.at) == "table" and sides_of(parts)
  for _, name in ipairs(sides and lists.keys(given.at) or {}) do
    if name ~= "type" then blame.unknown(entry, "counters", "no case has a side", name, sides) end
  end
end

local function check_part(part, known)
  if part.run then return end
  local study = part.study
  check_choices(part)
  check_counters(part, { part })
  check_each(part)
  check_names(part, "level", lists.of(part.level), known)
  if not (part.odd or study.head.odd) then
    blame.fail(part, nil, "needs 'odd', the sides of cases that no block divides, or mw.study has it: { { n = 1001 } }")
  end
  check_part_rungs(study, part, known)
  check_ratios(study, part)
  local fields = fields_of(study, part)
  for _, column in ipairs(part.table or {}) do
    check_field(part, "table", lists.of(column)[1], fields)
  end
  for i, spec in ipairs(part.charts or {}) do check_chart(part, i, spec, fields) end
end

local function check_sources(study, known)
  for _, source in ipairs(study.source_list) do
    check_names(source, nil, lists.keys(source.values), known)
    if OWN[source.field] or source.field == study.rate then
      blame.fail(source, "field", "records have a '%s' of their own", source.field)
    end
  end
end

--- Raises the first mistake.
---@param study table
function validate.check(study)
  local known = lists.merged(study.rung_named, study.answer_named)
  if #study.rung_list > 0 and #study.part_list == 0 then
    blame.fail(study.head, nil, "the rungs are in no part; add study:part { \"ladder\", cases = { ... } }")
  end
  if #study.rung_list == 0 and not study.last then
    blame.fail(study.head, nil, "there are no rungs, and nothing is run at last")
  end
  if #study.rung_list > 0 and study.head.seconds == false then
    blame.fail(study.head, "seconds", "rungs are timed; leave out seconds = false")
  end
  check_names(study.head, "level", lists.of(study.head.level), known)
  check_counters(study.head, study.part_list)
  check_answers(study)
  check_sources(study, known)
  for _, part in ipairs(study.part_list) do check_part(part, known) end
end

return validate
