-- SPDX-License-Identifier: MIT
--
-- `help` at the prompt: what docs/api says of a function, an object, or a name. manual.txt is generated from that data;
-- a section is a line "@NAME" and what follows it.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"

local help = {}

local OVERVIEW = [[
mw is moonwarp; expressions are printed, Tab completes names.

  help(mw.bench), help(dev), help(dev.array)   about a function or an object
  help "bench", help "dev:array"               about a name
  dev = mw.device()                            a device: the first GPU, else the CPU
  exit, quit, q, Ctrl-D                        leave

functions of mw
%s
objects, each with methods
%s]]

-- ---- the manual ---------------------------------------------------------------------------------

local sections -- text by name: "mw.bench", "device.array", "device", "bench_options"

local function read_sections()
  local text, reason = files.read(core.home() .. "/manual.txt") -- of an installation, or of a checkout
  if not text then text, reason = files.read(core.home() .. "/build/generated/manual.txt") end
  if not text then failure.raise_as("io", "moonwarp's own file is not there: %s; install it again", reason) end
  local found, at = {}, nil
  for line in text:gmatch "[^\n]*" do
    local name = line:match "^@(.+)"
    if name then at, found[name] = name, ""
    elseif at then found[at] = found[at] .. line .. "\n" end
  end
  return found
end

local function last_word(name) return name:match "[%w_]+$" end

-- The sections that a word stands for: "mw.bench", "device", "bench"; "dev:array", as the first line has it.
local function named(word)
  local name = word:gsub("%(.*$", "")
  if sections[name] then return { name } end
  local all = lists.filter(lists.keys(sections), function(full)
    return full:find(".", 1, true) and last_word(full) == last_word(name)
  end)
  local form = name:gsub("%.", ":")
  local exact = lists.find(all, function(full) return sections[full]:sub(1, #form + 1) == form .. "(" end)
  return exact and form ~= last_word(name) and { exact } or all
end

-- ---- values -------------------------------------------------------------------------------------

-- The name of a function of the library.
local function name_of(fn)
  for name, value in pairs(require "moonwarp") do
    if value == fn then return "mw." .. name end
  end
  for class, methods in pairs(core.methods) do
    for name, value in pairs(methods) do
      if value == fn then return ("%s.%s"):format(class, name) end
    end
  end
end

-- What to look for; nil if nothing is known of such a value.
local function word_of(value)
  if type(value) == "string" then return value == "mw" and "moonwarp" or value end
  if type(value) == "function" then return name_of(value) end
  if value == require "moonwarp" then return "moonwarp" end
  local class = core.type(value)
  if class then return class:match "%w+$" end
  local study = package.loaded["moonwarp.study"]
  return study and study.is_study(value) and "study" or nil
end

-- ---- what is shown ------------------------------------------------------------------------------

local function wrapped(names)
  local lines, line = {}, " "
  for _, name in ipairs(names) do
    if #line + #name > 78 then
      lines[#lines + 1], line = line, " "
    end
    line = line .. " " .. name
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

local function overview()
  local functions = lists.map(lists.keys(sections), function(name) return name:match "^mw%.(.+)" end)
  local classes = lists.filter(lists.keys(sections), function(name) return core.methods[name] end)
  return OVERVIEW:format(wrapped(functions), wrapped(classes))
end

local function unknown(word)
  local names = lists.map(lists.keys(sections), last_word)
  return ("help has nothing about '%s'; %s"):format(word, nearest.hint(word, names, "help shows an overview"))
end

--- The text of help.
---@param ... any   a function, an object, or a name; nothing: an overview
---@return string
function help.text(...)
  sections = sections or read_sections()
  if select("#", ...) == 0 then return overview() end
  local word = word_of((...))
  if not word then
    return ('help takes a function or an object of moonwarp, or a name as in help "bench", got %s'):format(type((...)))
  end
  local found = named(word)
  if #found == 0 then return unknown(word) end
  return (table.concat(lists.map(found, function(name) return sections[name] end), "\n"):gsub("%s+$", ""))
end

--- What a prompt has as `help`: by itself it shows the overview.
help.value = setmetatable({}, {
  __call = function(_, ...) print(help.text(...)) end,
  __tostring = function() return help.text() end,
})

return help
