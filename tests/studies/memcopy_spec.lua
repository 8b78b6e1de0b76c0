-- SPDX-License-Identifier: MIT
--
-- The study memcopy at sizes that nothing divides. Its kernels: cpu/engines_spec.lua.

local support = require "tests.support"

describe("the study memcopy", function()
  if not support.program() then return pending "needs the program" end

  it("copies an odd number of elements, and leaves its charts", function()
    local run = support.study_passes("memcopy", "-p n=301 -p smallest=400", -- the sweep begins above n
      { optimised = true })
    local charts, device = {}, ("%s (%s)"):format(run.record.device_name, run.record.device)
    for i, chart in ipairs(run.record.charts) do charts[i] = { chart.name, chart.title } end
    assert.are.same({ { "memcopy-ladder", "memcopy ladder, nx = 301, ny = 301, f64, " .. device },
                      { "memcopy-ladder-threads",
                        "memcopy ladder: an element per thread, nx = 301, ny = 301, f64, " .. device },
                      { "memcopy-host", "memcopy host, nx = 90601, ny = 1, f64, " .. device },
                      { "memcopy-sizes-bytes",
                        "memcopy sizes: T_tot against bytes of the array, nx = 301, ny = 301, f64, " .. device } },
      charts)
    local bars = run.record.charts[1].bars
    assert.are.same({ "library copy", "one thread in all, nx = 16384, ny = 1, f64" }, { bars[1].name, bars[2].name })
    support.has_checks(run, { "triad, block 32 x 1, nx = 67, ny = 33, f64",
                              "4 x 16 bytes, streaming, nx = 67, ny = 33, f64",
                              "triad, block 1 x 1, nx = 301, ny = 301, f64, proof",
                              "pageable, device to host, nx = 90601, ny = 1, f64, beside A" })
  end)

  -- The rungs of each part with their blocks.
  local function parts_of(words)
    local run = support.study_passes("memcopy", "-p n=257 --device cpu " .. words)
    local parts = {}
    for _, r in ipairs(run.record.records) do
      local rungs = parts[r.group] or {}
      parts[r.group], rungs[#rungs + 1] = rungs, r.block and ("%s, %s"):format(r.rung, r.block) or r.rung
    end
    return parts, run.record
  end

  it("runs any of its rungs, beside the library's copy and the triad", function()
    local parts = parts_of "-p rungs=2,8 -p shapes=16x2"
    assert.are.same({ "library copy", "one thread in all, 1", "4 x 16 bytes, streaming, 256", "triad, 16 x 2" },
      parts.ladder)
    assert.is_nil(parts.host)
    parts = parts_of "-p rungs=10 -p parts=host,sizes"
    assert.are.same({ "pinned, device to host", "pinned, host to device", "pageable, device to host",
                      "pageable, host to device" }, parts.host)
    assert.are.same({ nil, "library copy" }, { parts.ladder, parts.sizes[1] })
  end)

  it("sweeps the shapes that are asked for, in either type", function()
    local parts, record = parts_of "-p rungs=4,5 -p shapes=16x2,512,7x3,16x2 -p type=f32"
    assert.are.same({ "library copy", "an element per thread, 16 x 2", "an element per thread, 512 x 1",
                      "an element per thread, 512 x 2", "an element per thread, 7 x 3", "16 bytes per thread, 256",
                      "triad, 16 x 2", "triad, 512 x 1", "triad, 512 x 2", "triad, 7 x 3" }, parts.ladder)
    local series = {}
    for i, one in ipairs(record.charts[2].series) do series[i] = one.name end
    assert.are.same({ "16 wide", "512 wide", "7 wide" }, series)
  end)
end)
