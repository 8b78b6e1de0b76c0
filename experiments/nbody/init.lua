-- SPDX-License-Identifier: MIT
--
-- nbody: what bounds a computation that is all arithmetic, and how do bodies keep their energy?
--
-- First the gravitational potential of n bodies, f32, n^2 interactions (potential.lua): the rungs
-- are direct, through shared memory with the source's literal 1.0 and with 1.0f, by rsqrtf, several
-- bodies a thread, fast math, each pair once, with the error of each; then what fast math changes,
-- shapes, managed memory and copies by hand. The rate is n^2 / t, whatever a rung saves.
-- Then accelerations and motion, f64 or f32 (motion.lua): two bodies on an ellipse and a Plummer
-- sphere, by leapfrog and by Euler's method.
--
-- What others measured (S. Boerm, Kiel 2020, "Simulation and High-Performance Computing", part 16;
-- the GPU is not named): SOURCE below, direct and through shared memory.
-- Integrators: L. Verlet, Phys. Rev. 159 (1967) 98; E. Hairer, C. Lubich, G. Wanner, "Geometric
-- Numerical Integration" (2006), chapters I and IX. The sphere: S. Aarseth, M. Henon, R. Wielen,
-- Astron. Astrophys. 37 (1974) 183.

local mw = require "moonwarp"

local dev = mw.device()
local gpu = dev:id() ~= "cpu"

local SOURCE = { -- n = { direct, through shared memory }, seconds
  [16384] = { 6.1e-3, 6.3e-3 }, [32768] = { 12.5e-3, 12.2e-3 }, [65536] = { 52.5e-3, 48.4e-3 },
  [131072] = { 199.1e-3, 183.2e-3 }, [262144] = { 719.6e-3, 645.7e-3 },
  [524288] = { 2759.3e-3, 2427.3e-3 },
}

local smallest = mw.arg("smallest", gpu and 16384 or 1024, "bodies, where the sweep begins",
  { min = 1, max = 1 << 24 })
local largest = mw.arg("largest", gpu and 524288 or 8192, "bodies, where it ends, by doubling",
  { min = 1, max = 1 << 24 })
local n = mw.arg("n", gpu and 65536 or 4096, "bodies, for copies, fast math and shapes",
  { min = 1, max = 1 << 24 })
local rungs = mw.arg("rungs", { 1, 2, 3, 4, 5, 6, 7 }, "which rungs to measure",
  { min = 1, max = 7 })
local seconds = mw.arg("seconds", gpu and 0.05 or 0.03,
  "least time of a measurement; three times that at most", { min = 0, max = 3600 })
local block = mw.arg("block", gpu and 256 or 64,
  "threads a block where a thread has several bodies", { min = 32, max = 1024 })
local own = mw.arg("own", 4, "bodies of a thread there", { min = 1, max = 16 })
local lane = mw.arg("lane", gpu and 16 or 8, "bodies of a lane where each pair is met once",
  { min = 1, max = 16 })
local samples = mw.arg("samples", 12, "bodies whose potential the host computes",
  { min = 1, max = 4096 })
local real = mw.arg("real", "f64", "type of the numbers in motion", { choices = { "f32", "f64" } })
local orbits = mw.arg("orbits", 20, "of the two bodies", { min = 3, max = 10000 })
local per_orbit = mw.arg("per_orbit", 400, "steps an orbit", { min = 20, max = 100000 })
local eccentricity = mw.arg("eccentricity", 0.5, "of their ellipse", { min = 0, max = 0.95 })
local sphere = mw.arg("sphere", gpu and 4096 or 512, "bodies of the sphere",
  { min = 2, max = 1 << 20 })
local time_units = mw.arg("time_units", 16, "of the sphere's motion", { min = 1, max = 10000 })

