-- SPDX-License-Identifier: MIT
--
-- What a process leaves that has run one pass of a sweep (moonwarp run --pass): DIR/pass.lua next to the run, for the
-- process that joins the passes (sweep/join.lua). It has what this session holds and no record keeps: numbers as they
-- are, how the pass ended, and what it has left to the last one to show.

local files = require "moonwarp.base.files"
local fold = require "moonwarp.results.fold"
local form = require "moonwarp.base.schema"
local lists = require "moonwarp.base.lists"
local literal = require "moonwarp.base.literal"
local passes = require "moonwarp.sweep.passes"
local schema = require "moonwarp.results.record_schema"
local store = require "moonwarp.results.store"

local part = {}

local NAME <const> = store.PART
local DEPTH <const> = 2 -- STUDY/DATE-DEVICE
local MOST <const> = 64 << 20 -- bytes of what a pass leaves

-- Lines of the journal of a run, or of what waited for one.
local function lines_of(current)
  if current.run then return current.run.lines end
  return lists.map(current.waiting, function(one) return { kind = one[1], value = one[2] } end)
end

-- The device's word in the name of a run's folder, which begins with the date.
local function word_of(folder)
  return (folder:match "[^/]+$":gsub("^%d+%-%d+%-", ""))
end

-- What the run of all passes has of one of them.
local function header_of(run)
  return { device = run.device, device_name = run.device_name, check = run.check, environment = run.environment }
end

--- Marks a folder as one of a pass, which has no run of its own (results/store.lua).
---@param folder string
---@return string? problem
function part.begin(folder)
  return files.write(folder .. NAME, "")
end

--- Writes what is left by the session of a pass, before its run ends.
---@param current table
---@return string? problem
function part.leave(current)
  local run, lines = current.run, lines_of(current)
  if run then run:keep_sources() end
  return files.replace(current:out() .. NAME, literal.text {
    ended = current.outcome, pass = current.pass, put_off = current.put_off,
    declared = lists.map(current.declared, function(entry) return { name = entry.name, value = entry.value } end),
    found = current.found, failed_checks = current.failed_checks,
    folder = run and run.folder, header = run and header_of(lines[1].value),
    lines = lists.map(lines, function(line)
      return line.kind ~= "run" and { kind = line.kind, value = line.value } or nil
    end) })
end

local function killed(message)
  return { outcome = "failed", status = "killed", text = message, message = message }
end

-- The run below a folder; links that a script left lead no further than its own.
local function run_in(folder)
  local found = store.below(folder, DEPTH)
  return found[#found]
end

-- What the run of a pass has that was killed; which parameters it had is not known.
local function of_killed(folder, message)
  local run = store.read(run_in(folder) or folder)
  local left = { ended = killed(message), put_off = {}, found = 0, failed_checks = 0, lines = {} }
  if not run then return left end
  left.folder, left.word = run.folder, word_of(run.folder)
  left.lines = lists.map(run.records, function(entry) return { kind = "record", value = entry } end)
  left.header = header_of(run)
  return left
end

-- ---- what others wrote --------------------------------------------------------------------------

local fields, list, optional = form.fields, form.list, form.optional

local LEFT <const> = fields {
  ended = fields { outcome = "string", message = "string?", status = "string?", text = "string?", where = "string?",
                   reason = "string?" },
  pass = optional(form.map(list "string")), declared = optional(list(fields { name = "string", value = "any" })),
  put_off = list(fields { what = "string", spec = "table", records = "integer" }),
  found = "integer", failed_checks = "integer", folder = "string?", lines = list "table",
  header = optional(fields { device = "string?", device_name = "string?", check = "string?",
                             environment = optional(form.map "any") }),
}

-- The problem of what a pass has left: of its form, and of the run that its lines make.
local function problem_of(left)
  local problem = form.problem(left, LEFT) or schema.lines_problem(left.lines)
  if problem then return problem end
  local unknown = lists.find(left.put_off, function(one) return not passes.is_shown_last(one.what) end)
  if unknown then return ("nothing shows '%s'"):format(unknown.what) end
  local first = { kind = "run", value = lists.merged({ schema = fold.SCHEMA, study = "a pass" }, left.header or {}) }
  return schema.problem(fold.lines(lists.append({ first }, left.lines)))
end

-- What is there of a pass: what it says, or what a run has that was killed.
local function found(one)
  local left = literal.value(files.read_plain(one.folder .. NAME, MOST) or "")
  if left == nil then return of_killed(one.folder, one.message) end
  local problem = problem_of(left)
  if problem then return of_killed(one.folder, "what it has left is not in order: " .. problem) end
  if one.is_killed or left.ended.outcome == "interrupted" then left.ended = killed(one.message) end
  left.folder = left.folder and run_in(one.folder) -- and no other that it names
  left.word = left.folder and word_of(left.folder)
  return left
end

--- What a pass has left.
---@param one table  number (of its combination), folder (that --out gave it); message: what is said if it was killed,
---                  or interrupted, as before the time limit of its job; is_killed: its verdict says so, whatever the
---                  pass itself has said before; fails: its verdict says that a check failed, perhaps in a finalizer
---@return table     without pass and declared if it has said nothing
function part.read(one)
  local left = found(one)
  left.failed_checks = math.max(left.failed_checks, one.fails and 1 or 0)
  left.output, left.number = one.folder .. "/output.txt", one.number
  return left
end

return part
