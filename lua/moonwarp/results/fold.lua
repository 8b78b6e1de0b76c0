-- SPDX-License-Identifier: MIT
--
-- The lines of a journal as one record. A line is { kind =, value = }; what each kind holds is in
-- docs/record.md.
-- Depends on moonwarp.json.

local json = require "moonwarp.json"

local fold = {}

--- The schema's name; the number grows when a reader of the old one would be wrong.
fold.SCHEMA = "moonwarp-record/1"

--- The keys that lead in record.json.
fold.ORDER = { "schema", "study", "device", "device_name", "date", "status", "exit", "seconds" }

local LISTS = { record = "records", check = "checks", chart = "charts", table = "tables",
                remark = "remarks", picture = "pictures", source = "sources" }

-- A chart or table drawn again by the same name is the same one, later.
local function add(list, value)
  if type(value) == "table" and value.name then
    for i, other in ipairs(list) do
      if other.name == value.name then
        list[i] = value
        return
      end
    end
  end
  list[#list + 1] = value
end

--- One record from the lines of a journal, in their order. Without an end it is "unfinished".
---@param lines table[]
---@return table
function fold.lines(lines)
  local all = { status = "unfinished" }
  for _, list in pairs(LISTS) do all[list] = setmetatable({}, json.list) end
  for _, line in ipairs(lines) do
    local list = LISTS[line.kind]
    if list and (line.kind == "record" or line.kind == "check") then
      table.insert(all[list], line.value)
    elseif list then
      add(all[list], line.value)
    elseif type(line.value) == "table" then -- the run's own fields, and its end
      for key, value in pairs(line.value) do all[key] = value end
    end
  end
  return all
end

return fold
