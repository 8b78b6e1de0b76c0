-- SPDX-License-Identifier: MIT
--
-- mw.roofline: which kernels it finds, where it puts them, what it says; measured ceilings.

local session = require "moonwarp.session"
local support = require "tests.support"
local bench = require "moonwarp.measure.bench"
local ceiling = require "moonwarp.measure.ceiling"
local mw, fails = support.mw, support.fails

local MOST = { bandwidth = 100, f32 = 1000, f64 = 500 }

local function draw(records, more)
  local made
  support.with_folder(function(folder)
    local spec = { device = mw.device "cpu", records = records, ceilings = MOST, quiet = true, pictures = false }
    for key, value in pairs(more or {}) do spec[key] = value end
    support.into(folder, function()
      made = mw.roofline(spec)
      made.text = support.read(made.dat)
    end)
  end)
  return made
end

describe("mw.roofline", function()
  it("distinguishes memory-bound from compute-bound, with the share of the roof", function()
    local made = draw { { kernel = "slim", bytes = 100, flops = 100, t = 2, device = "cpu" },
                        { kernel = "fat", bytes = 10, flops = 1000, t = 2, device = "cpu" },
                        { kernel = "fat64", bytes = 10, flops = 1000, t = 4, dtype = "f64", device = "cpu" } }
    local slim, fat, fat64 = table.unpack(made.points)
    assert.are.equal("memory", slim.bound)
    assert.are.equal(100, slim.roof)
    assert.are.equal(0.5, slim.share)
    assert.are.equal("compute", fat.bound)
    assert.are.equal(1000, fat.roof)
    assert.are.equal(0.5, fat.share)
    assert.are.equal(500, fat64.roof)
    assert.is_truthy(made.words:find("slim (f32): memory-bound, 50 % of its roof of 100.0 flop/s", 1, true), made.words)
    assert.is_truthy(made.words:find("fat64 (f64): compute-bound, 50 %", 1, true), made.words)
    assert.is_truthy(made.text:find("roof f32", 1, true) and made.text:find("roof f64", 1, true))
    assert.is_truthy(made.chart:find("fat64", 1, true))
  end)

  it("places what a cache serves under that cache's roof", function()
    local made
    support.with_folder(function(folder)
      made = support.into(folder, function()
        return mw.roofline { device = mw.device "cpu", quiet = true, pictures = false,
          ceilings = { bandwidth = 100, l2 = 600, f32 = 1000, f64 = 500 }, records = {
            { kernel = "cached", bytes = 100, flops = 100, t = 0.2, device = "cpu" },
            { kernel = "beyond", bytes = 100, flops = 100, t = 0.125, device = "cpu" } } }
      end)
    end)
    local cached, beyond = table.unpack(made.points)
    assert.are.same({ "L2", 600, "cache", 1000 }, { cached.bound, cached.roof, beyond.bound, beyond.roof })
    assert.is_truthy(made.words:find("cached (f32): data from the L2 cache, 83 % of its roof of 600.0 flop/s", 1, true))
    assert.is_truthy(made.chart:find("roof L2", 1, true))
  end)

  it("takes benchmarks that declared their work, once", function()
    local dev = mw.device "cpu"
    local x <close>, y = dev:zeros("f32", 1000), dev:zeros("f32", 1000)
    local t = mw.bench(function() y:copy(x) end, { samples = 3, bytes = 8000, flops = 1000, name = "mine" })
    local made = draw { { kernel = "other", t = t, device = "cpu" } }
    assert.are.equal(1, #made.points)
    assert.are.equal("mine", made.points[1].kernel)
    assert.are.equal(0.125, made.points[1].intensity)
    local all = draw(nil)
    assert.are.equal("mine", all.points[#all.points].kernel)
    y:close()
  end)

  it("rejects invalid ceilings and records", function()
    fails(function() mw.roofline { ceilings = {} } end,
      "mw.roofline: option 'ceilings': bandwidth must be a number above 0, got nil; leave ceilings out to measure them")
    fails(function() mw.roofline { ceilings = { bandwidth = 1, f32 = 0, f64 = 1 } } end,
      "mw.roofline: option 'ceilings': f32 must be a number above 0, got 0; leave ceilings out to measure them")
    fails(function() mw.roofline { records = { {}, 5 } } end,
      "mw.roofline: option 'records'[2] must be a table, got number")
  end)

  it("leaves out other devices", function()
    local made = draw { { kernel = "here", bytes = 1, flops = 1, t = 1, device = "cpu" },
                        { kernel = "there", bytes = 1, flops = 1, t = 1, device = "cuda:0" } }
    assert.are.equal(1, #made.points)
  end)

  it("rejects what it cannot draw", function()
    fails(function() mw.roofline { records = { { kernel = "a", t = 1 } }, device = mw.device "cpu" } end,
      "mw.roofline: nothing here declares both bytes and flops; give them to mw.bench")
    fails(function() mw.roofline { dtype = "i32" } end,
      "mw.roofline: option 'dtype' must be 'f32' or 'f64', got 'i32'")
    fails(function() mw.roofline { nam = "x" } end, "mw.roofline: unknown option 'nam'; did you mean 'name'?")
  end)
end)

describe("ceilings", function() support.each_device(function(dev, id)
  local run, path = bench.run, ceiling.file.path

  -- What they are is tests/bench's matter: a sample of each will do.
  before_each(function()
    function bench.run(current, fn, options)
      return run(current, fn, { device = options.device, samples = 1, batch = 1 })
    end
  end)
  after_each(function() bench.run, ceiling.file.path = run, path end)

  it("are measured with right results, once", function()
    local failed = session.current.failed_checks
    local most
    support.with_folder(function(folder)
      function ceiling.file.path() return folder .. "/ceilings.json" end
      most = ceiling.of(session.current, dev)
    end)
    assert.are.equal(failed, session.current.failed_checks)
    for _, name in ipairs { "bandwidth", "f32", "f64" } do
      assert.is_true(most[name] > 0 and most[name] < math.huge, name)
    end
    assert.are.equal(id, most.device)
    assert.are.equal(most, ceiling.of(session.current, dev))
  end)
end) end)
