-- SPDX-License-Identifier: MIT
--
-- Loops over unstructured meshes, as OP2 has them: sets, maps between sets, data on sets, and loops that say of each
-- argument how an element uses it. Where elements increment what others increment, too, the loop is by one of the ways
-- of mesh/source.lua, with a plan of mesh/plan.lua.
--
-- Ways, `by`: "atomics"; "colours", a launch for each; "owner", a thread for each target, which computes again what its
-- neighbours do; "staged", mini-partitions of `part` elements in shared memory, with blocks = "colours", "atomics" or
-- "owner" (a block owns `part` targets), and threads = "colours", "atomics" or "owner" (a thread for each of these).

local api = require "moonwarp.base.api"
local core = require "moonwarp.core"
local dtypes = require "moonwarp.base.dtypes"
local failure = require "moonwarp.base.failure"
local integer = require "moonwarp.base.integer"
local lists = require "moonwarp.base.lists"
local nearest = require "moonwarp.base.nearest"
local plan = require "moonwarp.mesh.plan"
local schema = require "moonwarp.base.schema"
local source = require "moonwarp.mesh.source"

local Mesh = { __name = "mesh" }
Mesh.__index = Mesh

local MOST <const> = (1 << 30) - 1 -- elements of a set: the plan has two bits of an index
local invalid = failure.invalid

local function one_of(who, value, ...)
  local names = { ... }
  if not lists.has(names, value) then invalid("%s is %s, got %s", who, table.concat(names, ", "), tostring(value)) end
end

local function new(dev, options)
  local o = schema.options("mesh.new", options, { kernels = "string", type = "string", layout = "string",
    constants = "table" })
  one_of("mesh.new: option 'layout'", o.layout or "aos", "aos", "soa")
  one_of("mesh.new: option 'type'", o.type or "f64", "f32", "f64")
  return setmetatable({ dev = dev, kernels = o.kernels or "", type = o.type or "f64", layout = o.layout or "aos",
                        constants = o.constants or {}, names = {}, plans = {} }, Mesh)
end

-- A name of the mesh, which kernels have.
local function named(mesh, kind, name)
  if type(name) ~= "string" or not name:find "^[%a_][%w_]*$" then
    invalid("a %s's name is a word of letters and digits, got %s", kind, tostring(name))
  elseif mesh.names[name] then
    invalid("%s '%s': the mesh has a %s of that name", kind, name, mesh.names[name])
  end
  mesh.names[name] = kind
end

local function check_count(who, n, least, most)
  if math.type(n) ~= "integer" or n < least or n > most then
    invalid("%s must be an integer from %d to %d, got %s", who, least, most, tostring(n))
  end
end

