-- SPDX-License-Identifier: MIT
--
-- requires.lua: which files of lua/moonwarp require which, for floors.lua. A require inside a function is one too, and
-- so is one whose name is built from pieces: it stands for every module that its first piece begins.

local requires = {}

-- The floors: a file requires only files of its own floor and of those before it. Scripts require a file that no floor
-- names, as moonwarp.blas, by its own name; it is above the library.
local LIBRARY <const> = { "study", "tune", "init" }
local ABOVE <const> = {}
local FLOORS <const> = {
  { "base/" }, { "own_kernels", "skip" }, { "measure/" }, { "results/" }, { "plot/" }, { "session" },
  { "arg", "array", "reduce", "module" }, { "mesh/", "grid/", "grid" }, { "tools/" }, { "tune/" }, { "study/" },
  LIBRARY, ABOVE,
  { "lab/" }, { "port/" }, { "report/" }, { "slurm/" }, { "sweep/" }, { "prompt/" }, { "cli/", "cli" },
}
-- Who may name the current session. Others are given one.
local SESSION <const> = { "session", "init", "arg", "study", "study/", "sweep/", "prompt/", "cli/" }

-- ---- reading ------------------------------------------------------------------------------------

-- The names, texts and marks of a source, without its comments: "require", '"moonwarp.base.', "..".
local function words_of(text)
  local list, at = {}, 1
  local function take(pattern)
    local from, to = text:find("^" .. pattern, at)
    if from then at = to + 1 end
    return from and text:sub(from, to)
  end
  local function long()
    local equals = text:match("^%[(=*)%[", at)
    if not equals then return nil end
    local _, to = text:find("]" .. equals .. "]", at, true)
    at = to + 1
    return '"'
  end
  local function quoted()
    local quote, from = text:match("^[\"']", at), at
    if not quote then return nil end
    repeat
      local _, to = text:find("[\\" .. quote .. "]", at + 1)
      local is_escape = text:sub(to, to) == "\\"
      at = is_escape and to + 1 or to
    until not is_escape
    at = at + 1
    return '"' .. text:sub(from + 1, at - 2)
  end
  while at <= #text do
    take "%s+"
    if take "%-%-" then
      if not long() then take "[^\n]*" end
    elseif at <= #text then
      list[#list + 1] = take "[%a_][%w_]*" or long() or quoted() or take "%.%.+" or take "."
    end
  end
  return list
end

-- What a source requires: { name =, is_begun = whether pieces follow }, and whether it names the current session.
local function named_in(words)
  local list, names_session = {}, false
  for i, word in ipairs(words) do
    local dot = words[i + 1] == ")" and i + 2 or i + 1 -- session.current, require("moonwarp.session").current
    if (word == "session" or word == '"moonwarp.session') and words[dot] == "." and words[dot + 1] == "current" then
      names_session = true
    end
    if word == "require" then
      local at = (words[i + 1] == "(" or words[i + 1] == ",") and i + 2 or i + 1
      local name = words[at] and words[at]:match '^"(.*)$'
      list[#list + 1] = { name = name or "", is_begun = not name or words[at + 1] == ".." }
    end
  end
  return list, names_session
end

-- ---- the graph ----------------------------------------------------------------------------------

-- The files below a folder by the names of their modules: { ["moonwarp.base.lists"] = "base/lists" }.
local function modules_below(folder)
  local list = {}
  local pipe <close> = assert(io.popen(("find '%s' -name '*.lua' 2>/dev/null"):format(folder)))
  for path in pipe:lines() do
    local file = path:sub(#folder + 2, -5)
    list["moonwarp." .. file:gsub("/", "."):gsub("^init$", "")] = file
  end
  list.moonwarp, list["moonwarp."] = list["moonwarp."], nil
  return list
end

local function edges_of_file(words, modules)
  local to = {}
  local list, names_session = named_in(words)
  for _, one in ipairs(list) do
    for name, file in pairs(modules) do
      if name == one.name or one.is_begun and name:sub(1, #one.name) == one.name then to[file] = { "require" } end
    end
  end
  return to, names_session
end

local function is_of(file, names)
  for _, name in ipairs(names) do
    if file == name or name:sub(-1) == "/" and file:sub(1, #name) == name then return true end
  end
  return false
end

local function floor_of(file)
  local above
  for i, names in ipairs(FLOORS) do
    if is_of(file, names) then return i end
    if names == ABOVE then above = i end
  end
  return not file:find "/" and above or nil
end

-- What is against the order, each "A -> B" or "A: session.current".
local function faults_of(edges, sessions)
  local faults = {}
  for file, to in pairs(edges) do
    local floor = floor_of(file)
    if not floor then faults[#faults + 1] = file .. ": is on no floor" end
    for other in pairs(to) do
      if floor and (floor_of(other) or 0) > floor then
        faults[#faults + 1] = ("%s -> %s"):format(file, other)
      end
    end
    if sessions[file] and not is_of(file, SESSION) then faults[#faults + 1] = file .. ": session.current" end
  end
  table.sort(faults)
  return faults
end

--- What the files of a folder require.
---@param folder string  "lua/moonwarp"
---@return table edges     edges[file][other]; a file as "base/lists"
---@return string[] faults  what is against the order, in words
function requires.read(folder)
  local modules, edges, sessions = modules_below(folder), {}, {}
  for _, file in pairs(modules) do
    local source <close> = assert(io.open(("%s/%s.lua"):format(folder, file)))
    edges[file], sessions[file] = edges_of_file(words_of(source:read "a"), modules)
    edges[file][file] = nil
  end
  return edges, faults_of(edges, sessions)
end

return requires
