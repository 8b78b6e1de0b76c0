-- SPDX-License-Identifier: MIT
--
-- What a batch came to: a table for people, an object for programs, an exit status.

local amount = require "moonwarp.lab.amount"
local exit = require "moonwarp.base.exit"
local files = require "moonwarp.base.files"
local json = require "moonwarp.base.json"
local lists = require "moonwarp.base.lists"
local path = require "moonwarp.base.path"
local sheet = require "moonwarp.base.sheet"
local units = require "moonwarp.base.units"
local verdict = require "moonwarp.lab.verdict"

local summary = {}

--- The schema's name; the number grows when a reader of the old one would be wrong.
summary.SCHEMA = "moonwarp-batch-result/1"


local COPIED = { "verdict", "message", "exit", "signal", "reason", "seconds", "peak", "output", "gates", "run",
                 "folder", "job", "node", "shared" }

local function row_of(step, state)
  local row = { id = step.id, name = step.name, title = step.title, device = step.device,
                study = step.study or step.script or step.program, tags = #step.tags > 0 and step.tags or nil,
                attempts = state.attempts, sandboxed = state.sandboxed }
  for _, key in ipairs(COPIED) do row[key] = state.result and state.result[key] end
  row.verdict = row.verdict or "not run"
  return row
end

-- A crash says more than a failed check, so it decides.
local function status_of(rows, interrupted, is_complete)
  local kinds = lists.map(rows, function(row) return verdict.kind(row.verdict) end)
  if interrupted then return exit.INTERRUPTED end
  if lists.has(kinds, "error") or not is_complete then return exit.FAILED end
  return lists.has(kinds, "failure") and exit.CHECK or exit.OK
end

local function counts_of(rows)
  local counts = {}
  for _, row in ipairs(rows) do counts[row.verdict] = (counts[row.verdict] or 0) + 1 end
  return counts
end

--- What a batch that noted its end came to, as result.json has it.
---@param batch table
---@param interrupted boolean
---@return table
function summary.of(batch, interrupted)
  local rows, head, is_complete = {}, batch.book.head, batch:is_complete()
  for i, step in ipairs(batch.steps) do rows[i] = row_of(step, batch.states[step.id]) end
  return { schema = summary.SCHEMA, name = head.name, date = head.date, folder = batch.book.folder,
           curriculum = head.curriculum, seconds = batch.book:seconds(),
           status = interrupted and "interrupted" or is_complete and "complete" or "incomplete",
           exit = status_of(rows, interrupted, is_complete), counts = counts_of(rows), labs = rows,
           unsandboxed = batch.sandbox and batch.sandbox.problem }
end

-- ---- the table ----------------------------------------------------------------------------------

local COLUMNS <const> = {
  { heading = "lab", cell = "name" }, { heading = "device", cell = function(row) return row.device or "-" end },
  { heading = "verdict", cell = function(row)
    return row.attempts > 1 and ("%s (attempt %d)"):format(row.verdict, row.attempts) or row.verdict
  end },
  { heading = "gates", cell = function(row) return verdict.gates(row.gates or {}) or "-" end },
  { heading = "time", cell = function(row) return row.seconds and amount.clock(row.seconds) or "-" end },
  { heading = "folder", cell = function(row) return row.run or row.folder or "-" end },
}

local function counted(result)
  local words = lists.map(lists.keys(result.counts), function(word)
    return ("%d %s"):format(result.counts[word], word)
  end)
  table.sort(words)
  return table.concat(words, ", ")
end

--- For people: a table, what is to be said of labs, and a last line.
---@param result table   of summary.of
---@param room integer?  columns; nil: any
---@return string
function summary.text(result, room)
  local lines = sheet.lines(sheet.of(COLUMNS, result.labs), { room = room })
  for _, row in ipairs(result.labs) do
    if row.message then
      lines[#lines + 1] = ("%s: %s: %s"):format(row.id, row.verdict, row.message)
    end
  end
  lines[#lines + 1] = ("%s in %s: %s"):format(counted(result), amount.clock(result.seconds), result.folder)
  if lists.find(result.labs, function(row) return row.sandboxed == false end) then
    lines[#lines + 1] = "labs ran without a sandbox" .. (result.unsandboxed and ": " .. result.unsandboxed or "")
  end
  local shared = lists.filter(result.labs, function(row) return row.shared end)
  if #shared > 0 then
    lines[#lines + 1] = ("%s had only a part of a node, so other jobs may have disturbed the timings: "
      .. "-- --exclusive gives each job a whole node"):format(units.count(#shared, "lab"))
  end
  if result.status ~= "complete" then
    lines[#lines + 1] = ("to go on: moonwarp batch --resume %s"):format(path.word(result.folder))
  end
  return table.concat(lines, "\n")
end

--- Writes the object as JSON.
---@param result table
---@param file string
---@return string? problem
function summary.write(result, file)
  local order = { "schema", "name", "date", "status", "exit", "seconds" }
  return files.replace(file, json.stored(result, order) .. "\n")
end

return summary
