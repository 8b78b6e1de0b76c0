-- SPDX-License-Identifier: MIT
--
-- A curriculum: the Lua file that lists labs. It is read as a whole and every mistake in it is
-- told, before anything runs. docs/lab.md says what may be in it.

local core = require "moonwarp.core"
local amount = require "moonwarp.lab.amount"
local checking = require "moonwarp.measure.checking"
local counter_gate = require "moonwarp.lab.counter_gate"
local devices = require "moonwarp.lab.devices"
local gate = require "moonwarp.lab.gate"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"
local options = require "moonwarp.base.options"
local variables = require "moonwarp.lab.variables"

local curriculum = {}

--- Bytes of output, number of processes, bytes and number of files in a lab's folder if a curriculum sets none.
curriculum.OUTPUT, curriculum.PROCESSES, curriculum.DISK, curriculum.FILES = 64 << 20, 1024, 1 << 30, 100000

local MOST_PROCESSES, MOST_FILES, MOST_RETRIES, MOST_CHECKS, MOST_TASKS = 4000, 10000000, 100, 1000000, 100000
local LONGEST_NAME = 100 -- it becomes that of a folder

-- Why a table is not a list; nil if it is one. Values after a hole would be lost silently.
local function list_problem(value)
  local count = 0
  for key in pairs(value) do
    if math.type(key) ~= "integer" then return ("'%s' has no place in a list"):format(tostring(key)) end
    count = count + 1
  end
  for i = 1, count do
    if value[i] == nil then return ("number %d of the list is nil"):format(i) end
  end
end

-- ---- values of fields: each returns what the lab gets, or nil and the expectation ----------------

local field = {}

local function text(value)
  if type(value) == "string" and value ~= "" then return value end
  return nil, "a text"
end

-- A list, or a single value as a list; nil if an element does not fit.
local function list_of(value, fits)
  local list = fits(value) and { value } or value
  if type(list) ~= "table" or list_problem(list) then return nil end
  local fitting = lists.map(list, function(one) return fits(one) or nil end)
  return #fitting == #list and list or nil
end

local function words(value)
  return list_of(value, function(one) return type(one) == "string" end), "a text or a list of them without holes"
end

function field.name(value)
  local fits = type(value) == "string" and #value <= LONGEST_NAME and value:match("^[%w_][%w_%-]*$")
  return fits and value or nil, ("a name of at most %d letters, digits, - and _"):format(LONGEST_NAME)
end

field.title, field.study, field.script, field.program = text, text, text, text
field.input, field.expected = text, text
field.tags, field.needs = words, words

function field.time_limit(value)
  return amount.seconds(value), "a time, as in 90 or \"5 min\""
end

local function bytes(value)
  return amount.bytes(value), "a size, as in \"2 GiB\""
end

field.memory_limit, field.output_limit, field.disk_limit = bytes, bytes, bytes

field.env = variables.read

local function whole(least, most)
  return function(value)
    local number = math.tointeger(value)
    if number and number >= least and number <= most then return number end
    return nil, ("a whole number from %d to %d"):format(least, most)
  end
end

field.processes, field.files, field.retries = whole(1, MOST_PROCESSES), whole(1, MOST_FILES), whole(0, MOST_RETRIES)
function field.mpi(value)
  if type(value) == "boolean" then return value end
  return nil, "true or false"
end

field.checks, field.tasks = whole(0, MOST_CHECKS), whole(1, MOST_TASKS)

function field.devices(value)
  local list = list_of(value, function(one) return type(one) == "string" and devices.is_word(one) end)
  return list and #list > 0 and list or nil, (core.device_forms()) .. ", or a list of them"
end

local function is_value(value)
  local kind = type(value)
  return kind == "number" or kind == "string" or kind == "boolean"
end

-- A value, or a list of values, as the word after -p.
local function parameter_word(name, value)
  local values = list_of(value, is_value)
  return values and #values > 0 and ("%s=%s"):format(name, require("moonwarp.base.parameter").text(values)) or nil
end

