-- SPDX-License-Identifier: MIT
--
-- kernels/reduce.cu: extremes at any place, NaN and nothing, and that no rung needs fibers. Its sums at sizes that suit
-- no block are checked by its study (studies/reduction_spec.lua), those by each engine in engines_spec.lua.

local support = require "tests.support"
local mw = support.mw

local GRID = 5
local INFINITY = math.huge
local PLAIN = { "reduce_tree", "reduce_strided", "reduce_dynamic", "reduce_last_warp", "reduce_down",
                "reduce_butterfly", "reduce_shuffle" }
local KINDS = { "parts", "atomic", "cas", "lock", "last", "once" }
local OPERATIONS = { "SUM", "MIN", "MAX", "LENGTH" }

local function name_of(kind, op)
  local tail = kind == "once" and (",%d,256"):format(op == "LENGTH" and 2 or 4) or ""
  return ("reduce_%s<float,%s%s>"):format(kind, op, tail)
end

-- All the kernels in one run of the compiler.
local function module_of(dev)
  local names = {}
  for _, op in ipairs(OPERATIONS) do
    names[#names + 1] = name_of("begin", op)
    for _, kind in ipairs(KINDS) do names[#names + 1] = name_of(kind, op) end
  end
  return dev:module { file = "reduce.cu", templates = names }
end

-- Of count elements of x, or of their lengths with themselves; the lock or ticket is left open.
local function result(dev, m, kind, op, x, count)
  local out <close> = dev:full(0 / 0, "f32", 1)
  local parts <close> = dev:full(0 / 0, "f32", GRID)
  local flag <close> = dev:zeros("u32", 1)
  local y = op == "LENGTH" and x or mw.null
  local kernel = m[name_of(kind, op)]
  if kind == "parts" then
    kernel:launch(GRID, 96, parts, x, y, count)
    m[name_of(kind, op == "LENGTH" and "MAX" or op)]:launch(1, 32, out, parts, mw.null, GRID)
  elseif kind == "last" or kind == "once" then
    kernel:launch(GRID, kind == "once" and 256 or 96, out, parts, flag, x, y, count)
  else
    m[name_of("begin", op)]:launch(1, 1, out)
    if kind == "lock" then kernel:launch(GRID, 96, out, flag, x, y, count)
    else kernel:launch(GRID, 96, out, x, y, count) end
  end
  assert.are.equal(0, flag:get(1), kind)
  return out:get(1)
end

support.each_device("reduce.cu", function(dev, id)
  local m
  setup(function() m = module_of(dev) end)
  teardown(function() m:close() end)

  -- A maximum by the bits of floats goes wrong for negative ones first.
  it("finds an extreme at any place, whatever the sign of the others", function()
    local count = 4099
    local x <close> = dev:zeros("f32", count)
    for _, at in ipairs { 1, 2, 256, 2047, 4097, 4099 } do
      for op, value in pairs { MIN = -3, MAX = 3 } do
        for _, others in ipairs { -1, 1 } do
          local wanted = op == "MIN" and math.min(value, others) or math.max(value, others)
          x:fill(others):set(at, value)
          for _, kind in ipairs(KINDS) do
            assert.are.equal(wanted, result(dev, m, kind, op, x, count), ("%s %s at %d"):format(kind, op, at))
          end
        end
      end
    end
  end)

  it("skips NaN in minimum and maximum, keeps it in a sum, and knows what nothing is", function()
    local x <close> = dev:array("f32", { 0 / 0, -2, 0 / 0, -5, 0 / 0 })
    local nan <close> = dev:full(0 / 0, "f32", 100)
    for _, kind in ipairs(KINDS) do
      local function of(op, array, count) return result(dev, m, kind, op, array, count) end
      local sum = of("SUM", x, 5)
      assert.is_true(sum ~= sum, kind)
      assert.are.same({ -2, -5, 50, -INFINITY, INFINITY, 0 }, { of("MAX", x, 5), of("MIN", x, 5), of("LENGTH", x, 5),
        of("MAX", nan, 100), of("MIN", nan, 100), of("SUM", nan, 0) }, kind)
    end
  end)

  if id ~= "cpu" then return end
  it("has no rung that needs fibers", function()
    for _, name in ipairs(PLAIN) do assert.are.equal("split", (m[name]:engine()), name) end
    for _, kind in ipairs(KINDS) do assert.are.equal("split", (m[name_of(kind, "SUM")]:engine()), kind) end
  end)
end)
