-- SPDX-License-Identifier: MIT
--
-- Loops over unstructured meshes, as OP2 has them (M. Giles, G. Mudalige, I. Reguly): sets, maps between sets, data on
-- sets, and loops that say of each argument how an element uses it. Where elements increment what others increment,
-- too, the loop is by one of these ways, `by`: "atomics"; "colours", a launch for each; "owner", a thread for each
-- target, which computes again what its neighbours do; "staged", mini-partitions of `part` elements in shared memory,
-- with blocks = "colours", "atomics" or "owner" (a block owns `part` targets), and threads = "colours", "atomics" or
-- "owner" (a thread for each of these).
--
-- mesh/loop.lua takes a loop, mesh/plan.lua plans it, mesh/source.lua writes its kernel.
-- mesh/partition.lua divides a mesh over devices. docs/api/mesh.md

local api = require "moonwarp.base.api"
local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local loop = require "moonwarp.mesh.loop"
local nearest = require "moonwarp.base.nearest"
local partition = require "moonwarp.mesh.partition"
local schema = require "moonwarp.base.schema"
local source = require "moonwarp.mesh.source"

local Mesh = { __name = "mesh" }
Mesh.__index = Mesh

local MOST <const> = (1 << 30) - 1 -- elements of a set: a plan has marks in an index's two other bits
local invalid, check_count = failure.invalid, loop.check_count

local function new(dev, options)
  if core.type(dev) ~= "device" then invalid("mesh.new: a device is wanted, got %s", schema.kind(dev)) end
  local rules = { kernels = "string", type = "string", layout = "string", constants = "table", contract = "boolean" }
  local o = lists.merged({ kernels = "", type = "f64", layout = "aos", constants = {}, contract = true },
    schema.options("mesh.new", options, rules))
  loop.check_word("mesh.new: option 'layout'", o.layout, "aos", "soa")
  loop.check_word("mesh.new: option 'type'", o.type, "f32", "f64")
  for name, value in pairs(o.constants) do
    loop.check_name("mesh.new: a constant's name", name)
    if type(value) ~= "number" or value ~= value or math.abs(value) == math.huge then
      invalid("mesh.new: constant '%s' must be a finite number, got %s", name, tostring(value))
    end
  end
  return setmetatable(lists.merged(o, { dev = dev, names = {}, plans = {} }), Mesh)
end

-- Kernels have the names.
local function check_name(mesh, kind, name)
  loop.check_name(("a %s's name"):format(kind), name)
  if mesh.names[name] then invalid("%s '%s': the mesh has a %s of that name", kind, name, mesh.names[name]) end
end

-- An object of the mesh, whose name is taken from now on.
local function object(mesh, kind, fields)
  fields.mesh, fields.kind = mesh, kind
  mesh.names[fields.name] = fields.is_global and "global" or kind
  return fields
end

