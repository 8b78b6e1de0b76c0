-- SPDX-License-Identifier: MIT
--
-- What kernels of the CPU device overran, and what became of it: each is an error that names the culprit, and the
-- device goes on.

local support = require "tests.support"
local mw = support.mw
local fails_with = support.fails_with

describe("memory beside what a kernel may use", function()
  support.no_leaks()
  local dev = mw.device "cpu"

  -- Each in a process of its own, which it used to end or to hang.
  local function overrun(body, source)
    return support.child_passes(([[
      local mw = require "moonwarp"
      local dev = mw.device "cpu"
      local source = [=[%s]=]
      for _, engine in ipairs { "auto", "fiber" } do
        local m = dev:module { source = source, engine = engine }
        local x = dev:zeros("i32", 256)
        %s
        local y = dev:full(3, "i32", 4)
        assert(y:get(4) == 3)
      end
      print "alive"
    ]]):format(source, body))
  end

  -- The frame of the worker was written over, and the kernel jumped nowhere.
  it("is reported where a local array is overrun a little or far", function()
    local output = overrun([[
      pcall(m.over.launch, m.over, 2, 32, x, 20, 0) -- the room behind the array may be nobody's
      for _, n in ipairs { 64, 80, 400, 4000, 10000000 } do
        local ok, message = pcall(m.over.launch, m.over, 2, 32, x, n, 0)
        print(engine, n, ok, message)
      end
      m.over:launch(1, 32, x, 16, 0)
    ]], [[
      __global__ void over(int *x, int n, int k) {
        int a[16];
        for (int i = 0; i < n; ++i) a[i] = i + k;
        int s = 0;
        for (int i = 0; i < n; ++i) s += a[i * 3 % n];
        x[threadIdx.x] = s;
      }
    ]])
    local _, seen = output:gsub("kernel 'over' overran a local array: block %(0,0,0%), thread %(0,0,0%)", "")
    assert.are.equal(10, seen, output)
    assert.is_truthy(output:find("alive", 1, true), output)
  end)

  -- Writes went into the data of the compiled unit.
  it("is reported as static shared memory", function()
    local output = overrun([[
      print(engine, pcall(m.beside.launch, m.beside, 1, 32, x, 100))
      print(engine, pcall(m.beside.launch, m.beside, 1, 32, x, 4000))
      if engine == "fiber" then print(engine, pcall(m.beside.launch, m.beside, 1, 32, x, -2000)) end
      m.beside:launch(1, 32, x, 0)
    ]], [[
      __global__ void beside(int *x, int k) {
        __shared__ int s[32];
        s[(int)threadIdx.x + k] = 1;
        __syncthreads();
        x[threadIdx.x] = s[threadIdx.x];
      }
    ]])
    local _, seen = output:gsub("of static shared memory in its module", "")
    assert.is_true(seen >= 4, output)
    assert.is_truthy(output:find("thread (0,0,0), 272 bytes past the end of the 128 bytes", 1, true), output)
    assert.is_truthy(output:find("7872 bytes before the start of the 128 bytes", 1, true)
      or output:find("8000 bytes before the start of the 128 bytes", 1, true), output)
  end)

  -- The message spoke of the array that happened to lie nearest.
  it("is reported as dynamic shared memory", function()
    local m <close> = dev:module { source = [[
      __global__ void beside(int *x, int k) {
        extern __shared__ int s[];
        s[(int)threadIdx.x + k] = 1;
        __syncthreads();
        x[threadIdx.x] = s[threadIdx.x];
      }
    ]] }
    local x <close> = dev:zeros("i32", 32)
    local go = m.beside:prepare { grid = 1, block = 32, shared = 128 }
    fails_with(function() go(x, 2) end, "block (0,0,0), thread (30,0,0)",
      "just past the end of the 128 bytes of dynamic shared memory")
    fails_with(function() go(x, -8000) end, "32000 bytes before the start of the 128 bytes of dynamic shared memory")
    go(x, 0)
  end)

  -- A launch without `shared` found the dynamic shared memory of an earlier one.
  it("is none without dynamic shared memory, and the error says what to give", function()
    local m <close> = dev:module { source = [[
      __global__ void wants(int *x) { extern __shared__ int s[]; s[0] = 1; __syncthreads(); x[0] = s[0]; }
      __global__ void takes(int *x) { x[threadIdx.x] = 1; }
    ]] }
    local x <close> = dev:zeros("i32", 4)
    fails_with(function() m.wants:launch(1, 1, x) end, "through a null pointer", "shared = bytes")
    local ok, e = pcall(m.takes.launch, m.takes, 1, 1, mw.null)
    assert.is_false(ok)
    assert.is_nil(e.text:find("shared", 1, true), e)
  end)

  -- An index past them used to end the process.
  it("is reported as device variables, and the module goes on", function()
    local output = overrun([[
      for _, at in ipairs { 5000, 1000000, -1000 } do
        print(engine, pcall(m.beside.launch, m.beside, 1, 32, x, at))
      end
      print(engine, pcall(m.sum.launch, m.sum, 1, 32, x, 1000000))
      m.beside:launch(1, 32, x, 0)
      m.sum:launch(1, 32, x, 0)
      assert(x:get(32) == 31 + 7, x:get(32))
    ]], [[
      __device__ int table[32], more[4] = { 7 };
      __global__ void beside(int *x, int k) {
        __shared__ int s[32];
        s[threadIdx.x] = (int)threadIdx.x;
        __syncthreads();
        table[(int)threadIdx.x + k] = s[threadIdx.x];
      }
      __global__ void sum(int *x, int k) { x[threadIdx.x] = table[threadIdx.x + k] + more[0]; }
    ]])
    local function count(text) return select(2, output:gsub(text, "")) end
    if os.getenv "SANITIZED" then return end -- its leak check has to read the guard
    assert.are.equal(8, count "the device variables of its module: block %(0,0,0%), thread %(%d+,0,0%), %d+", output)
    assert.are.equal(4, count "'beside' wrote [^\n]* bytes past the end of the last of them, '%a+' of %d+", output)
    assert.are.equal(2, count "'beside' wrote [^\n]* bytes before the start of the first of them, '%a+' of", output)
    assert.are.equal(2, count "'sum' read outside", output)
  end)
end)

