-- SPDX-License-Identifier: MIT
--
-- dev:sum, dev:min, dev:max, dev:norm and dev:dot against the script's own arithmetic; and the kernel for GPUs wherever
-- kernels run.

local own_kernels = require "moonwarp.own_kernels"
local support = require "tests.support"
local mw = support.mw
local fails, fails_with = support.fails, support.fails_with

support.warm()

local ALL = { "f16", "f32", "i16" } -- by every operation: each takes a compilation
local SUMS = { "bf16", "f64", "i64", "u8", "u32" }
local NAN, INF = 0 / 0, math.huge

-- Sums in Lua: exact of integers, in f64 of floats.
local function expected_of(v, w)
  local out = { sum = 0, min = v[1], max = v[1], squares = 0.0, dot = 0 }
  for i = 1, #v do
    out.sum, out.squares, out.dot = out.sum + v[i], out.squares + v[i] * v[i] * 1.0, out.dot + v[i] * w[i]
    out.min, out.max = math.min(out.min, v[i]), math.max(out.max, v[i])
  end
  return out
end

-- Integers are equal; floats agree to what the order of n terms may change in f64.
local function assert_near(expected, got, n, what)
  assert.are.equal(math.type(expected), math.type(got), what)
  local most = math.type(got) == "integer" and 0 or n * 2.0 ^ -52 * math.abs(expected)
  assert.is_true(math.abs(got - expected) <= most, ("%s: %s expected, got %s"):format(what, expected, got))
end

