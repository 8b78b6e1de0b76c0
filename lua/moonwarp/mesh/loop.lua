-- SPDX-License-Identifier: MIT
--
-- A loop over a set of a mesh: what is said of its arguments, which may be wrong, and its launches.

local core = require "moonwarp.core"
local dtypes = require "moonwarp.base.dtypes"
local failure = require "moonwarp.base.failure"
local integer = require "moonwarp.base.integer"
local lists = require "moonwarp.base.lists"
local plan = require "moonwarp.mesh.plan"
local schema = require "moonwarp.base.schema"
local source = require "moonwarp.mesh.source"

local loop = {}

local invalid = failure.invalid

-- ---- what a caller says -----------------------------------------------------------------------------
--- Rejects all but some words.
function loop.check_word(who, value, ...)
  local words = { ... }
  if not lists.has(words, value) then invalid("%s is %s, got %s", who, table.concat(words, ", "), tostring(value)) end
end

--- Rejects all but integers of a range.
function loop.check_count(who, n, least, most)
  if math.type(n) ~= "integer" or n < least or n > most then
    invalid("%s must be an integer from %d to %d, got %s", who, least, most, tostring(n))
  end
end

--- Rejects all but names in a kernel.
function loop.check_name(who, name)
  if type(name) == "string" and name:find "^[%a_][%w_]*$" then return end
  invalid("%s is a word of letters and digits, got %s", who, tostring(name))
end

--- Rejects all but objects of a mesh that have an array.
---@param kind string   "set", "map", "loop", or "dat", which a global is too
function loop.check_object(mesh, who, value, kind)
  local is_it = type(value) == "table" and value.kind == kind
  if not is_it then invalid("%s: a %s of the mesh is wanted, got %s", who, kind, schema.kind(value)) end
  if value.mesh ~= mesh then invalid("%s: %s '%s' is of another mesh", who, kind, value.name) end
  if value.array and core.type(value.array) ~= "array" then
    invalid("%s: the array of %s '%s' is closed", who, kind, value.name)
  end
end

