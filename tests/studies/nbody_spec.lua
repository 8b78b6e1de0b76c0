-- SPDX-License-Identifier: MIT
--
-- The study nbody: its parts and rungs, what it checks, and the rates of others.

local support = require "tests.support"

local function parameters(text) return (text:gsub("%S+", "-p %0")) end

describe("the study nbody", function()
  if not support.program() then return pending "needs the program" end

  local function run_of(words, options)
    local run = support.study_passes("nbody", parameters(words) .. (options or ""))
    local parts, checked = {}, {}
    for _, r in ipairs(run.record.records) do
      parts[r.group] = parts[r.group] or {}
      table.insert(parts[r.group], r)
    end
    for _, check in ipairs(run.record.checks) do checked[check.what] = check.ok end
    return parts, checked, run.record
  end

  local function names_of(records)
    local names = {}
    for i, r in ipairs(records) do names[i] = r.rung end
    return names
  end

  it("has a ladder from the most bodies down, fast math, shapes and copies, all of them right", function()
    local parts, checked, record = run_of "smallest=300 largest=600 n=333 lane=2"
    local ladder = { "direct", "direct, 1.0", "shared memory, 1.0", "shared memory, 1.0f", "rsqrtf",
                     "4 bodies per thread", "4 bodies per thread, fast math", "each pair once, fast math" }
    assert.are.same(ladder, { table.unpack(names_of(parts.ladder), 1, 8) })
    assert.are.equal(16, #parts.ladder)
    assert.are.same({ 600, 300 }, { parts.ladder[1].bodies, parts.ladder[9].bodies })
    assert.are.same({ 12, 10 }, { #parts.fast, #parts.shapes })
    for _, what in ipairs { "direct, bodies = 509, f32", "direct, bodies = 600, f32, samples",
                            "each pair once, fast math, bodies = 161, f32", -- two and a half of its groups
                            "each pair once, fast math, bodies = 600, f32, beside 'direct'",
                            "pairs, 16 per lane, bodies = 333, f32, beside 'direct'",
                            "copies, pinned, bodies = 333, f32, beside 'direct'",
                            "copies, pageable, kernel alone, bodies = 333, f32, after its timing, beside 'direct'" } do
      assert.is_true(checked[what], what)
    end
    local first = parts.ladder[1]
    assert.is_near(first.interactions, 600 * 600 / first.t.median, 1)
    assert.is_true(first.error > 0 and first.error < 100 and first.share == 1)
    local shape = parts.shapes[5]
    assert.are.same({ "4 per thread, unrolled 1", 4, 1, true },
      { shape.rung, shape.each, shape.unroll, shape.fast_math })
    local charts = {}
    for i, chart in ipairs(record.charts) do charts[i] = chart.name end
    assert.are.same({ "nbody-ladder", "nbody-ladder-bodies", "nbody-ladder-shared", "nbody-shapes" }, charts)
  end)

  it("goes round a ring of devices, of which parts have different sizes", function()
    local parts, checked = run_of("n=500 devices=3 parts=ring", " --device cpu") -- a machine has few GPUs
    assert.are.same({ "one device", "ring, copies after", "ring" }, names_of(parts.ring))
    assert.are.same({ 1, 3, 3 }, { parts.ring[1].devices, parts.ring[2].devices, parts.ring[3].devices })
    for _, what in ipairs { "one device, bodies = 509, f32", "ring, bodies = 641, f32",
                            "ring, copies after, bodies = 500, f32, beside 'one device'",
                            "ring, bodies = 500, f32, beside 'one device'" } do
      assert.is_true(checked[what], what)
    end
    assert.is_true(parts.ring[3].error > 0 and parts.ring[3].error < 100)
  end)

  it("runs any of its rungs beside the direct one", function()
    local parts = run_of "smallest=64 largest=64 n=64 rungs=2 parts=ladder,fast"
    assert.are.same({ "direct", "shared memory, 1.0" }, names_of(parts.ladder))
    assert.are.same({ "direct", "shared memory, 1.0", "shared memory, 1.0, fast math" }, names_of(parts.fast))
    assert.is_nil(parts.shapes)
    parts = run_of "smallest=64 largest=64 n=64 rungs=8"
    assert.are.same({ { "direct" }, { "direct" } }, { names_of(parts.ladder), names_of(parts.shapes) })
    assert.are.equal("copies, pinned, kernel alone", parts.memory[#parts.memory].rung)
  end)

  it("has the source's times as rates, if it has as many bodies", function()
    local options = require("moonwarp.session").current.options
    options.describe = true
    local ok, study = pcall(dofile, support.core.home() .. "/experiments/nbody.lua")
    options.describe = nil
    assert.is_true(ok, study)
    local direct, shared = study.source_list[1].values["direct, 1.0"], study.source_list[2].values["shared memory, 1.0"]
    assert.is_near(16384 ^ 2 / 6.1e-3, direct { bodies = 16384 }, 1)
    assert.is_near(524288 ^ 2 / 2.4273, shared { bodies = 524288 }, 1e3)
    assert.is_nil(direct { bodies = 8192 })
  end)
end)