function field.params(value)
  local wanted = "a table of values or lists of values by name, as in { n = { 1024, 2048 } }"
  if type(value) ~= "table" then return nil, wanted end
  local names = lists.keys(value)
  local list = lists.map(names, function(name)
    return type(name) == "string" and name:match("^[%a_][%w_]*$") and parameter_word(name, value[name]) or nil
  end)
  if #list < #names then return nil, wanted end
  return list
end

-- How the check pass judges, and its parameters: { words =, params = }. There is none with false.
function field.check(value)
  if value == false then return false end
  local given, own = value, {}
  if type(value) == "table" then
    given, own = lists.merged(value), value.params or {}
    given.params = nil
  end
  local params, wanted = field.params(own)
  if not params then return nil, nil, ("check: params must be %s"):format(wanted) end
  local mode, problem = checking.read(given)
  if not mode then return nil, nil, "check: " .. problem end
  return { words = checking.words(mode), params = params }
end

local function a_table(value)
  return type(value) == "table" and value or nil, "a table"
end

field.defaults, field.labs = a_table, a_table

function field.gates(value)
  if type(value) ~= "table" then return nil, "a gate or a list of gates" end
  local list = gate.is_meant(value) and { value } or value
  local hole = list_problem(list)
  if hole then return nil, nil, ("gates must be a gate or a list of gates: %s"):format(hole) end
  for i, one in ipairs(list) do
    local problem = gate.problem(one)
    if not problem and one.devices then
      local known, wanted = field.devices(one.devices)
      problem = not known and ("a gate's devices are %s"):format(wanted)
    end
    if problem then return nil, nil, ("gate %d: %s"):format(i, problem) end
  end
  return list
end

local LAB = { "name", "title", "study", "script", "program", "input", "expected", "params", "tags", "needs",
              "time_limit", "memory_limit", "output_limit", "disk_limit", "files", "processes", "tasks", "mpi", "env",
              "devices", "retries", "check", "checks", "gates" }
local DEFAULTS = { "tags", "time_limit", "memory_limit", "output_limit", "disk_limit", "files", "processes", "tasks",
                   "mpi", "env", "devices", "retries", "check", "checks" }
local WHOLE = { "name", "defaults", "labs" }
local HINTS = { time = "time_limit", timeout = "time_limit", memory = "memory_limit", parameters = "params",
                requires = "needs", after = "needs", prerequisites = "needs", file = "script",
                environment = "env", device = "devices", tag = "tags", gate = "gates", output = "output_limit",
                disk = "disk_limit", ["repeat"] = "retries" }

-- ---- reading ------------------------------------------------------------------------------------

local function unknown(key, names)
  return ("unknown field '%s'; %s"):format(tostring(key), nearest.hint(HINTS[key] or key, names))
end

-- Fields of a table as labs have them, and whether all are in order; complain(problem) is called for each that is not.
local function read_fields(given, names, complain)
  local result, in_order = {}, true
  for _, key in ipairs(lists.keys(given)) do
    local value, wanted, problem
    if not lists.has(names, key) then
      problem = unknown(key, names)
    else
      value, wanted, problem = field[key](given[key])
      local got = type(given[key]) == "table" and "a table" or tostring(given[key])
      problem = problem or value == nil and ("%s must be %s, got %s"):format(key, wanted, got)
    end
    if problem then complain(problem) end
    result[key], in_order = value, in_order and not problem
  end
  return result, in_order
end

local function find_study(lab, complain)
  local studies = require "moonwarp.lab.studies"
  local found = not lab.study:find("/", 1, true) and studies.find(lab.study)
  if found then return found end
  complain(("there is no study '%s'; %s"):format(lab.study,
    nearest.hint(lab.study, studies.names(), "a file is given with script")))
end

local function seen_from(folder, path)
  return path:sub(1, 1) == "/" and path or ("%s/%s"):format(folder, path)
end

-- Of a CUDA program, its file; what it reads and is to print become paths.
local function find_program(lab, folder, complain)
  if lab.params then complain("params are of studies and scripts, not of a program") end
  for _, key in ipairs { "program", "input", "expected" } do
    local file = lab[key] and seen_from(folder, lab[key])
    if file and not require("lfs").attributes(file) then return complain(("there is no file '%s'"):format(file)) end
    if key ~= "program" then lab[key] = file end
  end
  return seen_from(folder, lab.program)
