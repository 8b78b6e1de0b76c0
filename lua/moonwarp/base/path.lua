-- SPDX-License-Identifier: MIT
--
-- Names of scripts and files, folders, and the shell's quoting.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"

local path = {}

--- A word for the shell.
---@param text string
---@return string
function path.quote(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

--- A word as a person types it for the shell: with quotation marks only where the shell needs them.
---@param text string
---@return string
function path.word(text)
  return text:find "[^%w_./,:=+%-]" and path.quote(text) or text
end

--- The folder of a study of several files, by its script: "some/mesh/" of "some/mesh/init.lua"; nil of another.
---@param script string
---@return string?
function path.folder(script)
  return script:match "^(.*/)init%.lua$" or script == "init.lua" and "./" or nil
end

--- A script's name without its folder and its ending; of a study of several files its folder's.
---@param script string
---@return string
function path.study(script)
  local folder = path.folder(script)
  return ((folder and folder:match "([^/]+)/+$" or script:match "[^/]+$" or script):gsub("%.lua$", ""))
end

--- Makes the output folder, with its parents.
---@param folder string
---@return string? problem
function path.make(folder)
  local reason = core.make_folder(folder)
  if reason then
    return ("cannot make the output folder %s: %s; choose another with --out DIR"):format(folder, reason)
  end
end

--- A new temporary folder.
---@return string name
---@return table guard   removes it when it is closed
function path.temporary()
  local name = os.tmpname()
  os.remove(name)
  local problem = path.make(name)
  if problem then failure.raise_as("io", "%s", problem) end
  return name, setmetatable({}, { __close = function() os.execute("rm -rf " .. path.quote(name)) end })
end

--- Makes a new folder, never an existing one: PARENT/DATE-NAME, else PARENT/DATE-NAME-2 and so on.
---@param parent string   made if needed
---@param name string
---@return string? folder
---@return string? problem
function path.make_new(parent, name)
  local problem = path.make(parent)
  if problem then return nil, problem end
  local base = ("%s/%s-%s"):format(parent, os.date "!%Y%m%d-%H%M%S", name)
  local lfs, folder, number = require "lfs", base, 1
  while true do
    local made, reason = lfs.mkdir(folder) -- fails if the folder exists
    if made then return folder end
    if not lfs.symlinkattributes(folder, "mode") then
      return nil, ("cannot make the folder %s: %s; choose another place with --out DIR"):format(folder, reason)
    end
    number = number + 1
    folder = ("%s-%d"):format(base, number)
  end
end

-- The folder itself, or the nearest above it that is there.
local function nearest_above(folder)
  local lfs = require "lfs"
  while folder ~= "." and not lfs.attributes(folder, "mode") do
    folder = folder:match("^(.*[^/])/+[^/]*$") or "."
  end
  return folder, lfs.attributes(folder, "mode") == "directory"
end

--- Whether the output folder could be made, and files in it; makes nothing.
---@param folder string  a relative one
---@return string? problem
function path.obstacle(folder)
  local above, is_folder = nearest_above(folder)
  local reason = not is_folder and "is not a folder"
    or not core.is_writable(above) and "may not be written to"
  if reason then
    return ("cannot make the output folder %s: %s %s; choose another with --out DIR"):format(folder, above, reason)
  end
end

local MOST_NAME <const> = 100 -- letters of a file's name, without its ending

--- A name made safe for a file: letters, digits, - and _.
---@param text string
---@return string
function path.safe(text)
  local name = text:gsub("[^%w%-_]+", "-"):gsub("^%-+", ""):sub(1, MOST_NAME):gsub("%-+$", "")
  return name == "" and "plot" or name
end

--- The same for a chart: data.dat has the records of its run.
---@param text string
---@return string
function path.chart(text)
  local name = path.safe(text)
  return name == "data" and "data-chart" or name
end

return path
