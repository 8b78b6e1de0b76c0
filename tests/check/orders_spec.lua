-- SPDX-License-Identifier: MIT
--
-- --check=schedule:N: each launch in many orders. Of the pairs of tests/check/orders.cu the first kernel goes wrong in
-- some of them, and in none that check mode runs without; the second one in none at all. $MOONWARP_PROGRAM is what was
-- built.
-- luacheck: std +busted

local cases = require "tests.check.cases"
local checking = require "moonwarp.measure.checking"
local labs = require "tests.support.labs"
local lists = require "moonwarp.base.lists"
local mw = require "moonwarp"
local support = require "tests.support"

-- Kernel, legal kernel, grid, block, three arrays: type, length, values.
local PAIRS = {
  { "ring_too_early", "ring_in_time", 1, 64, { "i32", 4 }, { "u32", 1 }, { "u32", 1 } },
  { "stack_with_aba", "stack_with_count", 1, 3, { "u32", 1 }, { "u32", 3, { 1, 2, 0xff } }, { "i32", 3 } },
  { "flag_before_value", "flag_after_value", 4, 1, { "i32", 4 }, { "i32", 4 }, { "i32", 4 } },
  { "wake_up_lost", "wake_up", 1, 2, { "i32", 1 }, { "i32", 1 }, { "i32", 1 } },
  { "sum_in_two_steps", "sum_in_one_step", 2, 32, { "i32", 1 }, { "i32", 1 }, { "i32", 1 } },
}
local ORDERS <const> = 64

local function device(mode) return mw.device("cpu", { check = mode }) end

