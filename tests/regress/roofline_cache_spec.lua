-- SPDX-License-Identifier: MIT
--
-- mw.roofline above its roofs: data in a cache, and flops that no device has.

local support = require "tests.support"
local mw = support.mw

describe("a kernel above the memory roof", function()
  -- It was "memory-bound, 563 % of its roof".
  it("has its data from a cache, and the arithmetic for a roof", function()
    local made, data
    support.with_folder(function(folder)
      made = support.into(folder, function()
        local drawn = mw.roofline { device = mw.device "cpu", quiet = true, pictures = false,
          ceilings = { bandwidth = 100, f32 = 1000, f64 = 500 }, records = {
            { kernel = "cached", bytes = 100, flops = 100, t = 0.2, device = "cpu" },
            { kernel = "noise", bytes = 100, flops = 100, t = 0.97, device = "cpu" },
            { kernel = "wrong", bytes = 10, flops = 1000, t = 0.5, device = "cpu" } } }
        data = support.read(drawn.dat)
        return drawn
      end)
    end)
    local cached, noise, wrong = table.unpack(made.points)
    assert.are.same({ "cache", 1000, 0.5 }, { cached.bound, cached.roof, cached.share })
    assert.is_truthy(made.words:find("cached (f32): data from a cache, at 5.0 times the bandwidth of memory, 50 % of "
      .. "the arithmetic roof of 1.000 kflop/s\n", 1, true), made.words)
    assert.is_truthy(data:find("# series %d+: cached, data from a cache\n"))
    assert.are.equal("memory", noise.bound)
    assert.is_truthy(data:find("# series %d+: noise\n"))
    assert.are.equal("compute", wrong.bound)
    assert.is_truthy(made.words:find("wrong (f32): 200 % of the arithmetic roof of ", 1, true), made.words)
    assert.is_truthy(made.words:find("are its declared flops right?", 1, true))
  end)
end)
