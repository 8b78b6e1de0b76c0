-- SPDX-License-Identifier: MIT
--
-- fill, linspace and random: known values, distributions, and the same bits wherever they are made.

local support = require "tests.support"
local fails = support.fails

support.warm()

-- ---- Philox4x32-10 in Lua (J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) --

local MASK = 0xffffffff

local function philox(counter, key)
  local c0, c1, c2, c3 = table.unpack(counter)
  local k0, k1 = table.unpack(key)
  for _ = 1, 10 do
    local p0, p1 = c0 * 0xD2511F53, c2 * 0xCD9E8D57
    c0, c1, c2, c3 = ((p1 >> 32) ~ c1 ~ k0) & MASK, p1 & MASK, ((p0 >> 32) ~ c3 ~ k1) & MASK, p0 & MASK
    k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
  end
  return { c0, c1, c2, c3 }
end

describe("Philox4x32-10 as the specs know it", function()
  it("gives the known answers of Random123", function()
    assert.are.same({ 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 }, philox({ 0, 0, 0, 0 }, { 0, 0 }))
    assert.are.same({ 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd },
      philox({ MASK, MASK, MASK, MASK }, { MASK, MASK }))
  end)
end)

local function moments(values)
  local sum, squares = 0.0, 0.0
  for _, value in ipairs(values) do sum = sum + value end
  local mean = sum / #values
  for _, value in ipairs(values) do squares = squares + (value - mean) ^ 2 end
  return mean, math.sqrt(squares / #values)
end

describe("linspace", function() support.each_device(function(dev)
  it("has both ends in and equal steps", function()
    for _, dtype in ipairs { "f32", "f64" } do
      local a <close> = dev:zeros(dtype, 5):linspace(-1, 1)
      assert.are.same({ -1.0, -0.5, 0.0, 0.5, 1.0 }, a:totable())
    end
    local i <close> = dev:zeros("i32", 4):linspace(10, 40)
    assert.are.same({ 10, 20, 30, 40 }, i:totable())
    local one <close> = dev:zeros("f64", 1):linspace(3, 9)
    assert.are.same({ 3.0 }, one:totable())
  end)

  it("reaches its end exactly, however many elements there are", function()
    local a <close> = dev:zeros("f64", 1001):linspace(0, 0.7)
    assert.are.equal(0.0, a:get(1))
    assert.are.equal(0.7, a:get(1001))
  end)
end) end)

describe("random", function() support.each_device(function(dev)
  it("is the same for one seed whatever the shape and kind of memory", function()
    local a <close> = dev:array("f64", 60):random(7)
    local b <close> = dev:pinned("f64", 6, 10):random { seed = 7 }
    local c <close> = dev:managed("f64", 3, 4, 5):random(7)
    local d <close> = dev:pageable("f64", 60):random(7)
    local e <close> = dev:array("f64", 60):random(8)
    assert.are.equal(a:bytes(), b:bytes())
    assert.are.equal(a:bytes(), c:bytes())
    assert.are.equal(a:bytes(), d:bytes())
    assert.are_not.equal(a:bytes(), e:bytes())
  end)

  it("continues where an earlier sequence ended", function()
    local all <close> = dev:array("f32", 100):random(3)
    local rest <close> = dev:array("f32", 60):random { seed = 3, offset = 40 }
    assert.are.equal(all:bytes():sub(40 * 4 + 1), rest:bytes())
  end)

  it("is uniform between its bounds", function()
    for _, dtype in ipairs { "f16", "f32", "f64" } do
      local a <close> = dev:array(dtype, 20000):random { seed = 1, min = -2, max = 4 }
      local values = a:totable()
      for _, value in ipairs(values) do assert.is_true(value >= -2 and value <= 4) end
      local mean, sd = moments(values)
      assert.is_true(math.abs(mean - 1) < 0.06, mean)
      assert.is_true(math.abs(sd - 6 / math.sqrt(12)) < 0.06, sd)
    end
  end)

  it("reaches both ends of integer ranges", function()
    for _, dtype in ipairs { "i8", "u8", "i32", "i64", "u64" } do
      local a <close> = dev:array(dtype, 2000):random { seed = 5, min = 1, max = 6 }
      local seen = {}
      for _, value in ipairs(a:totable()) do seen[value] = (seen[value] or 0) + 1 end
      for face = 1, 6 do
        assert.is_true((seen[face] or 0) > 200, ("%s: face %d came %s times"):format(dtype, face, seen[face]))
        seen[face] = nil
      end
      assert.is_nil(next(seen))
    end
  end)

  it("is normal with its mean and deviation", function()
    for _, dtype in ipairs { "f32", "f64" } do
      local a <close> = dev:array(dtype, 20000):random { seed = 2, kind = "normal", mean = 3, sd = 2 }
      local mean, sd = moments(a:totable())
      assert.is_true(math.abs(mean - 3) < 0.06, mean)
      assert.is_true(math.abs(sd - 2) < 0.06, sd)
    end
  end)

  it("rejects options that mean nothing", function()
    local a <close> = dev:zeros("f32", 4)
    fails(function() a:random { seed = 1.5 } end, "random: the seed must be an integer, got 1.5")
    fails(function() a:random { sed = 1 } end, "random: unknown option 'sed'; did you mean 'sd'?")
    fails(function() a:random { kind = "poisson" } end,
      "random: option 'kind' must be 'uniform' or 'normal', got 'poisson'")
    fails(function() a:random { offset = -1 } end,
      "random: option 'offset' must be an integer >= 0, got -1")
    fails(function() a:random(true) end, "random: a seed or a table of options expected, got boolean")
    fails(function() a:random { min = "x" } end, "random: option 'min' must be a number, got string")
    fails(function() a:random { max = 1 / 0 } end, "random: option 'max' must be a finite number, got inf")
    fails(function() a:random { min = 2, max = 1 } end, "random: option 'min' is 2, which is above max, 1")
    fails(function() a:random { kind = "normal", sd = -1 } end, "random: option 'sd' must be at least 0, got -1")
  end)
end) end)

describe("elements made on two devices", function()
  local devices = support.devices()
  if #devices < 2 then
    pending("needs two devices")
    return
  end
  support.no_leaks()

  for _, dtype in ipairs { "f16", "bf16", "f32", "f64", "i8", "i32", "i64", "u8", "u64" } do
    it("have the same uniform bits of " .. dtype, function()
      local first <close> = devices[1]:array(dtype, 5000):random(11)
      for i = 2, #devices do
        local other <close> = devices[i]:array(dtype, 5000):random(11)
        assert.are.equal(first:bytes(), other:bytes())
      end
    end)
  end

  for _, dtype in ipairs { "f32", "f64" } do
    it("have the same normal bits and steps of " .. dtype, function()
      local first <close> = devices[1]:array(dtype, 5000):random { seed = 11, kind = "normal" }
      local steps <close> = devices[1]:array(dtype, 777):linspace(-3, 0.1)
      for i = 2, #devices do
        local other <close> = devices[i]:array(dtype, 5000):random { seed = 11, kind = "normal" }
        local same <close> = devices[i]:array(dtype, 777):linspace(-3, 0.1)
        assert.are.equal(first:bytes(), other:bytes())
        assert.are.equal(steps:bytes(), same:bytes())
      end
    end)
  end
end)
