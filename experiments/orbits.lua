-- SPDX-License-Identifier: MIT
--
-- orbits: how can a long simulation of moving bodies conserve energy?
--
-- Two bodies on an ellipse and a Plummer sphere, by leapfrog and by Euler's method, from the kernels
-- accelerations and advance of kernels/nbody.cu. The rate is n^2 / t of a step. See docs/studies/orbits.md.

local mw = require "moonwarp"

local TWO <const>, SPHERE <const>, PER_UNIT <const> = "two bodies", "Plummer sphere", 64
local study, p, gpu = mw.study {
  question = "how can a long simulation of moving bodies conserve energy?",
  kernels = "nbody.cu", rate = { "interactions", work = function(c) return c.bodies ^ 2 end },
  units = { interactions = "1/s", gain = "%", swelling = "%" }, output = "x",
  odd = { { bodies = 2 }, { bodies = 37 }, { bodies = 293 } }, seconds = { 0.03, gpu = 0.05 },
  params = {
    { "real", "f64", "type of the numbers in motion", choices = { "f32", "f64" } },
    { "orbits", 20, "of the two bodies", min = 3, max = 10000 },
    { "per_orbit", 400, "steps per orbit", min = 20, max = 100000 },
    { "eccentricity", 0.5, "of their ellipse", min = 0, max = 0.95 },
    { "sphere", 512, "bodies of the sphere", gpu = 4096, min = 2, max = 1 << 20 },
    { "time_units", 16, "of the sphere's motion", min = 1, max = 10000 },
    { "samples", 12, "bodies whose forces the host computes, of more than 300", min = 1, max = 4096 },
  },
}

-- Systems are m, x, v, of which x and v have all x, then all y, then all z.
-- Masses 3/4 and 1/4 on an ellipse with half-axis 1 and period 2 pi, farthest from each other.
local function ellipse()
  local r, speed = 1 + p.eccentricity, math.sqrt((1 - p.eccentricity) / (1 + p.eccentricity))
  return { 0.75, 0.25 }, { -r / 4, 0.75 * r, 0, 0, 0, 0 }, { 0, 0, -speed / 4, 0.75 * speed, 0, 0 }
end

-- Numbers that are the same everywhere: Lua's own generator with a seed of ours.
local function plummer(n)
  math.randomseed(5, 11)
  local m, x, v, scale, random = {}, {}, {}, 3 * math.pi / 16, math.random
  for i = 1, n do
    local r, q = 1 / math.sqrt((0.999 * random() + 1e-4) ^ (-2 / 3) - 1), random()
    while 0.1 * random() >= q * q * (1 - q * q) ^ 3.5 do q = random() end -- speed over escape speed
    local speed = q * math.sqrt(2) * (1 + r * r) ^ -0.25 / math.sqrt(scale)
    m[i] = 1 / n
    for _, one in ipairs { { x, r * scale }, { v, speed } } do
      local list, z, angle = one[1], 2 * random() - 1, 2 * math.pi * random()
      local across = one[2] * math.sqrt(1 - z * z)
      list[i], list[n + i], list[2 * n + i] = across * math.cos(angle), across * math.sin(angle), one[2] * z
    end
  end
  for first = 1, 2 * n + 1, n do -- of bodies of equal mass, the mean is 0 along each axis
    for _, list in ipairs { x, v } do
      local sum = 0.0
      for i = first, first + n - 1 do sum = sum + list[i] end
      for i = first, first + n - 1 do list[i] = list[i] - sum / n end
    end
  end
  return m, x, v
end

local ADVANCE <const>, FEW <const> = "advance<%s>", "accelerations<%s,32>"
local MANY <const> = gpu and "accelerations<%s,64>" or "accelerations<%s,256>"

-- m0, x0, v0, a0: how it starts, as the type has it; unit: steps of a period, or of a unit of time.
function study.arrays(c)
  local n, is_two, name = c.bodies, c.system == TWO, c.bodies < 64 and FEW or MANY
  local m, x, v = (is_two and ellipse or plummer)(n)
  local function new(values) return c.dev:array(c.type, values) end
  local on = { n = n, m = new(m), x = new(x), v = new(v), a = new(3 * n), phi = new(n),
    softening = is_two and 0 or 0.05, unit = is_two and p.per_orbit or PER_UNIT,
    dt = not c.steps and 0.5 or is_two and 2 * math.pi / p.per_orbit or 1 / PER_UNIT } -- odd: a long step
  local block = math.tointeger(name:match "%d+")
  on.pull = c:launch(name, { block = block, grid = mw.ceil_div(n, block) }, on)
  on.pull()
  on.m0, on.x0, on.v0, on.a0 = on.m:totable(), on.x:totable(), on.v:totable(), on.a:totable()
  return on
