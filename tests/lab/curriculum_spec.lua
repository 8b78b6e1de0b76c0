-- SPDX-License-Identifier: MIT
--
-- What a curriculum may say, and what is said of one that is wrong; which labs and devices a plan takes; gates; labs
-- of the shipped one.

local support = require "tests.support"
if not pcall(require, "moonwarp.host") then
  describe("a curriculum", function() pending "needs the program" end)
  return
end

local curriculum = require "moonwarp.lab.curriculum"
local gate = require "moonwarp.lab.gate"
local labs = require "tests.support.labs"
local lists = require "moonwarp.base.lists"
local plan = require "moonwarp.lab.plan"

local load, rejected = labs.load, labs.rejected

describe("a curriculum", function()
  it("is a list of labs with defaults", function()
    local all = load [[return { name = "course", defaults = { time_limit = "5 min", tags = "core" },
      { name = "a", script = "mine.lua", memory_limit = "2 GiB", params = { n = { 1, 2 }, on = true, s = "x,y" } },
      { name = "b", study = "memcopy", needs = "a", tags = { "x", "y" },
        devices = { "cpu", "cuda:1" }, retries = 2 } }]]
    local a, b = all.labs[1], all.labs[2]
    assert.are.equal("course", all.name)
    assert.are.equal(300, a.time_limit)
    assert.are.equal(2 << 30, a.memory_limit)
    assert.are.same({ "n=1,2", "on=true", "s=x\\,y" }, a.params)
    assert.are.same({ "core" }, a.tags)
    assert.are.same({ "cuda", "cpu" }, a.devices)
    assert.are.same({ "x", "y" }, b.tags)
    assert.is_truthy(b.path:find "experiments/memcopy.lua$")
    assert.are.equal(2, b.retries)
  end)

  it("may have its labs in a field, in any order", function()
    local all = load [[return { labs = { { name = "b", script = "mine.lua", needs = { "a" } },
      { name = "a", script = "mine.lua" } } }]]
    assert.are.equal("a", all.labs[1].name)
    assert.are.equal("labs", all.name)
  end)

  it("is rejected with every mistake, each with the lab", function()
    rejected([[return { { name = "a", studdy = "memcopy" }, { name = "b", script = "mine.lua", time_limit = "soon" },
      { script = "mine.lua" }, { name = "c", study = "memcpoy" }, { name = "d", script = "no.lua" }, 7 }]],
      "FILE: lab 'a': unknown field 'studdy'; did you mean 'study'?",
      "FILE: lab 'b': time_limit must be a time, as in 90 or \"5 min\", got soon",
      "FILE: lab '#3': a lab wants a name",
      "FILE: lab 'c': there is no study 'memcpoy'; did you mean 'memcopy'?",
      "FILE: lab 'd': there is no file 'DIR/no.lua'",
      "FILE: lab '#6': a lab is a table, got number")
  end)

  it("names what a field must be", function()
    local function one(fields, problem)
      rejected(('return { { name = "a", script = "mine.lua", %s } }'):format(fields), "FILE: lab 'a': " .. problem)
    end
    one('memory_limit = "2 apples"', 'memory_limit must be a size, as in "2 GiB", got 2 apples')
    one("retries = -1", "retries must be a whole number from 0 to 100, got -1")
    one('devices = "gpu"', 'devices must be cuda, cuda:N or cpu, or a list of them, got gpu')
    one("timeout = 5", "unknown field 'timeout'; did you mean 'time_limit'?")
    one('study = "memcopy"', 'one of study, script and program is wanted, as in study = "memcopy"')
    one('gates = { 5 }', "gate 1: a gate is a table, got number")
  end)

  it("has no two labs of a name, no unknown prerequisite, no circle", function()
    rejected([[local s = "mine.lua" return { { name = "a", script = s }, { name = "a", script = s } }]],
      "FILE: lab 'a': there are two labs of this name")
    rejected([[local s = "mine.lua" return { { name = "first", script = s },
      { name = "b", script = s, needs = "frist" } }]],
      "FILE: lab 'b': needs 'frist', which is not a lab here; did you mean 'first'?")
    rejected([[local s = "mine.lua" return { { name = "a", script = s, needs = "b" },
      { name = "b", script = s, needs = "c" }, { name = "c", script = s, needs = "a" } }]],
      "FILE: lab 'a': needs itself: a needs b needs c needs a")
  end)

  it("is a file of Lua that returns a table", function()
    rejected("return 5", "FILE: a curriculum returns a table of labs, this returns number")
    rejected("return {}", "FILE: it holds no labs")
    rejected("error('x', 0)", "x")
    rejected("return { nmae = 'x', { name = 'a', script = 'mine.lua' } }",
      "FILE: unknown field 'nmae'; did you mean 'name'?")
  end)

  it("has gates of rungs that the study has, as far as that is known", function()
    rejected("return { { name = 'a', study = 'memcopy', gates = { field = 'T_tot', record = { rung = 'triadd' }, "
      .. "of = { rung = 'library copy' }, at_least = 0.5 } } }",
      "FILE: lab 'a': a gate names the rung 'triadd', which the study has not; did you mean 'triad'?")
  end)

  it("of the studies has each of them, and is no study itself", function()
    local studies = require "moonwarp.lab.studies"
    local all = curriculum.load(support.core.home() .. "/experiments/curriculum.lua")
    local labs_of = lists.set(lists.map(all.labs, function(lab) return lab.study end))
    assert.are.same(lists.set(studies.names()), labs_of)
    for _, name in ipairs(studies.names()) do assert.are_not.equal("curriculum", name) end
    assert.is_nil(studies.find "curriculum")
  end)
end)

