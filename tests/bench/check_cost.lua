-- SPDX-License-Identifier: MIT
--
-- What check mode costs: the kernels of cpu_openmp.lua and cpu_pocl.lua on the CPU device in check
-- mode over the same device without, in one process, in turn. Times are CPU time, of all threads: the
-- normal device uses every core, check mode one. The wall clock's ratio is printed beside. To reach,
-- geometric means: at most 60 without barriers, 150 with. Also the time of an access that is checked,
-- from the number that the kernel makes, and the memory that check mode adds for each byte of the
-- arrays: at most 4, and tables.

local mw = require "moonwarp"
local core = require "moonwarp.core"
package.path = core.home() .. "/tests/bench/lib/?.lua;" .. package.path
local lab = require "lab"

local n = mw.arg("n", 2048, "side of the fields; the other sizes follow")
local bodies = mw.arg("bodies", 4096, "bodies")
local rounds = mw.arg("rounds", 5, "samples of each device")
local seconds = mw.arg("seconds", 0.1, "least time of a sample of the normal device")

local MOST = { [false] = 60, [true] = 150 } -- by whether the kernel has barriers
local SHADOW = 4

local normal, checked = mw.device "cpu", mw.device("cpu", { check = true })
local ratios = { [false] = {}, [true] = {} }
local total = { arrays = 0, shadow = 0 } -- bytes
checked:array("f64", 64):random(1):clone() -- loads what all need

-- Wall and CPU seconds of a call.
local function time(fn, batch)
  local wall, cpu = core.clock(), os.clock()
  for _ = 1, batch do fn() end
  return (core.clock() - wall) / batch, (os.clock() - cpu) / batch
end

local function settle() -- until the pool's threads sleep
  local till = core.clock() + 0.002
  repeat until core.clock() >= till
end

-- Medians of both devices' wall and CPU seconds, A B A B ...
local function alternate(fast, slow)
  fast()
  slow()
  local batch = math.max(1, math.ceil(seconds / time(fast, 1)))
  local lists = { {}, {}, {}, {} }
  for i = 1, rounds do
    settle()
    lists[1][i], lists[2][i] = time(fast, batch)
    settle()
    lists[3][i], lists[4][i] = time(slow, 1)
  end
  local medians = {}
  for i, list in ipairs(lists) do medians[i] = lab.median(list) end
  return table.unpack(medians)
end

local function resident()
  local file <close> = assert(io.open "/proc/self/statm")
  return tonumber(file:read("a"):match "%d+ (%d+)") * 4096
end

-- A case: file, kernel, shape, barriers, accesses (of a launch), arrays(dev) -> the launch's arguments of which the
-- first is the result, and the list of arrays.
local function measure(case)
  local function open(dev)
    local go, before = dev:module(case.file)[case.kernel]:prepare(case.shape), resident()
    local arguments = case.arguments(dev)
    return arguments[1], function() go(table.unpack(arguments)) end, arguments, before
  end
  local expected, fast, held = open(normal)
  local got, slow, others, before = open(checked)
  local bytes = 0
  for _, value in ipairs(others) do
    if core.type(value) == "array" then bytes = bytes + value:nbytes() end
  end
  slow()
  local shadow = resident() - before - bytes
  expected:fill(0.5)
  got:fill(case.border and 0.5 or 0 / 0) -- the border of a field is not written
  local fast_wall, fast_cpu, slow_wall, slow_cpu = alternate(fast, slow)
  mw.check(got, expected, case.check)
  table.insert(ratios[case.barriers], slow_cpu / fast_cpu)
  total.arrays, total.shadow = total.arrays + bytes, total.shadow + shadow
  print(("  %-24s normal %8.2f ms  check %9.1f ms  ratio %6.1f (wall %6.1f)  access %5.1f ns"):format(
    case.name, fast_cpu * 1e3, slow_cpu * 1e3, slow_cpu / fast_cpu, slow_wall / fast_wall,
      slow_cpu / case.accesses * 1e9))
  for _, list in ipairs { held, others } do
    for _, value in ipairs(list) do
      if core.type(value) == "array" then value:close() end
    end
  end
end

local function ceil_div(a, b) return (a + b - 1) // b end

