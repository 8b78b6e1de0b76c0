-- SPDX-License-Identifier: MIT
--
-- kernels/reduce.cu: every rung at awkward sizes against the host, on every engine that takes it; negative numbers, NaN
-- and the lock. The study: studies/reduction_spec.lua.

local support = require "tests.support"
local mw = support.mw

local SIZES = { 1, 31, 257, 1000, 4099 }
local GRID = 5
local INFINITY = math.huge

local SUMS = { -- kernel, threads per block, sums a block
  { "reduce_tree", 256, 1 }, { "reduce_strided", 256, 1 }, { "reduce_dynamic", 256, 1 }, { "reduce_dynamic", 97, 1 },
  { "reduce_dynamic", 1, 1 }, { "reduce_last_warp", 256, 1 }, { "reduce_down", 96, 3 },
  { "reduce_butterfly", 96, 3 }, { "reduce_shuffle", 96, 1 }, { "reduce_shuffle", 1024, 1 },
}
local TYPES = { { "f32", "float", 4, 2.0 ^ -23 }, { "f64", "double", 8, 2.0 ^ -52 } }
local OPERATIONS = { "SUM", "MIN", "MAX", "LENGTH", "DOT" }
local ADDS = { SUM = true, DOT = true }
local ONCE = { SUM = 4, MIN = 4, MAX = 4, LENGTH = 2, DOT = 2 }

-- Fibers once: they are slow to compile as well.
local function engines_of(id, type)
  return id == "cpu" and type[1] == "f32" and { "auto", "fiber" } or { "auto" }
end

-- In f64 only those methods differ that have an atomic operation for each, and that with 16-byte loads.
local function operations_of(kind, type, engine)
  if engine == "fiber" then return { "SUM" } end
  if type[1] == "f32" or kind == "begin" or kind == "atomic" or kind == "cas" then return OPERATIONS end
  return kind == "once" and { "SUM", "LENGTH" } or { "SUM" }
end

