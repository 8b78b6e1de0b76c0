-- SPDX-License-Identifier: MIT
--
-- Other orders of a grid's cells, nodes and edges: at random, along Morton's curve, edges in tiles. An order is a list
-- of the old numbers, `old`; `new` is its inverse. Both are tables from 1 of numbers from 0.

local numbering = {}

local BITS <const> = 24 -- of a cell's number, below its key

local function inverse(old)
  local new = {}
  for k = 1, #old do new[k] = 0 end -- an array, which filling it in any order does not make
  for k, at in ipairs(old) do new[at + 1] = k - 1 end
  return new
end

-- Elements in the order of their keys, integers from 0 to most; equal ones as they are.
local function sorted(keys, most)
  local at, old = { 1 }, {}
  for k = 2, most + 2 do at[k] = 0 end
  for k, key in ipairs(keys) do at[key + 2], old[k] = at[key + 2] + 1, 0 end
  for k = 2, most + 2 do at[k] = at[k] + at[k - 1] end
  for k, key in ipairs(keys) do
    local place = at[key + 1]
    old[place], at[key + 1] = k - 1, place + 1
  end
  return old
end

-- A map's columns of n elements in another order, leading to where the targets are now. Either may stay.
local function moved(map, n, old, new)
  local out, i = {}, 0
  for first = 1, #map, n do
    for k = 1, n do
      local target = map[first + (old and old[k] or k - 1)]
      i = i + 1
      out[i] = new and new[target + 1] or target
    end
  end
  return out
end

local function copy(g)
  local out = {}
  for name, value in pairs(g) do out[name] = value end
  return out
end

-- The cells in an order; then nodes and edges by functions of what has become of the grid.
local function renumbered(g, cells, order_nodes, order_edges)
  local out, new, x = copy(g), inverse(cells), {}
  out.cell_new = new
  out.pecell, out.pbecell, out.pcell = moved(g.pecell, g.edges, nil, new), moved(g.pbecell, g.bedges, nil, new),
    moved(g.pcell, g.cells, cells)
  local nodes, edges = order_nodes(out), order_edges(out)
  local node_new = inverse(nodes)
  out.pcell, out.pbedge = moved(out.pcell, g.cells, nil, node_new), moved(g.pbedge, g.bedges, nil, node_new)
  out.pedge, out.pecell = moved(g.pedge, g.edges, edges, node_new), moved(out.pecell, g.edges, edges)
  for k, node in ipairs(nodes) do x[2 * k - 1], x[2 * k] = g.x[2 * node + 1], g.x[2 * node + 2] end
  out.x = x
  return out
end

-- No order, the same in each run.
local function scrambled(n)
  local old, state = {}, n
  for k = 1, n do old[k] = k - 1 end
  for k = n, 2, -1 do
    state = state * 6364136223846793005 + 1442695040888963407
    local other = (state >> 33) % k + 1
    old[k], old[other] = old[other], old[k]
  end
  return old
end

--- As a generator leaves it that knows of no order: all at random.
function numbering.shuffled(g)
  return renumbered(g, scrambled(g.cells), function() return scrambled(g.nodes) end,
    function() return scrambled(g.edges) end)
end

local function spread(v) -- the bits of a number of 16, one place apart
  v = (v | v << 8) & 0x00ff00ff
  v = (v | v << 4) & 0x0f0f0f0f
  v = (v | v << 2) & 0x33333333
  return (v | v << 1) & 0x55555555
end

-- The cells by their centres' places on Morton's curve.
local function along_curve(g)
  local x, n, keys = g.x, g.cells, {}
  local low, high = { math.huge, math.huge }, { -math.huge, -math.huge }
  for k = 1, 2 * g.nodes, 2 do
    for d = 1, 2 do low[d], high[d] = math.min(low[d], x[k + d - 1]), math.max(high[d], x[k + d - 1]) end
  end
  local scale = 65535 / math.max(high[1] - low[1], high[2] - low[2])
  for k = 1, n do
    local a, b = 2 * g.pcell[k] + 1, 2 * g.pcell[k + 2 * n] + 1 -- two corners across
    local px, py = ((x[a] + x[b]) / 2 - low[1]) * scale // 1 | 0, ((x[a + 1] + x[b + 1]) / 2 - low[2]) * scale // 1 | 0
    keys[k] = (spread(px) | spread(py) << 1) << BITS | (k - 1)
  end
  table.sort(keys)
  for k = 1, n do keys[k] = keys[k] & (1 << BITS) - 1 end
  return keys
end

-- The nodes as the cells meet them.
local function as_met(g)
  local n, pcell, old, is_known = g.cells, g.pcell, {}, {}
  for k = 1, g.nodes do is_known[k] = false end
  for k = 1, n do
    for place = k, 4 * n, n do
      local node = pcell[place]
      if not is_known[node + 1] then old[#old + 1], is_known[node + 1] = node, true end
    end
  end
  return old
end

--- Cells along Morton's curve, nodes as they meet them, edges in the order of the first cell that has them.
function numbering.Morton(g)
  return renumbered(g, along_curve(g), as_met, function(out)
    local keys = {}
    for k = 1, g.edges do keys[k] = math.min(out.pecell[k], out.pecell[k + g.edges]) end
    return sorted(keys, g.cells)
  end)
end

--- The edges of tiles of 8 x 8 cells together; cells and nodes stay in rows.
function numbering.tiles(g)
  local keys, across = {}, (g.W + 7) // 8
  for k = 1, g.edges do
    local own = math.min(g.pecell[k], g.pecell[k + g.edges])
    keys[k] = own // g.W // 8 * across + own % g.W // 8
  end
  local out, old = copy(g), sorted(keys, across * ((g.J + 7) // 8))
  out.pedge, out.pecell = moved(g.pedge, g.edges, old), moved(g.pecell, g.edges, old)
  return out
end

return numbering
