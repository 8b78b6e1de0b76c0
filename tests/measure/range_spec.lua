-- SPDX-License-Identifier: MIT
--
-- Ranges for profilers: mw.range, those of studies, and a profiler's library that does not load. The profiler is that
-- of tests/mock.

local fake = require "tests.support.fake"
local support = require "tests.support"
local core, mw = support.core, support.mw
local fails, fails_with = support.fails, support.fails_with

describe("mw.range", function()
  it("calls its function with the arguments and returns what that returns", function()
    assert.are.same({ 1, nil, "x", n = 3 }, table.pack(mw.range("r", function(...) return ... end, 1, nil, "x")))
    assert.are.equal(0, select("#", mw.range("r", function() end)))
  end)

  it("raises what the function raises", function()
    local problem = { "mine" }
    local ok, got = pcall(mw.range, "r", function() error(problem, 0) end)
    assert.is_false(ok)
    assert.are.equal(problem, got)
  end)

  it("wants a name and a function", function()
    fails(function() mw.range(1, print) end, "bad argument #1 to 'range' (string expected, got number)")
    fails(function() mw.range("r") end, "bad argument #2 to 'range' (function expected, got nil)")
    fails_with(function() mw:range("r", print) end, "mw.range is a function: write a dot before its name, not a colon")
  end)
end)

if not fake.is_possible() then
  pending("the fake profiler needs a C compiler and its source")
  return
end

-- What a script and the profiler write.
local function profiled(code, env)
  env = env or {}
  env.NVTX_INJECTION64_PATH = env.NVTX_INJECTION64_PATH or fake.library()
  return support.child_passes([[
    local mw = require "moonwarp"
    io.stdout:setvbuf "no"
  ]] .. code, { env = env })
end

describe("a profiler", function()
  it("sees ranges that nest, and end with an error", function()
    assert.are.equal("one\n  two\n  three\ntrue\nfour\nfalse\n", profiled [[
      print(mw.range("one", function()
        mw.range("two", function() end)
        return mw.range("three", function() return true end)
      end))
      print((pcall(mw.range, "four", error, "no")))
    ]])
  end)

  it("may refuse to begin", function()
    assert.are.equal("7\n", profiled([[print(mw.range("one", function() return 7 end))]], { MOCK_NVTX = "0" }))
  end)

  it("that cannot be loaded is told once", function()
    local output = profiled([[for _ = 1, 3 do mw.range("one", function() end) end]],
      { NVTX_INJECTION64_PATH = "/nowhere/libprofiler.so" })
    local _, warnings = output:gsub("moonwarp: warning: no ranges for a profiler: %$NVTX_INJECTION64_PATH: "
      .. "/nowhere/libprofiler.so: ", "")
    assert.are.equal(1, warnings, output)
  end)

  if not support.program() then return end

  it("sees a study, its parts and cases, and the turns of its rungs", function()
    local text = [[
      local mw = require "moonwarp"
      local study, p = mw.study { question = "which copy?", rate = "T_tot", output = "y", level = "copied",
        odd = { { n = 7 } }, params = { { "n", 64, "elements" } } }
      function study.arrays(c)
        return { x = c.dev:array(c.type, c.n):random(1), y = c.dev:array(c.type, c.n) }
      end
      study:answer("copied", { equal = "x", bytes = "x y" })
      study:rung { 1, "at once", make = function(c) return function() c.y:copy(c.x) end end }
      study:part { "ladder", cases = { { n = p.n } } }
      return study]]
    support.with_folder(function(folder)
      local output = support.child_passes(text, { folder = folder, env = { NVTX_INJECTION64_PATH = fake.library(),
        MOONWARP_DEVICE = "cpu" } })
      assert.is_truthy(output:find "^study lua_%w+\n  odd cases\n  part ladder\n    n = 64, f64\n      at once\n",
        output)
      assert.is_nil(output:find "left open")
      assert.is_nil(output:find "too many")
    end)
  end)
end)

describe("the page on profilers", function()
  it("shows a kernel that is there", function()
    local text = support.read(core.home() .. "/docs/profilers.md")
    local file, instance = text:match 'file = "([^"]+)".-templates = { "([^"]+)" }'
    local m <close> = mw.device "cpu":module { file = file, templates = { instance } }
    assert.are.equal(instance, m:kernel(text:match 'k:kernel "([^"]+)"'):name())
  end)
end)

describe("the protocol of ranges", function()
  it("costs next to nothing without a profiler", function()
    local before = (core.allocations())
    for _ = 1, 100 do
      core.range_push "r"
      core.range_pop()
    end
    assert.is_true((core.allocations()) - before < 10)
  end)
end)
