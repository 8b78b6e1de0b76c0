-- SPDX-License-Identifier: MIT
--
-- A batch in a report: its plan (batch.json) and its outcome. The ends in its journal, which survives
-- a crash, take precedence over result.json. Reading is lenient: missing values are left out, and
-- unknown keys are not shown.

local facts = require "moonwarp.report.facts"
local files = require "moonwarp.base.files"
local html = require "moonwarp.report.html"
local json = require "moonwarp.base.json"
local lists = require "moonwarp.base.lists"
local sheet = require "moonwarp.base.sheet"
local status = require "moonwarp.report.status"
local tables = require "moonwarp.report.table"
local utf8text = require "moonwarp.base.utf8text"
local outcome = require "moonwarp.lab.verdict"

local batch = {}

local MOST <const> = 64 << 20 -- bytes of a file

-- ---- reading ------------------------------------------------------------------------------------

local function read(name)
  local value = json.decode(files.read_plain(name, MOST) or "")
  return type(value) == "table" and value or nil
end

local function objects(value)
  return lists.filter(facts.table(value), function(one) return type(one) == "table" end)
end

local function key_of(step)
  return tostring(step.id or step.name or step.lab or step)
end

local function lay_over(rows, given, verdict)
  local row = lists.entry(rows, rows, key_of(given), {})
  for name, value in pairs(given) do row[name] = value end
  row.verdict = verdict or row.verdict or row.status
end

local STATES = { finish = "complete", pause = "interrupted", begin = "unfinished", resume = "unfinished" }

-- What an earlier try of a lab may have that a later one lacks.
local TRY = { message = false, run = false, gates = false }

-- Ends by lab; a beginning without an end is a lab that was cut off, or still runs.
local function read_journal(found, text)
  for _, entry in ipairs(json.lines(text)) do
    found.status = STATES[entry.kind] or found.status
    if entry.kind == "begin" then lay_over(found.rows, { id = entry.id }, "unfinished") end
    if entry.kind == "end" then lay_over(found.rows, lists.merged(TRY, entry)) end
  end
end

--- Reads a batch; nil if the folder holds none.
---@param folder string
---@return table? found  folder, name, head, status, rows, problem
function batch.read(folder)
  if not files.exists(folder .. "/batch.json") then return nil end
  local head, result = read(folder .. "/batch.json"), read(folder .. "/result.json") or {}
  local found = { folder = folder, head = head or {}, rows = {} }
  if not head then found.problem = "its batch.json cannot be read: it is not whole" end
  for _, list in ipairs { found.head.steps or found.head.labs, result.labs } do
    for _, step in ipairs(objects(list)) do lay_over(found.rows, step) end
  end
  found.status = result.status or found.head.status
  found.seconds = result.seconds or found.head.seconds
  read_journal(found, files.read_plain(folder .. "/journal.jsonl", MOST) or "")
  local name = found.head.name or result.name
  found.name = type(name) == "string" and name or folder:match("[^/]+$") or folder
  return found
end

-- ---- drawing ------------------------------------------------------------------------------------

local function word(value)
  return (type(value) == "string" or type(value) == "number") and facts.word(value) or false
end

local function gates(list)
  local text, share = outcome.gates(objects(list))
  return text and { text, value = share }
end

-- The lab's name links to its run, if the report has it.
local function name_of(row, found, anchors)
  local name = word(row.name) or word(row.lab) or word(row.id) or "?"
  local anchor = type(row.run) == "string" and anchors[("%s/%s"):format(found.folder, row.run)]
  return anchor and html.a { href = "#" .. anchor, name } or name
end

local COLUMNS = {
  { heading = "lab", cell = name_of },
  { heading = "study", cell = function(row) return word(row.study) or word(row.script) end },
  { heading = "device", cell = function(row) return word(row.device) end },
  { heading = "verdict", cell = function(row) return status.badge(word(row.verdict) or "not run") end },
  { heading = "gates", number = true, cell = function(row) return gates(row.gates) end },
  { heading = "time", number = true, cell = function(row) return tables.amount(row.seconds, "s", 3) end },
  { heading = "memory", number = true, cell = function(row) return tables.amount(row.peak, "iB", 3) end },
  { heading = "message", cell = function(row) return word(row.message) end },
}

local function anchors_of(runs)
  local anchors = {}
  for _, run in ipairs(runs) do anchors[run.folder] = run.anchor end
  return anchors
end

local function rows_table(found, anchors)
  return tables.draw("labs of the batch " .. found.name, sheet.of(COLUMNS, found.rows, found, anchors))
end

-- ---- labs without a run ---------------------------------------------------------------------------

local LINES <const> = 20 -- of a lab's output
local QUIET = { passed = true, skipped = true, ["not run"] = true }

local function last_lines(log)
  local lines = {}
  for line in utf8text.clean(outcome.tail(log)):gmatch "[^\n]+" do lines[#lines + 1] = line end
  return table.concat(lines, "\n", math.max(1, #lines - LINES + 1))
end

-- What a lab that did not pass said last, if no run of it says more.
local function last_words(row, found, anchors)
  local has_run = type(row.run) == "string" and anchors[("%s/%s"):format(found.folder, row.run)]
  local name = word(row.folder) or word(row.id)
  if has_run or not name or name:find "[/%z]" or QUIET[row.verdict] then return nil end
  local text = last_lines(("%s/%s/output.txt"):format(found.folder, name))
  return text ~= "" and html.details { open = true, html.summary { "Last lines of ", name }, html.pre { text } } or nil
end

-- A batch may be complete, and labs of it not in order.
local function failures(found)
  local count = #lists.map(found.rows, function(row) return row.verdict and not QUIET[row.verdict] or nil end)
  return count > 0 and status.badge(("%d of %d labs failed"):format(count, #found.rows), "bad")
end

--- A batch as a part of the summary.
---@param found table    of batch.read
---@param runs table[]   of the report, with folders and anchors
---@return table markup
function batch.draw(found, runs)
  local head, seconds, anchors = found.head, found.seconds, anchors_of(runs)
  local badge = status.badge(word(found.status) or "unfinished")
  return html.div { class = "batch", html.h3 { "Batch ", found.name, " ", badge, " ", failures(found) },
    found.problem and html.p { class = "note bad", found.problem },
    facts.draw { { "began", word(head.date) }, { "took", (tables.amount(seconds, "s", 3) or {})[1] },
      { "curriculum", word(head.curriculum) },
      { "jobs", word(head.jobs) }, { "folder", html.code { found.folder } } },
    #found.rows > 0 and rows_table(found, anchors) or html.p { class = "note", "No lab of it is known." },
    lists.map(found.rows, function(row) return last_words(row, found, anchors) end) }
end

return batch
