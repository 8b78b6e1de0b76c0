-- SPDX-License-Identifier: MIT
--
-- Where the pages of arrays are: prefetch, advice and registered host memory.

local fake = require "tests.support.fake"
local support = require "tests.support"
local fails, fails_as = support.fails, support.fails_as

local function shown(dev, space)
  return ("array<i32>[4] %s%s"):format(dev:id(), space and ", " .. space or "")
end

support.each_device("pages", function(dev, id, runs)
  -- A GPU may have neither; on the CPU device and the null device all of it works.
  local has = dev:properties()
  local moves = has.concurrent_managed_access and it or pending

  moves("of managed arrays are prefetched, whole and in part, on any stream", function()
    local a <close> = dev:managed("i32", { 1, 2, 3, 4 })
    local part <close> = a:view(2, 2)
    local stream <close> = dev:stream()
    assert.are.equal(a, a:prefetch())
    assert.are.equal(a, a:prefetch("host"))
    assert.are.equal(part, part:prefetch("device", { stream = stream }))
    stream:synchronize()
    assert.are.same({ 1, 2, 3, 4 }, a:totable())
  end)

  moves("take advice, and give it back", function()
    local a <close> = dev:managed("i32", { 1, 2, 3, 4 })
    assert.are.equal(a, a:advise { read_mostly = true, preferred_location = "host", accessed_by = "device" })
    assert.are.equal(a, a:advise { read_mostly = false, preferred_location = false, accessed_by = false })
    assert.are.equal(a, a:advise {})
    assert.are.same({ 1, 2, 3, 4 }, a:totable())
  end)

  moves("are not prefetched while a graph is captured", function()
    local a <close> = dev:managed("i32", 4)
    fails_as("invalid", function() dev:capture(function() a:prefetch() end) end,
      "a stream is being captured: you can prefetch an array after the capture has ended")
  end)

  it("are those of managed arrays", function()
    for maker, space in pairs { array = false, pinned = "pinned", pageable = "pageable" } do
      local a <close> = dev[maker](dev, "i32", 4)
      fails(function() a:prefetch() end, shown(dev, space)
        .. " is not a managed array, which prefetch needs: dev:managed makes one")
      fails(function() a:advise { read_mostly = true } end, shown(dev, space)
        .. " is not a managed array, which advise needs: dev:managed makes one")
    end
  end)

  it("go to the device or to the host", function()
    local a <close> = dev:managed("i32", 4)
    fails(function() a:prefetch("gpu") end,
      [[bad argument #1 to 'prefetch' ("device" or "host" expected, got string 'gpu')]])
    fails(function() a:prefetch("host", { strem = 1 }) end,
      "bad argument #2 to 'prefetch' (unknown option 'strem'; did you mean 'stream'?)")
    fails(function() a:advise { accessed_by = true } end,
      [[bad argument #1 to 'advise' (option 'accessed_by' is "device", "host" or false, got true)]])
    fails(function() a:advise { preferred_location = "gpu" } end,
      [[bad argument #1 to 'advise' (option 'preferred_location' is "device", "host" or false, got string 'gpu')]])
    fails(function() a:advise { read_mostly = "yes" } end,
      "bad argument #1 to 'advise' (option 'read_mostly' is true or false, got string 'yes')")
    fails(function() a:advise "read mostly" end, "bad argument #1 to 'advise' (options expected, such as "
      .. "{ read_mostly = ... }, got string 'read mostly')")
    support.fails_with(function() a:advise() end, "options expected, such as { read_mostly = ... }, got no value")
    a:close()
    support.fails_with(function() a:prefetch() end, "attempt to use a closed array")
  end)

  it("of a stream of another device", function()
    if #support.devices() < 2 then return end
    local other = support.devices()[1] == dev and support.devices()[2] or support.devices()[1]
    local a <close> = dev:managed("i32", 4)
    local stream <close> = other:stream()
    fails_as("invalid", function() a:prefetch("host", { stream = stream }) end,
      ("option 'stream' is a stream of %s, got one of %s"):format(id, other:id()))
  end)

  local registers = has.host_register and it or pending
  registers("of a pageable array are pinned, with all views of it", function()
    local a <close> = dev:pageable("i32", { 1, 2, 3, 4 })
    local part <close> = a:view(2, 2)
    assert.are.equal(a, a:register())
    assert.are.equal("pinned", part:space())
    local b <close> = dev:zeros("i32", 4):copy(a)
    assert.are.same({ 1, 2, 3, 4 }, b:totable())
    fails(function() part:register() end,
      ("array<i32>[2] %s, pinned is not a pageable array, which register needs: dev:pageable makes one"):format(id))
  end)

  local kernels = has.host_register and runs or pending
  kernels("of a registered array are reached by kernels", function()
    local module <close> = dev:module { source = "__global__ void twice(int *x) { x[threadIdx.x] *= 2; }" }
    local a <close> = dev:pageable("i32", { 1, 2, 3, 4 }):register()
    module.twice:launch(1, 4, a)
    dev:synchronize()
    assert.are.same({ 2, 4, 6, 8 }, a:totable())
  end)

  registers("are not registered while a graph is captured", function()
    local a <close> = dev:pageable("i32", 4)
    fails_as("invalid", function() dev:capture(function() a:register() end) end,
      "a stream is being captured: you can register an array after the capture has ended")
  end)
end)

local has_cuda = support.core.device_word "cuda" and fake.is_possible()
local over_mock = has_cuda and describe or pending

over_mock("the CUDA device's driver", function()
  it("is told which bytes go where, and what is taken back", function()
    local output = fake.run([[
      local dev = mw.device "cuda:0"
      local a = dev:managed("i32", 100)
      a:prefetch()
      a:view(11, 50):prefetch("host", { stream = dev:stream() })
      a:advise { read_mostly = true }
      a:advise { preferred_location = "device", accessed_by = "host" }
      a:advise { read_mostly = false, preferred_location = false, accessed_by = false }
    ]], { MOCK_CUDA_TELL = 1 })
    assert.are.equal([[
prefetch 400 bytes to 0 in a default stream
prefetch 200 bytes to -1 in a stream
advice 1 of 400 bytes by 0
advice 3 of 400 bytes by 0
advice 5 of 400 bytes by -1
advice 2 of 400 bytes by 0
advice 4 of 400 bytes by 0
advice 6 of 400 bytes by 0
advice 6 of 400 bytes by -1
]], output)
  end)

  it("registers pageable memory once, and lets it go before it is freed", function()
    local output = fake.run([[
      local dev = mw.device "cuda:0"
      local a = dev:pageable("i32", 100):register()
      local part = a:view(1, 10)
      a:close()
      print(part:space())
      part:close()
    ]], { MOCK_CUDA_TELL = 1 })
    assert.are.equal("register 400 bytes\npinned\nunregister\n", output)
  end)

  it("leaves the array pageable when it fails", function()
    local output = fake.run([[
      local a = mw.device "cuda:0":pageable("i32", { 1, 2, 3, 4 })
      local ok, problem = pcall(a.register, a)
      print(ok, problem.text, a:space(), a:get(4))
    ]], { MOCK_CUDA_FAIL = "cuMemHostRegister_v2:801:1" })
    assert.are.equal("false\tcuMemHostRegister: CUDA_ERROR_801 (801): a failure of the mock\tpageable\t4\n", output)
  end)

  it("may have no concurrent managed access", function()
    local output = fake.run([[
      local dev = mw.device "cuda:0"
      print(dev:properties().concurrent_managed_access)
      local a = dev:managed("i32", 100)
      for _, call in ipairs { function() a:prefetch() end, function() a:advise { read_mostly = true } end } do
        local ok, problem = pcall(call)
        print(ok, problem.status, problem.text)
      end
    ]], { MOCK_CUDA_CONCURRENT = 0 })
    assert.are.equal("false\n"
      .. "false\tunsupported\tcuda:0 has no concurrent managed access, which prefetch needs: "
      .. "its driver moves whole arrays at a launch\n"
      .. "false\tunsupported\tcuda:0 has no concurrent managed access, which advise needs: "
      .. "its driver moves whole arrays at a launch\n", output)
  end)
end)
