-- SPDX-License-Identifier: MIT
--
-- Where a script's results go, and the shell's quoting.
-- Depends on moonwarp.core (options.out, options.script, home).

local core = require "moonwarp.core"

local path = {}

local made = {}

--- A word for the shell.
---@param text string
---@return string
function path.quote(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

--- The running script's name without folder and ending; "script" where there is none.
---@return string
function path.script()
  local name = core.options.script or "script"
  if name:match("init%.lua$") then name = name:match("([^/]+)/init%.lua$") or name end
  return (name:match("([^/]+)$") or name):gsub("%.lua$", "")
end

--- Makes the output folder, with its parents.
---@param folder string
---@return string? problem
function path.make(folder)
  local quoted = path.quote(folder)
  local make = "{ mkdir -p -- %s && { test -w %s || echo : it may not be written to; }; } 2>&1"
  local pipe <close> = io.popen(make:format(quoted, quoted))
  local reason = pipe:read("a"):match("[^:]*$"):gsub("%s+$", "")
  if reason ~= "" then
    return ("cannot make the output folder %s:%s; choose another with --out DIR"):format(folder, reason)
  end
  made[folder] = true
end

--- The path of a file in the output folder (--out, else "out"), which is made if need be.
---@param name string
---@return string
function path.out(name)
  local folder = core.options.out or "out"
  if not made[folder] then
    local problem = path.make(folder)
    if problem then error(problem, 0) end
  end
  return folder .. "/" .. name
end

--- A name made safe for a file: letters, digits, - and _.
---@param text string
---@return string
function path.safe(text)
  local name = text:gsub("[^%w%-_]+", "-"):gsub("^%-+", ""):gsub("%-+$", "")
  return name == "" and "plot" or name
end

return path
