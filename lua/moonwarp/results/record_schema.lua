-- SPDX-License-Identifier: MIT
--
-- The form of record.json and of a journal's lines (docs/record.md) as data, and whether a run has it: what reads
-- stored runs can then rely on it, whoever wrote them.

local counters = require "moonwarp.measure.counters"
local form = require "moonwarp.base.schema"

local schema = {}

local list, map, fields, optional = form.list, form.map, form.fields, form.optional

local LAUNCH = fields { kernel = "string", grid = list "integer", block = list "integer", shared = "number?",
                        count = "integer", registers = "number?", blocks = "number?", occupancy = "number?",
                        limit = "string?" }
local RESULT = fields { median = "number", samples = list "number", n = "number?", noise = "number?", low = "number?",
                        high = "number?", min = "number?", max = "number?", mean = "number?", sd = "number?",
                        mad = "number?", p05 = "number?", p95 = "number?", bytes = "number?", flops = "number?",
                        name = "string?", copies = optional(map "number"), launches = optional(list(LAUNCH)),
                        flags = optional(list "string") }

-- What all charts have; of a kind that is not known no more is asked.
local CHART = fields { kind = "string?", name = "string", title = "string", device = "string", script = "string",
                       date = "string" }

--- What the kinds of charts and pictures ask of one, by name: form, problem (plot/kinds.lua fills it).
schema.kinds = {}

local TABLE = fields { name = "string", notes = list "string",
                       columns = list(fields { heading = "string", texts = list "string", numbers = list "any" }) }

local CHECK = fields { what = "string?", ok = "boolean", text = "string?" }

local MEMORY = fields { kind = "string", name = "string?", parameter = "integer?", index = "integer?",
                        elements = "integer?" }

local FINDING = fields {
  kind = "string", kernel = "string?", object = "string?", memory = optional(MEMORY),
  remedy = "string", remark = "string?", count = "integer",
  launch = "integer?", intended = "boolean", warning = "boolean?", device = "string",
  parties = list(fields { verb = "string", block = optional(list "integer"), thread = optional(list "integer"),
                          stream = "string?", bytes = "integer?", file = "string?", line = "integer?",
                          text = "string?" }),
}

-- With the counters, of which any may be absent.
local function with_counters(more)
  for _, one in ipairs(counters.list) do more[one.name] = one.unit == "s" and "number?" or "integer?" end
  more.metrics = optional(map "number")
  return fields(more)
end

local COUNTERS = with_counters { kernel = "string", device = "string", source = "string", grid = list "integer",
                          block = list "integer", launches = "integer", varies = "boolean?",
                          lines = list(with_counters { file = "string", line = "integer", text = "string?" }) }

local RUN = fields {
  schema = "string", study = "string", status = "string", device = "string?", device_name = "string?",
  date = "string?", exit = "integer?", seconds = "number?", message = "string?", lab = "string?",
  check = "string?",
  rerun_of = "string?", argv = optional(list "string"),
  params = optional(map(list "string")), environment = optional(map "any"),
  records = list(map "any"), checks = list(CHECK), charts = list(CHART), tables = list(TABLE),
  remarks = list(fields { text = "string" }),
  pictures = list(fields { kind = "string?", name = "string", title = "string", files = list "string" }),
  sources = list(fields { name = "string" }),
  findings = optional(list(FINDING)),
  counters = optional(list(COUNTERS)),
  warnings = optional(list(fields { file = "string", line = "integer", text = "string", source = "string?" })),
  failures = optional(list(fields { message = "string", status = "string", params = optional(map "any") })),
}

-- What a record may hold besides results: chosen has to be names, params values or lists of them.
local RECORD = fields { chosen = optional(list "string"), params = optional(map "any"),
                        device = "string?", device_name = "string?", date = "string?" }

local function is_result(value)
  return type(value) == "table" and value.median ~= nil and value.samples ~= nil
end

-- A result and those of its other modes: all of them are judged, drawn and written.
local function check_result(value, where)
  local problem = form.problem(value, RESULT, where)
  for _, mode in ipairs { "cold", "graph", "launch" } do
    if is_result(value[mode]) then
      problem = problem or form.problem(value[mode], RESULT, ("%s.%s"):format(where, mode))
    end
  end
  return problem
end

local function check_record(record, where)
  local problem = form.problem(record, RECORD, where)
  for name, value in pairs(record) do
    if is_result(value) then problem = problem or check_result(value, ("%s.%s"):format(where, name)) end
  end
  return problem
end

-- A chart has a kind of its own, or is one of series; a picture may have none.
local function check_each(all, name, usual)
  for i, one in ipairs(all) do
    local kind, where = schema.kinds[one.kind or usual], ("%s[%d]"):format(name, i)
    local problem = kind and (form.problem(one, kind.form, where) or kind.problem and kind.problem(one, where))
    if problem then return problem end
  end
end

--- The problem of a record, or nil.
---@param run table
---@return string? problem  "charts[1].title must be a string, got number"
function schema.problem(run)
  local problem = form.problem(run, RUN) or check_each(run.charts, "charts", "plot")
    or check_each(run.pictures, "pictures")
  if problem then return problem end
  for i, record in ipairs(run.records) do
    problem = check_record(record, ("records[%d]"):format(i))
    if problem then return problem end
  end
end

-- ---- journals -------------------------------------------------------------------------------------

local LINE = fields { kind = "string", value = map "any", contender = "integer?" }

local TURN = fields { contender = "integer", samples = { least = 1, list = "number" }, record = optional(map "any"),
                      work = optional(map "number") }

local DROPPED = fields { contender = "integer" }

-- A contender begins with its first turn, which has the fields of its record.
local function check_turn(turn, begun)
  local problem = form.problem(turn, TURN, "value")
  if not problem and not begun[turn.contender] and not turn.record then
    problem = "value.record must be a table in a contender's first turn, got nil"
  end
  if not problem then begun[turn.contender] = true end
  return problem
end

local function check_line(line, begun)
  local problem = form.problem(line, LINE)
  if problem then return problem end
  if line.kind == "slice" then return check_turn(line.value, begun) end
  local number = line.contender
  if line.kind == "slices_dropped" then
    problem, number = form.problem(line.value, DROPPED, "value"), line.value.contender
  end
  return problem or number and not begun[number] and ("contender %d has no turn before"):format(number) or nil
end

--- The problem of a journal's lines, or nil: they can be folded (results/fold.lua) into a run, which has a form of
--- its own.
---@param lines table[]
---@return string? problem  "line 3: value.samples[1] must be a number, got string"
function schema.lines_problem(lines)
  local begun = {}
  for i, line in ipairs(lines) do
    local problem = check_line(line, begun)
    if problem then return ("line %d: %s"):format(i, problem) end
  end
end

return schema
