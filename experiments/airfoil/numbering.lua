-- SPDX-License-Identifier: MIT
--
-- Other orders of a grid's cells, nodes and edges: at random, along Morton's curve, edges in tiles.

local numbering = {}

local NUMBER <const>, BITS <const> = (1 << 24) - 1, 24 -- of an element, below its key

-- new[old], both from 0, of keys whose low bits are the old number.
local function ranks(keys)
  table.sort(keys)
  local new = {}
  for k = 0, #keys - 1 do new[k] = 0 end -- an array, which filling it in random order does not make
  for k, key in ipairs(keys) do new[key & NUMBER] = k - 1 end
  return new
end

local function leading(map, new) -- to where the targets are now
  local out = {}
  for k, v in ipairs(map) do out[k] = new[v] end
  return out
end

local function moved(list, n, new, dim) -- columns of n, or elements of `dim` numbers, to their new places
  local out = {}
  for k = 1, #list do out[k] = 0 end
  for first = 0, #list // dim - 1, n do
    for k = 0, n - 1 do
      local from, to = dim * (first + k), dim * (first + new[k])
      for d = 1, dim do out[to + d] = list[from + d] end
    end
  end
  return out
end

local function copy(g)
  local out = {}
  for name, value in pairs(g) do out[name] = value end
  return out
end

local function move_edges(out, new)
  out.pedge, out.pecell = moved(out.pedge, out.edges, new, 1), moved(out.pecell, out.edges, new, 1)
end

-- The cells by their keys, then nodes and edges by functions of what has become of the grid.
local function renumbered(g, cell_keys, node_keys, edge_keys)
  local out, new = copy(g), ranks(cell_keys)
  out.cell_new = g.cell_new and leading(g.cell_new, new) or new
  if g.cell_new then out.cell_new[0] = new[g.cell_new[0]] end
  out.pecell, out.pbecell, out.pcell = leading(g.pecell, new), leading(g.pbecell, new), moved(g.pcell, g.cells, new, 1)
  local nodes = ranks(node_keys(out))
  for _, name in ipairs { "pcell", "pedge", "pbedge" } do out[name] = leading(out[name], nodes) end
  out.x = moved(g.x, g.nodes, nodes, 2)
  move_edges(out, ranks(edge_keys(out)))
  return out
end

-- Keys in no order, the same in each run.
local function scrambled(n)
  local keys = {}
  for k = 0, n - 1 do
    local mixed = k * 0x9E3779B97F4A7C15
    keys[k + 1] = (mixed ~ mixed >> 29) * 0xBF58476D1CE4E5B9 >> BITS + 1 << BITS | k
  end
  return keys
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

-- Keys of the cells by their centres' places on Morton's curve.
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
  return keys
end

-- Keys of the elements with the first cell that has them in front.
local function by_first_cell(list, n, each)
  local first = {}
  for k = 0, n - 1 do first[k] = NUMBER end
  each(list, function(element, cell)
    if cell < first[element] then first[element] = cell end
  end)
  local keys = {}
  for k = 0, n - 1 do keys[k + 1] = first[k] << BITS | k end
  return keys
end

--- Cells along Morton's curve, nodes and edges in the order of the first cell that has them.
function numbering.Morton(g)
  return renumbered(g, along_curve(g), function(out)
    return by_first_cell(out.pcell, g.nodes, function(list, see)
      for k, node in ipairs(list) do see(node, (k - 1) % g.cells) end
    end)
  end, function(out)
    return by_first_cell(out.pecell, g.edges, function(list, see)
      for k, cell in ipairs(list) do see((k - 1) % g.edges, cell) end
    end)
  end)
end

--- The edges of tiles of 8 x 8 cells together; cells and nodes stay in rows.
function numbering.tiles(g)
  local keys, across, side = {}, (g.W + 7) // 8, 8
  for k = 1, g.edges do
    local a, b = g.pecell[k], g.pecell[k + g.edges]
    local own = a < b and a or b
    keys[k] = (own // g.W // side * across + own % g.W // side) << BITS | (k - 1)
  end
  local out = copy(g)
  move_edges(out, ranks(keys))
  return out
end

return numbering
