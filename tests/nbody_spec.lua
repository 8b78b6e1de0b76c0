-- SPDX-License-Identifier: MIT
--
-- The ladder of nbody.cu against the host at sizes that suit no block, motion, and the study itself.

local support = require "tests.support"
local core, mw = support.core, support.mw

local PROGRAM = support.program() or "build/moonwarp"

-- name, threads a block, bodies a thread; parts of the half circle where phi has to be 0 before
local RUNGS = {
  { "potential_direct", 192, 1 }, { "potential_shared<double>", 256, 1 },
  { "potential_shared<float>", 256, 1 }, { "potential_tiled", 256, 1 },
  { "potential_wide<64,1,1>", 64, 1 }, { "potential_wide<64,4,8>", 64, 4 },
  { "potential_wide<256,2,8>", 256, 2 }, { "potential_pairs<1>", 32, 1, parts = 3 },
  { "potential_pairs<4>", 32, 4, parts = 1 }, { "potential_pairs<8>", 32, 8, parts = 5 },
}

local function bodies_of(dev, n)
  local list = {}
  for k = 1, 4 do list[k] = dev:array("f32", n):random(k) end
  return list
end

local function host_potential(bodies, n)
  local x, y, z, m = bodies[1]:totable(), bodies[2]:totable(), bodies[3]:totable(), bodies[4]:totable()
  local phi = {}
  for i = 1, n do
    local sum = 0.0
    for j = 1, n do
      local dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
      if j ~= i then sum = sum + m[j] / math.sqrt(dx * dx + dy * dy + dz * dz) end
    end
    phi[i] = -sum
  end
  return phi
end

local function close(arrays)
  for _, array in pairs(arrays) do array:close() end
end