local function check_all(dev, x, y, what)
  local e, n = expected_of(x:reshape(#x):totable(), y:reshape(#y):totable()), #x
  assert_near(e.sum, dev:sum(x), n, what .. " sum")
  assert.are.equal(e.min, dev:min(x), what .. " min")
  assert.are.equal(e.max, dev:max(x), what .. " max")
  assert_near(math.sqrt(e.squares), dev:norm(x), n, what .. " norm")
  assert_near(e.dot, dev:dot(x, y), n, what .. " dot")
end

support.each_device("reductions of arrays", function(dev, id, runs)
  for _, dtype in ipairs(ALL) do
    runs("are right for " .. dtype .. " of every length", function()
      for _, n in ipairs { 1, 2, 31, 33, 1000, 9001 } do
        local x <close> = dev:array(dtype, n):random { min = -50, max = 50, seed = 1 }
        local y <close> = dev:array(dtype, n):random { min = -50, max = 50, seed = 2 }
        check_all(dev, x, y, ("%s of %d"):format(dtype, n))
      end
    end)
  end

  for _, dtype in ipairs(SUMS) do
    runs("add " .. dtype, function()
      local x <close> = dev:array(dtype, 9001):random { min = dtype:find "u" and 0 or -50, max = 50 }
      assert_near(expected_of(x:totable(), x:totable()).sum, dev:sum(x), #x, dtype)
    end)
  end

  runs("are right for arrays of many blocks, and have the same bits again", function()
    local n = 1500007 -- parts of several tiles and a rest
    for _, dtype in ipairs { "f32", "i32", "u8" } do
      local x <close> = dev:array(dtype, n):random(7)
      local v, sum, most = x:totable(), 0, 0
      for i = 1, n do sum, most = sum + v[i], math.max(most, v[i]) end
      assert_near(sum, dev:sum(x), n, dtype)
      assert.are.equal(most, dev:max(x))
      assert.are.equal(dev:sum(x), dev:sum(x))
    end
  end)

  runs("take views at any element, of any shape and kind of memory", function()
    for _, dtype in ipairs { "f32", "i16" } do
      for _, maker in ipairs { "array", "pinned", "pageable", "managed" } do
        local x <close> = dev[maker](dev, dtype, 5000)
        x:random(5)
        for first = 2, 5 do
          check_all(dev, x:view(first, 4000), x:view(first + 3, 4000), ("%s %s from %d"):format(maker, dtype, first))
        end
        check_all(dev, x:reshape(50, 100):slice(3), x:reshape(50, 100):slice(99):readonly(), maker .. " slices")
      end
    end
    local grid <close> = dev:array("i32", { { 1, 2, 3 }, { 4, 5, -6 } })
    assert.are.same({ 9, -6, 5 }, { dev:sum(grid), dev:min(grid), dev:max(grid) })
  end)

  runs("wrap integers at 64 bits, and only there", function()
    local x <close> = dev:array("u8", 100000):fill(255)
    assert.are.equal(25500000, dev:sum(x))
    assert.are.equal(255 * 255 * 100000, dev:dot(x, x))
    local y <close> = dev:array("i64", { math.maxinteger, 1, -3 })
    assert.are.equal(math.maxinteger - 2, dev:sum(y))
    assert.are.equal(math.maxinteger + 1, dev:sum(y:view(1, 2)))
    local z <close> = dev:array("u64", { -1, 5 }) -- 2^64 - 1
    assert.are.equal(4, dev:sum(z))
    assert.are.same({ 5, -1 }, { dev:min(z), dev:max(z) })
    local w <close> = dev:array("i8", { -128, -128 })
    assert.are.same({ -256, 32768, -128, -128 }, { dev:sum(w), dev:dot(w, w), dev:min(w), dev:max(w) })
  end)

  runs("join floats in f64", function()
    local x <close> = dev:array("f32", 1 << 17):fill(0.1)
    local one = x:get(1)
    assert.is_true(math.abs(dev:sum(x) - one * #x) <= 1e-12 * one * #x)
    local y <close> = dev:array("f32", { 1e30, 1, -1e30 })
    assert.is_true(dev:norm(y) > 1.4e30) -- squares beyond f32
    local h <close> = dev:array("f16", 4096):fill(60000)
    assert.are.equal(60000.0 * 4096, dev:sum(h))
  end)

  runs("skip NaN in minimum and maximum, and keep it in sums", function()
    local x <close> = dev:array("f32", { NAN, 3, -2, NAN })
    assert.are.same({ -2.0, 3.0 }, { dev:min(x), dev:max(x) })
    for _, got in ipairs { dev:sum(x), dev:norm(x), dev:dot(x, x) } do assert.is_true(got ~= got) end
    local nothing <close> = dev:array("f64", 5000):fill(NAN)
    assert.are.same({ INF, -INF }, { dev:min(nothing), dev:max(nothing) })
    local ends <close> = dev:array("f16", { INF, -INF, 1 })
    assert.are.same({ -INF, INF }, { dev:min(ends), dev:max(ends) })
  end)

  runs("begin anew after a call that failed", function()
    local x <close> = dev:array("i32", { 1, 2, 3 })
    assert.are.equal(6, dev:sum(x))
    fails(function()
      own_kernels.with_room(dev, "parts", "u64", 1, function(room)
        room:set(1, 1) -- a block came, the others never did
        error("interrupted", 0)
      end)
    end, "interrupted")
    assert.are.equal(7, dev:sum(x:set(3, 4)))
  end)

  it("want arrays of the device, alike in type and shape", function()
    local x <close> = dev:array("f32", 4, 2)
    local y <close> = dev:array("f64", 4, 2)
    local z <close> = dev:array("f32", 8)
    fails(function() dev:sum(3) end, "bad argument #1 to 'sum' (array expected, got number)")
    fails(function() dev:norm() end, "bad argument #1 to 'norm' (array expected, got nil)")
    fails(function() dev:dot(x) end, "bad argument #2 to 'dot' (array expected, got nil)")
    fails(function() dev:dot(x, y) end, "bad argument #2 to 'dot' (array<f32>[4 x 2] expected, got array<f64>[4 x 2])")
    fails(function() dev:dot(x, z) end, "bad argument #2 to 'dot' (array<f32>[4 x 2] expected, got array<f32>[8])")
    fails(function() dev:min(x, y) end, "'min' takes 1 argument at most, got 2")
    fails_with(function() return x.sum end, "an array has no 'sum', which is a method of device")
    z:close()
    fails_with(function() dev:max(z) end, "bad argument #1 to 'max' (array expected, got closed array)")
    local other = mw.device(id == "cpu" and "cpu:check" or "cpu")
    fails(function() other:sum(x) end, ("bad argument #1 to 'sum' (array<f32>[4 x 2] %s is not on %s: copy it there, "
      .. "or ask its own device)"):format(id, other:id()))
  end)

  -- dev:sum chooses it on a GPU only.
  runs("are the same by the kernel for GPUs, aligned or not", function()
    local CASES = { { "f64", "double", 2, "DOT", true, "dot" }, { "f64", "double", 2, "SUM", true, "sum" },
                    { "f16", "__half", 8, "NORM", true, "squares" }, { "f16", "__half", 8, "MIN", true, "min" },
                    { "u8", "unsigned char", 16, "SUM", false, "sum" },
                    { "i16", "short", 8, "SUM", false, "sum" }, { "i32", "int", 4, "DOT", false, "dot" } }
    local names, tile = {}, 2048
    for i, case in ipairs(CASES) do
      names[2 * i - 1] = ("moonwarp::reduce_wide<%s,%s,true>"):format(case[2], case[4])
      names[2 * i] = ("moonwarp::reduce_wide<%s,%s,false>"):format(case[2], case[4])
    end
    local m <close> = dev:module { file = "moonwarp/reductions.cu", contract = false, templates = names }
    for i, case in ipairs(CASES) do
      local dtype, _, lanes, _, is_float, field = table.unpack(case)
      local n = tile * lanes * 3 + lanes - 1 -- three tiles and a rest, which the last block has
      local x <close> = dev:array(dtype, n):random(3)
      local expected = expected_of(x:totable(), x:totable())[field]
      for which = 0, 1 do
        local room <close> = dev:zeros("u64", 4)
        m:kernel(names[2 * i - which]):launch(2, 256, room, x, x, n, 2 * tile)
        local bits = room:get(2)
        assert_near(expected, is_float and ("<d"):unpack(("<j"):pack(bits)) or bits, n, names[2 * i - which])
        assert.are.equal(0, room:get(1))
      end
    end
  end)
end)
