-- SPDX-License-Identifier: MIT
--
-- moonwarp cache stat|clear.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local options = require "moonwarp.base.options"
local units = require "moonwarp.base.units"

local cache = { most = 1, least = 1, wants = "cache wants stat or clear" }

cache.usage = [[
usage: moonwarp cache stat|clear

The cache of compiled code. MOONWARP_CACHE names its folder (else $XDG_CACHE_HOME/moonwarp, else
~/.cache/moonwarp), MOONWARP_CACHE_MAX its bound in bytes (else 1 GiB).]]

cache.example = "moonwarp cache stat"

local ACTIONS = {}

function ACTIONS.stat()
  for _, line in ipairs(cache.lines()) do print(line) end
end

function ACTIONS.clear()
  local removed, problem = core.cache_clear()
  if not removed then failure.raise_as("io", "the cache is not usable: %s", problem) end
  print(units.count(removed, "entry", "entries") .. " removed")
end

--- What there is to say of the cache, line by line.
---@return string[]
function cache.lines()
  local stat = core.cache_stat()
  local lines = { "folder   " .. stat.folder }
  if stat.problem then
    lines[2] = "not used: " .. stat.problem
    return lines
  end
  local used, bound = units.format(stat.bytes, "iB", 3), units.format(stat.bound, "iB", 3)
  lines[2] = ("entries  %d, %s of at most %s"):format(stat.entries, used, bound)
  local asked = stat.hits + stat.misses
  local rate = asked == 0 and "" or (", hit rate %.0f %%"):format(100 * stat.hits / asked)
  lines[3] = ("hits     %d, misses %d%s"):format(stat.hits, stat.misses, rate)
  return lines
end

--- The command.
---@param parsed table
function cache.run(parsed)
  local action = parsed[1]
  if not ACTIONS[action] then options.fail_unknown("action", action, { "stat", "clear" }) end
  ACTIONS[action]()
end

return cache
