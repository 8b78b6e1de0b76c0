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
