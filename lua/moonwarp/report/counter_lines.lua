-- SPDX-License-Identifier: MIT
--
-- A kernel file with its structural counters next to each line: requests, and per request sectors, bank conflicts and
-- lanes. What moves more than it needs is coloured by its share of all that the file's accesses move, has a sign, and
-- is said in words above.

local counters = require "moonwarp.measure.counters"
local html = require "moonwarp.report.html"
local lists = require "moonwarp.base.lists"
local sheet = require "moonwarp.base.sheet"
local tables = require "moonwarp.report.table"
local units = require "moonwarp.base.units"

local counter_lines = {}

-- Shares of what all lines move from which a line is "warm" and "hot".
local WARM <const>, HOT <const> = 0.02, 0.2
local SIGNS <const> = { warm = "!", hot = "!!" }
local MOST_WORDS <const> = 5

-- ---- what a line costs --------------------------------------------------------------------------

local function shown(value)
  return math.type(value) == "integer" and ("%d"):format(value) or units.digits(value, 3):gsub("%.0*$", "")
end

-- What a line has in a column; nothing where its count is 0: it has no such access.
local function figure(line, name)
  local value = counters.value(line, name)
  return value and not (value == 0 and math.type(value) == "integer") and shown(value) or nil
end

-- "warm" and "hot" by line, with words: { [12] = { level =, share =, words = } }.
local function costs_of(lines)
  local all, costs = 0, {}
  for _, line in ipairs(lines) do
    local excess, moved, words = counters.excess(line)
    all, costs[line.line] = all + moved, { line = line.line, share = excess, words = table.concat(words, "; ") }
  end
  for _, cost in pairs(costs) do
    cost.share = all > 0 and cost.share / all or 0
    cost.level = cost.share >= HOT and "hot" or cost.share >= WARM and "warm" or nil
  end
  return costs
end

-- ---- markup -------------------------------------------------------------------------------------

local function anchor_of(anchor, number) return ("%s-%d"):format(anchor, number) end

-- The lines that cost most, in words, each with a link to its row.
local function said(costs, anchor)
  local list = lists.map(lists.keys(costs), function(number) return costs[number].level and costs[number] or nil end)
  table.sort(list, function(a, b)
    if a.share ~= b.share then return a.share > b.share end
    return a.line < b.line
  end)
  local items = lists.map(table.move(list, 1, math.min(#list, MOST_WORDS), 1, {}), function(cost)
    return html.li { html.a { href = "#" .. anchor_of(anchor, cost.line), ("line %d"):format(cost.line) },
      (": %s, %.0f %% of all that the file's accesses move"):format(cost.words, 100 * cost.share) }
  end)
  return #items > 0 and html.ul { class = "costs", items }
end

local function level_of(row) return row.cost and row.cost.level end

-- short: what a screen that is too narrow for columns says after the number.
local function counter(heading, short, name)
  return { heading = heading, short = short, number = true, cell = function(row)
    return row.line and figure(row.line, name)
  end }
end

-- Of the rows of a file: its line's number with a sign of its cost, its counters, its text.
local COLUMNS <const> = {
  { heading = "line", number = true, cell = function(row)
    local level = level_of(row)
    return html.join { level and html.b { title = row.cost.words, SIGNS[level], " " }, row.number }
  end },
  counter("requests", "requests", "requests"),
  counter("sectors, load", "sectors per load", "load_sectors_per_request"),
  counter("store", "sectors per store", "store_sectors_per_request"),
  counter("conflicts", "conflicts per request", "shared_conflicts_per_request"),
  counter("contention", "lanes at most on one address", "atomic_contention"),
  counter("contention, shared", "lanes at most on one shared address", "shared_atomic_contention"),
  counter("lanes", "lanes per request", "lanes_per_request"),
  { heading = "source", cell = function(row) return html.code { row.code } end },
}

--- A file's text with the counters of its lines.
---@param name string
---@param text string
---@param lines table[]     of counters.lines, those of the file
---@param mark fun(number: integer, text: string): any   markup of a line's source
---@param anchor string     of the file
---@return table markup
function counter_lines.draw(name, text, lines, mark, anchor)
  local by_number, costs, rows = {}, costs_of(lines), {}
  for _, line in ipairs(lines) do by_number[line.line] = line end
  for code in text:gmatch "([^\n]*)\n?" do
    local number = #rows + 1
    rows[number] = { number = number, line = by_number[number], cost = costs[number], code = mark(number, code) }
  end
  if text:sub(-1) == "\n" or text == "" then rows[#rows] = nil end -- gmatch ends with an empty match
  local made = sheet.of(COLUMNS, rows)
  for i, row in ipairs(rows) do
    local level = level_of(row)
    made.rows[i].class, made.rows[i].id = level, level and anchor_of(anchor, row.number)
  end
  return html.join { html.p { class = "note", "Requests of warps, and per request sectors of 32 bytes (4 hold a float "
      .. "per lane), bank conflicts and active lanes, over all launches that were counted." }, said(costs, anchor),
    tables.draw(name .. " with its counters", made, "counted") }
end

return counter_lines
