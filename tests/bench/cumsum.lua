-- SPDX-License-Identifier: MIT
--
-- Sums along dimension 1, 2 and 3 of a cube of f64 over copies of the same cube on the device, in
-- turn. To reach: at least 0.97 of the fastest copy, the library's or a kernel's, by the best shape
-- of the kernel for each dimension.

local mw = require "moonwarp"
local core = require "moonwarp.core"
package.path = core.home() .. "/tests/bench/lib/?.lua;" .. package.path
local lab = require "lab"

local n = mw.arg("n", 512, "points along each side")
local rounds = mw.arg("rounds", 25, "samples of each contender")
local more = mw.arg("more", false, "more shapes")

local dev = lab.device(mw, "cuda")
if not dev then return end

local m, copies = dev:module "cumsum.cu", dev:module "memcopy.cu"
local A, B = dev:array("f64", n, n, n):random(1), dev:array("f64", n, n, n)
local contenders = {}

local function add(dim, name, run)
  contenders[#contenders + 1] = { dim = dim, name = name, run = run }
end

local function ceil_div(a, b)
  return (a + b - 1) // b
end

-- ---- the contenders -----------------------------------------------------------------------------

local function add_copies()
  local stream = dev:default_stream()
  add(0, "library copy", function() B:copy(A, { stream = stream }) end)
  local count = #A
  for _, block in ipairs { 128, 256, 512 } do
    local go = copies.memcopy_vector1:prepare { block = block, grid = ceil_div(count, 2 * block) }
    add(0, ("copy, 16 bytes, block %d"):format(block), function() go(B, A, count) end)
  end
end

local function add_rows(loads, warps)
  local go = m[("cumsum_rows<double,%d>"):format(loads)]:prepare { block = { 32, warps },
                                                                  grid = ceil_div(n * n, warps) }
  add(1, ("rows<%d>, %d per block"):format(loads, warps), function() go(B, A, n, n * n) end)
end

local function add_tiles(rows, warps)
  local k = m[("cumsum_tile<double,%d,%d>"):format(rows, warps)]
  local name = ("tile<%d,%d>"):format(rows, warps)
  local y = k:prepare { block = { 32, warps }, grid = { ceil_div(n, 32), n } }
  add(2, name, function() y(B, A, n, n) end)
  local z = k:prepare { block = { 32, warps }, grid = ceil_div(n * n, 32) }
  add(3, name, function() z(B, A, n * n, n) end)
end

local function add_paced(planes, block, lag)
  local k = m[("cumsum_paced<double,%d>"):format(planes)]
  local grid = ceil_div(n * n // 2, block)
  if k:occupancy(block).blocks * dev:properties().multiprocessors < grid then
    print(("  left out: paced<%d>, block %d: the columns do not fit at once"):format(planes, block))
    return
  end
  local stages, runs = dev:zeros("u32", ceil_div(n, planes)), 0
  local go = k:prepare { block = block, grid = grid, cooperative = true }
  add(3, ("paced<%d>, block %d, lag %d"):format(planes, block, lag), function()
    runs = runs + 1
    go(B, A, n * n, n, stages, runs, lag)
  end)
end

add_copies()
for _, loads in ipairs { 2, 4 } do add_rows(loads, 1) end
add_tiles(8, 16)
add_tiles(8, 8)
for _, lag in ipairs { 3, 4 } do add_paced(4, 256, lag) end
if more then
  for _, warps in ipairs { 2, 4 } do add_rows(4, warps) end
  for _, shape in ipairs { { 4, 16 }, { 16, 8 }, { 16, 4 }, { 8, 32 }, { 4, 32 } } do
    add_tiles(table.unpack(shape))
  end
  for _, planes in ipairs { 2, 4, 8 } do
    for _, lag in ipairs { 2, 6, 8 } do add_paced(planes, 256, lag) end
  end
end

-- ---- right, then fast ---------------------------------------------------------------------------

-- The rungs that add up one after the other.
local function serial(dim)
  local R = dev:array("f64", n, n, n)
  if dim == 0 then
    R:copy(A)
  elseif dim == 1 then
    m["cumsum_shared<double,32>"]:launch(n * n, 32, R, A, n)
  elseif dim == 2 then
    m["cumsum_y<double>"]:launch({ ceil_div(n, 256), 1, n }, 256, R, A, n, n, n)
  else
    m["cumsum_z<double>"]:launch({ ceil_div(n, 32), ceil_div(n, 8) }, { 32, 8 }, R, A, n, n, n)
  end
  return R
end

for dim = 0, 3 do
  local R <close> = serial(dim)
  for _, contender in ipairs(contenders) do
    if contender.dim == dim then
      B:fill(0 / 0)
      contender.run()
      dev:synchronize()
      mw.check(B, R, { relative = dim > 0 and 2.0 ^ -50 * math.sqrt(n) or 0, name = contender.name })
    end
  end
end

local runs = {}
for i, contender in ipairs(contenders) do runs[i] = contender.run end
local medians = lab.alternate_on(dev, runs, rounds)

local best = {}
for i, contender in ipairs(contenders) do
  contender.median = medians[i]
  local before = best[contender.dim]
  if not before or medians[i] < before.median then best[contender.dim] = contender end
end
local copied, library = best[0], contenders[1]
print(("%d^3 f64, %s; library copy %.1f GB/s, fastest copy (%s) %.1f GB/s"):format(n, dev:name(),
  2 * A:nbytes() / library.median / 1e9, copied.name, 2 * A:nbytes() / copied.median / 1e9))
for _, contender in ipairs(contenders) do
  print(("  %s %-30s %8.1f GB/s   %.4f of the fastest copy   %.4f of the library's"):format(
    contender.dim == 0 and "     " or "dim " .. contender.dim, contender.name,
    2 * A:nbytes() / contender.median / 1e9, copied.median / contender.median,
    library.median / contender.median))
end
for dim = 1, 3 do
  local ours = best[dim]
  lab.compare { name = ("dim %d: %s"):format(dim, ours.name), ours = ours.median,
                other_name = "fastest copy", other = copied.median,
                ratio = copied.median / ours.median, least = 0.97 }
end
