-- SPDX-License-Identifier: MIT
--
-- A study that is a folder: NAME/init.lua, whose files require each other by name while it runs.

local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local lfs = require "lfs"
local lists = require "moonwarp.base.lists"
local path = require "moonwarp.base.path"
local syntax = require "moonwarp.base.syntax"

local folder = {}

-- What a folder has no file for, whatever its files are called.
local OURS <const> = lists.set { "moonwarp", "lfs", "cjson" }

-- A folder's file of a name: "sub.mesh" is sub/mesh.lua, or sub/mesh/init.lua.
local function file_of(of, name)
  local is_its = not OURS[name:match "^[^.]*"] and name:find "^[%w_%-.]+$"
  return is_its and package.searchpath(name, ("%s?.lua;%s?/init.lua"):format(of, of))
end

-- A script in the working folder, or in one above it, by its folder's name.
local function named(script)
  local of, home = path.folder(script), lfs.currentdir()
  if not (of and of:find "%f[^/%z]%.%.?/$" and lfs.chdir(of)) then return script end
  script = lfs.currentdir() .. "/init.lua"
  lfs.chdir(home)
  return script
end

--- The script that a path means: a file, or a folder's init.lua; nil if there is neither.
---@param given string   "mine.lua", "some/folder", "some/folder/", "."
---@return string? script
function folder.script(given)
  local found = lists.find({ given, given:gsub("(.)/+$", "%1") .. "/init.lua" }, function(name)
    local mode = lfs.attributes(name, "mode") -- a pipe is accepted, too
    return mode ~= nil and mode ~= "directory"
  end)
  return found and named(found)
end

--- The chunk of a script; a #! line is a comment to Lua's own loader too.
---@param script string  its path
---@param text string?   of it, where it has been read
---@return function? chunk
---@return string text   of the script, or errors in it
function folder.load(script, text)
  local chunk, problem
  if not text then text, problem = files.read(script) end
  if text then chunk, problem = load((text:gsub("^#[^\n]*", "")), "@" .. script) end
  if text and not chunk then problem = syntax.explain(text, problem) end
  return chunk, chunk and text or problem
end

--- Until it is closed the files of a folder require each other: FOLDER/mesh.lua is "mesh". They are found after
--- moonwarp's own modules and before what Lua finds elsewhere, which is not the working folder; the next study loads
--- its own.
---@param script string?   its path
---@return table? open     to be closed; nil: it is no folder's init.lua
function folder.open(script)
  local of = script and path.folder(script)
  if not of then return nil end
  local names, others, places = {}, {}, { path = package.path, cpath = package.cpath }
  for name, value in pairs(package.loaded) do -- of that name, but another's
    if file_of(of, name) then others[name], package.loaded[name] = value, nil end
  end
  local function find(name)
    local file = file_of(of, name)
    if not file then return nil end
    local chunk, problem = folder.load(file)
    if not chunk then failure.raise_as("script", "%s", problem) end
    names[#names + 1] = name
    return chunk, file
  end
  table.insert(package.searchers, 3, find) -- after package.preload and moonwarp's own
  for key, place in pairs(places) do package[key] = (";" .. place):gsub(";%.[^;]*", ""):sub(2) end
  return setmetatable(names, { __close = function()
    for _, name in ipairs(names) do package.loaded[name] = others[name] end
    for name, value in pairs(others) do package.loaded[name] = value end
    for key, place in pairs(places) do package[key] = place end
    for i = #package.searchers, 1, -1 do
      if package.searchers[i] == find then table.remove(package.searchers, i) end
    end
  end })
end

return folder
