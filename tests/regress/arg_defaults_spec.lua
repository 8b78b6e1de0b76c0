-- SPDX-License-Identifier: MIT
--
-- Lists as defaults of parameters: a list that held itself, or a table of the library, hung the end of the run or ended
-- it without its record.

local support = require "tests.support"
local json = require "moonwarp.base.json"
local session = require "moonwarp.session"
local mw, core = support.mw, support.core

describe("a default that is a table", function()
  local before

  before_each(function()
    before = session.current
    session.begin()
  end)
  after_each(function() session.current = before end)

  local cyclic = { 1 }
  cyclic[2] = cyclic
  for wanted, default in pairs { ["a list with a table"] = cyclic, ["a table with the key n"] = { n = 1 },
                                 ["a list with a function"] = { print }, ["a table with the key "] = core } do
    it("is a list of numbers, texts or truth values, not " .. wanted, function()
      support.fails_with(function() mw.arg("x", default) end,
        "mw.arg: the default of 'x' must be a number, string, boolean or a list of those, got " .. wanted)
    end)
  end

  it("is recorded as it was given", function()
    local list = { 1, 2 }
    local got = mw.arg("x", list)
    list[1], got[2] = list, got
    assert.are.equal("[1,2]", json.encode(session.current.declared[1].value))
    assert.are.equal("[1,2]", json.encode(session.current.declared[1].default))
  end)
end)

describe("JSON", function()
  it("is written of a table's own fields", function()
    local guarded = setmetatable({ n = 1 }, { __index = error })
    assert.are.equal('{"n":1}', json.encode(guarded))
  end)
end)
