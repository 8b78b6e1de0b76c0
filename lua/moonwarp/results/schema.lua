-- SPDX-License-Identifier: MIT
--
-- The form of record.json (docs/record.md) as data, and whether a record has it: what reads stored
-- runs can then rely on it. Keys that are not named here are let through.
-- Depends on nothing.

local schema = {}

local function list(of) return { list = of } end
local function map(of) return { map = of } end
local function fields(of) return { fields = of } end

local POINT = fields { x = "number", y = "number", low = "number?", high = "number?" }

local RESULT = fields { median = "number", samples = list "number", n = "number?", noise = "number?", low = "number?",
                        high = "number?", min = "number?", max = "number?", mean = "number?", sd = "number?",
                        mad = "number?", p05 = "number?", p95 = "number?",
                        flags = { list = "string", optional = true } }

local CHART = fields {
  name = "string", title = "string", xlabel = "string", ylabel = "string", device = "string", script = "string",
  date = "string", xfactor = "number?", yfactor = "number?", logx = "number?", logy = "number?", style = "string?",
  levels = list(fields { value = "number", label = "string" }),
  series = list(fields { name = "string", points = { list = POINT, least = 1 } }),
}

local TABLE = fields { name = "string", notes = list "string",
                       columns = list(fields { heading = "string", texts = list "string", numbers = list "any" }) }

local CHECK = fields { what = "string?", ok = "boolean", text = "string?" }

local RUN = fields {
  schema = "string", study = "string", status = "string", device = "string?", device_name = "string?",
  date = "string?", exit = "number?", seconds = "number?", message = "string?", lab = "string?",
  rerun_of = "string?", argv = { list = "string", optional = true },
  params = { map = list "string", optional = true }, environment = { map = "any", optional = true },
  records = list(map "any"), checks = list(CHECK), charts = list(CHART), tables = list(TABLE),
  remarks = list(fields { text = "string" }),
  pictures = list(fields { name = "string", title = "string", files = list "string" }),
  sources = list(fields { name = "string" }),
}

-- What a record may hold besides results: chosen has to be names, params values or lists of them.
local RECORD = fields { chosen = { list = "string", optional = true }, params = { map = "any", optional = true },
                        device = "string?", device_name = "string?", date = "string?" }

local check

local function check_list(value, rule, where, least)
  local count = 0
  for _ in pairs(value) do count = count + 1 end
  if count ~= #value then return where .. " must be a list" end
  if count < (least or 0) then return ("%s must have an element at least"):format(where) end
  for i, one in ipairs(value) do
    local problem = check(one, rule, ("%s[%d]"):format(where, i))
    if problem then return problem end
  end
end

local function check_fields(value, rules, where)
  for name, rule in pairs(rules) do
    local problem = check(value[name], rule, where == "" and name or ("%s.%s"):format(where, name))
    if problem then return problem end
  end
end

local function check_map(value, rule, where)
  for name, one in pairs(value) do
    if type(name) ~= "string" then return where .. " must be an object, not a list" end
    local problem = check(one, rule, ("%s.%s"):format(where, name))
    if problem then return problem end
  end
end

function check(value, rule, where)
  local optional = type(rule) == "table" and rule.optional or type(rule) == "string" and rule:sub(-1) == "?"
  if value == nil and optional or rule == "any" then return nil end
  local wanted = type(rule) == "table" and "table" or rule:match("^%a+")
  if type(value) ~= wanted then
    return ("%s must be a %s, got %s"):format(where, wanted == "table" and "list or object" or wanted, type(value))
  end
  if wanted ~= "table" then return nil end
  if rule.list then return check_list(value, rule.list, where, rule.least) end
  return rule.map and check_map(value, rule.map, where) or rule.fields and check_fields(value, rule.fields, where)
end

local function check_record(record, where)
  local problem = check(record, RECORD, where)
  for name, value in pairs(record) do
    if type(value) == "table" and value.median ~= nil and value.samples ~= nil then
      problem = problem or check(value, RESULT, ("%s.%s"):format(where, name))
    end
  end
  return problem
end

--- What is wrong with a record; nil where nothing is.
---@param run table
---@return string? problem  "charts[1].title must be a string, got number"
function schema.problem(run)
  local problem = check(run, RUN, "")
  if problem then return problem end
  for i, record in ipairs(run.records) do
    problem = check_record(record, ("records[%d]"):format(i))
    if problem then return problem end
  end
end

return schema
