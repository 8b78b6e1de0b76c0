-- SPDX-License-Identifier: MIT
--
-- The places of what tools report (tool.lua) in the words of the script. NVRTC puts the folder in which it has compiled
-- before a source's name, and the cache may hold code from another one.

local core = require "moonwarp.core"
local files = require "moonwarp.base.files"
local lists = require "moonwarp.base.lists"
local utf8text = require "moonwarp.base.utf8text"

local tool_place = {}

-- The longest name that the script gave a source and that ends the path.
local function name_of(file)
  local best = ""
  for _, names in ipairs { core.files, core.texts } do
    for name in pairs(names) do
      if #name > #best and ("/" .. file):sub(-#name - 1) == "/" .. name then best = name end
    end
  end
  return best ~= "" and best or nil
end

local function text_of(name, file)
  return name and core.texts[name] or files.read(name and core.files[name] or file) or ""
end

local function line_of(text, number)
  for line in utf8text.lines(text .. "\n") do
    number = number - 1
    if number == 0 then return utf8text.trim(line) end
  end
end

--- Gives the lines of a launch that ncu has counted the names of files and their texts, as far as these are known by
--- now.
---@param launch table   of counters.lua
---@return table launch
function tool_place.named(launch)
  for _, line in ipairs(launch.lines) do
    if not line.text then
      local name = name_of(line.file)
      line.text = line_of(text_of(name, line.file), line.line)
      line.file = name or line.file
    end
  end
  return launch
end

local function placed_party(party)
  if not party.line then return lists.merged(party) end
  local name = name_of(party.file)
  return lists.merged(party, { file = name or party.file, text = line_of(text_of(name, party.file), party.line) })
end

--- A copy of a finding with the names of files and the texts of lines, as far as they are known by now; a race that is
--- marked in one of them is intended.
---@param one table
---@return table
function tool_place.placed(one)
  local parties = lists.map(one.parties, placed_party)
  local is_marked = lists.find(parties, function(party)
    return party.text and party.text:find("moonwarp: race-ok", 1, true)
  end)
  return lists.merged(one, { parties = parties, intended = is_marked ~= nil })
end

return tool_place
