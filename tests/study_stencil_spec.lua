-- SPDX-License-Identifier: MIT
--
-- The study stencil: what it measures, leaves and says.

local support = require "tests.support"

local SMALL = "--device cpu -p side=17 -p frames=2 " -- as small as the study is whole with

describe("the study stencil", function()
  if not support.program() then
    pending "needs the program"
    return
  end

  local function whole(words, options)
    local run = support.study_passes("stencil", SMALL .. "-p levels=1,3 -p rows=9 " .. words, options)
    for _, title in ipairs { "naive", "halo read", "16 bytes a thread", "3 steps a pass", "Physics:" } do
      assert.is_truthy(run.output:find(title, 1, true), title)
    end
    for _, name in ipairs { "record.json", "remarks.txt", "stencil-threads.gp", "stencil-shapes.dat",
                            "stencil-levels.dat", "stencil-film.dat" } do
      assert.is_truthy(run.files[name], name)
    end
    local checked = {}
    for _, one in ipairs(run.record.checks) do checked[one.what] = one.ok end
    for _, rung in ipairs { "naive", "triad: no derivatives", "T in shared memory", "halo allocated", "halo read",
                            "diffusion, shared memory", "rows in registers", "16 bytes a thread", "1 step a pass",
                            "3 steps a pass" } do
      assert.is_true(checked[rung .. ", 67 x 43"] and checked[rung .. ", 68 x 41"], rung)
    end
  end

  it("runs in f64", function() whole("-p type=f64 -p n=40", { optimised = true }) end)
  it("runs in f32 on an odd field", function() whole "-p type=f32 -p n=37" end)

  -- The record of a run of some rungs, and what it says.
  local function part_of(words)
    local run = support.study_passes("stencil", SMALL .. "-p n=40 " .. words)
    return run.record, run.remarks
  end

  -- The rungs of a run's table with their blocks, and its charts with their series.
  local function summary(record)
    local rows, charts = {}, {}
    local number, rung, block = table.unpack(record.tables[1].columns)
    for i, text in ipairs(number.texts) do rows[i] = ("%s %s %s"):format(text, rung.texts[i], block.texts[i]) end
    for i, chart in ipairs(record.charts) do
      local series = {}
      for k, one in ipairs(chart.series) do series[k] = one.name end
      charts[i] = chart.name .. ": " .. table.concat(series, ", ")
    end
    return rows, charts
  end

  it("runs any of its rungs, and tells of no others", function()
    local record, remarks = part_of "-p rungs=8,3 -p shapes=16x4"
    local rows, charts = summary(record)
    assert.are.same({ "2 triad: no derivatives 16 x 4", "3 T in shared memory 16 x 4", "8 16 bytes a thread 16 x 4" },
      rows)
    assert.are.same({ "stencil-threads: triad: no derivatives, 16 bytes a thread" }, charts)
    assert.is_truthy(remarks:find("'16 bytes a thread' in blocks of 16 x 4 has", 1, true), remarks)
    for _, words in ipairs { "The naive step", "shared memory is", "best single step", "Temporal", "block's shape" } do
      assert.is_nil(remarks:find(words, 1, true), words)
    end
    for _, one in ipairs(record.checks) do -- the naive step is what rung 8 is held against
      assert.is_nil(one.what:find "^halo" or one.what:find "^rows" or one.what:find "^%d+ steps? a pass", one.what)
    end

    rows, charts = summary((part_of "-p rungs=2"))
    assert.are.same({ "2 triad: no derivatives" }, { (rows[1]:gsub(" %d+ x %d+$", "")) })
    assert.are.same({ "stencil-threads: triad: no derivatives" }, charts)
  end)

  it("sweeps the shapes that are asked for, and compares rungs in those of one width", function()
    local record, remarks = part_of "-p rungs=1,6,9 -p levels=2 -p shapes=7x5,16,16x16,32x2,32x3"
    local blocks = {}
    for _, r in ipairs(record.records) do
      local list = blocks[r.number] or {}
      blocks[r.number], list[#list + 1] = list, r.block
    end
    assert.are.same({ "32 x 2", "32 x 3", "7 x 5", "16 x 2", "16 x 4", "16 x 8", "16 x 16", "16 x 32", "16 x 64" },
      blocks[1])
    assert.are.same({ "32 x 2", "32 x 3" }, blocks[6])
    assert.are.same({ "64" }, blocks[9])
    local _, charts = summary(record)
    assert.are.same({ "stencil-threads: triad: no derivatives, naive, diffusion, shared memory",
                      "stencil-shapes: 32 wide, 7 wide, 16 wide", "stencil-levels: temporal blocking" }, charts)
    assert.is_truthy(remarks:find("step of those measured is", 1, true), remarks)
  end)

  it("refuses what is no rung and no block, and more rows than a grid has blocks", function()
    local BLOCK = "parameter 'shapes' must be a block of 1 to 1024 threads such as 32x4, or a width such as 32, "
      .. "got '%s'"
    local wrong = { ["rungs=10"] = "parameter 'rungs' must be a number from 1 to 9, got '10'",
                    ["rungs=naive"] = "parameter 'rungs' must be an integer, got 'naive'",
                    ["n=65536"] = "parameter 'n' must be a number from 8 to 65535, got '65536'" }
    for _, text in ipairs { "32x64", "0x4", "0", "1025", "32x", "32 x 4", "square", "9223372036854775807x2" } do
      wrong["shapes=8,'" .. text .. "'"] = BLOCK:format(text)
    end
    for words, message in pairs(wrong) do
      local run = support.study("stencil", "--device cpu -p " .. words)
      assert.are.equal(2, run.status, run.output)
      assert.is_truthy(run.output:find(message, 1, true), run.output)
    end
  end)
end)
