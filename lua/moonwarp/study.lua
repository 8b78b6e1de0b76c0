-- SPDX-License-Identifier: MIT
--
-- mw.study: a study as data. A file describes what is compared (parameters, rungs, what each must
-- compute, parts with their cases, tables, charts and ratios) and returns the description; the runner
-- owns the ritual (study/runner.lua). A description is built by calls, so that a mistake has a line.
--
--   study      a question, with parameters
--   case       one size and type with its arrays: c in every function of a description
--   answer     what a rung computes, and so what it is checked against
--   rung       one way to compute it; a variant is a rung in one of its blocks
--   part       cases x rungs, measured in turn, with a table, charts and ratios
--   level      the fastest of some rungs within a case: what shares are of
--   source     what others measured
--
-- docs/api/study.md has the fields; docs/tutorial.md leads to a first study.

local core = require "moonwarp.core"
local blame = require "moonwarp.study.blame"
local case = require "moonwarp.study.case"
local devices = require "moonwarp.tools.device"
local failure = require "moonwarp.base.failure"
local folder = require "moonwarp.study.folder"
local schema = require "moonwarp.base.schema"
local lists = require "moonwarp.base.lists"
local measure = require "moonwarp.study.measure"
local nearest = require "moonwarp.base.nearest"
local parameters = require "moonwarp.study.parameters"
local session = require "moonwarp.session"
local runner = require "moonwarp.study.runner"
local steps = require "moonwarp.study.steps"
local tuning = require "moonwarp.study.tuning"
local units = require "moonwarp.base.units"
local validate = require "moonwarp.study.validate"

local study = {}

local Study = {}

-- Fields that may be nil; another name is a mistyped one. A description sets arrays; state is the runner's.
local FIELDS = { arrays = true, dev = true, work = true, last = true, state = true }

local study_type = { __name = "study" }

function study_type.__index(_, key)
  local method = Study[key]
  if method ~= nil or FIELDS[key] then return method end
  failure.invalid("a study has no '%s'; %s", tostring(key), nearest.hint(tostring(key), Study))
end

function study_type.__newindex(self, key, value)
  if not FIELDS[key] then
    failure.invalid("a study has no field '%s'; what a description sets is 'arrays'", tostring(key))
  end
  if key == "arrays" and type(value) ~= "function" then
    failure.invalid("study.arrays must be a function, got %s", type(value))
  end
  rawset(self, key, value)
end

--- What each call of a description takes, by its document's table in docs/api: `rung` is rung_spec.
study.fields = {
  study = { question = "string", course = "table", params = "table", kernels = "string", defines = "function",
            rate = "string table", units = "table", seconds = "table boolean", output = "string", type = "string",
            level = "string table", odd = "table function", peak = "function", counters = "table",
            also = "table function", bound = "function" },
  course = { week = "number", level = "number", hours = "number", about = "string", without_gpu = "string" },
  parameter = parameters.fields,
  rung = { device = "string", kernel = "string table function", launches = "function", graph = "boolean",
           file = "string", source = "string function", fast_math = "boolean", compile = "table", carveout = "number",
           cache = "string", answer = "string", block = "any", blocks = "table", odd_blocks = "table",
           over = "table", each = "any", grid = "function",
           shared = "function", cooperative = "boolean", args = "function table", make = "function",
           sides = "function", when = "function", output = "string", bytes = "function", always = "boolean",
           fields = "table function", series = "string function", observe = "function", stream = "boolean",
           mistake = "boolean string table", measure = "boolean number", counters = "boolean",
           bound = "function", space = "table", groups = "table", where = "function", variant = "function",
           start = "table" },
  answer = { cell = "function", equal = "string", host = "function", spot = "function", prove = "function",
             reference = "function", needs = "table", tolerance = "function", bytes = "string function",
             work = "function", output = "string", start = "function", also = "function", steps = "number",
             of = "string", from = "string", restart = "boolean" },
  part = { cases = "function table", arrays = "function", rungs = "function table", odd = "table function",
           blocks = "string", each = "string", level = "string table", table = "table", rows = "string",
           charts = "table", ratios = "table", derive = "function", clock = "string", batch = "number",
           run = "function", counters = "table", error = "boolean", energy = "boolean",
           shares = "boolean", rate = "string table", units = "table", bound = "function" },
  chart = validate.chart,
  source = { field = "string", when = "boolean function", values = "table" },
}

