-- SPDX-License-Identifier: MIT
--
-- A rung with a `space`, tuned: a variant is the rung with the fields that its function `variant` returns. The rung
-- itself, which the host has checked on the odd cases, is what variants are compared with: on the odd cases and at the
-- measured size, and there once more after their timing. A place is a case with its references.

local answers = require "moonwarp.study.answers"
local case = require "moonwarp.study.case"
local failure = require "moonwarp.base.failure"
local jobs = require "moonwarp.tune.job"
local lists = require "moonwarp.base.lists"
local measure = require "moonwarp.study.measure"
local modules = require "moonwarp.study.modules"
local schema = require "moonwarp.base.schema"
local session = require "moonwarp.session"
local trial = require "moonwarp.tune.variant"

local tuning = {}

-- The fields of a rung that a variant may change.
local FIELDS <const> = { kernel = "string function", launches = "function", make = "function", file = "string",
                         source = "string function", fast_math = "boolean", compile = "table", carveout = "number",
                         cache = "string", block = "any", over = "table", each = "any", grid = "function",
                         shared = "function", cooperative = "boolean", args = "function table", graph = "boolean" }

-- The rung of a variant.
local function rung_of(rung, v, c)
  local given = rung.variant(lists.merged(v or {}), c)
  local fields = schema.options(("%s: what 'variant' returns"):format(rung.title), given, FIELDS)
  return lists.merged(rung, lists.merged(fields, { blocks = { fields.block or rung.blocks[1] }, odd_blocks = {} }))
end

-- A study that compiles for itself: each variant has modules of its own.
local function view_of(study, rung, c)
  local view = case.view(study, study.dev)
  view.state.name, view.state.stream = study.state.name, c and rung.stream and c:stream() or nil
  return view
end

-- A variant on a case, ready to be run; nil and why not.
local function made(rung, place, view, v)
  local c = place.case:with { study = view }
  local own = rung_of(rung, v, c)
  local go, reason = case.launcher(own, c, own.blocks[1])
  if not go then return nil, reason end
  return { rung = own, block = case.block_of(c, own.blocks[1]), case = c, refs = place.refs, go = go }
end

local function right(study, one)
  local ok, reason = answers.check(study, one)
  return not ok and reason or nil, one.report and one.report.max_abs
end

-- Why a variant is wrong on an odd case; nil if it is right on all that it takes.
local function odd_problem(study, rung, places, view, v)
  for _, place in ipairs(places) do
    local one = made(rung, place, view, v)
    local problem = one and right(study, one)
    if problem then return ("%s, %s"):format(problem, answers.sides_text(place.case)) end
  end
end

-- Options of the modules that a variant needs, without its arrays.
local function planned(study, rung, sides, v)
  local view = view_of(study, rung)
  local c <close> = case.planned(view, sides)
  local own = rung_of(rung, v, c)
  case.plan(own, c, own.blocks[1])
  return modules.planned(view)
end

-- The rung itself becomes the reference of a place.
local function establish(study, rung, place)
  local one, reason = made(lists.merged(rung, { variant = function() return {} end }), place, study)
  if one then reason = right(study, one) end
  if reason then failure.invalid("%s cannot be tuned: the rung itself %s", rung.title, reason) end
end

local function job_of(study, rung, main, options)
  local given = schema.options(rung.title, lists.merged({ space = rung.space, where = rung.where, groups = rung.groups,
    start = rung.start, name = rung.name }, options), jobs.SPEC)
  local job, ones, plans = jobs.new(rung.title, session.current, study.dev, given), {}, {}
  local variants = job.space.variants
  local function modules_of(i) return planned(study, rung, main.case.sides, variants[i]) end
  function job.modules(i)
    if not plans[i] then
      local done, list = trial.try(modules_of, i)
      plans[i] = done and list or {}
    end
    return plans[i]
  end
  function job.make(i)
    for _, module in ipairs(job.ahead and job.modules(i) or {}) do job.ahead:await(module) end
    rung_of(rung, variants[i], main.case) -- an error in it is the description's mistake, and no variant's
    local view, is_new = view_of(study, rung, main.case), not ones[i]
    local done, one, reason = trial.try(made, rung, main, view, variants[i])
    if not (done and one) then return nil, reason or one end
    ones[i] = one
    local _, problem = trial.try(odd_problem, study, rung, is_new and main.odd or {}, view, variants[i])
    return not problem and one.go or nil, problem
  end
  function job.verify(i)
    local _, wrong, err = trial.try(right, study, ones[i])
    return wrong, err
  end
  function job.bytes(i)
    return not study.work and measure.bytes(study, ones[i].rung, ones[i].case) or nil
  end
  function job.setup()
    local answer = study.answer_named[rung.answer]
    return answer.restart and function() answers.reset(study, rung, main.case) end or nil
  end
  local file = rung.file or study.head.kernels
  if main.is_kept and file and not rung.source then
    job.kernel, job.size = ("%s:%s"):format(file, rung.name), lists.merged(main.case.sides, { type = main.case.type })
  end
  return job
end

local function new_place(study, sides, part)
  return { case = case.new(study, sides, part), refs = {} }
end

local function close(main)
  for _, place in ipairs(lists.append({ main }, main.odd)) do
    answers.close(place.refs)
    place.case:close()
  end
end

--- Tunes a rung on a case.
---@param study table
---@param rung table      with a space
---@param sides table
---@param part table?     whose arrays and odd cases it has; else the study's odd cases
---@param options table?  of tune/job.lua, in the place of the rung's
---@param is_kept boolean?  whether the best values are kept for mw.tuned
---@return table result   of tune/tuner.lua
function tuning.rung(study, rung, sides, part, options, is_kept)
  local odd = part and part.odd_cases or lists.map(lists.of(study.head.odd), function(one)
    return lists.merged(one, { type = one.type or case.type_of(study, sides) })
  end)
  local main <close> = setmetatable(new_place(study, sides, part), { __close = close })
  main.odd, main.is_kept = {}, is_kept
  for i, one in ipairs(odd) do
    main.odd[i] = new_place(study, one, part)
    establish(study, rung, main.odd[i])
  end
  establish(study, rung, main)
  return jobs.run(session.current, job_of(study, rung, main, options))
end

-- The rungs of a part that are tuned, each in the first part that has it.
local function new_in(study, part, done)
  return lists.map(part.chosen, function(rung)
    local is_new = not done[rung] and not study.state.wrong[rung]
    done[rung] = true
    return is_new and rung or nil
  end)
end

--- moonwarp tune: tunes each rung that has a space, on each case of the first part that has the rung.
---@param study table
---@param tune table   options of the command line
function tuning.run(study, tune)
  local done = {}
  for _, part in ipairs(study.state.parts) do
    local rungs = new_in(study, part, done)
    for _, sides in ipairs(part.list) do
      for _, rung in ipairs(rungs) do
        local name = #part.list > 1 and ("%s, %s"):format(rung.name, answers.sides_text(case.bare(study, sides))) or nil
        tuning.rung(part.study, rung, sides, part, { name = name }, true)
      end
    end
  end
  if next(done) then return end
  failure.raise_as("usage", "%s: there is no rung with a 'space' to tune%s", study.state.name,
    tune.rung and " by the name or number " .. tune.rung or "")
end

return tuning