local sizes = { smallest }
while sizes[#sizes] * 2 <= largest do sizes[#sizes + 1] = sizes[#sizes] * 2 end

local here = debug.getinfo(1, "S").source:match "^@(.*/)" or ""
local function part(name)
  return assert(loadfile(here .. name .. ".lua")) {
    dev = dev, gpu = gpu, largest = sizes[#sizes], n = n, rungs = rungs, seconds = seconds,
    block = block, own = own, lane = lane, samples = samples, real = real, orbits = orbits,
    per_orbit = per_orbit, eccentricity = eccentricity, sphere = sphere, time_units = time_units,
  }
end

local potential, motion = part "potential", part "motion"

-- ---- the runs -----------------------------------------------------------------------------------

potential.check()
motion.check()

local ladder, by_size = {}, {}
for _, count in ipairs(sizes) do
  by_size[count] = potential.ladder(count)
  table.move(by_size[count], 1, #by_size[count], #ladder + 1, ladder)
end

potential.first()
local fast_math, shapes, memory = potential.fast(), potential.shapes(), potential.memory()

local motions, path, ellipse_energy, sphere_energy = {}, {}, {}, {}
motion.ellipse(motions, path, ellipse_energy)
motion.sphere(motions, sphere_energy)

-- ---- what it shows ------------------------------------------------------------------------------

-- One root an interaction, 16 a cycle and multiprocessor; only a GPU says both.
local properties = dev:properties()
local ceiling = gpu and properties.clock and 16 * properties.clock * properties.multiprocessors

local last = by_size[sizes[#sizes]]
local RATE = { "interactions", title = "n^2 / t" }
local ERROR = { "error", title = "error, eps", digits = 2 }
for _, r in ipairs(last) do
  r.gain = r.interactions / last[1].interactions
  r.share = ceiling and r.interactions / ceiling or nil
end
mw.table { "rung", "bodies", "t", RATE, { "gain", title = "over direct", digits = 3 }, ERROR,
           ceiling and { "share", title = "of a root each", unit = "%", digits = 3 } or nil,
           title = "nbody: the potential", records = last }

local function seconds_of(count, number)
  for _, r in ipairs(by_size[count]) do
    if r.number == number then return r.t.median end
  end
end

-- The sources' table and ours. A column that is empty on this device is left out.
local function size_table()
  local rows, columns, known = {}, { "bodies" }, false
  for _, count in ipairs(sizes) do
    local theirs, best = SOURCE[count] or {}, math.huge
    known = known or #theirs > 0
    for _, r in ipairs(by_size[count]) do best = math.min(best, r.t.median) end
    rows[#rows + 1] = { bodies = count, device = dev:id(), device_name = dev:name(),
      theirs_direct = theirs[1], theirs_shared = theirs[2], direct = seconds_of(count, 1),
      shared = seconds_of(count, 2), best = best }
  end
  if known then
    columns[2] = { "theirs_direct", title = "Kiel: direct", unit = "s" }
    columns[3] = { "theirs_shared", title = "Kiel: shared", unit = "s" }
  end
  columns[#columns + 1] = { "direct", unit = "s" }
  if rows[1].shared then
    columns[#columns + 1] = { "shared", title = "shared, 1.0", unit = "s" }
  end
  columns[#columns + 1] = { "best", title = "best rung", unit = "s" }
  columns.title, columns.records = "nbody: time against the number of bodies", rows
  mw.table(columns)
end

size_table()
mw.table { "rung", { "exact", title = "as written", unit = "1/s" },
           { "fast", title = "fast math", unit = "1/s" }, { "gain", digits = 3 },
           { "exact_error", title = "error, eps", digits = 2 },
           { "fast_error", title = "fast math's, eps", digits = 2 },
           title = ("nbody: what fast math changes, %d bodies"):format(n), records = fast_math }
mw.table { { "rung", title = "shape, fast math" }, { "each", title = "bodies a thread" }, "unroll",
           "t", RATE, title = ("nbody: shapes, %d bodies"):format(n), records = shapes }
mw.table { { "rung", title = "memory" }, { "t", title = "whole phase" },
           { "kernel", title = "kernel alone" },
           { "overhead", title = "not kernel", unit = "%", digits = 3 }, records = memory,
           title = ("nbody: from host to host, %d bodies, shared memory, 1.0f"):format(n) }
mw.table { "system", "method", "bodies", "steps", { "dt", digits = 3 },
           { "energy_error", title = "energy error", digits = 2 }, { "momentum", digits = 2 },
           { "swelling", title = "half-mass radius grew", unit = "%", digits = 2 },
           { "t", title = "a step" }, RATE, title = "nbody: motion, " .. real, records = motions }

-- The chart has one line for each idea; rung 5 differs from 6 by an option, and has its table.
local drawn = {}
for _, r in ipairs(ladder) do
  if r.number ~= 5 then drawn[#drawn + 1] = r end
end
local lines, biggest = {}, SOURCE[sizes[#sizes]]
if gpu and biggest then
  lines[1] = { value = sizes[#sizes] ^ 2 / biggest[2], label = "Kiel 2020, shared memory" }
end
mw.plot { x = "bodies", y = "interactions", by = "rung", logx = 2, logy = 10, records = drawn,
          peak = ceiling and { value = ceiling, label = "a root an interaction" } or nil,
          lines = lines, title = "nbody: interactions/s against bodies", ylabel = "n^2 / t",
          name = "nbody-rate" }
mw.plot { x = "px", y = "py", by = "series", square = true, points = false, records = path,
          xlabel = "x", ylabel = "y", title = "nbody: two bodies", name = "nbody-orbit" }

local function plot_energy(name, what, xlabel, records)
  mw.plot { x = "window", y = "energy_error", by = "series", logy = 10, records = records,
            xlabel = xlabel, ylabel = "largest |E / E0 - 1| in it", name = name,
            title = "nbody: energy error of " .. what }
end

plot_energy("nbody-energy", "two bodies", "period", ellipse_energy)
plot_energy("nbody-sphere", ("a sphere of %d"):format(sphere), "unit of time", sphere_energy)

-- ---- in words -----------------------------------------------------------------------------------

local function percent(ratio)
  return math.abs(ratio - 1) * 100, ratio >= 1 and "faster" or "slower"
end

local function rung(number)
  for _, r in ipairs(last) do
    if r.number == number then return r end
  end
end

local function say_shared()
  local direct, literal, shared = rung(1), rung(2), rung(3)
  if not (literal and shared) then return end
  local by, word = percent(shared.interactions / direct.interactions)
  mw.remark("With %d bodies the shared-memory kernel in f32 is %.0f %% %s than the direct one, "
    .. "whose reads the caches serve. With the source's literal 1.0, a double, it has %.2f of its "
    .. "rate.", direct.bodies, by, word, literal.interactions / shared.interactions)
end

local function say_fast()
  local roots, pairwise = fast_math[4], fast_math[6]
  mw.remark("Fast math makes '%s' %.2f times as fast with %d bodies; the largest error goes from "
    .. "%.1f to %.1f eps of f32. Long sums in one f32 make these errors; '%s' adds up many short "
    .. "ones and has %.1f.", roots.rung, roots.gain, n, roots.exact_error, roots.fast_error,
    pairwise.rung, pairwise.fast_error)
end

local function say_best()
  local best, direct = last[1], last[1]
  for _, r in ipairs(last) do
    if r.interactions > best.interactions then best = r end
  end
  mw.remark("The fastest rung with %d bodies is '%s': %.3g interactions/s, %.1f times the direct "
    .. "one.", best.bodies, best.rung, best.interactions, best.interactions / direct.interactions)
  if not ceiling then return end
  mw.remark("With one root an interaction the special-function units allow %.3g a second: 16 a "
    .. "cycle on %d multiprocessors at %.2f GHz, the highest clock. That rung has %.2f of it%s.",
    ceiling, properties.multiprocessors, properties.clock / 1e9, best.interactions / ceiling,
    best.number == 7 and "; it may pass it, since one root serves both bodies of a pair" or "")
end

local function say_ellipse()
  local leapfrog, euler = motions[1], motions[2]
  local first, final = ellipse_energy[1].energy_error, ellipse_energy[orbits].energy_error
  mw.remark("On the ellipse leapfrog's energy is off by at most %.1e, in the last period by %.2f "
    .. "times as much as in the first: the error comes and goes. Euler's method with the same "
    .. "steps is off by %.0f %% in the end, %.0f times as much. Both keep the momentum, to %.0e: "
    .. "forces come in pairs.", leapfrog.energy_error, final / first,
    100 * ellipse_energy[#ellipse_energy].energy_error, euler.energy_error / leapfrog.energy_error,
    math.max(leapfrog.momentum, euler.momentum))
end

local function say_sphere()
  local leapfrog, euler = motions[3], motions[4]
  mw.remark("The sphere, %d bodies in equilibrium: after %d units of time its half-mass radius is "
    .. "%+.1f %% by leapfrog, with an energy error of %.1e, and %+.0f %% by Euler's method, which "
    .. "feeds it energy.", sphere, time_units, 100 * leapfrog.swelling, leapfrog.energy_error,
    100 * euler.swelling)
end

say_shared()
say_fast()
say_best()
say_ellipse()
say_sphere()
