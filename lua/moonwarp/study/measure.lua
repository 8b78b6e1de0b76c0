-- SPDX-License-Identifier: MIT
--
-- One case of a part: its variants are checked, then timed in turn, then recorded, with their share of
-- the level. Each turn is noted in the run's journal as soon as it is over, so that a run that is killed
-- keeps what it has measured.

local answers = require "moonwarp.study.answers"
local bench = require "moonwarp.measure.bench"
local blame = require "moonwarp.study.blame"
local case = require "moonwarp.study.case"
local contest = require "moonwarp.measure.contest"
local counter_cases = require "moonwarp.study.counter_cases"
local counters = require "moonwarp.measure.counters"
local lists = require "moonwarp.base.lists"
local parameters = require "moonwarp.study.parameters"
local range = require "moonwarp.measure.range"
local record = require "moonwarp.results.record"
local session = require "moonwarp.session"
local shares = require "moonwarp.study.shares"
local stats = require "moonwarp.measure.stats"
local units = require "moonwarp.base.units"

local measure = {}

-- ---- variants ------------------------------------------------------------------------------------

--- The fastest of the variants of the whole size that are right and fit; nil if none.
---@param list table[]   variants
---@param fits fun(one: table): boolean
---@return table? one
function measure.fastest(list, fits)
  local best
  for _, one in ipairs(list) do
    if not (one.partial or one.rung.mistake) and fits(one) and not (best and best.rate >= one.rate) then best = one end
  end
  return best
end

--- The fastest over all cases of a part; nil if it has not been measured.
---@param study table
---@param part string
---@param fits fun(one: table): boolean
---@return table? one
function measure.best(study, part, fits)
  local all = {}
  for _, result in ipairs(study.state.results[part] or {}) do lists.append(all, result.list) end
  return measure.fastest(all, fits)
end

-- The blocks of a rung in a part: all, or the one that was best in the first part.
local function blocks_of(study, part, rung)
  if part.blocks ~= "best" or #rung.blocks == 1 then return rung.blocks end
  local best = measure.best(study, study.state.parts[1].name, function(one) return one.rung == rung end)
  return { best and best.block or rung.blocks[1] }
end

-- The case that a variant runs on: that of the part, or its own smaller one or that on another device, made once. On
-- another device the references are those of the part's case.
local function place_of(study, part, rung, block, main)
  local sides, on = rung.sides and rung.sides(main.case, case.block_of(main.case, block)), case.on(study, rung.device)
  if not sides and on == study then return main end
  local own = lists.merged(sides or main.case.sides, { type = sides and sides.type or main.case.type })
  local key = ("%s, %s"):format(answers.sides_text(case.bare(study, own)), on.dev:id())
  main.others[key] = main.others[key]
    or { case = case.new(on, own, part), refs = sides and {} or main.refs, partial = sides ~= nil }
  return main.others[key]
end

local function new_variant(study, part, rung, block, main)
  local place = place_of(study, part, rung, block, main)
  local go, made = case.launcher(rung, place.case, block) -- without the first the second is why
  if not go then return nil, made end
  return { rung = rung, block = case.block_of(place.case, block), case = place.case, refs = place.refs,
           partial = place.partial, go = go, has_error = part.error, made = made }
end

