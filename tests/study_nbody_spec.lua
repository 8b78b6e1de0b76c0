-- SPDX-License-Identifier: MIT
--
-- The study nbody: what it leaves, that its checks raise no false alarm, and its closing words.

local support = require "tests.support"
local core = support.core

local function parameters(text) return (text:gsub("%S+", "-p %0")) end

describe("the study nbody", function()
  if not support.program() then
    pending "needs the program"
    return
  end

  it("runs and leaves its files", function()
    local run = support.study_passes("nbody", parameters
      "smallest=300 largest=700 n=333 orbits=3 per_orbit=50 sphere=40 time_units=2", { optimised = true })
    for _, name in ipairs { "record.json", "remarks.txt", "nbody-rate.gp", "nbody-orbit.dat", "nbody-energy.dat",
                            "nbody-sphere.gp" } do
      assert.is_true(#run.files[name] > 100, name)
    end
    for _, name in ipairs { "init", "host", "motion", "potential", "words" } do -- a rerun needs them all
      assert.is_truthy(run.files["source/nbody/" .. name .. ".lua"], name)
    end
  end)

  it("has no false alarm for any ellipse, type and step", function()
    for _, words in ipairs { "real=f32 eccentricity=0.95 per_orbit=20", "eccentricity=0.9 per_orbit=50",
                             "real=f32 eccentricity=0.8 per_orbit=1000", "eccentricity=0 real=f32" } do
      support.study_passes("nbody", "--quiet " .. parameters(words
        .. " smallest=64 largest=64 n=64 rungs=1 orbits=5 sphere=37 time_units=1"))
    end
  end)
end)

-- ---- the closing words ------------------------------------------------------------------------------------------

local function words_of(change)
  local last = {}
  for number = 1, 7 do
    last[number] = { number = number, rung = "r" .. number, bodies = 64, interactions = 1e9 * number }
  end
  local m = {
    last = last, fast_math = {}, ellipse_energy = {},
    motions = { { energy_error = 1e-3, momentum = 1e-15, steps = 300, gain = 0 },
                { energy_error = 0.8, momentum = 1e-15, steps = 300, gain = 0.8 },
                { energy_error = 1e-5, swelling = 0.01, gain = 0 },
                { energy_error = 0.2, swelling = 0.4, gain = 0.2 } },
  }
  for k = 1, 6 do
    m.fast_math[k] = { rung = "f" .. k, gain = 1.5, exact_error = 80, fast_error = k == 6 and 4 or 80 }
    m.ellipse_energy[k] = { energy_error = k <= 3 and 1e-3 or 0.8 }
  end
  change(m)
  local set = { eps = 2.0 ^ -52, orbits = 3, per_orbit = 100, eccentricity = 0.5, n = 64, sphere = 64, time_units = 1 }
  local say = assert(loadfile(core.home() .. "/experiments/nbody/words.lua"))(set)
  return table.concat(say(m), "\n")
end

describe("the closing words of the study nbody", function()
  local function says(text, change)
    local all = words_of(change or function() end)
    assert.is_truthy(all:find(text, 1, true), ("'%s' is not in: %s"):format(text, all))
  end

  it("follow the energy", function()
    says "in the last period by 1.00 times as much as in the first: the error comes and goes"
    says("8.9e+01, in the last period by 1000.00 times as much as in the first: these are too few steps",
      function(m)
        m.motions[1].energy_error, m.ellipse_energy[3].energy_error = 89, 1
      end)
    says("it grows", function(m) m.ellipse_energy[3].energy_error = 3e-3 end)
    says("is kept to rounding", function(m) m.motions[1].energy_error = 1e-14 end)
    says("is no number any more", function(m) m.motions[1].energy_error = 0 / 0 end)
    says "Euler's method with the same steps is off by 80 % in the end, and at most by 800 times as much"
    says("at most about as much", function(m) m.motions[1].energy_error = 0.7 end)
    says("at most by less", function(m) m.motions[1].energy_error = 89 end)
    says "which fed it 20 % of the binding energy"
    says("which took from it 20 % of the binding energy", function(m) m.motions[4].gain = -0.2 end)
    says("The momentum is off by 1e-06", function(m) m.motions[1].momentum = 1e-6 end)
  end)

  it("follow the errors and the rates", function()
    says "Long sums in one f32 make these errors; 'f6' adds up many short ones and has 4.0"
    says("which adds up shorter sums, has 80.0: with so few bodies its order of adding is no better",
      function(m) m.fast_math[6].fast_error = 80 end)
    says("about as fast as the direct one", function(m) m.last[3].interactions = 1.01e9 end)
    says "200 % faster than the direct one"
    says("The fastest rung with 64 bodies is 'r1': 8e+09 interactions/s.",
      function(m) m.last[1].interactions = 8e9 end)
  end)
end)
