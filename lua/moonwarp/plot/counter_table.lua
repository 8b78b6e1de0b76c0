-- SPDX-License-Identifier: MIT
--
-- The structural counters of a run: noted in its record by kernel and configuration, and shown as a table by kernel
-- with the lines that cost most.

local counters = require "moonwarp.measure.counters"
local figure = require "moonwarp.plot.figure"
local lists = require "moonwarp.base.lists"
local sheet = require "moonwarp.base.sheet"
local tables = require "moonwarp.plot.table"

local counter_table = {}

local COLUMNS <const> = { "load_sectors_per_request", "store_sectors_per_request", "shared_conflicts_per_request",
                          "addresses_per_atomic", "shared_addresses_per_atomic", "lanes_per_request" }
local MOST_LINES <const> = 5

-- ---- words --------------------------------------------------------------------------------------

local function columns_of(rows)
  return lists.map(COLUMNS, function(name)
    if not lists.find(rows, function(row) return row[name] end) then return nil end
    return { name, title = counters.title(name), digits = 3 }
  end)
end

-- Whether a kernel was launched in several blocks.
local function has_blocks(rows)
  return #lists.unique(rows, function(row) return row.kernel end) < #rows
end

-- What mw.table takes.
local function table_of(session, rows)
  local device = session:device()
  local records = lists.map(counters.by_block(rows), function(row)
    return lists.merged(row, { device_name = device and device:id() == row.device and device:name() or nil })
  end)
  local columns = lists.append({ "kernel", has_blocks(records) and "block" or nil }, { "launches" })
  columns.title, columns.records = "structural counters", records
  return lists.append(columns, columns_of(records))
end

-- The lines that cost most, each with its cost and what costs it.
local function costly_lines(rows)
  local list = lists.map(counters.lines(rows), function(line)
    local excess, _, words = counters.excess(line)
    return excess > 0 and line.line > 0 and { line = line, excess = excess, words = table.concat(words, "; ") } or nil
  end)
  table.sort(list, function(a, b)
    if a.excess ~= b.excess then return a.excess > b.excess end
    return ("%s:%08d"):format(a.line.file, a.line.line) < ("%s:%08d"):format(b.line.file, b.line.line)
  end)
  return table.move(list, 1, math.min(#list, MOST_LINES), 1, {})
end

local LINES <const> = {
  { cell = function(one) return ("%s:%d"):format(one.line.file:gsub("^.*/", ""), one.line.line) end },
  { cell = "words" }, { cell = function(one) return (one.line.text or ""):match "^%s*(.*)$" end },
}

-- nil where no line costs anything.
local function lines_text(rows)
  local list = costly_lines(rows)
  return #list > 0 and "what costs most, by line\n"
    .. table.concat(sheet.lines(sheet.of(LINES, list), { indent = "  " }), "\n") or nil
end

-- ---- a run --------------------------------------------------------------------------------------

--- Notes launches in the run's record.
---@param launches table[]
---@param note fun(kind: string, values: table)
---@return table[] rows   by kernel and configuration
function counter_table.note(launches, note)
  local rows = counters.by_configuration(launches)
  for _, row in ipairs(rows) do note("counters", row) end
  return rows
end

--- Shows what was counted, by kernel and by line.
---@param session table
---@param rows table[]   of counter_table.note
function counter_table.show(session, rows)
  tables.print(session, table_of(session, rows))
  local lines = lines_text(rows)
  if lines then figure.say(session, {}, lines) end
end

local function text_of(session, rows)
  if #rows == 0 then return "no launch was counted" end
  return table.concat({ tables.text(session, table_of(session, rows)), lines_text(rows) }, "\n")
end

--- Rows for a script, whose text is what is shown.
---@param session table
---@param rows table[]
---@return table[] rows  the same
function counter_table.list(session, rows)
  return setmetatable(rows, { __name = "counters", __tostring = function() return text_of(session, rows) end })
end

return counter_table
