-- SPDX-License-Identifier: MIT
--
-- Units: one prefix is chosen for a whole column or axis, so that its numbers can be compared by
-- eye. Everything is kept in base units (s, B, B/s, 1/s); 1 GB = 1e9 B.

local units = {}

local DECIMAL = {
  { 1e15, "P" }, { 1e12, "T" }, { 1e9, "G" }, { 1e6, "M" }, { 1e3, "k" }, { 1, "" },
  { 1e-3, "m" }, { 1e-6, "µ" }, { 1e-9, "n" }, { 1e-12, "p" },
}
local BINARY = { { 2^40, "Ti" }, { 2^30, "Gi" }, { 2^20, "Mi" }, { 2^10, "Ki" }, { 1, "" } }
local COUNT = { { 1, "" } }

-- Which prefixes a base unit is written with, and the smallest one that makes sense.
local PREFIXES = {
  ["s"] = { DECIMAL, least = 1e-12, most = 1 },
  ["B"] = { DECIMAL, least = 1, most = 1e15 },
  ["iB"] = { BINARY, least = 1, most = 2^40, name = "B" },
  ["B/s"] = { DECIMAL, least = 1, most = 1e15 },
  ["1/s"] = { DECIMAL, least = 1, most = 1e15, behind = "/s" }, -- 1e9 of them are G/s
  ["flop/s"] = { DECIMAL, least = 1, most = 1e15 },
  ["Hz"] = { DECIMAL, least = 1, most = 1e15 },
  ["%"] = { { { 0.01, "" } }, least = 0.01, most = 0.01 },
}

-- Names that mean one thing; every other name has a unit only if its record gives one (docs/record.md).
local FIELDS = { T_tot = "B/s", T_eff = "B/s", bandwidth = "B/s", bytes = "iB", nbytes = "iB", seconds = "s", t = "s" }

-- The fields of a benchmark.
local BENCH = { throughput = "B/s", rate = "flop/s", intensity = "flop/B", bytes = "iB", launch = "s" }
for name in ("median low high min max mean sd mad p05 p25 p75 p95 first"):gmatch "%S+" do BENCH[name] = "s" end

--- The base unit of a field of a benchmark, or "".
---@param name string
---@return string
function units.of_bench(name)
  return BENCH[name] or ""
end

--- The base unit of a field by its name.
---@param field string
---@return string unit  "s", "B/s", "iB" (bytes with binary prefixes), or ""
function units.of(field)
  return FIELDS[field] or ""
end

--- The base unit of one that has a prefix: "B/s" of "GB/s".
---@param text string
---@return string? unit  nil: it has none that is known
function units.without_prefix(text)
  for unit, rule in pairs(PREFIXES) do
    for _, step in ipairs(rule[1]) do
      local name = step[2] .. (rule.behind or rule.name or unit)
      if step[2] ~= "" and (text == name or text == name:gsub("µ", "u")) then return unit end
    end
  end
end

--- Why a unit is none that a record can give to a field; nil if it is.
---@param field any
---@param unit any
---@return string?
function units.problem(field, unit)
  if type(field) ~= "string" or type(unit) ~= "string" then
    return "'units' must be texts by the names of fields, as in units = { rate = \"flop/s\" }"
  end
  local base = units.without_prefix(unit)
  return base and ("'units' wants a base unit of '%s', got '%s'; give it as '%s', and the value without a prefix: what "
    .. "shows it chooses one"):format(field, unit, base)
end

--- The scale for values up to a given size.
---@param unit string     a base unit
---@param largest number  the largest magnitude shown
---@return { factor: number, name: string }  divide by factor; name as in "GB/s"
function units.choose(unit, largest)
  local rule = PREFIXES[unit] or { COUNT, least = 1, most = 1 }
  local prefixes, base = rule[1], rule.name or unit
  largest = math.abs(largest)
  if largest ~= largest or largest == math.huge then return { factor = 1, name = base } end
  local last
  for _, step in ipairs(prefixes) do
    local factor, prefix = step[1], step[2]
    if factor <= rule.most and factor >= rule.least then
      last = { factor = factor, name = prefix .. (prefix ~= "" and rule.behind or base) }
      if largest >= factor then return last end
    end
  end
  if largest == 0 and unit ~= "%" then return { factor = 1, name = base } end
  return last
end

--- How many of a thing there are, in words: "1 run", "2 runs".
---@param count integer
---@param one string
---@param many string?  else with an s
---@return string
function units.count(count, one, many)
  return ("%d %s"):format(count, count == 1 and one or many or one .. "s")
end

--- What an axis or a column shows, with its unit: "T_tot (GB/s)".
---@param name string
---@param scale table  of units.choose
---@return string
function units.label(name, scale)
  return scale.name == "" and name or ("%s (%s)"):format(name, scale.name)
end

--- A number with a given count of digits that matter, not in exponent form from 1e-6 to 1e15.
---@param value number
---@param digits integer?  4 if left out
---@return string
function units.digits(value, digits)
  digits = digits or 4
  if value ~= value or value == math.huge or value == -math.huge then
    return (("%f"):format(value):gsub("^%-nan$", "nan"))
  end
  if math.type(value) == "integer" or value == 0 then return ("%d"):format(value) end
  local magnitude = math.floor(math.log(math.abs(value), 10) + 1e-12)
  if magnitude >= 15 or magnitude < -6 then return ("%." .. digits - 1 .. "e"):format(value) end
  return ("%." .. math.max(0, digits - 1 - magnitude) .. "f"):format(value)
end

--- A ratio as a change: "-2.5 %".
---@param ratio number
---@return string
function units.change(ratio)
  local percent = (ratio - 1) * 100
  return (math.abs(percent) < 1e6 and "%+.1f %%" or "%+.1e %%"):format(percent)
end

--- One value with its unit, as in "1.234 ms".
---@param value number    in base units
---@param unit string
---@param digits integer?
---@return string
function units.format(value, unit, digits)
  local scale = units.choose(unit, value)
  local shown = scale.factor == 1 and value or value / scale.factor
  local text = units.digits(shown, digits)
  return scale.name == "" and text or text .. " " .. scale.name
end

return units