-- Runs one of a pair: what went wrong by the kernel's count or as an error, nil if nothing; the findings.
local function run(dev, module, pair, name)
  local before, arguments = #dev:findings(), {}
  for i = 5, 7 do
    local array = dev:zeros(pair[i][1], pair[i][2])
    if pair[i][3] then array:upload(pair[i][3]) end
    table.insert(arguments, array)
  end
  table.insert(arguments, dev:zeros("i32", 1))
  local ok, problem = pcall(module[name].launch, module[name], pair[3], pair[4], table.unpack(arguments))
  local errors = arguments[4]:get(1)
  local findings = table.move(dev:findings(), before + 1, #dev:findings(), 1, {})
  return not ok and tostring(problem) or errors > 0 and errors .. " errors" or nil, findings
end

local function texts_of(findings)
  return table.concat(lists.map(findings, function(one)
    return not one.warning and cases.text(one) or nil
  end), "\n")
end

-- Runs a script with orders.cu: status, output.
local function shell(words, script)
  local status, output
  support.with_folder(function(folder)
    support.write(folder .. "/s.lua", [[local mw = require "moonwarp"
local dev = mw.device()
local m = dev:module { file = require("moonwarp.core").home() .. "/tests/check/orders.cu" }
local function ints(n) return dev:zeros("i32", n) end
]] .. script)
    status, output = labs.shell(("cd %s && timeout -s KILL 60 %s run s.lua --quiet --device cpu %s </dev/null"):format(
      labs.quoted(folder), labs.quoted(labs.program), words))
  end)
  return status, output
end

local function has(output, text) assert.is_truthy(output:find(text, 1, true), output) end

describe("--check=schedule:N", function()
  after_each(function()
    device(true)
    mw.findings { expected = true }
  end)

  it("finds what one order does not show, and finds it again by the seed", function()
    for _, pair in ipairs(PAIRS) do
      local dev = device(true)
      local module = cases.module(dev, "orders.cu")
      assert.is_nil(run(dev, module, pair, pair[1]))
      local problem, findings = run(device { schedule = ORDERS }, module, pair, pair[1])
      assert.is_truthy(problem, pair[1])
      local seed = findings[#findings].seed
      assert.are.equal(problem, (run(device { schedule = 1, seed = seed }, module, pair, pair[1])))
    end
  end)

  it("finds nothing in the legal twins, and leaves what they compute", function()
    local dev = device { schedule = 4 * ORDERS }
    local module = cases.module(dev, "orders.cu")
    for _, pair in ipairs(PAIRS) do
      local problem, findings = run(dev, module, pair, pair[2])
      assert.is_nil(problem)
      assert.are.equal("", texts_of(findings))
    end
  end)

  it("finds nothing in legal kernels", function()
    local dev = device { schedule = 4 }
    for _, group in ipairs(require "tests.check.legal") do
      local module = cases.module(dev, group.file)
      for _, case in ipairs(group.cases) do
        local findings, problem = cases.run(dev, module, case)
        assert.are.equal("", texts_of(findings))
        assert.is_nil(problem)
      end
    end
  end)

  it("finds in faulty kernels what one order finds", function()
    local dev = device { schedule = 1 }
    for _, group in ipairs(require "tests.check.faulty") do
      local module = cases.module(dev, group.file)
      for _, case in ipairs(group.cases) do
        local findings, problem = cases.run(dev, module, case)
        assert.is_true(problem ~= nil or #findings > 0, case[1])
      end
    end
  end)

  it("runs threads and blocks in the same order for a seed on every machine", function()
    local function places(seed)
      local dev = device { schedule = 1, seed = seed }
      local list = dev:zeros("i32", 24)
      cases.module(dev, "orders.cu").tickets:launch(3, 8, dev:zeros("i32", 1), list)
      return table.concat(list:totable(), " ")
    end
    assert.are.equal("5 4 1 7 6 2 0 3 17 22 19 20 18 21 23 16 11 9 10 8 13 15 12 14", places(5))
    assert.are.equal("19 16 22 17 21 20 18 23 13 15 8 11 10 12 5 1 3 4 2 6 7 0 14 9", places(6))
  end)

  it("names a hang: where, and in which order", function()
    local status, output = shell("--check=schedule:32",
      "m.wake_up_lost:launch(1, 2, ints(1), ints(1), ints(1), ints(1))")
    assert.are.equal(1, status, output)
    output = output:gsub("/%S*/", "")
    local seed = output:match "; in the order of seed (%d+), which %-%-check=schedule:1,seed:%d+ runs again\n"
    assert.is_truthy(seed, output)
    has(output, "hang: this thread waits, as others may, and none changes memory any more; in the order of seed ")
    has(output, "hang: kernel 'wake_up_lost', threads wait, and none changes memory any more\n"
      .. "  wait by block (0,0,0), thread (0,0,0)  orders.cu:")
    has(output, ("  1 time, first by seed:%s; see that what it waits for is written in every order"):format(seed))
  end)

  it("tells of arrays that depend on the order, fails nothing for it, and lets the script judge", function()
    local script = "local n = ints(1) m.%s:launch(2, 32, n, ints(1), ints(1), ints(1)) "
      .. "mw.check(n, function() return 64 end)"
    local status, output = shell("--check=schedule:16", script:format "sum_in_two_steps")
    assert.are.equal(3, status, output)
    has(output, "expected 64, got ")
    has(output, "warning: depends on order: kernel 'sum_in_two_steps', parameter 1 'sum'\n  1 time, first by seed:")
    status, output = shell("--check=schedule:16", script:format "sum_in_one_step")
    assert.are.equal(0, status, output)
    status, output = shell("--check=schedule:16", "m.tickets:launch(3, 4, ints(1), ints(12))")
    assert.are.equal(0, status, output)
    has(output, "warning: depends on order: kernel 'tickets', parameter 2 'places'\n")
  end)

  it("puts memory back before each order", function()
    local status, output = shell("--check=schedule:16", [[
local count, places = ints(1), dev:array("i32", 12)
m.tickets:launch(3, 4, count, places)
m.tickets:launch(3, 4, ints(1), places)
print("count", count:get(1))]])
    assert.are.equal(0, status, output)
    has(output, "count\t12\n")
  end)

  it("prints in one order, and finds no value where none was before", function()
    local _, output = shell("--check=schedule:16", "m.says:launch(1, 32, ints(1))")
    assert.are.equal("said\n", output)
  end)

  it("runs cooperative launches, graphs, and grids larger than it runs at once", function()
    local status, output = shell("--check=schedule:8", [[
local a, b, c = ints(6), ints(6), ints(1)
m.meets:prepare { grid = 6, block = 32, cooperative = true } (a, -1)
mw.check(a, function() return 33 end)
local g = dev:capture(function() m.tickets:launch(3, 2, c, b) end)
g:launch()
mw.check(c, function() return 6 end)
local many = ints(1)
m.sum_in_one_step:launch(500, 128, many, ints(1), ints(1), ints(1))
mw.check(many, function() return 64000 end)]])
    assert.are.equal(0, status, output)
    status, output = shell("--check=schedule:2", [[
m.meets:prepare { grid = 6, block = 32, cooperative = true } (ints(6), 2)]])
    assert.are.equal(1, status, output)
    has(output, "grid barrier divergence: this block waits at ")
    has(output, "barrier: kernel 'meets'")
  end)

  it("goes with strict and a seed, not with a sample or counters", function()
    assert.are.same({ strict = true, schedule = 8, seed = 3 }, checking.read "strict,schedule:8,seed:3")
    assert.are.equal("strict,schedule:8,seed:3", checking.words { strict = true, schedule = 8, seed = 3 })
    local problems = {
      ["schedule:8,blocks:4"] = "schedule and blocks do not go together: leave out one",
      ["schedule:8,counters"] = "schedule and counters do not go together: leave out one",
      schedule = "schedule wants a whole number from 1, as in schedule:16",
      ["schedule:1001"] = "schedule wants at most 1000, got 1001",
    }
    for words, problem in pairs(problems) do
      local mode, got = checking.read(words)
      assert.is_nil(mode)
      assert.are.equal(problem, got)
    end
  end)
end)
