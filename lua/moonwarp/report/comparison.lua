-- SPDX-License-Identifier: MIT
--
-- A run compared with an earlier one of the same study on the same device, measurement by measurement. The
-- verdicts are those of results.compare, which `moonwarp compare` prints too; here they are only shown.

local facts = require "moonwarp.report.facts"
local html = require "moonwarp.report.html"
local lists = require "moonwarp.base.lists"
local material = require "moonwarp.report.material"
local sheet = require "moonwarp.base.sheet"
local status = require "moonwarp.report.status"
local tables = require "moonwarp.report.table"
local units = require "moonwarp.base.units"

local comparison = {}

local function params_of(run)
  return table.concat(lists.map(facts.list(run.params), function(pair) return table.concat(pair, "\0") end), "\0\0")
end

local function same_params(a, b)
  return params_of(a) == params_of(b)
end

local function is_like(a, b)
  return a.study == b.study and a.device_name == b.device_name and a.folder ~= b.folder
end

--- The run to compare with: the newest other one of the same study on the same device, with the same
--- parameters if there is one.
---@param run table
---@param earlier table[]   oldest first
---@return table?
function comparison.partner(run, earlier)
  local found
  for i = #earlier, 1, -1 do
    local other = earlier[i]
    if is_like(run, other) then
      if same_params(run, other) then return other end
      found = found or other
    end
  end
  return found
end

--- The runs worth comparing: of each study, device and parameters the newest. Verdicts take a while,
--- and two old runs say nothing about the current state.
---@param runs table[]   oldest first
---@return table<table, boolean>
function comparison.newest(runs)
  local set = {}
  for i, run in ipairs(runs) do
    set[run] = true
    for j = i + 1, #runs do
      if is_like(run, runs[j]) and same_params(run, runs[j]) then set[run] = nil end
    end
  end
  return set
end

local ORDER = { "slower", "faster", "changed", "unclear", "same" }

local function tally(counts)
  return lists.map(ORDER, function(verdict)
    return counts[verdict] > 0 and { status.badge(verdict), (" %d "):format(counts[verdict]) } or nil
  end)
end

local COLUMNS = {
  { heading = "verdict", cell = function(one) return status.badge(one.verdict) end },
  { heading = "measurement", cell = "label" },
  { heading = "earlier", number = true, cell = function(one) return tables.amount(one.a.value, one.a.unit) end },
  { heading = "this run", number = true, cell = function(one) return tables.amount(one.b.value, one.b.unit) end },
  { heading = "over earlier (95 %)", number = true, cell = function(one)
    if not one.ratio then return "-" end
    local ends = one.low < one.high and (" (%s to %s)"):format(units.digits(one.low, 4), units.digits(one.high, 4))
    return { units.digits(one.ratio, 4) .. (ends or ""), value = one.ratio }
  end },
}

-- Labels that only one of the runs has.
local function lone(what, labels)
  return #labels > 0 and html.p { class = "note", ("%s: %s."):format(what, table.concat(labels, "; ")) }
end

--- The comparison of a run, and how often each verdict came.
---@param run table
---@param earlier table[]?   runs of --against; nil: none was given
---@return table? markup
---@return table? counts     by verdict
function comparison.draw(run, earlier)
  if not earlier then return nil end
  local other = comparison.partner(run, earlier)
  if not other then
    return html.p { class = "note", "No earlier run of this study on this device was given to compare with." }
  end
  local ok, found = pcall(require("moonwarp.results.compare").runs, other, run)
  if not ok then return html.p { class = "note", "the runs cannot be compared: " .. tostring(found) } end
  local counts = found.counts
  local heading = ("Against the run of %s"):format(material.when(other))
  return html.details { class = "versus", open = counts.slower + counts.faster + counts.changed > 0,
    html.summary { html.h4 { heading }, " ", tally(counts) }, tables.draw(heading, sheet.of(COLUMNS, found)),
    lone("Only in the earlier run", found.missing), lone("Only in this run", found.new) }, counts
end

return comparison