end

-- ---- what is right: the formulas, in f64 --------------------------------------------------------------
-- Errors, as parts of what a rounding makes of terms of a size.
local function add(off, what, error, size)
  off[what] = off[what] or {}
  table.insert(off[what], error == 0 and 0.0 or error / size)
end

-- Those of what the last launch has left in a and phi: of all bodies where they are few, else of some.
local function add_forces(off, c)
  local n, m, x, a, phi = c.bodies, c.m0, c.x:totable(), c.a:totable(), c.phi:totable()
  local count, roundings = n <= 300 and n or math.min(n, p.samples), c.eps * (4 + math.sqrt(n))
  for k = 1, count do
    local i = count == 1 and 1 or 1 + (k - 1) * (n - 1) // (count - 1)
    local ax, ay, az, depth, size = 0.0, 0.0, 0.0, 0.0, 0.0
    for j = 1, n do
      local dx, dy, dz = x[j] - x[i], x[n + j] - x[n + i], x[2 * n + j] - x[2 * n + i]
      local square = dx * dx + dy * dy + dz * dz + c.softening ^ 2
      if j ~= i then
        local f = m[j] * square ^ -1.5
        ax, ay, az = ax + f * dx, ay + f * dy, az + f * dz
        depth, size = depth + m[j] / math.sqrt(square), size + m[j] / square
      end
    end
    for d, w in ipairs { ax, ay, az } do add(off, "accelerations", a[d * n - n + i] - w, roundings * size) end
    add(off, "potential", phi[i] + depth, roundings * depth)
  end
  return off
end

-- Those of a step from x0, v0, a0: x += dt (v + share dt a), v += dt (1 - share) a, new a, v += dt share a.
local function add_step(off, c, share)
  local x, v, a, abs, dt = c.x:totable(), c.v:totable(), c.a:totable(), math.abs, c.dt
  for k, v0 in ipairs(c.v0) do
    local kick, last = dt * (1 - share) * c.a0[k], dt * share * a[k]
    local size = c.eps * (abs(v0) + dt * abs(c.a0[k]) + abs(last))
    add(off, "positions", x[k] - c.x0[k] - dt * (v0 + share * dt * c.a0[k]), c.eps * abs(c.x0[k]) + dt * size)
    add(off, "velocities", v[k] - v0 - kick - last, size)
  end
  return add_forces(off, c)
end

local function check_all(check, off)
  for what, list in pairs(off) do check(list, 0, { absolute = 4, name = what }) end
end

local function start(c)
  c.x:upload(c.x0)
  c.v:upload(c.v0)
  c.pull()
end

