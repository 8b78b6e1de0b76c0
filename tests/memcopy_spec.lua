-- SPDX-License-Identifier: MIT
--
-- The study memcopy, through the program, at sizes that nothing divides. Its kernels: engines_spec.lua.

local support = require "tests.support"
local store = require "moonwarp.results.store"

local function study(folder, words)
  local command = ("'%s' run memcopy -p seconds=0 --out '%s' %s </dev/null 2>&1"):format(support.program(), folder,
    words)
  local pipe = assert(io.popen(command))
  local output = pipe:read "a"
  local _, _, status = pipe:close()
  return status, output
end

describe("the study memcopy", function()
  if not support.program() then
    pending "needs the program"
    return
  end

  it("copies an odd number of elements, with a sweep that begins above n", function()
    support.with_folder(function(folder)
      local status, output = study(folder, "-p n=257 -p smallest=300")
      assert.are.equal(0, status, output)
      for _, name in ipairs { "remarks.txt", "memcopy-threads.gp", "memcopy-size.gp" } do
        assert.is_true(#support.read(support.run(folder) .. "/" .. name) > 0, name)
      end
    end)
  end)

  it("takes the fastest of the whole array for the level to reach, and calls none peak that a copy exceeds", function()
    support.with_folder(function(folder)
      local status, output = study(folder, "-p n=300 --device cpu")
      assert.are.equal(0, status, output)
      local record = assert(store.read(support.run(folder)))
      local most, triad = 0, nil
      for _, r in ipairs(record.records) do
        local whole = r.group == "rungs" and r.bytes == 300 * 300 * 8
        if whole and r.rung == "triad" then triad = r.T_tot elseif whole then most = math.max(most, r.T_tot) end
      end
      local level = record.charts[1].levels[1]
      local label = level.label
      assert.are.equal(triad >= most and "peak: triad" or "fastest copy", label:match("^peak: triad")
        or label:match("^fastest copy"), label)
      for _, point in ipairs(record.charts[1].series[1].points) do
        assert.is_true(point.y <= level.value * (1 + 1e-9), label)
      end
    end)
  end)

  -- The rungs' numbers and names in the table, the charts with their series, and the closing words.
  local function part_of(words)
    local rungs, charts, remarks = {}, {}, nil
    support.with_folder(function(folder)
      local status, output = study(folder, "-p n=257 --device cpu " .. words)
      assert.are.equal(0, status, output)
      local record = assert(store.read(support.run(folder)))
      local number, name = table.unpack(record.tables[1].columns)
      for i, text in ipairs(number.texts) do rungs[i] = text .. " " .. name.texts[i] end
      assert.are.equal(words:find "10" and 2 or 1, #record.tables)
      for i, chart in ipairs(record.charts) do
        local series = {}
        for k, one in ipairs(chart.series) do series[k] = one.name end
        charts[i] = chart.name .. ": " .. table.concat(series, ", ")
      end
      local file = io.open(support.run(folder) .. "/remarks.txt")
      remarks = file and file:read "a" or ""
      if file then file:close() end
    end)
    return rungs, charts, remarks
  end

  it("runs any of its rungs, and tells of no others", function()
    local rungs, charts, remarks = part_of "-p rungs=2,8"
    assert.are.same({ "1 library copy", "2 one thread in all", "8 4 x 16 bytes, streaming", "9 triad" }, rungs)
    assert.are.same({ "memcopy-size: library copy" }, charts)
    assert.is_truthy(remarks:find("'4 x 16 bytes, streaming' is at", 1, true), remarks)
    for _, words in ipairs { "block", "16-byte rung", "Between host" } do
      assert.is_nil(remarks:find(words, 1, true), remarks)
    end

    rungs, charts, remarks = part_of "-p rungs=1"
    assert.are.same({ "1 library copy", "9 triad" }, rungs)
    assert.are.same({ "memcopy-size: library copy" }, charts)
    assert.is_nil(remarks:find("16", 1, true), remarks)
    assert.is_truthy(select(3, part_of "-p rungs=10"):find("Between host and device", 1, true))
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

  it("refuses rungs that there are not and blocks that no device takes", function()
    local BLOCK = "parameter 'shapes' must be a block of 1 to 1024 threads such as 32x4, or a width such as 32, "
      .. "got '%s'"
    local wrong = { ["rungs=11"] = "parameter 'rungs' must be a number from 1 to 10, got '11'",
                    ["type=f16"] = "parameter 'type' must be one of f32, f64, got 'f16'" }
    for _, text in ipairs { "33x32", "0x4", "1025", "32x", "4503599627370497x4096" } do
      wrong["shapes=" .. text] = BLOCK:format(text)
    end
    support.with_folder(function(folder)
      for words, message in pairs(wrong) do
        local status, output = study(folder, "-p " .. words)
        assert.are.equal(2, status, output)
        assert.is_truthy(output:find(message, 1, true), output)
      end
    end)
  end)

  -- The study looks for its kernels in the working folder first.
  it("finds a triad that is a mere copy", function()
    support.with_folder(function(folder)
      local text = support.read(support.core.home() .. "/kernels/triad.cu")
      support.write(folder .. "/triad.cu", (text:gsub(" %+ s %* C%[i%]", "")))
      local command = "cd '%s' && '%s' run memcopy -p seconds=0 -p n=256 --device cpu --quiet 2>&1 </dev/null"
      local pipe = assert(io.popen(command:format(folder, support.program())))
      local output = pipe:read "a"
      local _, _, status = pipe:close()
      assert.are.equal(3, status, output)
      assert.is_truthy(output:find("check triad, 67 x 33: 2211 of 2211 elements are wrong", 1, true), output)
    end)
  end)

  it("refuses more rows than a grid has blocks", function()
    support.with_folder(function(folder)
      local status, output = study(folder, "-p n=65536")
      assert.are.equal(2, status, output)
      assert.is_truthy(output:find("parameter 'n' must be a number from 256 to 65535, got '65536'", 1, true), output)
    end)
  end)
end)
