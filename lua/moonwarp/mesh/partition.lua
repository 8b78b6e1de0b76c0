-- SPDX-License-Identifier: MIT
--
-- An unstructured mesh over several devices: owner computes, as OP2 has it (M. Giles, G. Mudalige, I. Reguly). The
-- elements of one set, the targets, have an owner each. An element that leads to targets is with the owner of each, so
-- that both sides compute those at a border. The targets of others that they read are copies, after the own ones.

local core = require "moonwarp.core"
local dtypes = require "moonwarp.base.dtypes"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local own_kernels = require "moonwarp.own_kernels"
local schema = require "moonwarp.base.schema"

local partition = {}

local invalid = failure.invalid
local RULES <const> = { sets = "table", target = "string", owners = "table", maps = "table" }

-- ---- what a caller says -----------------------------------------------------------------------------

-- A map is of a set that leads to targets, or of the targets; what it leads to is the targets, or leads nowhere.
local function check_map(o, name, map, leads)
  local who = ("mesh.partition: map '%s'"):format(name)
  local from, to = o.sets[map[1]], o.sets[map[2]]
  if not from or not to or type(map[3]) ~= "table" then
    invalid("%s: { set, set, numbers } of two of the sets is wanted", who)
  end
  if #map[3] == 0 or #map[3] % from ~= 0 then
    invalid("%s: %d numbers are no columns of the %d elements of '%s'", who, #map[3], from, map[1])
  end
  for _, at in ipairs(map[3]) do
    if math.type(at) ~= "integer" or at < 0 or at >= to then
      invalid("%s leads to element %s: '%s' has 0 to %d", who, tostring(at), map[2], to - 1)
    end
  end
  if map[1] == map[2] or map[1] ~= o.target and not leads[map[1]] or map[2] ~= o.target and leads[map[2]] then
    invalid("%s: elements of '%s' are divided by the targets '%s' that they lead to, and those of '%s' by what leads "
      .. "to them", who, map[1], o.target, map[2])
  end
end

-- How many parts there are, each with a target.
local function check_owners(o)
  local count, has = 0, {}
  if #o.owners ~= o.sets[o.target] then
    invalid("mesh.partition: '%s' has %d elements, got %d owners", o.target, o.sets[o.target], #o.owners)
  end
  for _, part in ipairs(o.owners) do
    if math.type(part) ~= "integer" or part < 1 then
      invalid("mesh.partition: an owner is a part from 1 on, got %s", tostring(part))
    end
    count, has[part] = math.max(count, part), true
  end
  for part = 1, count do if not has[part] then invalid("mesh.partition: part %d owns nothing", part) end end
  return count
end

-- ---- one part ---------------------------------------------------------------------------------------

-- Calls take(element, target) for each place of a map, both from 0.
local function each_place(o, map, take)
  local n = o.sets[map[1]]
  for i, at in ipairs(map[3]) do take((i - 1) % n, at) end
end

local function sorted(marks, before)
  local list = {}
  for e in pairs(marks) do list[#list + 1] = e end
  table.sort(list, before)
  return list
end

-- The elements of each set that a part has, in order; of the targets the own ones, then those of part 1, 2 and so on.
local function elements_of(o, number)
  local owners, marks, targets, copies = o.owners, {}, {}, {}
  for name in pairs(o.sets) do marks[name] = {} end
  for i, part in ipairs(owners) do if part == number then targets[#targets + 1] = i - 1 end end
  local own = #targets
  for _, map in pairs(o.maps) do
    if map[2] == o.target then
      each_place(o, map, function(e, at) if owners[at + 1] == number then marks[map[1]][e] = true end end)
    end
  end
  for _, map in pairs(o.maps) do
    if map[2] == o.target then
      each_place(o, map, function(e, at)
        if marks[map[1]][e] and owners[at + 1] ~= number then copies[at] = true end
      end)
    end
  end
  lists.append(targets, sorted(copies, function(a, b)
    local left, right = owners[a + 1], owners[b + 1]
    return left < right or left == right and a < b
  end))
  for _, e in ipairs(targets) do marks[o.target][e] = true end
  for _, map in pairs(o.maps) do
    if map[2] ~= o.target then
      each_place(o, map, function(e, at) if marks[map[1]][e] then marks[map[2]][at] = true end end)
    end
  end
  local sets = {}
  for name in pairs(o.sets) do sets[name] = name == o.target and targets or sorted(marks[name]) end
  return sets, own
end

-- Maps by the part's own numbers.
local function maps_of(o, sets)
  local places, maps = {}, {}
  for name, list in pairs(sets) do
    places[name] = {}
    for i, e in ipairs(list) do places[name][e] = i - 1 end
  end
  for name, map in pairs(o.maps) do
    local n, numbers = o.sets[map[1]], {}
    for column = 0, #map[3] // n - 1 do
      for _, e in ipairs(sets[map[1]]) do numbers[#numbers + 1] = places[map[2]][map[3][column * n + e + 1]] end
    end
    maps[name] = numbers
  end
  return maps, places[o.target]
end

--- Divides the sets and maps of a mesh.
---@param spec table       sets (sizes by name), target (a set), owners (of each target a part, from 1 on), maps (by
---                        name { from, to, numbers }, these from 0 on, one column after the other)
---@return table[] parts   sets (by name the elements that it has, from 0), own (so many first targets are its own),
---                        maps (by name numbers for Mesh:map), copies ({ part, first, count } of the other targets),
---                        sends (by part its own numbers of targets that it copies)
function partition.new(spec)
  local o, leads, parts, places = schema.options("mesh.partition", spec, RULES), {}, {}, {}
  for name in pairs(RULES) do if o[name] == nil then invalid("mesh.partition: option '%s' is wanted", name) end end
  if not o.sets[o.target] then invalid("mesh.partition: the target '%s' is none of the sets", o.target) end
  for _, map in pairs(o.maps) do leads[map[1]] = leads[map[1]] or map[2] == o.target and map[1] ~= o.target end
  for name, map in pairs(o.maps) do check_map(o, name, map, leads) end
  for number = 1, check_owners(o) do
    local sets, own = elements_of(o, number)
    local part = { sets = sets, own = own, copies = {}, sends = {} }
    part.maps, places[number] = maps_of(o, sets)
    parts[number] = part
  end
  for number, part in ipairs(parts) do
    for i = part.own + 1, #part.sets[o.target] do
      local e, last = part.sets[o.target][i], part.copies[#part.copies]
      local owner = o.owners[e + 1]
      if not last or last.part ~= owner then
        last = { part = owner, first = i - 1, count = 0 }
        part.copies[#part.copies + 1], parts[owner].sends[number] = last, {}
      end
      last.count = last.count + 1
      table.insert(parts[owner].sends[number], places[owner][e])
    end
  end
  return parts
end

-- ---- copies of values -------------------------------------------------------------------------------

-- Both halves of what one part sends another.
local function route(from, to, list, copy)
  local dev, dim, stream = from.mesh.dev, from.dim, to.mesh.dev:default_stream()
  local places, packed = dev:array("i32", list), dev:empty(from.type, dim * #list)
  local name, n = ("gather<%s>"):format(dtypes[from.type].cpp), dim * #list
  local sent, taken = dev:event { timing = false }, to.mesh.dev:event { timing = false }
  local options = { to = copy.first * dim + 1, count = n }
  stream:record(taken)
  return function()
    dev:default_stream():wait(taken)
    own_kernels.launch(dev, "moonwarp/plan.cu", name, n, n, dim, places, from.array, packed)
    dev:default_stream():record(sent)
  end, function()
    stream:wait(sent)
    to.array:copy(packed, options)
    stream:record(taken)
  end
end

--- A function that brings the copies of targets' values up to date, in order with the default streams.
---@param parts table[]    of partition.new
---@param dats table[]     of each part's mesh, of the same dimension and type, one element's values after another's
---@return function exchange
function partition.exchange(parts, dats)
  local packs, takes, first = {}, {}, dats[1]
  if #dats ~= #parts then invalid("mesh.exchange: %d dats, one for each part, are wanted, got %d", #parts, #dats) end
  for i, dat in ipairs(dats) do
    if type(dat) ~= "table" or core.type(dat.array) ~= "array" then
      invalid("mesh.exchange: a dat of part %d is wanted, got %s", i, schema.kind(dat))
    end
    if dat.dim ~= first.dim or dat.type ~= first.type or dat.dim > 1 and dat.mesh.layout ~= "aos" then
      invalid("mesh.exchange: dat '%s' of part %d: %d values of %s per element in \"aos\" are wanted", dat.name, i,
        first.dim, first.type)
    end
  end
  for i, part in ipairs(parts) do
    for _, copy in ipairs(part.copies) do
      packs[#packs + 1], takes[#takes + 1] = route(dats[copy.part], dats[i], parts[copy.part].sends[i], copy)
    end
  end
  return function()
    for _, pack in ipairs(packs) do pack() end
    for _, take in ipairs(takes) do take() end
  end
end

return partition
