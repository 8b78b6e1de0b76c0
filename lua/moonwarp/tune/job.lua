-- SPDX-License-Identifier: MIT
--
-- The options of a tuning, which mw.tune and a study's rungs share, as a job of tuner.lua; and a job from the rows of
-- an earlier run to what is shown and kept.

local checking = require "moonwarp.measure.checking"
local core = require "moonwarp.core"
local energy = require "moonwarp.measure.energy"
local failure = require "moonwarp.base.failure"
local json = require "moonwarp.base.json"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"
local objective = require "moonwarp.tune.objective"
local remark = require "moonwarp.results.remark"
local resume = require "moonwarp.tune.resume"
local schema = require "moonwarp.base.schema"
local search = require "moonwarp.tune.search"
local show = require "moonwarp.tune.show"
local space = require "moonwarp.tune.space"
local store = require "moonwarp.tune.store"
local tuner = require "moonwarp.tune.tuner"

local job = {}

--- The options.
job.SPEC = { name = "string", space = "table", groups = "table", where = "function", objective = "string table",
             within = "number", search = "string", seed = "number", most = "number", time_limit = "number",
             min_time = "number", start = "table", prefer = "function", resume = "boolean string", quiet = "boolean" }

local RANGES <const> = { within = { 0 }, seed = { 0, whole = true }, most = { 1, whole = true }, time_limit = { 0 },
                         min_time = { 0 } }
local MIN_TIME <const>, LEAST <const> = { cpu = 0.02, gpu = 0.01 }, 10

local function check_word(who, name, word, known)
  if lists.has(known, word) then return word end
  failure.invalid("%s: option '%s': there is no '%s'; %s", who, name, tostring(word), nearest.hint(word, known))
end

local function objectives_of(who, given, device)
  if lists.has_hole(lists.of(given.objective)) then
    failure.invalid("%s: option 'objective' has a hole: one of its elements is nil", who)
  end
  local list = lists.map(lists.of(given.objective or "t"), function(word)
    return check_word(who, "objective", word, objective.NAMES)
  end)
  if #list < 1 or #list > 2 or list[1] == list[2] then
    failure.invalid("%s: option 'objective' is one of %s, or two of them", who, table.concat(objective.NAMES, ", "))
  end
  if lists.has(list, "energy") and not (checking.is_on(device) or energy.is_counted(device)) then
    failure.raise_as("unsupported", "%s: objective 'energy': %s has no counter of energy; take 't'", who, device:id())
  end
  return list
end

local function start_of(who, given, all)
  if not given.start then return 1 end
  local number = all:find(given.start)
  if number then return number end
  failure.invalid("%s: option 'start' is no variant of 'space' that 'where' leaves", who)
end

-- A search that is no list of all variants tries a quarter of them.
local function most_of(given, name, count)
  if given.most then return math.tointeger(given.most) end
  if name == "brute force" or name == "groups" then return count end
  return math.max(math.min(LEAST, count), count // 4)
end

--- What a script's function gives of a variant, which it cannot change: a number of at least some size.
---@param who string
---@param name string     of the option
---@param fn function
---@param all table       the space
---@param least number
---@return fun(i: integer): number
function job.number_of(who, name, fn, all, least)
  return function(i)
    local value = fn(lists.merged(all.variants[i]))
    local is_number = type(value) == "number"
    if is_number and value >= least and value < math.huge then return value end
    failure.invalid("%s: '%s' must give a number%s, got %s for %s", who, name, least == 0 and " of at least 0" or "",
      value ~= value and "nan" or is_number and value or schema.kind(value), all:text(i))
  end
end

--- A job, without what makes and verifies a variant.
---@param who string        what messages begin with
---@param session table     whose command line has options of its own (moonwarp tune)
---@param device userdata
---@param given table       of job.SPEC, checked
---@return table
function job.new(who, session, device, given)
  given = lists.merged(given, session.options.tune)
  if not given.space then failure.invalid("%s: needs 'space', as in { bx = { 16, 32 }, by = { 4, 8 } }", who) end
  schema.check_numbers(who, given, RANGES)
  local all = space.new(who, given.space, given.where, given.groups)
  local name = check_word(who, "search", given.search or given.groups and "groups" or "brute force", search.NAMES)
  return { who = who, name = given.name or "tuning", space = all, search = name, seed = given.seed or 1,
           device = device, most = most_of(given, name, #all.variants), start = start_of(who, given, all),
           objectives = objectives_of(who, given, device), within = given.within, time_limit = given.time_limit,
           min_time = given.min_time or MIN_TIME[device:kind()], quiet = given.quiet, resume_from = given.resume,
           prefer = given.prefer and job.number_of(who, "prefer", given.prefer, all, -math.huge) or nil }
end

-- Charts and rows of a run are told apart by the tuning's name, and by the parameters of a pass.
local function claim_name(session, one)
  local key = json.encode { one.name, session:values() }
  if session.tunings[key] then
    failure.invalid("%s: this run has a tuning '%s' already; give this one a name of its own: name = \"...\"", one.who,
      one.name)
  end
  session.tunings[key] = not session.shown
end

local function read_rows(session, one)
  if not one.resume_from then return end
  local rows, reason = resume.rows(session, one.device, one.name, one.resume_from)
  one.resume = rows
  if rows then
    remark.say(session, "%s: %d variants are known from %s.", one.name, #lists.keys(rows), reason)
  else
    remark.say(session, "%s begins anew: %s.", one.name, reason)
  end
end

-- The values of the winner, for mw.tuned.
local function keep(one, best)
  store.keep { kernel = one.kernel, source = one.source, device = one.device:name(),
               size = one.size, values = best.v, objective = one.objectives[1], value = best.value,
               tried = one.tried, moonwarp = core.version, date = os.date "!%Y-%m-%dT%H:%M:%SZ" }
end

--- Runs a job.
---@param session table
---@param one table       with make and verify; kernel, size: what its best values are kept for
---@return table result   of tuner.run
function job.run(session, one)
  session:check_known()
  if one.kernel then -- what cannot be kept is said before the search
    store.read()
    one.source = store.source(one.who, session, one.kernel)
  end
  claim_name(session, one)
  read_rows(session, one)
  local result = tuner.run(session, one)
  one.tried = result.tried
  show.result(session, one, result, one.quiet)
  if one.kernel and result.best then keep(one, result.best) end
  return result
end

return job
