-- SPDX-License-Identifier: MIT
--
-- Motion: two bodies on an ellipse and a Plummer sphere, leapfrog and Euler's method. A chunk that
-- is called with the study's settings and returns what init.lua runs.

local mw = require "moonwarp"

local set = ...
local dev, real, seconds = set.dev, set.real, set.seconds

local module = dev:module "nbody.cu"
local C = real == "f64" and "double" or "float"

local function ceil_div(a, b)
  return (a + b - 1) // b
end

-- ---- systems ----------------------------------------------------------------------------

-- A system is { n, m, x, v }, tables of numbers; x and v hold all x, then all y, then all z.

-- Masses 3/4 and 1/4 on an ellipse with half-axis 1 and period 2 pi, farthest from each other.
local function ellipse()
  local e, m = set.eccentricity, { 0.75, 0.25 }
  local r, speed = 1 + e, math.sqrt((1 - e) / (1 + e))
  return { name = "two bodies", n = 2, m = m, x = { -m[2] * r, m[1] * r, 0, 0, 0, 0 },
           v = { 0, 0, -m[2] * speed, m[1] * speed, 0, 0 }, softening = 0 }
end

local function on_sphere(random, radius)
  local z, angle = 2 * random() - 1, 2 * math.pi * random()
  local r = math.sqrt(1 - z * z)
  return radius * r * math.cos(angle), radius * r * math.sin(angle), radius * z
end

-- A speed over the escape speed, with density q^2 (1 - q^2)^3.5, by rejection.
local function plummer_speed(random)
  while true do
    local q = random()
    if 0.1 * random() < q * q * (1 - q * q) ^ 3.5 then return q end
  end
end

-- Shifts so that the sum over all bodies (of equal mass) is 0 along each axis.
local function centred(list, count)
  for axis = 0, 2 do
    local sum = 0.0
    for i = 1, count do sum = sum + list[axis * count + i] end
    for i = 1, count do list[axis * count + i] = list[axis * count + i] - sum / count end
  end
  return list
end

-- Uniform numbers that are the same everywhere: Lua's own generator with a seed of ours.
local function plummer(count)
  math.randomseed(5, 11)
  local random, scale = math.random, 3 * math.pi / 16
  local m, x, v = {}, {}, {}
  for i = 1, count do
    m[i] = 1 / count
    local r = 1 / math.sqrt((0.999 * random() + 1e-4) ^ (-2 / 3) - 1)
    local speed = plummer_speed(random) * math.sqrt(2) * (1 + r * r) ^ -0.25 / math.sqrt(scale)
    x[i], x[count + i], x[2 * count + i] = on_sphere(random, r * scale)
    v[i], v[count + i], v[2 * count + i] = on_sphere(random, speed)
  end
  return { name = "Plummer sphere", n = count, m = m, x = centred(x, count), v = centred(v, count),
           softening = 0.05 }
end

-- ---- integrators ------------------------------------------------------------------------

local function arrays_of(system)
  local count = system.n
  return { m = dev:array(real, system.m), x = dev:array(real, system.x),
           v = dev:array(real, system.v), a = dev:array(real, 3 * count),
           phi = dev:array(real, count) }
end

-- The three kernels with their arguments: kick(dt), drift(dt), pull().
local function movers(system, on)
  local count, threads = system.n, system.n < 64 and 32 or set.gpu and 64 or 256
  local pull = module:kernel(("accelerations<%s,%d>"):format(C, threads)):prepare { block = threads,
    grid = ceil_div(count, threads) }
  local advance = module:kernel(("advance<%s>"):format(C)):prepare { block = 256,
    grid = ceil_div(3 * count, 256) }
  return function(dt) advance(on.v, on.a, dt, 3 * count) end,
    function(dt) advance(on.x, on.v, dt, 3 * count) end,
    function() pull(on.a, on.phi, on.x, on.m, system.softening, count) end
end

local METHODS = {}

function METHODS.leapfrog(dt, kick, drift, pull)
  kick(dt / 2)
  drift(dt)
  pull()
  kick(dt / 2)
end

function METHODS.Euler(dt, kick, drift, pull)
  drift(dt)
  kick(dt)
  pull()
end

-- Energy, and the momentum over what it would be if all went the same way.
local function invariants(system, on)
  local count, m, v, p = system.n, system.m, on.v:totable(), on.phi:totable()
  local energy, px, py, pz, all = 0.0, 0.0, 0.0, 0.0, 0.0
  for i = 1, count do
    local vx, vy, vz = v[i], v[count + i], v[2 * count + i]
    local square = vx * vx + vy * vy + vz * vz
    energy = energy + m[i] * (square + p[i]) / 2
    px, py, pz = px + m[i] * vx, py + m[i] * vy, pz + m[i] * vz
    all = all + m[i] * math.sqrt(square)
  end
  return energy, math.sqrt(px * px + py * py + pz * pz) / all
end