-- All the kernels of a type in one run of the compiler.
local function module_of(dev, type, engine)
  local names = {}
  for _, kind in ipairs { "parts", "begin", "atomic", "cas", "lock", "last", "once" } do
    for _, op in ipairs(operations_of(kind, type, engine)) do
      local tail = kind == "once" and (",%d,256"):format(ONCE[op]) or ""
      names[#names + 1] = ("reduce_%s<%s,%s%s>"):format(kind, type[2], op, tail)
    end
  end
  return dev:module { file = "reduce.cu", defines = { REAL = type[2] }, templates = names, engine = engine }
end

-- All negative: a maximum by the bits of floats goes wrong here first.
local function host(op, xs, ys, count)
  local result = ADDS[op] and 0.0 or op == "MIN" and INFINITY or -INFINITY
  for i = 1, count do
    local x, y = xs[i], ys[i]
    if op == "SUM" then result = result + x
    elseif op == "DOT" then result = result + x * y
    elseif op == "MIN" then result = x < result and x or result
    elseif op == "MAX" then result = x > result and x or result
    else result = math.max(result, x * x + y * y) end
  end
  return result
end

local function near(got, wanted, allowed, what)
  assert.is_true(got == wanted or math.abs(got - wanted) <= allowed,
    ("%s: %.17g, expected %.17g"):format(what, got, wanted))
end

describe("reduce.cu", function() support.each_device(function(dev, id)
  local function sum_of(code, rung, x, count, bytes)
    local sums <close> = dev:array(x:dtype(), GRID * rung[3])
    local shared = rung[1] == "reduce_dynamic" and rung[2] * bytes or 0
    code[rung[1]]:prepare { grid = GRID, block = rung[2], shared = shared }(sums, x, count)
    local total = 0.0
    for _, sum in ipairs(sums:totable()) do total = total + sum end
    return total
  end

  local function check_sums(code, engine, type, x, xs)
    for _, rung in ipairs(SUMS) do
      for _, count in ipairs(SIZES) do
        near(sum_of(code, rung, x, count, type[3]), host("SUM", xs, xs, count), 16 * type[4] * count,
          ("%s, block %d, of %d %s by %s"):format(rung[1], rung[2], count, type[1], engine))
      end
    end
  end

  it("sums within a block", function()
    for _, type in ipairs(TYPES) do
      local x <close> = dev:array(type[1], SIZES[#SIZES]):random { seed = 1, min = -1, max = 1 }
      local xs = x:totable()
      for _, engine in ipairs(engines_of(id, type)) do
        local code <close> = module_of(dev, type, engine)
        check_sums(code, engine, type, x, xs)
      end
    end
  end)

  -- What a test of the grid's methods works with.
  local function set_of(type, x, y, engine)
    local set = { code = module_of(dev, type, engine), x = x, y = y,
                  out = dev:array(type[1], 1), parts = dev:array(type[1], GRID), flag = dev:zeros("u32", 1) }
    set.kernel = function(kind, op)
      local tail = kind == "once" and (",%d,256"):format(ONCE[op]) or ""
      return set.code[("reduce_%s<%s,%s%s>"):format(kind, type[2], op, tail)]
    end
    return set
  end

  local function close(set)
    for _, name in ipairs { "code", "out", "parts", "flag" } do set[name]:close() end
  end

  local run = {}
  function run.parts(set, op, count, y)
    set.kernel("parts", op):launch(GRID, 96, set.parts, set.x, y, count)
    set.kernel("parts", ({ LENGTH = "MAX", DOT = "SUM" })[op] or op):launch(1, 32, set.out, set.parts, mw.null, GRID)
  end
  for _, kind in ipairs { "atomic", "cas", "lock" } do
    run[kind] = function(set, op, count, y)
      set.kernel("begin", op):launch(1, 1, set.out)
      if kind == "lock" then set.kernel(kind, op):launch(GRID, 96, set.out, set.flag, set.x, y, count)
      else set.kernel(kind, op):launch(GRID, 96, set.out, set.x, y, count) end
    end
  end
  for _, kind in ipairs { "last", "once" } do
    run[kind] = function(set, op, count, y)
      set.kernel(kind, op):launch(GRID, kind == "once" and 256 or 96, set.out, set.parts, set.flag, set.x, y, count)
    end
  end

  local function result(set, kind, op, count)
    set.out:fill(0 / 0)
    set.parts:fill(0 / 0)
    run[kind](set, op, count, (op == "LENGTH" or op == "DOT") and set.y or mw.null)
    assert.are.equal(0, set.flag:get(1), kind .. " leaves its lock or ticket")
    return set.out:get(1)
  end

  local function each_method(type, engine, body)
    for kind in pairs(run) do
      for _, op in ipairs(operations_of(kind, type, engine)) do body(kind, op) end
    end
  end

  it("joins blocks by every method, every operation, of negative numbers too", function()
    for _, type in ipairs(TYPES) do
      local x <close> = dev:array(type[1], SIZES[#SIZES]):random { seed = 3, min = -9, max = -1 }
      local y <close> = dev:array(type[1], SIZES[#SIZES]):random { seed = 4, min = -1, max = 1 }
      local xs, ys = x:totable(), y:totable()
      for _, engine in ipairs(engines_of(id, type)) do
        local set = set_of(type, x, y, engine)
        each_method(type, engine, function(kind, op)
          for _, count in ipairs(SIZES) do
            local wanted = host(op, xs, ys, count)
            local allowed = ADDS[op] and 16 * type[4] * 9 * count or op == "LENGTH" and 4 * type[4] * wanted or 0
            near(result(set, kind, op, count), wanted, allowed,
              ("%s, %s of %d %s by %s"):format(kind, op, count, type[1], engine))
          end
        end)
        close(set)
      end
    end
  end)

  it("finds an extreme at any place, whatever the sign of the others", function()
    local count = 4099
    local x <close> = dev:zeros("f32", count)
    local wanted = { MIN = -3, MAX = 3 }
    local set = set_of(TYPES[1], x, x, "auto")
    for _, at in ipairs { 1, 2, 256, 2047, 4097, 4099 } do
      for op, value in pairs(wanted) do
        x:fill(value > 0 and -1 or 1):set(at, value)
        for kind in pairs(run) do
          assert.are.equal(value, result(set, kind, op, count), ("%s %s at %d"):format(kind, op, at))
        end
      end
    end
    close(set)
  end)

  it("skips NaN in minimum and maximum, keeps it in a sum, and knows what nothing is", function()
    local x <close> = dev:array("f32", { 0 / 0, -2, 0 / 0, -5, 0 / 0 })
    local nan <close> = dev:full(0 / 0, "f32", 100)
    local set = set_of(TYPES[1], x, x, "auto")
    for kind in pairs(run) do
      assert.are.equal(-2, result(set, kind, "MAX", 5), kind)
      assert.are.equal(-5, result(set, kind, "MIN", 5), kind)
      assert.are.equal(50, result(set, kind, "LENGTH", 5), kind)
      local sum = result(set, kind, "SUM", 5)
      assert.is_true(sum ~= sum, kind)
      set.x = nan
      assert.are.equal(-INFINITY, result(set, kind, "MAX", 100), kind)
      assert.are.equal(INFINITY, result(set, kind, "MIN", 100), kind)
      assert.are.equal(0, result(set, kind, "SUM", 0), kind)
      set.x = x
    end
    close(set)
  end)

  it("gives the same bits by the last block and by parts", function()
    local count = 4099
    local x <close> = dev:array("f32", count):random { seed = 5, min = -1, max = 1 }
    local set = set_of(TYPES[1], x, x, "auto")
    for _, kind in ipairs { "parts", "last", "once" } do
      local first = result(set, kind, "SUM", count)
      for _ = 1, 20 do assert.are.equal(first, result(set, kind, "SUM", count), kind) end
    end
    close(set)
  end)
end) end)

describe("reduce.cu on the CPU device", function()
  it("has no rung that needs fibers", function()
    local code <close> = module_of(mw.device "cpu", TYPES[1], "auto")
    for _, rung in ipairs(SUMS) do assert.are.equal("split", (code[rung[1]]:engine()), rung[1]) end
    for _, name in ipairs { "parts<float,SUM>", "atomic<float,SUM>", "cas<float,SUM>", "lock<float,SUM>",
                            "last<float,SUM>", "once<float,SUM,4,256>" } do
      assert.are.equal("split", (code["reduce_" .. name]:engine()), name)
    end
  end)
end)
