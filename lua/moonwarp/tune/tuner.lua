-- SPDX-License-Identifier: MIT
--
-- A tuning: a search over a space (search.lua), whose every variant is made, verified, timed and noted as a record;
-- then the best ones in turn until they separate (finals.lua). A job says how:
--
--   name, space, search, options of the search (seed, most, start), time_limit, resume (rows of a run that was killed)
--   objectives     one or two of "t", "energy", "error"; within: the most seconds of a variant
--   device, min_time
--   make(i)        a function that runs variant i once; nil and a reason
--   verify(i, go, look)  nil if it is right, else why it is wrong; and its error. look: how often it has been looked at
--   modules(i)     options of the modules that it needs, to be compiled ahead; may be absent
--   measure(list, min_time)   results of { name =, fn = } as of mw.bench, in turn; bench.turns where it is absent
--   bytes(i), flops(i), setup(i)   of mw.bench; may be absent
--   prefer(i)      what is less for a simpler variant; where it is absent, or equal, the first in the space's order

local ahead = require "moonwarp.tune.ahead"
local bench = require "moonwarp.measure.bench"
local checking = require "moonwarp.measure.checking"
local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local finals = require "moonwarp.tune.finals"
local lists = require "moonwarp.base.lists"
local objective = require "moonwarp.tune.objective"
local quantity = require "moonwarp.measure.quantity"
local record = require "moonwarp.results.record"
local search = require "moonwarp.tune.search"
local units = require "moonwarp.base.units"
local variant = require "moonwarp.tune.variant"

local tuner = {}

-- Of a variant in the search; the best ones are compared in turn. Between two samples a device waits for the host.
local NOISE <const>, FILL <const> = 0.02, 20

-- ---- measuring ----------------------------------------------------------------------------------

-- Reading a device's state takes longer than a variant of the search: of one alone it is not read.
local function measured(state, list, min_time)
  local job = state.job
  if job.measure then return job.measure(list, min_time) end
  local is_search = #list == 1
  local session = is_search and setmetatable({ device = function() end }, { __index = state.quiet }) or state.quiet
  return bench.turns(session, list, { min_time = min_time, max_time = 3 * min_time, min_samples = 5, quiet = true,
    noise = is_search and NOISE or nil, fill = is_search and FILL or nil,
    energy = lists.has(job.objectives, "energy") or nil })
end

local function leave_out(row, reason)
  row.reason, row.value = reason, nil
end

-- Rows as what mw.bench measures. Each of its calls says that its variant runs: an error is that one's.
local function contenders_of(state, rows)
  local job = state.job
  return lists.map(rows, function(row)
    local go, setup = row.go, job.setup and job.setup(row.number)
    return { name = job.space:text(row.number), device = job.device, bytes = job.bytes and job.bytes(row.number),
             flops = job.flops and job.flops(row.number),
             fn = function()
               state.running = row
               return go()
             end,
             setup = setup and function()
               state.running = row
               setup()
             end }
  end)
end

-- Times variants in turn. One that fails, or has no time, gets a reason; the others are returned, each with
-- its result.
local function time(state, rows, min_time)
  while #rows > 0 do
    state.running = rows[1]
    local done, results = variant.try(measured, state, contenders_of(state, rows), min_time)
    if done then
      return lists.map(rows, function(row, k)
        local alarm = (results[k].alarms or {})[1]
        row.result = results[k]
        if alarm then leave_out(row, "impossible: " .. alarm.cause) end
        return not alarm and row or nil
      end)
    end
    leave_out(state.running, results)
    rows = lists.map(rows, function(row) return not row.reason and row or nil end)
  end
  return rows
end

-- Its values of the objectives, and the one that is searched for.
local function take_result(state, row)
  local job, result = state.job, row.result
  row.t, row.energy = 1 * result, result.energy and result.energy.joules
  if job.within and result.median > job.within then
    row.reason = ("takes %s, %s are allowed"):format(units.format(result.median, "s"), units.format(job.within, "s"))
  elseif not row.reason then
    row.value = objective.value(row, job.objectives[1])
    if not row.value then row.reason = ("has no '%s'"):format(job.objectives[1]) end
  end
end

-- ---- one variant --------------------------------------------------------------------------------

local function make(state, row)
  local reason
  state.running = row
  row.go, reason = state.job.make(row.number)
  if not row.go then leave_out(row, reason) end
  return row.go and true
end

-- In check mode findings are the variant's, too.
local function finding_of(state)
  local found = state.is_checked and lists.find(state.session:settle_findings(), function(one)
    return not one.warning and not one.intended
  end)
  return found and "check mode: " .. found.kind or nil
end

local function verify(state, row)
  local wrong, err
  state.running, row.looks = row, (row.looks or 0) + 1
  wrong, err = state.job.verify(row.number, row.go, row.looks)
  row.error = err
  if wrong then leave_out(row, wrong) end
  return not wrong
end

-- It is verified after it was timed, since some are wrong only then; the best ones once more.
local function try(state, row, min_time)
  local is_made = make(state, row)
  if is_made and not state.is_checked then
    if time(state, { row }, min_time)[1] and verify(state, row) then take_result(state, row) end
    return
  end
  if is_made then verify(state, row) end
  local found = finding_of(state)
  if found then leave_out(row, found) end
end

local function is_better(state, row)
  return row.value and not (state.best and state.best.value <= row.value)
end

-- Finds the best anew.
local function renew(state)
  state.best = nil
  for _, row in ipairs(state.order) do
    if is_better(state, row) then state.best = row end
  end
end

