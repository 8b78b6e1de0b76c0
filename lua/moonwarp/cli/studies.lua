-- SPDX-License-Identifier: MIT
--
-- The studies: experiments/NAME.lua or experiments/NAME/init.lua. Title and parameters are read
-- from the text, so that listing them runs nothing. experiments/curriculum.lua is none: it lists
-- them for moonwarp batch.
-- Depends on moonwarp.core (home), cli.options, files, path (quote), lfs.

local core = require "moonwarp.core"
local files = require "moonwarp.files"
local options = require "moonwarp.cli.options"
local path = require "moonwarp.path"

local studies = {}

local function exists(name)
  local file = io.open(name, "r")
  -- A folder opens but cannot be read.
  local readable = file and file:read(0) ~= nil or file and file:seek("end") == 0
  if file then file:close() end
  return readable
end

local function candidates(name)
  if name == "curriculum" then return {} end
  local folder = core.home() .. "/experiments/"
  return { folder .. name .. ".lua", folder .. name .. "/init.lua" }
end

--- The script of a study, or of a file; nil where there is none.
---@param word string   "memcopy", "mine.lua", "some/folder"
---@return string? path
function studies.find(word)
  if not word:find("/") and not word:match("%.lua$") then
    for _, candidate in ipairs(candidates(word)) do
      if exists(candidate) then return candidate end
    end
  end
  if exists(word) then return word end
  return exists(word .. "/init.lua") and word .. "/init.lua" or nil
end

local function fail_none(word)
  if require("lfs").attributes(word) then options.fail("'%s' is a folder without an init.lua", word) end
  if word:find("/") or word:match("%.lua$") then options.fail("there is no file '%s'", word) end
  options.fail_unknown("study", word, studies.names(), "moonwarp list names them")
end

--- The same, or an error that names what there is.
---@param word string
---@return string path
function studies.script(word)
  return studies.find(word) or fail_none(word)
end

--- Names of all studies, sorted.
---@return string[]
function studies.names()
  local names = {}
  local folder = path.quote(core.home() .. "/experiments")
  local pipe <close> = io.popen(("ls -- %s 2>/dev/null"):format(folder))
  for entry in pipe:lines() do
    local name = entry:match("^([%w_%-]+)%.lua$") or entry:match("^[%w_%-]+$")
    if name and studies.find(name) then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

-- The sentence behind the name in the comment at the top; it may go on in the next lines.
local function title_of(text, name)
  local title
  for line in text:gmatch("[^\n]+") do
    local comment = line:match("^%-%-%s*(.-)%s*$")
    if not comment or title and comment == "" then break end
    if title then
      title = title .. " " .. comment
    elseif comment:sub(1, #name) == name then
      title = comment:match("^[%w_%-]+:%s+(.+)$")
    end
    if title and title:match("[.?!]$") then break end
  end
  return title or ""
end

-- The default as it stands in the script: up to the comma or parenthesis that ends it.
local function default_at(text, from)
  local depth, at = 0, from
  while at <= #text do
    local c = text:sub(at, at)
    if c == '"' or c == "'" then
      at = text:find(c, at + 1, true) or #text
    elseif c:match("[({[]") then
      depth = depth + 1
    elseif c:match("[)}%]]") or c == "," then
      if depth == 0 then break end
      if c ~= "," then depth = depth - 1 end
    end
    at = at + 1
  end
  return text:sub(from, at - 1):gsub("^%s+", ""):gsub("%s+$", ""), at
end

-- Whether nothing but the calls found can ask for parameters: no mw.arg under another name or with
-- a computed one, and no other file.
local function is_complete(text, calls, is_folder)
  local code = ("\n" .. text):gsub("\n%s*%-%-[^\n]*", "\n")
    :gsub("%f[%w_.:]require%s*%(?%s*[\"']moonwarp[\"']", "")
  for _, word in ipairs(is_folder and { "load" } or { "require", "dofile", "loadfile", "load" }) do
    if code:find("%f[%w_.:]" .. word .. "%f[^%w_]") then return false end
  end
  local _, uses = code:gsub("%.%s*arg%f[^%w_]", "")
  return uses <= calls and not code:find("[\"']arg[\"']")
end

--- All text of a script; of a study that is a folder, that of its other files behind it.
---@param script string  its path
---@return string
---@return boolean is_folder
function studies.text(script)
  local parts = { assert(files.read(script)) }
  local folder = script:match("^(.*)/init%.lua$")
  if not folder then return parts[1], false end
  for name in require("lfs").dir(folder) do
    if name:match("%.lua$") and name ~= "init.lua" then
      parts[#parts + 1] = files.read(folder .. "/" .. name)
    end
  end
  return table.concat(parts, "\n"), true
end

--- The parameters that a script asks for: { name =, default = (text), list =, help = }.
---@param text string          of studies.text
---@param is_folder boolean?   the text is that of all its files
---@return table[]
---@return boolean complete  whether it can ask for no others
function studies.parameters(text, is_folder)
  local found, from = {}, 1
  while true do
    local _, last, name = text:find("[%w_]%s*%.%s*arg%s*%(%s*[\"']([%w_]+)[\"']%s*,", from)
    if not last then return found, is_complete(text, #found, is_folder) end
    local default, at = default_at(text, last + 1)
    local help = text:match("^,%s*\"([^\"]*)\"", at) or text:match("^,%s*'([^']*)'", at)
    local list = default:sub(1, 1) == "{"
    found[#found + 1] = { name = name, default = default, list = list, help = help }
    from = at
  end
end

--- What a study, or a file, says of itself.
---@param word string
---@return table study   { name =, path =, title =, parameters = }
function studies.read(word)
  local script = studies.script(word)
  local name = script:gsub("/init%.lua$", ""):gsub("%.lua$", ""):match "[^/]+$"
  local text, is_folder = studies.text(script)
  local title, parameters = title_of(text, name), studies.parameters(text, is_folder)
  return { name = name, path = script, title = title, parameters = parameters }
end

return studies