describe("the shipped curriculum", function()
  -- The sanitizer maps more than any limit of data lets it.
  local limited = os.getenv "SANITIZED" and pending or it

  limited("passes where it times nothing, within its limits", function()
    local shipped, only, untimed = support.core.home() .. "/experiments/curriculum.lua", {}, {}
    for _, lab in ipairs(curriculum.load(shipped).labs) do
      local is_timed = #lab.gates > 0 or lists.find(lab.needs, function(need) return not untimed[need] end)
      untimed[lab.name] = lab.checks and not is_timed
      if untimed[lab.name] then only[#only + 1] = "--only " .. lab.name end
    end
    support.with_folder(function(folder)
      local status, output = labs.shell(("MOONWARP_CXX=%s %s batch %s --device cpu %s --out %s </dev/null"):format(
        labs.quoted(support.core.home() .. "/tests/cxx-o0"), labs.quoted(labs.program), labs.quoted(shipped),
        table.concat(only, " "), labs.quoted(folder)))
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find(("\n%d passed in "):format(#only), 1, true), output)
    end)
  end)
end)

describe("a gate", function()
  local function wrong(text, problem) assert.are.equal(problem, gate.problem(assert(_G.load("return " .. text))())) end

  it("is a share of another rung, never seconds", function()
    local way = "; as in at_least = 0.8, of = { rung = \"naive\" }"
    wrong('{ record = { rung = "a" }, field = "T_tot", seconds = 2 }',
      "a gate has no 'seconds': it is a share of another rung, never seconds" .. way)
    wrong('{ record = { rung = "a" }, field = "t.median", at_least = 1, of = { rung = "b" } }',
      "a gate on 't.median' is a gate on seconds; take a rate, as in field = \"T_tot\"")
    wrong('{ record = { rung = "a" }, field = "T_tot", at_least = 1 }',
      "a gate wants of, a table of fields that a record has; as in { rung = \"naive\" }")
    wrong('{ record = { rung = "a" }, feild = "T_tot" }', "a gate has no 'feild'; did you mean 'field'?")
    wrong('{ record = { rung = "a" }, field = "T_tot", at_least = "1", of = { rung = "b" } }',
      "a gate wants at_least, a share of the reference above 0; as in 0.8")
  end)

  local RECORDS = { { rung = "a", T_tot = 90.0, params = { n = 1 } }, { rung = "a", T_tot = 100.0, params = { n = 2 } },
                    { rung = "b", T_tot = 50.0, t = { median = 1, samples = { 1 } } } }

  local function judged(record, field, least, of)
    return gate.judge({ record = record, field = field, at_least = least, of = of }, RECORDS)
  end

  it("takes the best of the records that fit, by fields and parameters", function()
    local one = judged({ rung = "a" }, "T_tot", 2, { rung = "b" })
    assert.is_true(one.ok)
    assert.are.equal(2.0, one.share)
    assert.is_false(judged({ rung = "a", n = 1 }, "T_tot", 2, { rung = "b" }).ok)
  end)

  it("is unclear where its bound lies in the interval, that of a benchmark beside a plain rate as well", function()
    local function timed(median)
      return { median = median, low = 0.98 * median, high = 1.02 * median, samples = { median } }
    end
    local records = { { rung = "a", T_tot = 100.0, t = timed(1) }, { rung = "b", T_tot = 50.0, t = timed(2) },
                      { rung = "c", T_tot = { value = 50.0, low = 49.0, high = 51.0 } }, { rung = "d", T_tot = 50.0 },
                      { rung = "e", error = 50.0, t = timed(2) } }
    local function words(of, least, field)
      local one = gate.judge({ record = { rung = of == "e" and "e" or "a" }, field = field or "T_tot", at_least = least,
                               of = { rung = of } }, records)
      return one.ok and "ok" or one.unclear and "unclear" or "failed"
    end
    for of, ends in pairs { b = { 1.92, 2.09 }, c = { 1.92, 2.09 }, d = { 1.95, 2.05 } } do
      assert.are.same({ "ok", "unclear", "unclear", "failed" }, { words(of, ends[1]), words(of, ends[1] + 0.04),
        words(of, ends[2] - 0.04), words(of, ends[2]) }, of)
    end
    assert.are.same({ "ok", "failed" }, { words("e", 1, "error"), words("e", 1.001, "error") })
    local one = gate.judge({ record = { rung = "a" }, field = "T_tot", at_least = 2, of = { rung = "b" } }, records)
    assert.are.equal("T_tot of rung = a is 2 of rung = b, wanted at least 2, which lies in its interval, 1.92 to 2.08: "
      .. "measure longer, or on a quieter machine", one.message)
  end)

  it("fails without anything to compare with", function()
    assert.are.equal("no record has rung = c", judged({ rung = "c" }, "T_tot", 1, { rung = "b" }).message)
    assert.are.equal("no record with rung = a has a number 'T_eff'",
      judged({ rung = "a" }, "T_eff", 1, { rung = "b" }).message)
    assert.are.equal("'t' is a time, and a gate takes rates",
      judged({ rung = "b" }, "t", 1, { rung = "a" }).message)
  end)
end)

describe("a plan", function()
  local LABS = [[local s = "mine.lua" return { defaults = { devices = "cpu" },
    { name = "a", script = s, tags = "core" }, { name = "b", script = s, needs = "a" },
    { name = "c", script = s, tags = "core" } }]]

  local function ids(asked)
    local list = {}
    for i, step in ipairs((plan.make(load(LABS), asked))) do list[i] = step.id end
    return table.concat(list, " ")
  end

  it("takes labs by tag or name, with what they need", function()
    assert.are.equal("a-cpu b-cpu c-cpu", ids {})
    assert.are.equal("a-cpu c-cpu", ids { only = { "core" } })
    assert.are.equal("a-cpu b-cpu", ids { only = { "b" } })
  end)

  it("keeps a lab that no device takes, to say so", function()
    local steps = plan.make(load [[return { { name = "a", script = "mine.lua", devices = "cuda:77" } }]], {})
    assert.are.equal("a-none", steps[1].id)
    assert.is_nil(steps[1].device)
  end)
end)
