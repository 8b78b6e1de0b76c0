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
-- What others measured (S. Boerm, Kiel, 7 October 2020, "Simulation and High-Performance Computing", part
-- 16): SOURCE below, direct and through shared memory. It names neither the GPU nor the table's unit; as
-- milliseconds its best is 1.1e11 interactions a second, as seconds a thousandth of it, less than a CPU's,
-- as microseconds more than any GPU's. Its direct kernel is not in it.
-- Integrators: L. Verlet, Phys. Rev. 159 (1967) 98; E. Hairer, C. Lubich, G. Wanner, "Geometric
-- Numerical Integration" (2006), chapters I and IX. The sphere: S. Aarseth, M. Henon, R. Wielen,
-- Astron. Astrophys. 37 (1974) 183.

local mw = require "moonwarp"

local dev = mw.device()
local gpu = dev:id() ~= "cpu"

local SOURCE = { -- n = { direct, through shared memory }, in seconds: its numbers as milliseconds
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

local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"

-- Runs the file beside this one with the settings.
local function part(name, settings)
  return assert(loadfile(here .. name .. ".lua"))(settings)
end

local settings = {
  dev = dev, gpu = gpu, largest = sizes[#sizes], n = n, rungs = rungs, seconds = seconds,
  block = block, own = own, lane = lane, samples = samples, real = real, orbits = orbits,
  per_orbit = per_orbit, eccentricity = eccentricity, sphere = sphere, time_units = time_units,
  eps = real == "f64" and 2.0 ^ -52 or 2.0 ^ -23, host = part "host",
}
local potential, motion, words = part("potential", settings), part("motion", settings),
  part("words", settings)

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
    columns[2] = { "theirs_direct", title = "Kiel (source, as ms): direct", unit = "s" }
    columns[3] = { "theirs_shared", title = "Kiel (source, as ms): shared", unit = "s" }
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
mw.table { { "rung", title = "memory" }, { "t", title = "whole phase", unit = "s" },
           { "kernel", title = "kernel alone", unit = "s" },
           { "overhead", title = "not kernel", unit = "%", digits = 3 }, records = memory,
           title = ("nbody: from host to host, %d bodies, shared memory, 1.0f"):format(n) }
mw.table { "system", "method", "bodies", "steps", { "dt", digits = 3 },
           { "energy_error", title = "energy error", digits = 2 }, { "momentum", digits = 2 },
           { "swelling", title = "half-mass radius grew", unit = "%", digits = 2 },
           { "t", title = "a step" }, RATE, title = "nbody: motion, " .. real, records = motions }

-- The chart has one line for each idea, and six colours: rung 5 differs from 6 by an option, and
-- rung 3 gives its colour to what the source measured, where a GPU has that many bodies.
local drawn, known = {}, {}
for _, count in ipairs(gpu and sizes or {}) do
  local theirs = SOURCE[count]
  if theirs then
    known[#known + 1] = { rung = "Kiel 2020 as ms, shared, GPU not named, source", bodies = count,
                          interactions = count * count / theirs[2] }
  end
end
for _, r in ipairs(ladder) do
  local hidden = r.number == 5 or r.number == 3 and #known > 0
  if not hidden then drawn[#drawn + 1] = r end
end
table.move(known, 1, #known, #drawn + 1, drawn)
mw.plot { x = "bodies", y = "interactions", by = "rung", logx = 2, logy = 10, records = drawn,
          peak = ceiling and { value = ceiling, label = "a root an interaction" } or nil,
          title = "nbody: interactions/s against bodies", ylabel = "n^2 / t", name = "nbody-rate" }
mw.plot { x = "px", y = "py", by = "series", square = true, points = false, records = path,
          xlabel = "x / half-axis", ylabel = "y / half-axis", title = "nbody: two bodies", name = "nbody-orbit" }

local function plot_energy(name, what, xlabel, records)
  mw.plot { x = "window", y = "energy_error", by = "series", logy = 10, records = records,
            xlabel = xlabel, ylabel = "largest |E / E0 - 1| in it", name = name,
            title = "nbody: energy error of " .. what }
end

plot_energy("nbody-energy", "two bodies", "period", ellipse_energy)
plot_energy("nbody-sphere", ("a sphere of %d"):format(sphere), "unit of time", sphere_energy)

-- ---- in words -----------------------------------------------------------------------------------

local results = { last = last, fast_math = fast_math, motions = motions, ceiling = ceiling,
                  properties = properties, ellipse_energy = ellipse_energy }
for _, text in ipairs(words(results)) do mw.remark("%s", text) end
