-- SPDX-License-Identifier: MIT
--
-- Every measurement of a run as a row: median, its interval, a strip of the samples, and whatever else
-- the benchmark noted. Columns that no row fills are left out.
-- Depends on units, report.facts, report.html, report.status, report.strip, report.table.

local facts = require "moonwarp.report.facts"
local html = require "moonwarp.report.html"
local status = require "moonwarp.report.status"
local strip = require "moonwarp.report.strip"
local tables = require "moonwarp.report.table"
local units = require "moonwarp.base.units"

local measured = {}

local function is_number(value)
  return type(value) == "number" and value - value == 0
end

local function amount(value, unit, digits)
  if type(value) == "table" then value = value.median end
  return is_number(value) and { units.format(value, unit, digits), value = value } or false
end

local function interval(result)
  if not (is_number(result.low) and is_number(result.high)) then return false end
  local scale = units.choose("s", result.median)
  local text = ("%s to %s %s"):format(units.digits(result.low / scale.factor),
    units.digits(result.high / scale.factor), scale.name)
  return { text, value = (result.high - result.low) / result.median }
end

local function remarks_of(result)
  local parts, counts = {}, {}
  for _, value in ipairs(type(result.alarms) == "table" and result.alarms or {}) do
    parts[#parts + 1] = { status.badge(facts.words(value), "bad"), " " }
  end
  for _, value in ipairs(status.flags(result)) do
    parts[#parts + 1] = { status.badge(facts.words(value), "warn"), " " }
  end
  if #parts > 0 then return html.join(parts) end
  for _, warning in ipairs(type(result.warnings) == "table" and result.warnings or {}) do
    counts[#counts + 1] = type(warning) == "table" and tostring(warning.cause or "") or tostring(warning)
  end
  return #counts > 0 and table.concat(counts, "; ") or false
end

local function strip_words(result)
  if not (is_number(result.p05) and is_number(result.p95)) then return "the samples" end
  return ("90 %% of them from %s to %s"):format(units.format(result.p05, "s"), units.format(result.p95, "s"))
end

-- What a row may hold: heading, how it is aligned, the cell.
local FIELDS = {
  { heading = "measurement", cell = function(one) return one.label end },
  { heading = "median", number = true, cell = function(one) return amount(one.result.median, "s") end },
  { heading = "95 % interval", number = true, cell = function(one) return interval(one.result) end },
  { heading = "samples", unsorted = true, cell = function(one, window)
    return strip.draw(one.result, window, strip_words(one.result)) or false
  end },
  { heading = "n", number = true, cell = function(one)
    local n = #one.result.samples
    return { tostring(n), value = n }
  end },
  { heading = "noise", number = true, cell = function(one) return amount(one.result.noise, "%", 2) end },
  { heading = "cold", number = true, cell = function(one) return amount(one.result.cold, "s") end },
  { heading = "graph", number = true, cell = function(one) return amount(one.result.graph, "s") end },
  { heading = "launch", number = true, cell = function(one) return amount(one.result.launch, "s") end },
  { heading = "throughput", number = true, cell = function(one)
    return amount(one.result.throughput, "B/s")
  end },
  { heading = "share of peak", number = true, cell = function(one)
    return amount(one.result.peak_share, "%", 3)
  end },
  { heading = "flags", cell = function(one) return remarks_of(one.result) end },
}

local KEY <const> = "A strip reaches from %g %% below the median to %g %% above it; what lies outside is in "
  .. "its end bars. The line beneath is the 95 %% interval of the median."

local function columns_of(list, window)
  local columns, rows = {}, {}
  for i = 1, #list do rows[i] = {} end
  for _, field in ipairs(FIELDS) do
    local cells, filled = {}, false
    for i, one in ipairs(list) do
      cells[i] = field.cell(one, window)
      filled = filled or cells[i] ~= false
    end
    if filled then
      columns[#columns + 1] = field
      for i, cell in ipairs(cells) do rows[i][#columns] = cell end
    end
  end
  return columns, rows
end

--- All measurements of a run, folded away.
---@param list table[]   of measurement.of
---@return table? markup
function measured.draw(list)
  if #list == 0 then return nil end
  local results = {}
  for i, one in ipairs(list) do results[i] = one.result end
  local window = strip.window(results)
  local columns, rows = columns_of(list, window)
  return html.details { class = "measured", html.summary { ("%d measurements with their samples"):format(#list) },
    html.p { class = "note", KEY:format(window * 100, window * 100) },
    tables.draw("measurements", columns, rows) }
end

return measured
