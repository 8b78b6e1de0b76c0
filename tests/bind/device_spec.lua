-- SPDX-License-Identifier: MIT
--
-- Devices: listing, opening, what they say of themselves, closing.

local support = require "tests.support"
local mw = support.mw
local fails, fails_as, fails_with = support.fails, support.fails_as, support.fails_with

describe("mw.devices", function()
  it("lists the CPU device and says why each other one is or is not usable", function()
    local seen = {}
    for _, entry in ipairs(mw.devices()) do
      assert.is_boolean(entry.usable)
      assert.is_string(entry.id)
      assert.is_string(entry.reason)
      if not entry.usable then assert.is_true(#entry.reason > 0) end
      seen[entry.id:match "^%a+"] = entry
    end
    assert.is_truthy(seen.cpu)
    assert.is_truthy(seen.cuda)
  end)

  it("rejects arguments", function()
    fails(function() mw.devices(1) end, "'devices' takes no arguments, got 1")
  end)
end)

describe("mw.device", function()
  it("gives the same handle for the same device", function()
    local cpu = mw.device "cpu"
    assert.are.equal(cpu, mw.device "cpu")
    assert.are.equal("cpu", cpu:id())
    assert.are.equal("device", mw.type(cpu))
  end)

  it("opens a usable one without an id", function()
    local dev = mw.device()
    assert.is_false(dev:is_offline())
  end)

  it("names what there is when the id is unknown", function()
    local problem = fails(function() mw.device "gpu" end,
      "no device 'gpu': cuda, cuda:N, cuda:sm_NN (offline) or cpu expected")
    assert.are.equal("no_device", problem.status)
    fails(function() mw.device "" end,
      "no device '': cuda, cuda:N, cuda:sm_NN (offline) or cpu expected")
  end)

  it("says which number does not exist", function()
    fails_as("no_device", function() mw.device "cpu:1025" end, "cpu:1025")
    fails_as("no_device", function() mw.device "cuda:99" end, "cuda")
  end)

  it("rejects what is not an id", function()
    fails(function() mw.device {} end, "bad argument #1 to 'device' (string expected, got table)")
  end)
end)

describe("mw.type", function()
  it("is nil for foreign values", function()
    for _, value in ipairs { 1, "array", true, {}, print, io.stdout, coroutine.create(print) } do
      assert.is_nil(mw.type(value))
    end
    assert.is_nil(mw.type(nil))
  end)
end)

support.each_device("a device", function(dev, id)
  it("has properties in the units that are documented", function()
    local p = dev:properties()
    assert.are.equal(id, p.id)
    assert.are.equal(dev:name(), p.name)
    assert.are.equal("string", type(p.arch))
    assert.are.equal(32, p.warp_size)
    assert.are.equal(1024, p.max_threads_per_block)
    assert.are.equal(3, #p.max_block)
    assert.are.equal(3, #p.max_grid)
    assert.is_true(p.max_grid[1] >= 2 ^ 31 - 1)
    for _, name in ipairs { "multiprocessors", "max_threads_per_multiprocessor", "shared_per_block",
                            "shared_per_block_optin", "constant_bytes", "memory_total", "cache_bytes" } do
      assert.are.equal("integer", math.type(p[name]), name)
      assert.is_true(p[name] > 0, name)
    end
    for _, name in ipairs { "cooperative", "managed", "ecc", "offline", "pageable_access", "queue_gate" } do
      assert.is_boolean(p[name])
    end
    assert.is_false(p.offline)
  end)

  it("reports its free and total memory", function()
    local free, total = dev:memory()
    assert.is_true(free > 0 and free <= total)
    assert.are.equal(dev:properties().memory_total, total)
  end)

  it("knows its peak bandwidth, or nil", function()
    local peak = dev:peak_bandwidth()
    assert.is_true(peak == nil or peak > 1e9)
    assert.are.equal(peak, dev:properties().peak_bandwidth)
  end)

  it("gives its range of priorities", function()
    local least, greatest = dev:priorities()
    assert.is_true(greatest <= least)
  end)

  it("synchronises with nothing to do", function() dev:synchronize() end)

  it("writes itself", function()
    assert.are.equal(("device %s (%s)"):format(id, dev:name()), tostring(dev))
  end)

  it("has only the methods it has", function()
    fails_with(function() return dev.nonsense end, "a device has no 'nonsense'; it has array, ")
    fails_with(function() dev:zero("f32", 1) end, "a device has no 'zero'; did you mean 'zeros'?")
  end)

  it("is asked with a colon", function()
    fails(function() dev.id() end,
      "bad argument #1 to 'id' (device expected, got no value; methods take a colon, as in device:id(...))")
    fails(function() dev.memory(io.stdout) end,
      "bad argument #1 to 'memory' (device expected, got FILE*; methods take a colon, as in device:memory(...))")
  end)

  it("is closed once, and opens again", function()
    local output = support.child_passes(([[
      local mw = require "moonwarp"
      local id = %q
      local dev = mw.device(id)
      local kept = dev:array("i32", { 1, 2, 3 })
      dev:close()
      print(mw.type(dev), tostring(dev))
      print(select(2, pcall(dev.id, dev)).text)
      print((tostring(select(2, pcall(dev.close, dev))):gsub("^.*:%%d+: ", "")))
      print(kept:get(2), kept:device() ~= dev)
      local again = mw.device(id)
      print(again == dev, #again:zeros("f32", 4))
      local scoped
      do
        local other <close> = mw.device(id)
        scoped = other
      end
      print(mw.type(scoped))
    ]]):format(id))
    assert.are.equal(table.concat({
      "closed device\tdevice (closed)",
      "bad argument #1 to 'id' (attempt to use a closed device)",
      "calling 'close' on bad self (attempt to use a closed device)",
      "2\ttrue",
      "false\t4",
      "closed device\n",
    }, "\n"), output)
  end)
end)

describe("an offline device", function()
  if not support.has_nvrtc() then
    pending("needs NVRTC")
    return
  end
  local dev = mw.device "cuda:sm_90"

  it("knows the architecture it stands for", function()
    local p = dev:properties()
    assert.is_true(dev:is_offline())
    assert.are.equal("9.0", p.compute_capability)
    assert.are.equal("sm_90", p.arch)
    assert.are.equal("cuda:sm_90", dev:id())
  end)

  it("has no memory, streams, events or graphs", function()
    local problem = fails(function() dev:zeros("f32", 4) end,
      "cuda:sm_90 has no memory: it only compiles kernels and reports their occupancy")
    assert.are.equal("unsupported", problem.status)
    fails(function() dev:stream() end,
      "cuda:sm_90 has no streams: it only compiles kernels and reports their occupancy")
    fails(function() dev:default_stream() end,
      "cuda:sm_90 has no streams: it only compiles kernels and reports their occupancy")
    fails(function() dev:event() end,
      "cuda:sm_90 has no events: it only compiles kernels and reports their occupancy")
    fails(function() dev:capture(print) end,
      "cuda:sm_90 has no graphs: it only compiles kernels and reports their occupancy")
  end)

  it("rejects architectures that do not exist", function()
    fails_with(function() mw.device "cuda:sm_12" end, "sm_12")
    fails_with(function() mw.device "cuda:sm_" end, "sm_")
  end)
end)

describe("the module", function()
  it("survives being required anew after package.loaded was cleared", function()
    local output = support.child_passes [[
      local mw = require "moonwarp"
      local dev = mw.device "cpu"
      local a = dev:array("i32", { 1, 2 })
      for _, name in ipairs { "moonwarp", "moonwarp.core" } do package.loaded[name] = nil end
      local again = require "moonwarp"
      print(again.type(a), again.device "cpu" == dev, a:get(2))
      a:close()
      print(mw.type(a))
      again.device("cpu"):close()
    ]]
    assert.are.equal("array\ttrue\t2\nclosed array\n", output)
  end)

  it("keeps what was made in a coroutine that is forgotten", function()
    local output = support.child_passes [[
      local mw = require "moonwarp"
      local thread = coroutine.wrap(function()
        local a = mw.device("cpu"):array("i32", { 7 })
        coroutine.yield(a)
        error "never resumed"
      end)
      local a = thread()
      thread = nil
      collectgarbage()
      print(a:get(1))
    ]]
    assert.are.equal("7\n", output)
  end)
end)
