-- SPDX-License-Identifier: MIT
--
-- Launches: arguments by the kernel's own types, the direct and the prepared form.

local lists = require "moonwarp.base.lists"
local support = require "tests.support"
local mw = support.mw
local fails, fails_as, fails_with = support.fails, support.fails_as, support.fails_with

local BASIC = support.kernel_file "basic.cu"

support.each_device("launches", function(dev, id, runs)
  local m

  before_each(function() m = dev:module(BASIC) end)
  after_each(function() m:close() end)

  runs("run over the whole grid, x first", function()
    local grid, block = { 3, 2, 2 }, { 4, 2, 3 }
    local out <close> = dev:array("i32", 12 * 24)
    m.whereami:launch(grid, block, out)
    local values, at = out:totable(), 0
    for bz = 0, 1 do for by = 0, 1 do for bx = 0, 2 do
      for tz = 0, 2 do for ty = 0, 1 do for tx = 0, 3 do
        at = at + 1
        assert.are.equal(bx + 10 * by + 100 * bz + 1000 * tx + 10000 * ty + 100000 * tz, values[at])
      end end end
    end end end
  end)

  runs("have their vectors by value on 16 bytes", function()
    local wide <close> = dev:module { source = [[
      extern "C" __global__ void four(uint4 *out, uint4 v) { out[blockIdx.x * blockDim.x + threadIdx.x] = v; }
      extern "C" __global__ void two(double2 *out, int k, double2 v) { out[blockIdx.x * blockDim.x + threadIdx.x] = v; }
    ]] }
    local out <close> = dev:zeros("u32", 64)
    local doubles <close> = dev:zeros("f64", 32)
    wide.four:launch(2, 8, out, { 1, 2, 3, 4 })
    wide.two:prepare { grid = 2, block = 8 }(doubles, 0, { 5, 6 })
    assert.are.same({ 1, 2, 3, 4 }, out:view(61, 4):totable())
    assert.are.same({ 5, 6 }, doubles:view(31, 2):totable())
  end)

  runs("are called again and again with other arguments", function()
    local x <close> = dev:array("i32", { 0, 0, 0 })
    local go = m.increment:prepare { grid = 1, block = 32 }
    for _ = 1, 10 do go(x, 3) end
    go(x, 1)
    assert.are.same({ 11, 10, 10 }, x:totable())
    go:grid(2)
    go:block { 1, 1, 1 }
    assert.are.equal(go, go:block(2))
    go(x, 4 - 1)
    assert.are.same({ 12, 11, 11 }, x:totable())
  end)

  runs("change their sizes only where all limits hold", function()
    local go = m.bounded:prepare { grid = 1, block = 64 }
    fails_with(function() go:block(65) end, "kernel 'bounded': block 65x1x1 has 65 threads, this kernel allows 64")
    fails_with(function() go:grid { 1, 0 } end, "grid.y is an integer of at least 1, got 0")
    assert.are.same({ 64, 1, 1 }, go:block())
    assert.are.same({ 1, 1, 1 }, go:grid())
  end)

  runs("take hints about the first-level cache", function()
    local x <close> = dev:array("i32", { 0, 0, 0 })
    for _, cache in ipairs { "none", "shared", "l1", "equal" } do
      m.increment:prepare { grid = 1, block = 32, cache = cache } (x, 3)
      m.increment:prepare { grid = 1, block = 32, cache = cache, carveout = 100 } (x, 3)
    end
    m.increment:prepare { grid = 1, block = 32, carveout = 0 } (x, 2)
    assert.are.same({ 9, 9, 8 }, x:totable())
  end)

  it("reject other hints", function()
    local function prepare(more)
      more.grid, more.block = 1, 32
      return function() m.increment:prepare(more) end
    end
    fails(prepare { cache = "l2" },
      "bad argument #1 to 'prepare' (option 'cache' is none, shared, l1 or equal, got 'l2')")
    fails(prepare { carveout = 101 },
      "bad argument #1 to 'prepare' (option 'carveout' is an integer from 0 to 100, got 101)")
    fails(prepare { carveout = "max" },
      "bad argument #1 to 'prepare' (option 'carveout' is an integer from 0 to 100, got string 'max')")
  end)

  runs("convert numbers of every type", function()
    local out <close> = dev:zeros("f64", 11)
    m.scalars:launch(1, 1, out, -128, -32768, -2147483648, -(1 << 53), 255, 65535, 4294967295, 1 << 52, 0.5, 0.1, true)
    assert.are.same({ -128.0, -32768.0, -2147483648.0, -(2.0 ^ 53), 255.0, 65535.0, 4294967295.0, 2.0 ^ 52, 0.5, 0.1,
                      1.0 }, out:totable())
    m.scalars:launch(1, 1, out, 1.0, 2, 3, 4, 5, 6, 7, 8, 9, 10, false)
    assert.are.same({ 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 0.0 }, out:totable())
  end)

  it("name the parameter a number does not fit", function()
    local out <close> = dev:zeros("f64", 11)
    local good = { out, 1, 2, 3, 4, 5, 6, 7, 8, 9.0, 10.0, true }
    local function with(position, value)
      local args = table.move(good, 1, 12, 1, {})
      args[position] = value
      return function() m.scalars:launch(1, 1, table.unpack(args, 1, 12)) end
    end
    fails(with(2, 128), "kernel 'scalars', parameter 2 'a' is signed char: an integer from -128 to 127, got 128")
    fails(with(3, -32769), "kernel 'scalars', parameter 3 'b' is short: an integer from -32768 to 32767, got -32769")
    fails(with(4, 1.5),
      "kernel 'scalars', parameter 4 'c' is int: an integer from -2147483648 to 2147483647, got 1.5")
    fails(with(5, 2.0 ^ 63), "kernel 'scalars', parameter 5 'd' is long long: "
      .. "an integer from -9223372036854775808 to 9223372036854775807, got 9.2233720368548e+18")
    fails(with(6, -1), "kernel 'scalars', parameter 6 'e' is unsigned char: an integer from 0 to 255, got -1")
    fails(with(8, 1 << 32),
      "kernel 'scalars', parameter 8 'g' is unsigned int: an integer from 0 to 4294967295, got 4294967296")
    fails(with(4, "3"),
      "kernel 'scalars', parameter 4 'c' is int: an integer from -2147483648 to 2147483647, got string '3'")
    fails(with(4, nil),
      "kernel 'scalars', parameter 4 'c' is int: an integer from -2147483648 to 2147483647, got nil")
    fails(with(10, "x"), "kernel 'scalars', parameter 10 'i' is float: a number, got string 'x'")
    fails(with(12, 1), "kernel 'scalars', parameter 12 'k' is bool: true or false, got 1")
    fails_as("invalid", with(4, out), "kernel 'scalars', parameter 4 'c' is int: an integer", "got array<f64>[11]")
    assert.are.equal(0.0, out:get(1))
  end)

  runs("take vectors as tables and structs as strings", function()
    local out <close> = dev:zeros("f32", 4)
    m.vectors:launch(1, 1, out, { 1.5, 2.5 }, { 3, 4, 5, 6 })
    assert.are.same({ 1.5, 2.5, 3.0, 6.0 }, out:totable())
    m.by_value:launch(1, 1, out, string.pack("<i4f", 7, 0.25))
    assert.are.equal(7.0, out:get(1))
    assert.are.equal(0.25, out:get(2))
    fails_with(function() m.vectors:launch(1, 1, out, { 1 }, { 3, 4, 5, 6 }) end,
      "kernel 'vectors', parameter 2 'a' is float2: a table of 2 numbers expected, got table")
    fails(function() m.vectors:launch(1, 1, out, { 1, "x" }, { 3, 4, 5, 6 }) end,
      "kernel 'vectors', parameter 2 'a' is float2: component 2: a number, got string 'x'")
    fails(function() m.vectors:launch(1, 1, out, { 1, 2 }, 3) end,
      "kernel 'vectors', parameter 3 'b' is int4: a table of 4 numbers expected, got 3")
    fails(function() m.by_value:launch(1, 1, out, "1234") end, "kernel 'by_value', parameter 2 'pair' is Pair: "
      .. "a table by the struct's members, or a string of 8 bytes expected, got one of 4")
    fails(function() m.by_value:launch(1, 1, out, 5) end, "kernel 'by_value', parameter 2 'pair' is Pair: "
      .. "a table by the struct's members, or a string of 8 bytes expected, got number")
  end)

  it("count their arguments", function()
    local x <close> = dev:zeros("f32", 2)
    fails(function() m.scale:launch(1, 1, x, 2) end,
      "kernel 'scale' takes 3 arguments, got 2: scale(float *x, float a, int n)")
    fails(function() m.scale:launch(1, 1, x, 2, 2, 2) end,
      "kernel 'scale' takes 3 arguments, got 4: scale(float *x, float a, int n)")
    local one <close> = dev:module { source = "__global__ void one(float *x) { *x = 1; }" }
    fails(function() one.one:launch(1, 1) end, "kernel 'one' takes 1 argument, got 0: one(float *x)")
    fails(function() m.scale:launch(1, 1) end,
      "kernel 'scale' takes 3 arguments, got 0: scale(float *x, float a, int n)")
    local go = m.nothing:prepare { grid = 1, block = 1 }
    fails(function() go(1) end, "kernel 'nothing' takes 0 arguments, got 1: nothing()")
    go()
    m.nothing:launch(2, 3)
  end)

  it("name the array that does not fit", function()
    local f <close> = dev:zeros("f32", 4)
    local d <close> = dev:zeros("f64", 4)
    local i <close> = dev:array("i32", { 1, 2, 3, 4 })
    local readonly <close> = i:readonly()
    local closed = dev:zeros("f32", 4)
    closed:close()
    fails(function() m.scale:launch(1, 4, d, 2, 4) end,
      ("kernel 'scale', parameter 1 'x' is float *: an array of f32 expected, got array<f64>[4] %s"):format(id))
    fails(function() m.scale:launch(1, 4, closed, 2, 4) end,
      "kernel 'scale', parameter 1 'x' is float *: the array is closed")
    fails(function() m.scale:launch(1, 4, nil, 2, 4) end, "kernel 'scale', parameter 1 'x' is float *: "
      .. "an array expected, got nil (mw.null is the null pointer)")
    fails(function() m.scale:launch(1, 4, 5, 2, 4) end,
      "kernel 'scale', parameter 1 'x' is float *: an array expected, got number")
    fails(function() m.scale:launch(1, 4, { 1 }, 2, 4) end,
      "kernel 'scale', parameter 1 'x' is float *: an array expected, got table")
    fails_with(function() m.scale:launch(1, 4, dev, 2, 4) end, "an array expected, got device " .. id)
    fails_with(function() m.scale:launch(1, 4, io.stdout, 2, 4) end, "an array expected, got file (")
    fails(function() m.increment:launch(1, 4, readonly, 4) end, ("kernel 'increment', parameter 1 'x' is int *: "
      .. "array<i32>[4] %s is a read-only view and the parameter is not const"):format(id))
    m.add:launch(1, 4, i, readonly, readonly, 4)
    assert.are.same({ 0.0, 0.0, 0.0, 0.0 }, f:totable())
  end)

  runs("take any array for void pointers and addresses for pointers to pointers", function()
    local bytes <close> = dev:array("f32", { 1.0 })
    local out <close> = dev:zeros("u8", 4)
    m.any_bytes:launch(1, 1, out, bytes, 4)
    assert.are.equal(bytes:bytes(), out:bytes())
    local a <close> = dev:array("i32", { 11, 12 })
    local b <close> = dev:array("i32", { 21 })
    local rows <close> = dev:array("u64", { a:address() + 4, b:address() })
    local found <close> = dev:zeros("i32", 2)
    m.gather_rows:launch(1, 1, found, rows, 2)
    assert.are.same({ 12, 21 }, found:totable())
    fails_with(function() m.gather_rows:launch(1, 1, found, a, 2) end, "an array of u64 (addresses) expected")
  end)

  runs("take arrays of whole, aligned vectors for vector pointers", function()
    local x <close> = dev:array("f32", { 1, 2, 3, 0, 4, 5, 6, 0 })
    m.quads:launch(1, 2, x, 2)
    assert.are.same({ 1.0, 2.0, 3.0, 6.0, 4.0, 5.0, 6.0, 15.0 }, x:totable())
    local odd <close> = x:view(2, 4)
    local short <close> = x:view(1, 6)
    fails(function() m.quads:launch(1, 1, odd, 1) end, ("kernel 'quads', parameter 1 'x' is float4 *: "
      .. "array<f32>[4] %s does not divide into whole, aligned vectors of 4"):format(id))
    fails_with(function() m.quads:launch(1, 1, short, 1) end, "does not divide into whole, aligned vectors of 4")
  end)

  runs("take mw.null", function()
    local out <close> = dev:array("i32", 1)
    m.is_null:launch(1, 1, out, mw.null)
    assert.are.equal(1, out:get(1))
    m.is_null:launch(1, 1, out, out)
    assert.are.equal(0, out:get(1))
  end)

  runs("see the part that a view shows", function()
    local x <close> = dev:array("i32", { 1, 1, 1, 1 })
    local v <close> = x:view(2, 2)
    m.increment:launch(1, 2, v, 2)
    assert.are.same({ 1, 2, 2, 1 }, x:totable())
  end)

  runs("work on every kind of memory that the device reaches", function()
    for _, maker in ipairs { "array", "pinned", "pageable", "managed" } do
      local x <close> = dev[maker](dev, "i32", { 1, 2 })
      if maker ~= "pageable" or dev:properties().pageable_access then
        m.increment:launch(1, 2, x, 2)
        dev:synchronize()
        assert.are.same({ 2, 3 }, x:totable())
      else
        fails_with(function() m.increment:launch(1, 2, x, 2) end, "is pageable host memory")
      end
    end
  end)

  runs("give dynamic shared memory", function()
    local x <close> = dev:array("i32", { 1, 2, 3, 4, 5 })
    m.reverse:prepare { grid = 1, block = 8, shared = 8 * 4 }(x, 5)
    assert.are.same({ 5, 4, 3, 2, 1 }, x:totable())
    local most = dev:properties().shared_per_block_optin
    m.reverse:prepare { grid = 1, block = 8, shared = most }(x, 5)
    assert.are.same({ 1, 2, 3, 4, 5 }, x:totable())
  end)

  runs("may synchronise the whole grid", function()
    if not dev:properties().cooperative then
      fails_with(function() m.scale:prepare { grid = 1, block = 1, cooperative = true } end,
        "cannot launch cooperatively")
      return
    end
    local grid <close> = dev:module { source = [[
      #include <cooperative_groups.h>
      namespace cg = cooperative_groups;
      __global__ void pass(int *x, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        for (int k = 0; k < 3; k++) {
          int next = x[(i + 1) % n];
          cg::this_grid().sync();
          x[i] = next;
          cg::this_grid().sync();
        }
      }
    ]] }
    local x <close> = dev:array("i32", { 0, 1, 2, 3, 4, 5, 6, 7 })
    grid.pass:prepare { grid = 4, block = 2, cooperative = true }(x, 8)
    assert.are.same({ 3, 4, 5, 6, 7, 0, 1, 2 }, x:totable())
  end)

  it("blame the script's own line", function()
    local x <close> = dev:zeros("f64", 1)
    local _, problem = pcall(function() m.scale:launch(1, 1, x, 1, 1) end)
    assert.is_truthy(problem.where:find "launch_spec%.lua:%d+$", problem.where)
    assert.is_truthy(problem.text:find "^kernel 'scale'", problem.text)
  end)

  it("reject arguments in the direct form as well", function()
    fails_with(function() m.scale:launch() end, "grid.x is an integer of at least 1, got nil")
    fails_with(function() m.scale:launch(1) end, "block.x is an integer of at least 1, got nil")
    fails(function() m.nothing:launch(1, 2048) end,
      ("kernel 'nothing': block.x is 2048, %s allows 1024 at most"):format(id))
  end)

  it("are closed once", function()
    local go = m.nothing:prepare { grid = 1, block = 1 }
    go:close()
    assert.are.equal("launch (closed)", tostring(go))
    fails_with(function() go() end, "attempt to use a closed launch")
    fails(function() go:close() end, "calling 'close' on bad self (attempt to use a closed launch)")
    fails(function() go:grid(1) end, "calling 'grid' on bad self (attempt to use a closed launch)")
  end)

  it("do not go to a closed stream", function()
    local stream = dev:stream()
    local go = m.nothing:prepare { grid = 1, block = 1, stream = stream }
    go()
    stream:close()
    fails(function() go() end, "attempt to launch on a closed stream")
  end)

  for _, other in ipairs(support.devices()) do
    if other ~= dev then
      it("do not mix devices: " .. other:id(), function()
        local x <close> = other:zeros("f32", 4)
        local stream <close> = other:stream()
        if not lists.find(dev:peers(), function(peer) return peer.id == other:id() end) then
          fails(function() m.scale:launch(1, 4, x, 2, 4) end, ("kernel 'scale', parameter 1 'x' is float *: "
            .. "array<f32>[4] %s is not on %s; make it there, or copy it with copy()"):format(other:id(), id))
        end
        fails_with(function() m.scale:prepare { grid = 1, block = 1, stream = stream } end,
          ("option 'stream' is a stream of %s, got one of %s"):format(id, other:id()))
      end)
    end
  end
end)

describe("an offline device", function()
  if not support.has_nvrtc() then
    pending("needs NVRTC")
    return
  end
  support.no_leaks()

  it("prepares, and rejects to run", function()
    local m <close> = mw.device("cuda:sm_90"):module { source = "__global__ void k() {}\n" }
    local go = m.k:prepare { grid = 1, block = 32 }
    local problem = fails(go, "kernel 'k': cuda:sm_90 compiles kernels and reports their occupancy, it cannot run them")
    assert.are.equal("unsupported", problem.status)
  end)
end)
