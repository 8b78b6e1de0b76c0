-- SPDX-License-Identifier: MIT
--
-- The form of batch.json, of the lines of its journal and of the notes of its elements (docs/lab.md) as data: what goes
-- on with a batch can then rely on it, whoever had the files in hand.

local devices = require "moonwarp.lab.devices"
local form = require "moonwarp.base.schema"

local schema = {}

local list, map, fields, optional = form.list, form.map, form.fields, form.optional

-- With record and of, or with kernel.
local GATE = fields { record = optional(map "any"), of = optional(map "any"), kernel = "string?", field = "string",
                      at_least = "number?", at_most = "number?", name = "string?" }

local STEP = fields {
  id = "string", name = "string", title = "string?", device = "string?", study = "string?", script = "string?",
  path = "string", params = optional(list "string"), words = optional(list "string"), tags = optional(list "string"),
  needs = optional(list "string"),
  gates = optional(list(GATE)), time_limit = "number?", memory_limit = "integer?", output_limit = "integer?",
  disk_limit = "integer?", files = "integer?", processes = "integer?", tasks = "integer?", mpi = "boolean?",
  env = optional(list "string"), retries = "integer", check = "string?", checks = "integer?",
}

-- The command line of moonwarp run --slurm.
local SWEEP = fields { p = optional(list "string"), json = "string?", quiet = "boolean?", device = "string?",
                       check = "table?", counters = "boolean?", words = list "string" }

-- The settings of a cluster (slurm/site.lua).
local SITE = fields {
  options = optional(list "string"), modules = optional(list "string"), setup = optional(list "string"),
  cache = "string?", labs_per_job = "integer", array_limit = "integer?",
}

local HEAD = fields { name = "string", date = "string", curriculum = "string", jobs = "integer", sandbox = "string?",
                      steps = list(STEP), slurm = optional(SITE),
                      sweep = optional(SWEEP), mpirun = optional(list "string") }

local LINES = {
  begin = fields { date = "string", id = "string", attempt = "integer", sandboxed = "boolean?" },
  ["end"] = fields {
    date = "string", id = "string", attempt = "integer", verdict = "string", message = "string?", exit = "integer?",
    signal = "integer?", reason = "string?", seconds = "number?", peak = "number?", output = "number?",
    folder = "string?", run = "string?", job = "string?", node = "string?", shared = "boolean?",
    sandboxed = "boolean?", unsandboxed = "string?",
    gates = optional(list(fields { text = "string", ok = "boolean", message = "string?" })),
  },
  queue = fields { date = "string", array = "integer", name = "string", elements = list(list "string") },
  job = fields { date = "string", array = "integer", job = "string" },
}

local PART = fields { kind = "string", date = "string", seconds = "number?" }

-- Ids are names of folders; a step comes after the steps it needs.
local function problem_of_step(step, earlier)
  if not step.id:match("^[%w_%-]+$") then return "id must be of letters, digits, - and _" end
  if earlier[step.id] then return ("id '%s' is there twice"):format(step.id) end
  for _, need in ipairs(step.needs or {}) do
    if not earlier[need] then return ("needs '%s', which is not an earlier step"):format(need) end
  end
  if step.device and not (devices.is_word(step.device) and devices.id(step.device) == step.device) then
    return ("device must be one device's id, got '%s'"):format(step.device)
  end
end

--- The problem of a batch.json, or nil.
---@param head table
---@return string? problem
function schema.head_problem(head)
  local problem, earlier = form.problem(head, HEAD), {}
  if problem then return problem end
  for i, step in ipairs(head.steps) do
    problem = problem_of_step(step, earlier)
    if problem then return ("steps[%d]: %s"):format(i, problem) end
    earlier[step.id] = true
  end
end

--- The problem of a line of a journal, or nil.
---@param line table
---@return string? problem
function schema.line_problem(line)
  local problem = form.problem(line, LINES[line.kind] or PART)
  if problem or line.kind ~= "begin" and line.kind ~= "end" then return problem end
  local least = line.kind == "begin" and 1 or 0 -- a skipped step never began
  if line.attempt < least then return ("attempt must be at least %d, got %d"):format(least, line.attempt) end
end

-- Of slurm/array-N.json.
local ARRAY = fields { elements = list(list(fields { id = "string", needs = list "string", attempt = "integer",
                                                     tries = "integer" })) }

--- The problem of a note of slurm/, or nil.
---@param kind string  the end of its name: "end", "json"
---@param note any
---@return string? problem
function schema.note_problem(kind, note)
  if kind == "json" then return form.problem(note, ARRAY) end
  if type(note) == "table" and note.kind == "end" then return schema.line_problem(note) end
  return "it must be the end of an attempt"
end

return schema