local COURSE <const> = schema.optional(schema.fields(study.fields.course))

-- ---- entries ------------------------------------------------------------------------------------

-- The values of a function that follow its rule.
local function checked(entry, field, rule, ...)
  for i = 1, rule and math.max(1, select("#", ...)) or 0 do
    local problem = schema.problem((select(i, ...)), rule, "what it returns")
    if problem then blame.fail(entry, field, "%s", problem) end
  end
  return ...
end

-- A function of the description, with the name of what it belongs to before its errors.
local function guarded(entry, field, fn, rule)
  return function(...) return checked(entry, field, rule, blame.on(entry, field, fn, ...)) end
end

-- Fields that are lists: their elements, an example and their least length. A list whose
-- brackets were forgotten has names in it, and would count as empty.
local LISTS = { params = { "any", '{ { "n", 1024, "elements" } }' }, odd = { "table", "{ { n = 1001 } }", 1 },
                cases = { "table", "{ { n = p.n } }", 1 }, charts = { "table", '{ { kind = "ladder" } }' },
                ratios = { "string", '{ "naive / triad" }' }, needs = { "string", '{ "naive" }' },
                rungs = { "string", '{ "naive" }', 1 }, table = { "string table", '{ "rung", "t" }' },
                blocks = { "any", "{ 256, { 32, 8 } }", 1 }, odd_blocks = { "any", "{ 256, { 32, 8 } }" },
                over = { "string number", '{ "nx", "ny" }', 1 }, also = { "string", '{ "peaks<%s>" }', 1 },
                mistake = { "string", '{ "race in global memory" }', 1 } }

local function check_list(who, name, list)
  local wanted, example, least = table.unpack(LISTS[name])
  local function fail(what)
    failure.invalid("%s: option '%s' must be a list such as %s, got %s", who, name, example, what)
  end
  for key in pairs(list) do
    if math.type(key) ~= "integer" then fail(("a table with the name '%s'"):format(tostring(key))) end
  end
  for _, value in ipairs(list) do
    local kind = core.type(value) or type(value)
    if wanted ~= "any" and not wanted:find(kind, 1, true) then fail(("one with a %s in it"):format(kind)) end
  end
  if #list < (least or 0) then fail "an empty one" end
end

-- What functions of a description return, where nothing else looks at it; of several values each.
local NUMBER <const>, NUMBERS <const>, NAMES <const> = "number?", "number table", schema.list "string"
local SPOTS <const> = { list = schema.fields { value = "number" }, least = 1 }
local RETURNS <const> = {
  [study.fields.study] = { also = NAMES, bound = NUMBER, defines = "table?", peak = "table?" },
  [study.fields.rung] = { source = "string", sides = "table?", fields = "table?", series = "string?", args = "table?",
                          shared = NUMBER, bytes = "number", observe = "table?", bound = NUMBER, block = NUMBERS,
                          grid = NUMBERS },
  [study.fields.answer] = { tolerance = "table?", work = "number", bytes = "number", reference = "array",
                            host = "array table number function", spot = SPOTS },
  [study.fields.part] = { bound = NUMBER },
}

-- The named fields of an entry, checked, its functions guarded.
local function entry_of(who, given, spec)
  local entry = schema.options(who, lists.named(given), spec)
  entry.at, entry.title = core.where(), who
  for key, value in pairs(entry) do
    if LISTS[key] and type(value) == "table" then check_list(who, key, value) end
    if type(value) == "function" then entry[key] = guarded(entry, key, value, (RETURNS[spec] or {})[key]) end
  end
  return entry
