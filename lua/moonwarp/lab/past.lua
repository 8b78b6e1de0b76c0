-- SPDX-License-Identifier: MIT
--
-- How long steps took in earlier batches of the same OUT, as far as they passed.
-- Depends on lab.ledger.

local ledger = require "moonwarp.lab.ledger"

local past = {}

local BATCHES = 20 -- the newest that are read

local LINE = '"kind":"end".-"id":"([^"]*)".-"verdict":"passed".-"seconds":([%d.e+-]+)'

local function read(folder, into)
  local file = io.open(folder .. "/journal.jsonl", "r")
  if not file then return end
  local here = {}
  for line in file:lines() do
    local id, seconds = line:match(LINE)
    if id then here[id] = tonumber(seconds) end
  end
  file:close()
  for id, seconds in pairs(here) do into[id] = into[id] or seconds end
end

--- Seconds by the step's id.
---@param root string  OUT
---@return table<string, number>
function past.seconds(root)
  local known, folders = {}, ledger.all(root)
  for i = 1, math.min(#folders, BATCHES) do read(folders[i], known) end
  return known
end

return past
