-- SPDX-License-Identifier: MIT
--
-- Parameters where a field of a record is wanted: "no record has a field 'n'" was said of a parameter n, and nothing
-- told the rows of a sweep apart. It starts $MOONWARP_PROGRAM itself.

local export = require "moonwarp.results.export"
local fields = require "moonwarp.results.fields"
local labs = require "tests.support.labs"
local measurement = require "moonwarp.results.measurement"
local session = require "moonwarp.session"
local store = require "moonwarp.results.store"
local support = require "tests.support"

local mw, quoted, shell = support.mw, labs.quoted, labs.shell

-- Runs code in a sweep; its output, and the run that it left.
local function sweep(code, words, body)
  support.with_folder(function(folder)
    local status, output = shell(("%s -e %s %s --device cpu --out %s </dev/null"):format(quoted(labs.program),
      quoted(code), words, quoted(folder)))
    assert.are.equal(0, status, output)
    body(output, assert(store.read(store.below(folder)[1])))
  end)
end

local DECLARED <const> = "local n, m = mw.arg('n', 10), mw.arg('m', 'small') mw.record { x = n * 0.5 } "

-- The rows of a table: its lines under the rule, the heading first, blanks as one.
local function rows(output)
  local heading, below = output:match "\n *([^\n]+)\n%-[%- ]+\n(.-)\nresults:"
  return ((heading .. "\n" .. below):gsub("\npassed %d[^\n]*", ""):gsub(" +", " "):gsub("\n ", "\n"))
end

-- What mw.table, mw.plot and mw.ladder do with records of two passes, without a process.
local function with_records(body)
  local before <const> = session.current
  session.begin { quiet = true }
  session.current.note = function() end
  session.current.file = function(_, name) return os.tmpname() .. name end
  local entries = { { params = { n = 1, m = "a", list = { 1, true } }, x = 2.5 },
                    { params = { n = 2, m = "a", list = { 1, true } }, x = 3.5, m = "own" } }
  local ok, problem = pcall(body, entries)
  session.current = before
  if not ok then error(problem, 0) end
end

describe("a parameter", function()
  it("is a column of a table, and a swept one by itself", function()
    sweep(DECLARED .. "mw.table { 'm', 'x' }", "-p n=1,2", function(output)
      assert.are.equal("n m x\n1 small 0.5000\n2 small 1.000", rows(output))
    end)
    sweep(DECLARED .. "mw.table { 'x', 'n' }", "-p n=1,2 -p m=a,b", function(output)
      assert.are.equal("m x n\na 0.5000 1\nb 0.5000 1\na 1.000 2\nb 1.000 2", rows(output))
    end)
    sweep(DECLARED .. "mw.table { 'x', 'params.n' }", "-p n=1,2", function(output)
      assert.are.equal("x params.n\n0.5000 1\n1.000 2", rows(output))
    end)
    sweep(DECLARED .. "mw.table { 'x' }", "-p n=1", function(output) assert.are.equal("x\n0.5000", rows(output)) end)
  end)

  it("is an axis and a group of a chart, and the name of a bar", function()
    sweep(DECLARED .. "mw.plot { x = 'n', y = 'x', by = 'm', name = 'p', pictures = false } "
      .. "mw.ladder { x = 'x', by = 'n', pictures = false }", "-p n=1,2 -p m=a,b", function(_, run)
      local plot, ladder = run.charts[1], run.charts[2]
      assert.are.same({ { name = "a", points = { { x = 1, y = 0.5 }, { x = 2, y = 1 } } },
                        { name = "b", points = { { x = 1, y = 0.5 }, { x = 2, y = 1 } } } }, plot.series)
      assert.are.same({ "1, m = a", "1, m = b", "2, m = a", "2, m = b" },
        { ladder.bars[1].name, ladder.bars[2].name, ladder.bars[3].name, ladder.bars[4].name })
    end)
  end)

  it("is a column of every export, and distinguishes measurements", function()
    sweep("mw.arg('n', 10) mw.record { t = mw.bench(function() end, { samples = 2, batch = 10, clock = 'host' }) }",
      "-p n=1,2", function(_, run)
        assert.is_truthy(export.csv { run }:find("study,date,n,t", 1, true))
        assert.is_truthy(export.md { run }:find("| n |", 1, true))
        assert.is_truthy(export.dat { run }:find(' "n" ', 1, true))
        local list = measurement.of(run)
        assert.are.same({ "n = 1", "n = 2" }, { list[1].label, list[2].label })
      end)
  end)

  it("gives way to a record's own field", function()
    with_records(function(entries)
      assert.is_truthy(mw.table { "m", records = entries }:find "\n1  a\n2  own$")
    end)
  end)

  it("of several values is their list", function()
    with_records(function(entries)
      assert.is_truthy(mw.table { "list", records = entries }:find "\n1  1,true\n2  1,true$")
      assert.are.same({ n = 1, m = "a", list = "1,true" }, fields.parameters(entries[1]))
    end)
  end)

  it("is among the names that a mistyped one may mean", function()
    with_records(function(entries)
      support.fails(function() mw.table { "lisst", records = entries } end,
        "mw.table: no record has a field 'lisst'; did you mean 'list'?")
    end)
  end)

  it("may have a unit", function()
    sweep("mw.arg('width', 2048) mw.record { x = 1.5, units = { width = 'iB' } } mw.table { 'width', 'x' }", "",
      function(output) assert.are.equal("width (KiB) x\n2.000 1.500", rows(output)) end)
  end)

  it("is a column of a study's table", function()
    support.with_folder(function(folder)
      support.write(folder .. "/own.lua", [[
local study = require "moonwarp".study { question = "?", params = { { "n", 64, "elements" }, { "way", false, "how" } } }
function study.arrays(c) return { A = c.dev:array("f32", c.n):random(1), B = c.dev:array("f32", c.n) } end
study:library("A", "B")
study:part { "copy", cases = { { n = 64 } }, odd = { { n = 3 } }, table = { "rung", "way" } }
return study]])
      local status, output = shell(("%s run %s -p seconds=0 --device cpu --out %s </dev/null"):format(
        quoted(labs.program), quoted(folder .. "/own.lua"), quoted(folder)))
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find "library copy  false\n", output)
    end)
  end)
end)