-- The parameters of a user's function: name, type, is_const, dim if it has one.
local function signature(mesh, kernel)
  local text = mesh.kernels:gsub("/%*.-%*/", " "):gsub("//[^\n]*", "")
  local inside, list = text:match("[%w_]+%s+" .. kernel .. "%s*(%b())%s*{"), {}
  if not inside then invalid("par_loop: the mesh's kernels have no function '%s'", kernel) end
  for one in inside:sub(2, -2):gmatch "[^,]+" do
    local words = {}
    for word in one:gsub("%b[]", ""):gsub("__restrict__", ""):gmatch "[^%s*]+" do words[#words + 1] = word end
    list[#list + 1] = { name = table.remove(words), is_const = lists.has(words, "const"),
                        dim = math.tointeger(one:match "%[%s*(%d+)%s*%]"),
                        type = table.concat(words, " "):gsub("%s*const%s*", "") }
  end
  return list
end

-- The types of dats: those that atomics add.
local TYPES <const> = { f32 = "float", f64 = "double", i32 = "int", u32 = "unsigned" }

--- Rejects arrays of other types than dats may have.
function loop.check_type(who, array)
  if not TYPES[array:dtype()] then
    invalid("%s: an array of f32, f64, i32 or u32 is wanted, got %s", who, array:dtype())
  end
end

local function check_argument(mesh, set, a, parameter)
  local dat, map = a.dat, a.map
  local cpp, own = parameter.type == "REAL" and TYPES[mesh.type] or parameter.type:gsub(" int$", ""), TYPES[dat.type]
  loop.check_word(a.who .. ": its access", a.access, "read", "write", "inc", "rw")
  if map and map.from ~= set then
    invalid("%s: map '%s' is from '%s', the loop is over '%s'", a.who, map.name, map.from.name, set.name)
  elseif map and map.to ~= dat.set then
    invalid("%s: map '%s' leads to '%s', '%s' is on '%s'", a.who, map.name, map.to.name, dat.name,
      dat.set and dat.set.name or "no set")
  elseif not map and not dat.is_global and dat.set ~= set then
    invalid("%s: '%s' is on '%s', the loop is over '%s': give a map and its column", a.who, dat.name, dat.set.name,
      set.name)
  elseif (map or dat.is_global) and (a.access == "write" or a.access == "rw") then
    invalid("%s: elements may share it, so that it is 'read' or 'inc', got '%s'", a.who, a.access)
  elseif parameter.dim and parameter.dim ~= dat.dim then
    invalid("%s: the function takes %d values, '%s' has %d", a.who, parameter.dim, dat.name, dat.dim)
  elseif cpp ~= own then
    invalid("%s: the function's parameter is of type '%s', '%s' is of %s: write %s", a.who, parameter.type, dat.name,
      dat.type, dat.type == mesh.type and "REAL" or own)
  elseif parameter.is_const ~= (a.access == "read") then
    invalid("%s: its access is '%s', the function's parameter is %sconst", a.who, a.access,
      parameter.is_const and "" or "not ")
  end
  if map then loop.check_count(("%s: the column of map '%s'"):format(a.who, map.name), a.column, 1, map.arity) end
end

local function once(list, value)
  if not lists.has(list, value) then list[#list + 1] = value end
end

-- An argument through a map, among those of its kind.
local function add_indirect(pattern, a, is_staged)
  local dat, map = a.dat, a.map
  once(pattern.maps, map)
  pattern.ends = lists.unique(lists.append(pattern.ends, { { name = a.at, map = map, column = a.column } }),
    function(one) return one.name end)
  if a.access == "inc" then
    if pattern.inc and pattern.inc ~= map then
      invalid("%s: increments go through one map, '%s' or '%s'", a.who, pattern.inc.name, map.name)
    end
    pattern.inc, pattern.bits = map, pattern.bits | 1 << a.column - 1
    once(pattern.columns, a.column)
    once(pattern.added, dat)
  end
  local list = pattern.staged[map] or {}
  pattern.staged[map] = list
  if is_staged and not lists.has(list, dat) then
    list[#list + 1] = dat
    table.insert(pattern.in_order, dtypes[dat.type].size == 8 and 1 or #pattern.in_order + 1, { dat = dat, map = map })
  end
end

-- For each column with increments where else its elements lead.
local function add_sides(pattern)
  for _, c in ipairs(pattern.columns) do
    local ends = lists.map(pattern.ends, function(one)
      return (one.map ~= pattern.inc or one.column ~= c) and one or nil
    end)
    if pattern.is_direct or #ends == 0 then ends[#ends + 1] = { name = "e" } end
    pattern.side_ends[c] = ends
  end
end

-- What several arguments have in memory is read by all of them, or incremented as one dat.
local function check_order(pattern, a)
  local array, first = a.dat.array, a.dat.array:address()
  for i, one in ipairs(pattern.args) do
    local begin, both = one.dat.array:address(), one.access == a.access and a.access
    local is_fine = both == "read" or both == "inc" and one.dat == a.dat
    if not is_fine and begin < first + array:nbytes() and first < begin + one.dat.array:nbytes() then
      if both == "inc" then invalid("%s: its array is argument %d's, too: both must have the same dat", a.who, i) end
      invalid("%s: its array is '%s' here and '%s' by argument %d, so that the order of the elements counts", a.who,
        a.access, one.access, i)
    end
  end
end

-- The arguments by what is done with them. args: { dat, map, column, access, own (its name in the kernel), at }; maps;
-- ends: where columns lead; inc: the map through which `added` dats are incremented, by its `columns`, as bits too;
-- sums: over all elements; staged: the dats that a block has, by map, and in_order; side_ends, by column of a target.
local function described(mesh, set, kernel, args, is_owner)
  local pattern = { set = set, kernel = kernel, args = {}, maps = {}, ends = {}, columns = {}, added = {}, sums = {},
                    staged = {}, in_order = {}, bits = 0, side_ends = {} }
  local parameters = signature(mesh, kernel)
  if #parameters ~= #args then
    invalid("par_loop %s: the function takes %d arguments, got %d", kernel, #parameters, #args)
  end
  for i, given in ipairs(args) do
    local who = ("par_loop %s, argument %d"):format(kernel, i)
    if type(given) ~= "table" then
      invalid("%s: { dat, access } or { dat, map, column, access } is wanted, got %s", who, schema.kind(given))
    end
    local dat, map, column = given[1], #given > 2 and given[2] or nil, given[3]
    loop.check_object(mesh, who, dat, "dat")
    if map then loop.check_object(mesh, ("%s '%s'"):format(who, dat.name), map, "map") end
    local a = { dat = dat, map = map, column = column, access = given[#given], own = "v_" .. parameters[i].name,
                at = map and ("at_%s_%s"):format(map.name, column),
                who = ("%s '%s'"):format(who, dat.name) }
    check_argument(mesh, set, a, parameters[i])
    check_order(pattern, a)
    pattern.args[i] = a
    if map then
      add_indirect(pattern, a, a.access == "read" or not is_owner)
    else
      pattern.is_direct = pattern.is_direct or not dat.is_global
      pattern.writes = pattern.writes or a.access ~= "read" and a
      if dat.is_global and a.access == "inc" then lists.append(pattern.sums, { a }) end
    end
  end
  add_sides(pattern)
  return pattern
end

local OPTIONS <const> = { by = "string", block = "integer", part = "integer", blocks = "string", threads = "string",
                          name = "string" }

local function chosen(pattern, who, o)
  loop.check_word(who .. ": option 'by'", o.by, "atomics", "colours", "owner", "staged")
  loop.check_word(who .. ": option 'blocks'", o.blocks, "atomics", "colours", "owner")
  loop.check_word(who .. ": option 'threads'", o.threads, "atomics", "colours", "owner")
  loop.check_count(who .. ": option 'block'", o.block, 32, 1024)
  if o.block % 32 > 0 then invalid("%s: option 'block' is in whole warps of 32, got %d", who, o.block) end
  o.part = o.threads ~= "owner" and o.part or o.block
  loop.check_count(who .. ": option 'part'", o.part, 1, 4096)
  if not pattern.inc then
    o.by, o.blocks, o.threads = #pattern.maps > 0 and o.by == "staged" and o.by or "atomics", "none", "none"
  elseif o.threads == "owner" and o.blocks ~= "owner" then
    invalid("%s: threads = \"owner\" goes with blocks = \"owner\"", who)
  end
  local a = pattern.writes
  if a and (o.by == "owner" or o.by == "staged" and o.blocks == "owner") then
    invalid("%s: an element that two targets own is computed twice, so that it is not %s here: take another way",
      a.who, a.dat.is_global and "a sum" or "'" .. a.access .. "'")
  end
  return o
end

-- ---- what becomes of it -----------------------------------------------------------------------------
-- Loops of one pattern have one plan. Arguments that share a dat share its room in a block too.
local function planned(mesh, pattern, o)
  local places = {}
  for i, a in ipairs(pattern.args) do places[a.dat] = places[a.dat] or i end
  local how = o.by == "staged" and ("%d %d %s %s"):format(o.block, o.part, o.blocks, o.threads) or ""
  local key = table.concat(lists.append({ pattern.set.name, o.by, how }, lists.map(pattern.args, function(a)
    if not a.map then return a.dat.is_global and "" or "e" end
    return ("%s%s%d%s%d"):format(a.at, a.access, a.dat.dim, a.dat.type, places[a.dat])
  end)), " ")
  mesh.plans[key] = mesh.plans[key] or (plan[o.by] or plan.elements)(mesh, pattern, o)
  return mesh.plans[key]
end

-- Declarations and values of the kernel's parameters.
local function parameters_of(pattern, p)
  local declared, values = { "int first", "int many" }, {}
  local function pass(name, value, is_written)
    if values[name] then return end
    values[name] = value
    declared[#declared + 1] = math.type(value) and "int " .. name or ("%s%s *__restrict__ %s"):format(
      is_written and "" or "const ", dtypes[value:dtype()].cpp, name)
  end
  for _, one in ipairs(p.arguments) do pass(one[1], one[2]) end
  pass("n_" .. pattern.set.name, pattern.set.n)
  for _, a in ipairs(pattern.args) do
    pass("dat_" .. a.dat.name, a.dat.array, a.access ~= "read")
    if a.dat.set then pass("n_" .. a.dat.set.name, a.dat.set.n) end
  end
  return declared, values
end

--- A loop: name, kernel (its text), launches (without a source), plan, options, pattern, planning (seconds).
function loop.new(mesh, set, kernel, args, options)
  loop.check_object(mesh, "par_loop", set, "set")
  loop.check_name("par_loop: a function's name", kernel)
  if type(args) ~= "table" then
    invalid("par_loop %s: a list of arguments is wanted, got %s", kernel, schema.kind(args))
  end
  local who, began = "par_loop " .. kernel, core.clock()
  local o = lists.merged({ by = "atomics", block = 128, blocks = "colours", threads = "colours",
                           name = kernel .. "_loop" }, schema.options(who, options, OPTIONS))
  loop.check_name(who .. ": option 'name'", o.name)
  if mesh.kernels:find("%f[%w_]" .. o.name .. "%s*%b()%s*{") then
    invalid("%s: option 'name': the mesh's kernels have a function '%s'", who, o.name)
  end
  local pattern = described(mesh, set, kernel, args, o.threads == "owner")
  o = chosen(pattern, who, o)
  local p = planned(mesh, pattern, o)
  local declared, values = parameters_of(pattern, p)
  local out = { name = o.name, launches = {}, plan = p, options = o, pattern = pattern, mesh = mesh, kind = "loop" }
  out.kernel = source.kernel(out.name, declared, (source[o.by] or source.elements)(pattern, o, p))
  for c = 1, #p.first - 1 do
    local count = p.first[c + 1] - p.first[c]
    local how = { grid = o.by == "staged" and count or integer.ceil_div(count, o.block), block = o.block,
                  shared = p.shared or 0 }
    out.launches[c] = { out.name, how, lists.merged(values, { first = p.first[c], many = count }) }
  end
  mesh.dev:synchronize()
  out.planning = core.clock() - began
  return out
end

--- A function that runs a loop by a module that has its kernel.
function loop.runner(self, module)
  local compiled = module:kernel(self.name)
  local goes = lists.map(self.launches, function(launch)
    local how, values = launch[2], lists.map((compiled:parameters()), function(name) return launch[3][name] end)
    local go = compiled:prepare { grid = how.grid, block = how.block, shared = how.shared }
    return function() go(table.unpack(values)) end
  end)
  return function() for _, go in ipairs(goes) do go() end end
end

return loop