local tiles = { block = { 32, 8 }, grid = { ceil_div(n, 32), ceil_div(n, 8) } }
local inside = (n - 2) * (n - 2)

local function fields(dev)
  local a, c = dev:array("f64", n, n):random(1), dev:array("f64", n, n):random(2)
  return a:clone(), a, c
end

local function flow(dev) -- arguments of the stencils
  local b, a, c = fields(dev)
  return { b, a, c, 1.0, 0.1, 1.0, 1.0, n, n }
end

-- Cells of a halo that the shared stencil reads: those next to a block that has a thread inside there.
local function halo()
  local function edges(side) return (n - 1) // side + (n - 2) // side end -- first and last threads of 1 ... n - 2
  return (edges(32) + edges(8)) * (n - 2)
end

local count, groups = 2 * n * n, 2 * n * n // 256

local cases = {
  { name = "memcopy", file = "memcopy.cu", kernel = "memcopy", shape = tiles, barriers = false, accesses = 2 * n * n,
    arguments = function(dev)
      local b, a = fields(dev)
      return { b, a, n, n }
    end, check = { exact = true } },
  { name = "triad", file = "triad.cu", kernel = "triad", shape = tiles, barriers = false, accesses = 3 * n * n,
    arguments = function(dev)
      local b, a, c = fields(dev)
      return { b, a, c, 1.5, n, n }
    end, check = { relative = 1e-15 } },
  { name = "stencil, naive", file = "stencil.cu", kernel = "diffusion", shape = tiles, barriers = false,
    accesses = 7 * inside, arguments = flow, border = true, check = { relative = 1e-14, absolute = 1e-14 } },
  { name = "stencil, shared memory", file = "stencil.cu", kernel = "diffusion_shared", barriers = true,
    shape = { block = { 32, 8 }, grid = tiles.grid, shared = 34 * 10 * 8 },
    accesses = 2 * n * n + 7 * inside + 2 * halo(), arguments = flow, border = true,
    check = { relative = 1e-14, absolute = 1e-14 } },
  { name = "block reduction", file = "reduce.cu", kernel = "reduce_tree", shape = { block = 256, grid = groups },
    barriers = true, accesses = count + groups * (256 + 3 * 255 + 2), check = { sum = 256 },
    arguments = function(dev) return { dev:array("f32", groups), dev:array("f32", count):random(3), count } end },
  { name = "cumsum, shuffles", file = "cumsum.cu", kernel = "cumsum_shuffle<double>", barriers = true,
    shape = { block = { 32, 8 }, grid = ceil_div(n // 2, 8) }, accesses = n * n, check = { sum = n },
    arguments = function(dev)
      return { dev:array("f64", n, n // 2), dev:array("f64", n, n // 2):random(4), n, n // 2 }
    end },
  { name = "N-body, tiled", file = "nbody.cu", kernel = "potential_tiled", barriers = true,
    shape = { block = 256, grid = ceil_div(bodies, 256) }, check = { sum = bodies },
    accesses = 4 * bodies * bodies + bodies * (4 + bodies // 256 * 8), arguments = function(dev)
      local list = { dev:array("f32", bodies) }
      for i = 1, 3 do list[i + 1] = dev:array("f32", bodies):random(4 + i) end
      list[5], list[6] = dev:full(1 / bodies, "f32", bodies), bodies
      return list
    end },
}

local function geometric_mean(list)
  local sum = 0
  for _, value in ipairs(list) do sum = sum + math.log(value) end
  return math.exp(sum / #list)
end

print(("f64 %d x %d, %d bodies, %s, CPU time of %d rounds"):format(n, n, bodies, normal:name(), rounds))
for _, case in ipairs(cases) do measure(case) end
for _, barriers in ipairs { false, true } do
  local mean, most = geometric_mean(ratios[barriers]), MOST[barriers]
  print(("  geometric mean, %s barriers: %.1f   to reach: at most %d   %s"):format(
    barriers and "with" or "without", mean, most, mean <= most and "reached" or "missed"))
end
local shadow = total.shadow / total.arrays
print(("  memory for a byte of the arrays: %.2f   to reach: at most %d, and tables   %s"):format(shadow, SHADOW,
  shadow < SHADOW + 0.2 and "reached" or "missed"))
