-- SPDX-License-Identifier: MIT
--
-- What a batch came to: a table for people, an object for programs, an exit status.
-- Depends on files, json, lab.amount, lab.verdict.

local amount = require "moonwarp.lab.amount"
local files = require "moonwarp.base.files"
local json = require "moonwarp.base.json"
local verdict = require "moonwarp.lab.verdict"

local summary = {}

--- The schema's name; the number grows when a reader of the old one would be wrong.
summary.SCHEMA = "moonwarp-batch-result/1"

local OK, FAILED, WEAK, INTERRUPTED = 0, 1, 3, 130
local COPIED = { "verdict", "message", "exit", "signal", "reason", "seconds", "peak", "output", "gates", "run",
                 "folder" }

local function row_of(step, state)
  local row = { id = step.id, name = step.name, title = step.title, device = step.device,
                study = step.study or step.script, tags = #step.tags > 0 and step.tags or nil,
                attempts = state.attempts }
  for _, key in ipairs(COPIED) do row[key] = state.result and state.result[key] end
  row.verdict = row.verdict or "not run"
  return row
end

-- A crash says more than a failed check, so it decides.
local function status_of(rows, interrupted)
  local status = OK
  for _, row in ipairs(rows) do
    if verdict.WEAK[row.verdict] then
      status = math.max(status, WEAK)
    elseif row.verdict ~= "passed" and row.verdict ~= "skipped" then
      status = math.max(status, WEAK + 1)
    end
  end
  if interrupted then return INTERRUPTED end
  return status > WEAK and FAILED or status
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
  local rows, head = {}, batch.book.head
  for i, step in ipairs(batch.steps) do rows[i] = row_of(step, batch.states[step.id]) end
  return { schema = summary.SCHEMA, name = head.name, date = head.date, folder = batch.book.folder,
           curriculum = head.curriculum, seconds = batch.book:seconds(),
           status = interrupted and "interrupted" or "complete", exit = status_of(rows, interrupted),
           counts = counts_of(rows), labs = rows }
end

-- ---- the table ----------------------------------------------------------------------------------

local HEADS = { "lab", "device", "verdict", "gates", "time", "folder" }

local function gates_text(gates)
  if not gates or #gates == 0 then return "-" end
  local ok = 0
  for _, one in ipairs(gates) do ok = ok + (one.ok and 1 or 0) end
  return ("%d of %d"):format(ok, #gates)
end

local function cells_of(row)
  local word = row.attempts > 1 and ("%s (attempt %d)"):format(row.verdict, row.attempts) or row.verdict
  return { row.name, row.device or "-", word, gates_text(row.gates),
           row.seconds and amount.clock(row.seconds) or "-", row.run or row.folder or "-" }
end

local function widths_of(all)
  local widths = {}
  for _, cells in ipairs(all) do
    for i, cell in ipairs(cells) do widths[i] = math.max(widths[i] or 0, #cell) end
  end
  return widths
end

-- How many columns a terminal has room for; where it is narrow the last ones are left out.
local function columns_that_fit(widths, room)
  local total, count = -2, 0
  for i, width in ipairs(widths) do
    total = total + width + 2
    if total <= room then count = i end
  end
  return math.max(count, 1)
end

local function table_lines(rows, room)
  local all, lines = { HEADS }, {}
  for _, row in ipairs(rows) do all[#all + 1] = cells_of(row) end
  local widths = widths_of(all)
  local count = columns_that_fit(widths, room)
  for _, cells in ipairs(all) do
    local parts = {}
    for i = 1, count do parts[i] = cells[i] .. (" "):rep(widths[i] - #cells[i]) end
    lines[#lines + 1] = table.concat(parts, "  "):match("^(.-)%s*$")
  end
  return lines
end

local function counted(result)
  local words = {}
  for word, count in pairs(result.counts) do words[#words + 1] = ("%d %s"):format(count, word) end
  table.sort(words)
  return table.concat(words, ", ")
end

--- For people: a table, why what did not pass did not, and a last line.
---@param result table   of summary.of
---@param room integer?  columns; nil: any
---@return string
function summary.text(result, room)
  local lines = table_lines(result.labs, room or math.huge)
  for _, row in ipairs(result.labs) do
    if row.verdict ~= "passed" and row.message then
      lines[#lines + 1] = ("%s: %s: %s"):format(row.id, row.verdict, row.message)
    end
  end
  lines[#lines + 1] = ("%s in %s: %s"):format(counted(result), amount.clock(result.seconds), result.folder)
  if result.status == "interrupted" then
    lines[#lines + 1] = ("to go on: moonwarp batch --resume %s"):format(result.folder)
  end
  return table.concat(lines, "\n")
end

--- Writes the object as JSON.
---@param result table
---@param file string
---@return string? problem
function summary.write(result, file)
  local order = { "schema", "name", "date", "status", "exit", "seconds" }
  return files.replace(file, json.encode(result, order) .. "\n")
end

return summary
