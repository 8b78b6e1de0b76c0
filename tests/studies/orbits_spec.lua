-- SPDX-License-Identifier: MIT
--
-- The study orbits: what it says about two bodies and of the sphere, and that its checks raise no false alarm.

local support = require "tests.support"

local function parameters(text) return (text:gsub("%S+", "-p %0")) end

describe("the study orbits", function()
  if not support.program() then return pending "needs the program" end

  it("distinguishes leapfrog from Euler's method by their energy", function()
    local run = support.study_passes("orbits", parameters "orbits=5 per_orbit=200 sphere=64 time_units=4")
    local methods, windows, checked = {}, {}, {}
    for _, r in ipairs(run.record.records) do
      if r.group == "motion" then methods[r.system .. ", " .. r.rung] = r else windows[#windows + 1] = r end
    end
    for _, check in ipairs(run.record.checks) do checked[check.what] = check.ok end
    local leapfrog, euler = methods["two bodies, leapfrog"], methods["two bodies, Euler"]
    assert.are.same({ 2, 1000 }, { leapfrog.bodies, leapfrog.steps })
    assert.is_true(leapfrog.energy_error < 0.01 and euler.energy_error > 0.3 and euler.gain > 0.3)
    assert.is_near(1, leapfrog.late, 0.01) -- its error comes and goes
    assert.is_true(leapfrog.momentum < 1e-13 and leapfrog.swelling == nil)
    local sphere = methods["Plummer sphere, Euler"]
    assert.is_true(sphere.swelling > methods["Plummer sphere, leapfrog"].swelling)
    assert.is_near(sphere.interactions, 64 * 64 / sphere.t.median, 1)
    assert.are.equal(2 * (5 + 4), #windows)
    for _, what in ipairs { "leapfrog, bodies = 37, f64", "Euler, bodies = 293, f64: velocities",
                            "leapfrog, bodies = 293, f64: accelerations", "Euler, bodies = 2, f64: potential" } do
      assert.is_true(checked[what], what)
    end
    local two = "leapfrog, bodies = 2, steps = 1000, two bodies, f64: "
    for _, what in ipairs { "Kepler's energy", "positions", "velocities", "there and back" } do
      assert.is_true(checked[two .. what], two .. what)
    end
    for _, name in ipairs { "orbits-path", "orbits-energy", "orbits-sphere" } do
      assert.is_true(#run.files[name .. ".dat"] > 100, name)
    end
  end)

  it("has an error of leapfrog that falls by four where the step is halved", function()
    local errors = {}
    for i, steps in ipairs { 100, 200 } do
      local run = support.study_passes("orbits", "--quiet " .. parameters("rungs=leapfrog orbits=3 per_orbit=" .. steps
        .. " sphere=2 time_units=1"))
      for _, r in ipairs(run.record.records) do
        if r.group == "motion" and r.system == "two bodies" then errors[i] = r.energy_error end
      end
    end
    assert.is_near(4, errors[1] / errors[2], 0.1)
  end)

  it("has no false alarm for any ellipse, type and step", function()
    for _, words in ipairs { "real=f32 eccentricity=0.95 per_orbit=20", "eccentricity=0.9 per_orbit=50 rungs=Euler",
                             "real=f32 eccentricity=0.8 per_orbit=1000",
                             "eccentricity=0 real=f32 samples=1 sphere=301" } do
      support.study_passes("orbits", "--quiet " .. parameters(words .. " orbits=3 time_units=1"))
    end
  end)
end)
