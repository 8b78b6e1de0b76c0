-- SPDX-License-Identifier: MIT
--
-- The division of a box of cells into parts, one for each rank of a Cartesian arrangement. All lists have three
-- numbers, for x, y and z; ranks, coordinates and cells count from 0, and x is the fastest in all of them.

local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"

local parts = {}

local invalid = failure.invalid
local AXES <const> = { "x", "y", "z" }

-- ---- how many parts along each dimension -------------------------------------------------------------

-- count as a product of so many factors, the greatest as small as it can be, and so on; the least one
-- first. nil if one would be over `most`.
local function factors(count, many, most)
  if many == 1 then return count <= most and { count } or nil end
  for greatest = 1, math.min(count, most) do
    local rest = count % greatest == 0 and factors(count // greatest, many - 1, greatest)
    if rest then return lists.append(rest, { greatest }) end
  end
end

--- How many parts there are along each dimension: as MPI_Dims_create, but the most along the last one, where a face is
--- one piece of memory. A dimension without a halo is only divided if all are so.
---@param count integer     of parts
---@param given integer[]   0: free
---@param halo integer[]
---@param dimensions integer
---@return integer[] dims
function parts.dims(count, given, halo, dimensions)
  local has_halo = lists.find(halo, function(width) return width > 0 end)
  local free, product = {}, 1
  for k, d in ipairs(given) do
    if d > 0 then product = product * d
    elseif halo[k] > 0 or not has_halo then free[#free + 1] = k end
  end
  if count % product ~= 0 or #free == 0 and product ~= count then
    invalid("mw.grid: dims %s make %d parts, there are %d devices or ranks", table.concat(given, " x ", 1, dimensions),
      product, count)
  end
  local dims = lists.map(given, function(d) return math.max(1, d) end)
  for i, d in ipairs(free[1] and factors(count // product, #free, count) or {}) do dims[free[i]] = d end
  return dims
end

-- ---- one part ----------------------------------------------------------------------------------------

-- The rank at these coordinates; false outside of the grid.
local function rank_at(grid, coords)
  local rank, times = 0, 1
  for k, d in ipairs(grid.dims) do
    local at = coords[k]
    if grid.periodic[k] then at = at % d end
    if at < 0 or at >= d then return false end
    rank, times = rank + at * times, times * d
  end
  return rank
end

--- The part of a rank: coords; first, size: its cells; shape: of its arrays; neighbours[k]: the ranks at its low and
--- its high side, false if none, or where nothing is exchanged.
---@param grid table     size, dims, periodic, halo
---@param rank integer
---@return table part
function parts.of(grid, rank)
  local part = { rank = rank, coords = {}, first = {}, size = {}, shape = {}, neighbours = {} }
  local rest = rank
  for k, d in ipairs(grid.dims) do
    local at, n = rest % d, grid.size[k]
    rest = rest // d
    part.coords[k], part.first[k] = at, n * at // d
    part.size[k] = n * (at + 1) // d - part.first[k]
    part.shape[k] = part.size[k] + 2 * grid.halo[k]
  end
  for k in ipairs(grid.dims) do
    local function beside(step)
      local coords = { table.unpack(part.coords) }
      coords[k] = coords[k] + step
      return grid.halo[k] > 0 and rank_at(grid, coords)
    end
    part.neighbours[k] = { beside(-1), beside(1) }
  end
  return part
end

--- Rejects a division into parts that are too small.
---@param grid table
function parts.check(grid)
  for k, d in ipairs(grid.dims) do
    local n, least = grid.size[k], grid.size[k] // d
    if least < 1 then
      invalid("mw.grid: %d cells along %s are too few for %d parts; 'dims' says how many there are along each side", n,
        AXES[k], d)
    elseif (d > 1 or grid.periodic[k]) and grid.halo[k] > least then
      invalid("mw.grid: a halo of %d is wider than a part, which has %d cells along %s", grid.halo[k], least, AXES[k])
    end
  end
end

-- ---- boxes of a part's array -------------------------------------------------------------------------

local function box(first, size)
  return { first = first, size = size }
end

-- A copy with other numbers along k.
local function with(whole, k, first, size)
  local new = box({ table.unpack(whole.first) }, { table.unpack(whole.size) })
  new.first[k], new.size[k] = first, size
  return new
end

--- All cells of a part, without halos, as a box of its array: first, counted from 0, and size.
---@param grid table
---@param part table
---@return table box
function parts.whole(grid, part)
  return box({ table.unpack(grid.halo) }, { table.unpack(part.size) })
end

--- The cells that neighbours need, in boxes that share no cell, and the box of the others; nil if none.
---@param grid table
---@param part table
---@return table[] border
---@return table? interior
function parts.border(grid, part)
  local border, rest = {}, parts.whole(grid, part)
  for k = 3, 1, -1 do
    local h, low, high = grid.halo[k], table.unpack(part.neighbours[k])
    local first, size = rest.first[k], rest.size[k]
    local before, after = low and h or 0, high and h or 0
    if before + after >= size then return lists.append(border, { rest }), nil end
    if low then border[#border + 1] = with(rest, k, first, h) end
    if high then border[#border + 1] = with(rest, k, first + size - h, h) end
    rest = with(rest, k, first + before, size - before - after)
  end
  return border, rest
end

--- Data sent along a dimension: without halos in later dimensions, and with those of earlier ones, which were
--- received before, so that corners arrive as well.
---@param grid table
---@param part table
---@param k integer      the dimension
---@param first integer  along it
---@return table box
function parts.face(grid, part, k, first)
  local whole = parts.whole(grid, part)
  for j = 1, k - 1 do whole = with(whole, j, 0, part.shape[j]) end
  return with(whole, k, first, grid.halo[k])
end

--- Where a box begins in the array, from 0, and how far its rows and planes are apart.
---@param part table
---@param one table   a box
---@return integer first
---@return integer row
---@return integer plane
function parts.place(part, one)
  local row, plane = part.shape[1], part.shape[1] * part.shape[2]
  return one.first[1] + one.first[2] * row + one.first[3] * plane, row, plane
end

--- Cells of a box.
---@param one table
---@return integer
function parts.count(one)
  return one.size[1] * one.size[2] * one.size[3]
end

return parts
