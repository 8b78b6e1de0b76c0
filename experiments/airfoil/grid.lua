-- SPDX-License-Identifier: MIT
--
-- A grid of quadrilaterals around the profile NACA 0012, as an unstructured one: nodes, cells, edges between two cells,
-- edges at the boundary. The square root straightens the plane around a point inside the nose, so that the profile
-- becomes a low bump on a line. The grid is even there, 3 I cells along the line and J away from it; its square is the
-- grid around the profile. The line before and behind the bump is one line, folded at the trailing edge: the cut.
--
-- The numbers of the profile, the point 0.0077, the 199 points of a spline, and the order of cells and edges are those
-- of OP2's generator (apps/mesh_generators/naca0012.m), so that results can be compared; it writes six decimals.
--
-- Tables count from 1, what they hold from 0, as kernels do. A map has its columns one after the other.

local grid = {}

-- The slopes of a cubic spline whose first two and last two pieces are one cubic each ("not a knot").
local function slopes(x, h, s)
  local n, b, c, r, d = #x, {}, {}, {}, {}
  b[1], c[1] = h[2], h[1] + h[2]
  r[1] = ((h[1] + 2 * c[1]) * h[2] * s[1] + h[1] ^ 2 * s[2]) / c[1]
  for i = 2, n do -- elimination; row i is lower d[i-1] + diagonal d[i] + c[i] d[i+1] = r[i]
    local lower, diagonal
    if i < n then
      lower, diagonal, c[i] = h[i], 2 * (h[i - 1] + h[i]), h[i - 1]
      r[i] = 3 * (h[i] * s[i - 1] + h[i - 1] * s[i])
    else
      lower, diagonal = h[n - 1] + h[n - 2], h[n - 2]
      r[n] = (h[n - 1] ^ 2 * s[n - 2] + (2 * lower + h[n - 1]) * h[n - 2] * s[n - 1]) / lower
    end
    local factor = lower / b[i - 1]
    b[i], r[i] = diagonal - factor * c[i - 1], r[i] - factor * r[i - 1]
  end
  d[n] = r[n] / b[n]
  for i = n - 1, 1, -1 do d[i] = (r[i] - c[i] * d[i + 1]) / b[i] end
  return d
end

local function spline(x, y)
  local n, h, s = #x, {}, {}
  for i = 1, n - 1 do h[i], s[i] = x[i + 1] - x[i], (y[i + 1] - y[i]) / (x[i + 1] - x[i]) end
  local d = slopes(x, h, s)
  return function(at)
    local low, high = 1, n
    while high - low > 1 do
      local middle = (low + high) // 2
      if x[middle] <= at then low = middle else high = middle end
    end
    local t, width = at - x[low], h[low]
    local square = (3 * s[low] - 2 * d[low] - d[low + 1]) / width
    local cube = (d[low] + d[low + 1] - 2 * s[low]) / width ^ 2
    return y[low] + t * (d[low] + t * (square + t * cube))
  end
end

-- The root of a complex number, in the upper half of the plane.
local function root(re, im)
  local r = math.sqrt(re * re + im * im)
  return math.sqrt((r + re) / 2), math.sqrt((r - re) / 2)
end

-- The height of the bump over the straightened line, at -1 < x < 1.
local function bump()
  local x, y = {}, {}
  for k = 0, 99 do
    local t = math.sin(k / 99 * math.pi / 2) ^ 2
    local half = k == 99 and 0 or 0.594689181 * (0.298222773 * math.sqrt(t) - 0.127125232 * t - 0.357907906 * t ^ 2
      + 0.291984971 * t ^ 3 - 0.105174696 * t ^ 4)
    local re, im = root(t - 0.0077, half)
    x[100 + k], y[100 + k], x[100 - k], y[100 - k] = re, im, -re, im
  end
  return spline(x, y)
end

