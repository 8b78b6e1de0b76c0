-- SPDX-License-Identifier: MIT
--
-- How many parameters a kernel may have and how long its name may be: at the limit it runs, beyond it is an error.

local support = require "tests.support"
local mw = support.mw
local fails_as = support.fails_as

local function declared(count)
  local parameters = { "int *x" }
  for i = 2, count do parameters[i] = "int a" .. i end
  return table.concat(parameters, ", ")
end

local function values(count)
  local list = {}
  for i = 2, count do list[i - 1] = i end
  return table.unpack(list)
end

-- Also on devices that only compile.
local function each_compiler(body)
  support.each_device("limits of kernels", function(dev, _, it) body(dev, it) end)
  local ok, offline = pcall(mw.device, "cuda:sm_90")
  describe("limits of kernels on cuda:sm_90", function()
    body(ok and offline, ok and it or pending)
  end)
end

each_compiler(function(dev, it)
  -- More than 128 with a barrier ended the process; CUDA kernels lost those after the 256th.
  it("are 1024 parameters", function()
    for _, count in ipairs { 129, 257, 1024 } do
      local source = "__global__ void k(%s) { __syncthreads(); x[0] = a2 + a%d; }"
      local m <close> = dev:module { source = source:format(declared(count), count) }
      assert.are.equal(count, #m.k:parameters())
      if dev:kind() == "cpu" then
        local x <close> = dev:zeros("i32", 1)
        m.k:launch(1, 1, x, values(count))
        assert.are.equal(2 + count, x:get(1))
      end
    end
    fails_as("invalid", function()
      dev:module { source = ("__global__ void k(%s) { x[0] = a2; }"):format(declared(1025)) }
    end, "kernel 'k' has 1025 parameters, 1024 at most")
  end)

  it("are 32764 bytes of arguments", function()
    local source = "struct big { char at[%d]; }; __global__ void k(int *x, big b) { x[0] = b.at[3]; }"
    local m <close> = dev:module { source = source:format(32756) }
    assert.are.equal(2, #m.k:parameters())
    support.fails_with(function() dev:module { source = source:format(32757) } end, "32765 bytes", "32764")
  end)

  -- Names were cut at 127 characters on one device and at 255 on the other.
  it("are 254 characters of a name", function()
    local name = ("n"):rep(254)
    local m <close> = dev:module { source = "template <class T> __global__ void " .. name .. "(T *x) { x[0] = 1; }" }
    assert.are.equal("kernel", support.core.type(m:kernel(name .. "<int>")))
    for _, source in ipairs {
      "__global__ void n%s(int *x) { x[0] = 1; }",
      [[extern "C" __global__ void n%s(int *x) { x[0] = 1; }]],
      "namespace n%s { __global__ void k(int *x) { x[0] = 1; } }",
    } do
      fails_as("invalid", function() dev:module { source = source:format(name) } end, "more than 254 characters")
    end
  end)
end)

describe("a declaration of shared memory", function()
  support.no_leaks()

  -- Those after the 16th had no place between guards, and were not counted.
  it("counts all of its names", function()
    local dev = mw.device "cpu"
    local names, sums = {}, {}
    for i = 1, 20 do names[i], sums[i] = ("s%d[64]"):format(i), ("(s%d[t] = t) + s%d[63 - t]"):format(i, i) end
    for _, engine in ipairs { "auto", "fiber" } do
      local m <close> = dev:module { engine = engine, source = ([[__global__ void k(int *x) {
        int t = threadIdx.x; __shared__ int %s; __syncthreads(); x[t] = %s; }]]):format(table.concat(names, ", "),
        table.concat(sums, " + ")) }
      assert.are.equal(20 * 256, m.k:attributes().shared_bytes)
    end
  end)
end)