end

local function check_units(entry)
  for field, unit in pairs(entry.units or {}) do
    local problem = units.problem(field, unit)
    if problem then failure.invalid("%s: %s", entry.title, problem) end
  end
end

-- ---- describing ---------------------------------------------------------------------------------

-- The field that is compared, and the work of a call in its unit; false if that is its bytes.
local function read_rate(entry)
  local name, work = entry.rate or "T_eff", nil
  local is_mistyped = false
  if type(name) == "table" then
    name, work, is_mistyped = name[1], name.work, #lists.keys(name) > (name.work and 2 or 1)
  end
  if type(name) ~= "string" or is_mistyped or work ~= nil and type(work) ~= "function" then
    failure.invalid("%s: option 'rate' must be a field as in \"T_eff\", or { \"rate\", work = function(c, rung) }",
      entry.title)
  end
  return name, work and guarded(entry, "rate's work", work, "number") or false
end

--- Begins the description of a study.
---@param head table  question, course (its place in one), kernels (the .cu file), rate ("T_eff", from bytes; or
---                   { field, work = function(c, rung) }), units (of fields of the records), output (the name of
---                   the array that is checked), type (of the elements, if no side or parameter says it), level
---                   (rungs or answers), odd (sides of the cases that are checked against the host, or a function
---                   of the parameters), seconds ({ 0.1, gpu = 0.2 }), params (a list), defines
---                   (function(type, p) returning the modules' defines), peak (function(dev) returning a
---                   level for the charts; else the memory's peak if the rate is one of bytes)
---@return table study
---@return table p        the parameters' values
---@return boolean gpu    whether the device is one
function study.new(head)
  local self = { answer_list = {}, answer_named = {}, rung_list = {}, rung_named = {}, part_list = {}, part_named = {},
                 source_list = {}, source_named = {}, params = {}, p = {}, gpu = false }
  if type(head) ~= "table" then failure.invalid("mw.study: a table is wanted, got %s", type(head)) end
  self.head = entry_of("mw.study", head, study.fields.study)
  if not head.question then failure.invalid("mw.study: needs 'question', a text") end
  local problem = schema.problem(head.course, COURSE, "mw.study: option 'course'")
  if problem then failure.invalid("%s", problem) end
  check_units(self.head)
  self.rate, self.work = read_rate(self.head)
  if not session.current.options.describe then
    self.dev = devices.open(session.current)
    self.gpu = self.dev:kind() == "gpu"
  end
  parameters.read(self)
  self.also = case.called(self.head.also, self.p) or {}
  setmetatable(self, study_type)
  table.insert(session.current.begun, self)
  return self, self.p, self.gpu
end

-- What an entry needs besides fields of the right types, by its kind.
local complete = {}

-- Adds an entry to those of its kind; its name is that of no other.
local function add(self, kind, given, name, number)
  local who = number and ("%s %d '%s'"):format(kind, number, name) or ("%s '%s'"):format(kind, name)
  local list, named, entry = self[kind .. "_list"], self[kind .. "_named"], entry_of(who, given, study.fields[kind])
  if named[name] and kind ~= "source" then
    failure.invalid("%s: there is %s %s of that name already", who, kind == "answer" and "an" or "a", kind)
  end
  entry.name, entry.number = name, number
  complete[kind](self, who, entry)
  list[#list + 1], named[name] = entry, entry
  return entry
end

-- The name that a call's table begins with.
local function name_of(given, wanted)
  local name = type(given) == "table" and given[1]
  return type(name) == "string" and name or failure.invalid(wanted)
end

function complete.answer(self, who, answer)
  if answer.steps then return steps.complete(self, answer) end
  if not (answer.equal or answer.host or answer.cell) then
    failure.invalid("%s: needs 'equal' (an array's name), 'cell' or 'host' (functions), or 'steps'", who)
  end
end

--- What a rung computes. One of equal (the array that the output must equal), cell (one element from
--- its indices) or host (all elements of an odd case; of any case without a spot, prove or
--- reference), or so many steps of another answer.
---@param name string
---@param given table  see docs/api/study.md
function Study:answer(name, given)
  if type(name) ~= "string" then failure.invalid("an answer begins with its name, got %s", type(name)) end
  add(self, "answer", given, name)
end

--- The library's own copy as a rung that is always measured, and the answer "copy".
---@param number integer?  of the rung
---@param from string      an array's name
---@param to string
function Study:library(number, from, to)
  if type(number) == "string" then number, from, to = nil, number, from end
  self:answer("copy", { equal = from, bytes = from .. " " .. to, output = to })
  local rung = self:rung { number or "library copy", number and "library copy" or nil, answer = "copy", always = true,
    stream = true,
    make = function(c)
      local options = c.gpu and { stream = c:stream() } or nil -- without one a copy is waited for
      return function() c[to]:copy(c[from], options) end
    end }
  rung.is_library = true
end

-- The only answer besides the copy's.
local function only_answer(self)
  local names = lists.map(self.answer_list, function(answer) return answer.name ~= "copy" and answer.name or nil end)
  return #names == 1 and names[1] or nil
end

local function is_size(value)
  return math.type(value) == "integer" and value >= 1
end

local function is_block(block)
  if type(block) ~= "table" then return is_size(block) or type(block) == "function" end
  local sizes = lists.map(block, function(size) return is_size(size) or nil end)
  return #block >= 1 and #block <= 3 and #sizes == #block
end

local function check_blocks(who, rung)
  for _, block in ipairs(lists.append(lists.append({ rung.block }, rung.blocks), rung.odd_blocks)) do
    if not is_block(block) then
      failure.invalid("%s: a block is its threads as in 256 or { 32, 8 }, got %s", who, type(block) == "table"
        and "{ " .. tostring(block[1]) .. ", ... }" or ("%s '%s'"):format(type(block), tostring(block)))
    end
  end
end

function complete.rung(self, who, rung)
  local is_made = rung.make or rung.launches
  if not (is_made or rung.kernel) then failure.invalid("%s: needs 'kernel', 'launches' or 'make'", who) end
  if not (is_made or rung.over or rung.grid) then failure.invalid("%s: needs 'over' or 'grid'", who) end
  check_blocks(who, rung)
  if rung.source and (rung.file or rung.make) then
    failure.invalid("%s: %s", who, rung.file and "has 'file' and 'source', which is text instead of one"
      or "has 'source' and 'make', whose launches name their own: c:launch(name, { source =, ... })")
  end
  if (rung.space == nil) ~= (rung.variant == nil) then
    failure.invalid("%s: 'space' and 'variant' go together: variant(v, c) returns the fields that v changes", who)
  end
  if rung.measure and not rung.mistake then failure.invalid("%s: 'measure' is of one with 'mistake'", who) end
  rung.answer = rung.answer or only_answer(self)
  if not rung.answer then failure.invalid("%s: needs 'answer', the name of what it computes", who) end
  blame.unknown(rung, nil, "there is no answer", rung.answer, self.answer_named)
  rung.blocks = rung.blocks or { rung.block or false }
end

--- A rung: study:rung { 3, "one warp in all", kernel = "memcopy_stride", block = 32, over = { 32 } }; the
--- number may be left out.
---@param given table  see docs/api/study.md
---@return table rung
function Study:rung(given)
  if type(given) ~= "table" then failure.invalid("a rung is a table, got %s", type(given)) end
  local number, name = given[1], given[2]
  if type(number) == "string" then number, name = nil, number end
  if type(name) ~= "string" or number and math.type(number) ~= "integer" then
    failure.invalid("a rung begins with its number and its name, as in { 1, \"naive\", ... }, or with its name")
  end
  return add(self, "rung", given, name, number)
end

function complete.part(self, who, part)
  if part.run and part.cases then failure.invalid("%s: has 'run', plain Lua, or 'cases', and not both", who) end
  if not (part.run or part.cases) then
    failure.invalid("%s: needs 'cases', a list of sides such as { { n = p.n } }, or 'run', a function", who)
  end
  local own = { head = lists.merged(self.head, { units = lists.merged(self.head.units or {}, part.units) }) }
  check_units(part)
  if part.rate then own.rate, own.work = read_rate(part) end
  local is_parameter = self.p[own.rate] ~= nil and "there is a parameter of that name"
  local problem = part.rate and (is_parameter or own.rate ~= self.rate and parameters.problem(self, own.rate))
  if problem then failure.invalid("%s: rate '%s': %s", who, own.rate, problem) end
  part.study = setmetatable(own, { __index = self }) -- as the part sees it
end

--- A part: study:part { "ladder", cases = { { n = p.n } }, table = { ... }, charts = { ... }, ratios = { ... } };
--- or plain Lua in its turn: study:part { "film", run = function(study) ... end }.
---@param given table  see docs/api/study.md
function Study:part(given)
  add(self, "part", given, name_of(given, "a part begins with its name, as in { \"ladder\", cases = ... }"))
end

function complete.source(_, who, source)
  if not source.values then failure.invalid("%s: needs 'values', by a rung's or an answer's name", who) end
end

--- What others measured: study:source { "H200, CUB", field = "cub", values = { ["one pass"] = 3300e9 } }.
---@param given table  name; field (of the records, a column), when (false: not shown), values (by a rung's
---                    or an answer's name: a number in the rate's unit, a table by block, or
---                    function(c, block))
function Study:source(given)
  add(self, "source", given, name_of(given, "a source begins with its name, as in { \"H200\", values = ... }"))
end

--- A function that runs after the parts, with the study.
---@param fn function
function Study:finally(fn)
  if type(fn) ~= "function" then failure.invalid("finally: a function is wanted, got %s", type(fn)) end
  self.last = guarded({ at = core.where(), title = "finally" }, "its function", fn)
end

-- ---- for functions of a description --------------------------------------------------------------

--- A case with its arrays; close it.
---@param sides table     as of a part's cases
---@param device string?  the id of another one
---@return table case
function Study:case(sides, device)
  return case.new(case.on(self, device), sides)
end

local function rung_of(self, who, name)
  local rung = self.rung_named[name]
  return rung or failure.invalid("%s: there is no rung '%s'; %s", who, name, nearest.hint(name, self.rung_named))
end

--- A function that runs a rung once on a case; nil and a reason if the device cannot.
---@param name string   of a rung
---@param c table       a case
---@param block any?    its first one if left out
---@return function? go
---@return string? reason
function Study:launcher(name, c, block)
  local rung = rung_of(self, "launcher", name)
  return case.launcher(rung, c, block or rung.blocks[1])
end

--- The array of a case after several launches of a rung, each of which reads what the one before it has written; the
--- case keeps it.
---@param name string     of the rung
---@param c table
---@param from string     the array that the rung reads
---@param count integer
---@return userdata array
function Study:advance(name, c, from, count)
  local rung = rung_of(self, "advance", name)
  local to = rung.output or self.answer_named[rung.answer].output or self.head.output
  return steps.by_device(function(...) return self:launcher(...) end, name, c, from, to, count)
end

--- Tunes a rung that has a space.
---@param name string      of the rung
---@param sides table      of the case
---@param options table?   search, seed, most, objective, ... as of mw.tune
---@return table result    as of mw.tune
function Study:tune(name, sides, options)
  local rung = rung_of(self, "tune", name)
  if not rung.space then failure.invalid("tune: rung '%s' has no 'space'", name) end
  return tuning.rung(self, rung, sides, nil, options)
end

--- Whether a rung is measured by this run.
---@param name string
---@return boolean
function Study:has(name)
  return rung_of(self, "has", name).wanted == true
end

--- The record of the fastest variant of a rung, or of an answer's rungs, over all cases of a part; nil
--- if the part has not been measured. A part whose `cases` is a function may depend on it.
---@param part string
---@param name string   of a rung or an answer
---@return table? record
function Study:fastest(part, name)
  local best = measure.best(self, part, function(one) return one.rung.name == name or one.rung.answer == name end)
  return best and best.record
end

-- ---- a description as a whole --------------------------------------------------------------------

--- What `moonwarp list` and --help show; nothing has run.
---@return table description  question, params, rungs, parts: plain data
function Study:describe()
  runner.declare(self)
  local rungs = lists.map(self.rung_list, function(rung)
    return { number = rung.number, name = rung.name, answer = rung.answer }
  end)
  local parts = lists.map(self.part_list, function(part) return part.name end)
  return { question = self.head.question, course = self.head.course, params = self.params, rungs = rungs,
           parts = parts }
end

--- Raises the first mistake of the description, with the line of the call that made it: names that
--- nothing has, columns that no record will have, parts without rungs.
Study.validate = validate.check

-- One that runs, or was returned, is no longer begun; the first of those that are.
local function settle(self)
  session.current.begun = lists.filter(session.current.begun, function(other) return other ~= self end)
  return session.current.begun[1]
end

--- Runs the study.
function Study:run()
  local describe = session.current.options.describe
  if describe then return describe(self) end
  settle(self)
  self:validate()
  runner.run(self)
end

--- The methods of a study and of a case; own: those that only the runner calls.
study.classes = { study = { methods = Study, own = {} },
                  case = { methods = case.methods, own = {} } }

--- Whether a value is a study.
---@param value any
---@return boolean
function study.is_study(value)
  local meta = getmetatable(value)
  return meta == study_type or type(meta) == "table" and getmetatable(meta.__index) == study_type -- or a part's
end

-- A method that was called with a dot gets its argument as the study.
for name, method in pairs(Study) do
  Study[name] = function(self, ...)
    if study.is_study(self) then return method(self, ...) end
    failure.invalid("study:%s is a method: write a colon before its name", name)
  end
end

--- The value of a file if it is a study. A file that has begun one must return it, or run it.
---@param value any
---@return table? study
function study.returned(value)
  local open = settle(value)
  session.current.begun = {}
  if not open then return study.is_study(value) and value or nil end
  local why = study.is_study(value) and "; the one that it returns is another" or ""
  error(failure.new("invalid", "the file must end with 'return study'" .. why, open.head.at), 0)
end

--- Runs the value of a file if it is a study that has not been run.
---@param value any
function study.conclude(value)
  local returned = study.returned(value)
  if returned and not returned.state then returned:run() end
end

--- mw.run: a study, or the file of one, in an interpreter that is not moonwarp's own.
---@param what table|string  a study, or the path of its file
---@return boolean is_right  whether no check failed
function study.start(what)
  local current = session.current
  local options, failed = current.options, current.failed_checks
  local script, text = options.script, options.text
  local _ <close> = setmetatable({}, { __close = function() options.script, options.text = script, text end })
  local path = type(what) == "string" and folder.script(what)
  if type(what) == "string" and not path then
    failure.raise_as("io", "mw.run: cannot open %s: there is no such file, and no folder with an init.lua", what)
  end
  local _ <close> = path and folder.open(path) or nil
  if path then
    local chunk, problem = folder.load(path)
    if not chunk then failure.raise_as("io", "mw.run: %s", problem) end
    options.script, options.text = path, nil
    what = study.returned(chunk())
    if not what then failure.invalid("mw.run: '%s' returns no study", path) end
  end
  if not study.is_study(what) then
    failure.invalid("mw.run: a study or the path of one is wanted, got %s", type(what))
  end
  what:run()
  local is_right = current.failed_checks == failed
  if not options.argv then -- another interpreter does not say when its script ends
    current:finish(current:ending())
  end
  return is_right
end

return study