-- A row of the history; what was measured are floats, as a whole number in a record is one that was chosen.
local function note(state, row, stage, more)
  local job = state.job
  local values = lists.merged(job.space.variants[row.number], more)
  values.tuning, values.variant, values.stage = job.name, job.space:text(row.number), stage
  values.t, values.joules, values.error, values.reason = values.t or row.t, row.energy, row.error, row.reason
  values.best, values.evaluation = state.best and state.best.value, state.tried + 0.0
  values.elapsed, values.units = core.clock() - state.start, { elapsed = "s" }
  local unit = objective.UNITS[job.objectives[1]]
  values.units.best = values.best and unit ~= "" and unit or nil
  values.units.joules = values.joules and "J"
  return record.write(state.session, values)
end

-- What a run that was killed has measured of the variant.
local function take_known(row, known)
  local t, low, high = quantity.read(known.t)
  row.t = t and quantity.new(t, low or t, high or t)
  row.energy, row.error = quantity.read(known.joules), quantity.read(known.error)
  row.reason = known.reason ~= nil and tostring(known.reason) or nil
end

local function first_try(state, i)
  local job = state.job
  local row = { number = i, v = lists.merged(job.space.variants[i]), effort = state.effort,
                rank = job.prefer and job.prefer(i) or 0 }
  local known = job.resume and job.resume[job.space:text(i)]
  state.rows[i], state.tried = row, state.tried + 1
  state.order[#state.order + 1] = row
  if known then
    take_known(row, known)
    row.value = not row.reason and objective.value(row, job.objectives[1]) or nil
  else
    try(state, row, job.min_time * state.effort)
  end
  if is_better(state, row) then state.best = row end
  row.go, row.result, state.running = nil, nil, nil -- its module may go
  table.insert(state.history, note(state, row, "search"))
end

-- A longer measurement of one that is right.
local function again(state, row)
  if make(state, row) and time(state, { row }, state.job.min_time * state.effort)[1] then take_result(state, row) end
  if row.reason then note(state, row, "search") end
  row.effort, row.go, row.result, state.running = state.effort, nil, nil, nil
  renew(state)
end

-- ---- the search ---------------------------------------------------------------------------------

local function announce(state, list)
  local job = state.job
  if not (state.ahead and job.modules) then return end
  local all = {}
  for _, i in ipairs(list) do
    if not state.rows[i] and not (job.resume and job.resume[job.space:text(i)]) then
      lists.append(all, job.modules(i))
    end
  end
  state.ahead:add(all)
end

local function is_over(state)
  local job = state.job
  if state.tried >= job.most or not job.time_limit then return state.tried >= job.most end
  local late, ranks = core.clock() - state.start >= job.time_limit, state.session.job
  if ranks then return ranks.decide(late) end
  return late
end

-- The values of variants; nil if no more may be tried.
local function values_of(state, list, effort)
  local left = state.job.most - state.tried
  local new = lists.map(list, function(i) return not state.rows[i] and i or nil end)
  announce(state, table.move(new, 1, math.min(left, #new), 1, {}))
  state.effort = effort
  local values = {}
  for k, i in ipairs(list) do
    local row = state.rows[i]
    if not row then
      if is_over(state) then return nil end
      first_try(state, i)
    elseif row.value and row.effort < effort then
      again(state, row)
    end
    values[k] = state.rows[i].value or math.huge
  end
  return values
end

-- The best, and its ties.
local function finish(state)
  local best, ties = finals.run(state, {
    make = function(row) return make(state, row) end,
    time = function(rows, min_time) return time(state, rows, min_time) end,
    verify = function(row) return verify(state, row) end,
    fail = function(row) note(state, row, "final") end,
    renew = function() renew(state) end })
  for _, row in ipairs(lists.append({ best }, ties)) do note(state, row, "final", { ratio = row.ratio }) end
  return best, ties
end

local function run(state)
  local job, best, ties = state.job, nil, {}
  if state.is_checked then state.session:settle_findings() end -- what was found before is no variant's
  search.run(state.is_checked and "brute force" or job.search, job.space,
    { seed = job.seed, most = math.min(job.most, #job.space.variants), start = job.start },
    function(list, effort) return values_of(state, list, effort) end)
  local searched = core.clock() - state.start
  if state.best then best, ties = finish(state) end
  return { name = job.name, best = best, ties = ties, rows = state.order,
           front = objective.front(state.order, job.objectives), tried = state.tried, size = #job.space.variants,
           history = state.history, searched = searched, seconds = core.clock() - state.start,
           is_checked = state.is_checked }
end

--- Runs a tuning.
---@param session table
---@param job table      see above
---@return table result  best (the winner's row: v, t, value; nil if no variant is right), ties (rows of others that
---                      cannot be told from it, each with ratio), front (rows; of two objectives), rows (in the order
---                      in which they were tried: v, t, value, error, energy, reason), tried, size, history, seconds
function tuner.run(session, job)
  local ahead_of <close> = not job.measure and job.modules and ahead.new(session, job.device) or nil
  local state = { session = session, quiet = variant.quiet(session), job = job, ahead = ahead_of, rows = {}, order = {},
                  history = {}, tried = 0, start = core.clock(), is_checked = checking.is_on(job.device) }
  job.ahead = ahead_of
  local done, result = failure.catch(run, state)
  if done then return result end
  local row = state.running
  -- The loss of the device, which ends the process, is the variant's: a run that goes on leaves it out.
  if failure.status(result) == "lost" and row then
    leave_out(row, failure.text(result))
    note(state, row, "search")
  end
  error(result, 0)
end

return tuner
