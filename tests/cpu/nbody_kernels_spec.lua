-- SPDX-License-Identifier: MIT
--
-- The ladder of nbody.cu against the host at sizes that suit no block, and motion. The study: studies/nbody_spec.lua.

local support = require "tests.support"
local mw = support.mw
local sqrt <const> = math.sqrt -- busted's globals are slow

-- name, threads per block, bodies per thread; parts of the half circle where phi has to be 0 before
local RUNGS = {
  { "potential_direct<float>", 192, 1 }, { "potential_direct<double>", 192, 1 }, { "potential_shared<double>", 256, 1 },
  { "potential_shared<float>", 256, 1 }, { "potential_tiled", 256, 1 },
  { "potential_wide<64,1,1>", 64, 1 }, { "potential_wide<64,4,8>", 64, 4 },
  { "potential_wide<256,2,8>", 256, 2 }, { "potential_pairs<1>", 32, 1, parts = 3 },
  { "potential_pairs<4>", 32, 4, parts = 1 }, { "potential_pairs<8>", 32, 8, parts = 5 },
}

local MOTION = { "accelerations<float,32>", "accelerations<double,32>", "accelerations<double,256>", "advance<double>" }

-- With all the kernels that a test may take: one run of the compiler.
local function module_of(dev, options)
  local all = { file = "nbody.cu", templates = options and {} or { table.unpack(MOTION) } }
  for _, rung in ipairs(RUNGS) do
    if rung[1]:find "<" then all.templates[#all.templates + 1] = rung[1] end
  end
  for key, value in pairs(options or {}) do all[key] = value end
  return dev:module(all)
end

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
      if j ~= i then sum = sum + m[j] / sqrt(dx * dx + dy * dy + dz * dz) end
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
  local mod <close> = module_of(dev, options)
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
      each_rung(dev, nil, { 1, 2, 31, 257, 769 })
    end)

    it("has every rung right with fast math", function()
      each_rung(dev, { fast_math = true }, { 33, 521 })
    end)

    it("has every rung right on fibers", function()
      if id == "cpu" then each_rung(dev, { engine = "fiber" }, { 289 }) end
    end)

    it("needs no fibers", function()
      if id ~= "cpu" then return end
      local mod <close> = module_of(dev)
      for _, rung in ipairs(RUNGS) do
        assert.are_not.equal("fiber", (mod:kernel(rung[1]):engine()), rung[1])
      end
      assert.are.equal("split", (mod:kernel "accelerations<double,256>":engine()))
      assert.are.equal("loop", (mod:kernel "advance<double>":engine()))
    end)

    for _, kind in ipairs { { "f32", "float" }, { "f64", "double" } } do
      it("has accelerations in " .. kind[1] .. " that are the potential's slope", function()
        local mod <close> = module_of(dev)
        local n, eps = 101, 0.1
        local m, x = dev:full(1 / n, kind[1], n), dev:array(kind[1], 3 * n):random(1)
        local a, phi = dev:array(kind[1], 3 * n), dev:array(kind[1], n)
        mod:kernel(("accelerations<%s,32>"):format(kind[2])):launch(4, 32, a, phi, x, m, eps, n)
        local p, slope, potential = x:totable(), {}, {}
        for i = 1, n do
          potential[i], slope[i], slope[n + i], slope[2 * n + i] = 0, 0, 0, 0
          for j = 1, n do
            local dx, dy, dz = p[j] - p[i], p[n + j] - p[n + i], p[2 * n + j] - p[2 * n + i]
            local r = sqrt(dx * dx + dy * dy + dz * dz + eps * eps)
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
      local mod <close> = module_of(dev)
      local coarse, fine = energy_error(dev, mod, 100), energy_error(dev, mod, 200)
      assert.is_true(coarse > 3.5 * fine and coarse < 4.5 * fine, ("%g, %g"):format(coarse, fine))
    end)
  end)
end)