local function add_nodes(g)
  local W, height, floor, x = g.W, bump(), math.floor, g.x
  for i = 0, W do
    local at = -3 + 6 * i / W
    g.base[i] = i > g.I and i < 2 * g.I and height(at) or 0.0
  end
  for j = 0, g.J do
    for i = 0, W do
      local re, im = -3 + 6 * i / W, g.base[i] + (3 - g.base[i]) * j / g.J
      local k = 2 * (j * (W + 1) + i)
      x[k + 1], x[k + 2] = floor((re * re - im * im) * 1e6 + 0.5) / 1e6, floor(2 * re * im * 1e6 + 0.5) / 1e6
    end
  end
end

local function add_cells(g)
  local W, cell, k = g.W, g.pcell, 0
  for _, shift in ipairs { 0, 1, W + 2, W + 1 } do
    for j = 0, g.J - 1 do
      for node = j * (W + 1), j * (W + 1) + W - 1 do
        k = k + 1
        cell[k] = node + shift
      end
    end
  end
end

local function add_edges(g)
  local W, edges, pedge, pecell, e = g.W, g.edges, g.pedge, g.pecell, 0
  for i = 1, 2 * edges do pedge[i], pecell[i] = 0, 0 end
  local function add(n1, n2, c1, c2)
    e = e + 1
    pedge[e], pedge[e + edges], pecell[e], pecell[e + edges] = n1, n2, c1, c2
  end
  for j = 0, g.J - 1 do
    for i = 0, W - 1 do
      local node, own = j * (W + 1) + i, j * W + i
      if j == 0 and i < g.I then add(node, node + 1, W - 1 - i, own) end -- the cut
      if j < g.J - 1 then add(node + W + 1, node + W + 2, own, own + W) end
      if i < W - 1 then add(node + 1, node + W + 2, own + 1, own) end
    end
  end
end

local function add_boundary(g)
  local I, J, W, bedges, b = g.I, g.J, g.W, g.bedges, 0
  for i = 1, 2 * bedges do g.pbedge[i] = 0 end
  local function add(n1, n2, own, kind)
    b = b + 1
    g.pbedge[b], g.pbedge[b + bedges], g.pbecell[b], g.bound[b] = n1, n2, own, kind
  end
  for i = I, 2 * I - 1 do add(i + 1, i, i, 1) end
  for j = 0, J - 1 do add((j + 1) * (W + 1) + W, j * (W + 1) + W, j * W + W - 1, 2) end
  for i = W - 1, 0, -1 do add(J * (W + 1) + i, J * (W + 1) + i + 1, (J - 1) * W + i, 2) end
  for j = J - 1, 0, -1 do add(j * (W + 1), (j + 1) * (W + 1), j * W, 2) end
end

--- The grid: sizes (cells, nodes, edges, bedges), maps (pcell, pedge, pecell, pbedge, pbecell), x, and of each edge at
--- the boundary `bound`: 1 on the airfoil, 2 far away.
---@param I integer   a third of the cells along the line; 400 and J = 600 make OP2's 720,000
---@param J integer   cells away from it
---@return table
function grid.naca0012(I, J)
  local W = 3 * I
  local g = { I = I, J = J, W = W, nodes = (W + 1) * (J + 1), cells = W * J, bedges = I + W + 2 * J, base = {}, x = {},
              edges = (W - 1) * J + W * (J - 1) + I, pcell = {}, pedge = {}, pecell = {}, pbedge = {}, pbecell = {},
              bound = {} }
  add_nodes(g)
  add_cells(g)
  add_edges(g)
  add_boundary(g)
  return g
end

--- The cell that a point of the plane is in, from 0, by the map that makes the grid, whatever the numbering.
---@param g table
---@param x number
---@param y number
---@return integer? cell   nil within the airfoil
function grid.cell_at(g, x, y)
  local re, im = root(x, y)
  if y < 0 then re = -re end
  local at = (re + 3) * g.I / 2
  local i = math.min(g.W - 1, at // 1 | 0)
  local floor = g.base[i] + (at - i) * (g.base[i + 1] - g.base[i])
  local j = ((im - floor) / (3 - floor) * g.J) // 1 | 0
  local own = j >= 0 and j < g.J and i >= 0 and j * g.W + i or nil
  return own and g.cell_new and g.cell_new[own + 1] or own
end

return grid
