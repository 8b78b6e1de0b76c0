-- SPDX-License-Identifier: MIT
--
-- mw.bench: the stop rule, the clocks, warnings with cause and remedy, mistakes.

local support = require "tests.support"
local mw = support.mw
local bench = require "moonwarp.measure.bench"
local fails = support.fails

local QUICK = { min_time = 0.01, max_time = 0.2 }

local function quick(more)
  local options = {}
  for key, value in pairs(QUICK) do options[key] = value end
  for key, value in pairs(more or {}) do options[key] = value end
  return options
end

local function work()
  local x = 0
  for i = 1, 1000 do x = x + i end
  return x
end

-- Measures a function that takes these seconds, in turn, by the test's own clock.
local function timed(seconds, options)
  local t, calls = nil, 0
  options.clock = "host"
  support.with_clock(function(pass)
    t = mw.bench(function()
      calls = calls + 1
      pass(seconds[(calls - 1) % #seconds + 1])
    end, options)
  end)
  return t
end

local function near(expected, got)
  assert.is_true(math.abs(got / expected - 1) < 1e-3, ("expected %g, got %g"):format(expected, got))
end

describe("mw.bench", function()
  it("returns finite statistics in order", function()
    local t = mw.bench(work, quick { clock = "host" })
    assert.is_true(0 < t.min and t.min <= t.p05 and t.p05 <= t.median)
    assert.is_true(t.median <= t.p95 and t.p95 <= t.max and t.max < math.huge)
    assert.is_true(t.p25 <= t.median and t.median <= t.p75)
    assert.is_true(t.low <= t.median and t.median <= t.high)
    for _, key in ipairs { "mean", "sd", "mad", "noise", "first" } do
      assert.is_true(t[key] >= 0 and t[key] < math.huge, key)
    end
    assert.are.equal(t.n, #t.samples)
    assert.are.equal("host clock", t.clock)
    assert.are.equal(t.n, t.launch.n)
    assert.is_true(t.launch.median > 0 and t.launch.median <= t.max)
    assert.is_true(t.cost >= 0 and t.cost < 1)
    assert.is_nil(t.blocked)
    assert.is_truthy(tostring(t):find("^[%d.]+ %S+s [±(].+ %(n = %d+%)$"), tostring(t))
  end)

  it("is a plain table for records, with every sample", function()
    local t = mw.bench(work, { samples = 5, clock = "host" })
    local row = bench.fields(t)
    assert.is_nil(getmetatable(row))
    assert.are.same(t.samples, row.samples)
    assert.are.equal(t.median, row.median)
    assert.are.equal(5, row.launch.n)
    local known = {}
    for _, key in ipairs(bench.order) do known[key] = true end
    for key in pairs(row) do assert.is_true(known[key], key) end
  end)

  it("flags what the rule did not reach", function()
    assert.are.equal("noisy", timed({ 0.01, 0.02, 0.03 }, { samples = 6, batch = 1 }).flags[1])
    assert.are_not.equal("noisy", timed({ 0.01 }, { samples = 6, batch = 1, noise = 1e-3 }).flags[1])
  end)

  it("ends when the noise, the least time and the least number are reached", function()
    local t = timed({ 0.01 }, { min_time = 0.2, min_samples = 5, noise = 1e-3 })
    assert.are.same({ 1, 20 }, { t.batch, t.n })
    assert.are.equal(5, timed({ 0.1 }, { min_time = 0.2, min_samples = 5, noise = 1e-3 }).n)
  end)

  it("batches short calls until the clock can see them", function()
    local t = timed({ 1e-8 }, { min_time = 0.01, noise = 1e-3 })
    assert.is_true(t.batch * 1e-8 >= 1e-4 and t.batch * 1e-8 < 2e-4, t.batch)
    near(1e-8, t.median)
  end)

  it("takes exactly as many samples and calls as asked for", function()
    local calls = 0
    local t = mw.bench(function() calls = calls + 1 end, { samples = 7, batch = 3, warmup = 2, clock = "host" })
    assert.are.equal(7, t.n)
    assert.are.equal(3, t.batch)
    assert.are.equal(1 + 2 + 7 * 3, calls)
  end)

  it("runs setup before each sample, outside its time", function()
    local ready, samples, t = 0, 0, nil
    support.with_clock(function(pass)
      t = mw.bench(function()
        samples = samples + 1
        assert(ready == samples)
        pass(0.01)
      end, { samples = 5, clock = "host", setup = function()
        ready = ready + 1
        pass(1)
      end })
    end)
    assert.are.equal(1, t.batch)
    assert.are.equal(6, ready)
    near(0.01, t.max)
  end)

  it("ends at the time limit and says what to do", function()
    local t = timed({ 0.03 }, { max_time = 0.1, min_time = 0.05 })
    assert.are.equal(4, t.n)
    assert.are.equal("only 4 samples fitted into 0.1 s", t.warnings[1].cause)
    assert.are.equal("make the problem smaller, or give it more time with { max_time = seconds }",
      t.warnings[1].remedy)
  end)

  it("says that a fixed batch is too short for the clock", function()
    local t = timed({ 1e-7 }, { batch = 1, samples = 20 })
    assert.are.equal("a sample takes 102 ns, too little for a clock of 100 ns", t.warnings[1].cause)
    assert.is_nil(timed({ 1e-6 }, { batch = 1, samples = 20 }).warnings[1])
  end)

  it("lets an error of the function through, with its position", function()
    local ok, message = pcall(mw.bench, function() error "oops" end, { clock = "host" })
    assert.is_false(ok)
    assert.is_truthy(message:find("measure/bench_spec.lua:%d+: oops$"))
  end)

  it("rejects what makes no sense", function()
    fails(function() mw.bench(3) end,
      "mw.bench: a function is wanted, got number; as in mw.bench(function() go(x, n) end)")
    fails(function() mw.bench(work, { noize = 1 }) end, "mw.bench: unknown option 'noize'; did you mean 'noise'?")
    fails(function() mw.bench(work, { noise = -1 }) end, "mw.bench: option 'noise' must be at least 0, got -1")
    fails(function() mw.bench(work, { samples = 0 }) end, "mw.bench: option 'samples' must be at least 1, got 0")
    fails(function() mw.bench(work, { batch = 1e15 }) end,
      "mw.bench: option 'batch' must be at most 10000000, got 1e+15")
    fails(function() mw.bench(work, { max_time = 0 / 0 }) end,
      ("mw.bench: option 'max_time' must be at least 0, got %s"):format(0 / 0))
    fails(function() mw.bench(work, { clock = "sun" }) end,
      "mw.bench: option 'clock' must be 'host' or 'device', got 'sun'")
    fails(function() mw.bench(function() end, { min_samples = 2.5 }) end,
      "mw.bench: option 'min_samples' must be an integer, got 2.5")
    fails(function() mw.bench(function() end, { dtype = "f16" }) end,
      "mw.bench: option 'dtype' must be 'f32' or 'f64', got 'f16'")
    fails(function() mw.bench(work, { batch = 1.5 }) end, "mw.bench: option 'batch' must be an integer, got 1.5")
    fails(function() mw.bench(work, { device = io.stdout }) end,
      "mw.bench: option 'device' must be a device, got userdata")
    fails(function() mw.bench(work, { cold = 1 }) end, "mw.bench: option 'cold' must be a boolean, got number")
    fails(function() mw.bench(work, true) end, "mw.bench: options must be a table, got boolean")
  end)
end)

describe("mw.bench of launches", function()
  support.each_device(function(dev, id)
    it("uses the device's clock and leaves nothing open", function()
      local m <close> = dev:module { source = "__global__ void add(float *x, int n) {"
        .. " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }" }
      local x <close> = dev:zeros("f32", 1000)
      local go <close> = m:kernel("add"):prepare { grid = 4, block = 256 }
      local t = mw.bench(function() go(x, 1000) end, quick { device = dev })
      assert.are.equal(id == "cpu" and "host clock" or "device events", t.clock)
      assert.are.equal(id, t.device)
      assert.are.equal(dev:name(), t.device_name)
      assert.is_true(x:get(1000) >= t.n * t.batch)
      m:close()
      go:close()
    end)

    it("measures cold and as a graph in turn with hot", function()
      local x <close> = dev:zeros("f32", 1 << 12)
      local y <close> = dev:zeros("f32", 1 << 12)
      local order = {}
      local t = mw.bench(function() y:copy(x) end, { samples = 3, device = dev, cold = true, graph = true,
        setup = function() order[#order + 1] = true end })
      for _, one in ipairs { t, t.cold, t.graph } do
        assert.are.equal(3, one.n)
        assert.is_true(one.median > 0 and one.launch.median > 0)
        assert.are.equal(id, one.device)
      end
      assert.is_true(#order >= 1 + 3 * 3 and #order <= 1 + 3 * 4, #order) -- a gate is tried, once a mode at most
      assert.are.same(t.cold.samples, bench.fields(t).cold.samples)
    end)

    it("replays a graph to the same effect", function()
      local m <close> = dev:module { source = "__global__ void add(int *x) { x[0] += 1; }" }
      local x <close> = dev:zeros("i32", 1)
      local go <close> = m:kernel("add"):prepare { grid = 1, block = 1 }
      local t = mw.bench(function() go(x) end, { samples = 2, batch = 2, device = dev, graph = true })
      -- the first call; two samples of each mode, with a call to warm up before each; the gate's trial; the look
      -- for work that outlasts the clock
      assert.is_true(x:get(1) >= 1 + 2 * 2 * 2 and x:get(1) <= 1 + 4 * 3 + 4 + 6, x:get(1))
      assert.are.equal(0, #t.warnings == 0 and 0 or (t.graph and 0 or 1))
    end)

    it("does without a graph if there cannot be one, and says so", function()
      local x <close> = dev:zeros("i32", 1)
      local t = mw.bench(function()
        x:fill(1)
        dev:synchronize()
      end, { samples = 2, device = dev, graph = true })
      assert.is_nil(t.graph)
      local last = t.warnings[#t.warnings]
      assert.is_truthy(last.cause:find("the function cannot be captured into a graph: ", 1, true), last.cause)
      assert.are.equal("keep synchronisation, reading and allocation out of it", last.remedy)
      t = mw.bench(function() end, { samples = 2, device = dev, graph = true })
      assert.is_nil(t.graph)
      assert.is_truthy(t.warnings[#t.warnings].cause:find("it queued no work in the captured stream", 1, true))
    end)

    it("reports the device's state before and after", function()
      local t = mw.bench(function() end, { samples = 2, batch = 1, device = dev })
      assert.are.equal("table", type(t.state.before))
      assert.are.equal("table", type(t.state.after))
    end)

    it("takes events on any device when asked to", function()
      local x <close> = dev:zeros("f32", 1 << 16)
      local y <close> = dev:zeros("f32", 1 << 16)
      local stream <close> = dev:stream()
      local t = mw.bench(function() y:copy(x, { stream = stream }) end, quick { stream = stream, clock = "device" })
      assert.are.equal("device events", t.clock)
      assert.is_true(t.median >= 0 and t.median < math.huge)
    end)

    it("writes over the caches before each sample when asked to", function()
      local x <close> = dev:zeros("f32", 1 << 10)
      local t = mw.bench(function() x:get(1) end, { samples = 2, flush = true, device = dev })
      assert.are.equal(1, t.batch)
      assert.are.equal(2, t.n)
    end)
  end)
end)
