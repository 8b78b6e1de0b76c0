-- SPDX-License-Identifier: MIT
--
-- A run beside an earlier one of the same study on the same device, measurement by measurement. The
-- verdicts are those of results.compare, which `moonwarp compare` prints too; here they are only shown.
-- Depends on results.compare (where it is), units, report.facts, report.html, report.material,
-- report.status, report.table.

local facts = require "moonwarp.report.facts"
local html = require "moonwarp.report.html"
local material = require "moonwarp.report.material"
local status = require "moonwarp.report.status"
local tables = require "moonwarp.report.table"
local units = require "moonwarp.base.units"

local comparison = {}

-- { key, label, a, b, ratio, low, high, verdict } for each measurement that both runs have.
local function verdicts(earlier, later)
  local there, compare = pcall(require, "moonwarp.results.compare")
  if not there then return nil, "this moonwarp has no compare" end
  local ok, list = pcall(compare.runs, earlier, later)
  if not ok or type(list) ~= "table" then return nil, "the runs cannot be compared: " .. tostring(list) end
  return list
end

local function same_params(a, b)
  local one, other = facts.list(a.params), facts.list(b.params)
  if #one ~= #other then return false end
  for i, pair in ipairs(one) do
    if pair[1] ~= other[i][1] or pair[2] ~= other[i][2] then return false end
  end
  return true
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
--- and an older run beside one still older tells nothing of today.
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

local function time_of(value)
  if type(value) == "table" then value = value.median end
  return type(value) == "number" and { units.format(value, "s"), value = value } or "-"
end

local function ratio_of(one)
  if type(one.ratio) ~= "number" then return "-" end
  local text = units.digits(one.ratio, 4)
  if type(one.low) == "number" and type(one.high) == "number" then
    text = ("%s (%s to %s)"):format(text, units.digits(one.low, 4), units.digits(one.high, 4))
  end
  return { text, value = one.ratio }
end

local ORDER = { "slower", "faster", "unclear", "same" }

local function tally(list)
  local counts, parts = {}, {}
  for _, one in ipairs(list) do
    local verdict = tostring(one.verdict)
    counts[verdict] = (counts[verdict] or 0) + 1
  end
  for _, verdict in ipairs(ORDER) do
    if counts[verdict] then
      parts[#parts + 1] = { status.badge(verdict), (" %d "):format(counts[verdict]) }
    end
  end
  return parts, counts
end

local function rows_of(list)
  local rows = {}
  for i, one in ipairs(list) do
    rows[i] = { status.badge(tostring(one.verdict)), tostring(one.label or one.key), time_of(one.a),
                time_of(one.b), ratio_of(one) }
  end
  return rows
end

local COLUMNS = { { heading = "verdict" }, { heading = "measurement" },
                  { heading = "earlier", number = true }, { heading = "this run", number = true },
                  { heading = "over earlier (95 %)", number = true } }

-- Labels that only one of the runs has.
local function lone(what, labels)
  if type(labels) ~= "table" or #labels == 0 then return false end
  local words = {}
  for i, label in ipairs(labels) do words[i] = tostring(label) end
  return html.p { class = "note", ("%s: %s."):format(what, table.concat(words, "; ")) }
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
  local list, problem = verdicts(other, run)
  if not list then return html.p { class = "note", problem } end
  local parts, counts = tally(list)
  local heading = ("Against the run of %s"):format(material.when(other))
  return html.details { class = "versus", open = counts.slower ~= nil or counts.faster ~= nil,
    html.summary { html.h4 { heading }, " ", parts }, tables.draw(heading, COLUMNS, rows_of(list)),
    lone("Only in the earlier run", list.missing), lone("Only in this run", list.new) }, counts
end

return comparison
