-- SPDX-License-Identifier: MIT
--
-- Holds the entries of docs/api against the names that the running library registers: functions, fields, methods and
-- metamethods, and what a study's description may say. No device is opened.

local names = {}

-- What Lua needs of a metatable, but no script calls.
local SILENT = { __name = true, __metatable = true }

-- The entry of several metamethods that do the same.
local SAME = { __le = "__lt" }
for name in ("band bnot bor bxor div idiv mod mul pow shl shr sub unm"):gmatch "%a+" do SAME["__" .. name] = "__add" end

-- The metatable of a class is the registry's table with the class's method table in it.
local function metatable_of(methods)
  for _, value in pairs(debug.getregistry()) do
    if type(value) == "table" and rawget(value, "methods") == methods then return value end
  end
  error "no metatable holds this method table"
end

-- The methods of a table of Lua that scripts call; what only the library's own files do is left out.
local function methods_of(class)
  local found = {}
  for name in pairs(class.methods) do
    if not name:match "^__" and not class.own[name] then found[name] = true end
  end
  return found
end

-- Only a class whose __index is a function has something to say about it.
local function add_metamethods(found, metatable)
  for name, value in pairs(metatable) do
    local plain_index = name == "__index" and type(value) == "table"
    if name:match("^__") and not SILENT[name] and not plain_index then found[SAME[name] or name] = true end
  end
end

local function keys(map)
  local found = {}
  for name in pairs(map) do found[name] = true end
  return found
end

-- owner to the set of names that the library has
local function registered()
  local core, mw = require "moonwarp.core", require "moonwarp"
  local found = { mw = keys(mw), core = keys(core) }
  for class, methods in pairs(core.methods) do
    found[class] = keys(methods)
    add_metamethods(found[class], metatable_of(methods))
  end
  for _, name in ipairs { "blas", "fft", "rand", "sparse", "solver", "cub" } do found[name] = keys(require("moonwarp." .. name)) end
  local mesh = require "moonwarp.mesh"
  found.mesh = keys(mesh.methods)
  for name in pairs(mesh) do found.mesh[name] = true end
  found.mesh.methods, found.mesh.__index, found.mesh.__name = nil, nil, nil
  found.communicator = keys(require("moonwarp.nccl").methods)
  for name in pairs(found.communicator) do if name:match "^__" then found.communicator[name] = nil end end
  found.communicator.communicator = true
  local mpi = require "moonwarp.mpi"
  found.mpi, found.mpi_request = keys(mpi), { wait = true, test = true }
  found.mpi.request = nil
  found.grid = keys(require("moonwarp.grid").methods)
  for name in pairs(found.grid) do if name:match "^__" then found.grid[name] = nil end end
  local study = require "moonwarp.study"
  for name, class in pairs(study.classes) do found[name] = methods_of(class) end
  for name, fields in pairs(study.fields) do found[name .. "_spec"] = keys(fields) end
  return found
end

-- owner to the set of names that have an entry
local function documented(api, owners)
  local found = {}
  for owner in pairs(owners) do found[owner] = {} end
  for _, page in ipairs(api.pages) do
    found[page.owner] = found[page.owner] or {}
    for _, entry in ipairs(page.entries) do
      if entry.name and not entry.given then found[entry.owner or page.owner][entry.name] = true end
    end
    for _, entry in ipairs(page.self and page.common ~= false and api.common or {}) do
      found[page.owner][entry.name] = true
    end
    for name, class in pairs(page.classes or {}) do
      for _, field in ipairs(owners[name] and class or {}) do
        local is_listed = field[1]:match "^%[" -- [1], the name
        if not is_listed then found[name][field[1]] = true end
      end
    end
  end
  return found
end

local function missing(from, within, format)
  local list = {}
  for owner, set in pairs(from) do
    for name in pairs(set) do
      if not (within[owner] or {})[name] then list[#list + 1] = format:format(owner, name) end
    end
  end
  table.sort(list)
  return list
end

--- What is registered without an entry, and the reverse, as sentences.
---@param api table
---@return string[]
function names.problems(api)
  local library = registered()
  local entries = documented(api, library)
  local list = missing(library, entries, "%s.%s has no entry in docs/api")
  return table.move(missing(entries, library, "%s.%s has an entry in docs/api, but the library does not have it"), 1, 1000,
    #list + 1, list)
end

return names
