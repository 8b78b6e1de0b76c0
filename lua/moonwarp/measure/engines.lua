-- SPDX-License-Identifier: MIT
--
-- moonwarp run --engines: each launch of the CPU device by its own engine and by fibers, compared
-- (core/backend/cpu/compare.c). Which device that is, and what has been compared.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local units = require "moonwarp.base.units"

local engines = {}

local function first()
  return lists.find(select(2, core.device_forms()), function(name) return core.device_word(name).compares end)
end

--- The device to open for the one that is wanted: the one that compares.
---@param id string?     nil: any
---@param check table?   how it is to judge (measure/checking.lua)
---@return string? id
function engines.device(id, check)
  local word = core.device_word(id or first())
  if not word or word.offline then return id end
  if not word.compares then
    failure.raise_as("unsupported", "--engines compares the engines of the CPU device, got '%s'; use --device cpu", id)
  end
  if check then
    failure.raise_as("unsupported", "--engines compares results, and check = ... of mw.device judges accesses; "
      .. "run the script without --engines for that")
  end
  return word.compares
end

-- { "12 launches compared", "3 already by fibers", ... }
local function counts_of(compared)
  local list = { units.count(compared.launches, "launch", "launches") .. " compared" }
  local function add(count, text)
    if count > 0 then list[#list + 1] = ("%d %s"):format(count, text) end
  end
  add(compared.fibers, "already by fibers")
  add(compared.cooperative, "cooperative")
  add(compared.formless, "without a fiber form")
  return list
end

--- What has been compared, in words.
---@param found integer  differences
---@return string
function engines.summary(found)
  local compared = core.compared()
  if not compared then return "engines: no launch was compared: the script opens no CPU device" end
  return ("engines: %s: %s"):format(table.concat(counts_of(compared), ", "),
    found == 0 and "no difference" or units.count(found, "difference"))
end

return engines
