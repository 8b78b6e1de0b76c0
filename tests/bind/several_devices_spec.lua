-- SPDX-License-Identifier: MIT
--
-- Several devices in one script: two CPU devices that share the processor, two GPUs where there are two, and the fake
-- driver's.

local fake = require "tests.support.fake"
local support = require "tests.support"
local mw, core = support.mw, support.core
local fails, fails_with = support.fails, support.fails_with

local SOURCE = [[
__global__ void add(float *y, const float *x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}
__global__ void count(int *c) { atomicAdd(c, 1); }
]]

local N <const> = 1000

-- Pairs of devices of one kind.
local function pairs_of_devices()
  local list = {}
  local usable = {}
  for _, dev in ipairs(support.devices()) do
    if dev:id():find ":%d" then usable[#usable + 1] = dev end
    if core.device_word(dev:id() .. ":0/2") then
      list[#list + 1] = { mw.device(dev:id() .. ":0/2"), mw.device(dev:id() .. ":1/2") }
    end
  end
  if usable[2] then list[#list + 1] = { usable[1], usable[2] } end
  return list
end

for _, pair in ipairs(pairs_of_devices()) do
  local a, b = pair[1], pair[2]
  local peer = a:peers()[1]
  local runs = support.runs_kernels(a) and peer.access and it or pending

  describe(("two devices, %s and %s,"):format(a:id(), b:id()), function()
    support.no_leaks()

    it("know each other", function()
      assert.are_not.equal(a, b)
      assert.are.equal(b:id(), peer.id)
      assert.are.equal(a:id(), b:peers()[1].id)
      assert.are.equal("boolean", type(peer.atomics))
    end)

    it("copy on a stream of either, ordered by its events", function()
      local s <close> = a:stream()
      local t <close> = b:stream()
      local x <close> = a:empty("f32", N)
      local y <close> = b:array("f32", N)
      local z <close> = a:array("f32", N)
      x:upload(string.pack("<f", 3):rep(N))
      y:copy(x, { stream = s })
      t:wait(s:record())
      z:copy(y, { stream = t, from = 11, count = N - 10 })
      t:synchronize()
      assert.are.equal(3, y:get(N))
      assert.are.equal(3, z:get(N - 10))
      assert.is_true(z:get(N) ~= z:get(N))
      z:copy(y)
      assert.are.equal(3, z:get(N))
    end)

    runs("launch on each other's arrays", function()
      local ma <close> = a:module { source = SOURCE }
      local mb <close> = b:module { source = SOURCE }
      local x <close> = a:zeros("f32", N)
      local y <close> = b:array("f32", N)
      local c <close> = a:zeros("i32", 1)
      y:upload(string.pack("<f", 2):rep(N))
      mb.add:launch(4, 256, x, y, N)
      b:synchronize()
      assert.are.equal(2, x:get(N))
      ma.add:launch(4, 256, x, y, N)
      assert.are.equal(4, x:get(1))
      ma.count:launch(3, 64, c)
      if not peer.atomics then return end
      a:synchronize()
      mb.count:launch(3, 64, c)
      b:synchronize()
      assert.are.equal(384, c:get(1))
    end)

    runs("take part in one graph", function()
      local ma <close> = a:module { source = SOURCE }
      local mb <close> = b:module { source = SOURCE }
      local x <close> = a:zeros("f32", N)
      local y <close> = b:zeros("f32", N)
      local z <close> = b:zeros("f32", N)
      local s <close> = a:stream()
      local t <close> = b:stream()
      y:upload(string.pack("<f", 1):rep(N))
      local graph <close> = a:capture(function(main)
        ma.add:launch(4, 256, x, y, N)
        t:wait(main:record())
        mb.add:prepare { grid = 4, block = 256, stream = t }(y, x, N)
        z:copy(x, { stream = t })
        main:wait(t:record())
      end)
      assert.are.equal(2, #graph:nodes())
      graph:launch(s)
      graph:launch(s)
      s:synchronize()
      assert.are.equal(3, x:get(1)) -- 1, then 1 + 2
      assert.are.equal(5, y:get(N))
      assert.are.equal(3, z:get(N))
      graph:update(2, x, y, N)
      graph:launch(s)
      s:synchronize()
      assert.are.equal(13, x:get(1))
    end)

    runs("free what the other still uses after it", function()
      local mb <close> = b:module { source = SOURCE }
      local t <close> = b:stream()
      local y <close> = b:zeros("f32", N)
      local go = mb.add:prepare { grid = 4, block = 256, stream = t }
      for _ = 1, 20 do
        local x = a:array("f32", N)
        x:upload(string.pack("<f", 1):rep(N))
        go(y, x, N)
        x:close()
      end
      t:synchronize()
      assert.are.equal(20, y:get(N))
    end)
  end)
end

if core.device_word "cpu" then
  describe("CPU devices that share the processor", function()
    local all = mw.device("cpu"):properties()

    it("divide its threads and memory", function()
      local threads = 0
      for i = 0, 2 do
        local properties = mw.device(("cpu:%d/3"):format(i)):properties()
        assert.is_true(properties.multiprocessors >= 1)
        assert.are.equal(all.memory_total // 3, properties.memory_total)
        threads = threads + properties.multiprocessors
      end
      assert.are.equal(math.max(3, all.multiprocessors), threads)
      assert.are.equal(2, #mw.device("cpu:1/3"):peers())
      assert.are.equal(0, #mw.device("cpu"):peers())
    end)

    it("do not reach others, and say the way out", function()
      local a, other = mw.device "cpu:0/2", mw.device "cpu"
      local m <close> = a:module { source = SOURCE }
      local x <close> = other:zeros("f32", 4)
      fails(function() m.add:launch(1, 4, x, x, 4) end, "kernel 'add', parameter 1 'y' is float *: array<f32>[4] cpu "
        .. "is not on cpu:0/2; make it there, or copy it with copy()")
    end)

    it("are as many as the id says", function()
      for _, id in ipairs { "cpu:2/2", "cpu:0/0", "cpu:0/65", "cpu:1/", "cpu:/2", "cpu:check:3", "cpu:0/2x" } do
        fails_with(function() mw.device(id) end, "no device")
      end
    end)

    it("name each other's arrays in faults", function()
      local a, b = mw.device "cpu:0/2", mw.device "cpu:1/2"
      local m <close> = a:module { source = SOURCE }
      local x <close> = b:zeros("f32", N)
      local y <close> = b:zeros("f32", 2 * N)
      fails_with(function() m.add:launch(8, 256, y, x, 2 * N) end, "kernel 'add' read outside every array",
        "parameter 2 'x', an array of 4000 bytes")
    end)
  end)

  describe("check mode with several devices", function()
    local CODE = [[
      local mw = require "moonwarp"
      local core = require "moonwarp.core"
      local a, b = mw.device("cpu:0/2", { check = true }), mw.device("cpu:1/2", { check = true })
      local source = [=[]] .. SOURCE .. [[]=]
      local ma, mb = a:module { source = source }, b:module { source = source }
      local s, t = a:stream(), b:stream()
      local x, y = a:zeros("f32", 256), b:zeros("f32", 256)
      ma.add:prepare { grid = 1, block = 256, stream = s }(x, x, 256)
      %s
      mb.add:prepare { grid = 1, block = 256, stream = t }(y, x, 256)
      a:synchronize()
      b:synchronize()
      ma.add:launch(1, 256, x, x, 256)
      %s
      mb.add:launch(1, 256, y, x, 256)
      for _, one in ipairs(core.findings()) do
        print(one.kind, one.parties[1].stream, one.parties[2].stream, one.device)
      end
      print(a:id(), #core.findings(), core.device_word "cpu:0/2".checks)
    ]]

    it("finds operations that nothing orders", function()
      local output = select(2, support.child(CODE:format("", "")))
      assert.is_truthy(output:find("race between operations\tthe default stream of cpu:check:0/2\tthe default stream "
        .. "of cpu:check:1/2\tcpu:check:0/2", 1, true), output)
      assert.is_truthy(output:find("cpu:check:0/2\t2\tcpu:check:0/2", 1, true), output)
    end)

    it("knows what events of another device order", function()
      local output = support.child_passes(CODE:format("t:wait(s:record())", "a:synchronize()"))
      assert.is_truthy(output:find("cpu:check:0/2\t0\tcpu:check:0/2", 1, true), output)
    end)

    it("tells a finding once", function()
      local _, output = support.child [[
        local mw = require "moonwarp"
        local core = require "moonwarp.core"
        local a, b = mw.device("cpu:0/2", { check = true }), mw.device("cpu:1/2", { check = true })
        local m = b:module { source = "__global__ void over(float *x) { x[threadIdx.x] = 1; }" }
        local x = a:zeros("f32", 4)
        pcall(m.over.launch, m.over, 1, 5, x)
        print(#core.findings(), core.findings()[1].kind)
      ]]
      assert.is_truthy(output:find("1\tbounds", 1, true), output)
    end)
  end)

end

describe("the fake driver's devices", function()
  if not fake.is_possible() or not support.has_nvrtc() then
    pending "need a C compiler and NVRTC"
    return
  end

  local CODE <const> = [[
    local a, b = mw.device "cuda:0", mw.device "cuda:1"
    print(a:peers()[1].id, a:peers()[1].access, a:peers()[1].atomics, #a:peers(), b:peers()[1].id)
    local m = b:module { source = "__global__ void fill(float *y, float value, int n) {}" }
    local x, y, t = a:zeros("f32", 4), b:zeros("f32", 4), b:stream()
    print(pcall(m.fill.launch, m.fill, 1, 4, x, 2, 4))
    local graph = a:capture(function(main)
      t:wait(main:record())
      m.fill:prepare { grid = 1, block = 4, stream = t }(y, 1, 4)
      y:copy(x, { stream = t })
      main:wait(t:record())
    end)
    print(graph)
    y:copy(x, { stream = t })
    x:close()
  ]]

  it("open the access to each other's memory", function()
    assert.are.equal("cuda:1\ttrue\ttrue\t1\tcuda:0\ntrue\ngraph of 1 launches cuda:0\n",
                     fake.run(CODE, { MOCK_CUDA_DEVICES = 2 }))
  end)

  it("refuse a launch where the hardware has none", function()
    local output = fake.run(CODE, { MOCK_CUDA_DEVICES = 2, MOCK_CUDA_PEERS = 0 })
    assert.is_truthy(output:find("kernel 'fill', parameter 1 'y' is float *: array<f32>[4] cuda:0 is not on cuda:1; "
      .. "make it there, or copy it with copy()", 1, true), output)
    assert.is_truthy(output:find("cuda:1\tfalse\tfalse\t1\tcuda:0\nfalse", 1, true), output)
  end)

  -- It was silent: a script that copies through the host is many times slower, and nothing said why.
  it("say once that copies go through the host", function()
    local copies <const> = [[
      local a, b = mw.device "cuda:0", mw.device "cuda:1"
      local x, y = a:zeros("f32", 4), b:zeros("f32", 4)
      for _ = 1, 3 do
        y:copy(x)
        x:copy(y, { stream = b:stream() })
      end
    ]]
    local words <const> = "moonwarp: warning: cuda:0 and cuda:1 do not reach each other's memory: copies between them "
      .. "go through the host's\n"
    assert.are.equal(words, fake.run(copies, { MOCK_CUDA_DEVICES = 2, MOCK_CUDA_PEERS = 0 }))
    assert.are.equal("", fake.run(copies, { MOCK_CUDA_DEVICES = 2 }))
  end)
end)