end

local function find_script(lab, folder, complain)
  local given = lists.filter({ "study", "script", "program" }, function(key) return lab[key] end)
  if #given ~= 1 then return complain("one of study, script and program is wanted, as in study = \"memcopy\"") end
  if lab.program then return find_program(lab, folder, complain) end
  if lab.input or lab.expected then return complain("input and expected are of a program") end
  if lab.study then return find_study(lab, complain) end
  local path = seen_from(folder, lab.script)
  local found = require("moonwarp.study.folder").script(path)
  if found then return found end
  complain(("there is no file '%s'"):format(path))
end

local function with_defaults(lab, defaults)
  local unsaid = { output_limit = curriculum.OUTPUT, processes = curriculum.PROCESSES, disk_limit = curriculum.DISK,
                   files = curriculum.FILES, retries = 0,
                   devices = select(2, core.device_forms()), tags = {}, needs = {}, params = {}, gates = {} }
  return lists.merged(lists.merged(unsaid, defaults), lab)
end

local function read_lab(given, defaults, folder, complain)
  if type(given) ~= "table" then return complain("a lab is a table, got " .. type(given)) end
  local lab, in_order = read_fields(given, LAB, complain)
  if given.name == nil then
    complain("a lab wants a name")
  elseif in_order then
    lab.path = find_script(lab, folder, complain)
  end
  return lab.name and with_defaults(lab, defaults) or nil
end

-- ---- prerequisites ------------------------------------------------------------------------------

local function check_needs(labs, complain)
  local by_name = {}
  for _, lab in ipairs(labs) do by_name[lab.name] = lab end
  for _, lab in ipairs(labs) do
    for _, need in ipairs(lab.needs) do
      if not by_name[need] then
        complain(lab.name, ("needs '%s', which is not a lab here; %s"):format(need, nearest.hint(need, by_name)))
      end
    end
  end
  return by_name
end