local function check_rung(mod, rung, phi, bodies, expected, n)
  local name, threads, per_block = rung[1], rung[2], rung[2] * rung[3]
  local go = mod:kernel(name):prepare { block = threads,
                                        grid = { (n + per_block - 1) // per_block, rung.parts or 1 } }
  phi:fill(rung.parts and 0 or 0 / 0)
  go(phi, bodies[1], bodies[2], bodies[3], bodies[4], n)
  local ok, report = mw.check(phi, expected, { sum = n, quiet = true })
  assert.is_true(ok, ("%s, %d bodies: %s"):format(name, n, tostring(report)))
end

local function each_rung(dev, options, sizes)
  local mod <close> = dev:module(options)
  for _, n in ipairs(sizes) do
    local bodies = bodies_of(dev, n)
    local expected, phi <close> = host_potential(bodies, n), dev:array("f32", n)
    for _, rung in ipairs(RUNGS) do check_rung(mod, rung, phi, bodies, expected, n) end
    close(bodies)
  end
end

-- Two bodies on an ellipse by leapfrog: the largest relative error of the energy over two periods.
local function energy_error(dev, mod, per_period)
  local m, x = dev:array("f64", { 0.5, 0.5 }), dev:array("f64", { -0.75, 0.75, 0, 0, 0, 0 })
  local speed = math.sqrt(1 / 3) / 2
  local v, a = dev:array("f64", { 0, 0, -speed, speed, 0, 0 }), dev:array("f64", 6)
  local phi, dt = dev:array("f64", 2), 2 * math.pi / per_period
  local pull = mod:kernel "accelerations<double,32>":prepare { grid = 1, block = 32 }
  local advance = mod:kernel "advance<double>":prepare { grid = 1, block = 32 }
  local function energy()
    local w, sum = v:totable(), 0.0
    for _, one in ipairs(w) do sum = sum + 0.25 * one * one end
    return sum + 0.25 * (phi:get(1) + phi:get(2))
  end
  pull(a, phi, x, m, 0, 2)
  local start, most = energy(), 0.0
  for _ = 1, 2 * per_period do
    advance(v, a, dt / 2, 6)
    advance(x, v, dt, 6)
    pull(a, phi, x, m, 0, 2)
    advance(v, a, dt / 2, 6)
    most = math.max(most, math.abs(energy() / start - 1))
  end
  close { m, x, v, a, phi }
  return most
end

describe("nbody.cu", function()
  support.each_device(function(dev, id)
    it("has every rung right at any size", function()
      each_rung(dev, "nbody.cu", { 1, 2, 31, 257, 769 })
    end)

    it("has every rung right with fast math", function()
      each_rung(dev, { file = "nbody.cu", fast_math = true }, { 33, 521 })
    end)

    it("has every rung right on fibers", function()
      if id == "cpu" then each_rung(dev, { file = "nbody.cu", engine = "fiber" }, { 289 }) end
    end)

    it("needs no fibers", function()
      if id ~= "cpu" then return end
      local mod <close> = dev:module "nbody.cu"
      for _, rung in ipairs(RUNGS) do
        assert.are_not.equal("fiber", (mod:kernel(rung[1]):engine()), rung[1])
      end
      assert.are.equal("split", (mod:kernel "accelerations<double,256>":engine()))
      assert.are.equal("loop", (mod:kernel "advance<double>":engine()))
    end)

    for _, kind in ipairs { { "f32", "float" }, { "f64", "double" } } do
      it("has accelerations in " .. kind[1] .. " that are the potential's slope", function()
        local mod <close> = dev:module "nbody.cu"
        local n, eps = 101, 0.1
        local m, x = dev:full(1 / n, kind[1], n), dev:array(kind[1], 3 * n):random(1)
        local a, phi = dev:array(kind[1], 3 * n), dev:array(kind[1], n)
        mod:kernel(("accelerations<%s,32>"):format(kind[2])):launch(4, 32, a, phi, x, m, eps, n)
        local p, slope, potential = x:totable(), {}, {}
        for i = 1, n do
          potential[i], slope[i], slope[n + i], slope[2 * n + i] = 0, 0, 0, 0
          for j = 1, n do
            local dx, dy, dz = p[j] - p[i], p[n + j] - p[n + i], p[2 * n + j] - p[2 * n + i]
            local r = math.sqrt(dx * dx + dy * dy + dz * dz + eps * eps)
            if j ~= i then potential[i] = potential[i] - 1 / n / r end
            for axis, d in ipairs { dx, dy, dz } do
              local k = (axis - 1) * n + i
              slope[k] = slope[k] + d / n / r ^ 3
            end
          end
        end
        assert.is_true(mw.check(a, slope, { sum = n }))
        assert.is_true(mw.check(phi, potential, { sum = n }))
        close { m, x, a, phi }
      end)
    end

    it("makes leapfrog a method of second order", function()
      local mod <close> = dev:module "nbody.cu"
      local coarse, fine = energy_error(dev, mod, 100), energy_error(dev, mod, 200)
      assert.is_true(coarse > 3.5 * fine and coarse < 4.5 * fine, ("%g, %g"):format(coarse, fine))
    end)

    -- The study looks for its kernels in the working folder first.
    local function status_with(folder, change)
      local text = support.read(core.home() .. "/kernels/nbody.cu")
      local from, to = text:find(change[1], 1, true)
      local file <close> = assert(io.open(folder .. "/nbody.cu", "w"))
      file:write(text:sub(1, from - 1), change[2], text:sub(to + 1))
      file:close()
      local words = "smallest=64 largest=128 n=64 lane=1 rungs=1 seconds=0 orbits=3 per_orbit=20 sphere=70 time_units=1"
      local program = PROGRAM:sub(1, 1) == "/" and PROGRAM or core.home() .. "/" .. PROGRAM
      local command = "cd '%s' && MOONWARP_HOME='%s' '%s' run nbody --device %s --quiet %s 2>&1 </dev/null"
      local pipe = io.popen(command:format(folder, core.home(), program, id, (words:gsub("%S+", "-p %0"))))
      local output = pipe:read "a"
      local _, _, status = pipe:close()
      return status, output
    end

    it("finds a wrong potential, half circle, force or step of the motion", function()
      local changes = {
        [{ "phi[i] = -sum;\n  }\n}", "phi[i] = -sum / 2;\n  }\n}" }] = "check potential, 2 bodies",
        [{ "(groups % 2 == 0 && group < groups / 2 ? 1 : 0)", "(group < groups / 2 ? 1 : 0)" }] =
          "check each pair once, fast math, 81 bodies",
        [{ "near * inverse * inverse;", "near * (B == 32 ? (Real)1 : inverse) * inverse;" }] =
          "check accelerations, 2 bodies",
        [{ "if (i < n) to[i]", "if (i < n - 1) to[i]" }] = "check positions after half a unit, 37 bodies",
        [{ "to[i] += step * rate[i]", "to[i] += step * (Real)1.0001 * rate[i]" }] = "check two bodies, leapfrog",
      }
      for change, words in pairs(changes) do
        support.with_folder(function(folder)
          local status, output = status_with(folder, change)
          assert.are.equal(3, status, output)
          assert.is_truthy(output:find(words, 1, true), output)
        end)
      end
    end)

    it("has no false alarm for any ellipse, type and step", function()
      for _, words in ipairs { "real=f32 eccentricity=0.95 per_orbit=20", "eccentricity=0.9 per_orbit=50",
                               "real=f32 eccentricity=0.8 per_orbit=1000", "eccentricity=0 real=f32" } do
        support.with_folder(function(folder)
          words = words .. " smallest=64 largest=64 n=64 rungs=1 seconds=0 orbits=5 sphere=37 time_units=1"
          local pipe = io.popen(("'%s' run nbody --device %s --out '%s' --quiet %s 2>&1 </dev/null"):format(PROGRAM, id,
            folder, (words:gsub("%S+", "-p %0"))))
          local output = pipe:read "a"
          local _, _, status = pipe:close()
          assert.are.equal(0, status, words .. "\n" .. output)
        end)
      end
    end)

    it("is a study that runs and leaves its files", function()
      support.with_folder(function(folder)
        local words = "smallest=300 largest=700 n=333 seconds=0.001 orbits=3 per_orbit=50 sphere=40 time_units=2"
        local command = ("'%s' run nbody --device %s --out '%s' %s 2>&1 </dev/null"):format(PROGRAM, id,
          folder, (words:gsub("%S+", "-p %0")))
        local pipe = io.popen(command)
        local output = pipe:read "a"
        local _, _, status = pipe:close()
        assert.are.equal(0, status, output)
        for _, name in ipairs { "record.json", "remarks.txt", "nbody-rate.gp", "nbody-orbit.dat", "nbody-energy.dat",
                                "nbody-sphere.gp" } do
          assert.is_true(#support.read(support.run(folder) .. "/" .. name) > 100, name)
        end
        for _, name in ipairs { "init", "host", "motion", "potential", "words" } do -- a rerun needs them all
          assert.is_truthy(support.read(support.run(folder) .. ("/source/nbody/%s.lua"):format(name)), name)
        end
      end)
    end)
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

describe("the study's closing words", function()
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
