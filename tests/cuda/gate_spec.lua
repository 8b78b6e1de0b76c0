-- SPDX-License-Identifier: MIT
--
-- mw.bench on a CUDA device, over the fake driver: the gate in front of samples, its ways out, the
-- flags that come from NVML.

local fake = require "tests.support.fake"
local support = require "tests.support"

if not (fake.is_possible() and support.has_nvrtc()) then
  pending("the fake driver needs a C compiler, and kernels NVRTC")
  return
end

local CODE = [[
  local dev = mw.device "cuda:0"
  local x = dev:zeros("f32", 4)
  local m <close> = dev:module { source = "__global__ void fill(float *x, float value, int n) { x[0] = value; }" }
  local go <close> = m.fill:prepare { grid = 1, block = 4 }
  local calls = 0
  local function work()
    calls = calls + 1
    go(x, 1, 4)
  end
  local function quick(more)
    local options = { min_time = 1e-4, max_time = 0.5, noise = 1 }
    for key, value in pairs(more or {}) do options[key] = value end
    return options
  end
  local function causes(t)
    local list = {}
    for i, warning in ipairs(t.warnings) do list[i] = warning.cause end
    return joined(list)
  end
]]

describe("mw.bench on a CUDA device", function()
  it("queues samples behind a gate and reports the cost of a launch", function()
    local output = fake.run(CODE .. [[
      local t = mw.bench(work, quick())
      print(t.blocked, t.clock, t.launch.n == t.n, t.launch.median > 0)
      print(t.batch <= 256, t.cost > 0, #t.samples == t.n)
    ]])
    assert.are.equal("true\tdevice events\ttrue\ttrue\ntrue\ttrue\ttrue\n", output)
  end)

  it("measures without a gate if the function waits for the device", function()
    local output = fake.run(CODE .. [[
      local t = mw.bench(work, quick { samples = 3 })
      print(t.blocked, t.n, joined(t.flags))
      print(causes(t))
    ]], { MOCK_CUDA_FORCED = 1 })
    assert.is_truthy(output:find("^false\t3\t"), output)
    assert.is_truthy(output:find("not blocked", 1, true), output)
    assert.is_truthy(output:find("the launches are in the times: the function waits for the device, or needs "
      .. "more than 50 ms to queue its work", 1, true), output)
  end)

  it("puts fewer calls behind the gate if the driver's queue is full", function()
    local output = fake.run(CODE .. [[
      local t = mw.bench(work, quick { samples = 3, batch = 100 })
      print(t.blocked, t.batch, t.n)
      t = mw.bench(work, quick { samples = 3 })
      print(t.blocked)
    ]], { MOCK_CUDA_FORCED = 2 })
    assert.are.equal("true\t100\t3\ntrue\n", output)
  end)

  it("says why there is no gate", function()
    local output = fake.run(CODE .. [[
      print(causes(mw.bench(work, quick { samples = 3 })):match "in the times: [^,;]*")
    ]], { MOONWARP_SYNC = 1 })
    assert.are.equal("in the times: MOONWARP_SYNC waits after each launch\n", output)
  end)

  it("takes a sample again that the device began too early", function()
    local output = fake.run(CODE .. [[
      local clocks = require "moonwarp.measure.clock"
      local modes = require "moonwarp.measure.mode"
      local clock <close> = clocks.events(dev, dev:default_stream())
      local mode = modes.new("hot", work, clock)
      modes.sample(mode, false)
      print(calls, #mode.samples, clock.gate ~= nil)
    ]], { MOCK_CUDA_FORCED = 2 })
    assert.are.equal("3\t1\ttrue\n", output)
  end)

  it("opens the gate when the function fails, and gives everything back", function()
    local output = fake.run(CODE .. [[
      print(pcall(mw.bench, function() error("mine", 0) end, quick()))
      local count = 0
      print(pcall(mw.bench, function() count = count + 1; if count > 3 then error("late", 0) end end, quick()))
      print(core.live().event, core.live().module, core.live().graph)
    ]])
    -- the script's module, and the gate's, which stays with the device
    assert.are.equal("false\tmine\nfalse\tlate\n0\t2\t0\n", output)
  end)

  it("measures cold and as a graph beside hot", function()
    local output = fake.run(CODE .. [[
      local t = mw.bench(work, quick { cold = true, graph = true, samples = 4 })
      print(t.cold.n, t.cold.batch, t.cold.blocked, t.graph.n, t.graph.blocked, #t.warnings)
      local s <close> = dev:stream()
      local there <close> = m.fill:prepare { grid = 1, block = 4, stream = s }
      t = mw.bench(function() there(x, 2, 4) end, quick { stream = s, graph = true, samples = 2 })
      print(t.graph.n, x:get(1))
      t = mw.bench(function() go(x, 1, 4); dev:synchronize() end, quick { graph = true, samples = 2 })
      print(t.graph, causes(t))
    ]])
    assert.is_truthy(output:find("^4\t1\ttrue\t4\ttrue\t"), output)
    assert.is_truthy(output:find("\n2\t2.0\n", 1, true), output)
    assert.is_truthy(output:find("nil\t", 1, true)
      and output:find("the function cannot be captured into a graph: ", 1, true), output)
  end)

  it("flags a throttled device and a clock that falls, and keeps the row", function()
    local code = CODE .. [[
      local t = mw.bench(work, quick { samples = 3 })
      print(t.median > 0, joined(t.flags), t.state.before.temperature, joined(t.state.after.reasons))
    ]]
    local output = fake.run(code, { MOCK_NVML_REASONS = "0x41" })
    assert.is_truthy(output:find("throttled: thermal", 1, true), output)
    assert.is_truthy(output:find("\t41.0\tidle, thermal", 1, true), output)
    output = fake.run(code, { MOCK_NVML_FALL = 300 })
    assert.is_truthy(output:find("clock fell", 1, true), output)
    output = fake.run(code)
    assert.is_nil(output:find("throttled", 1, true) or output:find("clock fell", 1, true))
    output = fake.run(code .. "print(next(t.state.before))", { MOONWARP_LIBNVML = "/nowhere" })
    assert.is_truthy(output:find "nil\tabsent\nnil\n$", output)
  end)
end)
