-- SPDX-License-Identifier: MIT
--
-- The CUDA backend over the fake driver of tests/mock, in child processes: no GPU is needed. NVRTC is needed for
-- modules.

local fake = require "tests.support.fake"
local support = require "tests.support"

local PRELUDE = [[
  local function failure(fn)
    local ok, problem = pcall(fn)
    assert(not ok, "an error was expected")
    return (tostring(problem):gsub("^[^\n:]+:%d+: ", "")), problem.status
  end
  local function fails(fn) return (failure(fn)) end
  local SOURCE = "__global__ void fill(float *x, float value, int n) { x[threadIdx.x] = value; }\n"
    .. "__global__ void copy(double *to, const double *from, int n) { to[threadIdx.x] = from[threadIdx.x]; }\n"
    .. "__global__ void other(int *x) { x[0] = 1; }\n__device__ int counter;\n"
]]

local function on_mock(code, env) return fake.run(PRELUDE .. code, env) end

if not fake.is_possible() then
  pending("the fake driver needs a C compiler and its sources")
  return
end

describe("the CUDA device over a fake driver", function()
  it("is found, preferred and described", function()
    local output = on_mock([[
      for _, entry in ipairs(mw.devices()) do print(entry.id, entry.usable) end
      local dev = mw.device()
      print(dev:id(), mw.device "cuda" == dev, mw.device "cuda:0" == dev, mw.device "cuda:1" == dev)
      print(dev:is_offline(), dev:properties().warp_size, math.type(dev:memory()))
      dev:synchronize()
    ]], { MOCK_CUDA_DEVICES = 2, MOONWARP_DEVICE = "cuda:0" })
    assert.are.equal("cuda:0\ttrue\ncuda:1\ttrue\ncpu\ttrue\ncuda:0\ttrue\ttrue\tfalse\nfalse\t32\tinteger\n", output)
  end)

  it("launches the kernels of reductions with what they take", function()
    local output = on_mock [[
      local dev = mw.device()
      for _, dtype in ipairs { "f32", "u8", "f16" } do
        local x = dev:zeros(dtype, 5000)
        for _, op in ipairs { "sum", "min", "max", "norm" } do assert(tonumber(dev[op](dev, x))) end
        assert(tonumber(dev:dot(x, x:view(1, 5000))))
      end
      print "launched"
    ]]
    assert.are.equal("launched\n", output)
  end)

  it("holds arrays, moves and fills them", function()
    local output = on_mock [[
      local dev = mw.device "cuda:0"
      for _, maker in ipairs { "array", "pinned", "pageable", "managed" } do
        local a = dev[maker](dev, "i32", { 1, 2, 3, 4 })
        local b = dev:zeros("i32", 4)
        b:copy(a, { from = 2, to = 1, count = 3 })
        print(maker, table.concat(b:totable(), " "), tostring(a))
        a:close()
        b:close()
      end
      local s = dev:stream()
      local p = dev:pinned("f64", { 1.5, 2.5 })
      local d = dev:zeros("f64", 2)
      d:copy(p, { stream = s })
      s:synchronize()
      print(table.concat(d:totable(), " "), dev:array("i16", 2):get(1))
      local cpu = mw.device "cpu"
      local c = cpu:zeros("f64", 2):copy(d)
      print(table.concat(c:totable(), " "))
      print(fails(function() dev:empty("u8", 1 << 45) end):match "wanted 32.0 TiB, free")
    ]]
    assert.are.equal(table.concat({
      "array\t2 3 4 0\tarray<i32>[4] cuda:0", "pinned\t2 3 4 0\tarray<i32>[4] cuda:0, pinned",
      "pageable\t2 3 4 0\tarray<i32>[4] cuda:0, pageable", "managed\t2 3 4 0\tarray<i32>[4] cuda:0, managed",
      "1.5 2.5\t-1", "1.5 2.5", "wanted 32.0 TiB, free", "",
    }, "\n"), output)
  end)

  it("makes textures and surfaces as CUDA describes them, and gives them back", function()
    local output = on_mock([[
      local dev = mw.device "cuda:0"
      local a, line = dev:array("f32", { { 1, 2, 3 }, { 4, 5, 6 } }), dev:array("u8", 64)
      local t = dev:texture(a, { filter = "linear", normalised = true, address = { "wrap", "mirror" } })
      dev:texture(line):close()
      dev:texture(line:reshape(32, 2), { kind = "pitched", read = "normalised float", filter = "linear" }):close()
      dev:texture(dev:zeros("f16", 4, 4, 4, 6), { components = 4, kind = "cube" }):close()
      dev:texture(dev:zeros("i16", 2, 8, 3), { components = 2, kind = "1d layered", address = "border" }):close()
      local s = dev:surface(a)
      a:upload { 0, 0, 0, 0, 0, 0 }
      s:copy_to(a)
      print(table.concat(a:reshape(6):totable(), " "))
      local graph = dev:capture(function() s:copy_from(a) end)
      for _, object in ipairs { a, t, s, line } do object:close() end
      graph:close()
    ]], { MOCK_CUDA_TELL = 1 })
    assert.are.equal(table.concat({
      "array 3 2 0 format 32 x 1 flags 8", "texture 0 filter 1 flags 3 address 0 2",
      "texture 2 filter 0 flags 1 address 1 1", "texture 3 filter 1 flags 0 address 1 1",
      "array 4 4 6 format 16 x 4 flags 4", "texture 0 filter 0 flags 3 address 1 1",
      "array 8 0 3 format 9 x 2 flags 1", "texture 0 filter 0 flags 1 address 3 1",
      "array 3 2 0 format 32 x 1 flags 10", "1.0 2.0 3.0 4.0 5.0 6.0", "",
    }, "\n"), output)
  end)

  it("knows the parameters that take them by the source, since in a mangled name they are numbers", function()
    if not support.has_nvrtc() then
      pending "needs NVRTC"
      return
    end
    local output = on_mock [[
      local dev = mw.device "cuda:0"
      local m = dev:module { source = "__global__ void two(cudaTextureObject_t from, cudaSurfaceObject_t to) {}" }
      local a = dev:zeros("f32", 4, 4)
      print(m.two:signature(), joined(select(2, m.two:parameters())))
      print((fails(function() m.two:launch(1, 1, a, a) end):gsub(" expected.*", "")))
      m.two:launch(1, 1, dev:texture(a), dev:surface(a))
    ]]
    assert.are.equal("two(cudaTextureObject_t from, cudaSurfaceObject_t to)\ttexture, surface\n" ..
      "kernel 'two', parameter 1 'from' is cudaTextureObject_t: a texture of cuda:0\n", output)
  end)

  it("times events, queues callbacks and keeps streams apart", function()
    local output = on_mock [[
      local dev = mw.device "cuda:0"
      local s <close> = dev:stream { blocking = false }
      local a, b = s:record(), s:record()
      b:synchronize()
      print(b:since(a) >= 0, b:query(), s:query())
      local ran
      s:callback(function() ran = true end)
      s:synchronize()
      print(ran)
      s:wait(a)
      print(fails(function() mw.device "cpu":event():record(s) end))
      local other = mw.device "cpu":default_stream():record()
      print(fails(function() s:wait(other) end))
      print(fails(function() mw.device "cpu":stream():wait(a) end))
    ]]
    local wait = "wait: the event is of another kind of device; synchronize it instead\n"
    assert.are.equal("true\ttrue\ttrue\ntrue\n"
      .. "bad argument #1 to 'record' (a stream of cpu expected, got one of cuda:0)\n" .. wait .. wait, output)
  end)

  it("has the driver's per-thread default stream, which is neither made nor destroyed", function()
    if not support.has_nvrtc() then
      pending "needs NVRTC"
      return
    end
    local output = on_mock [[
      local dev = mw.device "cuda:0"
      local m, x = dev:module { source = SOURCE }, dev:zeros("f32", 2)
      local own = dev:default_stream "per-thread"
      local fill = m.fill:prepare { grid = 1, block = 2, stream = own }
      fill(x, 1, 2)
      own:synchronize()
      print(own, own == dev:default_stream "per-thread", own:query(), x:get(2))
      local graph = dev:capture(function(main)
        own:wait(main:record())
        fill(x, 2, 2)
        main:wait(own:record())
      end)
      print(x:get(2), #graph:nodes())
      graph:launch()
      print(x:get(2))
      own:close()
      x:close()
      print(dev:default_stream "per-thread":query())
    ]]
    assert.are.equal("per-thread default stream cuda:0\tfalse\ttrue\t1.0\n1.0\t1\n2.0\ntrue\n", output)
  end)

  it("never hangs on queries of work that does not end", function()
    local output = on_mock([[
      local dev = mw.device "cuda:0"
      local s = dev:stream()
      local e = s:record()
      print(s:query(), e:query())
      os.exit(0, false)
    ]], { MOCK_CUDA_HANG = 1, MOCK_CUDA_LEAKS = 0 })
    assert.are.equal("false\tfalse\n", output)
  end)

  it("says why there is no device", function()
    local output = on_mock([[
      for _, entry in ipairs(mw.devices()) do print(entry.id, entry.usable, #entry.reason > 0) end
      local message, status = failure(function() mw.device "cuda" end)
      print(#message > 10, status)
    ]], { MOCK_CUDA_DEVICES = 0 })
    assert.are.equal("cuda\tfalse\ttrue\ncpu\ttrue\ttrue\ntrue\tno_device\n", output)
    on_mock([[
      local reason = mw.devices()[1].reason
      assert(reason:find("/nowhere/libcuda.so", 1, true), reason)
    ]], { MOONWARP_LIBCUDA = "/nowhere/libcuda.so" })
  end)

  it("names the call, the code and its meaning when the driver fails", function()
    local output = on_mock([[
      local dev = mw.device "cuda:0"
      local message, status = failure(function() dev:stream() end)
      print(message .. "\n" .. status)
    ]], { MOCK_CUDA_FAIL = "cuStreamCreateWithPriority:801:1" })
    assert.is_truthy(output:find("cuStreamCreateWithPriority", 1, true), output)
    assert.is_truthy(output:find("(801): ", 1, true), output)
    assert.is_truthy(output:find("\ndriver\n", 1, true) or output:find("\nunsupported\n", 1, true), output)
  end)

  it("collects garbage and tries again when memory is short", function()
    local output = on_mock([[
      local dev = mw.device "cuda:0"
      for _ = 1, 40 do dev:empty("u8", 10 << 20) end
      print "enough"
    ]], { MOCK_CUDA_MEMORY = 1 << 26 })
    assert.are.equal("enough\n", output)
  end)

  if not support.has_nvrtc() then return end

  it("compiles and launches with checked arguments", function()
    local output = on_mock [[
      local dev = mw.device "cuda:0"
      local m = dev:module { source = SOURCE }
      print(table.concat(m:kernels(), " "), m.fill:signature())
      local x = dev:zeros("f32", 4)
      m.fill:launch(1, 4, x, 2.5, 3)
      dev:synchronize()
      print(table.concat(x:totable(), " "))
      print(fails(function() m.fill:launch(1, 4, x, "a", 3) end))
      print(fails(function() m.fill:launch(1, 4, dev:pageable("f32", 4), 1, 3) end):match "is pageable host memory")
      local d, r = dev:zeros("f64", 2), dev:array("f64", { 7, 8 }):readonly()
      m.copy:launch(1, 2, d, r, 2)
      print(table.concat(d:totable(), " "), fails(function() m.copy:launch(1, 2, r, d, 2) end):match "read%-only view")
      print(m:variable "counter":get(1), (m.fill:engine()))
    ]]
    assert.are.equal(table.concat({
      "fill copy other\tfill(float *x, float value, int n)", "2.5 2.5 2.5 0.0",
      "kernel 'fill', parameter 2 'value' is float: a number, got string 'a'", "is pageable host memory",
      "7.0 8.0\tread-only view", "0\tcuda", "",
    }, "\n"), output)
  end)

  it("captures, updates and replays graphs", function()
    local output = on_mock [[
      local dev = mw.device "cuda:0"
      local m = dev:module { source = SOURCE }
      local x, y = dev:zeros("f32", 2), dev:zeros("f32", 2)
      local g = dev:capture(function()
        m.fill:launch(1, 2, x, 1.5, 2)
        m.fill:launch(1, 2, y, 2.5, 2)
      end)
      print(x:get(1), #g:nodes(), g:nodes()[2].kernel)
      g:launch()
      dev:synchronize()
      print(x:get(1), y:get(2))
      g:update(2, y, 9, 1)
      y:fill(0)
      g:launch()
      dev:synchronize()
      print(y:get(1), y:get(2), #g:dot() > 10)
      pcall(dev.capture, dev, function(s) s:close() end)
      print(pcall(dev.capture, dev, function() error("mine", 0) end))
      dev:capture(function() end):launch()
    ]]
    assert.are.equal("0.0\t2\tfill\n1.5\t2.5\n9.0\t0.0\ttrue\nfalse\tmine\n", output)
  end)

  it("counts launches of joined streams as nodes, and no others", function()
    local output = on_mock [[
      local dev = mw.device "cuda:0"
      local m = dev:module { source = SOURCE }
      local x = dev:zeros("f32", 2)
      local joined, apart = dev:stream { blocking = false }, dev:stream { blocking = false }
      local fork, join = dev:event { timing = false }, dev:event { timing = false }
      local g = dev:capture(function(s)
        m.fill:launch(1, 2, x, 1, 2)
        s:record(fork)
        joined:wait(fork)
        m.fill:prepare { grid = 1, block = 2, stream = joined }(x, 2, 2)
        joined:record(join)
        s:wait(join)
        m.fill:prepare { grid = 1, block = 2, stream = apart }(x, 3, 1)
      end)
      print(#g:nodes(), x:get(1))
    ]]
    assert.are.equal("2\t3.0\n", output)
  end)

  it("tells the driver of a launch's hints, where they change", function()
    local output = on_mock([[
      local dev = mw.device "cuda:0"
      local m, x = dev:module { source = SOURCE }, dev:zeros("f32", 4)
      local function launch(more)
        more.grid, more.block = 1, 4
        m.fill:prepare(more)(x, 1, 4)
        print "launched"
      end
      launch {}
      launch { carveout = 50 }
      launch { carveout = 50, cache = "l1" }
      m.fill:launch(1, 4, x, 1, 4)
      launch { cache = "shared" }
      m.fill:occupancy(4)
    ]], { MOCK_CUDA_TELL = 1 })
    assert.are.equal("launched\n_Z4fillPffi: carveout 50\nlaunched\n_Z4fillPffi: cache 2\nlaunched\n"
      .. "_Z4fillPffi: carveout -1\n_Z4fillPffi: cache 0\n_Z4fillPffi: cache 1\nlaunched\n_Z4fillPffi: cache 0\n",
      output)
  end)

  it("launches without allocating", function()
    local output = on_mock [[
      local dev = mw.device "cuda:0"
      local m = dev:module { source = SOURCE }
      local x = dev:zeros("f32", 4)
      local go = m.fill:prepare { grid = 1, block = 4 }
      go(x, 1, 4)
      collectgarbage()
      collectgarbage "stop"
      local lua_before, core_before = core.allocations()
      for _ = 1, 10000 do go(x, 2.0, 4) end
      local lua_after, core_after = core.allocations()
      print(lua_after - lua_before <= 2, core_after - core_before)
    ]]
    assert.are.equal("true\t0\n", output)
  end)

  it("is lost for the process after an illegal address", function()
    local output = on_mock([[
      local dev = mw.device "cuda:0"
      local m = dev:module { source = SOURCE }
      local x = dev:zeros("f32", 4)
      m.fill:launch(1, 4, x, 1, 4)
      local message, status = failure(function() m.fill:launch(1, 4, x, 1, 4) dev:synchronize() end)
      print(status, message:find("lost", 1, true) ~= nil or message)
      print(select(2, failure(function() m.fill:launch(1, 4, x, 1, 4) end)))
      print(select(2, failure(function() dev:zeros("f32", 4) end)))
      x:close()
      m:close()
    ]], { MOCK_CUDA_FAIL = "cuLaunchKernel:700:2", MOCK_CUDA_LEAKS = 0 })
    assert.are.equal("lost\ttrue\nlost\nlost\n", output)
  end)

  it("gives everything back", function()
    local output = on_mock [[
      local dev = mw.device "cuda:0"
      for _ = 1, 5 do
        local m, s, x = dev:module { source = SOURCE }, dev:stream(), dev:zeros("f32", 8)
        m.fill:prepare { grid = 1, block = 8, stream = s }(x, 1, 8)
        local g = dev:capture(function() m.fill:launch(1, 8, x, 1, 8) end)
        g:launch(s)
        s:record()
      end
    ]]
    assert.are.equal("", output)
  end)
end)
