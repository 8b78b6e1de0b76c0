-- SPDX-License-Identifier: MIT
--
-- Every measurement of a run as a row: median, its interval, a strip of the samples, and whatever else
-- the benchmark noted. Columns that no row fills are left out.

local facts = require "moonwarp.report.facts"
local html = require "moonwarp.report.html"
local lists = require "moonwarp.base.lists"
local sheet = require "moonwarp.base.sheet"
local status = require "moonwarp.report.status"
local strip = require "moonwarp.report.strip"
local tables = require "moonwarp.report.table"
local units = require "moonwarp.base.units"

local measured = {}

local function interval(result)
  if not (result.low and result.high) then return false end
  local scale = units.choose("s", result.median)
  local text = ("%s to %s %s"):format(units.digits(result.low / scale.factor),
    units.digits(result.high / scale.factor), scale.name)
  return { text, value = (result.high - result.low) / result.median }
end

local function remarks_of(result)
  local parts = {}
  for look, list in ipairs { facts.table(result.alarms), status.flags(result) } do
    for _, value in ipairs(list) do
      parts[#parts + 1] = { status.badge(facts.words(value), look == 1 and "bad" or "warn"), " " }
    end
  end
  if #parts > 0 then return html.join(parts) end
  local causes = lists.map(facts.table(result.warnings), function(warning)
    return tostring(type(warning) == "table" and (warning.cause or "") or warning)
  end)
  return #causes > 0 and table.concat(causes, "; ") or false
end

local function strip_words(result)
  if not (result.p05 and result.p95) then return "the samples" end
  return ("90 %% of them from %s to %s"):format(units.format(result.p05, "s"), units.format(result.p95, "s"))
end

-- A column with an amount of the result.
local function amount(heading, field, unit, digits)
  local function cell(one) return tables.amount(one.result[field], unit, digits) end
  return { heading = heading, number = true, cell = cell }
end

-- What a row may hold: heading, how it is aligned, the cell.
local COLUMNS = {
  { heading = "measurement", cell = "label" },
  amount("median", "median", "s"),
  { heading = "95 % interval", number = true, cell = function(one) return interval(one.result) end },
  { heading = "samples", unsorted = true, cell = function(one, window)
    return strip.draw(one.result, window, strip_words(one.result)) or false
  end },
  { heading = "n", number = true, cell = function(one) return tostring(#one.result.samples) end },
  amount("noise", "noise", "%", 2), amount("cold", "cold", "s"), amount("graph", "graph", "s"),
  amount("launch", "launch", "s"), amount("throughput", "throughput", "B/s"),
  amount("share of peak", "peak_share", "%", 3),
  { heading = "flags", cell = function(one) return remarks_of(one.result) end },
}

local KEY <const> = "A strip reaches from %g %% below the median to %g %% above it; what lies outside is in "
  .. "its end bars. The line beneath is the 95 %% interval of the median."

--- All measurements of a run, folded away.
---@param list table[]   of measurement.of
---@return table? markup
function measured.draw(list)
  if #list == 0 then return nil end
  local window = strip.window(lists.map(list, function(one) return one.result end))
  return html.details { class = "measured", html.summary { ("%d measurements with their samples"):format(#list) },
    html.p { class = "note", KEY:format(window * 100, window * 100) },
    tables.draw("measurements", sheet.of(COLUMNS, list, window)) }
end

return measured
