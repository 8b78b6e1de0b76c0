-- SPDX-License-Identifier: MIT
--
-- The parts of a study: plain Lua in its turn, cases that depend on an earlier part, the clock, what is shown of
-- several cases; and rungs that queue their work in streams of their own.

local support = require "tests.support"

local HEAD = [[
local mw = require "moonwarp"
local study, p = mw.study { question = "which copy?", rate = "T_tot", output = "y", level = "copied",
  odd = { { n = 7 } }, params = { { "n", 64, "elements" } } }
function study.arrays(c)
  return { x = c.dev:array(c.type, c.n):random(1), y = c.dev:array(c.type, c.n) }
end
study:answer("copied", { equal = "x", bytes = "x y" })
local function copy(c) return function() c.y:copy(c.x) end end
study:rung { 1, "at once", always = true, make = copy }
]]

-- A run of a study that begins so.
local function run_of(text, words)
  return support.study("./mine.lua", "--device cpu " .. (words or ""), { kernels = { ["mine.lua"] = HEAD .. text } })
end

local function passes(text, words)
  local run = run_of(text, words)
  assert.are.equal(0, run.status, run.output)
  return run
end

describe("a part of a study", function()
  if not support.program() then return pending "needs the program" end

  it("is plain Lua where it has 'run', in its turn and where it is asked for", function()
    local text = [[
      study:part { "first", cases = { { n = p.n } }, derive = function() print "first" end }
      study:part { "second", run = function(s) print("second", s == study, s:fastest("first", "at once") ~= nil) end }
      study:part { "third", cases = { { n = p.n } }, derive = function() print "third" end }
      return study]]
    assert.is_truthy(passes(text, "--quiet").output:find("^first\nsecond\ttrue\ttrue\nthird\n"))
    local run = passes(text, "--quiet -p parts=second")
    assert.are.equal("second\ttrue\tfalse\n", run.output)
  end)

  it("has 'run' or 'cases'", function()
    local run = run_of [[study:part { "none" } return study]]
    assert.is_truthy(run.output:find("mine.lua:10: part 'none': needs 'cases', a list of sides such as "
      .. "{ { n = p.n } }, or 'run', a function", 1, true), run.output)
    run = run_of [[study:part { "both", cases = { { n = 5 } }, run = print } return study]]
    assert.is_truthy(run.output:find("part 'both': has 'run', plain Lua, or 'cases', and not both", 1, true),
      run.output)
  end)

  it("does not measure a rung with a mistake, which an odd case must show", function()
    local text = [[
      study:rung { 2, "short", mistake = true, make = function(c)
        return function() c.y:copy(c.x, { count = c.n - %d }) end
      end }
      study:part { "all", cases = { { n = p.n } } }
      return study]]
    local found = passes(text:format(1))
    assert.is_truthy(found.output:find("Not measured: short (a mistake, which is found for n = 7, f64).", 1, true),
      found.output)
    assert.are.equal(1, #found.record.records)
    local none = run_of(text:format(0))
    assert.are.equal(3, none.status, none.output)
    assert.is_truthy(none.output:find("check short: its mistake is found: no odd case finds it", 1, true), none.output)
  end)

  -- A part with none of it ended the run with status 3.
  it("says nothing of a mistake in another part", function()
    local text = [[
      study:rung { 2, "short", mistake = true, make = function(c)
        return function() c.y:copy(c.x, { count = c.n - 1 }) end
      end }
      study:part { "whole", cases = { { n = p.n } }, rungs = { "at once" } }
      study:part { "plain", run = function() print "plain" end }
      study:part { "wrong", cases = { { n = p.n } } }
      return study]]
    for _, part in ipairs { "whole", "plain" } do
      assert.are.equal("", passes(text, "-p parts=" .. part).remarks)
    end
    assert.is_truthy(passes(text, "-p parts=wrong").remarks:find("found for n = 7", 1, true))
  end)

  it("can take its cases from what was fastest in an earlier one", function()
    local run = passes [[
      study:part { "sizes", cases = { { n = 16 }, { n = 1 << 20 } } }
      study:part { "best", cases = function()
        local best = study:fastest("sizes", "copied")
        return { { n = best and best.n + 1 or 5 } }
      end }
      return study]]
    local by = {}
    for _, r in ipairs(run.record.records) do by[r.group .. r.n] = r.T_tot end
    local fastest = by.sizes16 > by.sizes1048576 and 16 or 1048576
    assert.is_truthy(by["best" .. fastest + 1])
  end)

  it("has its own clock and calls per sample", function()
    local run = passes [[
      study:part { "device", cases = { { n = p.n } } }
      study:part { "host", cases = { { n = p.n } }, clock = "host", batch = 1 }
      return study]]
    local device, host = run.record.records[1].t, run.record.records[2].t
    assert.are.same({ "host clock", 1 }, { host.clock, host.batch })
    assert.is_true(device.batch > 1)
  end)

  it("shows of a ladder's rungs those that are asked for, and names what all rows have in common", function()
    local run = passes [[
      study:rung { 1, "again", make = copy }
      study:part { "sizes", cases = { { n = 16, kind = 3 }, { n = 32, kind = 3 } }, rows = "all",
        table = { "rung", "n" }, charts = { { kind = "ladder", of = function(r) return r.rung == "again" end } } }
      return study]]
    assert.is_truthy(run.output:find("mine sizes, kind = 3, f64, measured", 1, true), run.output)
    assert.are.equal(4, #run.record.tables[1].columns[1].texts)
    assert.is_truthy(run.output:find("\nagain +█"), run.output)
    assert.is_nil(run.output:find("\nat once +█"), run.output)
  end)

  it("names a source's points by their series", function()
    local run = passes [[
      study:rung { 1, "again", make = copy }
      study:source { "paper", field = "paper", values = {
        ["at once"] = function(c) return c.n * 1e9 end, again = function() return 2e9 end } }
      study:part { "sizes", cases = { { n = 16 }, { n = 32 } }, charts = { { x = "bytes" } } }
      return study]]
    local names = {}
    for i, series in ipairs(run.record.charts[1].series) do names[i] = series.name end
    assert.are.same({ "at once", "paper, source: at once", "again", "paper, source: again" }, names)
  end)

  it("draws the level as a line across a chart unless it is a curve of that chart", function()
    local run = passes [[
      study:rung { 1, "again", make = copy }
      local function is_other(r) return r.rung == "again" end
      study:part { "sizes", level = "at once", cases = { { n = 16 }, { n = 32 } },
        charts = { { x = "n" }, { x = "n", name = "other", of = is_other } } }
      study:part { "one", level = "at once", cases = { { n = 16 } }, charts = { { x = "n" } } }
      return study]]
    local labels = {}
    for i, chart in ipairs(run.record.charts) do
      labels[i] = chart.levels[1] and chart.levels[1].label:match "^[%a ]+"
    end
    assert.are.same({ nil, "at once ", "at once " }, labels)
  end)
end)

describe("a rung", function()
  if not support.program() then return pending "needs the program" end

  it("that shares its number with one that is always measured can be chosen", function()
    local text = [[
      study:rung { 1, "again", make = copy }
      study:part { "ladder", cases = { { n = p.n } } }
      return study]]
    assert.are.equal(2, #passes(text).record.records)
    assert.are.equal(2, #passes(text, "-p rungs=1").record.records)
  end)

  -- The name was taken for two, and the first of them for an unknown one.
  it("can be chosen by a name with a comma", function()
    local text = [[
      for _, name in ipairs { "again", "again, later", "later, again", "later" } do study:rung { name, make = copy } end
      study:part { "ladder", cases = { { n = p.n } } }
      return study]]
    local function chosen(words)
      local names = {}
      for i, record in ipairs(passes(text, words).record.records) do names[i] = record.rung end
      return table.concat(names, "; ")
    end
    assert.are.equal("at once; again, later", chosen "-p 'rungs=again, later'")
    assert.are.equal("at once; again; again, later; later, again", chosen "-p 'rungs=again,again, later,later, again'")
    assert.are.equal("at once; again; later", chosen "-p 'rungs=later,again'")
  end)

  -- Its rate was that of the study's work, which a copy does not do: 1,858,227 % of the level once.
  it("that is the library's copy is a bar where the rate is of bytes, or as the level", function()
    local text = [[
      study:library("x", "y")
      study:part { "ladder", cases = { { n = p.n } }, charts = { { kind = "ladder" } } }
      return study]]
    local function bars(from, to, words)
      local made = support.study_passes("./mine.lua", "--device cpu " .. (words or ""),
        { kernels = { ["mine.lua"] = HEAD:gsub(from, to) .. text } })
      return made.record.charts[1].bars
    end
    local work <const> = 'rate = { "cells", work = function(c) return 1000 * c.n end }, units = { cells = "1/s" }'
    assert.are.equal(2, #bars('"T_tot"', '"T_tot"'))
    assert.are.equal(1, #bars('rate = "T_tot"', work))
    assert.are.equal(2, #bars('rate = "T_tot", output = "y", level = "copied"',
      work .. ', output = "y", level = "library copy"'))
  end)

  it("may queue its work in a stream that nothing waits for", function()
    passes [[
      study:rung { 2, "beside", make = function(c)
        local on = { stream = c:keep(c.dev:stream { blocking = false }) }
        return function() c.y:copy(c.x, on) end
      end }
      study:part { "ladder", cases = { { n = 1 << 22 } } }
      return study]]
  end)

  it("begins as its answer says, which is given the array that is checked", function()
    local run = passes [[
      study:answer("over", { equal = "x", bytes = "x", start = function(_, out) out:fill(7) end })
      study:rung { 2, "over 7", answer = "over", output = "z", make = function(c)
        return function() if c.z:get(1) == 7 then c.z:copy(c.x) else c.z:fill(0) end end
      end }
      study:part { "ladder", cases = { { n = p.n } }, rungs = { "over" }, arrays = function(c)
        return { z = c.dev:array(c.type, c.n) }
      end }
      return study]]
    assert.is_true(run.record.checks[1].ok)
  end)

  it("may be compiled and launched in its own way", function()
    local text = [[
      local function triad(more)
        local rung = { 2, "own", kernel = "triad", file = "triad.cu", block = { 32, 1 }, over = { "n", 1 },
          args = function(c) return { B = c.y, A = c.x, C = c.x, s = 0, nx = c.n, ny = 1 } end }
        for key, value in pairs(more) do rung[key] = value end
        study:rung(rung)
        study:part { "ladder", cases = { { n = p.n } } }
        return study
      end
    ]]
    local run = passes(text .. [[return triad { carveout = 50, cache = "l1",
      compile = { max_registers = 32, ptxas = { "-dlcm=ca" } } }]])
    assert.are.equal(2, #run.record.records)
    run = run_of(text .. [[return triad { compile = { max_register = 32 } }]])
    assert.is_truthy(run.output:find("unknown option 'max_register'; did you mean 'max_registers'?", 1, true),
      run.output)
  end)

  -- It was compared whole once per run, and in three bands in the cases after.
  it("is compared whole in each case", function()
    local run = run_of [[
      study:rung { 2, "all but one", make = function(c)
        return function()
          c.y:copy(c.x)
          if c.n == (1 << 24) + 2 then c.y:set(4000000, 7) end
        end
      end }
      local function f32(n) return { n = n, type = "f32" } end
      study:part { "sizes", cases = { f32((1 << 24) + 1), f32((1 << 24) + 2) } }
      return study]]
    assert.are.equal(3, run.status, run.output)
    assert.is_truthy(run.output:find("check all but one, n = 16777218, f32, beside x: 1 of 16777218 elements are wrong",
      1, true), run.output)
    assert.are.equal(3, #run.record.records)
  end)
end)

describe("the host's clock", function()
  -- A call that warms the caches before a turn was still running, and was in the first sample.
  it("begins when the device has nothing to do", function()
    local clock <const> = require "moonwarp.measure.clock"
    local log = {}
    local host <close> = clock.host { synchronize = function() log[#log + 1] = "synchronize" end }
    host.measure(function() log[#log + 1] = "call" end, 2)
    assert.are.same({ "synchronize", "call", "call", "synchronize" }, log)
  end)
end)