local function check_array(mesh, who, array, count, what, ...)
  if core.type(array) ~= "array" then invalid("%s: an array is wanted, got %s", who, schema.kind(array)) end
  local dev = array:device()
  if dev ~= mesh.dev then invalid("%s: the mesh is on %s, the array on %s", who, mesh.dev:id(), dev:id()) end
  check_count(who .. ": its values", count, 1, (1 << 31) - 1) -- kernels count in 32 bits
  if #array == count then return end
  invalid("%s: %s %d elements, the array has %d", who, what:format(...), count, #array)
end

--- A set of n elements.
---@param name string
---@param n integer    1 to 2^30 - 1
---@return table set   name, n
function Mesh:set(name, n)
  check_name(self, "set", name)
  check_count(("set '%s': its size"):format(name), n, 1, MOST)
  return object(self, "set", { name = name, n = n })
end

--- A map: each element of a set leads to some elements of another.
---@param name string
---@param from table        a set
---@param to table          a set
---@param arity integer     columns
---@param array userdata    of i32, {n of from, arity}: elements of `to` from 0, one column after the other
---@return table map        name, from, to, arity, array
function Mesh:map(name, from, to, arity, array)
  check_name(self, "map", name)
  loop.check_object(self, ("map '%s'"):format(name), from, "set")
  loop.check_object(self, ("map '%s'"):format(name), to, "set")
  local who = ("map '%s' from '%s' to '%s'"):format(name, from.name, to.name)
  check_count(who .. ": its columns", arity, 1, 31)
  check_array(self, who, array, from.n * arity, arity == 1 and "%d column of %d needs" or "%d columns of %d need",
    arity, from.n)
  if array:dtype() ~= "i32" then invalid("%s: an array of i32 is wanted, got %s", who, array:dtype()) end
  local low, high = self.dev:min(array), self.dev:max(array)
  if low < 0 or high >= to.n then
    invalid("%s leads to element %d: '%s' has 0 to %d", who, low < 0 and low or high, to.name, to.n - 1)
  end
  local own = self.dev:empty("i32", #array) -- a plan holds what the map was: a later write would lead out of `to`
  own:copy(array)
  return object(self, "map", { name = name, from = from, to = to, arity = arity, array = own })
end

--- Data on a set.
---@param name string
---@param set table
---@param dim integer       values per element
---@param array userdata    of dim * n of the set, in the mesh's layout
---@return table dat        name, set, dim, array, type
function Mesh:dat(name, set, dim, array)
  check_name(self, "dat", name)
  loop.check_object(self, ("dat '%s'"):format(name), set, "set")
  check_count(("dat '%s': its dimension"):format(name), dim, 1, 64)
  check_array(self, ("dat '%s' on '%s'"):format(name, set.name), array, set.n * dim, "dimension %d of %d needs", dim,
    set.n)
  loop.check_type(("dat '%s'"):format(name), array)
  return object(self, "dat", { name = name, set = set, dim = dim, array = array, type = array:dtype() })
end

--- Values that all elements read, or sums over all elements.
---@param name string
---@param dim integer
---@param array userdata   of dim elements
---@return table dat
function Mesh:global(name, dim, array)
  check_name(self, "global", name)
  check_array(self, ("global '%s'"):format(name), array, dim, "dimension %d needs", dim)
  loop.check_type(("global '%s'"):format(name), array)
  return object(self, "dat", { name = name, dim = dim, array = array, type = array:dtype(), is_global = true })
end

--- Gives loops one source, so that all of them are compiled at once.
---@param loops table[]
---@return table[] loops   the same
function Mesh:join(loops)
  local kernels, known = {}, {}
  if type(loops) ~= "table" or #loops == 0 then
    invalid("join: a list of loops is wanted, got %s", type(loops) == "table" and "none" or schema.kind(loops))
  end
  for _, one in ipairs(loops) do
    loop.check_object(self, "join", one, "loop")
    if not known[one.name] then known[one.name], kernels[#kernels + 1] = one.kernel, one.kernel end
    if known[one.name] ~= one.kernel then
      invalid("join: two loops are named '%s': give one of them another 'name'", one.name)
    end
  end
  local text = source.whole(self, kernels)
  for _, one in ipairs(loops) do
    one.source = text
    for _, launch in ipairs(one.launches) do launch[2].source = text end
  end
  return loops
end

--- A loop as launches, which case:launches of a study takes.
---@param set table
---@param kernel string     a function of the mesh's kernels
---@param args table[]      { dat, access }, { dat, map, column, access } or { global, access }
---@param options table?    by, block, part, blocks, threads, name
---@return table loop       name, kernel, source, launches, plan, options, pattern, planning
function Mesh:loop(set, kernel, args, options)
  return self:join { loop.new(self, set, kernel, args, options) }[1]
end

--- Functions that run loops, all compiled at once.
---@param loops table[]
---@return function ...   one for each
function Mesh:compile(loops)
  local source_text = self:join(loops)[1].source
  local module = self.dev:module { source = source_text, name = loops[1].name, contract = self.contract }
  return table.unpack(lists.map(loops, function(one) return loop.runner(one, module) end))
end

--- A function that runs a loop; the arguments are those of Mesh:loop.
---@return function run
---@return table loop
function Mesh:par_loop(set, kernel, args, options)
  local one = self:loop(set, kernel, args, options)
  return self:compile { one }, one
end

nearest.guard(Mesh, "a mesh")

return { new = api.func("mesh.new", 2, new), partition = api.func("mesh.partition", 1, partition.new),
         exchange = api.func("mesh.exchange", 2, partition.exchange), methods = Mesh }
