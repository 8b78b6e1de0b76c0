-- SPDX-License-Identifier: MIT
--
-- requires.lua: which files of lua/moonwarp require which, for floors.lua. A require inside a function is one too, and
-- so is one whose name is built from pieces: it stands for every module that its first piece begins.

local requires = {}

-- The floors: a file requires only files of its own floor and of those before it. Scripts require a file that no floor
-- names, as moonwarp.blas, by its own name; it is above the library.
local LIBRARY <const> = { "study", "init" }
local ABOVE <const> = {}
local FLOORS <const> = {
  { "base/" }, { "own_kernels", "skip" }, { "measure/" }, { "results/" }, { "plot/" }, { "session" },
  { "arg", "array", "reduce", "module" }, { "tools/" }, { "study/" }, LIBRARY, ABOVE,
  { "lab/" }, { "report/" }, { "slurm/" }, { "sweep/" }, { "prompt/" }, { "cli/", "cli" },
}
-- Who may name the current session. Others are given one.
local SESSION <const> = { "session", "init", "arg", "study", "study/", "sweep/", "prompt/", "cli/" }

-- Requires against the order or in a circle, and files that name the current session, as of today: only ever shortened.
local EXCEPTIONS <const> = {
  "base/path -> session", "base/path: session.current", "lab/schema -> slurm/site", "measure/alarm -> session",
  "measure/alarm: session.current", "measure/bench -> arg", "measure/bench -> session",
  "measure/bench: session.current", "measure/ceiling -> session", "measure/ceiling: session.current",
  "measure/check -> session", "measure/check: session.current", "measure/environment -> session",
  "measure/environment: session.current", "plot/figure -> session", "plot/figure: session.current",
  "plot/film -> session", "plot/film: session.current", "plot/roofline -> session", "plot/roofline: session.current",
  "plot/sweep -> session", "plot/sweep: session.current", "plot/table -> session", "plot/table: session.current",
  "plot/timeline -> session", "plot/timeline: session.current", "results/counters -> plot/figure",
  "results/counters -> plot/table", "results/counters -> session", "results/counters: session.current",
  "results/overlay -> plot/ladder/bars", "results/record -> arg", "results/record -> session",
  "results/record: session.current", "results/remark -> plot/gnuplot", "results/remark -> session",
  "results/remark: session.current", "results/store -> session", "results/store: session.current",
  "results/warning -> session", "results/warning: session.current", "plot/figure -> plot/ladder/script",
  "plot/figure -> plot/ladder/text", "plot/plot -> plot/ladder/bars",
}

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
    if word == "session" and words[i + 1] == "." and words[i + 2] == "current" then names_session = true end
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
    if not floor then faults[file .. ": is on no floor of .make/requires.lua"] = true end
    for other in pairs(to) do
      if floor and (floor_of(other) or 0) > floor then faults[("%s -> %s"):format(file, other)] = true end
    end
    if sessions[file] and not is_of(file, SESSION) then faults[file .. ": session.current"] = true end
  end
  return faults
end

local function sorted(set)
  local list = {}
  for key in pairs(set) do list[#list + 1] = key end
  table.sort(list)
  return list
end

local function print_all(set, head)
  local list = sorted(set)
  if #list > 0 then print(head .. "\n  " .. table.concat(list, "\n  ")) end
  return #list
end

--- What the files of a folder require.
---@param folder string  "lua/moonwarp"
---@return table edges   edges[file][other], but for the exceptions; a file as "base/lists"
---@return table faults  a set of texts: what is against the order
function requires.read(folder)
  local modules, edges, sessions = modules_below(folder), {}, {}
  for _, file in pairs(modules) do
    local source <close> = assert(io.open(("%s/%s.lua"):format(folder, file)))
    edges[file], sessions[file] = edges_of_file(words_of(source:read "a"), modules)
    edges[file][file] = nil
  end
  return edges, faults_of(edges, sessions)
end

--- Prints what is against the order and no exception, and exceptions that are none any more.
---@param edges table   loses the exceptions
---@param faults table
---@return integer count
function requires.complain(edges, faults)
  local stale = {}
  for _, text in ipairs(EXCEPTIONS) do
    local from, to = text:match "^([^ :]+)[^ ]* %-?>? ?(.*)$"
    if edges[from] and not (faults[text] or edges[from][to]) then stale[text] = true end
    if edges[from] then edges[from][to] = nil end
    faults[text] = nil
  end
  return print_all(faults, "requires against the order of .make/requires.lua:")
    + print_all(stale, "exceptions of .make/requires.lua that nothing needs any more:")
end

return requires
