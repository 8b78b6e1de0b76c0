-- SPDX-License-Identifier: MIT
--
-- The study stencil: what it measures and leaves.

local support = require "tests.support"

local SMALL = "--device cpu -p side=17 -p frames=2 " -- as small as the study is whole with

describe("the study stencil", function()
  if not support.program() then return pending "needs the program" end

  local function whole(words, options)
    local run = support.study_passes("stencil", SMALL .. "-p levels=1,3 -p rows=9 " .. words, options)
    for _, name in ipairs { "record.json", "stencil-ladder.gp", "stencil-ladder-threads.gp",
                            "stencil-ladder-shapes.dat", "stencil-ladder-steps.dat", "stencil-film.dat" } do
      assert.is_truthy(run.files[name], name)
    end
    local checked = {}
    for _, one in ipairs(run.record.checks) do checked[(one.what:gsub(", block 32 x 1,", ","))] = one.ok end
    local ty = run.record.records[1].type
    for _, rung in ipairs { "naive", "triad", "T in shared memory", "halo allocated", "halo read",
                            "diffusion, shared memory", "rows in registers", "16 bytes per thread", "1 step per pass",
                            "3 steps per pass" } do
      for _, sides in ipairs { ", nx = 67, ny = 43, ", ", nx = 68, ny = 41, " } do
        assert.is_true(checked[rung .. sides .. ty], rung)
      end
    end
    assert.is_true(checked["decay of a mode, naive"] and checked["decay of a mode, 3 steps per pass"])
    local deepest = run.record.records[#run.record.records]
    assert.is_near(3 * 3 * deepest.bytes, deepest.T_eff * deepest.t.median, 1e-3)
    assert.is_near(3 * deepest.bytes, deepest.t.bytes, 0.5) -- moved, whatever it counts for
  end

  it("runs in f64", function() whole("-p type=f64 -p n=40", { optimised = true }) end)
  it("runs in f32 on an odd field", function() whole "-p type=f32 -p n=37" end)

  -- The blocks of each rung, and the charts with their series.
  local function part_of(words)
    local record = support.study_passes("stencil", SMALL .. "-p n=40 " .. words).record
    local blocks, charts = {}, {}
    for _, r in ipairs(record.records) do
      local list = blocks[r.rung] or {}
      blocks[r.rung], list[#list + 1] = list, r.block
    end
    for i = 2, #record.charts do
      local series = {}
      for k, one in ipairs(record.charts[i].series) do series[k] = one.name end
      charts[i - 1] = record.charts[i].name .. ": " .. table.concat(series, ", ")
    end
    return blocks, charts, record
  end

  it("runs any of its rungs beside the triad; the naive step is checked where others are compared with it", function()
    local blocks, charts, record = part_of "-p rungs=9,3 -p shapes=16x4 -p levels=2"
    assert.are.same({ triad = { "16 x 4" }, ["T in shared memory"] = { "16 x 4" }, ["2 steps per pass"] = { "64" } },
      blocks)
    assert.are.same({ "stencil-ladder-threads: triad, T in shared memory", "stencil-ladder-steps: temporal blocking" },
      charts)
    local naive = 0
    for _, one in ipairs(record.checks) do
      naive = naive + (one.what:find "^naive, nx" and 1 or 0)
      assert.is_nil(one.what:find "^halo" or one.what:find "^rows", one.what)
    end
    assert.are.equal(2, naive)
    assert.are.same({ triad = { "16 x 4" }, ["halo read"] = { "16 x 4" } },
      (part_of "-p rungs='halo read' -p shapes=16x4"))
  end)

  it("sweeps the shapes that are asked for, and compares rungs in those of one width", function()
    local blocks, charts = part_of "-p rungs=1,6,9 -p levels=2 -p shapes=7x5,16,16x16,32x2,32x3"
    assert.are.same({ "7 x 5", "16 x 2", "16 x 4", "16 x 8", "16 x 16", "16 x 32", "16 x 64", "32 x 2", "32 x 3" },
      blocks.naive)
    assert.are.same({ "32 x 2", "32 x 3" }, blocks["diffusion, shared memory"])
    assert.are.same({ "stencil-ladder-threads: naive, triad, diffusion, shared memory",
                      "stencil-ladder-shapes: 7 wide, 16 wide, 32 wide", "stencil-ladder-steps: temporal blocking" },
      charts)
  end)
end)
