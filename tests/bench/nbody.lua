-- SPDX-License-Identifier: MIT
--
-- The gravitational potential of 524288 bodies, f32: the fastest rungs of nbody.cu over the kernel
-- that stages bodies in shared memory, as in S. Boerm, "Simulation and High-Performance Computing",
-- part 16 (Kiel, 2020). To reach: at least 1.6 times its speed, twice: of the source's formula with
-- 1.0f / sqrtf, and, stricter, of the fastest form of that kernel, by rsqrtf or by fast math or both.

local mw = require "moonwarp"
local core = require "moonwarp.core"
package.path = core.home() .. "/tests/bench/lib/?.lua;" .. package.path
local lab = require "lab"

local n = mw.arg("n", 524288, "bodies")
local rounds = mw.arg("rounds", 7, "samples of each contender")
local samples = mw.arg("samples", 16, "bodies whose potential the host computes")
local device = mw.arg("on", "cuda", "device; another than a GPU shows only that it runs")

local dev = lab.device(mw, device)
if not dev then return end

local bodies = {}
for k = 1, 4 do bodies[k] = dev:array("f32", n):random(k) end
local phi, first = dev:array("f32", n), dev:array("f32", n)
local exact = dev:module "nbody.cu"
local fast = dev:module { file = "nbody.cu", fast_math = true }
local from, to = dev:event(), dev:event()

-- ---- contenders ---------------------------------------------------------------------------------

local contenders = {}

local function add(kind, name, mod, kernel, block, each, parts)
  local go = mod:kernel(kernel):prepare { block = block,
                                          grid = { (n + block * each - 1) // (block * each), parts or 1 } }
  contenders[#contenders + 1] = { kind = kind, name = name, samples = {}, run = function()
    if parts then phi:fill(0) end -- its sums are added to what is there
    go(phi, bodies[1], bodies[2], bodies[3], bodies[4], n)
  end }
end

add("source", "source, 1.0f / sqrtf", exact, "potential_shared<float>", 256, 1)
add("literal", "source, 1.0 / sqrtf", exact, "potential_shared<double>", 256, 1)
add("staged", "source, fast math", fast, "potential_shared<float>", 256, 1)
add("staged", "rsqrtf", exact, "potential_tiled", 256, 1)
add("staged", "rsqrtf, fast math", fast, "potential_tiled", 256, 1)
for _, shape in ipairs { { 128, 4 }, { 256, 4 }, { 256, 2 }, { 128, 8 } } do
  local name = ("potential_wide<%d,%d,8>"):format(shape[1], shape[2])
  add("best", name .. ", fast math", fast, name, shape[1], shape[2])
end
for _, each in ipairs { 8, 16 } do
  for _, parts in ipairs { 4, 8, 16 } do
    local name = ("potential_pairs<%d>"):format(each)
    add("best", ("%s, %d parts, fast math"):format(name, parts), fast, name, 32, each, parts)
  end
end

-- ---- checked, then timed ------------------------------------------------------------------------

local function host_potential(i, values)
  local xs, ys, zs, ms = table.unpack(values)
  local x, y, z, sum = xs[i], ys[i], zs[i], 0.0
  for j = 1, n do
    local dx, dy, dz = xs[j] - x, ys[j] - y, zs[j] - z
    if j ~= i then sum = sum + ms[j] / math.sqrt(dx * dx + dy * dy + dz * dz) end
  end
  return -sum
end

local function check_against_host()
  local values, got, expected = {}, {}, {}
  for k = 1, 4 do values[k] = bodies[k]:totable() end
  for k = 1, samples do
    local i = 1 + (k - 1) * (n - 1) // math.max(samples - 1, 1)
    got[k], expected[k] = first:get(i), host_potential(i, values)
  end
  return mw.check(dev:array("f32", got), expected, { sum = n, name = "sampled bodies" })
end

local right = true
for i, one in ipairs(contenders) do
  phi:fill(0 / 0)
  one.run()
  if i == 1 then
    first:copy(phi)
    right = check_against_host()
  end
  right = mw.check(phi, first, { sum = n, name = one.name }) and right
end
if not right then return end

local function device_seconds(fn)
  from:record()
  fn()
  to:record()
  to:synchronize()
  return to:since(from)
end

for round = 1, rounds do
  for _, one in ipairs(contenders) do one.samples[round] = device_seconds(one.run) end
end

-- ---- what came out ------------------------------------------------------------------------------

local fastest = {}
print(("%d bodies, f32, %s"):format(n, dev:name()))
for _, one in ipairs(contenders) do
  one.median = lab.median(one.samples)
  local before = fastest[one.kind]
  if not before or one.median < before.median then fastest[one.kind] = one end
  print(("  %-40s %9.3f ms  %.3g interactions/s"):format(one.name, one.median * 1e3,
    n * n / one.median))
end

local best, source, staged = fastest.best, fastest.source, fastest.staged
local function compare(other, label)
  lab.compare { name = best.name, ours = best.median, other_name = label, other = other.median,
                ratio = other.median / best.median, least = 1.6 }
end

compare(source, "source, 1.0f / sqrtf")
compare(staged.median < source.median and staged or source, "its fastest form")