-- Moves a system; every so many steps the invariants are taken, and look(steps, on) is called.
-- Records the largest relative error of the energy in each window of `window` steps.
local function move(system, method, dt, steps, every, window, look)
  local on = arrays_of(system)
  local kick, drift, pull = movers(system, on)
  local series = { energy = {}, momentum = 0, worst = 0, on = on }
  pull()
  local start, most = invariants(system, on), 0.0
  for step = 1, steps do
    METHODS[method](dt, kick, drift, pull)
    if step % every == 0 then
      local energy, momentum = invariants(system, on)
      most = math.max(most, math.abs(energy / start - 1))
      series.worst = math.max(series.worst, most)
      series.momentum = math.max(series.momentum, momentum)
      if look then look(step, on) end
    end
    if step % window == 0 then
      series.energy[#series.energy + 1] = mw.record { study = "nbody", group = system.name,
        series = method, window = step // window, energy_error = most }
      most = 0.0
    end
  end
  function series.step(by) METHODS[method](by or dt, kick, drift, pull) end
  return series
end

local function close_all(series)
  for _, array in pairs(series.on) do array:close() end
end

-- ---- the two systems --------------------------------------------------------------------

-- Where the bodies are, every few steps; Euler's light body only for as long as it stays near.
local function path_of(into, name, body, limit)
  return function(step, on)
    if step > limit then return end
    into[#into + 1] = { series = name, px = on.x:get(body), py = on.x:get(2 + body),
                        device = dev:id(), device_name = dev:name() }
  end
end

local function summary(system, method, series, dt, steps)
  return mw.record { study = "nbody", group = "motion", system = system.name, method = method,
                     bodies = system.n, steps = steps, dt = dt, energy_error = series.worst,
                     momentum = series.momentum }
end

-- Leapfrog run backwards must come home: it is its own inverse, but for rounding.
local function check_return(system, series, dt, steps)
  for _ = 1, steps do series.step(-dt) end
  local tolerance = real == "f64" and 1e-9 or 1e-2
  mw.check(series.on.x, system.x, { absolute = tolerance, name = "two bodies, there and back" })
end

local function run_ellipse(motions, path, energy)
  local per_orbit = set.per_orbit
  local system, dt, steps = ellipse(), 2 * math.pi / per_orbit, set.orbits * per_orbit
  local every = math.max(1, per_orbit // 100)
  local heavy = path_of(path, "heavy body, leapfrog", 1, steps)
  local light = path_of(path, "light body, leapfrog", 2, steps)
  local function both(...)
    heavy(...)
    light(...)
  end
  local good = move(system, "leapfrog", dt, steps, every, per_orbit, both)
  motions[#motions + 1] = summary(system, "leapfrog", good, dt, steps)
  check_return(system, good, dt, steps)
  local bad = move(system, "Euler", dt, steps, every, per_orbit,
    path_of(path, "light body, Euler's method, 3 periods", 2, 3 * per_orbit))
  motions[#motions + 1] = summary(system, "Euler", bad, dt, steps)
  table.move(good.energy, 1, #good.energy, 1, energy)
  table.move(bad.energy, 1, #bad.energy, #energy + 1, energy)
  close_all(good)
  close_all(bad)
end

-- Half of the bodies are nearer to the centre than this.
local function half_radius(system, on)
  local x, count, radii = on.x:totable(), system.n, {}
  for i = 1, count do
    radii[i] = math.sqrt(x[i] ^ 2 + x[count + i] ^ 2 + x[2 * count + i] ^ 2)
  end
  table.sort(radii)
  return radii[(count + 1) // 2]
end

local function run_sphere(motions, energy)
  local system, per_unit = plummer(set.sphere), 64
  local dt, steps = 1 / per_unit, set.time_units * per_unit
  for _, method in ipairs { "leapfrog", "Euler" } do
    local before = arrays_of(system)
    local r0 = half_radius(system, before)
    close_all { on = before }
    local series = move(system, method, dt, steps, 16, per_unit)
    local r = summary(system, method, series, dt, steps)
    r.swelling = half_radius(system, series.on) / r0 - 1
    r.t = mw.bench(series.step, { min_time = seconds, max_time = 3 * seconds, device = dev })
    r.interactions = system.n * system.n / r.t.median
    motions[#motions + 1] = r
    table.move(series.energy, 1, #series.energy, #energy + 1, energy)
    close_all(series)
  end
end

-- Accelerations at a size that suits no block, against the host, in the type of the motion.
local function check_accelerations(count)
  local system = plummer(count)
  local on, expected, m, x = arrays_of(system), {}, system.m, system.x
  local _, _, pull = movers(system, on)
  for i = 1, count do
    local ax, ay, az = 0.0, 0.0, 0.0
    for j = 1, count do
      local dx, dy = x[j] - x[i], x[count + j] - x[count + i]
      local dz = x[2 * count + j] - x[2 * count + i]
      local f = m[j] * (dx * dx + dy * dy + dz * dz + system.softening ^ 2) ^ -1.5
      ax, ay, az = ax + f * dx, ay + f * dy, az + f * dz
    end
    expected[i], expected[count + i], expected[2 * count + i] = ax, ay, az
  end
  pull()
  mw.check(on.a, expected, { sum = count, name = "accelerations" })
  close_all { on = on }
end

return { check = function() check_accelerations(251) end,
         ellipse = run_ellipse, sphere = run_sphere }