-- It spoke of the nearest one alone: of keys, for a read far behind values.
describe("an address between two arrays", function()
  support.no_leaks()
  local dev = mw.device "cpu"
  local PAGE <const>, BETWEEN <const> = 4096, 2 * 65536 -- bytes: there is nothing but the guards of the two

  -- Two arrays of 1024 floats that lie side by side, the lower one first.
  local function side_by_side()
    local arrays = {}
    for i = 1, 64 do
      arrays[i] = dev:zeros("f32", 1024)
      for k = 1, i - 1 do
        local low, high = arrays[k], arrays[i]
        if low:address() > high:address() then low, high = high, low end
        if high:address() - low:address() == PAGE + BETWEEN then return low, high, arrays end
      end
    end
  end

  it("names both, the nearer one first", function()
    local m <close> = dev:module { source = [[
      __global__ void sort(const float *keys, const float *values, float *out, long long at) { out[0] = values[at]; }
    ]] }
    local low, high, arrays = side_by_side()
    local out <close> = dev:zeros("f32", 1)
    local function reads(keys, values, at, text)
      fails_with(function() m.sort:launch(1, 1, keys, values, out, at) end, text)
    end
    reads(high, low, 1024 + 20000, "thread (0,0,0), 51072 bytes before the start of parameter 1 'keys', an array of "
      .. "4096 bytes (offset -51072; index -12768, it has 1024 elements) and 80000 bytes past the end of parameter 2 "
      .. "'values', an array of 4096 bytes (offset 84096; index 21024, it has 1024 elements)")
    reads(low, high, -2000, "thread (0,0,0), 8000 bytes before the start of parameter 2 'values', an array of 4096 "
      .. "bytes (offset -8000; index -2000, it has 1024 elements) and 123072 bytes past the end of parameter 1 'keys'")
    for _, at in ipairs { 1024, 2047 } do -- within a page: it is not the other
      local ok, e = pcall(m.sort.launch, m.sort, 1, 1, high, low, out, at)
      assert.is_false(ok)
      assert.is_nil(e.text:find("keys", 1, true), e.text)
    end
    for _, array in ipairs(arrays) do array:close() end
  end)
end)

describe("a signal that another process sends", function()
  -- The handler of faults took every SIGSEGV for a kernel's.
  it("is not swallowed by the handler of faults", function()
    local status, output = support.child [[
      local mw = require "moonwarp"
      local dev = mw.device "cpu"
      dev:zeros("f32", 4):close()
      os.execute("kill -SEGV $PPID")
      print "still here"
    ]]
    assert.are_not.equal(0, status)
    assert.is_falsy(output:find("still here", 1, true))
  end)
end)

-- The stack that the signal handler runs on went with the device that had lent it.
describe("a stack that overflows on a device", function()
  it("is reported after another device of the thread was collected", function()
    local output = support.child_passes([[
      local mw = require "moonwarp"
      local source = "__device__ int down(int n) {\n" ..
                     "  volatile int x[64]; x[n % 64] = n; return n ? down(n - 1) + x[n % 64] : 0;\n}\n" ..
                     "__global__ void f(int *a, int n) { a[0] = down(n); }\n"
      local function use(dev, n)
        local a <close> = dev:zeros("i32", 4)
        local m <close> = dev:module { source = source }
        m.f:launch(1, 1, a, n)
        dev:synchronize()
      end
      local first, second = mw.device "cpu", mw.device "cpu:check"
      use(first, 1)
      use(second, 1)
      first = nil
      collectgarbage()
      collectgarbage()
      print(pcall(use, second, 1000000))
    ]])
    assert.is_truthy(output:find("overflowed its worker's stack", 1, true), output)
  end)
end)