-- Depth first; a lab met again on the way down closes a cycle.
local function order(labs, by_name, complain)
  local done, path, ordered = {}, {}, {}
  local function visit(lab)
    if done[lab] == "yes" then return end
    path[#path + 1] = lab.name
    if done[lab] == "under way" then
      complain(lab.name, "needs itself: " .. table.concat(path, " needs ", path[lab.name]))
    else
      done[lab], path[lab.name] = "under way", #path
      for _, need in ipairs(lab.needs) do
        if by_name[need] then visit(by_name[need]) end
      end
      ordered[#ordered + 1] = lab
      path[lab.name] = nil
    end
    done[lab] = "yes"
    path[#path] = nil
  end
  for _, lab in ipairs(labs) do visit(lab) end
  return ordered
end

-- ---- parameters -----------------------------------------------------------------------------------

local function name_in(word) return word:match "^[^=]+" end

local function check_names(lab, study, complain)
  local names = lists.map(study.params, function(parameter) return parameter.name end)
  for _, word in ipairs(lists.append(lists.append({}, lab.params), lab.check and lab.check.params)) do
    local name = name_in(word)
    if not lists.has(names, name) then
      complain(lab.name, ("the study has no parameter '%s'; %s"):format(name, nearest.hint(name, names)))
    end
  end
end

-- The rungs that gates name, each once.
local function rungs_in(lab)
  local names = {}
  for _, one in ipairs(lab.gates) do
    for _, side in ipairs { one.record or {}, one.of or {} } do
      if type(side.rung) == "string" then names[#names + 1] = side.rung end
    end
  end
  return lists.unique(names)
end

-- A study may have other rungs on a GPU or with other parameters, whose names differ in a number, and records of its
-- own: a rung that is near one in another way is mistyped.
local function check_rungs(lab, study, complain)
  local names = lists.map(study.rungs or {}, function(rung) return rung.name end)
  for _, name in ipairs(rungs_in(lab)) do
    local near = not lists.has(names, name) and nearest.find(name, names)
    if near and near:gsub("%d+", "0") ~= name:gsub("%d+", "0") then
      complain(lab.name, ("a gate names the rung '%s', which the study has not; did you mean '%s'?"):format(name, near))
    end
  end
end

-- Adds to the parameters of a check pass those of its lab, but for a study's numbers: it is checked on its odd sizes.
local function complete_check(lab, study)
  local without = lists.set(lists.map(lab.check.params, name_in))
  for _, parameter in ipairs(study.params or {}) do
    if type(lists.of(parameter.default)[1]) == "number" then without[parameter.name] = true end
  end
  local params = lists.filter(lab.params, function(word) return not without[name_in(word)] end)
  lab.check = { words = lab.check.words, params = lists.append(params, lab.check.params) }
end

-- A lab with gates on counters has a pass in check mode that counts.
local function add_counting(lab)
  if not lists.find(lab.gates, counter_gate.is) then return end
  local check = lab.check or { words = "", params = {} }
  local mode = lists.merged((checking.read(check.words)), { counters = true })
  lab.check = { words = checking.words(mode), params = check.params }
end

-- Those of plain scripts are known when they run; a script that cannot be described costs its own lab.
local function check_params(labs, box_of, complain)
  for _, lab in ipairs(labs) do add_counting(lab) end
  local with = lists.filter(labs, function(lab)
    return lab.path and not lab.program and (lab.check ~= nil or #lab.params + #rungs_in(lab) > 0)
  end)
  local paths = lists.map(with, function(lab) return lab.path end)
  local boxes = box_of and lists.map(with, box_of)
  for i, study in ipairs(require("moonwarp.lab.studies").describe(paths, boxes)) do
    if study.params then check_names(with[i], study, complain) end
    check_rungs(with[i], study, complain)
    if with[i].check then complete_check(with[i], study) end
  end
end

-- ---- the file -----------------------------------------------------------------------------------

-- The labs are in the table itself or in its field labs.
local function parts_of(value, complain)
  local head, list = {}, {}
  for key, one in pairs(value) do
    if math.type(key) == "integer" then list[key] = one else head[key] = one end
  end
  head = read_fields(head, WHOLE, function(problem) complain(nil, problem) end)
  if value.labs ~= nil and next(list) ~= nil then
    complain(nil, "there are labs in the table itself and in its field labs; put them in one place")
  end
  if value.labs ~= nil then list = head.labs or {} end
  local problem = list_problem(list)
  if problem then complain(nil, ("the labs are a list: %s"):format(problem)) end
  if next(list) == nil then complain(nil, "it holds no labs") end
  return head, list
end

local function read_labs(list, defaults, folder, complain)
  local labs, seen = {}, {}
  for i, given in ipairs(list) do
    local who = type(given) == "table" and type(given.name) == "string" and given.name or "#" .. i
    local lab = read_lab(given, defaults, folder, function(problem) complain(who, problem) end)
    if lab and seen[lab.name] then complain(who, "there are two labs of this name") end
    if lab and not seen[lab.name] then labs[#labs + 1], seen[lab.name] = lab, true end
  end
  return labs
end

--- Reads a curriculum. An error in it is a usage error, one line per mistake.
---@param path string
---@param box_of? fun(lab: table): table  what a lab's script may see while it is described; nil: everything
---@return table  { name =, path =, labs = (each after the labs it needs) }
function curriculum.load(path, box_of)
  local problems = {}
  local function complain(who, problem)
    problems[#problems + 1] = who and ("%s: lab '%s': %s"):format(path, who, problem)
      or ("%s: %s"):format(path, problem)
  end
  local value = options.load(path, "a curriculum returns a table of labs")
  local head, list = parts_of(value, complain)
  local defaults = read_fields(head.defaults or {}, DEFAULTS,
    function(problem) complain(nil, "defaults: " .. problem) end)
  local whole_path = seen_from(require("lfs").currentdir(), path)
  local labs = read_labs(list, defaults, whole_path:match("^(.*)/"), complain)
  labs = order(labs, check_needs(labs, complain), complain)
  check_params(labs, box_of, complain)
  if #problems > 0 then options.fail("%s", table.concat(problems, "\n")) end
  local name = head.name or path:match("([^/]+)$"):gsub("%.lua$", ""):gsub("[^%w_%-]", "-")
  return { name = name, path = whole_path, labs = labs }
end

return curriculum
