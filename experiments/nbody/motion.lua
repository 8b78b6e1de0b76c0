-- SPDX-License-Identifier: MIT
--
-- Motion: two bodies on an ellipse and a Plummer sphere, leapfrog and Euler's method. A chunk that
-- is called with the study's settings and returns what init.lua runs.

local mw = require "moonwarp"

local set = ...
local dev, real, seconds, host = set.dev, set.real, set.seconds, set.host

local C = real == "f64" and "double" or "float"
local EPS = set.eps

-- Threads a block of the accelerations: for few bodies, for many.
local FEW, MANY = 32, set.gpu and 64 or 256

local function pull_name(threads)
  return ("accelerations<%s,%d>"):format(C, threads)
end

local ADVANCE = ("advance<%s>"):format(C)
local module = dev:module { file = "nbody.cu", templates = { pull_name(FEW), pull_name(MANY), ADVANCE } }

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
  local count, threads = system.n, system.n < 64 and FEW or MANY
  local pull = module:kernel(pull_name(threads)):prepare { block = threads,
    grid = ceil_div(count, threads) }
  local advance = module:kernel(ADVANCE):prepare { block = 256, grid = ceil_div(3 * count, 256) }
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

-- ---- checks ------------------------------------------------------------------------------

local function compare(got, expected, size, count, name)
  local seen <close> = dev:array(real, got)
  mw.check(seen, expected, { absolute = 4 * EPS * (4 + math.sqrt(count)) * size, name = name })
end

-- What the launch that moves the bodies has just left in a and phi, against the host: of all bodies
-- where they are few, else of some of them.
local function check_pull(system, on, name)
  local count, a, phi = system.n, on.a:totable(), on.phi:totable()
  local m, x = on.m:totable(), on.x:totable()
  local several = count <= 300 and count or math.min(count, set.samples)
  local pulls, expected, potentials, truth, force, depth = {}, {}, {}, {}, 0.0, 0.0
  for k = 1, several do
    local i = several == 1 and 1 or 1 + (k - 1) * (count - 1) // (several - 1)
    local ax, ay, az, potential, size = host.pull(m, x, count, system.softening, i)
    for axis, value in ipairs { ax, ay, az } do
      expected[#expected + 1], pulls[#pulls + 1] = value, a[(axis - 1) * count + i]
    end
    truth[k], potentials[k] = potential, phi[i]
    force, depth = math.max(force, size), math.max(depth, -potential)
  end
  compare(pulls, expected, force, count, "accelerations, " .. name)
  compare(potentials, truth, depth, count, "potential, " .. name)
end

-- Rounding of each step adds up as a random walk does, and grows; near the centre, where bodies are
-- fastest, it weighs more by the square of their speed. Where that makes 0.05 of the half-axis, there
-- is nothing to compare: fewer steps then.
local function path_tolerance(system, method, dt, steps)
  local fast = (1 + set.eccentricity) / (1 - set.eccentricity)
  while true do
    local tolerance = 4 * EPS * math.sqrt(2 * steps) * host.growth(system, method, dt, steps) * fast
    if tolerance < 0.05 or steps == 1 then return tolerance, steps end
    steps = steps // 2
  end
end

-- ---- runs --------------------------------------------------------------------------------

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

-- The greater one; not a number is greater than any.
local function worse(a, b)
  return (a ~= a or b <= a) and a or b
end

-- Moves a system; every so many steps the invariants are taken, and look(steps, on) is called.
-- Records the largest relative error of the energy in each window of `window` steps.
local function move(system, method, dt, steps, every, window, look)
  local on = arrays_of(system)
  local kick, drift, pull = movers(system, on)
  local series = { energy = {}, momentum = 0, worst = 0, on = on }
  pull()
  check_pull(system, on, ("%s, %s, first step"):format(system.name, method))
  local start, most = invariants(system, on), 0.0
  series.start = start
  for step = 1, steps do
    METHODS[method](dt, kick, drift, pull)
    if step % every == 0 then
      local energy, momentum = invariants(system, on)
      most = worse(most, math.abs(energy / start - 1))
      series.worst, series.momentum = worse(series.worst, most), worse(series.momentum, momentum)
      series.gain = (energy - start) / math.abs(start)
      if look then look(step, on) end
    end
    if step % window == 0 then
      series.energy[#series.energy + 1] = mw.record { study = "nbody", group = system.name,
        series = method, window = step // window, energy_error = most }
      most = 0.0
    end
  end
  check_pull(system, on, ("%s, %s, last step"):format(system.name, method))
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
                     momentum = series.momentum, gain = series.gain }
end

-- Three periods (fewer where rounding would not let them be told apart) against the host's steps;
-- leapfrog run backwards must come home then: it is its own inverse, but for rounding.
local function check_path(method, dt)
  local system, wanted = ellipse(), math.min(3, set.orbits) * set.per_orbit
  local tolerance, steps = path_tolerance(system, method, dt, wanted)
  local on = arrays_of(system)
  local kick, drift, pull = movers(system, on)
  pull()
  for _ = 1, steps do METHODS[method](dt, kick, drift, pull) end
  mw.check(on.x, host.path(system, method, dt, steps),
    { absolute = tolerance, name = ("two bodies, %s, after %d steps"):format(method, steps) })
  if method == "leapfrog" then
    for _ = 1, steps do METHODS[method](-dt, kick, drift, pull) end
    mw.check(on.x, system.x, { absolute = tolerance, name = "two bodies, there and back" })
  end
  close_all { on = on }
end

-- Kepler's energy of an ellipse of half-axis 1: -m1 m2 / 2.
local function check_energy(system, series)
  local seen <close> = dev:array("f64", { series.start })
  mw.check(seen, -system.m[1] * system.m[2] / 2,
    { relative = 64 * EPS * (1 + set.eccentricity) / (1 - set.eccentricity), name = "energy of the ellipse" })
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
  check_energy(system, good)
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

-- A kick and a drift of every body: the two bodies' own paths have nothing along z, and no energy tells one coordinate
-- of many. Half a unit of time, so that only the sum rounds.
local function check_advance(on, kick, drift, name)
  for _, one in ipairs { { "positions", on.x, on.v, drift }, { "velocities", on.v, on.a, kick } } do
    local what, to, rate, go = table.unpack(one)
    local expected = to:totable()
    for i, value in ipairs(rate:totable()) do expected[i] = expected[i] + value / 2 end
    go(0.5)
    mw.check(to, expected, { name = ("%s after half a unit, %s"):format(what, name) })
  end
end

-- Both kernels of the motion at sizes that suit no block, few bodies and many; then the paths.
local function check()
  for _, count in ipairs { 2, 37, 251 } do
    local system = plummer(count)
    local on = arrays_of(system)
    local kick, drift, pull = movers(system, on)
    pull()
    check_pull(system, on, ("%d bodies"):format(count))
    check_advance(on, kick, drift, ("%d bodies"):format(count))
    close_all { on = on }
  end
  for _, method in ipairs { "leapfrog", "Euler" } do
    check_path(method, 2 * math.pi / set.per_orbit)
  end
end

return { check = check, ellipse = run_ellipse, sphere = run_sphere }
