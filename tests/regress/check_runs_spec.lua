-- SPDX-License-Identifier: MIT
--
-- What is left of checks: a script that only checked left no run, so that a report counted none of its failed checks
-- and a batch did not say what was wrong; a lab that checked nothing passed without a word. It starts
-- $MOONWARP_PROGRAM itself.

local labs = require "tests.support.labs"
local store = require "moonwarp.results.store"
local support = require "tests.support"

local quoted, shell = labs.quoted, labs.shell

local RIGHT <const> = "mw.check(mw.device():zeros('i32', 4), 0, { name = 'right' }) "
local WRONG <const> = "mw.check(mw.device():array('i32', { 1, 2, 3 }), { 1, 2, 4 }, { name = 'y' }) "

describe("a script that only checks", function()
  it("leaves a run with its checks", function()
    support.with_folder(function(folder)
      local status, output = shell(("cd %s && %s -e %s --device cpu --out out </dev/null"):format(quoted(folder),
        quoted(labs.program), quoted(RIGHT .. WRONG)))
      assert.are.equal(3, status, output)
      local stored = assert(store.read(store.below(folder)[1]))
      assert.are.same({ "check failed", 3, 0 }, { stored.status, stored.exit, #stored.records })
      assert.are.same({ true, false }, { stored.checks[1].ok, stored.checks[2].ok })
      assert.is_truthy(stored.checks[2].text:find("[3]: expected 4, got 3", 1, true))
    end)
  end)

  it("may be a study in a stock interpreter", function()
    local lua = support.stock_interpreter()
    if not lua then pending "needs lua5.4" return end
    support.with_folder(function(folder)
      support.write(folder .. "/own.lua", [[
local study = require "moonwarp".study { question = "?", params = { { "n", 64, "elements" } } }
function study.arrays(c) return { A = c.dev:zeros("f32", c.n), B = c.dev:array("f32", c.n) } end
study:answer("copy", { equal = "A", bytes = "A B", output = "B" })
study:rung { "wrong", answer = "copy", make = function(c) return function() c.B:fill(1) end end }
study:part { "copy", cases = { { n = 64 } }, odd = { { n = 3 } }, table = { "rung" } }
return study]])
      local code = ("local mw = require 'moonwarp' require('moonwarp.session').current.options.out = %q "
        .. "print(mw.run %q)"):format(folder .. "/out", folder .. "/own.lua")
      local status, output = shell(("MOONWARP_DEVICE=cpu %s -e %s"):format(lua, quoted(code)))
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find("\nfalse\n", 1, true), output)
      local stored = assert(store.read(store.below(folder .. "/out")[1]))
      assert.are.same({ "check failed", false }, { stored.status, stored.checks[1].ok })
    end)
  end)

  it("is counted by the report", function()
    support.with_folder(function(folder)
      local status, output = shell(("cd %s && %s -e %s --device cpu --out out --quiet; %s report out --output r.html "
        .. "</dev/null"):format(quoted(folder), quoted(labs.program), quoted(WRONG), quoted(labs.program)))
      assert.are.equal(0, status, output)
      assert.is_truthy(support.read(folder .. "/r.html"):find("1 failed check", 1, true))
    end)
  end)
end)

-- Of alarms, which count as failed checks, a batch said only how many there were.
describe("a lab with an alarm", function()
  it("says which", function()
    local code = "mw.device() mw.bench(function() end, { bytes = 1e15, peak = 1e9, clock = 'host', samples = 3 })"
    labs.with({ { "fast", "", code } }, function(_, batch)
      local status, _, result = batch()
      assert.are.equal(3, status)
      assert.are.equal("check failed", result.labs[1].verdict)
      assert.is_truthy(result.labs[1].message:find "^mw.bench: .* is more than the peak given of 1.000 GB/s; ")
    end)
  end)
end)

describe("the checks of a lab", function()
  it("name the first wrong element and its values in its message", function()
    labs.with({ { "one", "", WRONG }, { "three", "", WRONG .. RIGHT .. WRONG .. WRONG } }, function(_, batch)
      local status, _, result = batch()
      local said = "check y: 1 of 3 elements are wrong; [3]: expected 4, got 3"
      assert.are.equal(3, status)
      assert.are.same({ "check failed", said }, { result.labs[1].verdict, result.labs[1].message })
      assert.are.equal(said .. "; 2 more checks failed", result.labs[2].message)
    end)
  end)

  it("are missed where there are none", function()
    labs.with({ { "prints", "", "print 'hello'" }, { "measures", "", "mw.record { x = 1 }" }, { "checks", "", RIGHT } },
      function(_, batch)
        local status, output, result = batch()
        assert.are.equal(0, status)
        assert.is_truthy(output:find("prints-cpu: passed: nothing checked\n", 1, true), output)
        for i, message in ipairs { "nothing checked", "nothing checked" } do
          assert.are.same({ "passed", message }, { result.labs[i].verdict, result.labs[i].message })
        end
        assert.are.same({ "passed" }, { result.labs[3].verdict, result.labs[3].message })
      end)
  end)

  it("are at least as many as the curriculum wants", function()
    labs.with({ { "none", "checks = 1", "" }, { "few", "checks = 2", RIGHT },
                { "enough", "checks = 2", RIGHT .. RIGHT },
                { "sweep", "checks = 2, params = { n = { 1, 2 } }", "mw.arg('n', 1) " .. RIGHT } }, function(_, batch)
      local status, _, result = batch()
      assert.are.equal(3, status)
      assert.are.same({ "check failed", "it checked nothing; the curriculum wants 1 check at least" },
        { result.labs[1].verdict, result.labs[1].message })
      assert.are.same({ "check failed", "it made 1 check; the curriculum wants 2 checks at least" },
        { result.labs[2].verdict, result.labs[2].message })
      assert.are.same({ "passed", "passed" }, { result.labs[3].verdict, result.labs[4].verdict })
    end)
  end)

  it("are a whole number in a curriculum", function()
    labs.with({ { "none", "checks = 'one'", "" } }, function(_, batch)
      local status, output = batch()
      assert.are.equal(2, status)
      assert.is_truthy(output:find("checks must be a whole number from 0 to 1000000, got one", 1, true), output)
    end)
  end)
end)