-- Energy; momentum, over what it would be if all went the same way; the radius that holds half of the bodies.
local function invariants(c)
  local n, v, x, phi, radii = c.bodies, c.v:totable(), c.x:totable(), c.phi:totable(), {}
  local energy, all, px, py, pz = 0.0, 0.0, 0.0, 0.0, 0.0
  for i, m in ipairs(c.m0) do
    local vx, vy, vz = v[i], v[n + i], v[2 * n + i]
    local square = vx * vx + vy * vy + vz * vz
    energy, all = energy + m * (square + phi[i]) / 2, all + m * math.sqrt(square)
    px, py, pz = px + m * vx, py + m * vy, pz + m * vz
    radii[i] = math.sqrt(x[i] ^ 2 + x[n + i] ^ 2 + x[2 * n + i] ^ 2)
  end
  table.sort(radii)
  return energy, math.sqrt(px * px + py * py + pz * pz) / all, radii[(n + 1) // 2]
end

-- Of the two bodies: Kepler's energy, -m1 m2 / 2; each step of three periods; a quarter of a period by
-- leapfrog, and backwards, which must come home.
local function prove(c, go, share, check)
  local off, quarter, near = {}, c.unit // 4, (1 + p.eccentricity) / (1 - p.eccentricity)
  start(c)
  check({ (invariants(c)) }, -3 / 32, { relative = 64 * c.eps * near, name = "Kepler's energy" })
  for _ = 1, 3 * c.unit do
    local now = c:with { x0 = c.x:totable(), v0 = c.v:totable(), a0 = c.a:totable() }
    go()
    add_step(off, now, share)
  end
  check_all(check, off)
  if share == 0 then return end
  local back = study:launcher("leapfrog", c:with { dt = -c.dt })
  start(c)
  for step = 1, 2 * quarter do (step > quarter and back or go)() end
  check(c.x, c.x0, { absolute = 64 * c.eps * math.sqrt(2 * quarter), name = "there and back" })
end

local points, windows = {}, { [TWO] = {}, [SPHERE] = {} }
local function motion(c, go, rung, check)
  local is_two, list, most = c.system == TWO, windows[c.system], 0.0
  start(c)
  check_all(check, add_forces({}, c))
  local r, before, _, radius = { dt = c.dt, energy_error = 0.0, momentum = 0.0 }, invariants(c)
  for step = 1, c.steps do
    go()
    if step % math.max(1, c.unit // (is_two and 100 or 4)) == 0 then
      local energy, momentum, grown = invariants(c)
      local off = math.abs(energy / before - 1) -- not a number is greater than any
      most, r.momentum = math.max(most, off == off and off or math.huge), math.max(r.momentum, momentum)
      r.gain, r.swelling = (energy - before) / math.abs(before), not is_two and grown / radius - 1 or nil
      for body = 1, is_two and (rung.name == "leapfrog" or step <= 3 * c.unit) and 2 or 0 do
        points[#points + 1] = { series = ("body %d, %s"):format(body, rung.name), px = c.x:get(body),
                                py = c.x:get(2 + body), device = c.dev:id(), device_name = c.dev:name() }
      end
    end
    if step % c.unit == 0 then
      list[#list + 1] = mw.record { study = "orbits", group = c.system, series = rung.name,
                                    window = step // c.unit, energy_error = most }
      r.late = most / list[#list - step // c.unit + 1].energy_error
      r.energy_error, most = math.max(r.energy_error, most), 0.0
    end
  end
  check_all(check, add_forces({}, c))
  return r
end

for _, name in ipairs { "leapfrog", "Euler" } do
  local share <const> = name == "leapfrog" and 0.5 or 0.0
  study:answer(name, { start = start,
    cell = function(c, _, k) return c.x0[k] + c.dt * (c.v0[k] + share * c.dt * c.a0[k]) end,
    tolerance = function(c) return { relative = 4 * c.eps, absolute = 16 * c.eps } end,
    also = function(c, check) check_all(check, add_step({}, c, share)) end,
    prove = function(c, go, check) return c.system == TWO and prove(c, go, share, check) end })
  study:rung { name, answer = name, kernel = { FEW, MANY, ADVANCE }, observe = motion, launches = function(c)
    local how = { block = 256, grid = mw.ceil_div(3 * c.n, 256) }
    local function advance(to, rate, step) -- to += step * rate
      return { ADVANCE, how, { to = to, rate = rate, step = step, n = 3 * c.n } }
    end
    local kick, drift = advance(c.v, c.a, (1 - share) * c.dt), advance(c.x, c.v, c.dt)
    return share > 0 and { kick, drift, c.pull, kick } or { drift, kick, c.pull }
  end }
end

study:part { "motion", rows = "all", ratios = { "leapfrog / Euler" },
  cases = { { system = TWO, bodies = 2, steps = p.orbits * p.per_orbit, type = p.real },
            { system = SPHERE, bodies = p.sphere, steps = p.time_units * PER_UNIT, type = p.real } },
  table = { "system", "rung", "bodies", "steps", { "dt", digits = 3 }, { "energy_error", digits = 2 },
            { "late", title = "last / first", digits = 3 }, { "gain", digits = 2 },
            { "momentum", digits = 2 }, { "swelling", digits = 2 }, "t", "interactions" } }

study:finally(function()
  if #points == 0 or #windows[SPHERE] == 0 then return end -- there was no right method
  mw.plot { records = points, x = "px", y = "py", by = "series", square = true, points = false, xlabel = "x",
            ylabel = "y", title = "orbits: two bodies, in half-axes", name = "orbits-path" }
  for _, one in ipairs { { TWO, "energy", "period" }, { SPHERE, "sphere", "unit of time" } } do
    mw.plot { records = windows[one[1]], x = "window", y = "energy_error", by = "series", logy = 10,
              xlabel = one[3], ylabel = "largest |E / E0 - 1| in it",
              title = "orbits: energy error, " .. one[1], name = "orbits-" .. one[2] }
  end
end)
return study
