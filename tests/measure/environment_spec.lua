-- SPDX-License-Identifier: MIT
--
-- What a measurement was made on: the machine, the script's revision, a device's state; NVML over
-- the fake one, absent and failing too.

local support = require "tests.support"
local environment = require "moonwarp.measure.environment"
local fake = require "tests.support.fake"
local mw = support.mw

describe("the environment", function()
  it("says what and when, and holds only plain values", function()
    local all = environment.collect(mw.device "cpu")
    assert.is_truthy(all.date:find "^%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%dZ$")
    assert.are.equal(mw.version, all.moonwarp)
    assert.are.equal("cpu", all.device.id)
    assert.is_true(all.machine.cores >= 1 and all.machine.memory > 1 << 20)
    assert.are.equal("string", type(all.machine.kernel))
    local function check(value, name)
      if type(value) ~= "table" then
        assert.is_truthy(({ string = 1, number = 1, boolean = 1 })[type(value)], name)
        return
      end
      for key, inner in pairs(value) do check(inner, key) end
    end
    check(all, "all")
  end)

  it("has no name of the machine in it", function()
    local pipe = io.popen "uname -n"
    local host = pipe:read "l"
    pipe:close()
    local machine = environment.machine()
    for _, value in pairs(machine) do
      assert.is_nil(#host > 3 and tostring(value):find(host, 1, true) or nil)
    end
  end)

  it("does without a device", function()
    assert.is_nil(environment.collect().device)
  end)

  it("knows a folder's revision, and whether it was changed", function()
    if not os.execute "git --version >/dev/null 2>&1" then return end
    support.with_folder(function(folder)
      assert.is_nil(environment.revision(folder .. "/absent"))
      local git = ("cd '%s' && git -c user.name=a -c user.email=a@b "):format(folder)
      support.write(folder .. "/f", "1")
      assert(os.execute(("cd '%s' && git init -q && git add f && %s commit -qm x"):format(folder, git)))
      local clean = environment.revision(folder)
      assert.is_truthy(clean.revision:find "^%x+$")
      assert.is_false(clean.dirty)
      os.execute(("mkdir '%s/sub'"):format(folder))
      support.write(folder .. "/f", "2")
      local dirty = environment.revision(folder .. "/sub")
      assert.are.equal(clean.revision, dirty.revision)
      assert.is_true(dirty.dirty)
    end)
  end)

  it("reports how busy the machine was", function()
    local dev = mw.device "cpu"
    local over = environment.watch(dev)
    local stop = support.core.clock() + 0.3
    repeat until support.core.clock() >= stop
    local state, others = over()
    assert.are.equal("table", type(state.before))
    assert.are.equal("table", type(state.after))
    assert.is_true(others == nil or others >= 0 and others <= 1)
    assert.is_nil((environment.watch(nil)()))
  end)
end)

describe("mw.environment", function()
  it("takes a device or nothing", function()
    support.fails(function() mw.environment(5) end,
      "mw.environment: a device is wanted, got number; as in mw.environment(mw.device())")
  end)
end)

describe("a device's state", function()
  it("is plausible on the CPU device", function()
    local state = mw.device "cpu":state()
    assert.is_true(state.load == nil or state.load >= 0)
    assert.is_true(state.clock == nil or state.clock > 1e7)
    assert.is_nil(state.power)
    assert.is_nil(state.reasons)
  end)

  if not fake.is_possible() then return end

  it("is NVML's on a GPU", function()
    local output = fake.run([[
      local s = mw.device "cuda:0":state()
      print(s.clock, s.clock_max, s.memory_clock, s.temperature, s.power, s.power_limit, s.utilisation)
      print(s.driver, joined(s.reasons), s.load, s.governor)
    ]], { MOCK_NVML_REASONS = "0x64" })
    assert.are.equal("1980000000.0\t1980000000.0\t3201000000.0\t41.0\t123.456\t700.0\t0.75\n"
      .. "580.65.06\tpower cap, thermal\tnil\tnil\n", output)
  end)

  it("counts energy, of which a call's is what exceeds that without work", function()
    local output = fake.run([[
      local dev = mw.device "cuda:0"
      local a = dev:zeros("f32", 4)
      local t = mw.bench(function() a:fill(1) end, { samples = 2, energy = true, device = dev })
      local e = t.energy -- each window has one thousand joules
      local function is_near(a, b) return math.abs(a - b) < 1e-6 end
      print(is_near(e.power * e.seconds, 1000), e.idle_power > 0 and e.idle_power <= 1000, math.type(e.calls))
      print(is_near(e.joules * e.calls, 1000 - e.idle_power * e.seconds))
    ]])
    assert.are.equal("true\ttrue\tinteger\ntrue\n", output)
    output = fake.run([[
      local t = mw.bench(function() end, { samples = 2, energy = true, device = mw.device "cuda:0" })
      for _, one in ipairs(t.warnings) do print(one.cause) end
    ]], { MOCK_NVML_FAIL = "nvmlDeviceGetTotalEnergyConsumption" })
    assert.is_truthy(output:find("its energy is not measured: the device has no counter of energy", 1, true), output)
  end)

  it("is found by the place on the bus if the UUID is not known", function()
    local code = [[ print(mw.device "cuda:1":state().clock) ]]
    assert.are.equal("1979000000.0\n", fake.run(code, { MOCK_NVML_UUID = 0, MOCK_CUDA_DEVICES = 2 }))
  end)

  it("lacks what NVML does not report", function()
    local output = fake.run([[
      local s = mw.device "cuda:0":state()
      print(s.clock, s.clock_max, s.power, s.temperature, s.reasons)
    ]], { MOCK_NVML_FAIL = "nvmlDeviceGetClockInfo,nvmlDeviceGetPowerUsage,"
      .. "nvmlDeviceGetCurrentClocksThrottleReasons" })
    assert.are.equal("nil\t1980000000.0\tnil\t41.0\tnil\n", output)
  end)

  it("is empty without NVML", function()
    local code = [[ print(next(mw.device "cuda:0":state())) ]]
    assert.are.equal("nil\n", fake.run(code, { MOONWARP_LIBNVML = "/nowhere/libnvidia-ml.so.1" }))
    assert.are.equal("nil\n", fake.run(code, { MOCK_NVML_FAIL = "nvmlInit_v2" }))
  end)
end)
