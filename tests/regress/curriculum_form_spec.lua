-- SPDX-License-Identifier: MIT
--
-- Curricula that were read in part, or that ended the program in an error of its own.

if not pcall(require, "moonwarp.host") then
  describe("the form of a curriculum", function() pending "is the program's alone" end)
  return
end

local labs = require "tests.support.labs"
local load, rejected = labs.load, labs.rejected

describe("the form of a curriculum", function()
  -- One gate without a list was no gate, and what stood behind a hole or under a name was never judged.
  it("judges one gate like a list of one, and loses none", function()
    local GATE = 'record = { rung = "b" }, field = "T_tot", at_least = 5, of = { rung = "a" }'
    local function with(gates)
      return ('return { { name = "a", script = "mine.lua", gates = %s } }'):format(gates)
    end
    assert.are.equal(1, #load(with("{ " .. GATE .. " }")).labs[1].gates)
    assert.are.equal(2, #load(with(("{ { %s }, { %s } }"):format(GATE, GATE))).labs[1].gates)
    local function wrong(gates, problem) rejected(with(gates), "FILE: lab 'a': " .. problem) end
    wrong('{ field = "T_tot", at_least = 5, of = { rung = "a" } }',
      "gate 1: a gate wants record, a table of fields that a record has; as in { rung = \"naive\" }")
    wrong("{ fast = { " .. GATE .. " } }", "gates must be a gate or a list of gates: 'fast' has no place in a list")
    wrong("{ nil, { " .. GATE .. " } }", "gates must be a gate or a list of gates: number 1 of the list is nil")
    wrong("{ { " .. GATE .. " }, " .. GATE .. " }",
      "gate 1: a gate has no '1'; there is record, field, at_least, of, devices, name, kernel")
  end)

  -- Labs behind a hole, or in two places, were left out without a word; so were tags.
  it("says what it would not read", function()
    local LAB = '{ name = "a", script = "mine.lua" }'
    local function wrong(text, ...) rejected(("return { %s }"):format(text:gsub("LAB", LAB)), ...) end
    wrong('defaults = "5 min", LAB', "FILE: defaults must be a table, got 5 min")
    wrong('labs = "x", LAB', "FILE: labs must be a table, got x",
      "FILE: there are labs in the table itself and in its field labs; put them in one place",
      "FILE: it holds no labs")
    wrong("labs = { LAB }, LAB",
      "FILE: there are labs in the table itself and in its field labs; put them in one place")
    wrong("LAB, nil, LAB", "FILE: the labs are a list: number 2 of the list is nil")
    wrong("labs = { LAB, b = LAB }", "FILE: the labs are a list: 'b' has no place in a list")
    local tags = 'tags = { "x", nil, "y" }'
    wrong('{ name = "a", script = "mine.lua", ' .. tags .. " }",
      "FILE: lab 'a': tags must be a text or a list of them without holes, got a table")
  end)

  -- A third was 0.33333333333333, and a backslash was taken for an escape.
  it("gives numbers with all their digits, and what -p reads back", function()
    local all = load [[return { { name = "a", script = "mine.lua",
      params = { a = 1 / 3, b = 0.1, c = { 1e300, 3 }, d = "c\\d", e = "x\\,y" } } }]]
    assert.are.same({ "a=0.3333333333333333", "b=0.1", "c=1e+300,3", "d=c\\\\d", "e=x\\\\\\,y" },
      all.labs[1].params)
  end)

  -- The time ended --dry-run in an error of string.format; the name could be made no folder, and its lab failed.
  it("has no time and no name that is too long", function()
    rejected([[return { { name = "a", script = "mine.lua", time_limit = 1e300 } }]],
      "FILE: lab 'a': time_limit must be a time, as in 90 or \"5 min\", got 1e+300")
    local name = ("x"):rep(101)
    rejected(([[return { { name = "%s", script = "mine.lua" } }]]):format(name),
      ("FILE: lab '%s': name must be a name of at most 100 letters, digits, - and _, got %s"):format(name, name))
  end)

  -- Such seconds in a journal ended whoever read them in an error of string.format.
  it("tells any time there may be in a file", function()
    local amount = require "moonwarp.lab.amount"
    assert.are.same({ "9.9 s", "10:00", "277777:46:40", "1e+308 s" }, { amount.clock(9.9), amount.clock(600),
      amount.clock(1e9), amount.clock(1e308) })
  end)
end)
