-- SPDX-License-Identifier: MIT
--
-- kernels/scan.cu: arrays of any length, one element included, and the same bits from run to run. Whole numbers, so
-- that every order of summation gives the same bits. Longer ones are checked by its study, and the running sums of
-- cumsum.cu by theirs (studies/cumsum_spec.lua).

local support = require "tests.support"
local mw = support.mw

support.warm()

local function ceil_div(a, b)
  return (a + b - 1) // b
end

local function numbers(count)
  local values, sums, sum = {}, {}, 0
  for i = 1, count do
    values[i] = (i * 7919 + 13) % 31 - 11
    sum = sum + values[i]
    sums[i] = sum
  end
  return values, sums
end

local function three_launches(m, y, x, n)
  local block = 96
  local blocks = ceil_div(n, block)
  local totals <close> = x:device():array(x:dtype(), blocks)
  m["scan_tiles<float>"]:launch(blocks, block, y, totals, x, n)
  m["scan_totals<float>"]:launch(1, 64, totals, blocks)
  m["scan_add<float>"]:launch(blocks, block, y, totals, n)
end

local function one_pass(m, y, x, n, rounds)
  local dev, block, loads = x:device(), 64, 2
  local tiles = ceil_div(n, block * loads * 4)
  -- full of what an earlier scan may have left
  local status <close> = dev:full((2 << 32) + 5, "u64", 2 * tiles)
  local ticket <close> = dev:full(5, "u32", 1)
  m.scan_clear:launch(ceil_div(2 * tiles, 64), 64, status, 2 * tiles, ticket)
  if rounds then
    m["scan_rounds<float,64,2>"]:prepare { grid = math.min(tiles, rounds), block = block,
                                                    cooperative = true }(y, x, n, status)
  else
    m["scan_once<float,64,2>"]:launch(tiles, block, y, x, n, status, ticket)
  end
  dev:synchronize()
end

support.each_device("scan.cu", function(dev, id)
  for _, engine in ipairs(id == "cpu" and { "auto", "fiber" } or { "auto" }) do
    it("adds up an array of any length, the same bits again, engine " .. engine, function()
      local m <close> = dev:module { file = "scan.cu", engine = engine, templates = { "scan_tiles<float>",
        "scan_totals<float>", "scan_add<float>", "scan_once<float,64,2>", "scan_rounds<float,64,2>" } }
      for _, n in ipairs { 1, 511, 512, 20011 } do
        local values, sums = numbers(n)
        local x <close> = dev:array("f32", values)
        local y <close> = dev:array("f32", n)
        local function holds(name, scan, rounds)
          y:fill(0 / 0)
          scan(m, y, x, n, rounds)
          local ok, report = mw.check(y, sums, { exact = true, quiet = true })
          assert.is_true(ok, ("%s, %d: %s"):format(name, n, tostring(report)))
        end
        holds("three launches", three_launches)
        holds("look-back", one_pass)
        holds("one block in rounds", one_pass, 1)
        holds("three blocks in rounds", one_pass, 3)
        holds("three blocks in rounds again", one_pass, 3)
      end
    end)
  end
end)