-- The variants of a rung that are right, or mistakes that may be measured; others are reported to `skip`.
local function checked(study, part, rung, main, skip)
  local list = {}
  local is_here = not study.state.wrong[rung] and not (rung.when and not rung.when(main.case))
  for _, block in ipairs(is_here and blocks_of(study, part, rung) or {}) do
    local one, reason = new_variant(study, part, rung, block, main)
    local ok = one ~= nil
    if one then ok, reason = answers.check(study, one) end
    if ok then ok, reason = answers.observe(study, one) end
    if ok then list[#list + 1] = one else skip(rung, block, reason, one ~= nil and not rung.mistake) end
  end
  return list
end

-- The variants of a case, in the order of the rungs; mistakes are compared with what is right, other devices with the
-- study's, and so come last.
local function variants_of(study, part, main, skip)
  local by_rung, last = {}, {}
  local function is_late(rung) return rung.mistake or rung.device end
  local order = lists.append(lists.filter(part.chosen, function(rung) return not is_late(rung) end),
    lists.filter(part.chosen, function(rung) return is_late(rung) end))
  for i, rung in ipairs(order) do last[rung.answer] = i end
  for i, rung in ipairs(order) do
    by_rung[rung] = checked(study, part, rung, main, skip)
    if last[rung.answer] == i then answers.shrink(main.refs, study.answer_named[rung.answer]) end
  end
  local list = {}
  for _, rung in ipairs(part.chosen) do lists.append(list, by_rung[rung]) end
  return list
end

-- ---- rates --------------------------------------------------------------------------------------

--- The bytes that a call of a rung moves.
---@param study table
---@param rung table
---@param c table
---@return number
function measure.bytes(study, rung, c)
  if rung.bytes then return rung.bytes(c, rung) end
  return answers.bytes(c, rung, study.answer_named[rung.answer])
end

-- What a call does, in units of the rate: what the part counts where the rate is its own, else the answer or the study;
-- else the bytes that it moves.
local function work_of(study, part, one)
  local count = not part.rate and study.answer_named[one.rung.answer].work or study.work
  local work = count and count(one.case, one.rung) or not count and measure.bytes(study, one.rung, one.case)
  if type(work) == "number" and work > 0 and work < math.huge then return work end
  blame.fail(one.rung, nil, "what a call does, from 'bytes' or 'work', must be a number above 0, got %s", work)
end

-- The one that the level names.
local function level_of(study, part, list)
  local names = lists.set(lists.of(part.level or study.head.level))
  return measure.fastest(list, function(one)
    return not one.rung.device and (names[one.rung.name] or names[one.rung.answer])
  end)
end

-- A level whose arrays stay in a cache is not the memory's.
local function note_cache(study, level)
  if not level or study.work then return end
  local bytes, cache = measure.bytes(study, level.rung, level.case), study.dev:properties().cache_bytes
  if bytes > cache then return end
  table.insert(level.t.warnings, { cause = ("its %s fit into the cache of %s"):format(units.format(bytes, "iB", 3),
    units.format(cache, "iB", 3)), remedy = "the level is the cache's rate; a larger size has the memory's" })
end

local PACE, LEAST = 0.05, 3 -- a change of pace that is reported, and the samples that distinguish it from noise

-- How the level's time changed while the case was measured: its last turns compared with its first ones, and whether
-- that is a change of pace and not noise.
local function drift_of(level)
  local t = level.t
  local count = math.max(1, #t.turns // 3)
  local first, last = contest.samples(t, 1, count), contest.samples(t, #t.turns - count + 1, #t.turns)
  local effect = stats.effect(last, first)
  local is_sure = math.min(#first, #last) >= LEAST and (effect.low > 1 + PACE or effect.high < 1 / (1 + PACE))
  return effect.ratio - 1, is_sure
end

--- The peak that the study or the device gives.
---@param study table
---@return table? peak   value, label
function measure.peak(study)
  if study.head.peak then return study.head.peak(study.dev) end
  local value = not study.work and study.dev:peak_bandwidth()
  return value and { value = value, label = "theoretical peak" } or nil
end

-- ---- records ------------------------------------------------------------------------------------

-- Numbers that were measured, as floats: a whole number in a record is one that was chosen.
local function add_measured(values, more)
  for key, value in pairs(more or {}) do
    values[key] = math.type(value) == "integer" and value + 0.0 or value
  end
end

--- The value of a source for a variant, in the rate's unit, or nil.
---@param source table
---@param one table      rung, block, case
---@param name string?   of an answer, whose value is wanted instead of the rung's
---@return number?
function measure.source_value(source, one, name)
  local when = source.when
  if type(when) == "function" then when = when(one.case) or false end
  if when == false then return nil end
  local value = source.values[name or one.rung.name]
  if type(value) == "function" then value = value(one.case, one.block) end
  if type(value) == "table" then value = value[answers.block_text(one.block) or ""] end
  return value
end

-- What was chosen, before it is measured.
local function fields_of(study, part, one)
  local rung, c = one.rung, one.case
  local series = case.called(rung.series, c, one.block) or rung.name .. (rung.mistake and ", wrong" or "")
  local values = { study = session.current:script(), group = part.name, number = rung.number, rung = rung.name,
                   series = series, block = answers.block_text(one.block),
                   threads = one.block and case.product(one.block) or nil }
  local own = lists.merged(c.sides, case.called(rung.fields, c, one.block, one.made))
  for name, value in pairs(own) do
    local problem = name ~= "bytes" and parameters.problem(study, name)
    if problem then blame.fail(rung, "fields", "%s", problem) end
    if values[name] ~= nil and values[name] ~= value then
      blame.fail(rung, nil, "its record has %s = %s, and a side or a field of that name %s", name, values[name], value)
    end
  end
  values = lists.merged(values, own)
  values.type, values.bytes = c.type, rawget(c, "bytes") or answers.output(study, rung, c):nbytes()
  values.units = study.head.units
  return values
end

-- The greatest and the root mean square of the differences from the reference; what is not a number is infinitely off.
local function errors_of(report)
  local most = report.max_abs
  return most == most and most or math.huge, report.rms
end

-- The least of the ceilings that are known, and the rate's share of it. Those of a rung and of the study are in the
-- study's rate.
local function add_bound(study, part, one)
  local bound, least = part.bound or not part.rate and (one.rung.bound or study.head.bound), math.huge
  local ceilings = bound and table.pack(bound(one.case, one.rung, one.values)) or { n = 0 }
  for i = 1, ceilings.n do least = math.min(least, ceilings[i] or math.huge) end
  if least <= 0 then blame.fail(one.rung, "bound", "a ceiling is a number above 0, got %s", least) end
  if least < math.huge then one.values.bound, one.values.of_bound = least + 0.0, one.rate / least end
end

local function add_results(study, part, one, level)
  local values = one.values
  values.t, values[study.rate] = one.t, one.rate
  values.share = level and not (one.partial or one.rung.device) and one.rate / level.rate or nil
  if one == level then values.drift, one.is_drifting = drift_of(level) end
  local peak = not one.rung.device and measure.peak(study)
  values.of_peak = peak and one.rate / peak.value or nil
  if one.report and one.report.rms then values.error, values.error_rms = errors_of(one.report) end
  for _, name in ipairs { "joules", "power", "idle_power" } do values[name] = one.t.energy and one.t.energy[name] end
  add_measured(values, one.observed)
  add_bound(study, part, one)
  for _, source in ipairs(study.source_list) do
    if source.field then values[source.field] = measure.source_value(source, one) end
  end
end

-- The units of the fields that a record has: those that the study gives, of what is in the rate's, and of counters.
local function units_of(study, part, values)
  local given, list = lists.merged({ [study.rate] = units.of(study.rate) }, study.head.units), {}
  for _, name in ipairs(counter_cases.asked(study, part) or {}) do given[name] = counters.unit(name) end
  for _, source in ipairs(study.source_list) do
    if source.field then given[source.field] = given[study.rate] end
  end
  given.joules, given.power, given.idle_power = "J", "W", "W"
  given.error_rms = given.error_rms or given.error
  given.bound = given.bound or values.of_bound and given[study.rate]
  for field, unit in pairs(given) do list[field] = values[field] ~= nil and unit ~= "" and unit or nil end
  return next(list) and list
end

-- ---- the case -----------------------------------------------------------------------------------

-- Notes each turn, and checks a variant once more after its last one.
local function watch_of(study, list, skip)
  return function(i, mode)
    local one = list[i]
    local from = mode.turns[#mode.turns]
    local samples = table.move(mode.samples, from, #mode.samples, 1, {})
    one.slice = record.slice(session.current, one.slice, one.values, samples, { [study.rate] = one.work })
    if not mode.done then return end
    local ok, reason = answers.check_timed(study, one)
    if not ok then
      one.is_wrong = true
      record.drop_slices(session.current, one.slice)
      skip(one.rung, one.block, reason, true)
    end
  end
end

local function limits_of(study, part)
  local seconds = study.p.seconds
  return { min_time = seconds, max_time = 3 * seconds, device = study.dev, clock = part.clock, batch = part.batch,
           energy = part.energy, more_time = "-p seconds=" }
end

local function time(study, part, list, skip)
  local contenders = lists.map(list, function(one)
    one.work, one.values = work_of(study, part, one), fields_of(study, part, one)
    add_measured(one.values, one.counters)
    return { name = answers.variant_text(one.rung, one.block), fn = one.go,
             bytes = not study.work and measure.bytes(study, one.rung, one.case) or nil,
             setup = study.answer_named[one.rung.answer].restart
               and function() answers.reset(study, one.rung, one.case) end or nil,
             device = one.case.dev, stream = one.rung.stream and one.case.gpu and one.case:stream() or nil }
  end)
  local results = bench.turns(session.current, contenders, limits_of(study, part), watch_of(study, list, skip))
  return lists.map(list, function(one, i)
    one.t, one.rate = results[i], one.work / results[i].median
    return not one.is_wrong and one or nil
  end)
end

local function close_all(main)
  answers.close(main.refs)
  for _, place in pairs(main.others) do
    if place.partial then answers.close(place.refs) end
    place.case:close()
  end
  main.case:close()
end

local function run(study, part, main, skip)
  local list = variants_of(study, part, main, skip)
  if #list == 0 or study.state.is_checked then return {} end
  for _, one in ipairs(list) do one.counters = counter_cases.of(study, part, main.case.sides, one) end
  list = time(study, part, list, skip)
  local level = level_of(study, part, list)
  note_cache(study, level)
  for _, one in ipairs(list) do add_results(study, part, one, level) end
  if part.derive then part.derive(lists.map(list, function(one) return one.values end), main.case) end
  for _, one in ipairs(list) do
    one.values.units = units_of(study, part, one.values)
    one.record = record.write(session.current, one.values, one.slice)
  end
  return list, level, lists.map(part.shares and list or {}, function(one)
    return shares.measure(study, one, limits_of(study, part))
  end)
end

--- Checks, times and records one case of a part.
---@param study table
---@param part table
---@param sides table
---@param skip fun(rung: table, block: any, reason: string, is_wrong: boolean)
---@return table result   sides and type, text (these in words), list (variants: rung, block, case's sides, t, rate,
---                       record), level (one of them), shares (records of the kernels of each list of launches)
function measure.case(study, part, sides, skip)
  local main <close> = setmetatable({ case = case.new(study, sides, part), refs = {}, others = {} },
    { __close = close_all })
  local _ <close> = range.open(answers.sides_text(main.case))
  local list, level, kernels = run(study, part, main, skip)
  return { sides = sides, type = main.case.type, list = list, level = level, shares = kernels,
           text = answers.sides_text(main.case) }
end

return measure
