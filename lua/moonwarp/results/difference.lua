-- SPDX-License-Identifier: MIT
--
-- Why two runs have no measurement in common. A measurement of one run is that of another where everything
-- that was chosen is the same (results/measurement.lua), so that one name or parameter is enough to part
-- them all.

local lists = require "moonwarp.base.lists"
local measurement = require "moonwarp.results.measurement"
local path = require "moonwarp.base.path"

local difference = {}

local MOST = 3 -- values that are shown of a name

-- ---- what was chosen ------------------------------------------------------------------------------

local function note(names, name, value, is_parameter)
  local about = names[name] or {}
  names[name], about.is_parameter = about, about.is_parameter or is_parameter
  if not lists.has(about, value) then about[#about + 1] = value end
end

-- The values of each name that the measurements of a run were chosen by, in the order in which they come.
local function names_of(run)
  local names = {}
  for _, one in ipairs(measurement.of(run)) do
    local params = one.record.params or {}
    for name, value in pairs(measurement.choices(one.record)) do
      note(names, name, tostring(value), params[name] ~= nil)
    end
    note(names, "the name of the result", one.field, false)
  end
  return names
end

local function has_common(one, other)
  return lists.find(one, function(value) return lists.has(other, value) end) ~= nil
end

-- The names whose values part the runs, sorted: parameters and others.
local function parting(a, b)
  local params, fields = {}, {}
  for _, name in ipairs(lists.keys(lists.merged(a, b))) do
    if not (a[name] and b[name] and has_common(a[name], b[name])) then
      local is_parameter = a[name] and a[name].is_parameter or b[name] and b[name].is_parameter
      table.insert(is_parameter and params or fields, name)
    end
  end
  return params, fields
end

-- ---- in words -----------------------------------------------------------------------------------

local function values_text(about)
  if not about then return "absent" end
  return table.concat(about, ", ", 1, math.min(#about, MOST)) .. (#about > MOST and ", ..." or "")
end

local function list_text(list, a, b)
  return table.concat(lists.map(list, function(name)
    return ("%s (A: %s; B: %s)"):format(name, values_text(a[name]), values_text(b[name]))
  end), ", ")
end

-- The parameters of A as written on the command line, if it has one value of each.
local function words_of(study, params, a)
  local words = lists.map(params, function(name)
    return a[name] and #a[name] == 1 and "-p " .. path.word(("%s=%s"):format(name, a[name][1])) or nil
  end)
  return #words > 0 and ("moonwarp run %s %s"):format(study, table.concat(words, " ")) or nil
end

-- The names of the studies' rungs, groups and fields changed in 0.4.0.
local function is_before_names(run)
  local major, minor = tostring(run.moonwarp):match "^(%d+)%.(%d+)"
  return major ~= nil and tonumber(major) == 0 and tonumber(minor) < 4
end

--- Why two runs have no measurement in common, and the way out; A has some.
---@param a table   a run, as store.read gives it
---@param b table
---@return string
function difference.text(a, b)
  if a.study ~= b.study then
    return ("A is a run of '%s' and B of '%s'; compare two runs of one study"):format(a.study, b.study)
  end
  local in_a, in_b = names_of(a), names_of(b)
  if not next(in_b) then return "B has none: its script records no result of mw.bench and no number with a unit" end
  local params, fields = parting(in_a, in_b)
  if #fields > 0 and is_before_names(a) ~= is_before_names(b) then
    return ("names changed in 0.4.0, and A is of moonwarp %s, B of %s; measure both with one version"):format(
      a.moonwarp, b.moonwarp)
  end
  local parts = {}
  if #params > 0 then
    local words = words_of(a.study, params, in_a)
    parts[1] = ("parameters differ: %s; run it again with those of A%s"):format(
      list_text(params, in_a, in_b), words and ": " .. words or "")
  end
  if #fields > 0 then
    parts[#parts + 1] = ("records differ: %s; give what is the same the same names"):format(
      list_text(fields, in_a, in_b))
  end
  if #parts == 0 then
    parts[1] = "what was chosen is the same by itself and never together; moonwarp export A B --csv shows it"
  end
  return table.concat(parts, "; ")
end

return difference
