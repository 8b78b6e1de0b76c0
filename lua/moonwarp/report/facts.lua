-- SPDX-License-Identifier: MIT
--
-- Values of any shape as a list of names and texts: parameters, environments. It knows no field but the
-- units of some, so that a new one is shown without a change here.

local html = require "moonwarp.report.html"
local lists = require "moonwarp.base.lists"
local units = require "moonwarp.base.units"

local facts = {}

local DEEPEST <const> = 5
local MOST <const> = 400 -- lines; longer values of an environment are cut

--- The value if it is a table, else an empty table.
---@param value any
---@return table
function facts.table(value)
  return type(value) == "table" and value or {}
end

--- A plain value as text.
---@param value any
---@return string
function facts.word(value)
  if type(value) == "boolean" then return value and "yes" or "no" end
  if math.type(value) == "float" then return ("%.6g"):format(value) end
  return tostring(value)
end

-- What a number is measured in, by the last word of its path.
local UNITS = { memory = "iB", memory_total = "iB", peak_bandwidth = "B/s", clock = "Hz", clock_max = "Hz",
                memory_clock = "Hz", memory_clock_max = "Hz" }
local PLAIN_UNITS = { temperature = " °C", power = " W", power_limit = " W" }

--- A number of an environment or a state with its unit.
---@param name string   of the field
---@param value any
---@return string
function facts.amount(name, value)
  if type(value) == "number" and UNITS[name] then return units.format(value + 0.0, UNITS[name], 4) end
  local text = facts.word(value)
  return type(value) == "number" and PLAIN_UNITS[name] and text .. PLAIN_UNITS[name] or text
end

local function is_plain(value)
  local kind = type(value)
  return kind == "string" or kind == "number" or kind == "boolean"
end

local function plain_list(value)
  if #value == 0 or lists.find(value, function(one) return not is_plain(one) end) ~= nil then return nil end
  return table.concat(lists.map(value, facts.word), ", ")
end

local function add(list, name, value, depth, field)
  if #list >= MOST then return end
  if is_plain(value) then
    if value ~= "" then list[#list + 1] = { name, facts.amount(field, value) } end
  elseif type(value) == "table" and depth < DEEPEST then
    local words = plain_list(value)
    if words then list[#list + 1] = { name, words } end
    for _, inner in ipairs(words and {} or lists.keys(value)) do
      local path = name == "" and tostring(inner) or ("%s, %s"):format(name, inner)
      add(list, (path:gsub("_", " ")), value[inner], depth + 1, inner)
    end
  end
end

--- The plain values in a table, inner ones by their path: { { "driver", "570.1" }, ... }.
---@param object table
---@return table[]
function facts.list(object)
  local list = {}
  add(list, "", object, 0)
  return list
end

--- A text for an alarm, a flag or a warning: a string, or an object with words in it.
---@param value any
---@return string
function facts.words(value)
  if type(value) ~= "table" then return tostring(value) end
  local names = { "what", "text", "cause", "why", "message", "reason", "remedy", "todo", "way_out" }
  local parts = lists.map(names, function(name) return is_plain(value[name]) and facts.word(value[name]) or nil end)
  return #parts > 0 and table.concat(parts, "; ") or plain_list(value) or "(no words)"
end

--- Pairs as a list of names and texts.
---@param pairs_ table[]   { name, text or markup }; a false text leaves it out
---@param class string?    "wide" for long names
---@return table markup
function facts.draw(pairs_, class)
  return html.dl { class = class, lists.map(pairs_, function(pair)
    return pair[2] and html.div { html.dt { pair[1] }, html.dd { pair[2] } } or nil
  end) }
end

return facts
