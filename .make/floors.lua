-- SPDX-License-Identifier: MIT
--
-- floors.lua BUILD [--print]: which files of core/ stand on which, by the symbols of their objects in BUILD/obj.
--
-- A file stands on those whose functions and variables it names: scan.o has "U mw_hash", hash.o has "T mw_hash", so
-- scan.c stands on hash.c. Files and folders that reach each other are a circle: no part of it can be read, tested or
-- moved without the rest. The program fails if it finds one. --print shows the floors: a file's level
-- is one above the highest that it stands on.
--
-- The same of the files of lua/moonwarp, by what they require (requires.lua); these have an order of floors as well.

local requires = dofile((arg[0]:match "^.*/" or "") .. "requires.lua")

local DEFINED <const> = "[TDBRVWCuG]" -- nm's letters

local function exists(path)
  local file = io.open(path)
  return file ~= nil and file:close()
end

-- The objects of sources that are still there: { ["core/base/hash.c"] = "build/obj/core/base/hash.o" }.
local function objects(build)
  local list = {}
  local pipe <close> = assert(io.popen(("find '%s/obj/core' -name '*.o'"):format(build)))
  for path in pipe:lines() do
    local source = path:sub(#build + 6, -2) .. "c"
    if exists(source) then list[source] = path end
  end
  return list
end

-- What each file defines and needs: owner[symbol] = file; needs[file] = { symbol, ... }.
local function symbols(list)
  local owner, needs, file_at, paths = {}, {}, {}, {}
  for file, path in pairs(list) do
    needs[file], file_at[path] = {}, file
    paths[#paths + 1] = ("'%s'"):format(path)
  end
  local pipe = assert(io.popen("LC_ALL=C ${NM:-nm} -A -P " .. table.concat(paths, " ")))
  for line in pipe:lines() do -- "build/obj/core/base/hash.o: mw_hash T 0 1f"
    local path, name, letter = line:match "^(.-): (%S+) (%a)"
    if letter and letter:find "[Uwv]" then -- weak references too
      table.insert(needs[file_at[path]], name)
    elseif letter and letter:find(DEFINED) then
      owner[name] = file_at[path]
    end
  end
  assert(pipe:close() and next(owner), "nm does not run, or finds no symbols in the objects")
  return owner, needs
end

-- edges[file][other] = { symbol, ... }; fold gives the name that a file goes by: itself, or its folder.
local function edges_of(owner, needs, fold)
  local edges = {}
  for file, names in pairs(needs) do
    local from = fold(file)
    edges[from] = edges[from] or {}
    for _, name in ipairs(names) do
      local to = owner[name] and fold(owner[name])
      if to and to ~= from then
        edges[from][to] = edges[from][to] or {}
        table.insert(edges[from][to], name)
      end
    end
  end
  return edges
end

local function sorted_keys(set)
  local list = {}
  for key in pairs(set) do list[#list + 1] = key end
  table.sort(list)
  return list
end

-- Tarjan's algorithm: all groups of nodes that reach each other, those that others stand on first.
local function groups_of(edges)
  local index, low, on, stack, groups, count = {}, {}, {}, {}, {}, 0
  local function visit(node)
    count = count + 1
    index[node], low[node] = count, count
    stack[#stack + 1], on[node] = node, true
    for _, next_node in ipairs(sorted_keys(edges[node])) do
      if not index[next_node] then
        visit(next_node)
        low[node] = math.min(low[node], low[next_node])
      elseif on[next_node] then
        low[node] = math.min(low[node], index[next_node])
      end
    end
    if low[node] ~= index[node] then return end
    local group, member = {}
    repeat
      member = table.remove(stack)
      on[member] = nil
      group[#group + 1] = member
    until member == node
    table.sort(group)
    groups[#groups + 1] = group
  end
  for _, node in ipairs(sorted_keys(edges)) do
    if not index[node] then visit(node) end
  end
  return groups
end

-- Prints the circles; their number.
local function complain(what, edges)
  local count = 0
  for _, group in ipairs(groups_of(edges)) do
    if #group > 1 then
      count = count + 1
      print(("%d %s reach each other:"):format(#group, what))
      for _, from in ipairs(group) do
        for _, to in ipairs(group) do
          local names = edges[from][to]
          if names then print(("  %s -> %s: %s"):format(from, to, table.concat(names, " ", 1, math.min(#names, 6)))) end
        end
      end
    end
  end
  return count
end

local function print_floors(edges)
  local level, floors = {}, {}
  for _, group in ipairs(groups_of(edges)) do
    local highest = 0
    for _, member in ipairs(group) do
      for other in pairs(edges[member]) do highest = math.max(highest, level[other] or 0) end
    end
    for _, member in ipairs(group) do level[member] = highest + 1 end
    floors[highest + 1] = floors[highest + 1] or {}
    table.move(group, 1, #group, #floors[highest + 1] + 1, floors[highest + 1])
  end
  for i = #floors, 1, -1 do
    table.sort(floors[i])
    print(("%2d  %s"):format(i, table.concat(floors[i], " "):gsub("core/", "")))
  end
end

-- The edges of Lua's folders; a file that is in none is a room of its own.
local function folded(edges)
  local rooms = {}
  for file, to in pairs(edges) do
    local from = file:match "^(.*)/" or file
    rooms[from] = rooms[from] or {}
    for other in pairs(to) do
      local room = other:match "^(.*)/" or other
      if room ~= from then rooms[from][room] = { "require" } end
    end
  end
  return rooms
end

local build = assert(arg[1], "usage: floors.lua BUILD [--print]")
local list = objects(build)
assert(next(list), ("no objects in %s/obj/core: build first"):format(build))
local owner, needs = symbols(list)
local files = edges_of(owner, needs, function(file) return file end)
local folders = edges_of(owner, needs, function(file) return (file:match "^(.*)/") end)
if arg[2] == "--print" then
  print_floors(files)
  print_floors(folders)
end
local modules, faults = requires.read "lua/moonwarp"
if #faults > 0 then print("against the order of .make/requires.lua:\n  " .. table.concat(faults, "\n  ")) end
local rooms = folded(modules)
if arg[2] == "--print" then
  print_floors(modules)
  print_floors(rooms)
end
local count = complain("files", files) + complain("folders", folders)
os.exit(#faults + count + complain("files", modules) + complain("folders", rooms) == 0)
