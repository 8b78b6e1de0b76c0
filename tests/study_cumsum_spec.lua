-- SPDX-License-Identifier: MIT
--
-- The study cumsum: what it measures and leaves, its words and charts.

local support = require "tests.support"
local core, mw = support.core, support.mw

describe("the study cumsum", function()
  if not support.program() then
    pending "needs the program"
    return
  end

  it("runs, checks every rung and leaves its files", function()
    local run = support.study_passes("cumsum", "-p types=f64 -p n=24 -p length=5000", { optimised = true })
    assert.is_truthy(run.remarks:find("Task 10: ", 1, true), run.remarks)
    for _, name in ipairs { "record.json", "remarks.txt", "cumsum-ladder-f64.gp", "cumsum-sizes.gp",
                            "cumsum-scan-f64.gp" } do
      assert.is_truthy(run.files[name], name)
    end
    if run.record.device ~= "cpu" then return end
    assert.is_nil(run.output:find("P100", 1, true), run.output) -- of a GPU and 512^3
    for _, chart in ipairs(run.record.charts) do
      assert.are.equal(2, #chart.levels, chart.name) -- the triad and the fastest copy
      assert.is_true(chart.levels[1].value >= chart.levels[2].value, chart.name)
    end
  end)

  it("measures the rungs that were asked for beside two copies, and tells of no others", function()
    local run = support.study_passes("cumsum", "-p types=f64 -p n=24 -p parts=ladder,sizes -p rungs=3,12")
    local seen = {}
    for _, r in ipairs(run.record.records) do seen[r.rung] = true end
    assert.are.same({ ["library copy"] = true, ["copy, 16 bytes a thread"] = true, ["dim 3, a register"] = true,
                      ["dim 2, tiles"] = true }, seen)
    for _, check in ipairs(run.record.checks) do assert.is_nil(check.what:find("dim 1", 1, true), check.what) end
    assert.is_truthy(run.output:find("cumsum, f64: rung 12 over the size", 1, true), run.output)
    assert.is_truthy(run.remarks:find("The fastest sums of this run: dim 2 ", 1, true), run.remarks)
    for _, words in ipairs { "made from", "Along x", "along x", "Task 10", "dim 1" } do
      assert.is_nil(run.output:find(words, 1, true), run.output)
    end
  end)

  it("shows the copies where the device takes none of the rungs that were asked for", function()
    if core.device():id() ~= "cpu" then return end -- 4 threads a block: too many blocks to be in pace there
    local run = support.study_passes("cumsum",
      "-p types=f64 -p n=64 -p parts=ladder,sizes -p rungs=14 -p threads=4 --device cpu")
    assert.are.equal("cumsum-sizes", run.record.charts[1].name)
    assert.are.equal(0, #run.record.remarks)
  end)

  it("takes blocks that some of its kernels do not take, and cubes that are not swept far", function()
    for _, words in ipairs { "-p n=24 -p threads=4", "-p n=8 -p threads=1024" } do
      support.study_passes("cumsum", "-p types=f64 -p parts=ladder,sizes " .. words)
    end
  end)

  it("refuses what no device takes before it measures", function()
    for words, message in pairs {
      ["-p bx=64 -p by=32"] = "parameter 'by' must be a number from 1 to 16, got '32'",
      ["-p rungs=15"] = "parameter 'rungs' must be a number from 1 to 14, got '15'",
      ["-p warps=33"] = "parameter 'warps' must be a number from 1 to 32, got '33'",
      ["-p pace_lag=3000000000"] = "parameter 'pace_lag' must be a number from 1 to 2048, got '3000000000'",
    } do
      local run = support.study("cumsum", words)
      assert.are.equal(2, run.status, run.output)
      assert.is_truthy(run.output:find(message, 1, true), run.output)
    end
  end)
end)

-- ---- its words ------------------------------------------------------------------------------------

describe("the words of the study cumsum", function()
  local folder = core.home() .. "/experiments/cumsum/"
  local measurement = assert(loadfile(folder .. "measurement.lua"))({})
  local say = assert(loadfile(folder .. "words.lua"))({ n = 512, measurement = measurement })

  local DIMS = { [3] = 3, [5] = 2, [8] = 1, [9] = 1, [10] = 1, [11] = 1, [12] = 2, [13] = 3, [14] = 3 }

  -- What is said of { number = rate as a part of the library's copy }.
  local function said(rates)
    local records = { { rung = "library copy", T_eff = 1e9, share = 1 } }
    for number, rate in pairs(rates) do
      records[#records + 1] = { rung = "rung " .. number, number = number, dim = DIMS[number], T_eff = rate * 1e9,
                                share = rate }
    end
    return table.concat(say.ladder(records), "\n")
  end

  it("tell of no rung that was not measured", function()
    for a = 1, 14 do
      for b = a, 14 do
        local text = said { [a] = 0.5, [b] = 0.4 }
        for dim = 1, 3 do
          local summed = DIMS[a] == dim or DIMS[b] == dim
          assert.are.equal(summed, text:find("dim " .. dim, 1, true) ~= nil, text)
        end
        assert.are.equal(b == 10 or a == 10, text:find("Task 10", 1, true) ~= nil, text)
      end
    end
    assert.are.equal("", said { [1] = 0.5, [2] = 0.5, [4] = 0.5, [7] = 0.5 })
    assert.is_truthy(said({ [4] = 0.5, [5] = 0.4, [2] = 0.3 }):find(
      "is 20.0 % slower than the copy that it was made from along y: ", 1, true))
    assert.is_truthy(said({ [7] = 0.8, [8] = 0.4, [10] = 0.8 }):find("The sum along x through shared memory is 2.0 "
      .. "times slower than a warp a row's copy, by five doubling steps as fast as it.", 1, true))
  end)

  it("do not tell of a sum that is much faster than its copy as hidden", function()
    local function has(words, rates)
      local text = said(rates)
      assert.is_truthy(text:find(words, 1, true), text)
    end
    has("beside reading and writing is hidden behind them.", { [2] = 0.5, [3] = 0.49, [4] = 0.5, [5] = 0.51 })
    has("is not all hidden behind them here.", { [2] = 0.5, [3] = 0.4, [4] = 0.5, [5] = 0.51 })
    has("34.0 % faster than it along y: a sum that is faster than its copy says that more than ",
      { [2] = 0.5, [3] = 0.4, [4] = 0.5, [5] = 0.67 })
  end)

  it("have digits enough for a small share, and for what is left to gain", function()
    local function task(share) return said({ [10] = share }):match "Task 10: [^\n]+" end
    local AS = "Task 10: doubling steps reach %s of the fastest copy (library copy), so %s."
    assert.are.equal(AS:format("0.043 %", "they could be 2326 times as fast at most"), task(0.00043))
    assert.are.equal(AS:format("5.2 %", "they could be 19 times as fast at most"), task(0.0517))
    assert.are.equal(AS:format("51.7 %", "they could be 1.9 times as fast at most"), task(0.517))
    assert.are.equal(AS:format("98.0 %", "there is little left to gain"), task(0.98))
    local copy, slow = { T_eff = 1e11 }, { T_eff = 5e7, share = 0.0005, elements = 4096 }
    local text = say.scan("f64", { copy, slow, slow, slow })
    assert.is_truthy(text:find("reaches 0.05 % of the library's copy.", 1, true), text)
  end)
end)

-- ---- what others measured -------------------------------------------------------------------------

describe("the charts of the study cumsum", function()
  local folder = core.home() .. "/experiments/cumsum/"
  local measurement = assert(loadfile(folder .. "measurement.lua"))({})

  -- The labels of levels and series.
  local function labels_of(spec)
    local labels = {}
    for _, line in ipairs(spec.lines) do labels[#labels + 1] = line.label end
    for _, r in ipairs(spec.records) do labels[#labels + 1] = r.series end
    return labels
  end

  -- What a GPU would show of { number = dim }, which nobody measured: labels by the charts' names, and
  -- the columns of the ladder's table.
  local function shown(rungs, ty)
    local charts = assert(loadfile(folder .. "charts.lua"))({ n = 512, gpu = true, measurement = measurement,
      dev = { peak_bandwidth = function() return 5e12 end } })
    local records = { { rung = "library copy", T_eff = 4e12, share = 1, elements = 4096, bytes = 32768 } }
    for number, dim in pairs(rungs) do
      records[#records + 1] = { rung = "rung " .. number, number = number, dim = dim, T_eff = 1e12, share = 0.25,
                                p100 = ty == "f64" and 5e11 or nil }
    end
    local labels, columns, plot, tabulate = {}, nil, mw.plot, mw.table
    function mw.plot(spec) labels[spec.name] = labels_of(spec) end
    function mw.table(spec) columns = columns or spec end
    charts.ladder(ty, records)
    charts.scan(ty, records, records)
    mw.plot, mw.table = plot, tabulate
    return labels, columns
  end

  it("say source in each label of what others measured", function()
    local charts, columns = shown({ [3] = 3, [5] = 2, [8] = 1 }, "f64")
    local sources = 0
    for _, labels in pairs(charts) do
      for _, label in ipairs(labels) do
        local theirs = label:find "[PH]%d00" ~= nil
        assert.are.equal(theirs, label:find("source", 1, true) ~= nil, label)
        sources = sources + (theirs and 1 or 0)
      end
    end
    assert.are.equal(4 + 3 + 3 * 4 + 1, sources) -- levels and points of rungs, points of dimensions, CUB
    assert.are.equal("P100 (source)", columns[#columns].title)
  end)

  it("show sources along measured dimensions alone, and none beside another type", function()
    local charts = shown({ [5] = 2 }, "f64")
    assert.are.equal(6, #charts["cumsum-dims"]) -- four sources, the rung, the fastest copy
    for _, label in ipairs(charts["cumsum-ladder-f64"]) do
      assert.is_nil(label:find "dim [13], source", label)
    end
    assert.is_nil(shown({ [2] = false }, "f64")["cumsum-dims"])
    charts = shown({ [5] = 2 }, "f32")
    assert.is_nil(charts["cumsum-dims"])
    for _, label in ipairs(charts["cumsum-ladder-f32"]) do assert.is_nil(label:find("source", 1, true)) end
  end)
end)
