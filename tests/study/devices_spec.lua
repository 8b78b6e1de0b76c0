-- SPDX-License-Identifier: MIT
--
-- A second device in one table: the host's thread beside the GPU, and a launch that both share.

local small_study = require "tests.support.small_study"

local changed, has = small_study.changed, small_study.has

local RUNGS <const> = [[
study:rung { 3, "one thread", kernel = "saxpy_loop", block = 64, over = { "n" }, each = 16, device = "cpu:1" }
study:rung { 4, "both", launches = function(c)
  local here = c.n // 2
  local rest, there = c.n - here, mw.device "cpu:1"
  local y, x = c:keep(there:array("f32", rest)), c:keep(there:array("f32", rest))
  return { function() y:copy(c.y:view(here + 1, rest)) x:copy(c.x:view(here + 1, rest)) end,
    { "saxpy", { block = 64, grid = mw.ceil_div(here, 64) }, { n = here } },
    { "saxpy", { block = 64, grid = mw.ceil_div(rest, 64), device = "cpu:1" }, { y = y, x = x, n = rest } },
    function() c.y:view(here + 1, rest):copy(y) end }
end }
study:source {]]

local STUDY <const> = changed(small_study.TEXT, "study:source {", RUNGS)

small_study.describe("a study of two devices", small_study.KERNELS, function(run, passes, id)
  it("measures both, each with what it is of, and shares of its own device only", function()
    local made = passes(STUDY)
    local seen = {}
    for _, record in ipairs(made.record.records) do
      seen[record.rung] = record
      assert.are.equal(record.rung == "one thread" and "cpu:1" or id, record.device, record.rung)
    end
    assert.is_truthy(seen["one thread"].t and not seen["one thread"].share)
    assert.is_truthy(seen.both.share)
    has(made.output, "cpu:1 ")
    assert.are.equal(id, made.record.device) -- whose run it is
  end)

  it("finds what the other device computes wrong", function()
    local made = run(changed(STUDY, [[c.y:view(here + 1, rest):copy(y)]], [[c.y:view(here + 1, rest):copy(x)]]))
    assert.are.equal(3, made.status, made.output)
    has(made.output, "both")
  end)

  it("leaves out a rung of its own device, and looks at all rungs there in check mode", function()
    local own = changed(STUDY, [[device = "cpu:1" }
study]], ([[device = "%s" }
study]]):format(id))
    has(passes(own).output, ("one thread (the study's device is %s)"):format(id))
    if id == "cpu" then has(passes(STUDY, "--check").output, "check mode: no errors found") end
  end)

  it("rejects a device that is none", function()
    local made = run(changed(STUDY, [[device = "cpu:1" }
study]], [[device = "cpu:x" }
study]]))
    assert.are.equal(4, made.status, made.output)
    has(made.output, [[rung 3 'one thread', device: no device "cpu:x"]])
    made = run(changed(STUDY, 'device = "cpu:1" }, { y', 'device = "cpu:x" }, { y'))
    assert.are.equal(4, made.status, made.output)
    has(made.output, [[mine.lua:20: rung 4 'both': no device "cpu:x"]])
  end)

  it("leaves out what wants a GPU that there is not", function()
    local gpu = STUDY:gsub('device = "cpu:1"', 'device = "cuda:77"')
    local made = passes(gpu)
    has(made.remarks, "Not measured: one thread (")
    has(made.remarks, "; both (")
    has(made.remarks, "cuda:77")
  end)

  it("has no graph of a launch on another one", function()
    local made = run(changed(STUDY, '{ 4, "both",', '{ 4, "both", graph = true,'))
    assert.are.equal(1, made.status, made.output)
    has(made.output, "rung 4 'both': a graph is of one device: leave out 'graph', or 'device' of the "
      .. "launch")
  end)

  it("opens a case there", function()
    has(passes(changed(STUDY, "return study", [[study:finally(function()
      local c <close> = study:case({ n = 5, type = "f32" }, "cpu:1")
      print(c.x:device():id(), c.gpu)
    end)
    return study]])).output, "cpu:1\tfalse\n")
  end)
end)
