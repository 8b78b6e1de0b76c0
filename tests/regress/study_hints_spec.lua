-- SPDX-License-Identifier: MIT
--
-- What a study's writer was not told: an error of Lua's for an index out of range, no way out of a fraction of 'each',
-- why a block of two dimensions is wrong, that no rung agrees with the answer, which sizes are counted, that a level is
-- a cache's, that nothing was checked.

local small_study = require "tests.support.small_study"
local support = require "tests.support"
local mw = support.mw

local STUDY <const> = small_study.TEXT
local changed, run = small_study.changed, small_study.run

if not support.program() then
  describe("a study's writer", function() pending "needs the program" end)
  return
end

local function says(text, words, ...)
  local made = run(text, words)
  for _, wanted in ipairs { ... } do assert.is_truthy(made.output:find(wanted, 1, true), made.output) end
  return made
end

describe("a study's writer is told", function()
  it("of an index that an array does not have", function()
    for index, shown in pairs { ["i + 5000"] = "at.x(5001)", ["0"] = "at.x(0)", ["i + 0.5"] = "at.x(1.5)" } do
      says(changed(STUDY, "at.x(i)", ("at.x(%s)"):format(index)), "",
        ("answer 'saxpy': %s: the array has 1001 elements, and x comes first: at.x(ix)"):format(shown))
    end
  end)

  it("how several threads have an element", function()
    says(changed(STUDY, "each = 16", "each = 1 / 16"), "",
      "got 0.0625; for several threads per element count threads: c.lanes = 32 * c.n in study.arrays")
  end)

  it("that a block has more dimensions than 'over'", function()
    assert.are.equal(1, says(STUDY, "-p shapes=32", "mine.lua:17: rung 1 'an element per thread': its block 32x2 has 2 "
      .. "dimensions, and 'over' 1; take one as 32x1, or add a 1 to 'over' if the block's threads work "
      .. "together").status)
    says(changed(STUDY, 'over = { "n" } }', 'over = { "n", 1 } }'), "-p shapes=32x2", "1001 of 1001 elements are wrong")
  end)

  it("that all rungs agree with each other, and not with the answer", function()
    local made = run(changed(STUDY, "c.a * at.x(i) + 1", "c.a * at.x(i)"), "-p shapes=64x1")
    assert.are.equal(3, made.status)
    small_study.has(made.remarks, "All 2 rungs of answer 'saxpy' agree with each other and differ from its 'cell' for "
      .. "n = 1001, f32: look at 'cell' first.")
    made = run(STUDY, "-p shapes=64x1", small_study.KERNELS:gsub("y%[i%] %+= a", "y[i] -= a", 1))
    assert.is_nil(made.remarks:find("agree with each other", 1, true), made.remarks)
  end)

  it("that its host has too much to do", function()
    local text = changed(STUDY, "cell = function(c, at, i) return c.a * at.x(i) + 1 end",
      "host = function(c) local x = c.x:totable() return function(i) return c.a * x[i] + 1 end end")
    assert.are.equal(0, run(text, "-p shapes=64x1").status)
    says(text, "-p shapes=64x1 -p n=4194305", "mine.lua:12: answer 'saxpy', host: it would compute 4194305 elements "
      .. "for n = 4194305, f32; give 'spot' as well, samples of a large array")
  end)

  it("at which sizes it was counted", function()
    says(STUDY, "--counters", "Counted for n = 50000, f32.")
    says(STUDY, "--counters -p n=2000", "structural counters")
  end)

  it("that a level stays in a cache, in a line each", function()
    local made = says(STUDY, "-p n=1000", "fit into the cache of")
    for line in made.output:gmatch "note: [^\n]+" do
      assert.is_true(#line <= 130 or not line:find "cache", line)
    end
  end)
end)

describe("a script's first run", function()
  it("says that nothing was checked, once", function()
    local SCRIPT <const> = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"
local m = dev:module { source = "__global__ void k(int *a) { a[threadIdx.x] = 1; }" }
m.k:launch(1, 32, dev:zeros("i32", 32))
mw.record { x = 1.5 }]]
    support.with_folder(function(folder)
      support.write(folder .. "/s.lua", SCRIPT)
      local function output_of(words)
        local pipe <close> = assert(io.popen(("cd '%s' && '%s' run s.lua %s 2>&1"):format(folder, support.program(),
          words)))
        return pipe:read "a"
      end
      local HINT <const> = "races and bad accesses are not looked for: moonwarp run s.lua --check does"
      assert.is_nil(output_of("--check --out checked"):find(HINT, 1, true))
      assert.is_nil(output_of("--quiet --out quiet"):find(HINT, 1, true))
      assert.is_truthy(output_of("--out out"):find(HINT, 1, true))
      assert.is_nil(output_of("--out out"):find(HINT, 1, true))
    end)
  end)
end)

describe("a record", function()
  it("has base units", function()
    support.with_folder(function(folder)
      support.into(folder, function()
        for unit, base in pairs { ["GB/s"] = "B/s", ms = "s", us = "s", ["µs"] = "s", ["Gflop/s"] = "flop/s",
                                  MiB = "iB", GHz = "Hz" } do
          support.fails_with(function() mw.record { device = "cpu", rate = 2.5, units = { rate = unit } } end,
            "mw.record: 'units' wants a base unit of 'rate', got '" .. unit .. "'; give it as '" .. base .. "'")
        end
        for _, unit in ipairs { "B/s", "s", "particles/s", "m", "points", "1/s" } do
          mw.record { device = "cpu", rate = 2.5, units = { rate = unit } }
        end
      end)
    end)
  end)
end)
