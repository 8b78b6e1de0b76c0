-- SPDX-License-Identifier: MIT
--
-- Copies of what made a run: its script, the Lua files of its folder that belong to it, and
-- the kernel files with all that they include. They lie in RUN/source as they lay next to the
-- script; kernels from elsewhere lie next to it, where a script looks for them before the library's.

local core = require "moonwarp.core"
local files = require "moonwarp.base.files"
local lists = require "moonwarp.base.lists"
local path = require "moonwarp.base.path"

local sources = {}

local function folder_of(name)
  return name:match("^(.*)/[^/]*$") or "."
end

-- The script, and the folder that its copies are relative to: a study of several files keeps its
-- own name.
local function script_place(script)
  if not script or script == "-e" then return nil end
  script = script:gsub("^%./", "")
  local base = folder_of(script)
  if path.folder(script) then return script, folder_of(base), path.study(script) .. "/" end
  return script, base, ""
end

-- A file's name relative to a folder.
local function relative(file, base)
  return file:sub(1, #base + 1) == base .. "/" and file:sub(#base + 2) or file
end

-- Those that do not come from where scripts search.
local function is_own(module)
  return module == "lfs" or module == "cjson" or (module .. "."):find "^moonwarp%." ~= nil
end

-- Where a module that is loaded came from; each is searched for once, since there may be many
-- records, and many modules.
local function file_of(module, searched, places)
  if searched[module] then return nil end
  searched[module] = true
  local file = type(module) == "string" and not is_own(module) and package.searchpath(module, places)
  return file and file:gsub("^%./", "")
end

-- The Lua files of a study that is a folder, and those that a script required from below its own.
local function companions(script, base, searched)
  local is_folder, places = path.folder(script), package.path
  if is_folder then places = ("%s/?.lua;%s/?/init.lua;%s"):format(base, base, places) end
  local list = lists.map(is_folder and files.entries(base) or {}, function(name)
    return name:match("%.lua$") and base .. "/" .. name or nil
  end)
  for module in pairs(package.loaded) do
    local file = file_of(module, searched, places)
    if file and file:sub(1, #base + 1) == base .. "/" then list[#list + 1] = file end
  end
  table.sort(list)
  return list
end

-- text: what the file held when it was read; a script may have been changed since it began.
local function copy(kept, from, to, text)
  if kept.copied[to] then return end
  kept.copied[to] = true
  text = text or files.read(from)
  if not text then return end
  local target = ("%s/source/%s"):format(kept.folder, to)
  if path.make(folder_of(target)) or files.write(target, text) then return end
  kept.new[#kept.new + 1] = { name = to, from = from }
  return text
end

-- A kernel file, and the files that it names in quotes, each relative to the one that names it.
local function copy_kernel(kept, from, to)
  local text = copy(kept, from, to)
  for included in (text or ""):gmatch('#%s*include%s*"([^"\n]+)"') do
    local beside = folder_of(from) .. "/" .. included
    if files.read(beside) then
      local place = folder_of(to)
      copy_kernel(kept, beside, place == "." and included or place .. "/" .. included)
    end
  end
end

-- "../x.cu" and "/a/x.cu" would leave the folder.
local function inside(name)
  return (name:match("^/") or name:find("..", 1, true)) and name:match("([^/]+)$") or name
end

--- What is kept of a run that begins: nothing yet.
---@param text string?  of the script, where it is known
---@return table kept
function sources.none(text)
  return { copied = {}, searched = {}, text = text }
end

--- Copies the missing files into the run's folder.
---@param folder string      of the run
---@param script string?      its path
---@param kept table         what was kept before; grows
---@return table[] new       { name =, from = } each, name relative to RUN/source
function sources.keep(folder, script, kept)
  local base, prefix
  kept.folder, kept.new = folder, {}
  script, base, prefix = script_place(script)
  if script then
    copy(kept, script, relative(script, base), kept.text)
    for _, file in ipairs(companions(script, folder_of(script), kept.searched)) do
      copy(kept, file, relative(file, base))
    end
  end
  for name, file in pairs(core.files) do
    if not name:match("^moonwarp/") then copy_kernel(kept, file, (prefix or "") .. inside(name)) end
  end
  return kept.new
end

return sources
