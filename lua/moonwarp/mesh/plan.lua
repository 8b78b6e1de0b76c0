-- SPDX-License-Identifier: MIT
--
-- The plan of a loop whose elements share targets, made on the device by kernels/moonwarp/plan.cu: which elements lead
-- to a target, mini-partitions with the targets that they stage, colours of threads, blocks and elements. A plan has
-- `arguments`, { name, value } of each that the loop's kernel takes for it, and `first`: where each launch begins.

local core = require "moonwarp.core"
local dtypes = require "moonwarp.base.dtypes"
local failure = require "moonwarp.base.failure"
local integer = require "moonwarp.base.integer"
local own_kernels = require "moonwarp.own_kernels"

local plan = {}

local UNROLLED <const>, MOST_COLOURS <const>, NONE <const> = 8, 64, 65535
local ceil_div = integer.ceil_div

local function run(dev, kernel, n, ...) own_kernels.launch(dev, "moonwarp/plan.cu", kernel, n, n, ...) end
local function ints(dev, n, value) return dev:full(value or 0, "i32", n) end
local function pass(p, name, value, ...)
  p.arguments[#p.arguments + 1] = { name, value }
  if ... then pass(p, ...) end
end

-- The elements of each target, kept with the map: places c * n + e, from start[t] on. most[c]: how many at most lead to
-- one target through a column.
local function inverse(dev, map)
  if map.inverse then return map.inverse end
  local codes, n = map.from.n * map.arity, map.to.n
  local known = { degree = ints(dev, n), start = ints(dev, n), codes = ints(dev, codes), most = {} }
  local last <close> = ints(dev, 1)
  local filled <close> = ints(dev, n)
  run(dev, "inverse_count", codes, map.array, known.degree)
  run(dev, "inverse_start", n, known.degree, known.start, last)
  run(dev, "inverse_fill", codes, map.array, known.start, filled, known.codes)
  run(dev, "inverse_sort", n, known.start, known.degree, known.codes)
  for c = 1, map.arity do
    run(dev, "column_count", n, map.from.n, c - 1, known.start, known.degree, known.codes, filled)
    known.most[c] = dev:max(filled)
  end
  map.inverse = known
  return known
end

-- Of each target the elements of a column, or where they lead through `one`; the first `full` rows are filled up.
local function rows_of(dev, map, side, full, one, marks, out)
  local known, leads = inverse(dev, map), one and one.map
  run(dev, "column_rows", map.to.n, map.from.n, side.column - 1, side.most, full, marks, known.start, known.degree,
    known.codes, leads and leads.array:view((one.column - 1) * map.from.n + 1, map.from.n) or core.null, out)
end

-- The columns through which targets are incremented, with the rows of their tables that are read at once.
local function sides_of(dev, loop, p, most)
  p.sides, p.rows = {}, 0
  for i, c in ipairs(loop.columns) do
    local side = { column = c, ends = loop.side_ends[c], most = inverse(dev, loop.inc).most[c], begin = p.rows }
    side.rows, p.sides[i], p.rows = math.min(side.most, most), side, p.rows + side.most
    if side.most > side.rows then pass(p, "most_" .. c, side.most) end
  end
end

-- Blocks of `part` elements in the order of their colours, and where each colour begins: each has the smallest colour
-- that no earlier one has which shares a target with it.
local function by_colour(dev, p, map, part, columns)
  local known, blocks = inverse(dev, map), ceil_div(map.from.n, part)
  local count <close> = ints(dev, blocks)
  local function conflicts(stride, list)
    run(dev, "block_conflicts", blocks, part, map.from.n, map.arity, columns, map.array, known.start, known.degree,
      known.codes, stride, list, count)
  end
  conflicts(0, core.null)
  local stride = math.max(1, dev:max(count))
  local found <close> = dev:empty("i32", blocks * stride)
  conflicts(stride, found)
  local others, counts, of, taken, coloured, order = found:totable(), count:totable(), {}, {}, {}, {}
  for b = 1, blocks do
    local from, colour = (b - 1) * stride, 1
    for k = from + 1, from + counts[b] do taken[of[others[k] + 1]] = b end
    while taken[colour] == b do colour = colour + 1 end
    of[b], coloured[colour] = colour, coloured[colour] or {}
    table.insert(coloured[colour], b - 1)
  end
  for c, list in ipairs(coloured) do
    table.move(list, 1, #list, #order + 1, order)
    p.first[c + 1] = #order
  end
  pass(p, "order", dev:array("i32", order))
end

--- A launch over all elements, or one for each colour.
function plan.elements(mesh, loop, o)
  local p = { arguments = {}, first = { 0, loop.set.n } }
  if o.by == "colours" then by_colour(mesh.dev, p, loop.inc, 1, loop.bits) end
  for _, map in ipairs(loop.maps) do pass(p, "map_" .. map.name, map.array) end
  return p
end

--- Of each target: where its elements lead. As differences in 16 bits, if all fit: half as much to read.
function plan.owner(mesh, loop)
  local p, dev, n = { arguments = {}, first = { 0, loop.inc.to.n } }, mesh.dev, loop.inc.to.n
  local tables = {}
  p.is_near = true
  sides_of(dev, loop, p, math.min(UNROLLED, ceil_div(loop.set.n, n)))
  for _, side in ipairs(p.sides) do
    for j, one in ipairs(side.ends) do
      local size = side.most * n
      local wide, near, far <close> = dev:empty("i32", size), dev:empty("i16", size), dev:empty("u8", size)
      rows_of(dev, loop.inc, side, side.rows, one, j == 1, wide)
      run(dev, "differences", size, n, j == 1, wide, near, far)
      p.is_near = p.is_near and dev:max(far) == 0
      tables[#tables + 1] = { ("from_%d_%s"):format(side.column, one.name), [true] = near, [false] = wide }
    end
  end
  for _, one in ipairs(tables) do
    pass(p, one[1], one[p.is_near])
    one[not p.is_near]:close()
  end
  return p
end

-- Blocks that own `o.part` targets each, a thread for each; or with the elements that lead to them.
local function own_targets(dev, loop, o, p)
  local inc, n = loop.inc, loop.inc.to.n
  local known = inverse(dev, inc)
  p.own, p.blocks = o.part, ceil_div(n, o.part)
  pass(p, "own", p.own)
  if o.threads == "owner" then
    sides_of(dev, loop, p, UNROLLED)
    p.jump, p.all = n, p.rows * n
    p.elements = dev:empty("i32", p.all)
    for _, side in ipairs(p.sides) do
      rows_of(dev, inc, side, 0, nil, false, p.elements:view(side.begin * n + 1, side.most * n))
    end
  else
    p.width = o.part * dev:max(known.degree)
    p.all = p.blocks * p.width
    p.elements, p.many = ints(dev, p.all, -1), ints(dev, p.blocks)
    run(dev, "block_elements", p.blocks, p.own, n, loop.set.n, loop.bits, known.start, known.degree, known.codes,
      inc.array, p.width, p.elements, p.many)
    pass(p, "many_of", p.many)
  end
  pass(p, "elements", p.elements)
end

-- The targets of a map that each block stages, and where its elements find them.
local function list_targets(dev, map, p, own)
  local room = p.rows * p.width * map.arity
  local l = { stride = room, count = ints(dev, p.blocks), list = dev:empty("i32", p.blocks * room),
              slots = dev:full(NONE, "u16", p.all * map.arity) }
  local size = 1 << (math.log(room, 2) // 1 | 0) + 2
  local hash <close> = ints(dev, p.blocks * size, -1)
  run(dev, "block_lists", p.blocks, map.from.n, map.arity, map.to.n, map.array, p.width, p.rows, p.jump, p.all,
    p.elements or core.null, own, room, l.list, l.count, l.slots, hash, size)
  l.longest = own + dev:max(l.count)
  if l.longest < NONE then return l end
  failure.invalid("a mini-partition has %d elements of '%s', at most %d fit: take a smaller 'part'", l.longest,
    map.to.name, NONE - 1)
end

local function colour_threads(dev, loop, p)
  local l, inc, own = p.lists[loop.inc], loop.inc, p.own or 0
  local taken <close> = dev:zeros("u64", p.blocks * (l.stride + own))
  local colour, used = dev:zeros("u8", p.all), ints(dev, p.blocks)
  run(dev, "block_threads", p.blocks, loop.set.n, inc.arity, loop.bits, p.width, p.many or core.null, own,
    l.stride + own, l.slots, taken, colour, used)
  p.used, p.colours = used, dev:max(used)
  if p.colours > MOST_COLOURS then
    failure.invalid("elements of a mini-partition need more than %d colours: take threads = \"atomics\"", MOST_COLOURS)
  end
  pass(p, "colours", p.colours, "colour", colour)
end

--- Mini-partitions: of elements in a row, or of the elements that lead to targets in a row.
function plan.staged(mesh, loop, o)
  local dev, n, inc = mesh.dev, loop.set.n, loop.inc
  local p = { arguments = {}, rows = 1, width = o.part, jump = 0, blocks = ceil_div(n, o.part), lists = {}, shared = 0 }
  p.all = p.blocks * p.width
  if o.blocks == "owner" then own_targets(dev, loop, o, p) end
  p.first, p.longest = { 0, p.blocks }, p.many and dev:max(p.many) or math.min(p.width, n)
  if o.blocks == "colours" then by_colour(dev, p, inc, o.part, (1 << inc.arity) - 1) end
  pass(p, "all", p.all)
  if not p.sides then pass(p, "part", p.width, "rounds", ceil_div(p.longest, o.block)) end
  for _, map in ipairs(loop.maps) do
    local l, name = list_targets(dev, map, p, map == inc and p.own or 0), map.name
    p.lists[map] = l
    pass(p, "list_" .. name, l.list, "count_" .. name, l.count, "slots_" .. name, l.slots, "stride_" .. name, l.stride,
      "room_" .. name, l.longest | 1)
    for _, dat in ipairs(loop.staged[map]) do
      p.shared = p.shared + (l.longest | 1) * dat.dim * dtypes[dat.type].size
    end
  end
  if inc and o.threads == "colours" then colour_threads(dev, loop, p) end
  return p
end

return plan
