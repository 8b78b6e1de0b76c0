-- SPDX-License-Identifier: MIT
--
-- The study memcopy at sizes that nothing divides. Its kernels: engines_spec.lua.

local support = require "tests.support"
local study, study_passes = support.study, support.study_passes

describe("the study memcopy", function()
  if not support.program() then
    pending "needs the program"
    return
  end

  it("copies an odd number of elements, and calls no level peak that a copy exceeds", function()
    local run = study_passes("memcopy", "-p n=301 -p smallest=400", -- the sweep begins above n
      { optimised = true })
    for _, name in ipairs { "remarks.txt", "memcopy-threads.gp", "memcopy-size.gp" } do
      assert.is_truthy(run.files[name], name)
    end
    if run.record.device ~= "cpu" then return end -- a GPU tells the peak itself
    local most, triad = 0, nil
    for _, r in ipairs(run.record.records) do
      local whole = r.group == "rungs" and r.bytes == 301 * 301 * 8
      if whole and r.rung == "triad" then triad = r.T_tot elseif whole then most = math.max(most, r.T_tot) end
    end
    local level = run.record.charts[1].levels[1]
    local label = level.label
    assert.are.equal(triad > most and "peak: triad" or "fastest copy", label:match "^peak: triad"
      or label:match "^fastest copy", label)
    for _, point in ipairs(run.record.charts[1].series[1].points) do
      assert.is_true(point.y <= level.value * (1 + 1e-9), label)
    end
  end)

  -- The rungs' numbers and names in the table, the charts with their series, and the closing words.
  local function part_of(words)
    local run = study_passes("memcopy", "-p n=257 --device cpu " .. words)
    local rungs, charts = {}, {}
    local number, name = table.unpack(run.record.tables[1].columns)
    for i, text in ipairs(number.texts) do rungs[i] = text .. " " .. name.texts[i] end
    for i, chart in ipairs(run.record.charts) do
      local series = {}
      for k, one in ipairs(chart.series) do series[k] = one.name end
      charts[i] = chart.name .. ": " .. table.concat(series, ", ")
    end
    return rungs, charts, run.remarks, run.record
  end

  it("runs any of its rungs, and tells of no others", function()
    local rungs, charts, remarks, record = part_of "-p rungs=2,8"
    assert.are.same({ "1 library copy", "2 one thread in all", "8 4 x 16 bytes, streaming", "9 triad" }, rungs)
    assert.are.same({ "memcopy-size: library copy" }, charts)
    assert.are.equal(1, #record.tables)
    assert.is_truthy(remarks:find("'4 x 16 bytes, streaming' is at", 1, true), remarks)
    for _, words in ipairs { "block", "16-byte rung", "Between host" } do
      assert.is_nil(remarks:find(words, 1, true), remarks)
    end

    rungs, charts, remarks, record = part_of "-p rungs=10"
    assert.are.same({ "1 library copy", "9 triad" }, rungs)
    assert.are.same({ "memcopy-size: library copy" }, charts)
    assert.are.equal(2, #record.tables)
    assert.is_truthy(remarks:find("Between host and device", 1, true), remarks)
    assert.is_nil(remarks:find("16 byte", 1, true), remarks)
  end)

  it("sweeps the shapes that are asked for, in either type", function()
    local rungs, charts, remarks = part_of "-p rungs=4,5 -p shapes=16x2,512,7x3,16x2 -p type=f32"
    assert.are.same({ "1 library copy", "4 block 16 x 2", "4 block 512 x 1", "4 block 512 x 2", "4 block 7 x 3",
                      "5 16 bytes a thread", "9 triad" }, rungs)
    assert.are.equal("memcopy-threads: 16 wide, 512 wide, 7 wide", charts[1])
    assert.is_truthy(remarks:find("The best block of one element a thread, ", 1, true), remarks)
    assert.is_nil(remarks:find("blocks of one warp", 1, true), remarks)
    remarks = select(3, part_of "-p rungs=4 -p shapes=16x16")
    assert.is_truthy(remarks:find("Blocks of one element a thread, 16 x 16, move ", 1, true), remarks)
  end)

  it("refuses what is no rung, no block and no type, and more rows than a grid has blocks", function()
    local wrong = { ["rungs=11"] = "parameter 'rungs' must be a number from 1 to 10, got '11'",
                    ["type=f16"] = "parameter 'type' must be one of f32, f64, got 'f16'",
                    ["n=65536"] = "parameter 'n' must be a number from 256 to 65535, got '65536'" }
    for _, text in ipairs { "33x32", "0x4", "1025", "32x", "4503599627370497x4096" } do
      wrong["shapes=" .. text] = ("parameter 'shapes' must be a block of 1 to 1024 threads such as 32x4, or a width "
        .. "such as 32, got '%s'"):format(text)
    end
    for words, message in pairs(wrong) do
      local run = study("memcopy", "-p " .. words)
      assert.are.equal(2, run.status, run.output)
      assert.is_truthy(run.output:find(message, 1, true), run.output)
    end
  end)
end)
