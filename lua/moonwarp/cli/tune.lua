-- SPDX-License-Identifier: MIT
--
-- moonwarp tune STUDY: the rungs of a study that have a space, or the mw.tune of a script.

local execution = require "moonwarp.sweep.execution"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"

local tune = { most = 1, least = 1, wants = "tune wants a study or a file; moonwarp list names the studies" }

-- A number of an option.
local function whole(flag)
  return function(text)
    local number = math.tointeger(tonumber(text))
    if number and number >= 0 then return number end
    options.fail("option '%s' wants a whole number, got '%s'", flag, text)
  end
end

local function words(text)
  local list = {}
  for word in text:gmatch "[^,]+" do list[#list + 1] = word end
  return list
end

local OWN <const> = { "rung", "search", "objective", "most", "seed", "resume" }

tune.options = lists.append(lists.map(require("moonwarp.cli.run").plain, function(option)
  return option.flag ~= "--pass" and option.flag ~= "--engines" and option.flag ~= "--counters" and option or nil
end), {
  { flag = "--rung", show = "N", value = "a number or a name", help = "only this rung" },
  { flag = "--search", show = "NAME", value = "a name",
    help = table.concat(require("moonwarp.tune.search").NAMES, ", ") },
  { flag = "--objective", show = "NAME[,NAME]", value = "a name", check = words,
    help = "t, energy or error; of two also the variants that no other is better than in both" },
  { flag = "--most", show = "N", value = "a number", check = whole "--most", help = "variants that are tried" },
  { flag = "--seed", show = "N", value = "a number", check = whole "--seed",
    help = "of searches that draw lots; else 1" },
  { flag = "--resume", help = "take the variants that a run which was killed has measured" },
})

tune.usage = [[
usage: moonwarp tune STUDY|FILE.lua [options] [-- words]

Tries variants of each rung that has a space, checks each, and names the best with all that tie with
it. The values are kept: moonwarp tuned list.]]

tune.example = "moonwarp tune stencil --rung 1 --search local"

tune.notes = [[
exit status: 0 done, 1 error in the script, 2 wrong use, 3 a variant of a study's rung is wrong, 4 no such
device, 130 interrupted]]

--- The command.
---@param parsed table
---@return integer status
function tune.run(parsed)
  local path = require("moonwarp.lab.studies").script(parsed[1])
  local chunk, text = require("moonwarp.study.folder").load(path)
  if not chunk then failure.raise_as("script", text) end
  local own, start = {}, { "tune", path }
  for _, name in ipairs(OWN) do own[name] = parsed[name] end
  return execution.run(chunk, parsed, { script = path, text = text, tune = own, start = start,
                                        argv = lists.append({ "tune" }, parsed.words) })
end

return tune