local function check_array(who, array, count, what, ...)
  if core.type(array) ~= "array" then invalid("%s: an array is wanted, got %s", who, schema.kind(array)) end
  if #array == count then return end
  invalid("%s: %s needs %d elements, the array has %d", who, what:format(...), count, #array)
end

function Mesh:set(name, n)
  named(self, "set", name)
  check_count(("set '%s': its size"):format(name), n, 1, MOST)
  return { name = name, n = n }
end

function Mesh:map(name, from, to, arity, array)
  named(self, "map", name)
  local who = ("map '%s' from '%s' to '%s'"):format(name, from.name, to.name)
  check_count(who .. ": its columns", arity, 1, 31)
  check_array(who, array, from.n * arity, "%d columns of %d", arity, from.n)
  if array:dtype() ~= "i32" then invalid("%s: an array of i32 is wanted, got %s", who, array:dtype()) end
  local low, high = self.dev:min(array), self.dev:max(array)
  if low < 0 or high >= to.n then
    invalid("%s leads to element %d: '%s' has 0 to %d", who, low < 0 and low or high, to.name, to.n - 1)
  end
  return { name = name, from = from, to = to, arity = arity, array = array }
end

function Mesh:dat(name, set, dim, array)
  named(self, "dat", name)
  check_count(("dat '%s': its dimension"):format(name), dim, 1, 64)
  check_array(("dat '%s' on '%s'"):format(name, set.name), array, set.n * dim, "dimension %d of %d", dim, set.n)
  return { name = name, set = set, dim = dim, array = array, type = array:dtype() }
end

function Mesh:global(name, dim, array)
  named(self, "global", name)
  check_array(("global '%s'"):format(name), array, dim, "dimension %d", dim)
  return { name = name, dim = dim, array = array, type = array:dtype(), is_global = true }
end

-- ---- a loop -----------------------------------------------------------------------------------------
-- The parameters of a user's function: name, is_const, dim if it has one.
local function signature(mesh, kernel)
  local inside = mesh.kernels:match("[%w_]+%s+" .. kernel .. "%s*(%b())%s*{")
  if not inside then invalid("par_loop: the mesh's kernels have no function '%s'", kernel) end
  local list = {}
  for text in inside:sub(2, -2):gmatch "[^,]+" do
    list[#list + 1] = { name = text:match "([%a_][%w_]*)[%s%[%]%d]*$", is_const = text:find "%f[%w]const%f[%W]" ~= nil,
                        dim = math.tointeger(text:match "%[%s*(%d+)%s*%]") }
  end
  return list
end

local function check_argument(loop, a, parameter)
  local dat, map, set = a.dat, a.map, loop.set
  one_of(a.who .. ": its access", a.access, "read", "write", "inc", "rw")
  if map then
    if map.from ~= set then
      invalid("%s: map '%s' is from '%s', the loop is over '%s'", a.who, map.name, map.from.name, set.name)
    elseif map.to ~= dat.set then
      invalid("%s: map '%s' leads to '%s', '%s' is on '%s'", a.who, map.name, map.to.name, dat.name,
        dat.set and dat.set.name or "no set")
    end
    check_count(("%s: the column of map '%s'"):format(a.who, map.name), a.column, 1, map.arity)
  elseif not dat.is_global and dat.set ~= set then
    invalid("%s: '%s' is on '%s', the loop is over '%s': give a map and its column", a.who, dat.name, dat.set.name,
      set.name)
  end
  if (map or dat.is_global) and (a.access == "write" or a.access == "rw") then
    invalid("%s: elements may share it, so that it is 'read' or 'inc', got '%s'", a.who, a.access)
  elseif parameter.dim and parameter.dim ~= dat.dim then
    invalid("%s: the function takes %d values, '%s' has %d", a.who, parameter.dim, dat.name, dat.dim)
  elseif parameter.is_const ~= (a.access == "read") then
    invalid("%s: its access is '%s', the function's parameter is %sconst", a.who, a.access,
      parameter.is_const and "" or "not ")
  end
end

-- The arguments by what is done with them.
local function described(mesh, set, kernel, args)
  local loop = { set = set, kernel = kernel, args = {}, maps = {}, ends = {}, columns = {}, added = {}, sums = {},
                 own = {}, staged = {}, in_order = {}, bits = 0, side_ends = {} }
  local parameters, known, read = signature(mesh, kernel), {}, {}
  local function once(list, key, value)
    if not known[key] then known[key], list[#list + 1] = true, value end
  end
  if #parameters ~= #args then
    invalid("par_loop %s: the function takes %d arguments, got %d", kernel, #parameters, #args)
  end
  for i, given in ipairs(args) do
    local a = { dat = given[1], map = #given > 2 and given[2] or nil, column = given[3], access = given[#given],
                own = "v_" .. parameters[i].name,
                who = ("par_loop %s, argument %d '%s'"):format(kernel, i, given[1].name) }
    check_argument(loop, a, parameters[i])
    loop.args[i] = a
    if a.access == "read" then read[a.dat] = i end
    if a.dat.is_global and a.access == "inc" then loop.sums[#loop.sums + 1] = a end
    if a.map then
      a.at = ("at_%s_%d"):format(a.map.name, a.column)
      once(loop.maps, a.map, a.map)
      once(loop.ends, a.at, { name = a.at, map = a.map, column = a.column })
      if a.access == "inc" then
        if loop.inc and loop.inc ~= a.map then
          invalid("%s: increments go through one map, '%s' or '%s'", a.who, loop.inc.name, a.map.name)
        end
        loop.inc, loop.bits = a.map, loop.bits | 1 << a.column - 1
        once(loop.columns, "column " .. a.column, a.column)
        once(loop.added, a.dat, a.dat)
      end
    else
      loop.is_direct = loop.is_direct or not a.dat.is_global
      loop.writes = loop.writes or a.access ~= "read" and a
    end
  end
  for _, a in ipairs(loop.args) do
    if a.access ~= "read" and read[a.dat] then
      invalid("%s: it is '%s' here and read by argument %d, so that the order of the elements counts", a.who, a.access,
        read[a.dat])
    end
  end
  return loop
end

-- What the ways need to know: where else a column's elements lead, a target's own values, what a block stages.
local function complete(loop, o)
  for _, map in ipairs(loop.maps) do loop.staged[map] = {} end
  for _, c in ipairs(loop.columns) do
    local ends = lists.map(loop.ends, function(one)
      return (one.map ~= loop.inc or one.column ~= c) and one or nil
    end)
    if loop.is_direct or #ends == 0 then ends[#ends + 1] = { name = "e" } end
    loop.side_ends[c] = ends
  end
  for _, a in ipairs(loop.args) do
    local is_own = a.map and a.map == loop.inc and a.access == "read" and lists.has(loop.columns, a.column)
    if is_own and not lists.has(loop.own, a.dat) then loop.own[#loop.own + 1] = a.dat end
    local list, is_staged = loop.staged[a.map], not (a.access == "inc" and o.threads == "owner")
    if list and is_staged and not lists.has(list, a.dat) then
      list[#list + 1] = a.dat
      local at = dtypes[a.dat.type].size == 8 and 1 or #loop.in_order + 1
      table.insert(loop.in_order, at, { dat = a.dat, map = a.map })
    end
  end
end

local OPTIONS <const> = { by = "string", block = "integer", part = "integer", blocks = "string", threads = "string",
                          name = "string" }

local function chosen(loop, options)
  local who = "par_loop " .. loop.kernel
  local o = lists.merged({ by = "atomics", block = 128, blocks = "colours", threads = "colours" },
    schema.options(who, options, OPTIONS))
  one_of(who .. ": option 'by'", o.by, "atomics", "colours", "owner", "staged")
  one_of(who .. ": option 'blocks'", o.blocks, "atomics", "colours", "owner")
  one_of(who .. ": option 'threads'", o.threads, "atomics", "colours", "owner")
  check_count(who .. ": option 'block'", o.block, 32, 1024)
  if o.block % 32 > 0 then invalid("%s: option 'block' is in whole warps of 32, got %d", who, o.block) end
  if not loop.inc then
    o.by, o.blocks, o.threads = #loop.maps > 0 and o.by == "staged" and o.by or "atomics", "none", "none"
  end
  local is_owner = o.by == "owner" or o.by == "staged" and o.blocks == "owner"
  if o.threads == "owner" then
    if o.blocks ~= "owner" then invalid("%s: threads = \"owner\" goes with blocks = \"owner\"", who) end
    if o.part and o.part ~= o.block then invalid("%s: with threads = \"owner\" 'part' is 'block'", who) end
  end
  o.part = o.part or o.block
  check_count(who .. ": option 'part'", o.part, 1, 4096)
  if is_owner and loop.writes then
    invalid("%s: an element that two targets own is computed twice, so that it is not %s here: take another way",
      loop.writes.who, loop.writes.dat.is_global and "a sum" or "'" .. loop.writes.access .. "'")
  end
  return o
end

-- Loops of one pattern have one plan.
local function planned(mesh, loop, o)
  local words = { loop.set.name, o.by }
  if o.by == "staged" then lists.append(words, { o.block, o.part, o.blocks, o.threads }) end
  for _, a in ipairs(loop.args) do
    lists.append(words, { a.map and a.at .. a.access .. a.dat.dim .. a.dat.type or a.dat.is_global and "" or "e" })
  end
  local key = table.concat(words, " ")
  mesh.plans[key] = mesh.plans[key] or (plan[o.by] or plan.elements)(mesh, loop, o)
  return mesh.plans[key]
end

local POINTERS <const> = { i32 = "int", u16 = "unsigned short", u8 = "unsigned char" }

-- Declarations and values of the kernel's parameters.
local function parameters(loop, p)
  local declared, values, seen = { "int first", "int many" }, {}, {}
  local function pass(name, value, type)
    if seen[name] then return end
    seen[name], values[name] = true, value
    declared[#declared + 1] = (math.type(value) and "int " or type or "const " .. POINTERS[value:dtype()] ..
      " *__restrict__ ") .. name
  end
  for _, one in ipairs(p.arguments) do pass(one[1], one[2]) end
  pass("n_" .. loop.set.name, loop.set.n)
  local written = {}
  for _, a in ipairs(loop.args) do written[a.dat] = written[a.dat] or a.access ~= "read" end
  for _, a in ipairs(loop.args) do
    local dat = a.dat
    pass("dat_" .. dat.name, dat.array, (written[dat] and "" or "const ") .. dtypes[dat.type].cpp .. " *__restrict__ ")
    if dat.set then pass("n_" .. dat.set.name, dat.set.n) end
  end
  return declared, values
end

--- Gives loops one source, so that all of them are compiled at once.
function Mesh:join(loops)
  local kernels, known = {}, {}
  for _, loop in ipairs(loops) do
    if known[loop.name] and known[loop.name] ~= loop.kernel then
      invalid("join: two loops are named '%s': give one of them another 'name'", loop.name)
    elseif not known[loop.name] then
      known[loop.name], kernels[#kernels + 1] = loop.kernel, loop.kernel
    end
  end
  local text = source.whole(self, kernels)
  for _, loop in ipairs(loops) do
    loop.source = text
    for _, launch in ipairs(loop.launches) do launch[2].source = text end
  end
  return loops
end

--- A loop as launches.
function Mesh:loop(set, kernel, args, options)
  local loop, began = described(self, set, kernel, args), core.clock()
  local o = chosen(loop, options)
  complete(loop, o)
  local p = planned(self, loop, o)
  local declared, values = parameters(loop, p)
  local out = { name = o.name or kernel .. "_loop", launches = {}, plan = p, options = o, pattern = loop }
  out.kernel = source.kernel(out.name, declared, (source[o.by] or source.elements)(loop, o, p))
  for c = 1, #p.first - 1 do
    local count = p.first[c + 1] - p.first[c]
    out.launches[c] = { out.name, { grid = o.by == "staged" and count or integer.ceil_div(count, o.block),
                                    block = o.block, shared = p.shared or 0 },
                        lists.merged(values, { first = p.first[c], many = count }) }
  end
  self.dev:synchronize()
  out.planning = core.clock() - began
  return self:join { out }[1]
end

local function function_of(loop, module)
  local goes, compiled = {}, module:kernel(loop.name)
  for i, launch in ipairs(loop.launches) do
    local how, values = launch[2], {}
    for k, name in ipairs((compiled:parameters())) do values[k] = launch[3][name] end
    local go = compiled:prepare { grid = how.grid, block = how.block, shared = how.shared }
    goes[i] = function() go(table.unpack(values)) end
  end
  return #goes == 1 and goes[1] or function() for _, go in ipairs(goes) do go() end end
end

--- Functions that run loops, all compiled at once.
function Mesh:compile(loops)
  local module = self.dev:module { source = self:join(loops)[1].source, name = loops[1].name }
  return table.unpack(lists.map(loops, function(loop) return function_of(loop, module) end))
end

--- A function that runs a loop.
function Mesh:par_loop(set, kernel, args, options)
  local loop = self:loop(set, kernel, args, options)
  return self:compile { loop }, loop
end

nearest.guard(Mesh, "a mesh")

return { new = api.func("mesh.new", 2, new), methods = Mesh }
